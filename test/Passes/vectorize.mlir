// RUN: rudnn-opt %s -rudnn-vectorize=vector-bytes=32 -canonicalize -cse -verify-each | FileCheck %s

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#col = affine_map<(i, j) -> (j)>

// Vectors along the columns, the last ones element by element.
// CHECK-LABEL: @add
// CHECK: scf.for
// CHECK:   scf.for %{{.*}} step %c32
// CHECK:     arith.addf %{{.*}} : vector<32xf32>
// CHECK:   scf.for %{{.*}} step %c1
// CHECK:     arith.addf %{{.*}} : f32
func.func @add(%x: tensor<?x?xf32>, %y: tensor<?x?xf32>, %e: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %r = linalg.add ins(%x, %y : tensor<?x?xf32>, tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// A whole number of vectors has no rest. Costly bodies take two registers.
// CHECK-LABEL: @exp
// CHECK: scf.for %{{.*}} = %c0 to %c64 step %c16
// CHECK:   math.exp %{{.*}} : vector<16xf32>
// CHECK-NOT: math.exp
func.func @exp(%x: tensor<64xf32>, %e: tensor<64xf32>) -> tensor<64xf32> {
  %r = linalg.exp ins(%x : tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  return %r : tensor<64xf32>
}

// A sum that may be reassociated has a partial sum per lane.
// CHECK-LABEL: @row_sum
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}) -> (vector<32xf32>)
// CHECK:   arith.addf {{.*}} : vector<32xf32>
// CHECK: scf.for {{.*}} -> (f32)
// CHECK: vector.reduction <add>, %{{.*}}, %{{.*}} fastmath<reassoc
func.func @row_sum(%x: tensor<4x?xf32>, %s: tensor<4xf32>) -> tensor<4xf32> {
  %r = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x?xf32>) outs(%s : tensor<4xf32>) {
  ^bb0(%p: f32, %o: f32):
    %a = arith.addf %o, %p fastmath<reassoc> : f32
    linalg.yield %a : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// One that may not be stays as it is.
// CHECK-LABEL: @ordered_sum
// CHECK: linalg.generic
func.func @ordered_sum(%x: tensor<4x?xf32>, %s: tensor<4xf32>) -> tensor<4xf32> {
  %r = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x?xf32>) outs(%s : tensor<4xf32>) {
  ^bb0(%p: f32, %o: f32):
    %a = arith.addf %o, %p : f32
    linalg.yield %a : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// Down the columns, sums stay in registers and in order.
// CHECK-LABEL: @column_sum
// CHECK: scf.for %{{.*}} = %c0 to %c64 step %c32
// CHECK:   %[[SUM:.*]] = scf.for {{.*}} -> (vector<32xf32>)
// CHECK:     arith.addf {{.*}} : vector<32xf32>
// CHECK:   vector.transfer_write %[[SUM]]
func.func @column_sum(%x: tensor<?x64xf32>, %s: tensor<64xf32>) -> tensor<64xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(j, i) -> (i, j)>, affine_map<(j, i) -> (j)>],
                       iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x64xf32>) outs(%s : tensor<64xf32>) {
  ^bb0(%p: f32, %o: f32):
    %a = arith.addf %o, %p : f32
    linalg.yield %a : f32
  } -> tensor<64xf32>
  return %r : tensor<64xf32>
}

// A mask of i1 has one byte per element in memory; an index becomes a step.
// CHECK-LABEL: @mask
// CHECK-COUNT-16: tensor.extract %arg0
// CHECK: vector.from_elements
// CHECK: vector.step : vector<16xindex>
// CHECK: arith.select %{{.*}} : vector<16xi1>, vector<16xf32>
func.func @mask(%m: tensor<64xi1>, %x: tensor<64xf32>, %e: tensor<64xf32>, %n: index) -> tensor<64xf32> {
  %zero = arith.constant 0.0 : f32
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
                       iterator_types = ["parallel"]}
      ins(%m, %x : tensor<64xi1>, tensor<64xf32>) outs(%e : tensor<64xf32>) {
  ^bb0(%p: i1, %q: f32, %o: f32):
    %i = linalg.index 0 : index
    %in = arith.cmpi slt, %i, %n : index
    %both = arith.andi %p, %in : i1
    %s = arith.select %both, %q, %zero : f32
    linalg.yield %s : f32
  } -> tensor<64xf32>
  return %r : tensor<64xf32>
}
