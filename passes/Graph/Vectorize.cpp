//===- Vectorize.cpp - Elementwise and reduction loops on vectors -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A linalg op becomes a loop nest in which one loop advances by a vector; the
// rest of that loop runs element by element. The vector loop is
//   - a parallel loop that is the unit stride of every operand it indexes:
//     reductions run innermost, their sums stay in registers; or
//   - a reduction loop with that property: partial results per lane, reduced
//     across the lanes at the end.
//
//===----------------------------------------------------------------------===//

#include "LoopUtils.h"
#include "rudnn/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace rudnn {
#define GEN_PASS_DEF_RUDNNVECTORIZE
#include "rudnn/Passes.h.inc"
} // namespace rudnn

using namespace mlir;
using namespace rudnn;

/// How results of a reduction combine, none when it is not one of these.
static std::optional<vector::CombiningKind> combiningKind(Operation *op) {
  using vector::CombiningKind;
  return llvm::TypeSwitch<Operation *, std::optional<CombiningKind>>(op)
      .Case<arith::AddFOp, arith::AddIOp>([](auto) { return CombiningKind::ADD; })
      .Case<arith::MulFOp, arith::MulIOp>([](auto) { return CombiningKind::MUL; })
      .Case([](arith::MaximumFOp) { return CombiningKind::MAXIMUMF; })
      .Case([](arith::MinimumFOp) { return CombiningKind::MINIMUMF; })
      .Case([](arith::MaxNumFOp) { return CombiningKind::MAXNUMF; })
      .Case([](arith::MinNumFOp) { return CombiningKind::MINNUMF; })
      .Case([](arith::MaxSIOp) { return CombiningKind::MAXSI; })
      .Case([](arith::MinSIOp) { return CombiningKind::MINSI; })
      .Case([](arith::MaxUIOp) { return CombiningKind::MAXUI; })
      .Case([](arith::MinUIOp) { return CombiningKind::MINUI; })
      .Case([](arith::AndIOp) { return CombiningKind::AND; })
      .Case([](arith::OrIOp) { return CombiningKind::OR; })
      .Case([](arith::XOrIOp) { return CombiningKind::XOR; })
      .Default(std::nullopt);
}

/// May the lanes of this reduction be summed apart?
static bool mayReorder(Operation *op, bool isContraction) {
  if (!isa<arith::AddFOp, arith::MulFOp>(op) || isContraction)
    return true;
  auto flags = cast<arith::ArithFastMathInterface>(op).getFastMathFlagsAttr();
  return flags && arith::bitEnumContainsAll(flags.getValue(),
                                            arith::FastMathFlags::reassoc);
}

static bool isScalarType(Type type) {
  return isa<FloatType, IntegerType, IndexType>(type);
}

namespace {
class LoopVectorizer {
public:
  LoopVectorizer(OpBuilder &b, linalg::GenericOp op, unsigned vectorBytes)
      : b(b), op(op), loc(op.getLoc()), vectorBytes(vectorBytes) {}

  /// Chooses the vector loop; false when there is none.
  bool analyze();
  /// Builds the loops before the op and returns its results.
  SmallVector<Value> build();

private:
  bool bodyIsVectorizable();
  bool isUnitStride(unsigned loop);
  bool reductionsSplit();
  int64_t widthFor(unsigned loop);
  SmallVector<Value> parallelPoint(int64_t width, ValueRange state);
  SmallVector<Value> reductionRow(ValueRange state);
  SmallVector<Value> evaluate(int64_t width, ValueRange inits,
                              ValueRange accumulators);
  Value convert(Operation &op, int64_t width, IRMapping &mapping);
  Value read(Value tensor, AffineMap map, int64_t width);
  Value write(Value x, Value tensor, AffineMap map);
  Value widen(Value x, int64_t width);
  Operation *combiner(unsigned init) {
    return op.getBody()->getTerminator()->getOperand(init).getDefiningOp();
  }
  bool usesInit(unsigned init) {
    return !op.getBody()
                ->getArgument(op.getNumDpsInputs() + init)
                .use_empty();
  }
  AffineMap initMap(unsigned init) {
    return maps[op.getNumDpsInputs() + init];
  }
  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(b, loc, value);
  }

  OpBuilder &b;
  linalg::GenericOp op;
  Location loc;
  unsigned vectorBytes;

  SmallVector<AffineMap> maps;
  SmallVector<utils::IteratorType> iterators;
  SmallVector<unsigned> parallel, reduction; // without the vector loop
  unsigned vectorLoop = 0;
  int64_t width = 1;
  SmallVector<Value> extents, ivs;
};
} // namespace

