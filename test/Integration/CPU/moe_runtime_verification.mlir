// An expert id that is neither an expert nor a mark of none ends the program with
// a message that names the op and the operand.

// RUN: rudnn-opt %s -generate-runtime-verification -rudnn-to-cpu -o %t.mlir
// RUN: not --crash mlir-runner -e bad_id -entry-point-result=void -shared-libs=%llvm_libs/libmlir_c_runner_utils.so %t.mlir 2>&1 | FileCheck %s --check-prefix=ID
// RUN: not --crash mlir-runner -e bad_offsets -entry-point-result=void -shared-libs=%llvm_libs/libmlir_c_runner_utils.so %t.mlir 2>&1 | FileCheck %s --check-prefix=OFFSETS
// RUN: mlir-runner -e good -entry-point-result=void -shared-libs=%llvm_libs/libmlir_c_runner_utils.so %t.mlir 2>&1 | FileCheck %s --check-prefix=GOOD --allow-empty

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
