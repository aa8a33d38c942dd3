//===- Numeric.cpp - Small float formats and scalar operations --*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Numeric.h"

#include <algorithm>
#include <cmath>

using namespace rudnn::emulator;

float rudnn::emulator::fromF16(uint16_t h) {
  uint32_t sign = uint32_t(h & 0x8000) << 16, exponent = (h >> 10) & 31,
           mantissa = h & 0x3ff;
  if (exponent == 31)
    return floatFromBits(sign | 0x7f800000 | mantissa << 13);
  if (exponent)
    return floatFromBits(sign | (exponent + 112) << 23 | mantissa << 13);
  float f = std::ldexp(float(mantissa), -24);
  return sign ? -f : f;
}

uint16_t rudnn::emulator::toBF16(float f, bool towardsZero) {
  uint32_t u = floatBits(f);
  if (f != f)
    return 0x7fff;
  if (!towardsZero)
    u += 0x7fff + ((u >> 16) & 1);
  return u >> 16;
}

/// Rounds |f| to a format with `mantissa` bits and least exponent `emin`, ties
/// to even.
static double roundTo(double f, int mantissa, int emin, bool towardsZero) {
  int exponent;
  std::frexp(f, &exponent); // |f| in [2^(exponent-1), 2^exponent)
  int ulp = std::max(exponent - 1, emin) - mantissa;
  double scaled = std::ldexp(f, -ulp);
  return std::ldexp(towardsZero ? std::trunc(scaled) : std::nearbyint(scaled),
                    ulp);
}

uint16_t rudnn::emulator::toF16(float f, bool towardsZero) {
  uint16_t sign = floatBits(f) >> 16 & 0x8000;
  if (f != f)
    return 0x7fff;
  double a = roundTo(std::fabs(double(f)), 10, -14, towardsZero);
  if (a > 65504)
    return sign | (towardsZero && std::isfinite(f) ? 0x7bff : 0x7c00);
  if (a < std::ldexp(1.0, -14))
    return sign | uint16_t(std::ldexp(a, 24));
  int exponent;
  double m = std::frexp(a, &exponent); // [0.5, 1)
  return sign | uint16_t((exponent + 14) << 10) |
         (uint16_t(std::ldexp(m, 11)) & 0x3ff);
}

float rudnn::emulator::fromE4M3(uint8_t v) {
  int exponent = v >> 3 & 15, mantissa = v & 7;
  if ((v & 0x7f) == 0x7f)
    return NAN;
  float f = exponent ? std::ldexp(float(8 + mantissa), exponent - 10)
                     : std::ldexp(float(mantissa), -9);
  return v & 0x80 ? -f : f;
}

float rudnn::emulator::fromE5M2(uint8_t v) { return fromF16(uint16_t(v) << 8); }

static uint8_t toSmall(float f, int mantissa, int emin, float largest) {
  uint8_t sign = floatBits(f) >> 24 & 0x80;
  if (f != f)
    return 0x7f;
  double a = std::min(roundTo(std::fabs(double(f)), mantissa, emin, false),
                      double(largest));
  if (a < std::ldexp(1.0, emin))
    return sign | uint8_t(std::ldexp(a, mantissa - emin));
  int exponent;
  double m = std::frexp(a, &exponent);
  return sign | uint8_t((exponent - emin) << mantissa) |
         (uint8_t(std::ldexp(m, mantissa + 1)) & ((1 << mantissa) - 1));
}

uint8_t rudnn::emulator::toE4M3(float f) { return toSmall(f, 3, -6, 448); }
uint8_t rudnn::emulator::toE5M2(float f) { return toSmall(f, 2, -14, 57344); }

float rudnn::emulator::toTF32(float f, bool tiesAway) {
  uint32_t u = floatBits(f);
  if (f != f || std::isinf(f))
    return f;
  u += tiesAway ? 0x1000 : 0xfff + ((u >> 13) & 1);
  return floatFromBits(u & ~0x1fffu);
}

