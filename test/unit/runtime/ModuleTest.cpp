//===- ModuleTest.cpp - Loading artifacts and calling them -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rudnn/Runtime/Module.h"

#include <gtest/gtest.h>

#include <thread>

using namespace rudnn;

namespace {

std::string artifact(const char *name) {
  return std::string(RUDNN_TEST_ARTIFACTS "/") + name;
}

TEST(Module, Lists) {
  auto module = Module::load(artifact("artifact.so"));
  ASSERT_TRUE(module) << module.message();
  EXPECT_EQ(module->target(), "cpu");
  ASSERT_EQ(module->functions().size(), 1u);
  const Function *function = module->find("scale");
  ASSERT_NE(function, nullptr);
  EXPECT_EQ(module->find("other"), nullptr);
  ASSERT_EQ(function->arguments().size(), 2u);
  ASSERT_EQ(function->results().size(), 2u);
  EXPECT_STREQ(function->arguments()[0].name, "x");
  EXPECT_EQ(function->arguments()[0].rank, 2);
  EXPECT_EQ(function->arguments()[0].shape[0], RUDNN_DYNAMIC);
  EXPECT_EQ(function->arguments()[0].shape[1], 4);
  EXPECT_EQ(function->arguments()[1].rank, -1);
  EXPECT_EQ(function->results()[1].dtype, RUDNN_I32);
}

TEST(Module, RefusesFiles) {
  auto expect = [](const std::string &path, RudnnStatusCode code,
                   const std::string &part) {
    auto module = Module::load(path);
    EXPECT_EQ(module.code(), code);
    EXPECT_NE(module.message().find(part), std::string::npos)
        << module.message();
  };
  expect("/no/such.so", RUDNN_MODULE_OPEN,
         "can't load the artifact /no/such.so");
  expect(__FILE__, RUDNN_MODULE_OPEN, "can't load the artifact");
  expect(
      artifact("artifact_symbol.so"), RUDNN_MODULE_SYMBOL_MISSING,
      "artifact_symbol.so is no rudnn artifact: it has no symbol rudnn_module");
  expect(artifact("artifact_version.so"), RUDNN_MODULE_VERSION,
         "was made for version 99 of the interface, this runtime has 1");
  expect(artifact("artifact_malformed.so"), RUDNN_MODULE_MALFORMED,
         "function scale is incomplete");
}

/// A correct call of `scale`, to be spoiled.
struct Call {
  alignas(64) float x[13] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  alignas(64) float y[13] = {};
  int32_t count[4] = {};
  float scale = 2;
  alignas(256) unsigned char workspace[512];
  uint64_t workspaceSize = 48;
  void *scratch = workspace;
  int64_t shape[2] = {3, 4}, strides[2] = {4, 1}, length[1] = {3};
  DLTensor tx, ty, tcount, tscale;
  std::vector<const DLTensor *> arguments = {&tx, &tscale},
                                results = {&ty, &tcount};

