//===- HostTensor.h - Arrays of the tools, and .npy files -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef RUDNN_SUPPORT_HOSTTENSOR_H
#define RUDNN_SUPPORT_HOSTTENSOR_H

#include "rudnn/Runtime/Abi.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <string>
#include <vector>

namespace rudnn {

/// Bytes of one element (i1 has 1, index 8).
int64_t getByteSize(RudnnDType dtype);

/// `f32`, `bf16`, `i1`, `index`, ...
llvm::StringRef getName(RudnnDType dtype);

/// `[2, 3]`.
std::string formatShape(llvm::ArrayRef<int64_t> shape);

/// f32 to bf16 or f16 bits, rounded to nearest, ties to even; and back.
uint16_t toBf16(float value);
uint16_t toF16(float value);
float fromBf16(uint16_t bits);
float fromF16(uint16_t bits);

/// A dense row-major array in host memory.
class HostTensor {
public:
  HostTensor() = default;
  /// An array of extents that are known to fit, such as those of another array.
  HostTensor(RudnnDType dtype, std::vector<int64_t> shape);
  /// An array of any extents; an error when it is larger than the machine's
  /// memory.
  static llvm::Expected<HostTensor> create(RudnnDType dtype,
                                           std::vector<int64_t> shape);

  RudnnDType getDType() const { return dtype; }
  llvm::ArrayRef<int64_t> getShape() const { return shape; }
  int64_t getNumElements() const { return numElements; }
  int64_t getNumBytes() const { return numElements * getByteSize(dtype); }
  char *data() { return bytes.data(); }
  const char *data() const { return bytes.data(); }

  /// An element as a double (i64 beyond 2^53 is rounded).
  double get(int64_t i) const;
  /// Stores `value` rounded to the element type; integers truncate.
  void set(int64_t i, double value);
  /// The value that every byte pattern of uninitialized memory should be: NaN,
  /// or a large integer.
  void poison();

private:
  RudnnDType dtype = RUDNN_F32;
  std::vector<int64_t> shape;
  int64_t numElements = 0;
  std::vector<char> bytes;
};

/// Reads a .npy file (version 1 to 3, little endian, C order) as an array of
/// element type `dtype`: f32, f16, f64, bool, int8 to int64 as they are; bf16 from
/// float32, rounded. Anything else is an error that names the file.
llvm::Expected<HostTensor> readNpy(llvm::StringRef path, RudnnDType dtype);

/// Writes a .npy file; bf16 as float32, index as int64.
llvm::Error writeNpy(llvm::StringRef path, const HostTensor &tensor);

/// Fills an array after `spec`:
///   normal:SEED              standard normal
///   uniform:SEED:LO:HI       in [LO, HI)
///   iota                     0, 1, 2, ...
///   const:X                  X everywhere
///   randint:SEED:LO:HI       integers in [LO, HI)
/// The values depend on the seed and the position only. An error tells what is
/// wrong with the spec.
llvm::Error fill(HostTensor &tensor, llvm::StringRef spec);

/// The outcome of comparing two arrays.
struct Comparison {
  double maxAbsError = 0;
  double maxRelError = 0;
  int64_t numBad = 0;
  /// First position out of tolerance, -1 when none is.
  int64_t firstBad = -1;
};

/// Elements agree when |actual - expected| <= atol + rtol * |expected|, or when
/// both are NaN or the same infinity. The shapes must be equal.
Comparison compare(const HostTensor &actual, const HostTensor &expected,
                   double rtol, double atol);

/// `[1, 2]` for a linear position.
std::string formatIndex(int64_t linear, llvm::ArrayRef<int64_t> shape);

} // namespace rudnn

#endif // RUDNN_SUPPORT_HOSTTENSOR_H
