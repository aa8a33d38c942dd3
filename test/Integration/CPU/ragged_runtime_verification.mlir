// Offsets that break the rules end the program with a message that names the op, the operand,
// the element, its value and what is allowed.

// RUN: rudnn-opt %s -generate-runtime-verification -rudnn-to-cpu -o %t.mlir
// RUN: not --crash mlir-runner -e first -entry-point-result=void -shared-libs=%llvm_libs/libmlir_c_runner_utils.so %t.mlir 2>&1 | FileCheck %s --check-prefix=FIRST
// RUN: not --crash mlir-runner -e descend -entry-point-result=void -shared-libs=%llvm_libs/libmlir_c_runner_utils.so %t.mlir 2>&1 | FileCheck %s --check-prefix=DESCEND
// RUN: not --crash mlir-runner -e last -entry-point-result=void -shared-libs=%llvm_libs/libmlir_c_runner_utils.so %t.mlir 2>&1 | FileCheck %s --check-prefix=LAST
// RUN: not --crash mlir-runner -e different -entry-point-result=void -shared-libs=%llvm_libs/libmlir_c_runner_utils.so %t.mlir 2>&1 | FileCheck %s --check-prefix=DIFFERENT
// RUN: not --crash mlir-runner -e empty -entry-point-result=void -shared-libs=%llvm_libs/libmlir_c_runner_utils.so %t.mlir 2>&1 | FileCheck %s --check-prefix=EMPTY
// RUN: not --crash mlir-runner -e backward -entry-point-result=void -shared-libs=%llvm_libs/libmlir_c_runner_utils.so %t.mlir 2>&1 | FileCheck %s --check-prefix=BACKWARD
// RUN: mlir-runner -e good -entry-point-result=void -shared-libs=%llvm_libs/libmlir_c_runner_utils.so %t.mlir 2>&1 | FileCheck %s --check-prefix=GOOD --allow-empty

func.func private @attend(%a: tensor<?xi32>, %b: tensor<?xi32>) {
  %x = arith.constant dense<1.0> : tensor<6x2x4xf32>
  %i = tensor.empty() : tensor<6x2x4xf32>
  %o = rudnn.ragged_attention ins(%x, %x, %x : tensor<6x2x4xf32>, tensor<6x2x4xf32>, tensor<6x2x4xf32>)
      offsets(%a, %b : tensor<?xi32>, tensor<?xi32>) outs(%i : tensor<6x2x4xf32>) -> tensor<6x2x4xf32>
  return
}

// FIRST: rudnn.ragged_attention: query_offsets{{\[}}0] is 1, expected 0
// FIRST: ERROR: Runtime op verification failed
// FIRST: query_offsets[0] is not 0
func.func @first() {
  %a = arith.constant dense<[1, 4, 6]> : tensor<3xi32>
  %c = tensor.cast %a : tensor<3xi32> to tensor<?xi32>
  call @attend(%c, %c) : (tensor<?xi32>, tensor<?xi32>) -> ()
  return
}

// DESCEND: rudnn.ragged_attention: key_offsets{{\[}}2] is 3, expected at least 4, the offset before it
// DESCEND: key_offsets descend, expected them to ascend
func.func @descend() {
  %a = arith.constant dense<[0, 4, 6]> : tensor<3xi32>
  %b = arith.constant dense<[0, 4, 3]> : tensor<3xi32>
  %c = tensor.cast %a : tensor<3xi32> to tensor<?xi32>
  %d = tensor.cast %b : tensor<3xi32> to tensor<?xi32>
  call @attend(%c, %d) : (tensor<?xi32>, tensor<?xi32>) -> ()
  return
}

// LAST: rudnn.ragged_attention: query_offsets{{\[}}2] is 7, expected at most 6, the number of rows
// LAST: the last of query_offsets is above the number of rows
func.func @last() {
  %a = arith.constant dense<[0, 4, 7]> : tensor<3xi32>
  %c = tensor.cast %a : tensor<3xi32> to tensor<?xi32>
  call @attend(%c, %c) : (tensor<?xi32>, tensor<?xi32>) -> ()
  return
}

// DIFFERENT: rudnn.ragged_attention: query_offsets has 3 elements and key_offsets 2, expected as many
// DIFFERENT: query_offsets and key_offsets have different extents
func.func @different() {
  %a = arith.constant dense<[0, 4, 6]> : tensor<3xi32>
  %b = arith.constant dense<[0, 4]> : tensor<2xi32>
  %c = tensor.cast %a : tensor<3xi32> to tensor<?xi32>
  %d = tensor.cast %b : tensor<2xi32> to tensor<?xi32>
  call @attend(%c, %d) : (tensor<?xi32>, tensor<?xi32>) -> ()
  return
}

// EMPTY: rudnn.ragged_attention: query_offsets has no element, expected at least one
// EMPTY: query_offsets has no element
func.func @empty() {
  %a = arith.constant dense<[]> : tensor<0xi32>
  %c = tensor.cast %a : tensor<0xi32> to tensor<?xi32>
  call @attend(%c, %c) : (tensor<?xi32>, tensor<?xi32>) -> ()
  return
}

// BACKWARD: rudnn.ragged_attention_backward: key_offsets{{\[}}1] is 9, expected at most 6, the number of rows
func.func @backward() {
  %x = arith.constant dense<1.0> : tensor<6x2x4xf32>
  %l = arith.constant dense<1.0> : tensor<2x6xf32>
  %i = tensor.empty() : tensor<6x2x4xf32>
  %a = arith.constant dense<[0, 6]> : tensor<2xi32>
  %b = arith.constant dense<[0, 9]> : tensor<2xi32>
  %r:3 = rudnn.ragged_attention_backward ins(%x, %x, %x, %x, %x, %l : tensor<6x2x4xf32>, tensor<6x2x4xf32>, tensor<6x2x4xf32>,
          tensor<6x2x4xf32>, tensor<6x2x4xf32>, tensor<2x6xf32>) offsets(%a, %b : tensor<2xi32>, tensor<2xi32>)
      outs(%i, %i, %i : tensor<6x2x4xf32>, tensor<6x2x4xf32>, tensor<6x2x4xf32>)
      -> tensor<6x2x4xf32>, tensor<6x2x4xf32>, tensor<6x2x4xf32>
  return
}

// GOOD-NOT: ERROR
func.func @good() {
  %a = arith.constant dense<[0, 4, 4, 5]> : tensor<4xi32>
  %b = arith.constant dense<[0, 0, 6, 6]> : tensor<4xi32>
  %c = tensor.cast %a : tensor<4xi32> to tensor<?xi32>
  %d = tensor.cast %b : tensor<4xi32> to tensor<?xi32>
  call @attend(%c, %d) : (tensor<?xi32>, tensor<?xi32>) -> ()
  return
}
