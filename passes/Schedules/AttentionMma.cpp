//===- AttentionMma.cpp - Dense attention forward on sm_80 and later -*- C++
//-*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A block of four warps computes a tile of query rows of one head; each warp
// has its own rows, so that a row's softmax needs no other warp. The queries
// stay in registers (in shared memory for wide heads). Keys and values come in
// blocks from right to left through two stages of shared memory: a step first
// starts the copies of the next block, then multiplies S = Q K^T, takes the
// running softmax and adds P V, where P is the rounded S in the registers it is
// in. One barrier a step says both that its block has landed and that the other
// stage is free.
//
// Blocks of keys that a bound cuts (causal, windows, the end) are masked in
// loops of their own. Head dims are whole steps of 16; copies fill what is
// behind a tensor's end with zeros.
//
//===----------------------------------------------------------------------===//

#include "AttentionOptions.h"

using namespace mlir;
using namespace rudnn;
using namespace rudnn::tile;

namespace {

constexpr int64_t kWarps = 4, kThreads = 32 * kWarps, kPanel = 64;

int64_t panels(int64_t columns) { return llvm::divideCeil(columns, kPanel); }

struct Shape : ScoreShape {
  int64_t head, value; // head dims in whole steps of 16
  bool queriesInRegisters;
  int64_t sharedBytes;
};

/// Rows of a tile: two blocks of 16 for each warp where registers allow it
/// (keys and values are then read half as often), else one. Keys of a block:
/// 64, or 32 where two stages of them don't fit.
Shape getShape(const AttentionScores &s, const Machine &machine) {
  Shape shape;
  shape.head = llvm::alignTo(shapeOf(s.q).back(), 16);
  shape.value = llvm::alignTo(shapeOf(s.v).back(), 16);
  bool small = shape.head <= 64 && shape.value <= 64 && !s.mask && !s.bias;
  int64_t rows = kWarps * (small ? 32 : 16);
  shape.queriesInRegisters = shape.head <= 128;
  for (int64_t keys : {64, 32}) {
    static_cast<ScoreShape &>(shape) = getScoreShape(s, rows, keys, rows);
    int64_t wide = panels(shape.head) + panels(shape.value);
    shape.sharedBytes =
        kPanel * 2 * (panels(shape.head) * rows + 2 * wide * keys);
    if (shape.sharedBytes <= machine.sharedBytes)
      break;
  }
  return shape;
}

class AttentionMma : AttentionOptions {
public:
  AttentionMma(const AttentionCall &call, const Machine &machine, OpBuilder &b)
      : AttentionMma(call, getShape(call.scores, machine), b) {}
  void build(gpu::GPUModuleOp kernels);
  void launch(gpu::GPUModuleOp kernels);

private:
  AttentionMma(const AttentionCall &call, const Shape &shape, OpBuilder &b)
      : AttentionOptions(call, shape, b), shape(shape) {}

  /// A [batch, head, row, column] operand: its strides are numbers or, where
  /// the type doesn't say, arguments.
  struct Matrix {
    Value memref, buffer, strides[3];
    int64_t columns;
  };
  SmallVector<int64_t> stridesOf(const Matrix &m) {
    auto strides =
        cast<MemRefType>(m.memref.getType()).getStridesAndOffset().first;
    if (s.isRagged()) // [row, head, column]
      return {0, strides[1], strides[0], strides[2]};
    return strides;
  }
  Value offsetOf(const Matrix &m, Value batch, Value head, Value row);
  void copy(const Matrix &m, Value batch, Value head, Value first, Value row,
            Value end, Value to);
  void copyBlock(const Tile &tile, Value step);

  Layout accumulators(int64_t columns) {
    return Layout::accumulator(shape.queryRows, columns, kWarps, 1);
  }
  Value queryOperand(int64_t column) {
    return k.loadMatrix(tileQ, 0, column,
                        Layout::operandA(shape.queryRows, 16, kWarps, 1));
  }
  Value scores(Value slot);
  void update(MutableArrayRef<Value> output, Value weights, Value slot);
  Values steps(Value from, Value to, Values state, const Tile &tile,
               bool masked);
  void finish(const Tile &tile, Values state);

  Shape shape;
  Matrix q, keyMatrix, valueMatrix, out;
  Value tileQ, tilesK, tilesV;
  Values queryRegisters;
};

} // namespace

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

/// i64: a tensor may have more than 2^31 elements.
Value AttentionMma::offsetOf(const Matrix &m, Value batch, Value head,
                             Value row) {
  Value offset = k.mul(k.i64(batch), m.strides[0]);
  offset = k.add(offset, k.mul(k.i64(head), m.strides[1]));
  return k.add(offset, k.mul(k.i64(row), m.strides[2]));
}

/// Rows from `row` on of those that start at `first` (null: at 0); those from
/// `end` on are zero.
void AttentionMma::copy(const Matrix &m, Value batch, Value head, Value first,
                        Value row, Value end, Value to) {
  Value from = first ? k.add(first, row) : row;
  k.copyAsync(m.buffer, offsetOf(m, batch, head, from), m.strides[2],
              {k.sub(end, row), k.index(m.columns)}, to,
              llvm::alignTo(m.columns, 16));
}

