//===- Scalar.cpp - Statements of one thread's registers --------*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Machine.h"
#include "Numeric.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/bit.h"

#include <cmath>

using namespace llvm;
using namespace rudnn::emulator;

//===----------------------------------------------------------------------===//
// Operands and execution
//===----------------------------------------------------------------------===//

uint64_t Exec::value(const Operand &o) const {
  switch (o.kind) {
  case Operand::Slot:
    return o.negated ? !(slots[o.slot] & 1) : slots[o.slot];
  case Operand::Immediate:
    return o.imm;
  case Operand::Special:
    return readSpecial(m, t, o.slot);
  default:
    m.fail("an operand of '" + inst.text + "' is not a value");
  }
}
uint64_t Exec::value(unsigned i) const { return value(inst.operands[i]); }

void Exec::set(const Operand &o, uint64_t v) const {
  if (o.kind == Operand::Sink)
    return;
  if (o.kind != Operand::Slot)
    m.fail("a result of '" + inst.text + "' is not a register");
  slots[o.slot] = v;
}
void Exec::set(unsigned i, uint64_t v) const { set(inst.operands[i], v); }

uint64_t Exec::address(unsigned i) const {
  const Operand &o = inst.operands[i];
  return value(o) + o.offset;
}

void rudnn::emulator::execute(const Block *block, uint64_t *slots) {
  Machine &m = *Machine::active();
  Thread &t = *m.current;
  uint32_t n = block->insts.size();
  for (uint32_t pc = 0; pc < n;) {
    const Inst &inst = block->insts[pc];
    if (inst.predicate >= 0 &&
        bool(slots[inst.predicate] & 1) == inst.predicateNegated) {
      ++pc;
      continue;
    }
    t.inst = &inst;
    Exec e{m, t, inst, slots, pc + 1};
    inst.run(e);
    if (e.next <= pc)
      m.yield(); // a loop may wait for what others do
    pc = e.next;
  }
}

//===----------------------------------------------------------------------===//
// Special registers
//===----------------------------------------------------------------------===//

static constexpr const char *kSpecial[] = {"tid.x",
                                           "tid.y",
                                           "tid.z",
                                           "ntid.x",
                                           "ntid.y",
                                           "ntid.z",
                                           "ctaid.x",
                                           "ctaid.y",
                                           "ctaid.z",
                                           "nctaid.x",
                                           "nctaid.y",
                                           "nctaid.z",
                                           "laneid",
                                           "warpid",
                                           "nwarpid",
                                           "smid",
                                           "nsmid",
                                           "gridid",
                                           "clusterid.x",
                                           "clusterid.y",
                                           "clusterid.z",
                                           "nclusterid.x",
                                           "nclusterid.y",
                                           "nclusterid.z",
                                           "cluster_ctaid.x",
                                           "cluster_ctaid.y",
                                           "cluster_ctaid.z",
                                           "cluster_nctaid.x",
                                           "cluster_nctaid.y",
                                           "cluster_nctaid.z",
                                           "cluster_ctarank",
                                           "cluster_nctarank",
                                           "is_explicit_cluster",
                                           "lanemask_eq",
                                           "lanemask_le",
                                           "lanemask_lt",
                                           "lanemask_ge",
                                           "lanemask_gt",
                                           "clock",
                                           "clock64",
                                           "globaltimer",
                                           "dynamic_smem_size",
                                           "total_smem_size",
                                           "warpsize",
                                           "clock_hi",
                                           "globaltimer_lo",
                                           "globaltimer_hi"};

int rudnn::emulator::specialRegister(StringRef name) {
  for (auto [i, s] : enumerate(kSpecial))
    if (name == s)
      return i;
  if (name == "WARP_SZ")
    return specialRegister("warpsize");
  return -1;
}

