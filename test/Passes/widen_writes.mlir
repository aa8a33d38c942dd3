// RUN: rudnn-opt %s -rudnn-widen-writes -verify-each | FileCheck %s
// RUN: rudnn-opt %s -rudnn-widen-writes -one-shot-bufferize=bufferize-function-boundaries | FileCheck %s --check-prefix=BUFFER

// The other rows of %t must be kept: the result is not the whole vector.
// CHECK-LABEL: @row
// CHECK: %[[WIDE:.*]] = vector.broadcast %{{.*}} : vector<8xf32> to vector<1x8xf32>
// CHECK: vector.transfer_write %[[WIDE]], %{{.*}}[%c0, %c0] {in_bounds = [true, false]} : vector<1x8xf32>, tensor<4x5xf32>
// BUFFER-LABEL: @row
// BUFFER: memref.copy
// BUFFER: vector.transfer_write
func.func @row(%t: tensor<4x5xf32> {bufferization.writable = false}, %v: vector<8xf32>) -> tensor<4x5xf32> {
  %c0 = arith.constant 0 : index
  %r = vector.transfer_write %v, %t[%c0, %c0] : vector<8xf32>, tensor<4x5xf32>
  return %r : tensor<4x5xf32>
}

// CHECK-LABEL: @whole
// CHECK-NOT: vector.broadcast
func.func @whole(%t: tensor<5xf32>, %v: vector<8xf32>) -> tensor<5xf32> {
  %c0 = arith.constant 0 : index
  %r = vector.transfer_write %v, %t[%c0] : vector<8xf32>, tensor<5xf32>
  return %r : tensor<5xf32>
}
