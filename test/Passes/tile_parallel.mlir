// RUN: rudnn-opt %s -rudnn-tile-parallel -canonicalize -cse -verify-each | FileCheck %s
// RUN: rudnn-opt %s -rudnn-tile-parallel=only-rudnn=true -canonicalize -verify-each | FileCheck %s --check-prefix=RUDNN

// Blocks of the result; its initial value is made in the tile.
// CHECK-LABEL: @matmul
// CHECK: scf.forall (%{{.*}}) = (0, 0) to (1024, 1024) step (192, 256)
// CHECK:   linalg.fill
// CHECK:   linalg.matmul
// CHECK:   tensor.parallel_insert_slice
// RUDNN-LABEL: @matmul
// RUDNN-NOT: scf.forall (
func.func @matmul(%a: tensor<1024x512xf32>, %b: tensor<512x1024xf32>) -> tensor<1024x1024xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1024x1024xf32>
  %c = linalg.fill ins(%zero : f32) outs(%e : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %r = linalg.matmul ins(%a, %b : tensor<1024x512xf32>, tensor<512x1024xf32>) outs(%c : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  return %r : tensor<1024x1024xf32>
}

// One loop over rows: producer, norm and consumer; the intermediate tensors are
// as large as the tile.
// CHECK-LABEL: @norm
// CHECK: scf.forall (%{{.*}}) = (0) to (%{{.*}}) step (64)
// CHECK:   linalg.negf
// CHECK:   rudnn.rms_norm {{.*}} outs(%{{.*}} : tensor<?x256xf32>)
// CHECK:   linalg.add
// CHECK:   tensor.parallel_insert_slice
// CHECK-NOT: scf.forall (
// RUDNN-LABEL: @norm
// RUDNN: scf.forall
// RUDNN: rudnn.rms_norm
func.func @norm(%x: tensor<?x256xf32>, %gamma: tensor<256xf32>, %e: tensor<?x256xf32>) -> tensor<?x256xf32> {
  %n = linalg.negf ins(%x : tensor<?x256xf32>) outs(%e : tensor<?x256xf32>) -> tensor<?x256xf32>
  %y = rudnn.rms_norm ins(%n, %gamma : tensor<?x256xf32>, tensor<256xf32>) outs(%e : tensor<?x256xf32>) {eps = 1.0e-6 : f64} -> tensor<?x256xf32>
  %r = linalg.add ins(%y, %x : tensor<?x256xf32>, tensor<?x256xf32>) outs(%e : tensor<?x256xf32>) -> tensor<?x256xf32>
  return %r : tensor<?x256xf32>
}

// Batch, heads and 64 query rows: keys and values are whole, scores are not.
// CHECK-LABEL: @attention
// CHECK: scf.forall (%{{.*}}, %{{.*}}, %{{.*}}) = (0, 0, 0) to (2, 8, %{{.*}}) step (1, 1, 64)
// CHECK:   rudnn.attention ins({{.*}} : tensor<1x1x?x32xf32>, tensor<1x1x?x32xf32>, tensor<1x1x?x32xf32>
func.func @attention(%q: tensor<2x8x?x32xf32>, %k: tensor<2x2x?x32xf32>, %o: tensor<2x8x?x32xf32>) -> tensor<2x8x?x32xf32> {
  %r = rudnn.attention ins(%q, %k, %k : tensor<2x8x?x32xf32>, tensor<2x2x?x32xf32>, tensor<2x2x?x32xf32>)
      outs(%o : tensor<2x8x?x32xf32>) -> tensor<2x8x?x32xf32>
  return %r : tensor<2x8x?x32xf32>
}

// Little work stays on one thread.
// CHECK-LABEL: @small
// CHECK-NOT: scf.forall (
func.func @small(%x: tensor<8x8xf32>, %e: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %n = linalg.negf ins(%x : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %n : tensor<8x8xf32>
}

// What is parallel already is not tiled again.
// CHECK-LABEL: @nested
// CHECK: scf.forall
// CHECK-NOT: scf.forall (
func.func @nested(%x: tensor<8x4096x64xf32>, %e: tensor<8x4096x64xf32>) -> tensor<8x4096x64xf32> {
  %r = scf.forall (%i) in (8) shared_outs(%o = %e) -> tensor<8x4096x64xf32> {
    %s = tensor.extract_slice %x[%i, 0, 0] [1, 4096, 64] [1, 1, 1] : tensor<8x4096x64xf32> to tensor<4096x64xf32>
    %d = tensor.extract_slice %o[%i, 0, 0] [1, 4096, 64] [1, 1, 1] : tensor<8x4096x64xf32> to tensor<4096x64xf32>
    %n = linalg.negf ins(%s : tensor<4096x64xf32>) outs(%d : tensor<4096x64xf32>) -> tensor<4096x64xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %n into %o[%i, 0, 0] [1, 4096, 64] [1, 1, 1] : tensor<4096x64xf32> into tensor<8x4096x64xf32>
    }
  }
  return %r : tensor<8x4096x64xf32>
}
