// RUN: rudnn-opt %s -rudnn-to-cpu -verify-each -o /dev/null
// RUN: rudnn-opt %s -rudnn-decompose -canonicalize -verify-each | FileCheck %s

// Static extents of 0 go through the pipeline with the verifier on: no slices of
// such dims are made. Without tokens the final state is the initial one.
// CHECK-LABEL: func.func @f
// CHECK-NOT: rudnn.
// CHECK-LABEL: func.func @g
// CHECK-SAME: %[[S:arg[0-9]+]]: tensor<1x2x3x5xf32>, %{{.*}}: tensor<1x2x3x5xf32>) ->
// CHECK-NOT: scf.
// CHECK: linalg.copy ins(%[[S]] : tensor<1x2x3x5xf32>)
// CHECK-LABEL: func.func @h
// CHECK-SAME: %[[S:arg[0-9]+]]: tensor<1x2x3x5xf32>, %{{.*}}: tensor<1x2x3x5xf32>) ->
// CHECK-NOT: scf.
// CHECK: linalg.copy ins(%[[S]] : tensor<1x2x3x5xf32>)
func.func @f(%q: tensor<2x4x3x16xf32>, %k: tensor<2x2x0x16xf32>, %s: tensor<4xf32>, %i: tensor<2x4x3x16xf32>) -> tensor<2x4x3x16xf32> {
  %r = rudnn.attention ins(%q, %k, %k : tensor<2x4x3x16xf32>, tensor<2x2x0x16xf32>, tensor<2x2x0x16xf32>) sinks(%s : tensor<4xf32>)
      outs(%i : tensor<2x4x3x16xf32>) -> tensor<2x4x3x16xf32>
  return %r : tensor<2x4x3x16xf32>
}
func.func @g(%q: tensor<1x2x0x3xf16>, %v: tensor<1x2x0x5xf16>, %b: tensor<1x2x0xf16>, %g: tensor<1x2x0xf32>, %s: tensor<1x2x3x5xf32>, %t: tensor<1x2x3x5xf32>) -> (tensor<1x2x0x5xf16>, tensor<1x2x3x5xf32>) {
  %o, %f = rudnn.chunk_gated_delta_rule ins(%q, %q, %v, %b, %g, %s : tensor<1x2x0x3xf16>, tensor<1x2x0x3xf16>, tensor<1x2x0x5xf16>, tensor<1x2x0xf16>, tensor<1x2x0xf32>, tensor<1x2x3x5xf32>)
      outs(%v, %t : tensor<1x2x0x5xf16>, tensor<1x2x3x5xf32>) {chunk_size = 64 : i64} -> tensor<1x2x0x5xf16>, tensor<1x2x3x5xf32>
  return %o, %f : tensor<1x2x0x5xf16>, tensor<1x2x3x5xf32>
}
func.func @h(%q: tensor<1x2x0x3xf16>, %v: tensor<1x2x0x5xf16>, %b: tensor<1x2x0xf16>, %g: tensor<1x2x0xf32>, %s: tensor<1x2x3x5xf32>, %t: tensor<1x2x3x5xf32>) -> (tensor<1x2x0x5xf16>, tensor<1x2x3x5xf32>) {
  %o, %f = rudnn.gated_delta_rule ins(%q, %q, %v, %b, %g, %s : tensor<1x2x0x3xf16>, tensor<1x2x0x3xf16>, tensor<1x2x0x5xf16>, tensor<1x2x0xf16>, tensor<1x2x0xf32>, tensor<1x2x3x5xf32>)
      outs(%v, %t : tensor<1x2x0x5xf16>, tensor<1x2x3x5xf32>) -> tensor<1x2x0x5xf16>, tensor<1x2x3x5xf32>
  return %o, %f : tensor<1x2x0x5xf16>, tensor<1x2x3x5xf32>
}
