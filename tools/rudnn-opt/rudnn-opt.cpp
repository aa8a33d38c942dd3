//===- rudnn-opt.cpp - The optimizer driver -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// mlir-opt with the rudnn dialects, passes and pipelines. The shared build has
// all of upstream; the static build what the rudnn pipelines need.
//
//===----------------------------------------------------------------------===//

#include "rudnn/InitAll.h"

#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

#ifndef RUDNN_STATIC
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#endif

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  rudnn::registerAllDialects(registry);
  rudnn::registerAllPasses();
#ifdef RUDNN_STATIC
  mlir::registerTransformsPasses();
#else
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  mlir::registerAllPasses();
#endif
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "rudnn optimizer driver\n", registry));
}
