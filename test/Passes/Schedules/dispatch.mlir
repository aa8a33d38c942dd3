// RUN: rudnn-opt %s -verify-each -rudnn-schedule -canonicalize -cse | FileCheck %s

// Slots sorted by counting in one block, rows copied by a thread for each 16 bytes.
func.func @dispatch(%x: memref<?x256xbf16>, %ids: memref<?x2xi32>, %values: memref<?x256xbf16>, %offsets: memref<9xi32>,
                    %slot_rows: memref<?x2xi32>, %row_slots: memref<?xi32>) {
  rudnn.moe.dispatch ins(%x, %ids : memref<?x256xbf16>, memref<?x2xi32>)
      outs(%values, %offsets, %slot_rows, %row_slots : memref<?x256xbf16>, memref<9xi32>, memref<?x2xi32>, memref<?xi32>)
  return
}

// CHECK-LABEL: func.func @dispatch(
// CHECK-SAME:    %[[X:[^:]*]]: {{.*}}, %[[IDS:[^:]*]]: {{.*}}, %[[VALUES:[^:]*]]: {{.*}}, %[[OFFSETS:[^:]*]]: {{.*}}, %[[SLOT_ROWS:[^:]*]]: {{.*}}, %[[ROW_SLOTS:[^:]*]]:
// CHECK-DAG:   %[[SLOTS:.*]] = memref.collapse_shape %[[IDS]]
// CHECK-DAG:   %[[ROWS:.*]] = memref.collapse_shape %[[SLOT_ROWS]]
// 32 warps with nine counters each: eight experts and none.
// CHECK:       gpu.launch {{.*}} threads(%{{.*}}, %{{.*}}, %{{.*}}) in (%{{.*}} = %c1024
// CHECK-SAME:    workgroup(%[[COUNTERS:.*]] : memref<288xi32, #gpu.address_space<workgroup>>, %[[TOTALS:.*]] : memref<9xi32, #gpu.address_space<workgroup>>)
// CHECK:         memref.store %c0_i32, %[[COUNTERS]]
// CHECK:         gpu.barrier
// Counting: lanes of one expert find each other, one of them adds.
// CHECK:         memref.load %[[SLOTS]]
// CHECK:         %[[SAME:.*]] = nvvm.match.sync any
// CHECK:         llvm.intr.ctpop
// CHECK:         scf.if
// CHECK:           memref.store %{{.*}}, %[[COUNTERS]]
// CHECK:         nvvm.bar.warp.sync
// CHECK:         gpu.barrier
// CHECK:         memref.store %{{.*}}, %[[TOTALS]]
// CHECK:         gpu.barrier
// CHECK:         memref.store %{{.*}}, %[[OFFSETS]]
// CHECK:         gpu.barrier
// Handing out rows.
// CHECK:         nvvm.match.sync any
// CHECK:         memref.store %{{.*}}, %[[ROWS]]
// CHECK:         memref.store %{{.*}}, %[[ROW_SLOTS]]
// CHECK:       scf.parallel (%[[ROW:.*]], %[[COLUMN:.*]]) = {{.*}} step (%c1, %c8)
// CHECK:         %[[SLOT:.*]] = memref.load %[[ROW_SLOTS]][%[[ROW]]]
// CHECK:         scf.if
// CHECK:           %[[TOKEN:.*]] = arith.divui
// CHECK:           vector.load %[[X]][%[[TOKEN]], %[[COLUMN]]] {alignment = 16 : i64} : memref<?x256xbf16>, vector<8xbf16>
// CHECK:         vector.store %{{.*}}, %[[VALUES]][%[[ROW]], %[[COLUMN]]] {alignment = 16 : i64}

// Widths that are no multiple of 16 bytes move in smaller pieces.
func.func @combine(%y: memref<?x20xf16>, %rows: memref<?x3xi32>, %weights: memref<?x3xf32>, %out: memref<?x20xf16>) {
  rudnn.moe.combine ins(%y, %rows, %weights : memref<?x20xf16>, memref<?x3xi32>, memref<?x3xf32>)
      outs(%out : memref<?x20xf16>)
  return
}

// CHECK-LABEL: func.func @combine
// CHECK:       scf.parallel {{.*}} step (%c1, %c4)
// CHECK:         %[[SUM:.*]] = scf.for %{{.*}} = %c0 to %c3 step %c1 iter_args(%[[OLD:.*]] = %{{.*}}) -> (vector<4xf32>)
// CHECK:           %[[VALID:.*]] = arith.cmpi ult
// CHECK:           scf.if %[[VALID]]
// CHECK:             vector.load {{.*}} : memref<?x20xf16>, vector<4xf16>
// CHECK:             arith.extf
// CHECK:             arith.mulf
// CHECK:             arith.addf %[[OLD]]
// CHECK:           } else {
// CHECK:             scf.yield %[[OLD]]
// CHECK:         arith.truncf %[[SUM]] : vector<4xf32> to vector<4xf16>
// CHECK:         vector.store