bool LoopVectorizer::bodyIsVectorizable() {
  for (Operation &nested : *op.getBody()) {
    if (isa<linalg::YieldOp, linalg::IndexOp>(nested) ||
        nested.hasTrait<OpTrait::ConstantLike>())
      continue;
    if (!OpTrait::hasElementwiseMappableTraits(&nested) ||
        nested.getNumResults() != 1 || nested.getNumRegions() != 0)
      return false;
    if (!llvm::all_of(nested.getOperandTypes(), isScalarType) ||
        !isScalarType(nested.getResult(0).getType()))
      return false;
  }
  return true;
}

/// The loop is the last dim of every operand that it indexes.
bool LoopVectorizer::isUnitStride(unsigned loop) {
  bool found = false;
  for (AffineMap map : maps) {
    if (!map.isFunctionOfDim(loop))
      continue;
    if (map.getResults().back() != getAffineDimExpr(loop, b.getContext()))
      return false;
    found = true;
  }
  return found;
}

/// Every result is a reduction whose lanes can be kept apart.
bool LoopVectorizer::reductionsSplit() {
  bool contraction = isFloatContraction(op);
  for (unsigned init = 0; init < op.getNumDpsInits(); ++init) {
    Operation *last = combiner(init);
    if (!last || last->getBlock() != op.getBody() || !combiningKind(last) ||
        !arith::getNeutralElement(last) || !mayReorder(last, contraction) ||
        last->getResult(0).getType().isIndex())
      return false;
    Value accumulator = op.getBody()->getArgument(op.getNumDpsInputs() + init);
    if (!accumulator.hasOneUse() || *accumulator.user_begin() != last)
      return false;
    if (!last->getResult(0).hasOneUse())
      return false;
  }
  return true;
}

int64_t LoopVectorizer::widthFor(unsigned loop) {
  bool expensive = false;
  for (Operation &nested : *op.getBody())
    expensive |= isa_and_nonnull<math::MathDialect>(nested.getDialect()) ||
                 isa<arith::DivFOp>(nested);
  for (Value operand : op->getOperands())
    expensive |= getElementTypeOrSelf(operand.getType()).isInteger(1);
  int64_t widest = vectorBytes / 4 * (expensive ? 2 : 4);
  int64_t extent = op.getStaticLoopRanges()[loop];
  if (ShapedType::isDynamic(extent))
    return widest;
  while (widest > extent)
    widest /= 2;
  return widest;
}

bool LoopVectorizer::analyze() {
  if (!op.hasPureTensorSemantics() || op.getNumLoops() == 0 ||
      !bodyIsVectorizable())
    return false;
  maps = op.getIndexingMapsArray();
  iterators = op.getIteratorTypesArray();
  for (AffineMap map : maps)
    if (!map.isProjectedPermutation(/*allowZeroInResults=*/true))
      return false;
  for (Value operand : op->getOperands())
    if (!isScalarType(getElementTypeOrSelf(operand.getType())))
      return false;

  width = 1;
  for (unsigned loop = op.getNumLoops(); loop-- > 0;) {
    bool isParallel = iterators[loop] == utils::IteratorType::parallel;
    bool indexesInits = llvm::all_of(
        llvm::seq(op.getNumDpsInits()),
        [&](unsigned init) { return initMap(init).isFunctionOfDim(loop); });
    if (!isUnitStride(loop) || (isParallel && !indexesInits) ||
        (!isParallel && !reductionsSplit()))
      continue;
    int64_t candidate = widthFor(loop);
    bool better = candidate > width ||
                  (candidate == width && isParallel && width > 1);
    if (better) {
      width = candidate;
      vectorLoop = loop;
    }
  }
  if (width <= 1)
    return false;
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
    if (loop != vectorLoop)
      (iterators[loop] == utils::IteratorType::parallel ? parallel : reduction)
          .push_back(loop);
  return true;
}

SmallVector<Value> LoopVectorizer::build() {
  extents = loopExtents(b, op);
  ivs.assign(extents.size(), index(0));
  bool vectorIsParallel =
      iterators[vectorLoop] == utils::IteratorType::parallel;
  return buildNest(
      b, loc, parallel, extents, ivs, op.getDpsInits(), [&](ValueRange state) {
        if (!vectorIsParallel)
          return reductionRow(state);
        SmallVector<Value> result = state;
        Value begin = index(0);
        Value body = roundDown(b, loc, extents[vectorLoop], width);
        for (auto [to, step] : {std::pair{body, width},
                                std::pair{extents[vectorLoop], int64_t(1)}}) {
          result = buildLoop(b, loc, begin, to, step, result,
                             [&](Value iv, ValueRange state) {
                               ivs[vectorLoop] = iv;
                               return parallelPoint(step, state);
                             });
          begin = to;
        }
        return result;
      });
}

