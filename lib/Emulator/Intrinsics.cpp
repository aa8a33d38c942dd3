//===- Intrinsics.cpp - NVVM intrinsics as PTX ------------------*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An intrinsic is given as the PTX statement that the NVPTX back end would
// print for it. In the texts here $dI is result I and $aI argument I.
//
//===----------------------------------------------------------------------===//

#include "Lower.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DerivedTypes.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;
using namespace rudnn::emulator;

static std::string arg(unsigned i) { return "$a" + std::to_string(i); }

/// {$a<first>, ...}
static std::string list(char kind, unsigned first, unsigned count) {
  std::string s = "{";
  for (unsigned i = 0; i < count; ++i)
    s += (i ? ", $" : "$") + std::string(1, kind) + std::to_string(first + i);
  return s + "}";
}

static bool flag(const CallInst &call, unsigned i) {
  auto *c = dyn_cast<ConstantInt>(call.getArgOperand(i));
  return c && !c->isZero();
}

/// Intrinsics whose PTX is the same whatever the arguments are.
static StringRef fixedText(StringRef name) {
  return StringSwitch<StringRef>(name)
      .Case("barrier.cta.sync.aligned.all", "barrier.cta.sync.aligned $a0;")
      .Case("barrier.cta.sync.aligned.count",
            "barrier.cta.sync.aligned $a0, $a1;")
      .Case("barrier.cta.sync.all", "barrier.cta.sync $a0;")
      .Case("barrier.cta.sync.count", "barrier.cta.sync $a0, $a1;")
      .Case("barrier.cta.arrive.aligned.count",
            "barrier.cta.arrive.aligned $a0, $a1;")
      .Case("barrier.cta.arrive.count", "barrier.cta.arrive $a0, $a1;")
      .Case("bar.warp.sync", "bar.warp.sync $a0;")
      .Case("wgmma.fence.sync.aligned", "wgmma.fence.sync.aligned;")
      .Case("wgmma.commit_group.sync.aligned",
            "wgmma.commit_group.sync.aligned;")
      .Case("wgmma.wait_group.sync.aligned",
            "wgmma.wait_group.sync.aligned $a0;")
      .Case("setmaxnreg.inc.sync.aligned.u32",
            "setmaxnreg.inc.sync.aligned.u32 $a0;")
      .Case("setmaxnreg.dec.sync.aligned.u32",
            "setmaxnreg.dec.sync.aligned.u32 $a0;")
      .Case("fence.mbarrier_init.release.cluster",
            "fence.mbarrier_init.release.cluster;")
      .Case("fence.proxy.alias", "fence.proxy.alias;")
      .Case("fence.proxy.async", "fence.proxy.async;")
      .Case("fence.proxy.async.global", "fence.proxy.async.global;")
      .Case("fence.proxy.async.shared_cta", "fence.proxy.async.shared::cta;")
      .Case("fence.proxy.async.shared_cluster",
            "fence.proxy.async.shared::cluster;")
      .Case("fence.sc.cluster", "fence.sc.cluster;")
      .Case("membar.cta", "membar.cta;")
      .Case("membar.gl", "membar.gl;")
      .Case("membar.sys", "membar.sys;")
      .Case("griddepcontrol.wait", "griddepcontrol.wait;")
      .Case("griddepcontrol.launch.dependents",
            "griddepcontrol.launch_dependents;")
      .Case("activemask", "activemask.b32 $d0;")
      .Case("elect.sync", "elect.sync $d0|$d1, $a0;")
      .Case("vote.all.sync", "vote.sync.all.pred $d0, $a1, $a0;")
      .Case("vote.any.sync", "vote.sync.any.pred $d0, $a1, $a0;")
      .Case("vote.uni.sync", "vote.sync.uni.pred $d0, $a1, $a0;")
      .Case("vote.ballot.sync", "vote.sync.ballot.b32 $d0, $a1, $a0;")
      .Case("match.any.sync.i32", "match.any.sync.b32 $d0, $a1, $a0;")
      .Case("match.any.sync.i64", "match.any.sync.b64 $d0, $a1, $a0;")
      .Case("match.all.sync.i32p", "match.all.sync.b32 $d0|$d1, $a1, $a0;")
      .Case("match.all.sync.i64p", "match.all.sync.b64 $d0|$d1, $a1, $a0;")
      .Case("redux.sync.add", "redux.sync.add.s32 $d0, $a0, $a1;")
      .Case("redux.sync.min", "redux.sync.min.s32 $d0, $a0, $a1;")
      .Case("redux.sync.max", "redux.sync.max.s32 $d0, $a0, $a1;")
      .Case("redux.sync.umin", "redux.sync.min.u32 $d0, $a0, $a1;")
      .Case("redux.sync.umax", "redux.sync.max.u32 $d0, $a0, $a1;")
      .Case("redux.sync.and", "redux.sync.and.b32 $d0, $a0, $a1;")
      .Case("redux.sync.or", "redux.sync.or.b32 $d0, $a0, $a1;")
      .Case("redux.sync.xor", "redux.sync.xor.b32 $d0, $a0, $a1;")
      .Case("mapa", "mapa.u64 $d0, $a0, $a1;")
      .Case("mapa.shared.cluster", "mapa.shared::cluster.u64 $d0, $a0, $a1;")
      .Case("getctarank", "getctarank.u64 $d0, $a0;")
      .Case("getctarank.shared.cluster",
            "getctarank.shared::cluster.u64 $d0, $a0;")
      .Case("isspacep.global", "isspacep.global $d0, $a0;")
      .Case("isspacep.shared", "isspacep.shared $d0, $a0;")
      .Case("isspacep.shared.cluster", "isspacep.shared::cluster $d0, $a0;")
      .Case("cp.async.commit.group", "cp.async.commit_group;")
      .Case("cp.async.wait.group", "cp.async.wait_group $a0;")
      .Case("cp.async.wait.all", "cp.async.wait_all;")
      .Cases({"cp.async.mbarrier.arrive", "cp.async.mbarrier.arrive.shared"},
             "cp.async.mbarrier.arrive.b64 [$a0];")
      .Cases({"cp.async.mbarrier.arrive.noinc",
              "cp.async.mbarrier.arrive.noinc.shared"},
             "cp.async.mbarrier.arrive.noinc.b64 [$a0];")
      .Case("cp.async.bulk.commit.group", "cp.async.bulk.commit_group;")
      .Case("cp.async.bulk.wait.group", "cp.async.bulk.wait_group $a0;")
      .Case("cp.async.bulk.wait.group.read",
            "cp.async.bulk.wait_group.read $a0;")
      .Case("cp.async.bulk.prefetch.L2",
            "cp.async.bulk.prefetch.L2.global [$a0], $a1;")
      .Case("cp.async.bulk.shared.cta.to.global",
            "cp.async.bulk.global.shared::cta.bulk_group [$a0], [$a1], $a2;")
      .Case("cp.async.bulk.shared.cta.to.cluster",
            "cp.async.bulk.shared::cluster.shared::cta."
            "mbarrier::complete_tx::bytes [$a0], [$a2], $a3, [$a1];")
      .Case("cp.async.bulk.global.to.shared.cta",
            "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes "
            "[$a0], [$a2], $a3, [$a1];")
      .Cases({"mbarrier.init", "mbarrier.init.shared"},
             "mbarrier.init.b64 [$a0], $a1;")
      .Cases({"mbarrier.inval", "mbarrier.inval.shared"},
             "mbarrier.inval.b64 [$a0];")
      .Cases({"mbarrier.arrive", "mbarrier.arrive.shared"},
             "mbarrier.arrive.b64 $d0, [$a0];")
      .Cases(
          {"mbarrier.arrive.noComplete", "mbarrier.arrive.noComplete.shared"},
          "mbarrier.arrive.noComplete.b64 $d0, [$a0], $a1;")
      .Cases({"mbarrier.arrive.drop", "mbarrier.arrive.drop.shared"},
             "mbarrier.arrive_drop.b64 $d0, [$a0];")
      .Cases({"mbarrier.arrive.drop.noComplete",
              "mbarrier.arrive.drop.noComplete.shared"},
             "mbarrier.arrive_drop.noComplete.b64 $d0, [$a0], $a1;")
      .Cases({"mbarrier.test.wait", "mbarrier.test.wait.shared"},
             "mbarrier.test_wait.b64 $d0, [$a0], $a1;")
      .Case("mbarrier.pending.count", "mbarrier.pending_count.b64 $d0, $a0;")
      .Case("exit", "exit;")
      .Case("nanosleep", "nanosleep.u32 $a0;")
      .Case("prmt", "prmt.b32 $d0, $a0, $a1, $a2;")
      .Case("mulhi.i", "mul.hi.s32 $d0, $a0, $a1;")
      .Case("mulhi.ui", "mul.hi.u32 $d0, $a0, $a1;")
      .Case("mulhi.ll", "mul.hi.s64 $d0, $a0, $a1;")
      .Case("mulhi.ull", "mul.hi.u64 $d0, $a0, $a1;")
      .Case("d2i.lo", "mov.b64 {$d0, _}, $a0;")
      .Case("d2i.hi", "mov.b64 {_, $d0}, $a0;")
      .Case("lohi.i2d", "mov.b64 $d0, {$a0, $a1};")
      .Case("sin.approx.f", "sin.approx.f32 $d0, $a0;")
      .Case("sin.approx.ftz.f", "sin.approx.ftz.f32 $d0, $a0;")
      .Case("cos.approx.f", "cos.approx.f32 $d0, $a0;")
      .Case("cos.approx.ftz.f", "cos.approx.ftz.f32 $d0, $a0;")
      .Cases({"lg2.approx.f"}, "lg2.approx.f32 $d0, $a0;")
      .Case("lg2.approx.ftz.f", "lg2.approx.ftz.f32 $d0, $a0;")
      .Case("rcp.approx.ftz.f", "rcp.approx.ftz.f32 $d0, $a0;")
      .Case("rcp.rn.f", "rcp.rn.f32 $d0, $a0;")
      .Case("rcp.rn.ftz.f", "rcp.rn.ftz.f32 $d0, $a0;")
      .Case("rcp.rn.d", "rcp.rn.f64 $d0, $a0;")
      .Case("rsqrt.approx.f", "rsqrt.approx.f32 $d0, $a0;")
      .Case("rsqrt.approx.ftz.f", "rsqrt.approx.ftz.f32 $d0, $a0;")
      .Case("rsqrt.approx.d", "rsqrt.approx.f64 $d0, $a0;")
      .Case("sqrt.approx.f", "sqrt.approx.f32 $d0, $a0;")
      .Case("sqrt.approx.ftz.f", "sqrt.approx.ftz.f32 $d0, $a0;")
      .Cases({"sqrt.f", "sqrt.rn.f"}, "sqrt.rn.f32 $d0, $a0;")
      .Case("sqrt.rn.ftz.f", "sqrt.rn.ftz.f32 $d0, $a0;")
      .Case("sqrt.rn.d", "sqrt.rn.f64 $d0, $a0;")
      .Cases({"div.approx.f", "div.full"}, "div.approx.f32 $d0, $a0, $a1;")
      .Cases({"div.approx.ftz.f", "div.full.ftz"},
             "div.approx.ftz.f32 $d0, $a0, $a1;")
      .Case("div.rn.f", "div.rn.f32 $d0, $a0, $a1;")
      .Case("div.rn.ftz.f", "div.rn.ftz.f32 $d0, $a0, $a1;")
      .Case("div.rn.d", "div.rn.f64 $d0, $a0, $a1;")
      // What libdevice is made of.
      .Case("saturate.f", "cvt.sat.f32.f32 $d0, $a0;")
      .Case("saturate.ftz.f", "cvt.sat.ftz.f32.f32 $d0, $a0;")
      .Case("saturate.d", "cvt.sat.f64.f64 $d0, $a0;")
      .Case("floor.f", "cvt.rmi.f32.f32 $d0, $a0;")
      .Case("floor.d", "cvt.rmi.f64.f64 $d0, $a0;")
      .Case("ceil.f", "cvt.rpi.f32.f32 $d0, $a0;")
      .Case("ceil.d", "cvt.rpi.f64.f64 $d0, $a0;")
      .Case("trunc.f", "cvt.rzi.f32.f32 $d0, $a0;")
      .Case("trunc.d", "cvt.rzi.f64.f64 $d0, $a0;")
      .Case("round.f", "cvt.rni.f32.f32 $d0, $a0;")
      .Case("round.d", "cvt.rni.f64.f64 $d0, $a0;")
      .Default("");
}

