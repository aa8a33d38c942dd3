// RUN: rudnn-opt %s -verify-each -rudnn-form-gemm -canonicalize -cse -split-input-file | FileCheck %s
// RUN: rudnn-opt %s -verify-each -rudnn-form-gemm -rudnn-select-strategy -canonicalize -split-input-file | FileCheck %s --check-prefix=STRATEGY

// A product, its bias and SiLU, rounded once.
#full = affine_map<(m, n) -> (m, n)>
#row = affine_map<(m, n) -> (n)>
func.func @bias_silu(%a: tensor<?x64xbf16>, %b: tensor<64x32xbf16>, %bias: tensor<32xbf16>) -> tensor<?x32xbf16> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %m = tensor.dim %a, %c0 : tensor<?x64xbf16>
  %e = tensor.empty(%m) : tensor<?x32xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?x32xf32>) -> tensor<?x32xf32>
  %p = linalg.matmul ins(%a, %b : tensor<?x64xbf16>, tensor<64x32xbf16>) outs(%z : tensor<?x32xf32>) -> tensor<?x32xf32>
  %s = linalg.generic {indexing_maps = [#full, #row, #full], iterator_types = ["parallel", "parallel"]}
      ins(%p, %bias : tensor<?x32xf32>, tensor<32xbf16>) outs(%e : tensor<?x32xf32>) {
  ^bb0(%x: f32, %y: bf16, %o: f32):
    %w = arith.extf %y : bf16 to f32
    %v = arith.addf %x, %w : f32
    linalg.yield %v : f32
  } -> tensor<?x32xf32>
  %i = tensor.empty(%m) : tensor<?x32xbf16>
  %r = linalg.generic {indexing_maps = [#full, #full], iterator_types = ["parallel", "parallel"]}
      ins(%s : tensor<?x32xf32>) outs(%i : tensor<?x32xbf16>) {
  ^bb0(%x: f32, %o: bf16):
    %n = arith.negf %x : f32
    %u = math.exp %n : f32
    %d = arith.addf %u, %one : f32
    %q = arith.divf %x, %d : f32
    %t = arith.truncf %q : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<?x32xbf16>
  return %r : tensor<?x32xbf16>
}
// CHECK-LABEL: func.func @bias_silu
// CHECK-SAME:  %[[A:.*]]: tensor<?x64xbf16>, %[[B:.*]]: tensor<64x32xbf16>, %[[BIAS:.*]]: tensor<32xbf16>
// CHECK-NOT:   linalg.fill
// CHECK:       %[[I:.*]] = tensor.empty(%{{.*}}) : tensor<?x32xbf16>
// CHECK:       %[[D:.*]] = rudnn_tile.gemm ins(%[[A]], %[[B]] : {{.*}}) extras(%[[BIAS]] : tensor<32xbf16>) outs(%[[I]] : tensor<?x32xbf16>) epilogue {
// CHECK:       ^bb0(%[[SUM:.*]]: f32, %[[X:.*]]: bf16):
// CHECK:         %[[XF:.*]] = arith.extf %[[X]]
// CHECK:         %[[S:.*]] = arith.addf %[[SUM]], %[[XF]] : f32
// CHECK:         %[[N:.*]] = arith.negf %[[S]]
// CHECK:         math.exp %[[N]]
// CHECK:         %[[Q:.*]] = arith.divf %[[S]]
// CHECK:         %[[T:.*]] = arith.truncf %[[Q]] : f32 to bf16
// CHECK:         rudnn_tile.yield %[[T]]
// CHECK:       return %[[D]]
// STRATEGY:    rudnn_tile.gemm {{.*}}
// STRATEGY:    rudnn.strategy = "schedule"

// -----

// Staged roundings of bf16 code disappear; SiLU(gate) * up goes into the later product, the gate's
// SiLU into the first.
#full = affine_map<(m, n) -> (m, n)>
func.func @swiglu(%x: tensor<8x64xbf16>, %wg: tensor<32x64xbf16>, %wu: tensor<32x64xbf16>) -> tensor<8x32xbf16> {
  %zero = arith.constant 0.0 : bf16
  %one = arith.constant 1.0 : bf16
  %e = tensor.empty() : tensor<8x32xbf16>
  %z = linalg.fill ins(%zero : bf16) outs(%e : tensor<8x32xbf16>) -> tensor<8x32xbf16>
  %g = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%x, %wg : tensor<8x64xbf16>, tensor<32x64xbf16>) outs(%z : tensor<8x32xbf16>) -> tensor<8x32xbf16>
  %u = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%x, %wu : tensor<8x64xbf16>, tensor<32x64xbf16>) outs(%z : tensor<8x32xbf16>) -> tensor<8x32xbf16>
  %s = linalg.generic {indexing_maps = [#full, #full], iterator_types = ["parallel", "parallel"]}
      ins(%g : tensor<8x32xbf16>) outs(%e : tensor<8x32xbf16>) {
  ^bb0(%v: bf16, %o: bf16):
    %n = arith.negf %v : bf16
    %p = math.exp %n : bf16
    %d = arith.addf %p, %one : bf16
    %q = arith.divf %v, %d : bf16
    linalg.yield %q : bf16
  } -> tensor<8x32xbf16>
  %r = linalg.mul ins(%s, %u : tensor<8x32xbf16>, tensor<8x32xbf16>) outs(%e : tensor<8x32xbf16>) -> tensor<8x32xbf16>
  return %r : tensor<8x32xbf16>
}
// CHECK-LABEL: func.func @swiglu
// CHECK:       %[[G:.*]] = rudnn_tile.gemm ins(%{{.*}}, %{{.*}} : {{.*}}) outs(%{{.*}}) transpose_b epilogue {
// CHECK:         arith.negf %{{.*}} : f32
// CHECK:         math.exp %{{.*}} : f32
// CHECK:         arith.divf %{{.*}} : f32
// CHECK:         arith.truncf
// CHECK:       rudnn_tile.gemm ins(%{{.*}}, %{{.*}} : {{.*}}) extras(%[[G]] : tensor<8x32xbf16>) {{.*}} transpose_b epilogue {
// CHECK:         arith.extf
// CHECK:         arith.mulf %{{.*}} : f32
// CHECK-NOT:   linalg

// -----

// The residual is the start value; a product on rank 3 with one matrix for all rows.
func.func @residual(%a: tensor<2x?x64xf16>, %b: tensor<64x32xf16>, %c: tensor<2x?x32xf16>) -> tensor<2x?x32xf16> {
  %r = linalg.generic {indexing_maps = [affine_map<(i, j, n, k) -> (i, j, k)>, affine_map<(i, j, n, k) -> (k, n)>, affine_map<(i, j, n, k) -> (i, j, n)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<2x?x64xf16>, tensor<64x32xf16>) outs(%c : tensor<2x?x32xf16>) {
  ^bb0(%x: f16, %y: f16, %o: f16):
    %p = arith.mulf %x, %y : f16
    %s = arith.addf %o, %p : f16
    linalg.yield %s : f16
  } -> tensor<2x?x32xf16>
  return %r : tensor<2x?x32xf16>
}
// CHECK-LABEL: func.func @residual
// CHECK:       %[[A:.*]] = tensor.collapse_shape %{{.*}} {{\[}}[0, 1], [2]] : tensor<2x?x64xf16> into tensor<?x64xf16>
// CHECK:       %[[C:.*]] = tensor.collapse_shape %arg2
// CHECK:       %[[D:.*]] = rudnn_tile.gemm ins(%[[A]], %{{.*}}) extras(%[[C]] : tensor<?x32xf16>)
// CHECK:       tensor.expand_shape %[[D]] {{\[}}[0, 1], [2]]

// -----

// A batch, a transposed left operand, f32 operands that are extensions, a result in f32.
func.func @batch(%a: tensor<3x64x16xbf16>, %b: tensor<3x64x32xbf16>) -> tensor<3x16x32xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x16x32xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<3x16x32xf32>) -> tensor<3x16x32xf32>
  %i = tensor.empty() : tensor<3x64x16xf32>
  %w = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j, k)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%a : tensor<3x64x16xbf16>) outs(%i : tensor<3x64x16xf32>) {
  ^bb0(%x: bf16, %o: f32):
    %y = arith.extf %x : bf16 to f32
    linalg.yield %y : f32
  } -> tensor<3x64x16xf32>
  %v = arith.extf %b : tensor<3x64x32xbf16> to tensor<3x64x32xf32>
  %r = linalg.batch_matmul indexing_maps = [affine_map<(b, m, n, k) -> (b, k, m)>, affine_map<(b, m, n, k) -> (b, k, n)>, affine_map<(b, m, n, k) -> (b, m, n)>]
      ins(%w, %v : tensor<3x64x16xf32>, tensor<3x64x32xf32>) outs(%z : tensor<3x16x32xf32>) -> tensor<3x16x32xf32>
  return %r : tensor<3x16x32xf32>
}
// CHECK-LABEL: func.func @batch
// CHECK:       %[[T:.*]] = linalg.transpose ins(%{{.*}} : tensor<3x64x16xbf16>) {{.*}} permutation = [0, 2, 1]
// CHECK:       rudnn_tile.gemm ins(%[[T]], %{{.*}} : tensor<3x16x64xbf16>, tensor<3x64x32xbf16>) outs(%{{.*}} : tensor<3x16x32xf32>) epilogue {
// CHECK-NEXT:  ^bb0(%[[SUM:.*]]: f32):
// CHECK-NEXT:    rudnn_tile.yield %[[SUM]] : f32

// -----

// What does not follow: a second use, an operand along the rows, a function without an instruction.
#full = affine_map<(m, n) -> (m, n)>
#rows = affine_map<(m, n) -> (m)>
func.func @apart(%a: tensor<16x64xbf16>, %b: tensor<64x32xbf16>, %scale: tensor<16xf32>) -> (tensor<16x32xf32>, tensor<16x32xf32>, tensor<16x32xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16x32xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<16x32xf32>) -> tensor<16x32xf32>
  %p = linalg.matmul ins(%a, %b : tensor<16x64xbf16>, tensor<64x32xbf16>) outs(%z : tensor<16x32xf32>) -> tensor<16x32xf32>
  %q = linalg.exp ins(%p : tensor<16x32xf32>) outs(%e : tensor<16x32xf32>) -> tensor<16x32xf32>
  %a2 = linalg.generic {indexing_maps = [#full, #full], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<16x64xbf16>) outs(%a : tensor<16x64xbf16>) {
  ^bb0(%x: bf16, %o: bf16):
    %y = arith.negf %x : bf16
    linalg.yield %y : bf16
  } -> tensor<16x64xbf16>
  %s = linalg.matmul ins(%a2, %b : tensor<16x64xbf16>, tensor<64x32xbf16>) outs(%z : tensor<16x32xf32>) -> tensor<16x32xf32>
  %t = linalg.generic {indexing_maps = [#full, #rows, #full], iterator_types = ["parallel", "parallel"]}
      ins(%s, %scale : tensor<16x32xf32>, tensor<16xf32>) outs(%e : tensor<16x32xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %m = arith.mulf %x, %y : f32
    linalg.yield %m : f32
  } -> tensor<16x32xf32>
  return %p, %q, %t : tensor<16x32xf32>, tensor<16x32xf32>, tensor<16x32xf32>
}
// CHECK-LABEL: func.func @apart
// CHECK:       rudnn_tile.gemm
// CHECK:       linalg.exp
// CHECK:       rudnn_tile.gemm
// CHECK:       linalg.generic
// CHECK:         arith.mulf

// -----

// f32 stays linalg; so does what an attribute keeps; a depth that no bulk copy moves is formed and
// falls back.
func.func @others(%x: tensor<8x64xf32>, %a: tensor<8x12xbf16>, %b: tensor<12x32xbf16>, %o: tensor<8x32xf32>, %y: tensor<64x32xf32>) -> (tensor<8x32xf32>, tensor<8x32xf32>, tensor<8x32xf32>) {
  %p = linalg.matmul ins(%x, %y : tensor<8x64xf32>, tensor<64x32xf32>) outs(%o : tensor<8x32xf32>) -> tensor<8x32xf32>
  %q = linalg.matmul {rudnn.strategy = "fallback"} ins(%a, %b : tensor<8x12xbf16>, tensor<12x32xbf16>) outs(%o : tensor<8x32xf32>) -> tensor<8x32xf32>
  %r = linalg.matmul ins(%a, %b : tensor<8x12xbf16>, tensor<12x32xbf16>) outs(%o : tensor<8x32xf32>) -> tensor<8x32xf32>
  return %p, %q, %r : tensor<8x32xf32>, tensor<8x32xf32>, tensor<8x32xf32>
}
// CHECK-LABEL: func.func @others
// CHECK:       linalg.matmul ins(%{{.*}} : tensor<8x64xf32>
// CHECK:       linalg.matmul {rudnn.strategy = "fallback"}
// CHECK:       rudnn_tile.gemm
// STRATEGY-LABEL: func.func @others
// STRATEGY:    rudnn_tile.gemm
// STRATEGY:    rudnn.strategy = "fallback"
