// RUN: rudnn-opt %s -rudnn-split-sequences -canonicalize -cse -verify-each -split-input-file | FileCheck %s

// A loop over the sequences, whose rows and keys are between two offsets each; every one is a
// dense op with the same options on slices with the heads in front. Rows of no sequence are 0.
// CHECK-LABEL: @forward
// CHECK-SAME: %[[Q:[a-z0-9]+]]: tensor<?x6x8xf32>, %[[K:[a-z0-9]+]]: tensor<?x2x8xf32>, %[[A:[a-z0-9]+]]: tensor<?xi32>, %[[B:[a-z0-9]+]]: tensor<?xi32>
// CHECK: %[[ZERO:.*]] = linalg.fill
// CHECK: %[[LOW:.*]] = linalg.fill
// CHECK: scf.for %[[S:.*]] = %c0 to %{{.*}} step %c1 iter_args(%[[OUT:.*]] = %[[ZERO]], %[[LSE:.*]] = %[[LOW]])
// CHECK: %[[FIRST:.*]] = tensor.extract %[[A]][%[[S]]]
// CHECK: %[[F:.*]] = arith.index_castui %[[FIRST]]
// CHECK: %[[FC:.*]] = arith.minui %[[F]]
// CHECK: arith.maxui %{{.*}}, %[[FC]]
// CHECK: %[[QN:.*]] = arith.subi
// CHECK: tensor.extract %[[B]][%[[S]]]
// CHECK: %[[KN:.*]] = arith.subi
// CHECK: tensor.extract_slice %[[LSE]][0, %[[FC]]] [6, %[[QN]]]
// CHECK: tensor.extract_slice %[[Q]][%[[FC]], 0, 0] [%[[QN]], 6, 8]
// CHECK: linalg.transpose {{.*}} permutation = [1, 0, 2]
// CHECK: rudnn.attention ins(%{{.*}}, %{{.*}}, %{{.*}} : tensor<1x6x?x8xf32>, tensor<1x2x?x8xf32>, tensor<1x2x?x8xf32>)
// CHECK-SAME: outs(%{{.*}}, %{{.*}} : tensor<1x6x?x8xf32>, tensor<1x6x?xf32>) {causal = #rudnn.causal<bottom_right>, window_left = 5 : i64}
// CHECK: linalg.transpose
// CHECK: tensor.insert_slice %{{.*}} into %[[OUT]][%[[FC]], 0, 0] [%[[QN]], 6, 8]
// CHECK: tensor.insert_slice %{{.*}} into %[[LSE]][0, %[[FC]]] [6, %[[QN]]]
// CHECK-NOT: rudnn.ragged
func.func @forward(%q: tensor<?x6x8xf32>, %k: tensor<?x2x8xf32>, %a: tensor<?xi32>, %b: tensor<?xi32>, %l: tensor<6x?xf32>)
    -> (tensor<?x6x8xf32>, tensor<6x?xf32>) {
  %o:2 = rudnn.ragged_attention ins(%q, %k, %k : tensor<?x6x8xf32>, tensor<?x2x8xf32>, tensor<?x2x8xf32>)
      offsets(%a, %b : tensor<?xi32>, tensor<?xi32>) outs(%q, %l : tensor<?x6x8xf32>, tensor<6x?xf32>)
      {causal = #rudnn.causal<bottom_right>, window_left = 5} -> tensor<?x6x8xf32>, tensor<6x?xf32>
  return %o#0, %o#1 : tensor<?x6x8xf32>, tensor<6x?xf32>
}

// -----

// Three gradients start at 0; that of the sinks is a sum over the sequences.
// CHECK-LABEL: @backward
// CHECK: %[[DQ:.*]] = linalg.fill
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %[[DQ]], %{{.*}}, %{{.*}}, %[[SUM:.*]] = %{{.*}}) -> (tensor<?x6x8xbf16>, tensor<?x2x8xbf16>, tensor<?x2x8xbf16>, tensor<6xf32>)
// CHECK: %[[G:.*]]:4 = rudnn.attention_backward {{.*}} sinks(%{{.*}} : tensor<6xf32>) {{.*}} {sinks_gradient}
// CHECK: linalg.generic {{.*}} ins(%[[G]]#3 : tensor<6xf32>) outs(%[[SUM]] : tensor<6xf32>)
// CHECK: arith.addf
func.func @backward(%q: tensor<?x6x8xbf16>, %k: tensor<?x2x8xbf16>, %a: tensor<?xi32>, %s: tensor<6xf32>, %l: tensor<6x?xf32>)
    -> (tensor<?x6x8xbf16>, tensor<?x2x8xbf16>, tensor<?x2x8xbf16>, tensor<6xf32>) {
  %r:4 = rudnn.ragged_attention_backward ins(%q, %k, %k, %q, %q, %l : tensor<?x6x8xbf16>, tensor<?x2x8xbf16>,
          tensor<?x2x8xbf16>, tensor<?x6x8xbf16>, tensor<?x6x8xbf16>, tensor<6x?xf32>)
      offsets(%a, %a : tensor<?xi32>, tensor<?xi32>) sinks(%s : tensor<6xf32>)
      outs(%q, %k, %k, %s : tensor<?x6x8xbf16>, tensor<?x2x8xbf16>, tensor<?x2x8xbf16>, tensor<6xf32>) {sinks_gradient}
      -> tensor<?x6x8xbf16>, tensor<?x2x8xbf16>, tensor<?x2x8xbf16>, tensor<6xf32>
  return %r#0, %r#1, %r#2, %r#3 : tensor<?x6x8xbf16>, tensor<?x2x8xbf16>, tensor<?x2x8xbf16>, tensor<6xf32>
}
