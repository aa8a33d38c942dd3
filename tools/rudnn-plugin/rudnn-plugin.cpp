//===- rudnn-plugin.cpp - rudnn for stock mlir-opt -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   mlir-opt --load-dialect-plugin=librudnn_plugin.so
//       --pass-pipeline='builtin.module(func.func(rudnn-decompose))' file.mlir
//
//===----------------------------------------------------------------------===//

#include "rudnn/InitAll.h"

#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"

extern "C" LLVM_ATTRIBUTE_WEAK mlir::DialectPluginLibraryInfo
mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "rudnn", LLVM_VERSION_STRING,
          [](mlir::DialectRegistry *registry) {
            rudnn::registerDialects(*registry);
            rudnn::registerAllPasses();
          }};
}

extern "C" LLVM_ATTRIBUTE_WEAK mlir::PassPluginLibraryInfo
mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "rudnn", LLVM_VERSION_STRING,
          [] { rudnn::registerAllPasses(); }};
}
