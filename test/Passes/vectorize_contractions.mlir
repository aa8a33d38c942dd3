// RUN: rudnn-opt %s -rudnn-vectorize-contractions=vector-bytes=32 -canonicalize -cse -verify-each | FileCheck %s

// Six rows of two registers over a packed panel; nothing is left for tails.
// CHECK-LABEL: @matmul
// CHECK: %[[PANEL:.*]] = tensor.empty() : tensor<256x16xf32>
// CHECK: scf.for %{{.*}} = %c0 to %c1024 step %c256
// CHECK:   scf.for %{{.*}} = %c0 to %c256{{.*}} step %c16
// CHECK:     scf.for {{.*}} iter_args(%{{.*}} = %[[PANEL]])
// CHECK:       vector.transfer_read %arg1
// CHECK:     scf.for %{{.*}} = %c0 to %c192 step %c6
// CHECK:       scf.for {{.*}} -> (vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>)
// CHECK-COUNT-6: vector.fma
// CHECK-NOT: scf.if
func.func @matmul(%a: tensor<192x1024xf32>, %b: tensor<1024x256xf32>, %c: tensor<192x256xf32>) -> tensor<192x256xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<192x1024xf32>, tensor<1024x256xf32>) outs(%c : tensor<192x256xf32>) -> tensor<192x256xf32>
  return %r : tensor<192x256xf32>
}

// Extents known at run time: rows beyond the last repeat it and are not stored.
// bf16 is converted once, into the panel and into a copy of the left rows.
// CHECK-LABEL: @dynamic
// CHECK: tensor.empty(%{{.*}}) : tensor<?x256xf32>
// CHECK: vector.transfer_read %arg0{{.*}} vector<8xbf16>
// CHECK: arith.extf %{{.*}} : vector<8xbf16> to vector<8xf32>
// CHECK: vector.transfer_read %arg1{{.*}} vector<16xbf16>
// CHECK: arith.minsi
// CHECK-COUNT-6: vector.fma
// CHECK: scf.if
// CHECK: } else {
// CHECK: scf.if
func.func @dynamic(%a: tensor<?x?xbf16>, %b: tensor<?x?xbf16>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<?x?xbf16>, tensor<?x?xbf16>) outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// A transposed right operand is transposed while it is packed, also when an op
// of its own asks for it.
// CHECK-LABEL: @transposed
// CHECK-NOT: linalg.transpose
// CHECK: scf.for %[[B:.*]] = %c0 to %c4
// CHECK: vector.transfer_read %arg1[%[[B]], %{{.*}} vector<8xf32>
// CHECK-COUNT-24: vector.shuffle
// CHECK: vector.fma
func.func @transposed(%a: tensor<4x64x32xf32>, %b: tensor<4x128x32xf32>, %e: tensor<4x32x128xf32>,
                      %c: tensor<4x64x128xf32>) -> tensor<4x64x128xf32> {
  %t = linalg.transpose ins(%b : tensor<4x128x32xf32>) outs(%e : tensor<4x32x128xf32>) permutation = [0, 2, 1]
  %r = linalg.batch_matmul ins(%a, %t : tensor<4x64x32xf32>, tensor<4x32x128xf32>) outs(%c : tensor<4x64x128xf32>) -> tensor<4x64x128xf32>
  return %r : tensor<4x64x128xf32>
}

// A matrix whose rows meet one vector is read once, by another pass.
// CHECK-LABEL: @matvec
// CHECK: linalg.matvec
func.func @matvec(%a: tensor<64x128xf32>, %x: tensor<128xf32>, %y: tensor<64xf32>) -> tensor<64xf32> {
  %r = linalg.matvec ins(%a, %x : tensor<64x128xf32>, tensor<128xf32>) outs(%y : tensor<64xf32>) -> tensor<64xf32>
  return %r : tensor<64xf32>
}
