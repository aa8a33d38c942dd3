//===- ConvOps.h - Convolution ops -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef RUDNN_IR_CONVOPS_H
#define RUDNN_IR_CONVOPS_H

#include "rudnn/IR/RudnnDialect.h"

namespace rudnn {

/// The geometry of a convolution. The vectors have one entry per spatial axis.
struct ConvGeometry {
  llvm::SmallVector<int64_t> stride, dilation, low, high; // low/high: padding
  int64_t groups = 1;
  ConvLayout layout = ConvLayout::ChannelsFirst;

  unsigned spatialRank() const { return stride.size(); }
  /// Dim of the channels in x and y; of the input channels in the weight.
  unsigned channelDim() const {
    return layout == ConvLayout::ChannelsFirst ? 1 : 1 + spatialRank();
  }
  /// Dim of spatial axis `axis` in x, y and the weight.
  unsigned spatialDim(unsigned axis) const {
    return axis + (layout == ConvLayout::ChannelsFirst ? 2 : 1);
  }
  bool isPadded() const {
    auto positive = [](int64_t pad) { return pad != 0; };
    return llvm::any_of(low, positive) || llvm::any_of(high, positive);
  }
};

} // namespace rudnn

#define GET_OP_CLASSES
#include "rudnn/ConvOps.h.inc"

#endif // RUDNN_IR_CONVOPS_H
