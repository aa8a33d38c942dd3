//===- Emulator.h - Run NVPTX kernels on the host --------------*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Executes the LLVM IR of sm_80 and sm_90a kernels, the very module that goes
// to the NVPTX back end, on the CPU. Use it to find wrong addresses,
// descriptors, barrier phases, arrival counts, missing waits and deadlocks
// without a GPU:
//
//   auto program = emulator::Program::create(llvmModule);   // NVPTX triple
//   emulator::Launch launch;
//   launch.grid = {4}; launch.block = {384}; launch.dynamicSharedBytes = 65536;
//   launch.buffers.push_back({out, bytes, /*writable=*/true, "out"});
//   llvm::Error e = (*program)->launch("kernel", launch,
//       {emulator::Argument::tensorMap(map), emulator::Argument::pointer(out),
//        emulator::Argument::scalar<int32_t>(n)});
//
// Everything wrong (an unknown instruction, a deadlock, an access out of
// bounds, ...) is an llvm::Error whose text names the instruction, the CTA and
// the thread; a deadlock's text also holds the state of all barriers. See
// docs/emulator.md for what is modelled.
//
//===----------------------------------------------------------------------===//
#ifndef RUDNN_EMULATOR_H
#define RUDNN_EMULATOR_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace llvm {
class Module;
} // namespace llvm

namespace rudnn::emulator {

//===----------------------------------------------------------------------===//
// Tensor maps
//===----------------------------------------------------------------------===//

/// What a kernel takes by value as a TMA descriptor. The content is the
/// emulator's own (not the hardware's) and is made by encodeTiled().
struct alignas(64) TensorMap {
  uint8_t bytes[128] = {};
};

/// Element types, numbered as CUtensorMapDataType.
enum class ElementType : uint32_t {
  U8 = 0,
  U16 = 1,
  U32 = 2,
  S32 = 3,
  U64 = 4,
  S64 = 5,
  F16 = 6,
  F32 = 7,
  F64 = 8,
  BF16 = 9,
};

/// Swizzles, numbered as CUtensorMapSwizzle.
enum class Swizzle : uint32_t { None = 0, B32 = 1, B64 = 2, B128 = 3 };

/// What elements outside of the tensor read as (CUtensorMapFloatOOBfill).
enum class OobFill : uint32_t { Zero = 0, Nan = 1 };

/// Parameters of cuTensorMapEncodeTiled, in its order and with its meaning:
/// dimensions innermost first, `globalStrides` in bytes without the innermost
/// one (rank - 1 of them). Interleaved layouts are not supported; the L2
/// promotion has no effect here and is therefore absent.
struct TiledMap {
  ElementType type = ElementType::BF16;
  void *globalAddress = nullptr;
  llvm::SmallVector<uint64_t, 5> globalDim;
  llvm::SmallVector<uint64_t, 4> globalStrides;
  llvm::SmallVector<uint32_t, 5> boxDim;
  llvm::SmallVector<uint32_t, 5> elementStrides; ///< Empty: all 1.
  Swizzle swizzle = Swizzle::None;
  OobFill oobFill = OobFill::Zero;
};

/// Makes a tensor map. Refuses what the driver refuses (rank not 1..5, address
/// not 16-byte aligned, strides not a multiple of 16, box dimension 0 or above
/// 256, innermost box not a multiple of 16 bytes or above the swizzle's span,
/// ...), naming the parameter and its value.
llvm::Expected<TensorMap> encodeTiled(const TiledMap &parameters);

//===----------------------------------------------------------------------===//
// Launching
//===----------------------------------------------------------------------===//

struct Dim3 {
  uint32_t x = 1, y = 1, z = 1;
  uint64_t count() const { return uint64_t(x) * y * z; }
};

enum class Mode {
  /// Copies take place when they are issued, matrix operations as soon as the
  /// warp group has issued them.
  Synchronous,
  /// Copies and matrix operations complete at random later points, drawn from
  /// the seed, at the latest when a wait needs them; threads, CTAs and the lane
  /// that elect.sync picks are drawn too. Exposes missing waits.
  Delayed,
};

struct Options {
  Mode mode = Mode::Synchronous;
  uint64_t seed = 0;
  /// Wall-clock limit of a launch in seconds; above it the launch fails with
  /// the dump of a deadlock.
  double timeLimit = 60;
  /// Clusters that are on the device at a time. More than one is needed only
  /// by kernels whose CTAs wait for each other through global memory.
  uint32_t residentClusters = 1;
};

/// A range of global memory that the kernel may access. An access outside of
/// all of them is an error; without any buffer, global accesses are unchecked.
struct Buffer {
  const void *data = nullptr;
  size_t bytes = 0;
  bool writable = true;
  std::string name;
};

/// One kernel argument: the bytes of its value.
class Argument {
public:
  static Argument pointer(const void *p) { return scalar(p); }
  template <typename T>
  static Argument scalar(T value) {
    return bytes(&value, sizeof(T));
  }
  static Argument tensorMap(const TensorMap &map) {
    return bytes(map.bytes, sizeof(map.bytes));
  }
  static Argument bytes(const void *data, size_t size) {
    Argument a;
    a.storage.assign(static_cast<const uint8_t *>(data),
                     static_cast<const uint8_t *>(data) + size);
    return a;
  }
  llvm::ArrayRef<uint8_t> data() const { return storage; }

private:
  std::vector<uint8_t> storage;
};

struct Launch {
  Dim3 grid, block;
  Dim3 cluster; ///< {1,1,1}: the kernel's own nvvm.cluster_dim, if any.
  uint32_t dynamicSharedBytes = 0;
  std::vector<Buffer> buffers;
  Options options;
};

/// Counts of a launch, for tests and reports.
struct Statistics {
  uint64_t threads = 0;
  uint64_t switches = 0; ///< Context switches between threads.
  uint64_t asyncCopies = 0;
  uint64_t matrixOps = 0; ///< wgmma and mma.sync instructions.
  double seconds = 0;     ///< Wall clock of the launch.
};

/// A module prepared for the host. launch() may be called any number of times,
/// from several threads at once.
class Program {
public:
  virtual ~Program();

  /// Copies the module, replaces its device operations and compiles it. An
  /// intrinsic or PTX instruction that is not modelled is an error naming it.
  static llvm::Expected<std::unique_ptr<Program>>
  create(const llvm::Module &module);

  /// The same from LLVM assembly or bitcode.
  static llvm::Expected<std::unique_ptr<Program>>
  parse(llvm::StringRef irOrBitcode, llvm::StringRef name = "kernel module");

  /// Names of the kernels in the module.
  virtual std::vector<std::string> kernels() const = 0;

  /// Bytes of each argument of a kernel.
  virtual llvm::Expected<std::vector<uint32_t>>
  argumentBytes(llvm::StringRef kernel) const = 0;

  /// Runs one kernel to its end.
  virtual llvm::Error launch(llvm::StringRef kernel, const Launch &launch,
                             llvm::ArrayRef<Argument> arguments,
                             Statistics *statistics = nullptr) const = 0;
};

} // namespace rudnn::emulator

#endif // RUDNN_EMULATOR_H
