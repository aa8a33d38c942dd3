// RUN: rudnn-opt %s -rudnn-separate-insertions -verify-each -split-input-file | FileCheck %s
// RUN: rudnn-opt %s -rudnn-separate-insertions -eliminate-empty-tensors -one-shot-bufferize=bufferize-function-boundaries -verify-each -split-input-file | FileCheck %s --check-prefix=BUFFERS

#id = affine_map<(d0) -> (d0)>

// Both tiles start from the same zeros: each gets its own, and is computed in
// its place in the results.
// CHECK-LABEL: @equal_starts
// CHECK:         %[[ZEROS:.*]] = linalg.fill
// CHECK:         %[[P:.*]] = linalg.generic {{.*}} outs(%[[ZEROS]]
// CHECK:         %[[EMPTY:.*]] = tensor.empty
// CHECK:         %[[OWN:.*]] = linalg.fill {{.*}} outs(%[[EMPTY]]
// CHECK:         %[[Q:.*]] = linalg.generic {{.*}} ins(%[[P]] {{.*}} outs(%[[OWN]]
// CHECK-NOT:     alloc_tensor
// CHECK:         tensor.parallel_insert_slice %[[P]]
// CHECK:         tensor.parallel_insert_slice %[[Q]]
// BUFFERS-LABEL: @equal_starts
// BUFFERS:         %[[A:.*]] = memref.alloc() {{.*}} memref<4x8xf32>
// BUFFERS:         %[[B:.*]] = memref.alloc() {{.*}} memref<4x8xf32>
// BUFFERS:         scf.forall
// BUFFERS-NOT:     memref.alloc
// BUFFERS:         %[[P:.*]] = memref.subview %[[A]]
// BUFFERS:         linalg.generic {{.*}} outs(%[[P]]
// BUFFERS:         %[[Q:.*]] = memref.subview %[[B]]
// BUFFERS:         linalg.generic {{.*}} ins(%[[P]] {{.*}} outs(%[[Q]]
func.func @equal_starts(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %zero = arith.constant 0.0 : f32
  %a = tensor.empty() : tensor<4x8xf32>
  %b = tensor.empty() : tensor<4x8xf32>
  %r:2 = scf.forall (%i) in (4) shared_outs(%oa = %a, %ob = %b) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
    %s = tensor.extract_slice %x[%i, 0] [1, 8] [1, 1] : tensor<4x8xf32> to tensor<8xf32>
    %e = tensor.empty() : tensor<8xf32>
    %v = linalg.fill ins(%zero : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
    %p = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%s : tensor<8xf32>) outs(%v : tensor<8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %t = arith.addf %in, %out : f32
      linalg.yield %t : f32
    } -> tensor<8xf32>
    %q = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%p : tensor<8xf32>) outs(%v : tensor<8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %t = arith.subf %out, %in : f32
      linalg.yield %t : f32
    } -> tensor<8xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %p into %oa[%i, 0] [1, 8] [1, 1] : tensor<8xf32> into tensor<4x8xf32>
      tensor.parallel_insert_slice %q into %ob[%i, 0] [1, 8] [1, 1] : tensor<8xf32> into tensor<4x8xf32>
    }
  }
  return %r#0, %r#1 : tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

#id = affine_map<(d0) -> (d0)>