void AttentionMma::copyBlock(const Tile &tile, Value step) {
  Value row = k.mul(k.sub(tile.last, step), shape.keyTile);
  Value slot = k.rem(step, 2);
  copy(keyMatrix, tile.batch, tile.keyHead, tile.firstKey, row, tile.keys,
       k.stage(tilesK, slot));
  copy(valueMatrix, tile.batch, tile.keyHead, tile.firstKey, row, tile.keys,
       k.stage(tilesV, slot));
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

/// S = Q K^T.
Value AttentionMma::scores(Value slot) {
  Value tile = k.stage(tilesK, slot);
  Value acc = k.splat(k.fragment(accumulators(shape.keyTile)), k.f32(0));
  for (int64_t d = 0; d < shape.head; d += 16) {
    Value a =
        shape.queriesInRegisters ? queryRegisters[d / 16] : queryOperand(d);
    Value b = k.loadMatrix(tile, 0, d, Layout::operandB(16, shape.keyTile),
                           /*transpose=*/true);
    acc = k.mma(a, b, acc);
  }
  return acc;
}

/// O += P V; O is in pieces of a panel's columns.
void AttentionMma::update(MutableArrayRef<Value> output, Value weights,
                          Value slot) {
  Value tile = k.stage(tilesV, slot);
  for (int64_t key = 0; key < shape.keyTile; key += 16) {
    Value a = k.columns(weights, key, 16);
    for (auto [i, piece] : llvm::enumerate(output)) {
      int64_t columns = cast<FragmentType>(piece.getType()).getShape()[1];
      Value b =
          k.loadMatrix(tile, key, i * kPanel, Layout::operandB(16, columns));
      piece = k.mma(a, b, piece);
    }
  }
}

/// Steps [from, to) of a tile: carried are maximum, sum and the pieces of the
/// output.
AttentionMma::Values AttentionMma::steps(Value from, Value to, Values state,
                                         const Tile &tile, bool masked) {
  return k.loop(from, to, k.index(1), state, [&](Value step, ValueRange c) {
    // This step's block has landed, and the block before has been read.
    k.copyAsyncWait(0);
    k.blockBarrier();
    Value next = k.add(step, 1);
    k.branch(k.compare(arith::CmpIPredicate::slt, next, tile.blocks),
             [&] { copyBlock(tile, next); });
    k.copyAsyncCommit();

    Value slot = k.rem(step, 2);
    Value column = k.mul(k.sub(tile.last, step), shape.keyTile);
    Value x = transform(scores(slot), tile, tile.row, column);
    if (masked)
      x = mask(x, tile, tile.row, column);
    Step now = softmax(x, c[0]);
    Values carried = {now.maximum, addSums(c[1], now)};
    for (Value piece : c.drop_front(2))
      carried.push_back(scaleRows(piece, now.rescale));
    update(MutableArrayRef(carried).drop_front(2),
           k.convert(now.weights, element), slot);
    return carried;
  });
}

/// Normalization, log-sum-exp, output.
void AttentionMma::finish(const Tile &tile, Values state) {
  Values rows = finishRows(state[0], state[1], tile);
  if (call.lse)
    storeLse(rows[1], tile, tile.row);
  Value row = tile.firstRow ? k.add(tile.firstRow, tile.row) : tile.row;
  Value offset = offsetOf(out, tile.batch, tile.head, row);
  bool isStatic = !ShapedType::isDynamic(stridesOf(out)[2]);
  int64_t stride = isStatic ? stridesOf(out)[2] : ShapedType::kDynamic;
  for (auto [i, piece] : llvm::enumerate(ArrayRef(state).drop_front(2))) {
    Value result = k.convert(scaleRows(piece, rows[0]), element);
    StoreOp::create(k.b, k.loc, result, out.buffer,
                    k.add(offset, int64_t(i) * kPanel),
                    isStatic ? Value() : out.strides[2],
                    ValueRange{k.sub(tile.queries, tile.row),
                               k.index(out.columns - int64_t(i) * kPanel)},
                    k.b.getDenseI64ArrayAttr({stride, 1}), 2);
  }
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

void AttentionMma::build(gpu::GPUModuleOp kernels) {
  std::pair<Matrix *, Value> matrices[] = {
      {&q, s.q}, {&keyMatrix, s.k}, {&valueMatrix, s.v}, {&out, call.out}};
  SmallVector<Type> types;
  for (auto [matrix, memref] : matrices) {
    matrix->memref = memref;
    matrix->columns = shapeOf(memref).back();
    types.push_back(MemRefType::get({ShapedType::kDynamic}, element));
    for (int64_t stride : ArrayRef(stridesOf(*matrix)).drop_back())
      if (ShapedType::isDynamic(stride))
        types.push_back(k.b.getI64Type());
  }
  unsigned own = types.size();
  appendTypes(types);
  k.begin(kernels, uniqueKernelName(kernels, kernelName()), types, kThreads);
  unsigned next = 0;
  for (auto [matrix, memref] : matrices) {
    matrix->buffer = k.arg(next++);
    for (auto [i, stride] :
         llvm::enumerate(ArrayRef(stridesOf(*matrix)).drop_back()))
      matrix->strides[i] =
          ShapedType::isDynamic(stride)
              ? k.arg(next++)
              : arith::ConstantIntOp::create(k.b, k.loc, stride, 64)
                    .getResult();
  }
  takeArguments(own);

  auto stages = [&](SmallVector<int64_t> shape) {
    return k.alloc(k.tileType(shape, element));
  };
  tileQ = stages({panels(shape.head), shape.queryRows, kPanel});
  tilesK = stages({2, panels(shape.head), shape.keyTile, kPanel});
  tilesV = stages({2, panels(shape.value), shape.keyTile, kPanel});

  Tile tile = tileOf(k.blockId());
  copy(q, tile.batch, tile.head, tile.firstRow, tile.row, tile.queries, tileQ);
  k.copyAsyncCommit();
  copyBlock(tile, k.index(0));
  k.copyAsyncCommit();
  if (shape.queriesInRegisters) {
    k.copyAsyncWait(1);
    k.blockBarrier();
    for (int64_t d = 0; d < shape.head; d += 16)
      queryRegisters.push_back(queryOperand(d));
  }

  FragmentType scoreType = k.fragment(accumulators(shape.keyTile));
  Layout layout = scoreType.getLayout();
  // Below every score, and not an infinity: differences stay numbers.
  Value low = k.f32(std::numeric_limits<float>::lowest());
  Values state = {k.splat(k.fragment(layout.slice(1)), low),
                  k.splat(k.fragment(layout.partial(1)), k.f32(0))};
  for (int64_t column = 0; column < shape.value; column += kPanel)
    state.push_back(k.splat(
        k.fragment(accumulators(std::min(kPanel, shape.value - column))),
        k.f32(0)));

  // Right edge, middle, left edge.
  Value zero = k.index(0), done = zero, end = tile.blocks;
  if (shape.allMasked) {
    state = steps(zero, end, state, tile, true);
  } else {
    if (shape.firstMasked) {
      done = shape.rightLoop ? tile.cutRight : k.index(1);
      state = steps(zero, done, state, tile, true);
    }
    Value middle = end;
    if (s.windowLeft)
      middle = k.max(done, k.sub(end, tile.cutLeft));
    state = steps(done, middle, state, tile, false);
    if (s.windowLeft)
      state = steps(middle, end, state, tile, true);
  }
  finish(tile, state);
  k.end();
}

void AttentionMma::launch(gpu::GPUModuleOp kernels) {
  SmallVector<Value> args;
  for (const Matrix *matrix : {&q, &keyMatrix, &valueMatrix, &out}) {
    args.push_back(matrix->memref);
    SmallVector<int64_t> strides = stridesOf(*matrix);
    if (llvm::none_of(strides, ShapedType::isDynamic))
      continue;
    auto metadata =
        memref::ExtractStridedMetadataOp::create(k.b, k.loc, matrix->memref);
    for (unsigned i = 0; i < 3; ++i)
      if (ShapedType::isDynamic(strides[i]))
        args.push_back(k.i64(metadata.getStrides()[i]));
  }
  Value count = appendArguments(args), one = k.index(1);
  auto symbol = SymbolRefAttr::get(
      kernels.getNameAttr(), {FlatSymbolRefAttr::get(k.kernel.getNameAttr())});
  LaunchOp::create(k.b, k.loc, symbol, count, one, one, args);
}

//===----------------------------------------------------------------------===//
// What it takes
//===----------------------------------------------------------------------===//

std::string rudnn::tile::whyNotAttentionMma(Operation *op,
                                            const Machine &machine) {
  AttentionCall call(op);
  const AttentionScores &s = call.scores;
  if (std::string why = whyNotAttentionOperands(s); !why.empty())
    return why;
  if (getShape(s, machine).sharedBytes > machine.sharedBytes)
    return "the tiles of these head dims need more shared memory than a block "
           "has";
  for (Value operand : {s.q, s.k, s.v, call.out}) {
    auto memref = dyn_cast<MemRefType>(operand.getType());
    if (!memref || memref.getLayout().isIdentity())
      continue;
    SmallVector<int64_t> strides;
    int64_t offset;
    if (failed(memref.getStridesAndOffset(strides, offset)) ||
        strides.back() != 1)
      return "the last dim of an operand is not contiguous";
    // Dynamic ones are the caller's to align, as addresses are.
    strides.back() = offset;
    for (int64_t x : strides)
      if (!ShapedType::isDynamic(x) && x % 8 != 0)
        return "an operand's strides or offset are not multiples of 16 bytes";
  }
  return "";
}

LogicalResult rudnn::tile::scheduleAttentionMma(Operation *op,
                                                gpu::GPUModuleOp kernels,
                                                const Machine &machine) {
  OpBuilder b(op);
  AttentionMma kernel(AttentionCall(op), machine, b);
  kernel.build(kernels);
  kernel.launch(kernels);
  op->erase();
  return success();
}
