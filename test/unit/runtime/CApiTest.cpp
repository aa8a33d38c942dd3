//===- CApiTest.cpp - The C header -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rudnn-c/Runtime.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

namespace {

class CApi : public testing::Test {
protected:
  void SetUp() override { ASSERT_EQ(rudnnDeviceCreateHost(&device), RUDNN_OK); }
  void TearDown() override {
    rudnnDevicePlanDestroy(plan);
    rudnnHostPlanDestroy(host);
    rudnnDeviceDestroy(device);
  }
  RudnnStatusCode create(uint32_t page = 0) {
    const uint32_t table0[] = {3, page}, table1[] = {5};
    const uint32_t *tables[] = {table0, table1};
    const uint64_t sizes[] = {2, 1};
    const uint32_t lengths[] = {7, 2}, ids[] = {0, 0, 1},
                   positions[] = {5, 6, 1};
    rudnnHostPlanDestroy(host);
    host = nullptr;
    return rudnnHostPlanCreate(4, 6, tables, sizes, lengths, 2, ids, positions,
                               3, &host);
  }
  void upload() {
    ASSERT_EQ(create(), RUDNN_OK) << rudnnLastError();
    ASSERT_EQ(rudnnDevicePlanUpload(host, device, nullptr, &plan), RUDNN_OK);
  }
  RudnnDevice *device = nullptr;
  RudnnHostPlan *host = nullptr;
  RudnnDevicePlan *plan = nullptr;
};

TEST_F(CApi, Plans) {
  ASSERT_EQ(create(), RUDNN_OK) << rudnnLastError();
  EXPECT_EQ(rudnnHostPlanValidateWrites(host), RUDNN_OK);
  const uint32_t words[] = {0, 0, 1, 5, 6, 1, 7, 2, 3, 0, 5, 0xFFFFFFFFu};
  RudnnHostPlan *packed = nullptr;
  ASSERT_EQ(rudnnHostPlanCreatePacked(4, 6, 2, 3, 2, words, 12, &packed),
            RUDNN_OK);
  EXPECT_TRUE(rudnnHostPlanEqual(host, packed));
  EXPECT_EQ(rudnnHostPlanFingerprint(host), rudnnHostPlanFingerprint(packed));
  rudnnHostPlanDestroy(packed);
  EXPECT_EQ(rudnnHostPlanCreatePacked(4, 6, 2, 3, 2, words, 11, &packed),
            RUDNN_PLAN_WORD_COUNT);
  EXPECT_EQ(create(6), RUDNN_PLAN_PAGE_RANGE);
  EXPECT_STREQ(rudnnLastError(),
               "sequence 0: table entry 1 is page 6; it must be below 6");
}

TEST_F(CApi, NullParametersAreNamed) {
  EXPECT_EQ(rudnnHostPlanCreate(4, 6, nullptr, nullptr, nullptr, 1, nullptr,
                                nullptr, 0, &host),
            RUDNN_INVALID_ARGUMENT);
  EXPECT_STREQ(rudnnLastError(), "rudnnHostPlanCreate: tables is null");
  EXPECT_EQ(rudnnDevicePlanAdvance(nullptr, 1), RUDNN_INVALID_ARGUMENT);
  EXPECT_STREQ(rudnnLastError(), "rudnnDevicePlanAdvance: plan is null");
  EXPECT_EQ(rudnnModuleLoad(nullptr, nullptr), RUDNN_INVALID_ARGUMENT);
  EXPECT_STREQ(rudnnLastError(), "rudnnModuleLoad: path is null");
  // Nothing to give back.
  rudnnHostPlanDestroy(nullptr);
  rudnnTensorDestroy(nullptr);
  rudnnModuleDestroy(nullptr);
}

TEST_F(CApi, PlanTensorsFollowAdvance) {
  upload();
  RudnnPlanTensors tensors;
  ASSERT_EQ(rudnnDevicePlanTensors(plan, &tensors), RUDNN_OK);
  EXPECT_EQ(tensors.tables.ndim, 2);
  EXPECT_EQ(tensors.tables.shape[0], 2);
  EXPECT_EQ(tensors.tables.shape[1], 2);
  EXPECT_EQ(static_cast<uint32_t *>(tensors.tables.data)[2], 5u);
  EXPECT_EQ(static_cast<uint32_t *>(tensors.sequence_ids.data)[2], 1u);
  EXPECT_EQ(static_cast<uint32_t *>(tensors.positions.data)[1], 6u);
  EXPECT_EQ(static_cast<uint32_t *>(tensors.lengths.data)[0], 7u);
  ASSERT_EQ(rudnnDevicePlanAdvance(plan, 1), RUDNN_OK) << rudnnLastError();
  EXPECT_EQ(static_cast<uint32_t *>(tensors.positions.data)[1], 7u);
  EXPECT_EQ(static_cast<uint32_t *>(tensors.lengths.data)[0], 8u);
  EXPECT_EQ(rudnnDevicePlanAdvance(plan, 1), RUDNN_ADVANCE_CAPACITY);
}

TEST_F(CApi, WorkListAndWorkspaces) {
  upload();
  RudnnWorkListOptions options = {3, 4, 1, 0, true};
  RudnnWorkList *list = nullptr;
  ASSERT_EQ(rudnnWorkListBuild(plan, &options, &list), RUDNN_OK);
  const uint32_t *words;
  uint64_t count, merges;
  uint32_t slots;
  ASSERT_EQ(rudnnWorkListGet(list, &words, &count, &merges, &slots), RUDNN_OK);
  EXPECT_EQ(count, 15 + 3 * merges);
  rudnnWorkListDestroy(list);
  options.parts = 0;
  EXPECT_EQ(rudnnWorkListBuild(plan, &options, &list), RUDNN_WORK_PARTS);

  uint64_t bytes = 0;
  EXPECT_EQ(rudnnSplitWorkspaceBytes(4, 32, 128, 32, &bytes), RUDNN_OK);
  EXPECT_EQ(bytes, 2129920u);
  RudnnSplitWorkspace *split = nullptr;
  ASSERT_EQ(rudnnSplitWorkspaceCreate(device, nullptr, 3, 4, 8, 2, &split),
            RUDNN_OK);
  EXPECT_NE(rudnnSplitWorkspaceData(split), nullptr);
  EXPECT_EQ(rudnnSplitWorkspaceMatches(split, device, nullptr, 3, 4, 8, 2),
            RUDNN_OK);
  EXPECT_EQ(rudnnSplitWorkspaceMatches(split, device, nullptr, 3, 4, 8, 3),
            RUDNN_SPLIT_MISMATCH);
  rudnnSplitWorkspaceDestroy(split);

  const int64_t q[] = {3, 4, 8};
  RudnnOrderedWorkspace *ordered = nullptr;
  ASSERT_EQ(rudnnOrderedWorkspaceCreate(plan, device, nullptr, q, 3, &ordered),
            RUDNN_OK);
  uint64_t before = rudnnOrderedWorkspaceBytes(ordered);
  EXPECT_EQ(rudnnOrderedWorkspaceSetCompaction(ordered, true), RUDNN_OK);
  EXPECT_EQ(rudnnOrderedWorkspaceBytes(ordered), before + 4 * 6);
  EXPECT_EQ(rudnnOrderedWorkspaceMatches(ordered, plan, device, nullptr, q, 3),
            RUDNN_OK);
  EXPECT_EQ(rudnnOrderedWorkspaceMatches(ordered, plan, device, nullptr, q, 2),
            RUDNN_ORDERED_MISMATCH);
  rudnnOrderedWorkspaceDestroy(ordered);
}

TEST_F(CApi, AppendReportsCopies) {
  upload();
  const int64_t rows[] = {3, 1, 2}, cache[] = {6, 4, 1, 2};
  RudnnTensor *newK, *newV, *k, *v, *snapshot;
  for (auto [tensor, shape, rank] : {std::tuple(&newK, rows, 3),
                                     {&newV, rows, 3},
                                     {&k, cache, 4},
                                     {&v, cache, 4}})
    ASSERT_EQ(rudnnTensorCreate(device, RUDNN_F32, shape, rank, tensor),
              RUDNN_OK);
  ASSERT_EQ(rudnnTensorShare(v, &snapshot), RUDNN_OK);
  DLTensor view;
  ASSERT_EQ(rudnnTensorView(newV, &view), RUDNN_OK);
  static_cast<float *>(view.data)[0] = 9;
  RudnnAppendReport report;
  ASSERT_EQ(rudnnAppend(plan, newK, newV, k, v, &report), RUDNN_OK)
      << rudnnLastError();
  EXPECT_FALSE(report.key_copied);
  EXPECT_TRUE(report.value_copied);
  EXPECT_EQ(report.copied_bytes, 192u);
  // Row 0 stands at position 5 of sequence 0: page 0, slot 1.
  rudnnTensorView(v, &view);
  EXPECT_EQ(static_cast<float *>(view.data)[2], 9);
  rudnnTensorView(snapshot, &view);
  EXPECT_EQ(static_cast<float *>(view.data)[2], 0);
  EXPECT_EQ(rudnnAppend(plan, newK, newV, k, k, nullptr),
            RUDNN_INVALID_ARGUMENT);
  for (RudnnTensor *tensor : {newK, newV, k, v, snapshot})
    rudnnTensorDestroy(tensor);
}

TEST_F(CApi, Modules) {
  RudnnModule *module = nullptr;
  ASSERT_EQ(rudnnModuleLoad(RUDNN_TEST_ARTIFACTS "/artifact.so", &module),
            RUDNN_OK)
      << rudnnLastError();
  const RudnnModuleInfo *info = rudnnModuleInfo(module);
  EXPECT_STREQ(info->target, "cpu");
  EXPECT_EQ(info->num_functions, 1);
  uint64_t bytes = 0;
  EXPECT_EQ(rudnnModuleWorkspaceBytes(module, "other", nullptr, 0, &bytes),
            RUDNN_MODULE_NO_FUNCTION);
  EXPECT_STREQ(rudnnLastError(), "the module has no function other");
  int64_t shape[] = {2, 4}, length[] = {2};
  float x[8] = {1, 2, 3, 4, 5, 6, 7, 8}, y[8], scale = 3;
  int32_t count[2];
  alignas(256) char workspace[256];
  DLDevice cpu = {kDLCPU, 0};
  DLTensor tx = {x, cpu, 2, {kDLFloat, 32, 1}, shape, nullptr, 0}, ty = tx;
  ty.data = y;
  DLTensor ts = {&scale, cpu, 0, {kDLFloat, 32, 1}, nullptr, nullptr, 0};
  DLTensor tc = {count, cpu, 1, {kDLInt, 32, 1}, length, nullptr, 0};
  const DLTensor *args[] = {&tx, &ts}, *results[] = {&ty, &tc};
  ASSERT_EQ(rudnnModuleWorkspaceBytes(module, "scale", args, 2, &bytes),
            RUDNN_OK);
  EXPECT_EQ(bytes, 32u);
  int64_t extents[3];
  ASSERT_EQ(rudnnModuleResultShapes(module, "scale", args, 2, extents, 3),
            RUDNN_OK);
  EXPECT_EQ(extents[2], 2);
  EXPECT_EQ(rudnnModuleResultShapes(module, "scale", args, 2, extents, 2),
            RUDNN_INVALID_ARGUMENT);
  ASSERT_EQ(rudnnModuleRun(module, "scale", args, 2, results, 2, workspace, 256,
                           nullptr),
            RUDNN_OK)
      << rudnnLastError();
  EXPECT_EQ(y[7], 24);
  EXPECT_EQ(rudnnModuleRun(module, "scale", args, 2, results, 2, workspace, 16,
                           nullptr),
            RUDNN_CALL_WORKSPACE);
  rudnnModuleDestroy(module);
}

} // namespace
