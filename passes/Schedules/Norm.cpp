//===- Norm.cpp - Row kernels: normalizations and softmax -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A block holds one row in registers, so that memory is read once and written
// once; gamma and beta come from the cache. A thread holds at most kMostHeld
// elements: longer rows are read again from the cache for each pass. Each row
// has a block of its own, but for short rows of the norms: there blocks fill
// the device once, walk over rows and load the next one before they reduce the
// current one. Registers are limited to what lets 1024 threads run on a
// multiprocessor. (What is faster was measured: docs/performance.md.)
//
//===----------------------------------------------------------------------===//

#include "Schedules.h"

using namespace mlir;
using namespace rudnn;
using namespace rudnn::tile;

using Values = KernelBuilder::Values;

namespace {

/// One of the ops, with what they share.
struct RowOp {
  Operation *op;
  Value x, y, gamma, beta; // gamma and beta may be null
  double eps = 0;
  StringRef name;
  // What is added to x, and where the sum goes; or null.
  Value residual = Value(), sum = Value();
};

RowOp describe(Operation *op) {
  if (auto norm = dyn_cast<RmsNormOp>(op))
    return {op,
            norm.getX(),
            norm.getOuts()[0],
            norm.getGamma(),
            Value(),
            norm.getEps().convertToDouble(),
            "rms_norm"};
  if (auto norm = dyn_cast<AddRmsNormOp>(op))
    return {op,
            norm.getX(),
            norm.getOuts()[0],
            norm.getGamma(),
            Value(),
            norm.getEps().convertToDouble(),
            "add_rms_norm",
            norm.getResidual(),
            norm.getOuts()[1]};
  if (auto norm = dyn_cast<LayerNormOp>(op))
    return {op,
            norm.getX(),
            norm.getOuts()[0],
            norm.getGamma(),
            norm.getBeta(),
            norm.getEps().convertToDouble(),
            "layer_norm"};
  auto softmax = cast<SoftmaxOp>(op);
  return {op, softmax.getX(), softmax.getOuts()[0], Value(), Value(),
          0,  "softmax"};
}

/// Elements of a row that a thread keeps in f32.
constexpr int64_t kMostHeld = 32;

struct RowKernel {
  RowKernel(RowOp row, const Machine &machine, OpBuilder &b)
      : row(row), machine(machine), k(b, row.op->getLoc()) {
    element = elementTypeOf(row.x);
    size = shapeOf(row.x).back();
    vector = 128 / element.getIntOrFloatBitWidth();
    // Vectors of a thread. Where a second vector is read beside the row, fewer
    // threads of more registers hide it better, and eight don't fit.
    int64_t bytes = size * element.getIntOrFloatBitWidth() / 8;
    bool second = row.beta || row.residual;
    int64_t vectors = bytes <= (row.beta ? 4096 : 8192)         ? 2
                      : bytes <= 32768 || row.name != "softmax" ? 4
                                                                : 8;
    warps = std::clamp<int64_t>(
        llvm::PowerOf2Ceil(llvm::divideCeil(size, vector * 32 * vectors)), 1,
        32);
    int64_t step = vector * 32 * warps;
    padded = llvm::alignTo(size, step);
    layout = Layout::row(padded, vector, warps);
    resident = std::clamp<int64_t>(1024 / (32 * warps), 1, 16);
    walks = size < 2048 && row.name != "softmax";
    rereads = layout.numRegs() > kMostHeld;
  }

  void build(gpu::GPUModuleOp kernels);
  void launch(gpu::GPUModuleOp kernels);

private:
  Value load(Value buffer, Value offset, Type type);
  Value parameter(Value buffer);
  Value nextScratch();
  Value total(Combine kind, Value fragment);
  Values loadRow(Value r);
  void store(Value fragment, Value buffer, Value r);
  Value sumOf(ValueRange loaded);
  void compute(Value r, ValueRange loaded);
  void walk();
  Value inside(Value fragment, Value outside);
  Value again(Value x, Value r);
  Value rmsNorm(Value x, Value r);
  Value layerNorm(Value x, Value r);
  Value softmax(Value x, Value r);
  Value scaled(Value x, Value factor);
  /// Mean and variance in one reduction, when no place behind the row's end
  /// counts and the mean of 16-bit values needs no correction. A block of 32
  /// warps lacks the registers.
  bool hasMoments() {
    return row.name == "layer_norm" && padded == size && !element.isF32() &&
           warps < 32;
  }
  Value offsetOf(Value r) {
    return k.mul(k.i64(r), arith::ConstantIntOp::create(k.b, k.loc, size, 64));
  }
  /// The op's operands that not every row op has, in the order of arguments.
  SmallVector<Value> optional() {
    SmallVector<Value> all = {row.gamma, row.beta, row.residual, row.sum};
    llvm::erase(all, Value());
    return all;
  }

  RowOp row;
  Machine machine;
  KernelBuilder k;
  Type element;
  int64_t size, padded, vector, warps;
  Layout layout;
  bool walks, rereads;
  int64_t resident;
  // Arguments; the vectors and the residual if the op has them.
  Value x, y, rows, gamma, beta, residual, sum;
  /// Two reductions in a row never use the same one.
  Value scratch[2];
  unsigned reductions = 0;
};

} // namespace

