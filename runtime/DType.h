//===- DType.h - Names and sizes of element types -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef RUDNN_RUNTIME_DTYPE_H
#define RUDNN_RUNTIME_DTYPE_H

#include "rudnn/Runtime/Abi.h"

#include <cstdint>

namespace rudnn {

inline bool isDType(int32_t dtype) {
  return dtype >= RUDNN_F32 && dtype <= RUDNN_INDEX;
}

inline const char *dtypeName(int32_t dtype) {
  static const char *const names[] = {"f32", "f16", "bf16", "f64", "i1",
                                      "i8",  "i16", "i32",  "i64", "index"};
  return isDType(dtype) ? names[dtype] : "unknown";
}

inline uint32_t dtypeBytes(int32_t dtype) {
  static const uint8_t sizes[] = {4, 2, 2, 8, 1, 1, 2, 4, 8, 8};
  return isDType(dtype) ? sizes[dtype] : 0;
}

inline bool isFloat(int32_t dtype) {
  return dtype >= RUDNN_F32 && dtype <= RUDNN_F64;
}

} // namespace rudnn

#endif // RUDNN_RUNTIME_DTYPE_H