/// A float type as the intrinsics abbreviate it.
static StringRef floatType(StringRef t) {
  return StringSwitch<StringRef>(t)
      .Case("f", "f32")
      .Case("d", "f64")
      .Cases({"f32", "f64"}, t)
      .Cases({"f16", "f16x2", "bf16", "bf16x2"}, t)
      .Case("v2f16", "f16x2")
      .Case("v2bf16", "bf16x2")
      .Default("");
}

/// add/mul/fma.rn..., fmax/fmin..., fabs, ex2: op.modifiers.type
static std::string arithmetic(StringRef name) {
  SmallVector<StringRef> parts;
  name.split(parts, '.');
  StringRef type = floatType(parts.back());
  if (type.empty())
    return "";
  std::string op = StringSwitch<std::string>(parts[0])
                       .Case("fmax", "max")
                       .Case("fmin", "min")
                       .Case("fabs", "abs")
                       .Case("ex2", "ex2")
                       .Case("add", "add")
                       .Case("sub", "sub")
                       .Case("mul", "mul")
                       .Case("fma", "fma")
                       .Case("neg", "neg")
                       .Default("");
  if (op.empty())
    return "";
  std::string text = op;
  for (StringRef m : ArrayRef(parts).drop_front().drop_back())
    text += "." + (m == "nan" ? "NaN" : m.str());
  text += "." + type.str() + " $d0, $a0";
  bool one = op == "abs" || op == "ex2" || op == "neg";
  if (!one)
    text += ", $a1";
  if (op == "fma")
    text += ", $a2";
  return text + ";";
}

