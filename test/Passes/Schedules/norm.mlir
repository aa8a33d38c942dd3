// RUN: rudnn-opt %s -verify-each -rudnn-schedule -canonicalize -cse | FileCheck %s

func.func @rms_norm(%x: memref<?x4096xbf16>, %g: memref<4096xf32>, %y: memref<?x4096xbf16>) {
  rudnn.rms_norm ins(%x, %g : memref<?x4096xbf16>, memref<4096xf32>) outs(%y : memref<?x4096xbf16>)
  return
}
func.func @layer_norm(%x: memref<?x4096xbf16>, %g: memref<4096xf32>, %y: memref<?x4096xbf16>) {
  rudnn.layer_norm ins(%x, %g : memref<?x4096xbf16>, memref<4096xf32>) beta(%g : memref<4096xf32>) outs(%y : memref<?x4096xbf16>)
  return
}
func.func @softmax(%x: memref<3x7x1000xf32>, %y: memref<3x7x1000xf32>) {
  rudnn.softmax ins(%x : memref<3x7x1000xf32>) outs(%y : memref<3x7x1000xf32>)
  return
}

func.func @add_rms_norm(%x: memref<?x1024xf16>, %g: memref<1024xf16>, %y: memref<?x1024xf16>) {
  rudnn.add_rms_norm ins(%x, %y, %g : memref<?x1024xf16>, memref<?x1024xf16>, memref<1024xf16>)
      outs(%x, %y : memref<?x1024xf16>, memref<?x1024xf16>)
  return
}
func.func @long_row(%x: memref<?x32768xbf16>, %y: memref<?x32768xbf16>) {
  rudnn.softmax ins(%x : memref<?x32768xbf16>) outs(%y : memref<?x32768xbf16>)
  return
}

// A view with gaps is copied first.
// CHECK-LABEL: func.func @rows_of_a_view
// CHECK:      %[[DENSE:.*]] = memref.alloc(%{{.*}}) : memref<?x64xf32>
// CHECK-NEXT: memref.copy %{{.*}}, %[[DENSE]]
// CHECK:      rudnn_tile.launch {{.*}}%[[DENSE]]
func.func @rows_of_a_view(%x: memref<?x64xf32, strided<[128, 1], offset: ?>>, %y: memref<?x64xf32>) {
  rudnn.softmax ins(%x : memref<?x64xf32, strided<[128, 1], offset: ?>>) outs(%y : memref<?x64xf32>)
  return
}

// A block for each row, which is in the registers of eight warps; gamma from the cache.
// CHECK-LABEL: rudnn_tile.kernel @rms_norm
// CHECK-SAME:  min_blocks = 4 : i32
// CHECK-SAME:  threads = 256 : i32
// CHECK-NOT:  scf.for
// CHECK:      %[[ROW:.*]] = rudnn_tile.load {{.*}} {vector = 8 : i32} : memref<?xbf16> -> <4096xbf16, reg = [1, 2, 4, 2048] lane = [8, 16, 32, 64, 128] warp = [256, 512, 1024] rep = [1]>
// CHECK:      rudnn_tile.convert %[[ROW]]
// CHECK:      rudnn_tile.thread_reduce add
// CHECK:      rudnn_tile.block_reduce add
// CHECK:      math.rsqrt
// CHECK:      rudnn_tile.load {{.*}} : memref<?xf32>
// CHECK:      rudnn_tile.store

// Mean and variance in one reduction.
// CHECK-LABEL: rudnn_tile.kernel @layer_norm
// CHECK-NOT:  rudnn_tile.block_reduce
// CHECK:      rudnn_tile.block_moments
// CHECK-NOT:  rudnn_tile.block_reduce
// CHECK:      math.rsqrt
// CHECK:      rudnn_tile.store

// 1000 elements in 1024 places: -inf behind the end. The two reductions take turns with the scratch.
// CHECK-LABEL: rudnn_tile.kernel @softmax
// CHECK-DAG:  %[[FIRST:.*]] = rudnn_tile.alloc
// CHECK-DAG:  %[[SECOND:.*]] = rudnn_tile.alloc
// CHECK:      rudnn_tile.iota %c-1000 coefficients [1]
// CHECK:      rudnn_tile.block_reduce max {{.*}} with
// CHECK:      math.exp2
// CHECK:      rudnn_tile.block_reduce add {{.*}} with
// CHECK:      rudnn_tile.store {{.*}} bounds(%c1000) {vector = 4 : i32}

// Short rows: blocks walk over rows, x and residual of the next one ahead of the sum. A barrier parts the trips, as
// there is one reduction in each.
// CHECK-LABEL: rudnn_tile.kernel @add_rms_norm
// CHECK:      scf.for {{.*}} iter_args(%[[X:.*]] = %{{.*}}, %[[R:.*]] = %{{.*}})
// CHECK:        %[[X_AHEAD:.*]] = rudnn_tile.load
// CHECK:        %[[R_AHEAD:.*]] = rudnn_tile.load
// CHECK:        rudnn_tile.convert %[[X]]
// CHECK:        rudnn_tile.convert %[[R]]
// CHECK:        rudnn_tile.block_reduce add
// CHECK-COUNT-2: rudnn_tile.store
// CHECK:        rudnn_tile.block_barrier
// CHECK:        scf.yield %[[X_AHEAD]], %[[R_AHEAD]]

// 64 elements for each of 512 threads: the row is read again from the cache behind each barrier.
// CHECK-LABEL: rudnn_tile.kernel @softmax_1
// CHECK-SAME:  threads = 512 : i32
// CHECK:      rudnn_tile.load
// CHECK:      rudnn_tile.block_reduce max
// CHECK:      rudnn_tile.load
// CHECK:      rudnn_tile.block_reduce add
// CHECK:      rudnn_tile.load
// CHECK:      rudnn_tile.store
