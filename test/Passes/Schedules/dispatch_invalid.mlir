// RUN: rudnn-opt %s -rudnn-schedule -split-input-file -verify-diagnostics

func.func @width(%x: memref<4x?xbf16>, %ids: memref<4x2xi32>, %v: memref<8x?xbf16>, %o: memref<9xi32>, %r: memref<8xi32>) {
  // expected-error @+1 {{the sm_90a schedule does not apply: the rows are not of f32, f16 or bf16, or their length is dynamic}}
  rudnn.moe.dispatch ins(%x, %ids : memref<4x?xbf16>, memref<4x2xi32>)
      outs(%v, %o, %ids, %r : memref<8x?xbf16>, memref<9xi32>, memref<4x2xi32>, memref<8xi32>)
  return
}

// -----

func.func @experts(%x: memref<4x8xbf16>, %ids: memref<4x2xi32>, %v: memref<8x8xbf16>, %o: memref<6145xi32>, %r: memref<8xi32>) {
  // expected-error @+1 {{the sm_90a schedule does not apply: there are more experts than counters in shared memory}}
  rudnn.moe.dispatch ins(%x, %ids : memref<4x8xbf16>, memref<4x2xi32>)
      outs(%v, %o, %ids, %r : memref<8x8xbf16>, memref<6145xi32>, memref<4x2xi32>, memref<8xi32>)
  return
}

// -----

func.func @combine(%y: memref<8x?xbf16>, %rows: memref<4x2xi32>, %w: memref<4x2xf32>, %out: memref<4x?xbf16>) {
  // expected-error @+1 {{the sm_90a schedule does not apply: the rows are not of f32, f16 or bf16, or their length is dynamic}}
  rudnn.moe.combine ins(%y, %rows, %w : memref<8x?xbf16>, memref<4x2xi32>, memref<4x2xf32>) outs(%out : memref<4x?xbf16>)
  return
}