/// Conversions: ff2bf16x2.rn, f2bf16.rn.relu, f2i.rz, i2f.rn, e4m3x2.to...
static std::string conversion(StringRef name) {
  SmallVector<StringRef> parts;
  name.split(parts, '.');
  StringRef head = parts[0];
  auto cvt = [&](StringRef types, ArrayRef<StringRef> modifiers,
                 StringRef sources) {
    std::string text = "cvt";
    for (StringRef m : modifiers)
      text += "." + m.str();
    return text + "." + types.str() + " $d0, " + sources.str() + ";";
  };
  ArrayRef<StringRef> rest = ArrayRef(parts).drop_front();
  if (head == "ff2bf16x2")
    return cvt("bf16x2.f32", rest, "$a0, $a1");
  if (head == "ff2f16x2")
    return cvt("f16x2.f32", rest, "$a0, $a1");
  if (head == "f2bf16")
    return cvt("bf16.f32", rest, "$a0");
  if (head == "f2f16" || head == "f2h")
    return cvt("f16.f32", rest, "$a0");
  if (head == "f2tf32")
    return cvt("tf32.f32", rest, "$a0");
  if (name == "ff.to.e4m3x2.rn" || name == "ff.to.e5m2x2.rn")
    return cvt((parts[2] + ".f32").str(), {"rn", "satfinite"}, "$a0, $a1");
  if (name == "e4m3x2.to.f16x2.rn" || name == "e5m2x2.to.f16x2.rn")
    return cvt(("f16x2." + head).str(), {"rn"}, "$a0");
  if (name == "f16x2.to.e4m3x2.rn" || name == "f16x2.to.e5m2x2.rn")
    return cvt((parts[2] + ".f16x2").str(), {"rn", "satfinite"}, "$a0");
  // <from>2<to>.<rounding>{.ftz}
  auto [from, to] = head.split('2');
  auto scalar = [](StringRef t) {
    return StringSwitch<StringRef>(t)
        .Case("f", "f32")
        .Case("d", "f64")
        .Case("i", "s32")
        .Case("ui", "u32")
        .Case("ll", "s64")
        .Case("ull", "u64")
        .Default("");
  };
  StringRef f = scalar(from), t = scalar(to);
  if (f.empty() || t.empty() || rest.empty())
    return "";
  bool toInt = f[0] == 'f' && t[0] != 'f';
  std::string mode = rest[0].str() + (toInt ? "i" : "");
  SmallVector<StringRef> modifiers{mode};
  if (rest.size() > 1 && rest[1] == "ftz")
    modifiers.push_back("ftz");
  return cvt((t + "." + f).str(), modifiers, "$a0");
}

