//===- Header.cpp - C header of an artifact -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rudnn/Compiler/Compiler.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/raw_ostream.h"

#include <set>

using namespace llvm;
using namespace rudnn;

static StringRef getCType(RudnnDType dtype) {
  static const char *const names[] = {"float",   "uint16_t", "uint16_t", "double",
                                      "uint8_t", "int8_t",   "int16_t",  "int32_t",
                                      "int64_t", "int64_t"};
  return names[dtype];
}

/// A parameter: a descriptor, or a pointer to a scalar.
static std::string getParameter(const ArgSignature &arg, StringRef name) {
  std::string type =
      arg.isScalar ? getCType(arg.dtype).str()
                   : "RudnnTensor" + std::to_string(arg.shape.size());
  return type + " *" + name.str();
}

/// Distinct C names of the parameters.
static std::vector<std::string> getParameterNames(const EntrySignature &entry) {
  std::vector<std::string> names;
  StringSet<> taken{"args", "workspace", "stream", "extents"};
  auto add = [&](const ArgSignature &arg) {
    std::string base = getCName(arg.name), name = base;
    for (int i = 1; !taken.insert(name).second; ++i)
      name = base + "_" + std::to_string(i);
    names.push_back(name);
  };
  for_each(entry.args, add);
  for_each(entry.results, add);
  return names;
}

static void emitDescriptor(raw_ostream &os, size_t rank) {
  os << "#ifndef RUDNN_TENSOR" << rank << "\n#define RUDNN_TENSOR" << rank << "\n"
     << "typedef struct RudnnTensor" << rank << " {\n"
     << "  void *allocated; /* not read */\n"
     << "  void *aligned;   /* element 0, aligned to the element size */\n"
     << "  int64_t offset;  /* in elements */\n";
  if (rank)
    os << "  int64_t sizes[" << rank << "];\n  int64_t strides[" << rank
       << "]; /* in elements, dense row-major */\n";
  os << "} RudnnTensor" << rank << ";\n#endif\n\n";
}

static void emitEntry(raw_ostream &os, const EntrySignature &entry) {
  std::string name = getCName(entry.name);
  std::vector<std::string> parameters = getParameterNames(entry);
  std::vector<const ArgSignature *> all;
  for (const ArgSignature &arg : entry.args)
    all.push_back(&arg);
  for (const ArgSignature &arg : entry.results)
    all.push_back(&arg);

  os << "/* " << entry.str() << "\n"
     << " * args: a pointer to the descriptor or scalar of every argument, then of\n"
     << " * every result. Returns 0 or an error code.\n */\n"
     << "int32_t " << name << "_run(void *const *args, void *workspace, void *stream);\n"
     << "/* The extents of the tensor results, one after the other. */\n"
     << "void " << name << "_result_shapes(void *const *args, int64_t *extents);\n"
     << "/* Bytes that _run needs at workspace, aligned to 256. */\n"
     << "int64_t " << name << "_workspace_bytes(void *const *args);\n\n"
     << "static inline int32_t " << name << "(";
  for (auto [arg, parameter] : zip(all, parameters))
    os << getParameter(*arg, parameter) << ",\n    ";
  os << "void *workspace, void *stream) {\n  void *args[] = {"
     << (parameters.empty() ? "0" : join(parameters, ", ")) << "};\n"
     << "  return " << name << "_run(args, workspace, stream);\n}\n\n";
}

Expected<std::string> rudnn::emitHeader(const CompiledModule &compiled,
                                        StringRef name) {
  std::string text;
  raw_string_ostream os(text);
  std::string guard = "RUDNN_" + StringRef(getCName(name)).upper() + "_H";
  os << "/* Made by rudnn-compile for target " << compiled.target << ". */\n"
     << "#ifndef " << guard << "\n#define " << guard << "\n\n#include <stdint.h>\n\n"
     << "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n"
     << "/* Element types: f16 and bf16 are uint16_t bits, i1 is a byte, index is\n"
     << " * int64_t. */\n\n";
  std::set<size_t> ranks;
  for (const EntrySignature &entry : compiled.entries) {
    for (const ArgSignature &arg : entry.args)
      if (!arg.isScalar)
        ranks.insert(arg.shape.size());
    for (const ArgSignature &arg : entry.results)
      if (!arg.isScalar)
        ranks.insert(arg.shape.size());
  }
  for (size_t rank : ranks)
    emitDescriptor(os, rank);
  for (const EntrySignature &entry : compiled.entries)
    emitEntry(os, entry);
  os << "/* Describes all functions: RudnnModuleInfo of rudnn/Runtime/Abi.h. */\n"
     << "struct RudnnModuleInfo;\nconst struct RudnnModuleInfo *" RUDNN_MODULE_SYMBOL
        "(void);\n\n"
     << "#ifdef __cplusplus\n}\n#endif\n#endif /* " << guard << " */\n";
  return text;
}
