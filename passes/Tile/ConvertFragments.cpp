//===- ConvertFragments.cpp - Register tiles to scalars -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NvvmUtils.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace rudnn::tile;

namespace {

template <typename Op>
struct Pattern : OpConversionPattern<Op> {
  using OpConversionPattern<Op>::OpConversionPattern;
  using Adaptor = typename OpConversionPattern<Op>::OneToNOpAdaptor;
};

FragmentType fragmentOf(Value value) {
  return cast<FragmentType>(value.getType());
}

struct SplatPattern : Pattern<SplatOp> {
  using Pattern::Pattern;
  LogicalResult
  matchAndRewrite(SplatOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithMultiple(
        op, {SmallVector<Value>(fragmentOf(op.getResult()).getNumRegs(),
                                adaptor.getValue().front())});
    return success();
  }
};

/// The region once per register.
struct MapPattern : Pattern<MapOp> {
  using Pattern::Pattern;
  LogicalResult
  matchAndRewrite(MapOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    int64_t n = fragmentOf(op.getResults()[0]).getNumRegs();
    Block &block = op.getBody().front();
    SmallVector<SmallVector<Value>> results(op.getNumResults());
    for (int64_t r = 0; r < n; ++r) {
      IRMapping mapping;
      for (auto [arg, registers] :
           llvm::zip(block.getArguments(), adaptor.getInputs()))
        mapping.map(arg, registers[r]);
      for (Operation &inner : block.without_terminator())
        rewriter.clone(inner, mapping);
      for (auto [i, value] :
           llvm::enumerate(block.getTerminator()->getOperands()))
        results[i].push_back(mapping.lookupOrDefault(value));
    }
    rewriter.replaceOpWithMultiple(op, std::move(results));
    return success();
  }
};

/// Register of `slice` that belongs to register r of `full` when `dim` goes:
/// the slice form has no such dim, the partial form has one of threads only.
int64_t sliceRegister(const Layout &full, const Layout &slice, unsigned dim,
                      int64_t r) {
  Layout::Basis coords = full.at(r);
  if (slice.rank() == full.rank())
    coords[dim] = 0;
  else
    coords.erase(coords.begin() + dim);
  return slice.locate(coords)->reg;
}

struct ReducePattern : Pattern<ReduceOp> {
  using Pattern::Pattern;
  LogicalResult
  matchAndRewrite(ReduceOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Nvvm nvvm(rewriter, op.getLoc());
    Layout input = fragmentOf(op.getInput()).getLayout();
    Layout result = fragmentOf(op.getResult()).getLayout();
    SmallVector<SmallVector<Value>> parts(result.numRegs());
    for (auto [r, value] : llvm::enumerate(adaptor.getInput()))
      parts[sliceRegister(input, result, op.getDim(), r)].push_back(value);
    SmallVector<Value> results;
    for (ArrayRef<Value> part : parts)
      results.push_back(nvvm.combine(op.getKind(), part));
    if (result.rank() != input.rank())
      for (auto [bit, basis] : llvm::enumerate(input.laneBases()))
        if (basis[op.getDim()])
          for (Value &value : results)
            value = nvvm.combine(op.getKind(), value,
                                 nvvm.shuffleXor(value, int64_t(1) << bit));
    rewriter.replaceOpWithMultiple(op, {results});
    return success();
  }
};

struct ThreadReducePattern : Pattern<ThreadReduceOp> {
  using Pattern::Pattern;
  LogicalResult
  matchAndRewrite(ThreadReduceOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Nvvm nvvm(rewriter, op.getLoc());
    rewriter.replaceOp(
        op, nvvm.combine(op.getKind(), SmallVector<Value>(adaptor.getInput())));
    return success();
  }
};

struct AnyPattern : Pattern<AnyOp> {
  using Pattern::Pattern;
  LogicalResult
  matchAndRewrite(AnyOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Nvvm nvvm(rewriter, op.getLoc());
    Value mine = adaptor.getInput().front();
    for (Value other : adaptor.getInput().drop_front())
      mine = arith::OrIOp::create(rewriter, op.getLoc(), mine, other);
    rewriter.replaceOpWithNewOp<NVVM::VoteSyncOp>(
        op, rewriter.getI1Type(), nvvm.i32(-1), mine, NVVM::VoteSyncKind::any);
    return success();
  }
};

/// Each warp's value to shared memory; every thread combines them all in order.
struct BlockReducePattern : Pattern<BlockReduceOp> {
  using Pattern::Pattern;
  LogicalResult
  matchAndRewrite(BlockReduceOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Nvvm nvvm(rewriter, loc);
    Value value = adaptor.getValue().front();
    for (int64_t mask = 16; mask > 0; mask /= 2)
      value = nvvm.combine(op.getKind(), value, nvvm.shuffleXor(value, mask));
    int64_t warps = op.getScratch().getType().getNumElements();
    if (warps == 1) {
      rewriter.replaceOp(op, value);
      return success();
    }
    Value scratch = adaptor.getScratch().front();
    auto first = scf::IfOp::create(rewriter, loc, nvvm.equal(nvvm.lane(), 0));
    {
      OpBuilder::InsertionGuard guard(rewriter);
      rewriter.setInsertionPointToStart(first.thenBlock());
      Value place = nvvm.offset(scratch, nvvm.shl(nvvm.shr(nvvm.tid(), 5), 2));
      LLVM::StoreOp::create(rewriter, loc, value, place, 4);
    }
    NVVM::Barrier0Op::create(rewriter, loc);
    SmallVector<Value> all;
    for (int64_t w = 0; w < warps; ++w)
      all.push_back(LLVM::LoadOp::create(rewriter, loc, rewriter.getF32Type(),
                                         nvvm.offset(scratch, 4 * w), 4));
    rewriter.replaceOp(op, nvvm.combine(op.getKind(), all));
    return success();
  }
};

/// Mean and sum of squared distances from it of `count` elements.
struct Moments {
  Value mean, squares;
  double count;
};

struct BlockMomentsPattern : Pattern<BlockMomentsOp> {
  using Pattern::Pattern;
  LogicalResult
  matchAndRewrite(BlockMomentsOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Nvvm nvvm(rewriter, op.getLoc());
    Moments thread = ofThread(nvvm, adaptor.getInput());
    for (int64_t mask = 16; mask > 0; mask /= 2)
      thread = merge(nvvm, thread,
                     {nvvm.shuffleXor(thread.mean, mask),
                      nvvm.shuffleXor(thread.squares, mask), thread.count});
    Moments block = ofWarps(nvvm, thread, adaptor.getScratch().front(),
                            op.getScratch().getType().getNumElements() / 2);
    rewriter.replaceOp(op, {block.mean, block.squares});
    return success();
  }

private:
  static Value fma(Nvvm &nvvm, Value x, Value y, Value z) {
    return math::FmaOp::create(nvvm.b, nvvm.loc, x, y, z);
  }
  static Value sub(Nvvm &nvvm, Value x, Value y) {
    return arith::SubFOp::create(nvvm.b, nvvm.loc, x, y);
  }
  static Value scale(Nvvm &nvvm, Value x, double factor) {
    return arith::MulFOp::create(nvvm.b, nvvm.loc, x, nvvm.f32(factor));
  }

