//===- Convert.cpp - The cvt instruction ------------------------*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Machine.h"
#include "Numeric.h"

#include <algorithm>
#include <cmath>

using namespace llvm;
using namespace rudnn::emulator;

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

ArrayRef<OpInfo> rudnn::emulator::convertOps() {
  static const OpInfo table[] = {
      {"cvt", "rn rz rna rni rzi rmi rpi ftz sat satfinite relu *", 2, 3,
       convert, decodeCvt},
  };
  return table;
}