uint64_t rudnn::emulator::readSpecial(Machine &m, Thread &t, uint32_t reg) {
  auto axis = [](Dim3 d, uint32_t i) {
    return i == 0 ? d.x : i == 1 ? d.y : d.z;
  };
  const Cta &cta = *t.cta;
  Dim3 cl = m.clusterDim;
  Dim3 clusters{m.grid.x / cl.x, m.grid.y / cl.y, m.grid.z / cl.z};
  Dim3 inCluster{cta.index.x % cl.x, cta.index.y % cl.y, cta.index.z % cl.z};
  auto shift = [&](uint32_t from) { return reg - from; };
  if (reg < 3)
    return axis(t.index, reg);
  if (reg < 6)
    return axis(m.blockDim, shift(3));
  if (reg < 9)
    return axis(cta.index, shift(6));
  if (reg < 12)
    return axis(m.grid, shift(9));
  if (reg >= 18 && reg < 21)
    return axis(cta.cluster->index, shift(18));
  if (reg >= 21 && reg < 24)
    return axis(clusters, shift(21));
  if (reg >= 24 && reg < 27)
    return axis(inCluster, shift(24));
  if (reg >= 27 && reg < 30)
    return axis(cl, shift(27));
  uint64_t eq = uint64_t(1) << t.lane;
  switch (reg) {
  case 12:
    return t.lane;
  case 13:
    return t.warp->index;
  case 14:
    return cta.warps.size();
  case 15:
    return cta.cluster->slot * cl.count() + cta.rank;
  case 16:
    return m.launch.options.residentClusters * cl.count();
  case 17:
    return 0;
  case 30:
    return cta.rank;
  case 31:
    return cl.count();
  case 32:
    return cl.count() > 1;
  case 33:
    return eq;
  case 34:
    return uint32_t(2 * eq - 1);
  case 35:
    return uint32_t(eq - 1);
  case 36:
    return uint32_t(~(eq - 1));
  case 37:
    return uint32_t(~(2 * eq - 1));
  case 41:
    return m.launch.dynamicSharedBytes;
  case 42:
    return cta.sharedBytes - kReservedShared;
  case 43:
    return kWarpSize;
  case 44:
  case 46:
    return 0;
  default:
    return m.statistics.switches; // clocks and timers: only monotonic
  }
}

//===----------------------------------------------------------------------===//
// Integer and float arithmetic
//===----------------------------------------------------------------------===//

static bool floating(PtxType t) {
  return t == PtxType::F16 || t == PtxType::BF16 || t == PtxType::F32 ||
         t == PtxType::F64;
}
static bool packed(PtxType t) {
  return t == PtxType::F16x2 || t == PtxType::BF16x2;
}
static bool signedType(PtxType t) {
  return t == PtxType::S8 || t == PtxType::S16 || t == PtxType::S32 ||
         t == PtxType::S64;
}
static uint64_t truncated(PtxType t, uint64_t v) {
  unsigned w = bitWidth(t);
  return w >= 64 ? v : v & ((uint64_t(1) << w) - 1);
}
static int64_t extended(PtxType t, uint64_t v) {
  unsigned s = 64 - bitWidth(t);
  return int64_t(v << s) >> s;
}
static float flush(float f) {
  return std::fpclassify(f) == FP_SUBNORMAL ? std::copysign(0.0f, f) : f;
}

/// A float result in the type, with the modifiers applied.
static uint64_t finish(const Inst &inst, PtxType type, double v) {
  if (inst.has("sat"))
    v = v != v ? 0 : std::min(std::max(v, 0.0), 1.0);
  if (inst.has("relu"))
    v = v > 0 ? v : 0;
  if (inst.has("ftz") && type == PtxType::F32)
    v = flush(float(v));
  return fromDouble(type, v);
}

/// Applies `f` to each half of packed operands, or to the operands.
template <typename F>
static void eachPart(Exec &e, PtxType type, unsigned sources, F f) {
  uint64_t in[3] = {};
  for (unsigned i = 0; i < sources; ++i)
    in[i] = e.value(i + 1);
  if (!packed(type)) {
    e.set(0, f(type, in[0], in[1], in[2]));
    return;
  }
  PtxType half = type == PtxType::F16x2 ? PtxType::F16 : PtxType::BF16;
  uint64_t low = f(half, in[0] & 0xffff, in[1] & 0xffff, in[2] & 0xffff);
  uint64_t high =
      f(half, in[0] >> 16 & 0xffff, in[1] >> 16 & 0xffff, in[2] >> 16 & 0xffff);
  e.set(0, (low & 0xffff) | high << 16);
}

