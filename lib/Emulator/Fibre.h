//===- Fibre.h - Stacks that the emulated threads run on -------*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef RUDNN_LIB_EMULATOR_FIBRE_H
#define RUDNN_LIB_EMULATOR_FIBRE_H

#include <cstddef>
#include <cstdint>
#include <memory>

namespace rudnn::emulator {

/// A context that can be left and resumed. A default-constructed one stands for
/// the thread it is first left from (the scheduler).
class Fibre {
public:
  Fibre();
  ~Fibre();
  Fibre(const Fibre &) = delete;
  Fibre &operator=(const Fibre &) = delete;

  /// Makes the next switch to this fibre call entry(argument) on the stack.
  /// `entry` must not return.
  void prepare(void *stackBase, size_t stackBytes, void (*entry)(void *),
               void *argument);

  /// Leaves `from` and continues `to`.
  static void switchTo(Fibre &from, Fibre &to);

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

/// Stacks of equal size with a guard page below each.
class StackPool {
public:
  explicit StackPool(size_t count);
  ~StackPool();
  bool valid() const { return memory; }
  void *base(size_t i) const;
  size_t bytes() const { return usable; }
  /// Whether the address lies on one of the stacks.
  bool contains(uintptr_t address) const {
    return address - reinterpret_cast<uintptr_t>(memory) < total;
  }

private:
  char *memory = nullptr;
  size_t total = 0, usable = 0, stride = 0;
};

} // namespace rudnn::emulator

#endif // RUDNN_LIB_EMULATOR_FIBRE_H
