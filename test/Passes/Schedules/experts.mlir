// RUN: rudnn-opt %s -verify-each -rudnn-schedule -canonicalize -cse | FileCheck %s

// Expert products: a table of row tiles, then two grouped products.
func.func @experts(%x: memref<?x256xbf16>, %offsets: memref<9xi32>, %gate: memref<8x512x256xbf16>,
                   %up: memref<8x512x256xbf16>, %down: memref<8x256x512xbf16>, %y: memref<?x256xbf16>) {
  rudnn.moe.experts ins(%x, %offsets : memref<?x256xbf16>, memref<9xi32>)
      weights(%gate, %up, %down : memref<8x512x256xbf16>, memref<8x512x256xbf16>, memref<8x256x512xbf16>)
      outs(%y : memref<?x256xbf16>)
  return
}

// CHECK-LABEL: func.func @experts(
// CHECK-SAME:    %[[X:.*]]: memref<?x256xbf16>, %[[OFFSETS:.*]]: memref<9xi32>,
// CHECK:       %[[ROWS:.*]] = memref.dim %[[X]]
// 64 rows an expert or fewer on average: tiles of 64 rows.
// CHECK:       %[[FEW:.*]] = arith.cmpi sle, %[[ROWS]], %c512
// CHECK:       arith.select %[[FEW]], %c64, %c128
// The host knows how many tiles there are at most: the full ones, one for each expert and one for
// the rows of no expert on either side.
// CHECK:       %[[SHIFT:.*]] = arith.select %[[FEW]], %c6, %c7
// CHECK:       %[[FULL:.*]] = arith.shrui %[[ROWS]], %[[SHIFT]]
// CHECK:       %[[BOTH:.*]] = arith.addi %[[FULL]], %c10
// CHECK:       %[[MOST:.*]] = arith.minsi %[[ROWS]], %[[BOTH]]
// CHECK:       %[[TABLE:.*]] = memref.alloc(%{{.*}}) : memref<?xi32>
// CHECK:       scf.parallel (%[[TILE:.*]]) = (%c0) to (%[[MOST]])
// CHECK:         scf.for %{{.*}} = %c0 to %c9
// CHECK:           memref.load %[[OFFSETS]]
// CHECK:         memref.store %{{.*}}, %[[TABLE]]
// CHECK:         memref.store %{{.*}}, %[[TABLE]]
// CHECK:         memref.store %{{.*}}, %[[TABLE]]
// CHECK:       %[[ACTIVATED:.*]] = memref.alloc(%[[ROWS]]) : memref<?x512xbf16>
// CHECK:       scf.if %[[FEW]]
// Gate and up: 64 columns of each make the half of a tile that one warp group multiplies.
// CHECK:         rudnn_tile.tma_descriptor %[[X]] : memref<?x256xbf16> -> <64x64xbf16, swizzle = 128>
// CHECK:         rudnn_tile.tma_descriptor %{{.*}} : memref<8x512x256xbf16> -> <1x64x64xbf16, swizzle = 128>
// CHECK:         rudnn_tile.tma_descriptor %{{.*}} : memref<8x512x256xbf16> -> <1x64x64xbf16, swizzle = 128>
// CHECK:         rudnn_tile.launch @rudnn_kernels::@experts_up_few
// CHECK-SAME:      %[[ACTIVATED]], %[[TABLE]]
// CHECK:         rudnn_tile.tma_descriptor %[[ACTIVATED]] : memref<?x512xbf16> -> <64x64xbf16, swizzle = 128>
// CHECK:         rudnn_tile.tma_descriptor %{{.*}} : memref<8x256x512xbf16> -> <1x256x64xbf16, swizzle = 128>
// CHECK:         rudnn_tile.launch @rudnn_kernels::@experts_down_few
// CHECK:       } else {
// CHECK:         rudnn_tile.tma_descriptor %[[X]] : memref<?x256xbf16> -> <128x64xbf16, swizzle = 128>
// CHECK:         rudnn_tile.launch @rudnn_kernels::@experts_up blocks
// CHECK:         rudnn_tile.launch @rudnn_kernels::@experts_down blocks

// CHECK-LABEL: rudnn_tile.kernel @experts_up_few
// CHECK-SAME:  threads = 384 : i32
// CHECK:       %[[COUNT:.*]] = memref.load %[[T:.*]][%c0] : memref<?xi32>
// CHECK:       rudnn_tile.alloc -> memref<5x64x64xbf16
// CHECK:       %[[B:.*]] = rudnn_tile.alloc -> memref<5x256x64xbf16
// CHECK:       role "producer"
// A tile's first row and expert; rows of no expert take zeros from outside of the tensors.
// CHECK:           %[[ROW:.*]] = memref.load %[[T]]
// CHECK:           %[[EXPERT:.*]] = memref.load %[[T]]
// CHECK:           %[[NONE:.*]] = arith.cmpi eq, %{{.*}}, %c8
// CHECK:           arith.select %[[NONE]]
// CHECK:             rudnn_tile.ring_acquire
// CHECK-COUNT-5:     rudnn_tile.tma_load
// CHECK:             rudnn_tile.ring_commit
// CHECK:       role "consumer"
// Both warp groups take all rows and half of the columns each.
// CHECK:         %[[HALF:.*]] = memref.subview {{.*}} [128, 64] [1, 1]
// CHECK:         rudnn_tile.wgmma %{{.*}}, %[[HALF]] {{.*}} -> <64x128xf32, acc>
// The end of the expert's rows bounds what is stored.
// CHECK:         %[[GATE:.*]] = rudnn_tile.columns %{{.*}} from 0 : <64x128xf32, acc> -> <64x64xf32, acc>
// CHECK:         %[[UP:.*]] = rudnn_tile.columns %{{.*}} from 64 : <64x128xf32, acc> -> <64x64xf32, acc>
// CHECK:         rudnn_tile.map(%[[GATE]], %[[UP]])
// CHECK:           math.exp2
// CHECK:           arith.divf
// CHECK:           arith.mulf
// CHECK:         rudnn_tile.store {{.*}} bounds

// Tiles of 128 rows: each warp group has 64 of them and all columns.
// CHECK-LABEL: rudnn_tile.kernel @experts_up(
// CHECK:       rudnn_tile.alloc -> memref<4x128x64xbf16
// CHECK:       role "consumer"
// CHECK:         rudnn_tile.wgmma {{.*}} -> <64x256xf32, acc>