enum Binary { Add, Sub, Mul, Div, Rem, Min, Max, And, Or, Xor, Shl, Shr };

static std::string decodeBinary(Inst &inst) {
  inst.a = StringSwitch<int>(inst.tokens[0])
               .Case("add", Add)
               .Case("sub", Sub)
               .Case("mul", Mul)
               .Case("div", Div)
               .Case("rem", Rem)
               .Case("min", Min)
               .Case("max", Max)
               .Case("and", And)
               .Case("or", Or)
               .Case("xor", Xor)
               .Case("shl", Shl)
               .Case("shr", Shr)
               .Default(-1);
  return inst.types.empty() ? "the instruction has no type" : "";
}

static double floatBinary(const Inst &inst, PtxType type, double a, double b) {
  bool single = type == PtxType::F32;
  switch (inst.a) {
  case Add:
    return single ? float(a) + float(b) : a + b;
  case Sub:
    return single ? float(a) - float(b) : a - b;
  case Mul:
    return single ? float(a) * float(b) : a * b;
  case Div:
    return single ? float(a) / float(b) : a / b;
  default:
    if (inst.has("NaN") && (a != a || b != b))
      return NAN;
    return inst.a == Min ? std::fmin(a, b) : std::fmax(a, b);
  }
}

static uint64_t intBinary(Exec &e, PtxType type, uint64_t a, uint64_t b) {
  bool s = signedType(type);
  int64_t sa = extended(type, a), sb = extended(type, b);
  uint64_t ua = truncated(type, a), ub = truncated(type, b);
  unsigned width = bitWidth(type);
  switch (e.inst.a) {
  case Add:
    return ua + ub;
  case Sub:
    return ua - ub;
  case Mul: {
    __int128 p = s ? __int128(sa) * sb : __int128((unsigned __int128)ua * ub);
    return uint64_t(e.inst.has("hi") ? p >> width : p);
  }
  case Div:
  case Rem:
    if (!ub)
      e.m.fail("integer division by zero");
    if (s && sb == -1)
      return e.inst.a == Div ? uint64_t(0) - uint64_t(sa) : 0;
    if (e.inst.a == Div)
      return s ? uint64_t(sa / sb) : ua / ub;
    return s ? uint64_t(sa % sb) : ua % ub;
  case Min:
    return s ? uint64_t(std::min(sa, sb)) : std::min(ua, ub);
  case Max:
    return s ? uint64_t(std::max(sa, sb)) : std::max(ua, ub);
  case And:
    return ua & ub;
  case Or:
    return ua | ub;
  case Xor:
    return ua ^ ub;
  case Shl:
    b = uint32_t(b);
    return b >= width ? 0 : ua << b;
  default:
    b = uint32_t(b);
    if (s)
      return uint64_t(sa >> std::min<uint64_t>(b, width - 1));
    return b >= width ? 0 : ua >> b;
  }
}

static void binary(Exec &e) {
  PtxType type = e.inst.type();
  if (floating(type) || packed(type))
    return eachPart(
        e, type, 2, [&](PtxType t, uint64_t a, uint64_t b, uint64_t) {
          return finish(e.inst, t,
                        floatBinary(e.inst, t, toDouble(t, a), toDouble(t, b)));
        });
  uint64_t v = intBinary(e, type, e.value(1), e.value(2));
  if (e.inst.has("wide")) { // operands extend, result has twice the bits
    v = signedType(type)
            ? uint64_t(extended(type, e.value(1)) * extended(type, e.value(2)))
            : truncated(type, e.value(1)) * truncated(type, e.value(2));
    return e.set(0, bitWidth(type) == 16 ? uint32_t(v) : v);
  }
  e.set(0, truncated(type, v));
}

