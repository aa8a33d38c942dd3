//===- InitAll.h - Registration of everything rudnn needs -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef RUDNN_INITALL_H
#define RUDNN_INITALL_H

#include "mlir/IR/Dialect.h"

namespace rudnn {

/// The rudnn dialects with their external models, nothing from upstream. What a
/// tool that already registers the upstream dialects (a plugin host) needs.
void registerDialects(mlir::DialectRegistry &registry);

/// The above, and the upstream dialects, external models and translations that
/// the rudnn pipelines use.
void registerAllDialects(mlir::DialectRegistry &registry);

/// All passes and named pipelines of rudnn.
void registerAllPasses();

} // namespace rudnn

#endif // RUDNN_INITALL_H