/// One vector (or element) of the results: all reductions, in registers.
SmallVector<Value> LoopVectorizer::parallelPoint(int64_t width,
                                                 ValueRange state) {
  SmallVector<Value> sums;
  for (auto [init, tensor] : llvm::enumerate(state))
    sums.push_back(usesInit(init) ? read(tensor, initMap(init), width)
                                  : Value());
  if (reduction.empty()) {
    sums = evaluate(width, state, sums);
  } else {
    // A result that ignores its sum still is carried by the loops.
    for (auto [init, tensor] : llvm::enumerate(state))
      if (!sums[init])
        sums[init] = read(tensor, initMap(init), width);
    sums = buildNest(
        b, loc, reduction, extents, ivs, sums,
        [&](ValueRange sums) { return evaluate(width, state, sums); });
  }
  SmallVector<Value> result;
  for (auto [init, tensor] : llvm::enumerate(state))
    result.push_back(write(sums[init], tensor, initMap(init)));
  return result;
}

/// All reductions of one point of the parallel loops, the vector loop among
/// them: sums per lane, and sums of the elements beyond the last vector.
SmallVector<Value> LoopVectorizer::reductionRow(ValueRange state) {
  unsigned count = state.size();
  SmallVector<Value> sums;
  for (unsigned init = 0; init < count; ++init) {
    Value scalar = arith::ConstantOp::create(
        b, loc, *arith::getNeutralElement(combiner(init)));
    sums.push_back(widen(scalar, width));
  }
  for (unsigned init = 0; init < count; ++init)
    sums.push_back(read(state[init], initMap(init), 1));

  sums = buildNest(
      b, loc, reduction, extents, ivs, sums,
      [&](ValueRange sums) -> SmallVector<Value> {
        Value body = roundDown(b, loc, extents[vectorLoop], width);
        SmallVector<Value> lanes = buildLoop(
            b, loc, index(0), body, width, sums.take_front(count),
            [&](Value iv, ValueRange sums) {
              ivs[vectorLoop] = iv;
              return evaluate(width, state, sums);
            });
        SmallVector<Value> rest = buildLoop(
            b, loc, body, extents[vectorLoop], 1, sums.drop_front(count),
            [&](Value iv, ValueRange sums) {
              ivs[vectorLoop] = iv;
              return evaluate(1, state, sums);
            });
        llvm::append_range(lanes, rest);
        return lanes;
      });

  SmallVector<Value> result;
  for (unsigned init = 0; init < count; ++init) {
    Operation *last = combiner(init);
    auto flags = arith::FastMathFlags::none;
    if (auto fast = dyn_cast<arith::ArithFastMathInterface>(last))
      flags = fast.getFastMathFlagsAttr().getValue();
    if (isa<arith::AddFOp, arith::MulFOp>(last))
      flags = flags | arith::FastMathFlags::reassoc;
    Value x = vector::ReductionOp::create(b, loc, *combiningKind(last),
                                          sums[init], sums[count + init], flags);
    result.push_back(write(x, state[init], initMap(init)));
  }
  return result;
}

/// The body of the op for `width` iterations of the vector loop from ivs.
SmallVector<Value> LoopVectorizer::evaluate(int64_t width, ValueRange inits,
                                            ValueRange accumulators) {
  Block *body = op.getBody();
  IRMapping mapping;
  for (OpOperand *input : op.getDpsInputOperands()) {
    BlockArgument argument = op.getMatchingBlockArgument(input);
    if (!argument.use_empty())
      mapping.map(argument, read(input->get(), op.getMatchingIndexingMap(input),
                                 width));
  }
  for (auto [init, value] : llvm::enumerate(accumulators))
    mapping.map(body->getArgument(op.getNumDpsInputs() + init), value);
  for (Operation &nested : body->without_terminator())
    mapping.map(nested.getResult(0), convert(nested, width, mapping));
  SmallVector<Value> results;
  for (Value value : body->getTerminator()->getOperands()) {
    Value result = mapping.lookupOrDefault(value);
    results.push_back(isa<VectorType>(result.getType()) ? result
                                                        : widen(result, width));
  }
  return results;
}

