// RUN: rudnn-opt %s -rudnn-schedule=chip=sm_86 -split-input-file -verify-diagnostics

func.func @depth(%a: memref<64x20xbf16>, %b: memref<32x20xbf16>, %d: memref<64x32xbf16>) {
  // expected-error @+1 {{the sm_86 schedule does not apply: the last extent of an operand is not a static multiple of 8}}
  rudnn_tile.gemm ins(%a, %b : memref<64x20xbf16>, memref<32x20xbf16>) outs(%d : memref<64x32xbf16>) transpose_b epilogue {
  ^bb0(%x: f32):
    %y = arith.truncf %x : f32 to bf16
    rudnn_tile.yield %y : bf16
  }
  return
}

// -----

!columns = memref<64x64xbf16, strided<[1, 64]>>
func.func @columns(%a: !columns, %d: memref<64x64xbf16>) {
  // expected-error @+1 {{the sm_86 schedule does not apply: the last dim of an operand is not contiguous}}
  rudnn_tile.gemm ins(%a, %d : !columns, memref<64x64xbf16>) outs(%d : memref<64x64xbf16>) epilogue {
  ^bb0(%x: f32):
    %y = arith.truncf %x : f32 to bf16
    rudnn_tile.yield %y : bf16
  }
  return
}

// -----

func.func @epilogue(%a: memref<64x64xbf16>, %d: memref<64x64xbf16>) {
  // expected-error @+1 {{the sm_86 schedule does not apply: the epilogue has a 'math.sin'}}
  rudnn_tile.gemm ins(%a, %a : memref<64x64xbf16>, memref<64x64xbf16>) outs(%d : memref<64x64xbf16>) epilogue {
  ^bb0(%x: f32):
    %z = math.sin %x : f32
    %y = arith.truncf %z : f32 to bf16
    rudnn_tile.yield %y : bf16
  }
  return
}
