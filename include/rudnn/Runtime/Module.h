//===- Module.h - Compiled artifacts -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Loads what rudnn-compile made (a .so after rudnn/Runtime/Abi.h, for the CPU
// or a GPU) and calls its functions with DLPack tensors.
//
//   auto module = rudnn::Module::load("decode.so");
//   const rudnn::Function *decode = module->find("decode");
//   auto bytes = decode->workspaceBytes(arguments);
//   auto status = decode->run(arguments, results, workspace, size, stream);
//
// Every argument is checked before compiled code runs; a refusal names it. A
// Function may be run by several threads at the same time with workspaces of
// their own. Artifacts stay loaded until the process ends, since worker threads
// and GPU contexts may refer to them; loading a file again gives the same code.
//
//===----------------------------------------------------------------------===//
#ifndef RUDNN_RUNTIME_MODULE_H
#define RUDNN_RUNTIME_MODULE_H

#include "rudnn/Runtime/Abi.h"
#include "rudnn/Runtime/Device.h"

#include <dlpack/dlpack.h>

#include <span>
#include <string>
#include <vector>

namespace rudnn {

/// Tensors of a call, one pointer each. A scalar is a tensor of rank 0 in host
/// memory.
using Tensors = std::span<const DLTensor *const>;

/// A function of a module; a view, valid until the process ends.
class Function {
public:
  std::string name() const { return info->name; }
  /// Name, element type, rank and extents of each; RUDNN_DYNAMIC where any
  /// extent will do.
  std::span<const RudnnArgInfo> arguments() const {
    return {info->args, size_t(info->num_args)};
  }
  std::span<const RudnnArgInfo> results() const {
    return {info->args + info->num_args, size_t(info->num_results)};
  }

  /// The extents of each result for these arguments. Reads shapes, element
  /// types and scalars; tensors need no data. Errors as of run, without those
  /// about memory.
  Result<std::vector<std::vector<int64_t>>>
  resultShapes(Tensors arguments) const;

  /// Bytes of workspace that run needs for these arguments; as resultShapes.
  Result<uint64_t> workspaceBytes(Tensors arguments) const;

  /// Runs the function on `queue`. Results are written in full.
  ///
  /// In this order, over arguments and then results: their number
  /// (RUDNN_CALL_COUNT); for each, its element type (RUDNN_CALL_DTYPE; integers
  /// may be signed or unsigned), rank (RUDNN_CALL_RANK) and static extents
  /// (RUDNN_CALL_SHAPE), device (RUDNN_CALL_DEVICE: host memory for the CPU,
  /// else one CUDA device for all), dense row-major strides
  /// (RUDNN_CALL_STRIDE), data (RUDNN_CALL_NULL) aligned to the element, or to
  /// 16 bytes for float tensors on CUDA (RUDNN_CALL_ALIGNMENT). Then the
  /// extents of results (RUDNN_CALL_SHAPE), a result that shares memory with
  /// another tensor (RUDNN_CALL_OVERLAP), and the workspace:
  /// workspaceBytes(arguments) bytes, aligned to 256 (RUDNN_CALL_WORKSPACE).
  /// RUDNN_CALL_FAILED or the code of the compiled function when it reports an
  /// error.
  Status run(Tensors arguments, Tensors results, void *workspace,
             uint64_t workspaceSize, Queue queue = nullptr) const;

private:
  friend class Module;
  Function(const RudnnFunctionInfo *info, const char *target)
      : info(info), target(target) {}
  const RudnnFunctionInfo *info;
  const char *target;
};

class Module {
public:
  /// RUDNN_MODULE_OPEN when `path` cannot be loaded,
  /// RUDNN_MODULE_SYMBOL_MISSING when it is no artifact, RUDNN_MODULE_VERSION
  /// when it was made for another version of the interface,
  /// RUDNN_MODULE_MALFORMED when its tables make no sense.
  static Result<Module> load(const std::string &path);

  /// "cpu", "sm_90a", ...
  std::string target() const { return info->target; }
  const std::vector<Function> &functions() const { return list; }
  /// nullptr when there is none of that name.
  const Function *find(const std::string &name) const;
  const RudnnModuleInfo &description() const { return *info; }

private:
  const RudnnModuleInfo *info = nullptr;
  std::vector<Function> list;
};

} // namespace rudnn

#endif // RUDNN_RUNTIME_MODULE_H
