//===- PagedOps.cpp - Verifiers and loops of the paged attention ops -*- C++
//-*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rudnn/IR/PagedOps.h"

using namespace mlir;
using namespace rudnn;

#define GET_OP_CLASSES
#include "rudnn/PagedOps.cpp.inc"

void RudnnDialect::registerPagedOps() {
  addOperations<
#define GET_OP_LIST
#include "rudnn/PagedOps.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Clauses shared by the family. A clause label is the op's prefix and a number.
//===----------------------------------------------------------------------===//

namespace {
/// Reports the violation of clauses `<prefix>_c<n>` of one op.
struct Clauses {
  Operation *op;
  StringRef prefix;

  std::string label(int number) const {
    return (prefix + "_c" + Twine(number)).str();
  }
  InFlightDiagnostic error(int number) const {
    return op->emitOpError() << label(number) << ": ";
  }
  LogicalResult rank(int number, StringRef name, Value value,
                     int64_t rank) const {
    return verifyRank(op, label(number), name, value, rank);
  }
  LogicalResult shape(int number, StringRef name, Value value,
                      ArrayRef<int64_t> expected) const {
    return verifyShape(op, label(number), name, value, expected);
  }
  LogicalResult type(int number, StringRef name, Value value,
                     Type expected) const {
    return verifyElementType(op, label(number), name, value, expected);
  }

  /// A static extent of at least 1 and at most `max` (0: no limit).
  LogicalResult extent(int number, StringRef name, int64_t value,
                       int64_t max = 0) const {
    if (ShapedType::isDynamic(value))
      return error(number) << name << " is dynamic, expected a static extent";
    if (value < 1 || (max && value > max)) {
      InFlightDiagnostic diagnostic = error(number) << name << " is " << value
                                                    << ", expected at least 1";
      if (max)
        diagnostic << " and at most " << max;
      return diagnostic;
    }
    return success();
  }

  LogicalResult pageRanks(int number, const PageOperands &pages) const {
    return success(
        succeeded(rank(number, "tables", pages.tables, 2)) &&
        succeeded(rank(number, "lengths", pages.lengths, 1)) &&
        succeeded(rank(number, "sequence_ids", pages.sequenceIds, 1)) &&
        succeeded(rank(number, "positions", pages.positions, 1)));
  }

  /// S of tables and lengths agree; the row operands have `rows` rows.
  LogicalResult pageShapes(int number, const PageOperands &pages,
                           int64_t rows) const {
    return success(
        succeeded(shape(number, "lengths", pages.lengths,
                        {shapeOf(pages.tables)[0]})) &&
        succeeded(shape(number, "sequence_ids", pages.sequenceIds, {rows})) &&
        succeeded(shape(number, "positions", pages.positions, {rows})));
  }

  LogicalResult pageSize(int number, StringRef name, Value cache) const {
    if (shapeOf(cache)[1] == 0)
      return error(number) << "the page size of " << name
                           << " is 0, expected at least 1";
    return success();
  }

  LogicalResult positive(int number, StringRef name,
                         const std::optional<APFloat> &value) const {
    if (!value)
      return success();
    return verifyPositiveFinite(op, label(number), name, *value);
  }

  LogicalResult window(int number, StringRef name,
                       std::optional<int64_t> value) const {
    if (value && *value < 0)
      return error(number) << name << " is " << *value
                           << ", expected 0 or more";
    return success();
  }

  LogicalResult splits(int number, int64_t splits) const {
    if (splits < 1 || splits > 32)
      return error(number) << "num_splits is " << splits
                           << ", expected 1 to 32";
    return success();
  }

  LogicalResult lseBase(int number, LogBase base, Value lse) const {
    if (base != LogBase::E && !lse)
      return error(number) << "lse_base is " << stringifyLogBase(base)
                           << " but there is no lse out, expected e";
    return success();
  }
};
} // namespace

/// `Hq` heads read `Hkv` cache heads in groups of equal size.
static LogicalResult verifyGroups(const Clauses &c, int number, int64_t hq,
                                  int64_t hkv) {
  if (hq % hkv == 0)
    return success();
  return c.error(number) << "q has " << hq << " heads, expected a multiple of "
                         << "the " << hkv << " heads of k";
}

//===----------------------------------------------------------------------===//
// paged.attention
//===----------------------------------------------------------------------===//

PagedScores rudnn::getPagedScores(PagedAttentionOp op) {
  std::optional<APFloat> scale = op.getScale();
  double head = shapeOf(op.getQ())[2];
  PagedScores scores{{{op.getQ(), op.getK()}},
                     op.getV(),
                     op.getSinks(),
                     getPageOperands(op),
                     scale ? scale->convertToDouble() : 1.0 / std::sqrt(head),
                     op.getCausal(),
                     std::nullopt,
                     op.getWindowLeft(),
                     op.getWindowRight()};
  if (std::optional<APFloat> softcap = op.getSoftcap())
    scores.softcap = softcap->convertToDouble();
  return scores;
}

LogicalResult PagedAttentionOp::verify() {
  Clauses c{*this, "paged_attention"};
  PageOperands pages = getPageOperands(*this);
  if (failed(verifyDestination(*this, c.label(1), 1, 2)) ||
      failed(c.rank(2, "q", getQ(), 3)) || failed(c.rank(2, "k", getK(), 4)) ||
      failed(c.rank(2, "v", getV(), 4)) || failed(c.pageRanks(2, pages)))
    return failure();
  ArrayRef<int64_t> q = shapeOf(getQ()), k = shapeOf(getK()),
                    v = shapeOf(getV());
  if (failed(c.extent(3, "Hq (dim 1 of q)", q[1])) ||
      failed(c.extent(3, "D (dim 2 of q)", q[2], 1024)) ||
      failed(c.extent(3, "Hkv (dim 2 of k)", k[2])) ||
      failed(c.extent(3, "Dv (dim 3 of v)", v[3], 1024)) ||
      failed(verifyGroups(c, 4, q[1], k[2])) ||
      failed(c.shape(5, "k", getK(), {k[0], k[1], k[2], q[2]})) ||
      failed(c.shape(5, "v", getV(), {k[0], k[1], k[2], v[3]})) ||
      failed(c.pageSize(5, "k", getK())))
    return failure();
  Type type = elementTypeOf(getQ());
  Value out = getOuts()[0];
  if (failed(c.type(6, "k", getK(), type)) ||
      failed(c.type(6, "v", getV(), type)) ||
      failed(c.type(6, "out", out, type)) ||
      failed(c.pageShapes(7, pages, q[0])) ||
      failed(c.shape(8, "out", out, {q[0], q[1], v[3]})))
    return failure();
  if (Value lse = getLseOut())
    if (failed(c.shape(9, "lse", lse, {q[0], q[1]})) ||
        failed(c.type(9, "lse", lse, Float32Type::get(getContext()))))
      return failure();
  if (failed(c.positive(10, "scale", getScale())) ||
      failed(c.positive(11, "softcap", getSoftcap())) ||
      failed(c.window(12, "window_left", getWindowLeft())) ||
      failed(c.window(12, "window_right", getWindowRight())))
    return failure();
  if (Value sinks = getSinks())
    if (failed(c.shape(13, "sinks", sinks, {q[1]})) ||
        failed(verifyF32Or(*this, c.label(13), "sinks", sinks, type)))
      return failure();
  if (failed(c.splits(14, getNumSplits())))
    return failure();
  return c.lseBase(15, getLseBase(), getLseOut());
}

/// Loops over query rows: dim 0 of the row operands and of the outs.
template <typename OpTy>
static TilingLoops getQueryLoops(OpTy op, ArrayRef<OpOperand *> rowOperands) {
  TilingLoops loops;
  loops.iterators.push_back(utils::IteratorType::parallel);
  SmallVector<OpOperand *> rows(rowOperands);
  for (OpOperand &out : op.getOutsMutable())
    rows.push_back(&out);
  for (OpOperand &operand : op->getOpOperands()) {
    SmallVector<int64_t> dims(shapeOf(operand.get()).size(), -1);
    if (llvm::is_contained(rows, &operand))
      dims[0] = 0;
    loops.operandDims.push_back(dims);
  }
  return loops;
}

TilingLoops PagedAttentionOp::getTilingLoops() {
  return getQueryLoops(*this, {&getQMutable(), &getSequenceIdsMutable(),
                               &getPositionsMutable()});
}

namespace {
/// An lse that nobody reads is not computed.
template <typename OpTy>
struct DropDeadLse : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;
  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    if (op->getNumResults() != 2 || !op->getResult(1).use_empty())
      return failure();
    // The lse is the last out, and the outs are the last operands.
    Value lse = op.getOuts()[1];
    SmallVector<Value> operands(op->getOperands().drop_back());
    auto lighter = cast<OpTy>(mlir::clone(
        rewriter, op, TypeRange{op->getResult(0).getType()}, operands));
    if constexpr (OpTy::template hasTrait<OpTrait::AttrSizedOperandSegments>())
      lighter.getProperties().operandSegmentSizes.back() = 1;
    lighter.setLseBase(LogBase::E);
    rewriter.replaceOp(op, {lighter->getResult(0), lse});
    return success();
  }
};
} // namespace

void PagedAttentionOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                                   MLIRContext *context) {
  patterns.add<DropDeadLse<PagedAttentionOp>>(context);
}

//===----------------------------------------------------------------------===//
// paged.mla
//===----------------------------------------------------------------------===//

PagedScores rudnn::getPagedScores(PagedMlaOp op) {
  PagedScores scores{{{op.getQ(), op.getLatent()}, {op.getQp(), op.getKp()}},
                     op.getLatent(),
                     Value(),
                     getPageOperands(op),
                     op.getScale().convertToDouble(),
                     op.getCausal(),
                     std::nullopt,
                     op.getWindowLeft(),
                     op.getWindowRight()};
  if (std::optional<APFloat> softcap = op.getSoftcap())
    scores.softcap = softcap->convertToDouble();
  return scores;
}

LogicalResult PagedMlaOp::verify() {
  Clauses c{*this, "paged_mla"};
  PageOperands pages = getPageOperands(*this);
  if (failed(verifyDestination(*this, c.label(1), 1, 2)) ||
      failed(c.rank(2, "q", getQ(), 3)) ||
      failed(c.rank(2, "qp", getQp(), 3)) ||
      failed(c.rank(2, "latent", getLatent(), 4)) ||
      failed(c.rank(2, "kp", getKp(), 4)) || failed(c.pageRanks(2, pages)))
    return failure();
  ArrayRef<int64_t> q = shapeOf(getQ()), qp = shapeOf(getQp()),
                    latent = shapeOf(getLatent()), kp = shapeOf(getKp());
  if (failed(c.extent(3, "H (dim 1 of q)", q[1])) ||
      failed(c.extent(3, "R (dim 2 of q)", q[2], 1024)) ||
      failed(c.extent(3, "P (dim 2 of qp)", qp[2], 256)))
    return failure();
  for (auto [name, heads] :
       {std::pair("latent", latent[2]), std::pair("kp", kp[2])})
    if (heads != 1)
      return c.error(4) << name << " has "
                        << (ShapedType::isDynamic(heads) ? "a dynamic number of"
                                                         : Twine(heads).str())
                        << " heads, expected 1";
  if (failed(
          c.shape(5, "latent", getLatent(), {latent[0], latent[1], 1, q[2]})) ||
      failed(c.shape(5, "kp", getKp(), {latent[0], latent[1], 1, qp[2]})) ||
      failed(c.shape(5, "qp", getQp(), {q[0], q[1], qp[2]})) ||
      failed(c.pageSize(5, "latent", getLatent())))
    return failure();
  Type type = elementTypeOf(getQ());
  Value out = getOuts()[0];
  if (failed(c.type(6, "qp", getQp(), type)) ||
      failed(c.type(6, "latent", getLatent(), type)) ||
      failed(c.type(6, "kp", getKp(), type)) ||
      failed(c.type(6, "out", out, type)) ||
      failed(c.pageShapes(7, pages, q[0])) || failed(c.shape(8, "out", out, q)))
    return failure();
  if (Value lse = getLseOut())
    if (failed(c.shape(9, "lse", lse, {q[0], q[1]})) ||
        failed(c.type(9, "lse", lse, Float32Type::get(getContext()))))
      return failure();
  if (failed(c.positive(10, "scale", getScale())) ||
      failed(c.positive(11, "softcap", getSoftcap())) ||
      failed(c.window(12, "window_left", getWindowLeft())) ||
      failed(c.window(12, "window_right", getWindowRight())) ||
      failed(c.splits(13, getNumSplits())))
    return failure();
  return c.lseBase(14, getLseBase(), getLseOut());
}