/// One op of the body on vectors when any operand is one, else as it is.
Value LoopVectorizer::convert(Operation &nested, int64_t width,
                              IRMapping &mapping) {
  if (auto indexOp = dyn_cast<linalg::IndexOp>(nested)) {
    unsigned loop = indexOp.getDim();
    if (loop != vectorLoop || width == 1)
      return ivs[loop];
    auto type = VectorType::get(width, b.getIndexType());
    Value step = vector::StepOp::create(b, loc, type);
    return arith::AddIOp::create(b, loc, widen(ivs[loop], width), step);
  }
  bool isVector = llvm::any_of(nested.getOperands(), [&](Value operand) {
    return isa<VectorType>(mapping.lookupOrDefault(operand).getType());
  });
  if (!isVector)
    return b.clone(nested, mapping)->getResult(0);
  OperationState state(loc, nested.getName());
  for (Value operand : nested.getOperands())
    state.operands.push_back(widen(mapping.lookupOrDefault(operand), width));
  state.addTypes(VectorType::get(width, nested.getResult(0).getType()));
  state.propertiesAttr = nested.getPropertiesAsAttribute();
  state.addAttributes(llvm::to_vector(nested.getDiscardableAttrs()));
  return b.create(state)->getResult(0);
}

/// A vector of `x`; vectors and single elements stay.
Value LoopVectorizer::widen(Value x, int64_t width) {
  if (width == 1 || isa<VectorType>(x.getType()))
    return x;
  return vector::BroadcastOp::create(b, loc, VectorType::get(width, x.getType()),
                                     x);
}

/// The operand at ivs: a vector along the vector loop, a scalar when it does
/// not follow that loop.
Value LoopVectorizer::read(Value tensor, AffineMap map, int64_t width) {
  if (!isa<ShapedType>(tensor.getType()))
    return tensor;
  SmallVector<Value> at = operandIndices(b, loc, map, ivs);
  if (width == 1 || !map.isFunctionOfDim(vectorLoop))
    return tensor::ExtractOp::create(b, loc, tensor, at);
  Type element = getElementTypeOrSelf(tensor.getType());
  auto type = VectorType::get(width, element);
  if (element.isInteger(1)) {
    // One byte per element in memory, one bit in a vector register.
    SmallVector<Value> elements;
    Value last = at.back();
    for (int64_t lane = 0; lane < width; ++lane) {
      at.back() = arith::AddIOp::create(b, loc, last, index(lane));
      elements.push_back(tensor::ExtractOp::create(b, loc, tensor, at));
    }
    return vector::FromElementsOp::create(b, loc, type, elements);
  }
  Value pad = arith::ConstantOp::create(b, loc, b.getZeroAttr(element));
  return vector::TransferReadOp::create(b, loc, type, tensor, at, pad,
                                        ArrayRef<bool>{true});
}

Value LoopVectorizer::write(Value x, Value tensor, AffineMap map) {
  SmallVector<Value> at = operandIndices(b, loc, map, ivs);
  auto type = dyn_cast<VectorType>(x.getType());
  if (!type)
    return tensor::InsertOp::create(b, loc, x, tensor, at);
  if (type.getElementType().isInteger(1)) {
    Value last = at.back();
    for (int64_t lane = 0; lane < type.getNumElements(); ++lane) {
      at.back() = arith::AddIOp::create(b, loc, last, index(lane));
      Value element = vector::ExtractOp::create(b, loc, x, lane);
      tensor = tensor::InsertOp::create(b, loc, element, tensor, at);
    }
    return tensor;
  }
  return vector::TransferWriteOp::create(b, loc, x, tensor, at,
                                         ArrayRef<bool>{true})
      .getResult();
}

namespace {
struct Vectorize : rudnn::impl::RudnnVectorizeBase<Vectorize> {
  using RudnnVectorizeBase::RudnnVectorizeBase;

  void runOnOperation() override {
    unsigned bytes = vectorBytesOf(vectorBytes);
    SmallVector<linalg::LinalgOp> ops;
    getOperation()->walk([&](linalg::LinalgOp op) { ops.push_back(op); });
    IRRewriter rewriter(&getContext());
    for (linalg::LinalgOp op : ops) {
      if (!op.hasPureTensorSemantics())
        continue;
      rewriter.setInsertionPoint(op);
      auto generic = dyn_cast<linalg::GenericOp>(op.getOperation());
      if (!generic) {
        FailureOr<linalg::GenericOp> general =
            linalg::generalizeNamedOp(rewriter, op);
        if (failed(general))
          continue; // stays for the loops of its named form
        generic = *general;
        rewriter.setInsertionPoint(generic);
      }
      LoopVectorizer vectorizer(rewriter, generic, bytes);
      if (vectorizer.analyze())
        rewriter.replaceOp(generic, vectorizer.build());
    }
  }
};
} // namespace
