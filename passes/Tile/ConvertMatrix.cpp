//===- ConvertMatrix.cpp - Matrix products to wgmma -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NvvmUtils.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace rudnn::tile;

namespace {

template <typename Op>
struct Pattern : OpConversionPattern<Op> {
  using OpConversionPattern<Op>::OpConversionPattern;
  using Adaptor = typename OpConversionPattern<Op>::OneToNOpAdaptor;
};

/// Matrix descriptor of a tile in shared memory (PTX ISA, "matrix descriptor"):
/// 14 bits of address / 16, leading offset / 16 at bit 16, stride offset / 16
/// at bit 32 (eight rows of 128 bytes), 128-byte swizzle at bit 62.
Value descriptor(Nvvm &nvvm, Value pointer, int64_t leadingBytes) {
  Value address =
      LLVM::PtrToIntOp::create(nvvm.b, nvvm.loc, nvvm.b.getI32Type(), pointer);
  Value mask = arith::ConstantIntOp::create(nvvm.b, nvvm.loc, 0x3fff, 32);
  Value low = nvvm.zext64(
      arith::AndIOp::create(nvvm.b, nvvm.loc, nvvm.shr(address, 4), mask));
  int64_t rest = int64_t(1) << 62 | int64_t(64) << 32 | leadingBytes / 16 << 16;
  return arith::OrIOp::create(nvvm.b, nvvm.loc, low, nvvm.i64(rest));
}

/// Where step k of 16 starts in a tile of panels, in units of 16 bytes.
struct Operand {
  Operand(MemRefType type, bool transposed) : transposed(transposed) {
    auto [strides, offset] = type.getStridesAndOffset();
    panelBytes = type.getRank() == 3 ? strides[0] * 2 : 0;
    stepsPerPanel = type.getShape().back() / 16;
  }
  int64_t leadingBytes() const { return transposed ? panelBytes : 16; }
  int64_t step(int64_t k) const {
    if (transposed)
      return k * 16 * 128 / 16; // 16 rows down
    return k % stepsPerPanel * 2 + k / stepsPerPanel * panelBytes / 16;
  }
  bool transposed;
  int64_t panelBytes, stepsPerPanel;
};

std::string list(unsigned first, unsigned count) {
  std::string text = "{";
  for (unsigned i = 0; i < count; ++i)
    text += (i ? ", $" : "$") + std::to_string(first + i);
  return text + "}";
}

std::string repeat(StringRef constraint, unsigned count) {
  std::string text;
  for (unsigned i = 0; i < count; ++i)
    text += (text.empty() ? "" : ",") + constraint.str();
  return text;
}

struct WgmmaPattern : Pattern<WgmmaOp> {
  using Pattern::Pattern;
  LogicalResult
  matchAndRewrite(WgmmaOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Nvvm nvvm(rewriter, op.getLoc());
    MemRefType bType = op.getB().getType();
    auto result = cast<FragmentType>(op.getResult().getType());
    auto aTile = dyn_cast<MemRefType>(op.getA().getType());
    Operand b(bType, op.getTransposeB());
    Value bBase = descriptor(nvvm, adaptor.getB().front(), b.leadingBytes());
    Value aBase;
    if (aTile)
      aBase = descriptor(nvvm, adaptor.getA().front(), 16);
    int64_t steps =
        aTile ? aTile.getNumElements() / 64 / 16
              : cast<FragmentType>(op.getA().getType()).getShape()[1] / 16;
    SmallVector<Value> acc;
    if (op.getAcc())
      acc.assign(adaptor.getAcc().begin(), adaptor.getAcc().end());
    for (int64_t k = 0; k < steps; ++k) {
      SmallVector<Value> operands;
      if (aTile) {
        operands.push_back(nvvm.add(aBase, Operand(aTile, false).step(k)));
      } else {
        for (int64_t i = 0; i < 4; ++i)
          operands.push_back(
              nvvm.bitcast(adaptor.getA()[4 * k + i], rewriter.getI32Type()));
      }
      operands.push_back(nvvm.add(bBase, b.step(k)));
      acc = step(nvvm, result, bType.getElementType(), aTile != nullptr,
                 op.getTransposeB(), operands, acc);
    }
    NVVM::WgmmaGroupSyncAlignedOp::create(rewriter, op.getLoc());
    rewriter.replaceOpWithMultiple(op, {acc});
    return success();
  }

