// RUN: rudnn-opt %s -verify-each -rudnn-schedule -canonicalize -cse -split-input-file | FileCheck %s
// RUN: rudnn-opt %s -verify-each -rudnn-schedule=chip=sm_80 -canonicalize -cse -split-input-file | FileCheck %s --check-prefix=MMA

// The descriptors have two dims more, whose strides make rows end where a sequence ends. A
// block looks its sequence up in the offsets; a slot without rows is no trip of the tile loop.
func.func @ragged(%q: memref<?x8x128xbf16>, %k: memref<?x2x128xbf16>, %v: memref<?x2x128xbf16>,
                  %a: memref<?xi32>, %b: memref<?xi32>, %o: memref<?x8x128xbf16>, %lse: memref<8x?xf32>) {
  rudnn.ragged_attention ins(%q, %k, %v : memref<?x8x128xbf16>, memref<?x2x128xbf16>, memref<?x2x128xbf16>)
      offsets(%a, %b : memref<?xi32>, memref<?xi32>) outs(%o, %lse : memref<?x8x128xbf16>, memref<8x?xf32>)
      {causal = #rudnn.causal<bottom_right>}
  return
}

// CHECK-LABEL: func.func @ragged
// CHECK:      memref.reinterpret_cast %arg0 to offset: [0], sizes: [2147483647, 2147483647, 8, 1073741824, 128], strides: [8589933568, 1024, 128, 1024, 1]
// CHECK:      rudnn_tile.tma_descriptor {{.*}} -> <1x1x1x128x64xbf16, swizzle = 128>
// One slot for each 128 rows, one more for each sequence and for the rows of none; 8 heads.
// CHECK:      %[[SEQ:.*]] = arith.subi %{{.*}}, %c1 : index
// CHECK:      %[[SHARE:.*]] = arith.divui %{{.*}}, %c128 : index
// CHECK:      arith.addi %[[SHARE]], %[[SEQ]] : index
// CHECK:      math.ctlz
// CHECK:      rudnn_tile.launch @rudnn_kernels::@ragged_attention blocks(%{{.*}}, %c1, %c1)
// CHECK-LABEL: rudnn_tile.kernel @ragged_attention
// CHECK:      role "producer"
// CHECK:        scf.for
// CHECK:          %[[AT:.*]] = memref.load
// CHECK:          arith.minui
// CHECK:          arith.cmpi sle
// CHECK:          scf.yield
// CHECK:        %[[VALID:.*]] = arith.cmpi slt
// CHECK:        %[[TRIPS:.*]] = arith.select %[[VALID]], %c1, %c0
// CHECK:        scf.for %{{.*}} = %c0 to %[[TRIPS]]
// CHECK:          rudnn_tile.tma_load %arg0[%c1073741824, %{{.*}}, %{{.*}}, %{{.*}}, %c0]
// CHECK:          rudnn_tile.tma_load %arg1[%c1073741824, %{{.*}}, %{{.*}}, %{{.*}}, %c0]
// CHECK:      role "consumer"
// CHECK:        rudnn_tile.store
// CHECK:        rudnn_tile.tma_store {{.*}} to %arg3[%c1073741824, %{{.*}}, %{{.*}}, %{{.*}}, %c0]

// The portable schedule copies rows between the bounds of the sequence, and stores so.
// MMA-LABEL: rudnn_tile.kernel @ragged_attention
// MMA:      memref.load
// MMA:      rudnn_tile.copy_async
// MMA:      rudnn_tile.store