/// mbarrier.<op>{.relaxed}.scope.<scope>.space.<space>
static std::string barrier(StringRef name, const CallInst &call) {
  if (!name.consume_front("mbarrier."))
    return "";
  auto [op, scopes] = name.split(".scope.");
  if (scopes.empty())
    return "";
  auto [scope, space] = scopes.split(".space.");
  bool relaxed = op.consume_back(".relaxed");
  std::string order = relaxed ? ".relaxed." + scope.str() : "";
  std::string where = ".shared::" + space.str() + ".b64 ";
  std::string result = call.getType()->isVoidTy() ? "_" : "$d0";
  if (op == "expect.tx" || op == "complete.tx")
    return "mbarrier." + op.split('.').first.str() + "_tx" + ".relaxed." +
           scope.str() + where + "[$a0], $a1;";
  if (op == "arrive" || op == "arrive.drop" || op == "arrive.expect.tx" ||
      op == "arrive.drop.expect.tx") {
    std::string text =
        op.contains("drop") ? "mbarrier.arrive_drop" : "mbarrier.arrive";
    if (op.contains("expect"))
      text += ".expect_tx";
    return text + order + where + result + ", [$a0], $a1;";
  }
  // test.wait / try.wait {.parity} {.tl}: the time limit has no meaning here.
  bool limit = op.consume_back(".tl");
  bool parity = op.consume_back(".parity");
  if (op != "test.wait" && op != "try.wait")
    return "";
  return std::string("mbarrier.") +
         (op == "try.wait" ? "try_wait" : "test_wait") +
         (parity ? ".parity" : "") + order + where + "$d0, [$a0], $a1" +
         (limit ? ", $a2;" : ";");
}