/// Elements behind the row's end are zero.
Value RowKernel::load(Value buffer, Value offset, Type type) {
  SmallVector<Value> bounds;
  if (padded != size)
    bounds.push_back(k.index(size));
  return LoadOp::create(k.b, k.loc, k.fragment(layout, type), buffer, offset,
                        Value(), bounds, k.b.getDenseI64ArrayAttr({1}), vector);
}

/// Room for the next reduction: one float of each warp, of moments two.
Value RowKernel::nextScratch() { return scratch[reductions++ % 2]; }

Value RowKernel::total(Combine kind, Value fragment) {
  Value mine =
      ThreadReduceOp::create(k.b, k.loc, k.b.getF32Type(), kind, fragment);
  return BlockReduceOp::create(k.b, k.loc, k.b.getF32Type(), kind, mine,
                               nextScratch());
}

/// Replaces the elements behind the row's end.
Value RowKernel::inside(Value fragment, Value outside) {
  if (padded == size)
    return fragment;
  Value place = IotaOp::create(k.b, k.loc, k.fragment(layout, k.b.getI32Type()),
                               k.index(-size), k.b.getDenseI32ArrayAttr({1}));
  return k.map1({fragment, place}, [&](ValueRange x) {
    Value zero = arith::ConstantIntOp::create(k.b, k.loc, 0, 32);
    return k.select(k.compare(arith::CmpIPredicate::slt, x[1], zero), x[0],
                    outside);
  });
}

/// A vector along the row, as f32.
Value RowKernel::parameter(Value buffer) {
  Type type = cast<MemRefType>(buffer.getType()).getElementType();
  Value zero = arith::ConstantIntOp::create(k.b, k.loc, 0, 64);
  return k.convert(load(buffer, zero, type), k.b.getF32Type());
}

/// x * factor * gamma + beta, one after the other to need fewer registers.
Value RowKernel::scaled(Value x, Value factor) {
  Value y = k.map1({x, parameter(gamma)}, [&](ValueRange v) {
    return k.mulf(k.mulf(v[0], factor), v[1]);
  });
  if (!beta)
    return y;
  return k.map1({y, parameter(beta)},
                [&](ValueRange v) { return k.addf(v[0], v[1]); });
}

/// Row r after a barrier: in registers, or read once more.
Value RowKernel::again(Value x, Value r) {
  return rereads ? sumOf(loadRow(r)) : x;
}

Value RowKernel::rmsNorm(Value x, Value r) {
  Value squares = k.map1(x, [&](ValueRange v) { return k.mulf(v[0], v[0]); });
  Value mean = k.mulf(total(Combine::Add, squares), k.f32(1.0 / size));
  Value factor =
      math::RsqrtOp::create(k.b, k.loc, k.addf(mean, k.f32(row.eps)));
  x = again(x, r);
  if (residual)
    store(x, sum, r);
  return scaled(x, factor);
}

Value RowKernel::layerNorm(Value x, Value r) {
  Value squares;
  SmallVector<Value> shifts;
  auto centered = [&](Value x) {
    return k.map1(x, [&](ValueRange v) {
      Value distance = v[0];
      for (Value shift : shifts)
        distance = k.subf(distance, shift);
      return distance;
    });
  };
  auto center = [&](Value x) {
    shifts.push_back(k.mulf(total(Combine::Add, x), k.f32(1.0 / size)));
  };
  if (hasMoments()) {
    auto moments = BlockMomentsOp::create(k.b, k.loc, x, nextScratch());
    shifts.push_back(moments.getMean());
    squares = moments.getSquares();
  } else {
    center(x);
    // The mean of large values is off by its rounding, which shows in f32.
    if (element.isF32())
      center(inside(centered(again(x, r)), k.f32(0)));
    Value distances = inside(centered(again(x, r)), k.f32(0));
    squares = total(Combine::Add, k.map1(distances, [&](ValueRange v) {
      return k.mulf(v[0], v[0]);
    }));
  }
  Value variance = k.mulf(squares, k.f32(1.0 / size));
  Value factor =
      math::RsqrtOp::create(k.b, k.loc, k.addf(variance, k.f32(row.eps)));
  return scaled(centered(again(x, r)), factor);
}

Value RowKernel::softmax(Value x, Value r) {
  Value low = k.f32(-std::numeric_limits<float>::infinity());
  Value maximum = total(Combine::Max, inside(x, low));
  auto powersOf = [&](Value x) {
    return k.map1(inside(again(x, r), low), [&](ValueRange v) {
      return k.exp2(k.mulf(k.subf(v[0], maximum), k.f32(1.4426950408889634)));
    });
  };
  Value powers = powersOf(x);
  Value factor = k.divf(k.f32(1), total(Combine::Add, powers));
  if (rereads)
    powers = powersOf(x);
  return k.map1(powers, [&](ValueRange v) { return k.mulf(v[0], factor); });
}

