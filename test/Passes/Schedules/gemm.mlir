// RUN: rudnn-opt %s -verify-each -rudnn-schedule -canonicalize -cse | FileCheck %s

// A product with a bias: what the schedule makes of it.
func.func @gemm(%a: memref<?x1024xbf16>, %b: memref<4096x1024xbf16>, %bias: memref<4096xf32>,
                %d: memref<?x4096xbf16>) {
  rudnn_tile.gemm ins(%a, %b : memref<?x1024xbf16>, memref<4096x1024xbf16>) extras(%bias : memref<4096xf32>)
      outs(%d : memref<?x4096xbf16>) transpose_b epilogue {
  ^bb0(%sum: f32, %x: f32):
    %r = arith.addf %sum, %x : f32
    %y = arith.truncf %r : f32 to bf16
    rudnn_tile.yield %y : bf16
  }
  return
}

// The host describes the tensors and launches one block per multiprocessor.
// CHECK-LABEL: func.func @gemm
// CHECK-DAG:  %[[A:.*]] = rudnn_tile.tma_descriptor %{{.*}} : memref<?x1024xbf16> -> <128x64xbf16, swizzle = 128>
// CHECK-DAG:  %[[B:.*]] = rudnn_tile.tma_descriptor %{{.*}} : memref<4096x1024xbf16> -> <256x64xbf16, swizzle = 128>
// CHECK-DAG:  %[[D:.*]] = rudnn_tile.tma_descriptor %{{.*}} : memref<?x4096xbf16> -> <64x64xbf16, swizzle = 128>
// CHECK:      %[[BLOCKS:.*]] = arith.minsi %{{.*}}, %c132
// CHECK:      rudnn_tile.launch @rudnn_kernels::@gemm blocks(%[[BLOCKS]], %c1, %c1) args(%[[A]], %[[B]], %[[D]],

// CHECK-LABEL: rudnn_tile.kernel @gemm
// CHECK-SAME:  threads = 384 : i32
// Four stages of both operands, two buffers for the result of each consumer.
// CHECK:      %[[TA:.*]] = rudnn_tile.alloc -> memref<4x128x64xbf16
// CHECK:      %[[TB:.*]] = rudnn_tile.alloc -> memref<4x256x64xbf16
// CHECK:      %[[OUT:.*]] = rudnn_tile.alloc -> memref<4x64x64xbf16
// CHECK:      %[[RING:.*]] = rudnn_tile.ring : <4, consumers = 2>
// CHECK:      role "producer" groups 1 registers 40
// CHECK:        rudnn_tile.single_thread
// CHECK:          scf.for %[[TILE:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%[[FIRST:.*]] =
// CHECK:            scf.for %[[STEP:.*]] =
// CHECK:              %[[IT:.*]] = arith.addi %[[FIRST]], %[[STEP]]
// CHECK:              rudnn_tile.ring_acquire %[[RING]][%[[IT]]]
// CHECK:              rudnn_tile.tma_load {{.*}} full %[[RING]][%[[IT]]]
// CHECK:              rudnn_tile.tma_load {{.*}} full %[[RING]][%[[IT]]]
// CHECK:              rudnn_tile.ring_commit %[[RING]][%[[IT]]]
// CHECK:      role "consumer" groups 2 registers 232
// The first step starts the sum; each further one runs while the one before ends. The
// first consumer passes the turn after a few steps.
// CHECK:        rudnn_tile.turn_edge %{{.*}} of 2 first
// CHECK:        rudnn_tile.turn_take
// CHECK:        rudnn_tile.ring_wait
// CHECK:        %[[START:.*]] = rudnn_tile.wgmma %{{.*}}, %{{.*}} : {{.*}} -> <64x256xf32, acc>
// CHECK:        %[[AHEAD:.*]] = scf.for {{.*}} iter_args(%[[ACC:.*]] = %[[START]])
// CHECK:          rudnn_tile.ring_wait
// CHECK:          %[[NEXT:.*]] = rudnn_tile.wgmma %{{.*}}, %{{.*}} acc %[[ACC]]
// CHECK:          rudnn_tile.wgmma_wait 1
// CHECK:          rudnn_tile.ring_release
// CHECK:          scf.yield %[[NEXT]]
// CHECK:        rudnn_tile.turn_pass
// CHECK:        %[[SUM:.*]] = scf.for {{.*}} iter_args(%{{.*}} = %[[AHEAD]])
// The bias of the first columns is on its way when the last product ends.
// CHECK:        %[[BIAS:.*]] = rudnn_tile.load {{.*}} -> <64xf32, acc_cols>
// CHECK:        rudnn_tile.wgmma_wait 0 for %[[SUM]]
// CHECK:        rudnn_tile.ring_release
// The epilogue, 64 columns at a time.
// CHECK:        %[[PART:.*]] = rudnn_tile.columns %{{.*}} from 0 : <64x256xf32, acc> -> <64x64xf32, acc>
// CHECK:        rudnn_tile.load {{.*}} -> <64xf32, acc_cols>
// CHECK:        %[[FULL:.*]] = rudnn_tile.broadcast %[[BIAS]] dim 0
// CHECK:        rudnn_tile.map(%[[PART]], %[[FULL]])
// CHECK:          arith.addf
// CHECK:        rudnn_tile.convert
// CHECK:        rudnn_tile.tma_store_wait 1 read
// CHECK:        rudnn_tile.group_barrier
// CHECK:        rudnn_tile.store_shared
// CHECK:        rudnn_tile.group_barrier
// CHECK:        rudnn_tile.tma_store
// CHECK:        rudnn_tile.columns %{{.*}} from 64
// CHECK:        rudnn_tile.columns %{{.*}} from 192

// SiLU divides by 1 + e^-x: a product with its reciprocal, which is one instruction.
func.func @silu(%a: memref<?x64xbf16>, %b: memref<256x64xbf16>, %d: memref<?x256xf32>) {
  rudnn_tile.gemm ins(%a, %b : memref<?x64xbf16>, memref<256x64xbf16>)
      outs(%d : memref<?x256xf32>) transpose_b epilogue {
  ^bb0(%sum: f32):
    %one = arith.constant 1.0 : f32
    %m = arith.negf %sum : f32
    %e = math.exp %m : f32
    %p = arith.addf %e, %one : f32
    %r = arith.divf %sum, %p : f32
    rudnn_tile.yield %r : f32
  }
  return
}

// CHECK-LABEL: rudnn_tile.kernel @gemm_{{[0-9]}}
// CHECK:      %[[P:.*]] = arith.addf %{{.*}}, %[[ONE:.*]] : f32
// CHECK-NEXT: %[[R:.*]] = arith.divf %[[ONE]], %[[P]] fastmath<contract> : f32
// CHECK-NEXT: arith.mulf %{{.*}}, %[[R]] fastmath<contract> : f32