/// cp.async.{ca,cg}.shared.global.N{.s}
static std::string asyncCopy(StringRef name) {
  bool ca = name.consume_front("cp.async.ca.shared.global.");
  if (!ca && !name.consume_front("cp.async.cg.shared.global."))
    return "";
  bool source = name.consume_back(".s");
  return std::string("cp.async.") + (ca ? "ca" : "cg") +
         ".shared.global [$a0], [$a1], " + name.str() +
         (source ? ", $a2;" : ";");
}

/// cp.async.bulk.*
static std::string bulkCopy(StringRef name, const CallInst &call) {
  if (name == "cp.async.bulk.global.to.shared.cluster") {
    bool multicast = flag(call, 6);
    return std::string("cp.async.bulk.shared::cluster.global."
                       "mbarrier::complete_tx::bytes") +
           (multicast ? ".multicast::cluster" : "") +
           " [$a0], [$a2], $a3, [$a1]" + (multicast ? ", $a4;" : ";");
  }
  if (!name.consume_front("cp.async.bulk.tensor."))
    return "";
  auto [what, dims] = name.rsplit('.');
  unsigned n = 0;
  if (StringRef(dims).consumeInteger(10, n) || n < 1 || n > 5)
    return "";
  std::string d = dims.str();
  if (what == "g2s.tile" || what == "g2s.cta.tile") {
    bool cta = what == "g2s.cta.tile";
    bool multicast = !cta && flag(call, 5 + n);
    if (!cta && flag(call, 7 + n))
      return ""; // a CTA group, which only newer chips have
    return "cp.async.bulk.tensor." + d +
           (cta ? ".shared::cta" : ".shared::cluster") +
           ".global.tile.mbarrier::complete_tx::bytes" +
           (multicast ? ".multicast::cluster" : "") + " [$a0], [$a2, " +
           list('a', 3, n) + "], [$a1]" +
           (multicast ? ", " + arg(3 + n) + ";" : ";");
  }
  if (what == "s2g.tile")
    return "cp.async.bulk.tensor." + d +
           ".global.shared::cta.tile.bulk_group [$a1, " + list('a', 2, n) +
           "], [$a0];";
  if (what == "prefetch.tile")
    return "cp.async.bulk.prefetch.tensor." + d + ".L2.global.tile [$a0, " +
           list('a', 1, n) + "];";
  StringRef reduce = what;
  if (reduce.consume_front("reduce.") && reduce.consume_back(".tile"))
    return "cp.reduce.async.bulk.tensor." + d + ".global.shared::cta." +
           reduce.str() + ".tile.bulk_group [$a1, " + list('a', 2, n) +
           "], [$a0];";
  return "";
}