/// Row r of x and of the residual.
Values RowKernel::loadRow(Value r) {
  Values loaded;
  for (Value buffer : {x, residual})
    if (buffer)
      loaded.push_back(load(buffer, offsetOf(r), element));
  return loaded;
}

void RowKernel::store(Value fragment, Value buffer, Value r) {
  SmallVector<Value> bounds;
  if (padded != size)
    bounds.push_back(k.index(size));
  StoreOp::create(k.b, k.loc, k.convert(fragment, element), buffer, offsetOf(r),
                  Value(), bounds, k.b.getDenseI64ArrayAttr({1}), vector);
}

/// x, or x and the residual's sum, as f32.
Value RowKernel::sumOf(ValueRange loaded) {
  Value x = k.convert(loaded[0], k.b.getF32Type());
  if (!residual)
    return x;
  return k.map1({x, k.convert(loaded[1], k.b.getF32Type())},
                [&](ValueRange v) { return k.addf(v[0], v[1]); });
}

/// Row r, loaded before, to its result.
void RowKernel::compute(Value r, ValueRange loaded) {
  Value x = sumOf(loaded);
  Value result = row.name == "softmax"      ? softmax(x, r)
                 : row.name == "layer_norm" ? layerNorm(x, r)
                                            : rmsNorm(x, r);
  store(result, y, r);
}

void RowKernel::walk() {
  Value first = k.blockId(), last = k.sub(rows, 1);
  Values start = loadRow(k.min(first, last));
  k.loop(first, rows, k.gridSize(), start, [&](Value r, ValueRange carried) {
    Values next = loadRow(k.min(k.add(r, k.gridSize()), last));
    compute(r, carried);
    // The next trip starts with the same scratch as this one.
    if (reductions % 2 && warps > 1)
      k.blockBarrier();
    return next;
  });
}

void RowKernel::build(gpu::GPUModuleOp kernels) {
  auto buffer = [](Type type) -> Type {
    return MemRefType::get({ShapedType::kDynamic}, type);
  };
  SmallVector<Type> types = {buffer(element), buffer(element),
                             k.b.getIndexType()};
  for (Value operand : optional())
    types.push_back(buffer(elementTypeOf(operand)));
  k.begin(kernels, uniqueKernelName(kernels, row.name), types, 32 * warps);
  k.kernel.setMinBlocks(resident);
  x = k.arg(0), y = k.arg(1), rows = k.arg(2);
  unsigned number = 3;
  std::pair<Value, Value *> arguments[] = {{row.gamma, &gamma},
                                           {row.beta, &beta},
                                           {row.residual, &residual},
                                           {row.sum, &sum}};
  for (auto [operand, argument] : arguments)
    if (operand)
      *argument = k.arg(number++);
  int64_t floats = hasMoments() ? 2 * warps : warps;
  for (Value &place : scratch)
    place = k.alloc(k.tileType({floats}, k.b.getF32Type(), 0));
  if (walks)
    walk();
  else
    compute(k.blockId(), loadRow(k.blockId()));
  k.end();
}

void RowKernel::launch(gpu::GPUModuleOp kernels) {
  KernelOp kernel = k.kernel;
  Value count = k.index(1);
  for (int64_t d = 0, n = shapeOf(row.x).size() - 1; d < n; ++d)
    count = k.mul(count, k.b.createOrFold<memref::DimOp>(k.loc, row.x, d));
  SmallVector<Value> args = {row.x, row.y, count};
  llvm::append_range(args, optional());
  Value one = k.index(1);
  Value blocks = count;
  if (walks) // as many blocks as run at a time
    blocks = k.min(count, k.index(machine.multiprocessors * resident));
  auto symbol = SymbolRefAttr::get(
      kernels.getNameAttr(), {FlatSymbolRefAttr::get(kernel.getNameAttr())});
  LaunchOp::create(k.b, k.loc, symbol, blocks, one, one, args);
}

std::string rudnn::tile::whyNotRow(Operation *op) {
  RowOp row = describe(op);
  int64_t size = shapeOf(row.x).back();
  if (ShapedType::isDynamic(size))
    return "the row length is dynamic";
  if (size * elementTypeOf(row.x).getIntOrFloatBitWidth() % 128 != 0)
    return "a row is not a multiple of 16 bytes";
  if (size > 65536)
    return "a row has more than 65536 elements";
  return "";
}

LogicalResult rudnn::tile::scheduleRow(Operation *op, gpu::GPUModuleOp kernels,
                                       const Machine &machine) {
  RowOp row = describe(op);
  auto type = dyn_cast<MemRefType>(row.x.getType());
  if (!type)
    return op->emitOpError("must be on memrefs (bufferize first)");
  if (std::string why = whyNotRow(op); !why.empty())
    return op->emitOpError("the sm_90a schedule does not apply: ") << why;
  for (Value operand : op->getOperands())
    if (!cast<MemRefType>(operand.getType()).getLayout().isIdentity())
      return op->emitOpError("the sm_90a schedule needs dense operands, got ")
             << operand.getType();
  OpBuilder b(op);
  RowKernel kernel(row, machine, b);
  kernel.build(kernels);
  kernel.launch(kernels);
  op->erase();
  return success();
}
