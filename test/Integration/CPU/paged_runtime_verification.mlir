// A bad page id, length, position, sequence id or a slot written twice ends the
// program with a message that names the op, the operand, the element, its value
// and what is allowed.

// RUN: rudnn-opt %s -generate-runtime-verification -rudnn-to-cpu -o %t.mlir
// RUN: not --crash mlir-runner -e bad_page -entry-point-result=void -shared-libs=%llvm_libs/libmlir_c_runner_utils.so %t.mlir 2>&1 | FileCheck %s --check-prefix=PAGE
// RUN: not --crash mlir-runner -e bad_length -entry-point-result=void -shared-libs=%llvm_libs/libmlir_c_runner_utils.so %t.mlir 2>&1 | FileCheck %s --check-prefix=LENGTH
// RUN: not --crash mlir-runner -e bad_position -entry-point-result=void -shared-libs=%llvm_libs/libmlir_c_runner_utils.so %t.mlir 2>&1 | FileCheck %s --check-prefix=POSITION
// RUN: not --crash mlir-runner -e bad_sequence -entry-point-result=void -shared-libs=%llvm_libs/libmlir_c_runner_utils.so %t.mlir 2>&1 | FileCheck %s --check-prefix=SEQUENCE
// RUN: not --crash mlir-runner -e append_twice -entry-point-result=void -shared-libs=%llvm_libs/libmlir_c_runner_utils.so %t.mlir 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: not --crash mlir-runner -e append_outside -entry-point-result=void -shared-libs=%llvm_libs/libmlir_c_runner_utils.so %t.mlir 2>&1 | FileCheck %s --check-prefix=OUTSIDE
// RUN: not --crash mlir-runner -e plan_bad_sequence -entry-point-result=void -shared-libs=%llvm_libs/libmlir_c_runner_utils.so %t.mlir 2>&1 | FileCheck %s --check-prefix=PLAN
// RUN: mlir-runner -e good -entry-point-result=void -shared-libs=%llvm_libs/libmlir_c_runner_utils.so %t.mlir 2>&1 | FileCheck %s --check-prefix=GOOD --allow-empty

