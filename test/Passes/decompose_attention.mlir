// RUN: rudnn-opt %s -rudnn-decompose -canonicalize -cse -verify-each -split-input-file | FileCheck %s

// A tile of 64 rows over 512 keys is one loop over blocks of 128 keys, all of
// static size, up to the last block that the last row sees. Between the two
// products stand a maximum, an exponential and a sum, and the state is rescaled.
// CHECK-DAG: #[[SEEN:.*]] = affine_map<()[s0] -> (512, ((s0 + 64) ceildiv 128) * 128)>
// CHECK-LABEL: @causal_tile
// CHECK-SAME: %[[K:[a-z0-9]+]]: tensor<1x1x512x64xf32>, %[[V:[a-z0-9]+]]: tensor<1x1x512x64xf32>, %[[OFF:[a-z0-9]+]]: index
// CHECK: %[[END:.*]] = affine.min #[[SEEN]]()[%[[OFF]]]
// CHECK: scf.for %[[J:.*]] = %c0 to %[[END]] step %c128
// CHECK: %[[KB:.*]] = tensor.extract_slice %[[K]][0, 0, %[[J]], 0] [1, 1, 128, 64]
// CHECK: %[[KT:.*]] = linalg.transpose ins(%[[KB]] : tensor<1x1x128x64xf32>)
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %[[KT]] : tensor<1x1x64x64xf32>, tensor<1x1x64x128xf32>)
// CHECK: %[[RIGHT:.*]] = affine.apply {{.*}}[%[[OFF]], %[[J]]]
// CHECK: linalg.generic
// CHECK: arith.mulf %{{.*}}, %cst{{.*}} : f32
// CHECK: %[[DIST:.*]] = arith.subi
// CHECK: %[[EXCLUDED:.*]] = arith.cmpi sgt, %[[DIST]], %[[RIGHT]] : index
// CHECK: arith.select %[[EXCLUDED]]
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "parallel", "reduction"]
// CHECK: arith.maximumf
// CHECK: math.exp
// CHECK: math.exp
// CHECK: arith.addf
// CHECK: %[[VB:.*]] = tensor.extract_slice %[[V]][0, 0, %[[J]], 0] [1, 1, 128, 64]
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %[[VB]] : tensor<1x1x64x128xf32>, tensor<1x1x128x64xf32>)
// CHECK: scf.yield
// CHECK-NOT: scf.for
// CHECK: arith.divf
// CHECK-NOT: rudnn.
func.func @causal_tile(%q: tensor<1x1x64x64xf32>, %k: tensor<1x1x512x64xf32>, %v: tensor<1x1x512x64xf32>,
    %off: index, %i: tensor<1x1x64x64xf32>) -> tensor<1x1x64x64xf32> {
  %o = rudnn.attention ins(%q, %k, %v : tensor<1x1x64x64xf32>, tensor<1x1x512x64xf32>, tensor<1x1x512x64xf32>)
      query_offset(%off) outs(%i : tensor<1x1x64x64xf32>) {causal = #rudnn.causal<bottom_right>}
      -> tensor<1x1x64x64xf32>
  return %o : tensor<1x1x64x64xf32>
}

// -----

// A varying number of keys: the last block is the remainder. One row is a dot
// product per key, without a transposed copy. f16 is widened once per block.
// CHECK-LABEL: @decode
// CHECK: scf.for
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<?x4x128x64xf16>) outs(%{{.*}} : tensor<?x4x128x64xf32>)
// CHECK-NOT: linalg.transpose
// CHECK: scf.for
// CHECK: tensor.extract_slice {{.*}} : tensor<?x4x?x64xf16> to tensor<?x4x?x64xf16>
// CHECK: math.log
// CHECK: arith.mulf %{{.*}}, %cst{{.*}} : f32
// CHECK: return
func.func @decode(%q: tensor<?x4x1x64xf16>, %k: tensor<?x4x?x64xf16>, %v: tensor<?x4x?x64xf16>,
    %i: tensor<?x4x1x64xf16>, %l: tensor<?x4x1xf32>) -> (tensor<?x4x1x64xf16>, tensor<?x4x1xf32>) {
  %o:2 = rudnn.attention ins(%q, %k, %v : tensor<?x4x1x64xf16>, tensor<?x4x?x64xf16>, tensor<?x4x?x64xf16>)
      outs(%i, %l : tensor<?x4x1x64xf16>, tensor<?x4x1xf32>) {lse_base = #rudnn.log_base<two>}
      -> tensor<?x4x1x64xf16>, tensor<?x4x1xf32>
  return %o#0, %o#1 : tensor<?x4x1x64xf16>, tensor<?x4x1xf32>
}

// -----

// Three query heads share a key/value head; the mask is one row of keys per
// batch, the bias one matrix per query head; the sinks start the sum.
// CHECK-DAG: #[[MASK:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d4)>
// CHECK-DAG: #[[BIAS:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d1, d2, d3, d4)>
// CHECK-LABEL: @options
// CHECK: tensor.expand_shape %{{.*}} {{\[\[}}0], [1, 2], [3], [4]{{\]}} output_shape [2, 2, 3, 8, 16]
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<2x3xf32>)
// CHECK: arith.maximumf
// CHECK: math.exp
// CHECK: linalg.generic {indexing_maps = [#[[MASK]], #[[BIAS]], #{{.*}}]{{.*}} ins({{.*}} : tensor<2x9xi1>, tensor<2x3x8x9xf32>)
// CHECK: arith.divf %{{.*}}, %[[CAP:.*]] : f32
// CHECK: math.tanh
// CHECK: arith.mulf %{{.*}}, %[[CAP]] : f32
// CHECK: arith.addf
// CHECK: tensor.collapse_shape
func.func @options(%q: tensor<2x6x8x16xf32>, %k: tensor<2x2x9x16xf32>, %m: tensor<2x1x1x9xi1>,
    %b: tensor<1x6x8x9xf32>, %s: tensor<6xf32>, %i: tensor<2x6x8x16xf32>) -> tensor<2x6x8x16xf32> {
  %o = rudnn.attention ins(%q, %k, %k : tensor<2x6x8x16xf32>, tensor<2x2x9x16xf32>, tensor<2x2x9x16xf32>)
      mask(%m : tensor<2x1x1x9xi1>) bias(%b : tensor<1x6x8x9xf32>) sinks(%s : tensor<6xf32>)
      outs(%i : tensor<2x6x8x16xf32>) {softcap = 30.0 : f64} -> tensor<2x6x8x16xf32>
  return %o : tensor<2x6x8x16xf32>
}

