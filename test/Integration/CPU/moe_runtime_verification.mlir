// An index that is out of its range ends the program with a message that names the
// op, the operand, the element, its value and what is allowed.

// RUN: rudnn-opt %s -generate-runtime-verification -rudnn-to-cpu -o %t.mlir
// RUN: not --crash mlir-runner -e bad_id -entry-point-result=void -shared-libs=%llvm_libs/libmlir_c_runner_utils.so %t.mlir 2>&1 | FileCheck %s --check-prefix=ID
// RUN: not --crash mlir-runner -e bad_offsets -entry-point-result=void -shared-libs=%llvm_libs/libmlir_c_runner_utils.so %t.mlir 2>&1 | FileCheck %s --check-prefix=OFFSETS
// RUN: not --crash mlir-runner -e bad_last -entry-point-result=void -shared-libs=%llvm_libs/libmlir_c_runner_utils.so %t.mlir 2>&1 | FileCheck %s --check-prefix=LAST
// RUN: not --crash mlir-runner -e bad_row -entry-point-result=void -shared-libs=%llvm_libs/libmlir_c_runner_utils.so %t.mlir 2>&1 | FileCheck %s --check-prefix=ROW
// RUN: not --crash mlir-runner -e bad_expert -entry-point-result=void -shared-libs=%llvm_libs/libmlir_c_runner_utils.so %t.mlir 2>&1 | FileCheck %s --check-prefix=EXPERT
// RUN: not --crash mlir-runner -e bad_slot -entry-point-result=void -shared-libs=%llvm_libs/libmlir_c_runner_utils.so %t.mlir 2>&1 | FileCheck %s --check-prefix=SLOT
// RUN: not --crash mlir-runner -e bad_extent -entry-point-result=void -shared-libs=%llvm_libs/libmlir_c_runner_utils.so %t.mlir 2>&1 | FileCheck %s --check-prefix=EXTENT
// RUN: mlir-runner -e good -entry-point-result=void -shared-libs=%llvm_libs/libmlir_c_runner_utils.so %t.mlir 2>&1 | FileCheck %s --check-prefix=GOOD --allow-empty

// ID: rudnn.moe.dispatch: ids{{\[}}2, 1] is 9, expected at most 8 or -1 (4294967295) for none
// ID: ERROR: Runtime op verification failed
// ID: rudnn.moe.dispatch
// ID: an expert id in ids is out of range, expected 0 to E-1, or -1 or E for none
func.func @bad_id() {
  %ids = arith.constant dense<[[0, 7], [8, -1], [1, 9]]> : tensor<3x2xi32>
  call @dispatch(%ids) : (tensor<3x2xi32>) -> ()
  return
}

// GOOD-NOT: ERROR
func.func @good() {
  %ids = arith.constant dense<[[0, 7], [8, -1], [1, 2]]> : tensor<3x2xi32>
  call @dispatch(%ids) : (tensor<3x2xi32>) -> ()
  return
}

func.func private @dispatch(%ids: tensor<3x2xi32>) {
  %x = arith.constant dense<1.0> : tensor<3x4xf32>
  %v = tensor.empty() : tensor<6x4xf32>
  %o = tensor.empty() : tensor<9xi32>
  %s = tensor.empty() : tensor<3x2xi32>
  %r = tensor.empty() : tensor<6xi32>
  %values, %offsets, %slot_rows, %row_slots = rudnn.moe.dispatch ins(%x, %ids : tensor<3x4xf32>, tensor<3x2xi32>)
      outs(%v, %o, %s, %r : tensor<6x4xf32>, tensor<9xi32>, tensor<3x2xi32>, tensor<6xi32>)
      -> tensor<6x4xf32>, tensor<9xi32>, tensor<3x2xi32>, tensor<6xi32>
  return
}

// OFFSETS: rudnn.moe.experts: offsets{{\[}}2] is 2, expected at least 4, the offset before it
// OFFSETS: rudnn.moe.experts
// OFFSETS: offsets descend, expected them to ascend
func.func @bad_offsets() {
  %x = arith.constant dense<1.0> : tensor<6x4xf32>
  %o = arith.constant dense<[0, 4, 2, 6]> : tensor<4xi32>
  %g = arith.constant dense<0.5> : tensor<3x7x4xf32>
  %d = arith.constant dense<0.5> : tensor<3x4x7xf32>
  %i = tensor.empty() : tensor<6x4xf32>
  %y = rudnn.moe.experts ins(%x, %o : tensor<6x4xf32>, tensor<4xi32>)
      weights(%g, %g, %d : tensor<3x7x4xf32>, tensor<3x7x4xf32>, tensor<3x4x7xf32>) outs(%i : tensor<6x4xf32>) -> tensor<6x4xf32>
  return
}