  /// Of a few numbers: first their mean, then the distances from it.
  static Moments ofFew(Nvvm &nvvm, ArrayRef<Value> values) {
    Value mean =
        scale(nvvm, nvvm.combine(Combine::Add, values), 1.0 / values.size());
    Value squares = nvvm.f32(0);
    for (Value value : values) {
      Value distance = sub(nvvm, value, mean);
      squares = fma(nvvm, distance, distance, squares);
    }
    return {mean, squares, double(values.size())};
  }

  /// The same result when x and y change places and have equal counts.
  static Moments merge(Nvvm &nvvm, Moments x, Moments y) {
    double count = x.count + y.count;
    Value distance = sub(nvvm, y.mean, x.mean);
    Value square = arith::MulFOp::create(nvvm.b, nvvm.loc, distance, distance);
    Value squares =
        arith::AddFOp::create(nvvm.b, nvvm.loc, x.squares, y.squares);
    squares = fma(nvvm, square, nvvm.f32(x.count * y.count / count), squares);
    Value mean;
    if (x.count == y.count)
      mean = scale(
          nvvm, arith::AddFOp::create(nvvm.b, nvvm.loc, x.mean, y.mean), 0.5);
    else
      mean = fma(nvvm, distance, nvvm.f32(y.count / count), x.mean);
    return {mean, squares, count};
  }