// -----

// One loop over the keys: probabilities of the block again, five products, the
// gradients of keys and values stored as they are finished.
// CHECK-LABEL: @backward
// CHECK: arith.cmpf oeq
// CHECK: scf.for {{.*}} iter_args(%{{.*}}, %[[DK:[a-z0-9]+]] = %{{.*}}, %[[DV:[a-z0-9]+]] = %{{.*}})
// CHECK: math.exp
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<1x1x128x64xf32>)
// CHECK: arith.truncf
// CHECK: tensor.insert_slice %{{.*}} into %[[DK]][0, 0, %{{.*}}, 0] [1, 1, 128, 64]
// CHECK: arith.truncf
// CHECK: tensor.insert_slice %{{.*}} into %[[DV]][0, 0, %{{.*}}, 0] [1, 1, 128, 64]
// CHECK-NOT: rudnn.
func.func @backward(%q: tensor<1x2x64x64xf16>, %k: tensor<1x1x256x64xf16>, %l: tensor<1x2x64xf32>)
    -> (tensor<1x2x64x64xf16>, tensor<1x1x256x64xf16>, tensor<1x1x256x64xf16>) {
  %r:3 = rudnn.attention_backward
      ins(%q, %k, %k, %q, %q, %l : tensor<1x2x64x64xf16>, tensor<1x1x256x64xf16>, tensor<1x1x256x64xf16>,
          tensor<1x2x64x64xf16>, tensor<1x2x64x64xf16>, tensor<1x2x64xf32>)
      outs(%q, %k, %k : tensor<1x2x64x64xf16>, tensor<1x1x256x64xf16>, tensor<1x1x256x64xf16>)
      -> tensor<1x2x64x64xf16>, tensor<1x1x256x64xf16>, tensor<1x1x256x64xf16>
  return %r#0, %r#1, %r#2 : tensor<1x2x64x64xf16>, tensor<1x1x256x64xf16>, tensor<1x1x256x64xf16>
}

// -----

// Weights per row, then one weighted mean; a state of weight 0 is not read.
// CHECK-LABEL: @merge
// CHECK: arith.maximumf
// CHECK: math.exp
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<1x2x3x8xf32>)
// CHECK: arith.cmpf oeq
// CHECK: arith.select
// CHECK: arith.divf
// CHECK: math.log
func.func @merge(%s: tensor<1x2x3x8xf32>, %l: tensor<1x2x3xf32>, %t: tensor<1x2x3x8xf32>, %n: tensor<1x2x3xf32>)
    -> (tensor<1x2x3x8xf32>, tensor<1x2x3xf32>) {
  %r:2 = rudnn.merge_attention_states states(%s, %t : tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32>)
      lses(%l, %n : tensor<1x2x3xf32>, tensor<1x2x3xf32>) outs(%s, %l : tensor<1x2x3x8xf32>, tensor<1x2x3xf32>)
      -> tensor<1x2x3x8xf32>, tensor<1x2x3xf32>
  return %r#0, %r#1 : tensor<1x2x3x8xf32>, tensor<1x2x3xf32>
}