// LAST: rudnn.moe.experts: offsets{{\[}}3] is 7, expected at most 6, the number of rows
// LAST: the last of offsets is above the number of rows
func.func @bad_last() {
  %x = arith.constant dense<1.0> : tensor<6x4xf32>
  %o = arith.constant dense<[0, 2, 4, 7]> : tensor<4xi32>
  %g = arith.constant dense<0.5> : tensor<3x7x4xf32>
  %d = arith.constant dense<0.5> : tensor<3x4x7xf32>
  %i = tensor.empty() : tensor<6x4xf32>
  %y = rudnn.moe.experts ins(%x, %o : tensor<6x4xf32>, tensor<4xi32>)
      weights(%g, %g, %d : tensor<3x7x4xf32>, tensor<3x7x4xf32>, tensor<3x4x7xf32>) outs(%i : tensor<6x4xf32>) -> tensor<6x4xf32>
  return
}

// ROW: rudnn.moe.combine: slot_rows{{\[}}1, 0] is 6, expected less than 6 or -1 (4294967295) for none
// ROW: a row in slot_rows is out of range, expected 0 to R-1, or -1 for none
func.func @bad_row() {
  %y = arith.constant dense<1.0> : tensor<6x4xf32>
  %s = arith.constant dense<[[0, -1], [6, 2], [3, 5]]> : tensor<3x2xi32>
  %w = arith.constant dense<0.5> : tensor<3x2xf32>
  %i = tensor.empty() : tensor<3x4xf32>
  %0 = rudnn.moe.combine ins(%y, %s, %w : tensor<6x4xf32>, tensor<3x2xi32>, tensor<3x2xf32>) outs(%i : tensor<3x4xf32>) -> tensor<3x4xf32>
  return
}

// EXPERT: rudnn.moe.router_weights: ids{{\[}}0, 1] is 4294967295, expected less than 8
// EXPERT: an expert id in ids is out of range, expected 0 to E-1
func.func @bad_expert() {
  %l = arith.constant dense<1.0> : tensor<3x8xf32>
  %ids = arith.constant dense<[[0, -1], [6, 2], [3, 5]]> : tensor<3x2xi32>
  %i = tensor.empty() : tensor<3x2xf32>
  %0 = rudnn.moe.router_weights ins(%l, %ids : tensor<3x8xf32>, tensor<3x2xi32>) outs(%i : tensor<3x2xf32>) -> tensor<3x2xf32>
  return
}

// SLOT: rudnn.moe.combine_backward: row_slots{{\[}}2] is 6, expected less than 6 or -1 (4294967295) for none
// SLOT: a slot in row_slots is out of range, expected 0 to T*K-1, or -1 for none
func.func @bad_slot() {
  %g = arith.constant dense<1.0> : tensor<3x4xf32>
  %y = arith.constant dense<1.0> : tensor<4x4xf32>
  %s = arith.constant dense<[[0, -1], [1, -1], [2, 3]]> : tensor<3x2xi32>
  %r = arith.constant dense<[0, 2, 6, -1]> : tensor<4xi32>
  %w = arith.constant dense<0.5> : tensor<3x2xf32>
  %dy = tensor.empty() : tensor<4x4xf32>
  %dw = tensor.empty() : tensor<3x2xf32>
  %0:2 = rudnn.moe.combine_backward ins(%g, %y, %s, %r, %w : tensor<3x4xf32>, tensor<4x4xf32>, tensor<3x2xi32>, tensor<4xi32>, tensor<3x2xf32>)
      outs(%dy, %dw : tensor<4x4xf32>, tensor<3x2xf32>) -> tensor<4x4xf32>, tensor<3x2xf32>
  return
}

// EXTENT: rudnn.moe.combine: weights and slot_rows have different numbers of tokens: the extent is 2, expected 3
func.func @bad_extent() {
  %y = arith.constant dense<1.0> : tensor<6x4xf32>
  %s = arith.constant dense<[[0, -1], [1, 2], [3, 5]]> : tensor<3x2xi32>
  %w = arith.constant dense<0.5> : tensor<2x2xf32>
  %sd = tensor.cast %s : tensor<3x2xi32> to tensor<?x2xi32>
  %wd = tensor.cast %w : tensor<2x2xf32> to tensor<?x2xf32>
  call @combine(%y, %sd, %wd) : (tensor<6x4xf32>, tensor<?x2xi32>, tensor<?x2xf32>) -> ()
  return
}

func.func private @combine(%y: tensor<6x4xf32>, %s: tensor<?x2xi32>, %w: tensor<?x2xf32>) attributes {no_inline} {
  %c0 = arith.constant 0 : index
  %t = tensor.dim %s, %c0 : tensor<?x2xi32>
  %i = tensor.empty(%t) : tensor<?x4xf32>
  %0 = rudnn.moe.combine ins(%y, %s, %w : tensor<6x4xf32>, tensor<?x2xi32>, tensor<?x2xf32>) outs(%i : tensor<?x4xf32>) -> tensor<?x4xf32>
  return
}