  /// Eight elements at a time, so that few converted ones are alive.
  static Moments ofThread(Nvvm &nvvm, ValueRange elements) {
    SmallVector<Value> values(elements);
    size_t few = values.size() % 8 == 0 ? 8 : values.size() % 4 == 0 ? 4 : 1;
    ArrayRef<Value> rest(values);
    Moments all = ofFew(nvvm, rest.take_front(few));
    for (rest = rest.drop_front(few); !rest.empty();
         rest = rest.drop_front(few))
      all = merge(nvvm, all, ofFew(nvvm, rest.take_front(few)));
    return all;
  }

  /// Each warp's moments to shared memory; every thread merges them all.
  static Moments ofWarps(Nvvm &nvvm, Moments warp, Value scratch,
                         int64_t warps) {
    if (warps == 1)
      return warp;
    OpBuilder &b = nvvm.b;
    auto first = scf::IfOp::create(b, nvvm.loc, nvvm.equal(nvvm.lane(), 0));
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(first.thenBlock());
      Value place = nvvm.offset(scratch, nvvm.shl(nvvm.shr(nvvm.tid(), 5), 3));
      LLVM::StoreOp::create(b, nvvm.loc, warp.mean, place, 8);
      LLVM::StoreOp::create(b, nvvm.loc, warp.squares, nvvm.offset(place, 4),
                            4);
    }
    NVVM::Barrier0Op::create(b, nvvm.loc);
    SmallVector<Value> means, squares;
    for (int64_t w = 0; w < warps; ++w) {
      auto load = [&](int64_t byte) -> Value {
        return LLVM::LoadOp::create(b, nvvm.loc, b.getF32Type(),
                                    nvvm.offset(scratch, byte), 4);
      };
      means.push_back(load(8 * w));
      squares.push_back(load(8 * w + 4));
    }
    Moments between = ofFew(nvvm, means);
    Value all = fma(nvvm, between.squares, nvvm.f32(warp.count),
                    nvvm.combine(Combine::Add, squares));
    return {between.mean, all, warp.count * warps};
  }
};

struct BroadcastPattern : Pattern<BroadcastOp> {
  using Pattern::Pattern;
  LogicalResult
  matchAndRewrite(BroadcastOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Layout input = fragmentOf(op.getInput()).getLayout();
    FragmentType type = fragmentOf(op.getResult());
    Layout result = type.getLayout();
    Nvvm nvvm(rewriter, op.getLoc());
    SmallVector<Value> elements =
        unpack(nvvm, adaptor.getInput(), fragmentOf(op.getInput()));
    SmallVector<Value> results;
    for (int64_t r = 0; r < result.numRegs(); ++r)
      results.push_back(elements[sliceRegister(result, input, op.getDim(), r)]);
    rewriter.replaceOpWithMultiple(op, {pack(nvvm, results, type)});
    return success();
  }
};

struct IotaPattern : Pattern<IotaOp> {
  using Pattern::Pattern;
  LogicalResult
  matchAndRewrite(IotaOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Nvvm nvvm(rewriter, op.getLoc());
    FragmentType type = fragmentOf(op.getResult());
    Layout layout = type.getLayout();
    Value base = nvvm.toI32(adaptor.getOffset().front());
    for (auto [d, coefficient] : llvm::enumerate(op.getCoefficients()))
      if (coefficient)
        base =
            nvvm.add(base, nvvm.mul(nvvm.threadCoord(layout, d), coefficient));
    SmallVector<Value> results;
    for (int64_t r = 0; r < layout.numRegs(); ++r) {
      Layout::Basis at = layout.at(r);
      int64_t fixed = 0;
      for (auto [d, coefficient] : llvm::enumerate(op.getCoefficients()))
        fixed += at[d] * coefficient;
      // No overflow: a comparison can then move the constant to the other side.
      results.push_back(
          fixed == 0 ? base
                     : arith::AddIOp::create(rewriter, op.getLoc(), base,
                                             nvvm.i32(fixed),
                                             arith::IntegerOverflowFlags::nsw)
                           .getResult());
    }
    rewriter.replaceOpWithMultiple(op, {results});
    return success();
  }
};