  Call() {
    DLDevice cpu = {kDLCPU, 0};
    tx = {x, cpu, 2, {kDLFloat, 32, 1}, shape, nullptr, 0};
    ty = {y, cpu, 2, {kDLFloat, 32, 1}, shape, strides, 0};
    tcount = {count, cpu, 1, {kDLInt, 32, 1}, length, nullptr, 0};
    tscale = {&scale, cpu, 0, {kDLFloat, 32, 1}, nullptr, nullptr, 0};
  }
  Status run() {
    auto module = Module::load(artifact("artifact.so"));
    return module->find("scale")->run(arguments, results, scratch,
                                      workspaceSize);
  }
};

template <typename F>
void expectRefused(F spoil, RudnnStatusCode code, const char *message) {
  Call call;
  spoil(call);
  Status status = call.run();
  EXPECT_EQ(status.code(), code);
  EXPECT_EQ(status.message(), message);
  for (float value : call.y)
    EXPECT_EQ(value, 0);
}

TEST(Function, Runs) {
  Call call;
  Status status = call.run();
  ASSERT_TRUE(status.ok()) << status.message();
  for (int i = 0; i < 12; ++i)
    EXPECT_EQ(call.y[i], 2.f * float(i));
  EXPECT_EQ(call.count[2], 2);
}

TEST(Function, ByteOffset) {
  Call call;
  call.tx.byte_offset = call.ty.byte_offset = 4;
  ASSERT_TRUE(call.run().ok());
  EXPECT_EQ(call.y[0], 0);
  EXPECT_EQ(call.y[1], 2);
  EXPECT_EQ(call.y[11], 22);
}

TEST(Function, UnsignedIntegersAndEmptyTensors) {
  Call call;
  call.tcount.dtype.code = kDLUInt;
  ASSERT_TRUE(call.run().ok());
  Call empty;
  empty.shape[0] = empty.length[0] = 0;
  empty.tx.data = empty.ty.data = empty.tcount.data = nullptr;
  empty.scratch = nullptr, empty.workspaceSize = 0;
  EXPECT_TRUE(empty.run().ok());
}

TEST(Function, Queries) {
  auto module = Module::load(artifact("artifact.so"));
  const Function *function = module->find("scale");
  Call call;
  call.shape[0] = 1000;
  call.tx.data = nullptr; // Sizes only.
  auto bytes = function->workspaceBytes(call.arguments);
  ASSERT_TRUE(bytes) << bytes.message();
  EXPECT_EQ(*bytes, 16000u);
  auto shapes = function->resultShapes(call.arguments);
  ASSERT_TRUE(shapes) << shapes.message();
  EXPECT_EQ(*shapes, (std::vector<std::vector<int64_t>>{{1000, 4}, {1000}}));
  call.shape[1] = 5;
  EXPECT_EQ(function->workspaceBytes(call.arguments).code(), RUDNN_CALL_SHAPE);
  EXPECT_EQ(function->resultShapes(call.arguments).code(), RUDNN_CALL_SHAPE);
}

TEST(Function, RefusesCount) {
  expectRefused([](Call &c) { c.arguments.pop_back(); }, RUDNN_CALL_COUNT,
                "function scale takes 2 arguments, got 1");
  expectRefused([](Call &c) { c.results.push_back(&c.ty); }, RUDNN_CALL_COUNT,
                "function scale takes 2 results, got 3");
}

TEST(Function, RefusesDType) {
  expectRefused(
      [](Call &c) { c.tx.dtype = {kDLFloat, 16, 1}; }, RUDNN_CALL_DTYPE,
      "function scale: argument 0 (x): dtype is float16; it must be f32");
  expectRefused(
      [](Call &c) { c.tx.dtype = {kDLFloat, 8, 4}; }, RUDNN_CALL_DTYPE,
      "function scale: argument 0 (x): dtype is float8x4; it must be f32");
  expectRefused(
      [](Call &c) { c.tcount.dtype = {kDLFloat, 32, 1}; }, RUDNN_CALL_DTYPE,
      "function scale: result 1 (count): dtype is float32; it must be i32");
}

TEST(Function, RefusesRank) {
  expectRefused([](Call &c) { c.tx.ndim = 1; }, RUDNN_CALL_RANK,
                "function scale: argument 0 (x): rank is 1; it must be 2");
  expectRefused(
      [](Call &c) { c.tscale.ndim = 1, c.tscale.shape = c.length; },
      RUDNN_CALL_RANK,
      "function scale: argument 1 (scale): rank is 1; it must be 0, a scalar");
}

TEST(Function, RefusesShape) {
  static int64_t wrong[2] = {3, 5}, negative[2] = {-1, 4}, other[2] = {2, 4};
  static int64_t huge[2] = {INT64_MAX, 4};
  expectRefused(
      [](Call &c) { c.tx.shape = wrong; }, RUDNN_CALL_SHAPE,
      "function scale: argument 0 (x): dimension 1 is 5; it must be 4");
  expectRefused([](Call &c) { c.tx.shape = negative; }, RUDNN_CALL_SHAPE,
                "function scale: argument 0 (x): dimension 0 is -1; it must "
                "not be negative");
  expectRefused([](Call &c) { c.tx.shape = huge; }, RUDNN_CALL_SHAPE,
                "function scale: argument 0 (x): it has more than 2^64 bytes");
  expectRefused(
      [](Call &c) { c.ty.shape = other; }, RUDNN_CALL_SHAPE,
      "function scale: result 0 (y): dimension 0 is 2; these arguments give 3");
}

TEST(Function, RefusesDevice) {
  expectRefused(
      [](Call &c) { c.ty.device.device_type = kDLCUDA; }, RUDNN_CALL_DEVICE,
      "function scale: result 0 (y): it is on a device of type 2; it must be "
      "on the CPU (1)");
}

TEST(Function, RefusesStride) {
  static int64_t transposed[2] = {1, 3};
  expectRefused(
      [](Call &c) { c.tx.strides = transposed; }, RUDNN_CALL_STRIDE,
      "function scale: argument 0 (x): stride 1 is 3; the tensor must be "
      "dense, 1");
}

TEST(Function, RefusesNull) {
  expectRefused([](Call &c) { c.arguments[0] = nullptr; }, RUDNN_CALL_NULL,
                "function scale: argument 0 (x): the tensor is null");
  expectRefused([](Call &c) { c.tx.data = nullptr; }, RUDNN_CALL_NULL,
                "function scale: argument 0 (x): the data is null");
  expectRefused([](Call &c) { c.tx.shape = nullptr; }, RUDNN_CALL_NULL,
                "function scale: argument 0 (x): the shape is null");
  expectRefused([](Call &c) { c.tscale.data = nullptr; }, RUDNN_CALL_NULL,
                "function scale: argument 1 (scale): the data is null");
}

TEST(Function, RefusesAlignment) {
  Call call;
  call.tx.byte_offset = 2;
  Status status = call.run();
  EXPECT_EQ(status.code(), RUDNN_CALL_ALIGNMENT);
  EXPECT_NE(status.message().find(
                "function scale: argument 0 (x): the data is at 0x"),
            std::string::npos);
  EXPECT_NE(status.message().find("it must be aligned to 4 bytes"),
            std::string::npos);
}

TEST(Function, RefusesOverlap) {
  expectRefused([](Call &c) { c.ty.data = c.x + 1; }, RUDNN_CALL_OVERLAP,
                "function scale: result 0 (y) shares memory with x");
  expectRefused([](Call &c) { c.tcount.data = c.y; }, RUDNN_CALL_OVERLAP,
                "function scale: result 1 (count) shares memory with y");
  expectRefused([](Call &c) { c.tx.data = c.workspace + 4; },
                RUDNN_CALL_OVERLAP,
                "function scale: the workspace shares memory with x");
}

TEST(Function, RefusesWorkspace) {
  expectRefused([](Call &c) { c.workspaceSize = 47; }, RUDNN_CALL_WORKSPACE,
                "function scale: the workspace has 47 bytes; 48 are needed");
  expectRefused(
      [](Call &c) { c.scratch = nullptr; }, RUDNN_CALL_WORKSPACE,
      "function scale: the workspace has 48 bytes and is null; 48 are needed");
  Call call;
  call.scratch = call.workspace + 128;
  EXPECT_EQ(call.run().code(), RUDNN_CALL_WORKSPACE);
}

TEST(Function, ReportsWhatTheCodeReturns) {
  expectRefused([](Call &c) { c.scale = -1; }, RUDNN_CALL_FAILED,
                "function scale: the compiled code reported status 77");
}

} // namespace
