// RUN: rudnn-opt %s -generate-runtime-verification | FileCheck %s

// Extents that the verifier can't compare are compared at run time, each dynamic one once.
// CHECK-LABEL: @rms_norm
// CHECK-SAME: %[[X:arg[0-9]+]]: tensor<?x8xf32>, %[[G:arg[0-9]+]]: tensor<?xf32>, %[[I:arg[0-9]+]]: tensor<?x8xf32>
// CHECK-DAG: %[[HERE:.*]] = tensor.dim %[[G]], %{{.*}} : tensor<?xf32>
// CHECK-DAG: %[[H:.*]] = tensor.dim %[[X]], %{{.*}} : tensor<?x8xf32>
// CHECK: %[[SAME:.*]] = arith.cmpi eq, %[[HERE]], %[[H]]
// CHECK: scf.if
// CHECK: vector.print str "rudnn.rms_norm: "
// CHECK: vector.print str "gamma[dim 0] is "
// CHECK: vector.print %[[HERE]] : index punctuation <no_punctuation>
// CHECK: vector.print str ", the extent of x[dim 1]"
// CHECK: cf.assert %[[SAME]], {{.*}}the extents of gamma[dim 0] and x[dim 1] differ
// CHECK: cf.assert {{.*}}the extents of outs[0][dim 0] and x[dim 0] differ
// CHECK-NOT: cf.assert
// CHECK: rudnn.rms_norm
func.func @rms_norm(%x: tensor<?x8xf32>, %g: tensor<?xf32>, %i: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %y = rudnn.rms_norm ins(%x, %g : tensor<?x8xf32>, tensor<?xf32>) outs(%i : tensor<?x8xf32>) -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

// Static shapes need no code; a static 1 of a mask is broadcast.
// CHECK-LABEL: @static
// CHECK-NOT: cf.assert
// CHECK: return
func.func @static(%q: tensor<2x4x3x8xf32>, %m: tensor<2x1x1x3xi1>) -> tensor<2x4x3x8xf32> {
  %y = rudnn.attention ins(%q, %q, %q : tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32>)
      mask(%m : tensor<2x1x1x3xi1>) outs(%q : tensor<2x4x3x8xf32>) -> tensor<2x4x3x8xf32>
  return %y : tensor<2x4x3x8xf32>
}

// The extents of a convolution follow from its geometry; also on memrefs.
// CHECK-LABEL: @conv
// CHECK: cf.assert {{.*}}the kernel is larger than the padded input
// CHECK: arith.divui
// CHECK: cf.assert {{.*}}an extent of the output does not follow from the input
// CHECK: rudnn.conv
func.func @conv(%x: memref<2x3x?xf32>, %w: memref<4x3x3xf32>, %y: memref<2x4x?xf32>) {
  rudnn.conv ins(%x, %w : memref<2x3x?xf32>, memref<4x3x3xf32>) outs(%y : memref<2x4x?xf32>) {stride = array<i64: 2>}
  return
}

// Ops with index operands check extents before they read.
// CHECK-LABEL: @paged
// CHECK: cf.assert {{.*}}the extents of v[dim 0] and k[dim 0] differ
// CHECK: cf.assert {{.*}}the extents of lengths[dim 0] and tables[dim 0] differ
// CHECK: cf.assert {{.*}}lengths: a length needs more pages than its table has
func.func @paged(%q: tensor<3x4x8xf32>, %k: tensor<?x4x2x8xf32>, %t: tensor<?x2xi32>, %l: tensor<?xi32>, %r: tensor<3xi32>)
    -> tensor<3x4x8xf32> {
  %y = rudnn.paged.attention ins(%q, %k, %k : tensor<3x4x8xf32>, tensor<?x4x2x8xf32>, tensor<?x4x2x8xf32>)
      pages(%t, %l, %r, %r : tensor<?x2xi32>, tensor<?xi32>, tensor<3xi32>, tensor<3xi32>) outs(%q : tensor<3x4x8xf32>)
      -> tensor<3x4x8xf32>
  return %y : tensor<3x4x8xf32>
}
