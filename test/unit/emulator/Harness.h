//===- Harness.h - What the emulator's tests share --------------*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef RUDNN_TEST_UNIT_EMULATOR_HARNESS_H
#define RUDNN_TEST_UNIT_EMULATOR_HARNESS_H

#include "rudnn/Emulator.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace rudnn::emulator::test {

/// Replacements of marks in a kernel's text, to parametrize it or to break it.
using Edits = std::vector<std::pair<std::string, std::string>>;

/// Compiles Inputs/<file> (NVVM dialect or LLVM assembly) after the edits, each
/// of which must apply. Null (and a test failure) when that fails.
std::unique_ptr<Program> compileFile(const std::string &file,
                                     const Edits &edits = {});
/// Compiles MLIR text to a program; the error instead of a failure.
llvm::Expected<std::unique_ptr<Program>> compileText(const std::string &mlir);

/// Text of a kernel with the given parameters and body.
std::string kernelText(const std::string &parameters, const std::string &body,
                       const std::string &attributes = "");

/// The error's text, empty on success.
inline std::string message(llvm::Error e) {
  return e ? llvm::toString(std::move(e)) : std::string();
}

inline uint16_t toBf16(float f) {
  uint32_t u;
  std::memcpy(&u, &f, 4);
  return (u + 0x7fff + ((u >> 16) & 1)) >> 16;
}
inline float fromBf16(uint16_t h) {
  uint32_t u = uint32_t(h) << 16;
  float f;
  std::memcpy(&f, &u, 4);
  return f;
}

/// An array whose data is aligned to 128 bytes.
template <typename T>
class Array {
public:
  explicit Array(size_t n, T fill = T()) : storage(n + 128 / sizeof(T), fill) {
    auto at = reinterpret_cast<uintptr_t>(storage.data());
    first = reinterpret_cast<T *>((at + 127) & ~uintptr_t(127));
    count = n;
  }
  T *data() { return first; }
  T &operator[](size_t i) { return first[i]; }
  size_t size() const { return count; }
  Buffer buffer(const char *name, bool writable) {
    return {first, count * sizeof(T), writable, name};
  }

private:
  std::vector<T> storage;
  T *first;
  size_t count;
};

/// bf16 values of a normal distribution.
inline Array<uint16_t> randomBf16(size_t n, unsigned seed) {
  Array<uint16_t> a(n);
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  for (size_t i = 0; i < n; ++i)
    a[i] = toBf16(normal(random));
  return a;
}

/// The tensor map of a row-major matrix.
inline TensorMap mapOf(void *data, uint64_t rows, uint64_t columns,
                       uint32_t boxRows, uint32_t boxColumns, Swizzle swizzle) {
  TiledMap p;
  p.globalAddress = data;
  p.globalDim = {columns, rows};
  p.globalStrides = {columns * 2};
  p.boxDim = {boxColumns, boxRows};
  p.swizzle = swizzle;
  return llvm::cantFail(encodeTiled(p));
}

/// Synchronous, and delayed with several seeds.
std::vector<Options> allModes();

} // namespace rudnn::emulator::test

#endif // RUDNN_TEST_UNIT_EMULATOR_HARNESS_H