// What is computed once and then changed in two ways is copied for the second.
// CHECK-LABEL: @two_changes
// CHECK:         linalg.generic
// CHECK:         %[[P:.*]] = linalg.generic
// CHECK:         %[[Q:.*]] = linalg.generic
// CHECK:         %[[COPY:.*]] = bufferization.alloc_tensor() copy(%[[Q]])
// CHECK:         tensor.parallel_insert_slice %[[P]] into
// CHECK:         tensor.parallel_insert_slice %[[COPY]] into
// The copy is made before the first insertion writes.
// BUFFERS-LABEL: @two_changes
// BUFFERS:         linalg.generic
// BUFFERS:         linalg.generic
// BUFFERS:         linalg.generic {{.*}} outs(%[[Q:[a-z0-9_]*]]
// BUFFERS:         %[[COPY:.*]] = memref.alloc
// BUFFERS-NEXT:    memref.copy %[[Q]], %[[COPY]]
// BUFFERS:         memref.copy %[[COPY]], %
func.func @two_changes(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %a = tensor.empty() : tensor<4x8xf32>
  %b = tensor.empty() : tensor<4x8xf32>
  %r:2 = scf.forall (%i) in (4) shared_outs(%oa = %a, %ob = %b) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
    %s = tensor.extract_slice %x[%i, 0] [1, 8] [1, 1] : tensor<4x8xf32> to tensor<8xf32>
    %e = tensor.empty() : tensor<8xf32>
    %v = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%s : tensor<8xf32>) outs(%e : tensor<8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %t = arith.negf %in : f32
      linalg.yield %t : f32
    } -> tensor<8xf32>
    %p = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%s : tensor<8xf32>) outs(%v : tensor<8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %t = arith.addf %in, %out : f32
      linalg.yield %t : f32
    } -> tensor<8xf32>
    %q = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%p : tensor<8xf32>) outs(%v : tensor<8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %t = arith.subf %out, %in : f32
      linalg.yield %t : f32
    } -> tensor<8xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %p into %oa[%i, 0] [1, 8] [1, 1] : tensor<8xf32> into tensor<4x8xf32>
      tensor.parallel_insert_slice %q into %ob[%i, 0] [1, 8] [1, 1] : tensor<8xf32> into tensor<4x8xf32>
    }
  }
  return %r#0, %r#1 : tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

// One tile in two results, and tiles that read the same argument, stay.
// CHECK-LABEL: @no_conflict
// CHECK-NOT:     alloc_tensor
// CHECK:         return
// BUFFERS-LABEL: @no_conflict
func.func @no_conflict(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) {
  %a = tensor.empty() : tensor<4x8xf32>
  %b = tensor.empty() : tensor<4x8xf32>
  %c = tensor.empty() : tensor<4x8xf32>
  %r:3 = scf.forall (%i) in (4) shared_outs(%oa = %a, %ob = %b, %oc = %c) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) {
    %s = tensor.extract_slice %x[%i, 0] [1, 8] [1, 1] : tensor<4x8xf32> to tensor<8xf32>
    %j = affine.apply affine_map<(d0) -> (3 - d0)>(%i)
    %t = tensor.extract_slice %x[%j, 0] [1, 8] [1, 1] : tensor<4x8xf32> to tensor<8xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %s into %oa[%i, 0] [1, 8] [1, 1] : tensor<8xf32> into tensor<4x8xf32>
      tensor.parallel_insert_slice %s into %ob[%i, 0] [1, 8] [1, 1] : tensor<8xf32> into tensor<4x8xf32>
      tensor.parallel_insert_slice %t into %oc[%i, 0] [1, 8] [1, 1] : tensor<8xf32> into tensor<4x8xf32>
    }
  }
  return %r#0, %r#1, %r#2 : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

// A tile that is read from another result is copied before that changes.
// CHECK-LABEL: @swap
// CHECK:         %[[S:.*]] = tensor.extract_slice %[[A:.*]][%
// CHECK:         %[[T:.*]] = tensor.extract_slice %[[B:.*]][%
// CHECK:         %[[COPY:.*]] = bufferization.alloc_tensor() copy(%[[S]])
// CHECK:         tensor.parallel_insert_slice %{{.*}} into %[[A]]
// CHECK:         tensor.parallel_insert_slice %[[COPY]] into %[[B]]
// BUFFERS-LABEL: @swap
func.func @swap(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %r:2 = scf.forall (%i) in (4) shared_outs(%oa = %x, %ob = %y) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
    %s = tensor.extract_slice %oa[%i, 0] [1, 8] [1, 1] : tensor<4x8xf32> to tensor<8xf32>
    %t = tensor.extract_slice %ob[%i, 0] [1, 8] [1, 1] : tensor<4x8xf32> to tensor<8xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %t into %oa[%i, 0] [1, 8] [1, 1] : tensor<8xf32> into tensor<4x8xf32>
      tensor.parallel_insert_slice %s into %ob[%i, 0] [1, 8] [1, 1] : tensor<8xf32> into tensor<4x8xf32>
    }
  }
  return %r#0, %r#1 : tensor<4x8xf32>, tensor<4x8xf32>
}