/// fma and mad: a * b + c.
static void fusedMultiplyAdd(Exec &e) {
  PtxType type = e.inst.type();
  if (floating(type) || packed(type))
    return eachPart(
        e, type, 3, [&](PtxType t, uint64_t a, uint64_t b, uint64_t c) {
          double x = toDouble(t, a), y = toDouble(t, b), z = toDouble(t, c);
          return finish(e.inst, t,
                        t == PtxType::F32
                            ? std::fma(float(x), float(y), float(z))
                            : std::fma(x, y, z));
        });
  bool s = signedType(type);
  uint64_t a = e.value(1), b = e.value(2), c = e.value(3);
  uint64_t p = s ? uint64_t(extended(type, a) * extended(type, b))
                 : truncated(type, a) * truncated(type, b);
  if (e.inst.has("wide"))
    return e.set(0, bitWidth(type) == 16 ? uint32_t(p + c) : p + c);
  if (e.inst.has("hi"))
    p = s ? uint64_t(__int128(extended(type, a)) * extended(type, b) >>
                     bitWidth(type))
          : uint64_t((unsigned __int128)truncated(type, a) *
                         truncated(type, b) >>
                     bitWidth(type));
  e.set(0, truncated(type, p + c));
}

//===----------------------------------------------------------------------===//
// One operand
//===----------------------------------------------------------------------===//

enum Unary {
  Abs,
  Neg,
  Ex2,
  Lg2,
  Rcp,
  Rsqrt,
  Sqrt,
  Tanh,
  Sin,
  Cos,
  Not,
  Popc,
  Clz,
  Brev,
  Bfind
};

static std::string decodeUnary(Inst &inst) {
  inst.a = StringSwitch<int>(inst.tokens[0])
               .Case("abs", Abs)
               .Case("neg", Neg)
               .Case("ex2", Ex2)
               .Case("lg2", Lg2)
               .Case("rcp", Rcp)
               .Case("rsqrt", Rsqrt)
               .Case("sqrt", Sqrt)
               .Case("tanh", Tanh)
               .Case("sin", Sin)
               .Case("cos", Cos)
               .Case("not", Not)
               .Case("popc", Popc)
               .Case("clz", Clz)
               .Case("brev", Brev)
               .Case("bfind", Bfind)
               .Default(-1);
  return inst.types.empty() ? "the instruction has no type" : "";
}

static double floatUnary(const Inst &inst, double x) {
  if (inst.has("ftz"))
    x = flush(float(x));
  switch (inst.a) {
  case Abs:
    return std::fabs(x);
  case Neg:
    return -x;
  case Ex2:
    return std::exp2(x);
  case Lg2:
    return std::log2(x);
  case Rcp:
    return 1 / x;
  case Rsqrt:
    return 1 / std::sqrt(x);
  case Sqrt:
    return std::sqrt(x);
  case Tanh:
    return std::tanh(x);
  case Sin:
    return std::sin(x);
  default:
    return std::cos(x);
  }
}

static void unary(Exec &e) {
  PtxType type = e.inst.type();
  if (floating(type) || packed(type))
    return eachPart(e, type, 1, [&](PtxType t, uint64_t a, uint64_t, uint64_t) {
      return finish(e.inst, t, floatUnary(e.inst, toDouble(t, a)));
    });
  uint64_t v = truncated(type, e.value(1));
  unsigned width = bitWidth(type);
  switch (e.inst.a) {
  case Abs:
    v = uint64_t(std::abs(extended(type, v)));
    break;
  case Neg:
    v = -v;
    break;
  case Not:
    v = type == PtxType::Pred ? !v : ~v;
    break;
  case Popc:
    v = popcount(v);
    break;
  case Clz:
    v = countl_zero(v) - (64 - width);
    break;
  case Bfind: {
    if (signedType(type) && extended(type, v) < 0)
      v = truncated(type, ~v);
    v = v ? uint64_t(63 - countl_zero(v)) : 0xffffffff;
    return e.set(0, v);
  }
  case Brev: {
    uint64_t r = 0;
    for (unsigned i = 0; i < width; ++i)
      r |= (v >> i & 1) << (width - 1 - i);
    v = r;
    break;
  }
  default:
    e.m.fail("an integer type has no such operation");
  }
  e.set(0, truncated(type, v));
}

//===----------------------------------------------------------------------===//
// Moves, comparisons, conversions, branches
//===----------------------------------------------------------------------===//

