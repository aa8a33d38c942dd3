//===- Scalar.cpp - Statements of one thread's registers --------*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Machine.h"
#include "Numeric.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/bit.h"

#include <cfenv>
#include <cmath>

using namespace llvm;
using namespace rudnn::emulator;

//===----------------------------------------------------------------------===//
// Integer and float arithmetic
//===----------------------------------------------------------------------===//

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

/// Smaller formats round to nearest only.
static std::string checkRounding(Inst &inst) {
  bool directed = inst.has("rz") || inst.has("rm") || inst.has("rp");
  if (directed && inst.type() != PtxType::F32 && inst.type() != PtxType::F64)
    return "this rounding is modelled for f32 and f64 only";
  return "";
}

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
  return inst.types.empty() ? "the instruction has no type"
                            : checkRounding(inst);
}

namespace {
/// The rounding mode of the instruction, for as long as this lives.
class Rounding {
public:
  explicit Rounding(const Inst &inst)
      : mode(inst.has("rz")   ? FE_TOWARDZERO
             : inst.has("rm") ? FE_DOWNWARD
             : inst.has("rp") ? FE_UPWARD
                              : FE_TONEAREST) {
    if (mode != FE_TONEAREST)
      std::fesetround(mode);
  }
  ~Rounding() {
    if (mode != FE_TONEAREST)
      std::fesetround(FE_TONEAREST);
  }

private:
  int mode;
};
} // namespace

// Not inlined and not pure for the compiler, so that the operation stays
// between the changes of the mode.
[[gnu::noinline]] static double fusedFloat(PtxType t, double x, double y,
                                           double z) {
  asm volatile("" ::: "memory");
  return t == PtxType::F32 ? std::fma(float(x), float(y), float(z))
                           : std::fma(x, y, z);
}

[[gnu::noinline]] static double floatBinary(const Inst &inst, PtxType type,
                                            double a, double b) {
  asm volatile("" ::: "memory");
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
    return eachPart(e, type, 2,
                    [&](PtxType t, uint64_t a, uint64_t b, uint64_t) {
                      double x = toDouble(t, a), y = toDouble(t, b), v;
                      {
                        Rounding rounding(e.inst);
                        v = floatBinary(e.inst, t, x, y);
                      }
                      return finish(e.inst, t, v);
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
          double v;
          {
            Rounding rounding(e.inst);
            v = fusedFloat(t, x, y, z);
          }
          return finish(e.inst, t, v);
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

ArrayRef<OpInfo> rudnn::emulator::scalarOps() {
#define FLOAT " rn rz rm rp ftz sat approx full relu * "
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
      {"fma", "rn rz rm rp ftz sat relu *", 4, 4, fusedMultiplyAdd,
       checkRounding},
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
  };
#undef FLOAT
  return table;
}