// PAGE: rudnn.paged.attention: tables{{\[}}0, 1] is 5, expected a page id below 3
// PAGE: ERROR: Runtime op verification failed
// PAGE: rudnn.paged.attention
// PAGE: tables: a page id is not below the number of pages
func.func @bad_page() {
  %t = arith.constant dense<[[0, 5], [1, -1]]> : tensor<2x2xi32>
  %l = arith.constant dense<[3, 2]> : tensor<2xi32>
  %s = arith.constant dense<[0, 1]> : tensor<2xi32>
  %p = arith.constant dense<[2, 1]> : tensor<2xi32>
  call @attention(%t, %l, %s, %p) : (tensor<2x2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> ()
  return
}

// T33: a length beyond the width of its table.
// LENGTH: rudnn.paged.attention: lengths[0] is 5, expected at most 4 (2 pages of 2 tokens)
// LENGTH: rudnn.paged.attention
// LENGTH: lengths: a length needs more pages than its table has
func.func @bad_length() {
  %t = arith.constant dense<[[0, 1], [2, -1]]> : tensor<2x2xi32>
  %l = arith.constant dense<[5, 2]> : tensor<2xi32>
  %s = arith.constant dense<[0, 1]> : tensor<2xi32>
  %p = arith.constant dense<[2, 1]> : tensor<2xi32>
  call @attention(%t, %l, %s, %p) : (tensor<2x2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> ()
  return
}

// T1: more rows than tokens put the first rows before the history.
// POSITION: rudnn.paged.attention: positions[1] is 4294967295, expected a position below 2, the length of sequence 1
// POSITION: rudnn.paged.attention
// POSITION: positions: a position is not below the length of its sequence
func.func @bad_position() {
  %t = arith.constant dense<[[0, 1], [2, -1]]> : tensor<2x2xi32>
  %l = arith.constant dense<[3, 2]> : tensor<2xi32>
  %s = arith.constant dense<[0, 1]> : tensor<2xi32>
  %p = arith.constant dense<[2, -1]> : tensor<2xi32>
  call @attention(%t, %l, %s, %p) : (tensor<2x2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> ()
  return
}

// SEQUENCE: rudnn.paged.attention: sequence_ids[1] is 2, expected an id below 2
// SEQUENCE: rudnn.paged.attention
// SEQUENCE: sequence_ids: an id is not below the number of sequences
func.func @bad_sequence() {
  %t = arith.constant dense<[[0, 1], [2, -1]]> : tensor<2x2xi32>
  %l = arith.constant dense<[3, 2]> : tensor<2xi32>
  %s = arith.constant dense<[0, 2]> : tensor<2xi32>
  %p = arith.constant dense<[2, 1]> : tensor<2xi32>
  call @attention(%t, %l, %s, %p) : (tensor<2x2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> ()
  return
}

// TWICE: rudnn.paged.append: positions[1] is 2, expected a slot of its own, but row 0 writes it
// TWICE: rudnn.paged.append
// TWICE: positions: two rows write the same slot of a page
func.func @append_twice() {
  %t = arith.constant dense<[[0, 1], [2, -1]]> : tensor<2x2xi32>
  %l = arith.constant dense<[3, 2]> : tensor<2xi32>
  %s = arith.constant dense<[0, 0]> : tensor<2xi32>
  %p = arith.constant dense<[2, 2]> : tensor<2xi32>
  call @append(%t, %l, %s, %p) : (tensor<2x2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> ()
  return
}

// An empty history can't be appended to: its length comes first.
// OUTSIDE: rudnn.paged.append: positions[1] is 0, expected a position below 0, the length of sequence 1
// OUTSIDE: rudnn.paged.append
// OUTSIDE: positions: a position is not below the length of its sequence
func.func @append_outside() {
  %t = arith.constant dense<[[0, 1], [2, -1]]> : tensor<2x2xi32>
  %l = arith.constant dense<[3, 0]> : tensor<2xi32>
  %s = arith.constant dense<[0, 1]> : tensor<2xi32>
  %p = arith.constant dense<[2, 0]> : tensor<2xi32>
  call @append(%t, %l, %s, %p) : (tensor<2x2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> ()
  return
}

// Any position will do in an empty history, and entries that no length needs
// may hold anything.
// GOOD-NOT: ERROR
func.func @good() {
  %t = arith.constant dense<[[0, 1], [-1, 9]]> : tensor<2x2xi32>
  %l = arith.constant dense<[4, 0]> : tensor<2xi32>
  %s = arith.constant dense<[0, 1]> : tensor<2xi32>
  %p = arith.constant dense<[2, 17]> : tensor<2xi32>
  call @attention(%t, %l, %s, %p) : (tensor<2x2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> ()
  %s2 = arith.constant dense<[0, 0]> : tensor<2xi32>
  %p2 = arith.constant dense<[3, 2]> : tensor<2xi32>
  call @append(%t, %l, %s2, %p2) : (tensor<2x2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> ()
  return
}

func.func private @attention(%t: tensor<2x2xi32>, %l: tensor<2xi32>, %s: tensor<2xi32>, %p: tensor<2xi32>) {
  %q = arith.constant dense<1.0> : tensor<2x2x4xf32>
  %k = arith.constant dense<1.0> : tensor<3x2x1x4xf32>
  %o = tensor.empty() : tensor<2x2x4xf32>
  %0 = rudnn.paged.attention ins(%q, %k, %k : tensor<2x2x4xf32>, tensor<3x2x1x4xf32>, tensor<3x2x1x4xf32>)
      pages(%t, %l, %s, %p : tensor<2x2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>)
      outs(%o : tensor<2x2x4xf32>) {causal} -> tensor<2x2x4xf32>
  return
}

func.func private @append(%t: tensor<2x2xi32>, %l: tensor<2xi32>, %s: tensor<2xi32>, %p: tensor<2xi32>) {
  %new = arith.constant dense<1.0> : tensor<2x1x4xf32>
  %k = arith.constant dense<0.0> : tensor<3x2x1x4xf32>
  %0:2 = rudnn.paged.append ins(%new, %new : tensor<2x1x4xf32>, tensor<2x1x4xf32>)
      pages(%t, %l, %s, %p : tensor<2x2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>)
      outs(%k, %k : tensor<3x2x1x4xf32>, tensor<3x2x1x4xf32>) -> tensor<3x2x1x4xf32>, tensor<3x2x1x4xf32>
  return
}

// PLAN: rudnn.paged.plan: sequence_ids[2] is 9, expected an id below 2
// PLAN: rudnn.paged.plan
// PLAN: sequence_ids: an id is not below the number of sequences
func.func @plan_bad_sequence() {
  %l = arith.constant dense<[3, 2]> : tensor<2xi32>
  %s = arith.constant dense<[0, 1, 9]> : tensor<3xi32>
  %p = arith.constant dense<[2, 1, 0]> : tensor<3xi32>
  %r = tensor.empty() : tensor<4x5xi32>
  %m = tensor.empty() : tensor<2x3xi32>
  %c = tensor.empty() : tensor<2xi32>
  %0:3 = rudnn.paged.plan ins(%l, %s, %p : tensor<2xi32>, tensor<3xi32>, tensor<3xi32>)
      outs(%r, %m, %c : tensor<4x5xi32>, tensor<2x3xi32>, tensor<2xi32>) {causal} -> tensor<4x5xi32>, tensor<2x3xi32>, tensor<2xi32>
  return
}