double rudnn::emulator::toDouble(PtxType type, uint64_t bits) {
  switch (type) {
  case PtxType::F16:
    return fromF16(bits);
  case PtxType::BF16:
    return fromBF16(bits);
  case PtxType::TF32:
  case PtxType::F32:
    return floatFromBits(bits);
  case PtxType::F64: {
    double d;
    std::memcpy(&d, &bits, 8);
    return d;
  }
  case PtxType::E4M3:
    return fromE4M3(bits);
  case PtxType::E5M2:
    return fromE5M2(bits);
  case PtxType::S8:
    return int8_t(bits);
  case PtxType::S16:
    return int16_t(bits);
  case PtxType::S32:
    return int32_t(bits);
  case PtxType::S64:
    return double(int64_t(bits));
  case PtxType::U8:
  case PtxType::B8:
    return uint8_t(bits);
  case PtxType::U16:
  case PtxType::B16:
    return uint16_t(bits);
  case PtxType::U32:
  case PtxType::B32:
    return uint32_t(bits);
  default:
    return double(bits);
  }
}

uint64_t rudnn::emulator::fromDouble(PtxType type, double value) {
  switch (type) {
  case PtxType::F16:
    return toF16(float(value));
  case PtxType::BF16:
    return toBF16(float(value));
  case PtxType::TF32:
  case PtxType::F32:
    return floatBits(float(value));
  case PtxType::F64: {
    uint64_t u;
    std::memcpy(&u, &value, 8);
    return u;
  }
  case PtxType::E4M3:
    return toE4M3(float(value));
  case PtxType::E5M2:
    return toE5M2(float(value));
  default:
    return uint64_t(int64_t(value));
  }
}

float rudnn::emulator::flush(float f) {
  return std::fpclassify(f) == FP_SUBNORMAL ? std::copysign(0.0f, f) : f;
}

uint64_t rudnn::emulator::finish(const Inst &inst, PtxType type, double v) {
  if (inst.has("sat"))
    v = v != v ? 0 : std::min(std::max(v, 0.0), 1.0);
  if (inst.has("relu"))
    v = v > 0 ? v : 0;
  if (inst.has("ftz") && type == PtxType::F32)
    v = flush(float(v));
  return fromDouble(type, v);
}

uint64_t rudnn::emulator::combine(int op, PtxType type, uint64_t old,
                                  uint64_t value, uint64_t other) {
  if (type == PtxType::F16x2 || type == PtxType::BF16x2) {
    PtxType half = type == PtxType::F16x2 ? PtxType::F16 : PtxType::BF16;
    return combine(op, half, old & 0xffff, value & 0xffff, 0) |
           combine(op, half, old >> 16 & 0xffff, value >> 16 & 0xffff, 0) << 16;
  }
  unsigned width = bitWidth(type);
  uint64_t mask = width == 64 ? ~uint64_t(0) : (uint64_t(1) << width) - 1;
  old &= mask;
  value &= mask;
  if (floating(type) && op <= 2) {
    double a = toDouble(type, old), b = toDouble(type, value);
    if (op == 0 && type == PtxType::F32) // one rounding, in the type
      return floatBits(float(a) + float(b));
    return fromDouble(type, op == 0   ? a + b
                            : op == 1 ? std::fmin(a, b)
                                      : std::fmax(a, b));
  }
  auto extend = [&](uint64_t v) {
    unsigned shift = 64 - width;
    return int64_t(v << shift) >> shift;
  };
  bool less = signedType(type) ? extend(value) < extend(old) : value < old;
  switch (op) {
  case 0:
    return (old + value) & mask;
  case 1:
    return less ? value : old;
  case 2:
    return less ? old : value;
  case 3:
    return old & value;
  case 4:
    return old | value;
  case 5:
    return old ^ value;
  case 6:
    return value;
  case 7:
    return old == value ? other & mask : old;
  case 8:
    return old >= value ? 0 : old + 1;
  default:
    return old == 0 || old > value ? value : old - 1;
  }
}
