//===- Compiler.h - From MLIR text to code -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The compiler driver that the tools share: parse, run the target's pipeline,
// optimize, and run in this process or write files.
//
//===----------------------------------------------------------------------===//
#ifndef RUDNN_COMPILER_COMPILER_H
#define RUDNN_COMPILER_COMPILER_H

#include "rudnn/Compiler/Signature.h"
#include "rudnn/Compiler/Target.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

namespace rudnn {

struct CompileOptions {
  /// LLVM's optimization level, 0 to 3.
  unsigned optLevel = 3;
  /// CPU that host code is for: a name of LLVM or "native".
  std::string cpu = "native";
  /// Verify the IR after every pass.
  bool verifyEach = false;
  /// Print the time of every pass to stderr.
  bool timePasses = false;
  /// Check extents and index values when the code runs: a bad one prints a line
  /// and ends the program. Target cpu only.
  bool check = false;
};

/// Host code of a compiled module, as LLVM IR.
struct CompiledModule {
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module;
  std::unique_ptr<llvm::TargetMachine> machine;
  std::vector<EntrySignature> entries;
  std::string target;
  std::string report;

  const EntrySignature *find(llvm::StringRef entry) const;
};

/// Parses a file of MLIR text or bytecode ("-" is stdin). Diagnostics go to stderr.
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
parseModule(llvm::StringRef path, mlir::MLIRContext &context);

/// Compiles a parsed module; it is consumed. Diagnostics go to stderr.
llvm::Expected<CompiledModule> compile(mlir::ModuleOp module, const Target &target,
                                       const CompileOptions &options);

/// Writes the module as `kind` ("so", "o", "ll" or "h") to `path`.
llvm::Error writeOutput(const CompiledModule &compiled, llvm::StringRef kind,
                        llvm::StringRef path);

/// A module that runs in this process.
class LoadedModule {
public:
  virtual ~LoadedModule();
  virtual const RudnnModuleInfo &getInfo() const = 0;
};

/// Generates code for the module in memory; it is consumed.
llvm::Expected<std::unique_ptr<LoadedModule>> load(CompiledModule &&compiled);

/// Adds to the module the functions and tables of include/rudnn/Runtime/Abi.h.
llvm::Error emitEntryTable(llvm::Module &module,
                           const std::vector<EntrySignature> &entries,
                           llvm::StringRef target);

/// The C header of an artifact.
llvm::Expected<std::string> emitHeader(const CompiledModule &compiled,
                                       llvm::StringRef name);

/// The name of an entry in C: characters that C does not allow become `_`.
std::string getCName(llvm::StringRef entry);

} // namespace rudnn

#endif // RUDNN_COMPILER_COMPILER_H
