//===- Output.cpp - Files of a compiled module -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rudnn/Compiler/Compiler.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace rudnn;

static Error fileError(StringRef path, const std::error_code &code) {
  return createStringError(path + ": " + code.message());
}

/// Opens `path` for writing and checks the stream after `write`.
static Error writeFile(StringRef path, function_ref<Error(raw_pwrite_stream &)> write) {
  std::error_code code;
  raw_fd_ostream out(path, code);
  if (code)
    return fileError(path, code);
  if (Error error = write(out))
    return error;
  out.close();
  if (!out.has_error())
    return Error::success();
  code = out.error();
  out.clear_error();
  return fileError(path, code);
}

static Error writeObject(const CompiledModule &compiled, StringRef path) {
  return writeFile(path, [&](raw_pwrite_stream &out) -> Error {
    legacy::PassManager pm;
    if (compiled.machine->addPassesToEmitFile(pm, out, nullptr,
                                              CodeGenFileType::ObjectFile))
      return createStringError("this LLVM can't write object files");
    pm.run(*compiled.module);
    return Error::success();
  });
}

/// The linker: lld where it is, else a C compiler.
static Expected<std::string> findLinker(bool &isCompiler) {
  isCompiler = false;
  if (ErrorOr<std::string> lld = sys::findProgramByName("ld.lld", {RUDNN_LLVM_TOOLS_DIR}))
    return *lld;
  for (StringRef name : {"ld.lld", "ld.lld-22", "ld"})
    if (ErrorOr<std::string> ld = sys::findProgramByName(name))
      return *ld;
  isCompiler = true;
  for (StringRef name : {"cc", "gcc", "clang"})
    if (ErrorOr<std::string> cc = sys::findProgramByName(name))
      return *cc;
  return createStringError("no linker found (ld.lld, ld or cc) for a shared library");
}

/// Whether the code needs the OpenMP runtime.
static bool usesOpenMP(const Module &module) {
  for (const Function &function : module)
    if (function.isDeclaration() && function.getName().starts_with("__kmpc_"))
      return true;
  return false;
}

static Error linkShared(const CompiledModule &compiled, StringRef object,
                        StringRef path) {
  bool isCompiler;
  Expected<std::string> linker = findLinker(isCompiler);
  if (!linker)
    return linker.takeError();
  SmallVector<StringRef> args{*linker, "-shared", "-o", path, object};
  StringRef ompFolder = sys::path::parent_path(RUDNN_LIBOMP);
  std::string rpath = (isCompiler ? "-Wl,-rpath=" : "-rpath=") + ompFolder.str();
  if (usesOpenMP(*compiled.module)) {
    args.push_back(RUDNN_LIBOMP);
    args.push_back(rpath);
  }
  // libc and libm are named by hand only where a compiler does not do it; a
  // program that loads the artifact has both.
  if (isCompiler)
    args.push_back("-lm");
  SmallString<128> log;
  int fd;
  if (std::error_code code =
          sys::fs::createTemporaryFile("rudnn-link", "log", fd, log))
    return fileError("temporary file", code);
  sys::Process::SafelyCloseFileDescriptor(fd);
  FileRemover removeLog(log);
  std::optional<StringRef> redirects[] = {StringRef(""), log.str(), log.str()};
  if (sys::ExecuteAndWait(*linker, args, std::nullopt, redirects) == 0)
    return Error::success();
  auto text = MemoryBuffer::getFile(log);
  return createStringError(*linker + " failed: " +
                           (text ? (*text)->getBuffer().rtrim() : StringRef("")));
}

static Error writeShared(const CompiledModule &compiled, StringRef path) {
  SmallString<128> object;
  if (std::error_code code = sys::fs::createTemporaryFile("rudnn", "o", object))
    return fileError("temporary file", code);
  FileRemover removeObject(object);
  if (Error error = writeObject(compiled, object))
    return error;
  // The linker's own message is longer.
  if (Error error = writeFile(
          path, [](raw_pwrite_stream &) { return Error::success(); }))
    return error;
  return linkShared(compiled, object, path);
}

Error rudnn::writeOutput(const CompiledModule &compiled, StringRef kind,
                         StringRef path) {
  if (kind == "o")
    return writeObject(compiled, path);
  if (kind == "so")
    return writeShared(compiled, path);
  if (kind == "ll")
    return writeFile(path, [&](raw_pwrite_stream &out) {
      out << *compiled.module;
      return Error::success();
    });
  if (kind == "h") {
    Expected<std::string> header = emitHeader(compiled, sys::path::stem(path));
    if (!header)
      return header.takeError();
    return writeFile(path, [&](raw_pwrite_stream &out) {
      out << *header;
      return Error::success();
    });
  }
  return createStringError("no writer for output of kind '" + kind + "'");
}
