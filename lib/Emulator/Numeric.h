//===- Numeric.h - Small float formats and scalar operations ----*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef RUDNN_LIB_EMULATOR_NUMERIC_H
#define RUDNN_LIB_EMULATOR_NUMERIC_H

#include "Ptx.h"

#include <cstdint>
#include <cstring>

namespace rudnn::emulator {

inline float floatFromBits(uint32_t bits) {
  float f;
  std::memcpy(&f, &bits, 4);
  return f;
}
inline uint32_t floatBits(float f) {
  uint32_t u;
  std::memcpy(&u, &f, 4);
  return u;
}

inline float fromBF16(uint16_t h) { return floatFromBits(uint32_t(h) << 16); }
float fromF16(uint16_t h);
float fromE4M3(uint8_t v);
float fromE5M2(uint8_t v);

/// Round to nearest even, or towards zero.
uint16_t toBF16(float f, bool towardsZero = false);
uint16_t toF16(float f, bool towardsZero = false);
/// Saturates to the largest finite value, as the device's satfinite does.
uint8_t toE4M3(float f);
uint8_t toE5M2(float f);
/// Rounds a float to the 10 bits of TF32.
float toTF32(float f, bool tiesAway);

/// A scalar of at most 64 bits as a double (exact for all but 64-bit ints).
double toDouble(PtxType type, uint64_t bits);
uint64_t fromDouble(PtxType type, double value);

// Classes of types.
inline bool floating(PtxType t) {
  return t == PtxType::F16 || t == PtxType::BF16 || t == PtxType::F32 ||
         t == PtxType::F64;
}
inline bool packed(PtxType t) {
  return t == PtxType::F16x2 || t == PtxType::BF16x2;
}
inline bool signedType(PtxType t) {
  return t == PtxType::S8 || t == PtxType::S16 || t == PtxType::S32 ||
         t == PtxType::S64;
}
inline uint64_t truncated(PtxType t, uint64_t v) {
  unsigned w = bitWidth(t);
  return w >= 64 ? v : v & ((uint64_t(1) << w) - 1);
}
inline int64_t extended(PtxType t, uint64_t v) {
  unsigned s = 64 - bitWidth(t);
  return int64_t(v << s) >> s;
}

float flush(float f); ///< Subnormals become zero.
/// Bits of a float result after the modifiers .sat, .relu and .ftz.
uint64_t finish(const Inst &inst, PtxType type, double v);

/// The operation `op` of an atomic or reduction (add, min, max, and, or, xor,
/// exch, cas, inc, dec in this order) on the bits of one memory word.
uint64_t combine(int op, PtxType type, uint64_t old, uint64_t value,
                 uint64_t other);

} // namespace rudnn::emulator

#endif // RUDNN_LIB_EMULATOR_NUMERIC_H
