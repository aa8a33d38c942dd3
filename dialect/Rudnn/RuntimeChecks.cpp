//===- RuntimeChecks.cpp - Checks of index operands at run time -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RuntimeChecks.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace rudnn;

Value RuntimeChecks::index(int64_t value) {
  return arith::ConstantIndexOp::create(b, loc, value);
}
Value RuntimeChecks::extent(Value shaped, int64_t dim) {
  if (isa<MemRefType>(shaped.getType()))
    return memref::DimOp::create(b, loc, shaped, dim);
  return tensor::DimOp::create(b, loc, shaped, dim);
}
Value RuntimeChecks::add(Value x, Value y) {
  return arith::AddIOp::create(b, loc, x, y);
}
Value RuntimeChecks::sub(Value x, Value y) {
  return arith::SubIOp::create(b, loc, x, y);
}
Value RuntimeChecks::mul(Value x, Value y) {
  return arith::MulIOp::create(b, loc, x, y);
}
Value RuntimeChecks::load(Value shaped, ValueRange at) {
  Value word = isa<MemRefType>(shaped.getType())
                   ? Value(memref::LoadOp::create(b, loc, shaped, at))
                   : Value(tensor::ExtractOp::create(b, loc, shaped, at));
  return arith::IndexCastUIOp::create(b, loc, b.getIndexType(), word);
}
Value RuntimeChecks::compare(Predicate predicate, Value x, Value y) {
  return arith::CmpIOp::create(b, loc, predicate, x, y);
}

void RuntimeChecks::forEach(Value begin, Value end,
                            function_ref<void(Value)> body) {
  scf::ForOp::create(b, loc, begin, end, index(1), ValueRange{},
                     [&](OpBuilder &nested, Location, Value i, ValueRange) {
                       OpBuilder::InsertionGuard guard(b);
                       b.setInsertionPoint(nested.getInsertionBlock(),
                                           nested.getInsertionPoint());
                       body(i);
                       scf::YieldOp::create(b, loc);
                     });
}

void RuntimeChecks::require(Value good, StringRef text, const Line &line) {
  Value bad = arith::XOrIOp::create(b, loc, good,
                                    arith::ConstantIntOp::create(b, loc, 1, 1));
  scf::IfOp::create(b, loc, bad, [&](OpBuilder &nested, Location) {
    for (const auto &piece : line)
      if (const auto *words = std::get_if<std::string>(&piece))
        vector::PrintOp::create(nested, loc, StringRef(*words));
      else
        vector::PrintOp::create(nested, loc, std::get<Value>(piece),
                                vector::PrintPunctuation::NoPunctuation);
    vector::PrintOp::create(nested, loc, StringRef("\n"));
    scf::YieldOp::create(nested, loc);
  });
  cf::AssertOp::create(b, loc, good, b.getStringAttr(message(op, text)));
}

void RuntimeChecks::requireElement(Value good, StringRef text, StringRef name,
                                   ValueRange at, Value value,
                                   const Line &expected) {
  Line line{op->getName().getStringRef().str() + ": " + name.str() + "["};
  for (auto [i, position] : llvm::enumerate(at)) {
    if (i)
      line.push_back(std::string(", "));
    line.push_back(position);
  }
  line.push_back(std::string("] is "));
  line.push_back(value);
  line.push_back(std::string(", expected "));
  llvm::append_range(line, expected);
  require(good, text, line);
}

void RuntimeChecks::requireOffsets(Value offsets, StringRef name, Value rows) {
  Value zero = index(0), one = index(1);
  if (ShapedType::isDynamic(shapeOf(offsets)[0]))
    require(compare(Predicate::ne, extent(offsets, 0), zero),
            (name + " has no element").str(),
            {op->getName().getStringRef().str() + ": " + name.str() +
             " has no element, expected at least one"});
  Value last = sub(extent(offsets, 0), one), first = load(offsets, zero);
  requireElement(compare(Predicate::eq, first, zero),
                 (name + "[0] is not 0").str(), name, zero, first, {"0"});
  forEach(last, [&](Value at) {
    Value next = add(at, one);
    Value here = load(offsets, at), there = load(offsets, next);
    requireElement(compare(Predicate::ule, here, there),
                   (name + " descend, expected them to ascend").str(), name,
                   next, there, {"at least ", here, ", the offset before it"});
  });
  Value end = load(offsets, last);
  requireElement(compare(Predicate::ule, end, rows),
                 ("the last of " + name + " is above the number of rows").str(),
                 name, last, end, {"at most ", rows, ", the number of rows"});
}

//===----------------------------------------------------------------------===//
// Extents
//===----------------------------------------------------------------------===//

void ExtentChecks::require(Value good, StringRef text,
                           const RuntimeChecks::Line &line) {
  RuntimeChecks::Line whole{checks.op->getName().getStringRef().str() + ": "};
  llvm::append_range(whole, line);
  checks.require(good, text, whole);
}

void ExtentChecks::visit(StringRef name, Value value, StringRef letters,
                         bool isBroadcast) {
  auto text = [](const Dim &d) {
    return d.name + "[dim " + std::to_string(d.dim) + "]";
  };
  auto isDynamic = [](const Dim &d) {
    return ShapedType::isDynamic(shapeOf(d.value)[d.dim]);
  };
  for (auto [dim, letter] : llvm::enumerate(letters)) {
    if (letter == '.' || (isBroadcast && shapeOf(value)[dim] == 1))
      continue;
    Dim here{name.str(), value, int64_t(dim)};
    auto [known, isNew] = dims.try_emplace(letter, here);
    if (isNew)
      continue;
    Dim &first = known->second;
    if (!isDynamic(first) && !isDynamic(here))
      continue; // the verifier has compared them
    Value actual = checks.extent(value, dim);
    Value expected = checks.extent(first.value, first.dim);
    require(
        checks.compare(RuntimeChecks::Predicate::eq, actual, expected),
        ("the extents of " + text(here) + " and " + text(first) + " differ"),
        {text(here) + " is ", actual, ", expected ", expected,
         ", the extent of " + text(first)});
    if (!isDynamic(here))
      first = here;
  }
}
