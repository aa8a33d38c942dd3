// RUN: rudnn-opt %s -rudnn-schedule=chip=sm_80 -split-input-file -verify-diagnostics

func.func @dynamic_row(%x: memref<8x?xbf16>) {
  // expected-error @+1 {{the sm_80 schedule does not apply: the row length is dynamic}}
  rudnn.softmax ins(%x : memref<8x?xbf16>) outs(%x : memref<8x?xbf16>)
  return
}

// -----

func.func @bytes(%x: memref<8x1001xbf16>, %g: memref<1001xf32>) {
  // expected-error @+1 {{the sm_80 schedule does not apply: a row is not a multiple of 16 bytes}}
  rudnn.rms_norm ins(%x, %g : memref<8x1001xbf16>, memref<1001xf32>) outs(%x : memref<8x1001xbf16>)
  return
}

// -----

func.func @tensors(%x: tensor<8x1024xbf16>, %y: tensor<8x1024xbf16>) -> tensor<8x1024xbf16> {
  // expected-error @+1 {{must be on memrefs (bufferize first)}}
  %r = rudnn.softmax ins(%x : tensor<8x1024xbf16>) outs(%y : tensor<8x1024xbf16>) -> tensor<8x1024xbf16>
  return %r : tensor<8x1024xbf16>
}

// -----

func.func @long_row(%x: memref<8x65544xf32>, %g: memref<65544xf32>) {
  // expected-error @+1 {{the sm_80 schedule does not apply: a row has more than 65536 elements}}
  rudnn.layer_norm ins(%x, %g : memref<8x65544xf32>, memref<65544xf32>) outs(%x : memref<8x65544xf32>)
  return
}
