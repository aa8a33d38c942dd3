//===- TensorMap.h - The emulator's tensor map format -----------*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef RUDNN_LIB_EMULATOR_TENSORMAP_H
#define RUDNN_LIB_EMULATOR_TENSORMAP_H

#include "Ptx.h"
#include "rudnn/Emulator.h"

namespace rudnn::emulator {

constexpr uint32_t kTensorMapMagic = 0x50414d54; // "TMAP"

/// What the 128 bytes of a TensorMap hold.
struct EncodedMap {
  uint32_t magic;
  uint8_t rank, type, swizzle, oobFill;
  uint64_t address;
  uint64_t dim[5];
  uint64_t stride[5]; ///< Bytes; stride[0] is the element size.
  uint16_t box[5];
  uint8_t step[5]; ///< Element strides.
};
static_assert(sizeof(EncodedMap) <= sizeof(TensorMap));

unsigned elementBytes(ElementType type);
PtxType scalarType(ElementType type);

/// Moves 16-byte chunks as the swizzle does: `offset` is a shared address.
inline uint64_t swizzled(uint64_t offset, Swizzle swizzle) {
  switch (swizzle) {
  case Swizzle::None:
    return offset;
  case Swizzle::B32:
    return offset ^ ((offset >> 7 & 1) << 4);
  case Swizzle::B64:
    return offset ^ ((offset >> 7 & 3) << 4);
  case Swizzle::B128:
    return offset ^ ((offset >> 7 & 7) << 4);
  }
  return offset;
}

} // namespace rudnn::emulator

#endif // RUDNN_LIB_EMULATOR_TENSORMAP_H
