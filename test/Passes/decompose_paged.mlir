// RUN: rudnn-opt %s -rudnn-decompose -canonicalize -cse -verify-each -split-input-file | FileCheck %s

// One parallel iteration per row and cache head. Pages are visited one at a
// time, and only the slots that the row sees are sliced out of a page.
// CHECK-LABEL: @attention
// CHECK-SAME: %[[Q:arg[0-9]+]]: tensor<?x8x64xbf16>, %[[K:arg[0-9]+]]: tensor<?x16x2x64xbf16>
// CHECK: scf.forall (%[[R:.*]], %[[H:.*]]) in (%{{.*}}, 2) shared_outs(%[[OUT:.*]] = %{{.*}}) -> (tensor<?x8x32xbf16>)
// CHECK: tensor.extract_slice %[[Q]][%[[R]], %{{.*}}, 0] [1, 4, 64]
// CHECK: %[[SCORES:.*]] = scf.for %[[PAGE:.*]] = %c0 to %{{.*}} iter_args(%{{.*}}) -> (tensor<4x?xf32>)
// CHECK:   %[[ID:.*]] = tensor.extract %{{.*}}[%{{.*}}, %[[PAGE]]] : tensor<?x?xi32>
// CHECK:   tensor.extract_slice %[[K]][%{{.*}}, 0, %[[H]], 0] [1, %[[N:.*]], 1, 64]
// CHECK:   linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction"]
// CHECK:   arith.mulf %{{.*}}, %cst
// CHECK:   scf.yield
// CHECK: arith.maximumf
// CHECK: math.exp
// CHECK: arith.addf
// CHECK: scf.for {{.*}} -> (tensor<4x32xf32>)
// CHECK: arith.divf
// CHECK: arith.select
// CHECK: arith.truncf %{{.*}} : f32 to bf16
// CHECK: scf.forall.in_parallel
// CHECK: tensor.parallel_insert_slice %{{.*}} into %[[OUT]][%[[R]], %{{.*}}, 0] [1, 4, 32]
// CHECK-NOT: rudnn.
func.func @attention(%q: tensor<?x8x64xbf16>, %k: tensor<?x16x2x64xbf16>, %v: tensor<?x16x2x32xbf16>,
    %t: tensor<?x?xi32>, %l: tensor<?xi32>, %s: tensor<?xi32>, %p: tensor<?xi32>,
    %o: tensor<?x8x32xbf16>) -> tensor<?x8x32xbf16> {
  %0 = rudnn.paged.attention ins(%q, %k, %v : tensor<?x8x64xbf16>, tensor<?x16x2x64xbf16>, tensor<?x16x2x32xbf16>)
      pages(%t, %l, %s, %p : tensor<?x?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>)
      outs(%o : tensor<?x8x32xbf16>) {causal} -> tensor<?x8x32xbf16>
  return %0 : tensor<?x8x32xbf16>
}

// -----

// A latent score is two products into one sum; splits are a sequential loop
// that carries the softmax state; the lse is written beside the output.
// CHECK-LABEL: @mla_splits
// CHECK: scf.forall
// CHECK: scf.for %{{.*}} = %c0 to %c4 step %c1 iter_args({{.*}}) -> (tensor<8xf32>, tensor<8xf32>, tensor<8x32xf32>)
// CHECK: scf.for
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<8x32xf32>, tensor<?x32xf32>)
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<8x4xf32>, tensor<?x4xf32>)
// CHECK: math.fma
// CHECK: math.log
// CHECK: scf.forall.in_parallel
// CHECK-COUNT-2: tensor.parallel_insert_slice
func.func @mla_splits(%q: tensor<?x8x32xf32>, %qp: tensor<?x8x4xf32>, %c: tensor<?x16x1x32xf32>, %kp: tensor<?x16x1x4xf32>,
    %t: tensor<?x?xi32>, %l: tensor<?xi32>, %s: tensor<?xi32>, %p: tensor<?xi32>,
    %o: tensor<?x8x32xf32>, %lse: tensor<?x8xf32>) -> (tensor<?x8x32xf32>, tensor<?x8xf32>) {
  %0:2 = rudnn.paged.mla ins(%q, %qp, %c, %kp : tensor<?x8x32xf32>, tensor<?x8x4xf32>, tensor<?x16x1x32xf32>, tensor<?x16x1x4xf32>)
      pages(%t, %l, %s, %p : tensor<?x?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>)
      outs(%o, %lse : tensor<?x8x32xf32>, tensor<?x8xf32>) {scale = 0.1 : f64, num_splits = 4} -> tensor<?x8x32xf32>, tensor<?x8xf32>
  return %0#0, %0#1 : tensor<?x8x32xf32>, tensor<?x8xf32>
}