/// mma.m16n8kK.row.col.<types>
static std::string matrix(StringRef name, const CallInst &call) {
  if (!name.consume_front("mma."))
    return "";
  auto [shape, rest] = name.split(".row.col.");
  unsigned k = 0;
  if (rest.empty() || !shape.consume_front("m16n8k") ||
      shape.getAsInteger(10, k))
    return "";
  SmallVector<StringRef> t;
  rest.split(t, '.');
  std::string types;
  StringRef a;
  if (t.size() == 4) {
    types = rest.str();
    a = t[1];
  } else if (t.size() == 2 && (t[0] == "f16" || t[0] == "f32")) {
    types = (t[0] + ".f16.f16." + t[1]).str();
    a = "f16";
  } else if (t.size() <= 2 && (t[0] == "s8" || t[0] == "u8")) {
    types = ("s32." + t[0] + "." + t.back() + ".s32").str();
    a = t[0];
  } else if (t.size() == 1 && (t[0] == "bf16" || t[0] == "tf32")) {
    types = ("f32." + t[0] + "." + t[0] + ".f32").str();
    a = t[0];
  } else {
    return "";
  }
  unsigned bits = bitWidth(parseType(a));
  if (!bits)
    return "";
  unsigned na = k * 16 * bits / 1024, nb = k * 8 * bits / 1024;
  unsigned nc = call.arg_size() - na - nb;
  unsigned nd = cast<StructType>(call.getType())->getNumElements();
  return "mma.sync.aligned.m16n8k" + std::to_string(k) + ".row.col." + types +
         " " + list('d', 0, nd) + ", " + list('a', 0, na) + ", " +
         list('a', na, nb) + ", " + list('a', na + nb, nc) + ";";
}

std::string rudnn::emulator::intrinsicText(StringRef name,
                                           const CallInst &call) {
  name.consume_front("llvm.nvvm.");
  // Overloads on the pointer's address space.
  for (StringRef suffix : {".p0", ".p1", ".p3", ".p4", ".p7"})
    if (name.consume_back(suffix))
      break;
  if (StringRef fixed = fixedText(name); !fixed.empty())
    return fixed.str();
  if (name.starts_with("barrier.cluster."))
    return name.str() + ";";
  if (name.starts_with("barrier.cta.red.")) { // id{, threads}, predicate
    StringRef rest = name.drop_front(strlen("barrier.cta.red."));
    bool count = rest.consume_back(".count");
    if (!count)
      rest.consume_back(".all");
    return "barrier.cta.red." + rest.str() +
           (count ? " $d0, $a0, $a1, $a2;" : " $d0, $a0, $a1;");
  }
  if (name.consume_front("shfl.sync.")) { // mask, value, lane, clamp
    auto [mode, type] = name.split('.');
    bool predicate = type.ends_with("p");
    return "shfl.sync." + mode.str() + ".b32 $d0" + (predicate ? "|$d1" : "") +
           ", $a1, $a2, $a3, $a0;";
  }
  if (name.starts_with("ldmatrix.sync.aligned.m8n8.")) {
    unsigned n = 1;
    if (auto *s = dyn_cast<StructType>(call.getType()))
      n = s->getNumElements();
    return name.str() + " " + list('d', 0, n) + ", [$a0];";
  }
  if (name.starts_with("stmatrix.sync.aligned.m8n8."))
    return name.str() + " [$a0], " + list('a', 1, call.arg_size() - 1) + ";";
  if (name.starts_with("prefetch") || name.starts_with("applypriority") ||
      name.starts_with("discard"))
    return "prefetch [$a0];";
  if (name.consume_front("fence.proxy.tensormap_generic."))
    return "fence.proxy.tensormap::generic." + name.str() +
           (call.arg_size() ? " [$a0], $a1;" : ";");
  for (std::string text :
       {asyncCopy(name), bulkCopy(name, call), barrier(name, call),
        matrix(name, call), conversion(name), arithmetic(name)})
    if (!text.empty())
      return text;
  return "";
}

int rudnn::emulator::intrinsicSpecialRegister(StringRef name) {
  if (!name.consume_front("llvm.nvvm.read.ptx.sreg."))
    return name == "llvm.nvvm.is_explicit_cluster"
               ? specialRegister("is_explicit_cluster")
               : -1;
  std::string s = name.str();
  // cluster.ctaid.x is %cluster_ctaid.x, lanemask.eq is %lanemask_eq.
  if (StringRef(s).starts_with("cluster.") ||
      StringRef(s).starts_with("lanemask."))
    s[s.find('.')] = '_';
  if (s == "globaltimer.lo")
    s = "globaltimer_lo";
  return specialRegister(s);
}
