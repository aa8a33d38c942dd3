// RUN: rudnn-opt %s -rudnn-schedule -split-input-file -verify-diagnostics

func.func @experts(%x: memref<4x1025xf32>, %i: memref<4x2xi32>, %p: memref<4x2xf32>) {
  // expected-error @+1 {{the sm_90a schedule does not apply: there are more than 1024 experts}}
  rudnn.moe.route ins(%x : memref<4x1025xf32>) outs(%i, %p : memref<4x2xi32>, memref<4x2xf32>)
  return
}

// -----

func.func @choices(%x: memref<4x64xf32>, %i: memref<4x33xi32>, %p: memref<4x33xf32>) {
  // expected-error @+1 {{the sm_90a schedule does not apply: a token chooses more than 32 experts}}
  rudnn.moe.route ins(%x : memref<4x64xf32>) outs(%i, %p : memref<4x33xi32>, memref<4x33xf32>)
  return
}