struct ConvertPattern : Pattern<ConvertOp> {
  using Pattern::Pattern;
  LogicalResult
  matchAndRewrite(ConvertOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Nvvm nvvm(rewriter, loc);
    FragmentType from = fragmentOf(op.getInput()),
                 to = fragmentOf(op.getResult());
    SmallVector<Value> results;
    if (!to.getElementType().isF32() && to.isPacked()) {
      // Pairs, so that one instruction converts both.
      Type pair = VectorType::get({2}, rewriter.getF32Type());
      for (size_t i = 0; i < adaptor.getInput().size(); i += 2) {
        Value two = LLVM::UndefOp::create(rewriter, loc, pair);
        for (int j = 0; j < 2; ++j)
          two = LLVM::InsertElementOp::create(
              rewriter, loc, two, adaptor.getInput()[i + j], nvvm.i32(j));
        results.push_back(
            arith::TruncFOp::create(rewriter, loc, registerType(to), two));
      }
    } else if (!to.getElementType().isF32()) {
      for (Value value : adaptor.getInput())
        results.push_back(
            arith::TruncFOp::create(rewriter, loc, to.getElementType(), value));
    } else {
      for (Value value : unpack(nvvm, adaptor.getInput(), from))
        results.push_back(
            arith::ExtFOp::create(rewriter, loc, to.getElementType(), value));
    }
    rewriter.replaceOpWithMultiple(op, {results});
    return success();
  }
};

struct ColumnsPattern : Pattern<ColumnsOp> {
  using Pattern::Pattern;
  LogicalResult
  matchAndRewrite(ColumnsOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Nvvm nvvm(rewriter, op.getLoc());
    FragmentType from = fragmentOf(op.getInput()),
                 to = fragmentOf(op.getResult());
    Layout source = from.getLayout(), result = to.getLayout();
    SmallVector<Value> elements = unpack(nvvm, adaptor.getInput(), from);
    SmallVector<Value> results;
    for (int64_t r = 0; r < result.numRegs(); ++r) {
      Layout::Basis coords = result.at(r);
      coords.back() += op.getOffset();
      results.push_back(elements[source.locate(coords)->reg]);
    }
    rewriter.replaceOpWithMultiple(op, {pack(nvvm, results, to)});
    return success();
  }
};

struct ConvertLayoutPattern : Pattern<ConvertLayoutOp> {
  using Pattern::Pattern;
  LogicalResult
  matchAndRewrite(ConvertLayoutOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Nvvm nvvm(rewriter, loc);
    FragmentType from = fragmentOf(op.getInput()),
                 to = fragmentOf(op.getResult());
    SmallVector<Value> elements = unpack(nvvm, adaptor.getInput(), from);
    SmallVector<Value> results;
    if (auto order =
            Layout::registerPermutation(from.getLayout(), to.getLayout())) {
      for (int64_t r : *order)
        results.push_back(elements[r]);
    } else {
      Value group = nvvm.add(nvvm.toI32(adaptor.getGroup().front()), 8);
      Value scratch = adaptor.getScratch().front();
      nvvm.namedBarrier(group, kGroupThreads);
      for (auto [r, value] : llvm::enumerate(elements))
        LLVM::StoreOp::create(rewriter, loc, value,
                              place(nvvm, scratch, from, r));
      nvvm.namedBarrier(group, kGroupThreads);
      for (int64_t r = 0; r < to.getNumRegs(); ++r)
        results.push_back(LLVM::LoadOp::create(
            rewriter, loc, to.getElementType(), place(nvvm, scratch, to, r)));
    }
    rewriter.replaceOpWithMultiple(op, {pack(nvvm, results, to)});
    return success();
  }