/// mov also packs {lo, hi} into a wider register and unpacks it.
static void move(Exec &e) {
  const Operand &d = e.inst.operands[0], &s = e.inst.operands[1];
  unsigned width = bitWidth(e.inst.type());
  if (s.kind == Operand::Vector) {
    unsigned part = width / s.elements.size();
    uint64_t v = 0;
    for (auto [i, o] : enumerate(s.elements))
      v |= (e.value(o) & (~uint64_t(0) >> (64 - part))) << (i * part);
    return e.set(d, v);
  }
  if (d.kind == Operand::Vector) {
    unsigned part = width / d.elements.size();
    uint64_t v = e.value(s);
    for (auto [i, o] : enumerate(d.elements))
      e.set(o, v >> (i * part) & (~uint64_t(0) >> (64 - part)));
    return;
  }
  e.set(d, truncated(e.inst.type(), e.value(s)));
}

static std::string decodeSetp(Inst &inst) {
  const char *names[] = {"eq",  "ne",  "lt",  "le",  "gt",  "ge",
                         "lo",  "ls",  "hi",  "hs",  "equ", "neu",
                         "ltu", "leu", "gtu", "geu", "num", "nan"};
  inst.a = -1;
  for (auto [i, name] : enumerate(names))
    if (inst.has(name))
      inst.a = i;
  return inst.a < 0 || inst.types.empty()
             ? "a comparison takes an operator and a type"
             : "";
}

template <typename T>
static bool compare(int64_t op, T a, T b) {
  switch (op) {
  case 0:
  case 10:
    return a == b;
  case 1:
  case 11:
    return a != b;
  case 2:
  case 6:
  case 12:
    return a < b;
  case 3:
  case 7:
  case 13:
    return a <= b;
  case 4:
  case 8:
  case 14:
    return a > b;
  default:
    return a >= b;
  }
}

static bool compared(Exec &e, unsigned first) {
  PtxType type = e.inst.type();
  uint64_t a = e.value(first), b = e.value(first + 1);
  int64_t op = e.inst.a;
  if (floating(type)) {
    double x = toDouble(type, a), y = toDouble(type, b);
    bool unordered = x != x || y != y;
    if (op >= 16)
      return (op == 17) == unordered;
    if (unordered)
      return op >= 10;
    return compare(op, x, y);
  }
  bool unsignedOp = op >= 6 && op <= 9;
  if (signedType(type) && !unsignedOp)
    return compare(op, extended(type, a), extended(type, b));
  return compare(op, truncated(type, a), truncated(type, b));
}

static void setp(Exec &e) { // setp.op{.bool}.type p[|q], a, b{, c}
  bool p = compared(e, 1);
  bool q = !p;
  if (e.inst.operands.size() > 3) {
    bool c = e.value(3) & 1;
    auto with = [&](bool v) {
      return e.inst.has("and") ? v && c : e.inst.has("or") ? v || c : v != c;
    };
    p = with(p);
    q = with(q);
  }
  e.set(0, p);
  if (e.inst.operands[0].second)
    e.set(*e.inst.operands[0].second, q);
}

static void select(Exec &e) { // selp.type d, a, b, p
  e.set(0, e.value(3) & 1 ? e.value(1) : e.value(2));
}

static void branch(Exec &e) { e.next = e.inst.operands[0].slot; }

static void permute(Exec &e) { // prmt.b32 d, a, b, selector
  uint64_t bytes = uint32_t(e.value(1)) | e.value(2) << 32;
  uint32_t selector = e.value(3), v = 0;
  for (unsigned i = 0; i < 4; ++i) {
    uint32_t s = selector >> (4 * i) & 15;
    uint32_t byte = bytes >> (8 * (s & 7)) & 0xff;
    if (s & 8)
      byte = byte & 0x80 ? 0xff : 0;
    v |= byte << (8 * i);
  }
  e.set(0, v);
}

static void lop3(Exec &e) { // lop3.b32 d, a, b, c, table
  uint32_t a = e.value(1), b = e.value(2), c = e.value(3), v = 0;
  uint32_t lut = e.value(4);
  for (unsigned i = 0; i < 32; ++i) {
    unsigned row = (a >> i & 1) << 2 | (b >> i & 1) << 1 | (c >> i & 1);
    v |= (lut >> row & 1) << i;
  }
  e.set(0, v);
}