  /// One wgmma of 16 columns of a. Without accumulators the scale of the old
  /// value is 0, so that registers need no zeroing.
  static SmallVector<Value> step(Nvvm &nvvm, FragmentType result, Type element,
                                 bool shared, bool transposed,
                                 SmallVector<Value> operands, ValueRange acc) {
    unsigned n = result.getNumRegs(), first = n;
    std::string a = shared ? "$" + std::to_string(first) : list(first, 4);
    unsigned bIndex = first + (shared ? 1 : 4);
    StringRef type = element.isF16() ? "f16" : "bf16";
    std::string text = llvm::formatv(
        "{{ .reg .pred p; setp.ne.b32 p, {0}, 0; "
        "wgmma.mma_async.sync.aligned.m64n{1}k16.f32.{2}.{2} "
        "{3}, {4}, ${5}, p, 1, 1{6}, {7}; }",
        acc.empty() ? 0 : 1, result.getShape()[1], type, list(0, n), a, bIndex,
        shared ? ", 0" : "", transposed ? 1 : 0);
    std::string constraints = repeat("=f", n) + "," +
                              (shared ? std::string("l") : repeat("r", 4)) +
                              ",l";
    for (unsigned i = 0; i < acc.size(); ++i)
      constraints += "," + std::to_string(i);
    llvm::append_range(operands, acc);
    return nvvm.assembly(text, constraints, operands,
                         SmallVector<Type>(n, nvvm.b.getF32Type()));
  }
};

struct WgmmaFencePattern : Pattern<WgmmaFenceOp> {
  using Pattern::Pattern;
  LogicalResult
  matchAndRewrite(WgmmaFenceOp op, Adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<NVVM::WgmmaFenceAlignedOp>(op);
    return success();
  }
};

/// The accumulators are tied through the wait, the register operands of the
/// retired products are inputs of it: nothing moves across that would touch
/// them early.
struct WgmmaWaitPattern : Pattern<WgmmaWaitOp> {
  using Pattern::Pattern;
  LogicalResult
  matchAndRewrite(WgmmaWaitOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Nvvm nvvm(rewriter, op.getLoc());
    SmallVector<Value> operands;
    SmallVector<unsigned> counts;
    for (ValueRange registers : adaptor.getValues()) {
      llvm::append_range(operands, registers);
      counts.push_back(registers.size());
    }
    unsigned n = operands.size();
    std::string constraints = repeat("=f", n);
    for (unsigned i = 0; i < n; ++i)
      constraints += "," + std::to_string(i);
    for (ValueRange registers : adaptor.getKeep())
      for (Value value : registers) {
        bool isFloat = value.getType().isF32();
        operands.push_back(
            isFloat ? value : nvvm.bitcast(value, rewriter.getI32Type()));
        constraints += isFloat ? ",f" : ",r";
      }
    if (StringRef(constraints).starts_with(","))
      constraints.erase(0, 1);
    SmallVector<Value> results = nvvm.assembly(
        llvm::formatv("wgmma.wait_group.sync.aligned {0};", op.getPending())
            .str(),
        constraints, operands, SmallVector<Type>(n, rewriter.getF32Type()));
    SmallVector<SmallVector<Value>> split;
    ArrayRef<Value> rest = results;
    for (unsigned count : counts) {
      split.emplace_back(rest.take_front(count));
      rest = rest.drop_front(count);
    }
    rewriter.replaceOpWithMultiple(op, std::move(split));
    return success();
  }
};

} // namespace

void rudnn::tile::populateMatrixPatterns(const TypeConverter &converter,
                                         RewritePatternSet &patterns) {
  patterns.add<WgmmaFencePattern, WgmmaPattern, WgmmaWaitPattern>(
      converter, patterns.getContext());
}
