// RUN: rudnn-opt %s -rudnn-protect-arguments | FileCheck %s --check-prefix=PROTECT
// RUN: rudnn-opt %s -rudnn-expand-math | FileCheck %s --check-prefix=MATH
// RUN: rudnn-opt %s -rudnn-expand-copies | FileCheck %s --check-prefix=COPY
// RUN: rudnn-opt %s -rudnn-keep-carried-values | FileCheck %s --check-prefix=KEEP
// RUN: rudnn-opt %s -convert-scf-to-openmp -rudnn-schedule-threads | FileCheck %s --check-prefix=THREADS

// PROTECT: @exp(%{{.*}}: vector<8xf32>)
// PROTECT: func.func @arguments(%{{.*}}: tensor<4xf32> {bufferization.writable = false}, %{{.*}}: index)
// PROTECT: func.func private @callee(%{{.*}}: tensor<4xf32>)

// MATH-LABEL: @exp
// MATH-NOT: math.exp
// MATH: math.fma
// MATH-LABEL: @exp_f64
// MATH: math.exp
func.func @exp(%x: vector<8xf32>) -> vector<8xf32> {
  %y = math.exp %x : vector<8xf32>
  return %y : vector<8xf32>
}

func.func @exp_f64(%x: f64) -> f64 {
  %y = math.exp %x : f64
  return %y : f64
}

func.func @arguments(%x: tensor<4xf32>, %i: index) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

func.func private @callee(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// COPY-LABEL: @copies
// COPY: linalg.generic
// COPY-NOT: memref.copy %arg0
// COPY: memref.copy %arg1, %arg2
func.func @copies(%a: memref<4x4xf32, strided<[8, 1]>>, %b: memref<4x4xf32>, %c: memref<4x4xf32>) {
  memref.copy %a, %b : memref<4x4xf32, strided<[8, 1]>> to memref<4x4xf32>
  memref.copy %b, %c : memref<4x4xf32> to memref<4x4xf32>
  return
}

// The old maximum is read after the new one is written over it.
// KEEP-LABEL: @carried
// KEEP: scf.for {{.*}} iter_args(%[[OLD:[a-z0-9]+]] = 
// KEEP:   %[[SAVED:.*]] = linalg.copy ins(%[[OLD]]
// KEEP:   %[[NEW:.*]] = linalg.max {{.*}} outs(%[[OLD]]
// KEEP:   linalg.sub ins(%[[SAVED]], %[[NEW]]
func.func @carried(%x: tensor<4xf32>, %y: tensor<4xf32>, %a: tensor<4xf32>, %b: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %a, %t = %b) -> (tensor<4xf32>, tensor<4xf32>) {
    %max = linalg.max ins(%x, %y : tensor<4xf32>, tensor<4xf32>) outs(%s : tensor<4xf32>) -> tensor<4xf32>
    %d = linalg.sub ins(%s, %max : tensor<4xf32>, tensor<4xf32>) outs(%t : tensor<4xf32>) -> tensor<4xf32>
    scf.yield %max, %d : tensor<4xf32>, tensor<4xf32>
  }
  return %r#1 : tensor<4xf32>
}

// THREADS-LABEL: @parallel
// THREADS: omp.parallel
// THREADS: omp.wsloop schedule(dynamic)
// THREADS-NOT: memref.alloca_scope
// THREADS: memref.store
func.func @parallel(%m: memref<?xf32>, %n: index, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    memref.store %x, %m[%i] : memref<?xf32>
    scf.reduce
  }
  return
}