static void bitField(Exec &e) { // bfe.type d, a, position, length
  PtxType type = e.inst.type();
  unsigned width = bitWidth(type), at = e.value(2) & 255, n = e.value(3) & 255;
  uint64_t v = truncated(type, e.value(1));
  n = std::min(n, width - std::min(at, width));
  v = at >= width || !n ? 0 : v >> at & (~uint64_t(0) >> (64 - n));
  if (signedType(type) && n && n < 64)
    v = truncated(type, uint64_t(int64_t(v << (64 - n)) >> (64 - n)));
  e.set(0, v);
}

static void funnel(Exec &e) { // shf.{l,r}.{wrap,clamp}.b32 d, lo, hi, n
  uint64_t both = uint32_t(e.value(1)) | e.value(2) << 32;
  uint32_t n = e.value(3);
  n = e.inst.has("clamp") ? std::min(n, 32u) : n & 31;
  e.set(0, uint32_t(e.inst.has("l") ? both << n >> 32 : both >> n));
}

//===----------------------------------------------------------------------===//
// cvt
//===----------------------------------------------------------------------===//

static std::string decodeCvt(Inst &inst) {
  return inst.types.size() == 2 ? "" : "cvt takes two types";
}

static double rounded(const Inst &inst, double v) {
  if (inst.has("rni"))
    return std::nearbyint(v);
  if (inst.has("rzi"))
    return std::trunc(v);
  if (inst.has("rmi"))
    return std::floor(v);
  if (inst.has("rpi"))
    return std::ceil(v);
  return v;
}

/// One element of a float conversion.
static uint64_t convertFloat(const Inst &inst, PtxType to, double v) {
  if (inst.has("relu"))
    v = v > 0 ? v : 0;
  bool zero = inst.has("rz");
  if (inst.has("satfinite") && v == v) {
    double largest = to == PtxType::F16    ? 65504
                     : to == PtxType::BF16 ? 0x1.fep127
                                           : 0;
    if (largest)
      v = std::min(std::max(v, -largest), largest);
  }
  if (to == PtxType::BF16)
    return toBF16(float(v), zero);
  if (to == PtxType::F16)
    return toF16(float(v), zero);
  if (to == PtxType::TF32)
    return floatBits(toTF32(float(v), inst.has("rna")));
  return finish(inst, to, v);
}

static PtxType halfOf(PtxType type) {
  switch (type) {
  case PtxType::F16x2:
    return PtxType::F16;
  case PtxType::BF16x2:
    return PtxType::BF16;
  case PtxType::E4M3x2:
    return PtxType::E4M3;
  case PtxType::E5M2x2:
    return PtxType::E5M2;
  default:
    return PtxType::None;
  }
}

static void convert(Exec &e) {
  PtxType to = e.inst.types[0], from = e.inst.types[1];
  if (PtxType part = halfOf(to); part != PtxType::None) {
    unsigned width = bitWidth(part);
    uint64_t low, high;
    if (PtxType source = halfOf(from);
        source != PtxType::None) { // packed to packed
      uint64_t v = e.value(1);
      unsigned w = bitWidth(source);
      uint64_t mask = (uint64_t(1) << w) - 1;
      low = convertFloat(e.inst, part, toDouble(source, v & mask));
      high = convertFloat(e.inst, part, toDouble(source, v >> w & mask));
    } else { // the first source is the upper half
      if (e.inst.operands.size() < 3)
        e.m.fail("a packing cvt takes two sources");
      high = convertFloat(e.inst, part, toDouble(from, e.value(1)));
      low = convertFloat(e.inst, part, toDouble(from, e.value(2)));
    }
    return e.set(0, low | high << width);
  }
  uint64_t v = e.value(1);
  bool toFloat = floating(to) || to == PtxType::TF32;
  if (floating(from) || from == PtxType::TF32) {
    double x = toDouble(from, v);
    if (toFloat)
      return e.set(0, convertFloat(e.inst, to, rounded(e.inst, x)));
    // Float to integer saturates; NaN gives 0.
    x = x != x ? 0 : rounded(e.inst, x);
    unsigned w = bitWidth(to);
    double hi = signedType(to) ? std::ldexp(1.0, w - 1) : std::ldexp(1.0, w);
    double lo = signedType(to) ? -hi : 0;
    if (x >= hi)
      return e.set(0,
                   truncated(to, signedType(to) ? (uint64_t(1) << (w - 1)) - 1
                                                : ~uint64_t(0)));
    if (x <= lo)
      return e.set(0,
                   truncated(to, signedType(to) ? uint64_t(1) << (w - 1) : 0));
    return e.set(
        0, truncated(to, signedType(to) ? uint64_t(int64_t(x)) : uint64_t(x)));
  }
  uint64_t wide =
      signedType(from) ? uint64_t(extended(from, v)) : truncated(from, v);
  if (toFloat)
    return e.set(0, fromDouble(to, signedType(from) ? double(int64_t(wide))
                                                    : double(wide)));
  if (e.inst.has("sat"))
    e.m.fail("cvt.sat between integers is not modelled by the emulator");
  e.set(0, truncated(to, wide));
}