TilingLoops PagedMlaOp::getTilingLoops() {
  TilingLoops loops =
      getQueryLoops(*this, {&getQMutable(), &getQpMutable(),
                            &getSequenceIdsMutable(), &getPositionsMutable()});
  loops.iterators.push_back(utils::IteratorType::parallel);
  for (SmallVector<int64_t> &dims : loops.operandDims)
    if (dims.size() > 1 && dims[0] == 0)
      dims[1] = 1;
  return loops;
}

void PagedMlaOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                             MLIRContext *context) {
  patterns.add<DropDeadLse<PagedMlaOp>>(context);
}

//===----------------------------------------------------------------------===//
// paged.append
//===----------------------------------------------------------------------===//

LogicalResult PagedAppendOp::verify() {
  Clauses c{*this, "paged_append"};
  PageOperands pages = getPageOperands(*this);
  if (failed(verifyDestination(*this, c.label(1), 2, 2)))
    return failure();
  Value kCache = getOuts()[0], vCache = getOuts()[1];
  if (failed(c.rank(2, "new_k", getNewK(), 3)) ||
      failed(c.rank(2, "new_v", getNewV(), 3)) ||
      failed(c.rank(2, "the key cache", kCache, 4)) ||
      failed(c.rank(2, "the value cache", vCache, 4)) ||
      failed(c.pageRanks(2, pages)))
    return failure();
  ArrayRef<int64_t> k = shapeOf(getNewK()), v = shapeOf(getNewV()),
                    cache = shapeOf(kCache);
  for (auto [name, extent] : {std::pair("Hkv (dim 1 of new_k)", k[1]),
                              std::pair("D (dim 2 of new_k)", k[2]),
                              std::pair("Dv (dim 2 of new_v)", v[2])})
    if (ShapedType::isDynamic(extent))
      return c.error(3) << name << " is dynamic, expected a static extent";
  if (failed(c.shape(4, "new_v", getNewV(), {k[0], k[1], v[2]})) ||
      failed(c.shape(5, "the key cache", kCache,
                     {cache[0], cache[1], k[1], k[2]})) ||
      failed(c.shape(5, "the value cache", vCache,
                     {cache[0], cache[1], k[1], v[2]})) ||
      failed(c.pageSize(5, "the key cache", kCache)) ||
      failed(c.pageSize(5, "the value cache", vCache)))
    return failure();
  Type type = elementTypeOf(getNewK());
  if (failed(c.type(6, "new_v", getNewV(), type)) ||
      failed(c.type(6, "the key cache", kCache, type)) ||
      failed(c.type(6, "the value cache", vCache, type)))
    return failure();
  return c.pageShapes(7, pages, k[0]);
}

TilingLoops PagedAppendOp::getTilingLoops() {
  TilingLoops loops;
  loops.iterators.push_back(utils::IteratorType::parallel);
  for (Value operand : getOperands()) {
    int64_t rank = shapeOf(operand).size();
    SmallVector<int64_t> dims(rank, -1);
    bool isPage = elementTypeOf(operand).isInteger();
    if (!isPage)
      dims[rank - 2] = 0;
    loops.operandDims.push_back(dims);
  }
  return loops;
}

namespace {
/// Nothing to write: the caches are the results.
struct FoldEmptyAppend : OpRewritePattern<PagedAppendOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(PagedAppendOp op,
                                PatternRewriter &rewriter) const override {
    auto isEmpty = [](Value rows) {
      return llvm::is_contained(shapeOf(rows), 0);
    };
    if (!isEmpty(op.getNewK()) || !isEmpty(op.getNewV()))
      return failure();
    if (op->getNumResults())
      rewriter.replaceOp(op, op.getOuts());
    else
      rewriter.eraseOp(op);
    return success();
  }
};
} // namespace

void PagedAppendOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                                MLIRContext *context) {
  patterns.add<FoldEmptyAppend>(context);
}
