//===- Rudnn.h - The rudnn dialect and all its ops -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef RUDNN_RUDNN_H
#define RUDNN_RUDNN_H

#include "rudnn/IR/AttentionOps.h"
#include "rudnn/IR/ConvOps.h"
#include "rudnn/IR/DeltaOps.h"
#include "rudnn/IR/MoeOps.h"
#include "rudnn/IR/NormOps.h"
#include "rudnn/IR/PagedOps.h"
#include "rudnn/IR/RudnnDialect.h"

#endif // RUDNN_RUDNN_H