ArrayRef<OpInfo> rudnn::emulator::scalarOps() {
#define FLOAT " rn ftz sat approx full relu * "
  static const OpInfo table[] = {
      {"mov", "*", 2, 2, move},
      {"add", FLOAT, 3, 3, binary, decodeBinary},
      {"sub", FLOAT, 3, 3, binary, decodeBinary},
      {"mul", FLOAT "lo hi wide", 3, 3, binary, decodeBinary},
      {"div", FLOAT, 3, 3, binary, decodeBinary},
      {"rem", "*", 3, 3, binary, decodeBinary},
      {"min", "ftz NaN *", 3, 3, binary, decodeBinary},
      {"max", "ftz NaN *", 3, 3, binary, decodeBinary},
      {"and", "*", 3, 3, binary, decodeBinary},
      {"or", "*", 3, 3, binary, decodeBinary},
      {"xor", "*", 3, 3, binary, decodeBinary},
      {"shl", "*", 3, 3, binary, decodeBinary},
      {"shr", "*", 3, 3, binary, decodeBinary},
      {"fma", "rn ftz sat relu *", 4, 4, fusedMultiplyAdd},
      {"mad", "lo hi wide *", 4, 4, fusedMultiplyAdd},
      {"abs", "ftz *", 2, 2, unary, decodeUnary},
      {"neg", "ftz *", 2, 2, unary, decodeUnary},
      {"ex2", "approx ftz *", 2, 2, unary, decodeUnary},
      {"lg2", "approx ftz *", 2, 2, unary, decodeUnary},
      {"rcp", "approx ftz rn *", 2, 2, unary, decodeUnary},
      {"rsqrt", "approx ftz *", 2, 2, unary, decodeUnary},
      {"sqrt", "approx ftz rn *", 2, 2, unary, decodeUnary},
      {"tanh", "approx ftz *", 2, 2, unary, decodeUnary},
      {"sin", "approx ftz *", 2, 2, unary, decodeUnary},
      {"cos", "approx ftz *", 2, 2, unary, decodeUnary},
      {"not", "*", 2, 2, unary, decodeUnary},
      {"popc", "*", 2, 2, unary, decodeUnary},
      {"clz", "*", 2, 2, unary, decodeUnary},
      {"brev", "*", 2, 2, unary, decodeUnary},
      {"bfind", "*", 2, 2, unary, decodeUnary},
      {"setp",
       "eq ne lt le gt ge lo ls hi hs equ neu ltu leu gtu geu num nan "
       "and or xor ftz *",
       3, 4, setp, decodeSetp},
      {"selp", "*", 4, 4, select},
      {"bra", "uni", 1, 1, branch},
      {"prmt", "b32", 4, 4, permute},
      {"lop3", "b32", 5, 5, lop3},
      {"bfe", "*", 4, 4, bitField},
      {"shf", "l r wrap clamp b32", 4, 4, funnel},
      {"cvt", "rn rz rna rni rzi rmi rpi ftz sat satfinite relu *", 2, 3,
       convert, decodeCvt},
  };
#undef FLOAT
  return table;
}