// -----

// Rows are copied one after the other; a row without a place has a count of 0.
// CHECK-LABEL: @append
// CHECK: scf.for %[[R:.*]] = %c0 to %{{.*}} iter_args(%[[KC:.*]] = %{{.*}}, %[[VC:.*]] = %{{.*}})
// CHECK: %[[N:.*]] = arith.index_castui %{{.*}} : i1 to index
// CHECK: tensor.extract_slice %{{.*}}[%[[R]], 0, 0] [%[[N]], 2, 64]
// CHECK: tensor.insert_slice %{{.*}} into %[[KC]][%{{.*}}, %{{.*}}, 0, 0] [1, %[[N]], 2, 64]
// CHECK: tensor.insert_slice %{{.*}} into %[[VC]][%{{.*}}, %{{.*}}, 0, 0] [1, %[[N]], 2, 32]
func.func @append(%k: tensor<?x2x64xbf16>, %v: tensor<?x2x32xbf16>,
    %t: tensor<?x?xi32>, %l: tensor<?xi32>, %s: tensor<?xi32>, %p: tensor<?xi32>,
    %kc: tensor<?x16x2x64xbf16>, %vc: tensor<?x16x2x32xbf16>) -> (tensor<?x16x2x64xbf16>, tensor<?x16x2x32xbf16>) {
  %0:2 = rudnn.paged.append ins(%k, %v : tensor<?x2x64xbf16>, tensor<?x2x32xbf16>)
      pages(%t, %l, %s, %p : tensor<?x?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>)
      outs(%kc, %vc : tensor<?x16x2x64xbf16>, tensor<?x16x2x32xbf16>) -> tensor<?x16x2x64xbf16>, tensor<?x16x2x32xbf16>
  return %0#0, %0#1 : tensor<?x16x2x64xbf16>, tensor<?x16x2x32xbf16>
}

// -----

// Visible tokens per sequence, tiles, one range per part (a search that ends at
// the last sequence), pieces, merges, slots. All in index values.
// CHECK-LABEL: @plan
// CHECK: scf.for {{.*}} -> (tensor<?xindex>, tensor<?xi1>)
// CHECK:   scf.if
// CHECK:     arith.minui
// CHECK:     arith.maxui
// CHECK: scf.for {{.*}} -> (tensor<?xindex>)
// CHECK:   arith.ceildivui %{{.*}}, %c64
// CHECK: scf.for {{.*}} -> (index)
// CHECK: scf.while
// CHECK: scf.for {{.*}} %c0 to %c8 {{.*}} -> (tensor<8x5xi32>, index, index)
// CHECK:   scf.while
// CHECK:   tensor.insert
// CHECK: scf.for {{.*}} -> (tensor<?x3xi32>, index, index)
// CHECK: scf.for {{.*}} %c0 to %c8 {{.*}} -> (tensor<8x5xi32>, index)
// CHECK-NOT: rudnn.
func.func @plan(%l: tensor<?xi32>, %s: tensor<?xi32>, %p: tensor<?xi32>, %r: tensor<8x5xi32>, %m: tensor<?x3xi32>, %c: tensor<2xi32>)
    -> (tensor<8x5xi32>, tensor<?x3xi32>, tensor<2xi32>) {
  %0:3 = rudnn.paged.plan ins(%l, %s, %p : tensor<?xi32>, tensor<?xi32>, tensor<?xi32>)
      outs(%r, %m, %c : tensor<8x5xi32>, tensor<?x3xi32>, tensor<2xi32>) {causal} -> tensor<8x5xi32>, tensor<?x3xi32>, tensor<2xi32>
  return %0#0, %0#1, %0#2 : tensor<8x5xi32>, tensor<?x3xi32>, tensor<2xi32>
}
