// RUN: rudnn-opt %s -rudnn-schedule -split-input-file -verify-diagnostics

func.func @element(%q: memref<1x4x64x64xf32>) {
  // expected-error @+1 {{the sm_90a schedule does not apply: the elements are neither f16 nor bf16}}
  rudnn.attention ins(%q, %q, %q : memref<1x4x64x64xf32>, memref<1x4x64x64xf32>, memref<1x4x64x64xf32>) outs(%q : memref<1x4x64x64xf32>)
  return
}

// -----

func.func @dim_step(%q: memref<1x4x64x68xbf16>) {
  // expected-error @+1 {{the sm_90a schedule does not apply: a head dim is not a multiple of 8}}
  rudnn.attention ins(%q, %q, %q : memref<1x4x64x68xbf16>, memref<1x4x64x68xbf16>, memref<1x4x64x68xbf16>) outs(%q : memref<1x4x64x68xbf16>)
  return
}

// -----

func.func @dim(%q: memref<1x4x64x264xbf16>) {
  // expected-error @+1 {{the sm_90a schedule does not apply: a head dim is more than 256}}
  rudnn.attention ins(%q, %q, %q : memref<1x4x64x264xbf16>, memref<1x4x64x264xbf16>, memref<1x4x64x264xbf16>) outs(%q : memref<1x4x64x264xbf16>)
  return
}

// -----

func.func @no_keys(%q: memref<1x4x64x64xbf16>, %k: memref<1x4x0x64xbf16>) {
  // expected-error @+1 {{the sm_90a schedule does not apply: there are no rows or no keys}}
  rudnn.attention ins(%q, %k, %k : memref<1x4x64x64xbf16>, memref<1x4x0x64xbf16>, memref<1x4x0x64xbf16>) outs(%q : memref<1x4x64x64xbf16>)
  return
}

// -----

func.func @tensors(%q: tensor<1x4x64x64xbf16>, %o: tensor<1x4x64x64xbf16>) -> tensor<1x4x64x64xbf16> {
  // expected-error @+1 {{must be on memrefs (bufferize first)}}
  %r = rudnn.attention ins(%q, %q, %q : tensor<1x4x64x64xbf16>, tensor<1x4x64x64xbf16>, tensor<1x4x64x64xbf16>) outs(%o : tensor<1x4x64x64xbf16>) -> tensor<1x4x64x64xbf16>
  return %r : tensor<1x4x64x64xbf16>
}
