//===- TensorMap.cpp - Making tensor maps -----------------------*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TensorMap.h"

#include "llvm/ADT/Twine.h"

#include <cstring>

using namespace llvm;
using namespace rudnn::emulator;

unsigned rudnn::emulator::elementBytes(ElementType type) {
  switch (type) {
  case ElementType::U8:
    return 1;
  case ElementType::U16:
  case ElementType::F16:
  case ElementType::BF16:
    return 2;
  case ElementType::U32:
  case ElementType::S32:
  case ElementType::F32:
    return 4;
  case ElementType::U64:
  case ElementType::S64:
  case ElementType::F64:
    return 8;
  }
  return 0;
}

PtxType rudnn::emulator::scalarType(ElementType type) {
  switch (type) {
  case ElementType::U8:
    return PtxType::U8;
  case ElementType::U16:
    return PtxType::U16;
  case ElementType::U32:
    return PtxType::U32;
  case ElementType::S32:
    return PtxType::S32;
  case ElementType::U64:
    return PtxType::U64;
  case ElementType::S64:
    return PtxType::S64;
  case ElementType::F16:
    return PtxType::F16;
  case ElementType::F32:
    return PtxType::F32;
  case ElementType::F64:
    return PtxType::F64;
  case ElementType::BF16:
    return PtxType::BF16;
  }
  return PtxType::None;
}

static Error refuse(const Twine &message) {
  return createStringError("tensor map: " + message);
}

static Error checkShape(const TiledMap &p, unsigned bytes) {
  unsigned rank = p.globalDim.size();
  uint64_t size = bytes;
  for (unsigned i = 0; i < rank; ++i) {
    if (p.globalDim[i] == 0 || p.globalDim[i] > (uint64_t(1) << 32))
      return refuse("globalDim[" + Twine(i) + "] = " + Twine(p.globalDim[i]) +
                    ", allowed are 1 to 2^32");
    if (p.boxDim[i] == 0 || p.boxDim[i] > 256)
      return refuse("boxDim[" + Twine(i) + "] = " + Twine(p.boxDim[i]) +
                    ", allowed are 1 to 256");
    if (!p.elementStrides.empty() &&
        (p.elementStrides[i] == 0 || p.elementStrides[i] > 8))
      return refuse("elementStrides[" + Twine(i) + "] = " +
                    Twine(p.elementStrides[i]) + ", allowed are 1 to 8");
    if (i + 1 == rank)
      break;
    uint64_t stride = p.globalStrides[i];
    if (stride % 16 || stride >= (uint64_t(1) << 40))
      return refuse("globalStrides[" + Twine(i) + "] = " + Twine(stride) +
                    ", allowed are multiples of 16 below 2^40");
    size *= p.globalDim[i];
    if (i == 0 && stride < size)
      return refuse("globalStrides[0] = " + Twine(stride) +
                    " is less than a row of " + Twine(size) + " bytes");
  }
  return Error::success();
}

Expected<TensorMap> rudnn::emulator::encodeTiled(const TiledMap &p) {
  unsigned rank = p.globalDim.size();
  if (rank < 1 || rank > 5)
    return refuse("rank " + Twine(rank) + ", allowed are 1 to 5");
  if (p.globalStrides.size() != rank - 1 || p.boxDim.size() != rank ||
      (!p.elementStrides.empty() && p.elementStrides.size() != rank))
    return refuse("rank " + Twine(rank) + " takes " + Twine(rank - 1) +
                  " globalStrides and " + Twine(rank) +
                  " boxDim and elementStrides");
  unsigned bytes = elementBytes(p.type);
  if (!bytes)
    return refuse("unknown element type " + Twine(uint32_t(p.type)));
  if (reinterpret_cast<uint64_t>(p.globalAddress) % 16)
    return refuse("globalAddress is not aligned to 16 bytes");
  if (Error e = checkShape(p, bytes))
    return std::move(e);
  uint64_t inner = uint64_t(p.boxDim[0]) * bytes;
  uint64_t span = p.swizzle == Swizzle::B32   ? 32
                  : p.swizzle == Swizzle::B64 ? 64
                                              : 128;
  if (inner % 16)
    return refuse("boxDim[0] = " + Twine(p.boxDim[0]) + " is " + Twine(inner) +
                  " bytes, allowed are multiples of 16");
  if (p.swizzle != Swizzle::None && inner > span)
    return refuse("boxDim[0] = " + Twine(p.boxDim[0]) + " is " + Twine(inner) +
                  " bytes, more than the swizzle's " + Twine(span));

  EncodedMap map{};
  map.magic = kTensorMapMagic;
  map.rank = rank;
  map.type = uint8_t(p.type);
  map.swizzle = uint8_t(p.swizzle);
  map.oobFill = uint8_t(p.oobFill);
  map.address = reinterpret_cast<uint64_t>(p.globalAddress);
  for (unsigned i = 0; i < 5; ++i) {
    map.dim[i] = i < rank ? p.globalDim[i] : 1;
    map.stride[i] = i == 0 ? bytes : i < rank ? p.globalStrides[i - 1] : 0;
    map.box[i] = i < rank ? p.boxDim[i] : 1;
    map.step[i] = i < rank && i > 0 && !p.elementStrides.empty()
                      ? p.elementStrides[i]
                      : 1;
  }
  TensorMap result;
  std::memcpy(result.bytes, &map, sizeof(map));
  return result;
}