  /// Row-major place of register r of this thread.
  static Value place(Nvvm &nvvm, Value scratch, FragmentType type, int64_t r) {
    Layout layout = type.getLayout();
    Layout::Basis at = layout.at(r);
    Value index;
    int64_t fixed = 0;
    for (auto [d, extent] : llvm::enumerate(type.getShape())) {
      Value coord = nvvm.threadCoord(layout, d);
      index = index ? nvvm.add(nvvm.mul(index, extent), coord) : coord;
      fixed = fixed * extent + at[d];
    }
    int64_t bytes =
        llvm::divideCeil(type.getElementType().getIntOrFloatBitWidth(), 8);
    return nvvm.offset(nvvm.offset(scratch, nvvm.mul(index, bytes)),
                       fixed * bytes);
  }
};

//===----------------------------------------------------------------------===//
// Scalar functions
//===----------------------------------------------------------------------===//

/// f32 functions with a direct instruction; denormals are flushed. Their
/// relative error is at most 2^-22.
template <typename Op>
struct IntrinsicPattern : OpConversionPattern<Op> {
  IntrinsicPattern(const TypeConverter &converter, MLIRContext *context,
                   StringRef name)
      : OpConversionPattern<Op>(converter, context), name(name) {}
  LogicalResult
  matchAndRewrite(Op op, typename Op::Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (!op.getType().isF32())
      return op.emitOpError("only f32 is supported in kernels, got ")
             << op.getType();
    Nvvm nvvm(rewriter, op.getLoc());
    Value x = adaptor.getOperand();
    if constexpr (std::is_same_v<Op, math::ExpOp>)
      x = arith::MulFOp::create(rewriter, op.getLoc(), x,
                                nvvm.f32(1.44269504f));
    rewriter.replaceOp(op, nvvm.intrinsic(name, x, rewriter.getF32Type()));
    return success();
  }
  StringRef name;
};

/// f32 quotient within 2 units in the last place; the reciprocal within 1.
struct DivPattern : OpConversionPattern<arith::DivFOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(arith::DivFOp op, arith::DivFOp::Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Nvvm nvvm(rewriter, op.getLoc());
    if (matchPattern(op.getLhs(), m_OneFloat())) {
      rewriter.replaceOp(op, nvvm.intrinsic("llvm.nvvm.rcp.approx.ftz.f",
                                            adaptor.getRhs(),
                                            rewriter.getF32Type()));
      return success();
    }
    rewriter.replaceOp(op, nvvm.intrinsic("llvm.nvvm.div.approx.ftz.f",
                                          {adaptor.getLhs(), adaptor.getRhs()},
                                          rewriter.getF32Type()));
    return success();
  }
};

} // namespace

void rudnn::tile::populateFragmentPatterns(const TypeConverter &converter,
                                           RewritePatternSet &patterns) {
  MLIRContext *context = patterns.getContext();
  patterns.add<AnyPattern, BlockMomentsPattern, BlockReducePattern,
               BroadcastPattern, ColumnsPattern, ConvertLayoutPattern,
               ConvertPattern, DivPattern, IotaPattern, MapPattern,
               ReducePattern, SplatPattern, ThreadReducePattern>(converter,
                                                                 context);
  patterns.add<IntrinsicPattern<math::Exp2Op>>(converter, context,
                                               "llvm.nvvm.ex2.approx.ftz.f");
  patterns.add<IntrinsicPattern<math::ExpOp>>(converter, context,
                                              "llvm.nvvm.ex2.approx.ftz.f");
  patterns.add<IntrinsicPattern<math::Log2Op>>(converter, context,
                                               "llvm.nvvm.lg2.approx.ftz.f");
  patterns.add<IntrinsicPattern<math::RsqrtOp>>(converter, context,
                                                "llvm.nvvm.rsqrt.approx.ftz.f");
}
