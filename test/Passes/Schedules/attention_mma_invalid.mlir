// RUN: rudnn-opt %s -rudnn-schedule=chip=sm_80 -split-input-file -verify-diagnostics

func.func @dim(%q: memref<1x4x64x264xbf16>) {
  // expected-error @+1 {{the sm_80 schedule does not apply: a head dim is more than 256}}
  rudnn.attention ins(%q, %q, %q : memref<1x4x64x264xbf16>, memref<1x4x64x264xbf16>, memref<1x4x64x264xbf16>) outs(%q : memref<1x4x64x264xbf16>)
  return
}

// -----

!strided = memref<1x4x64x64xbf16, strided<[16384, 4096, 68, 1]>>
func.func @strides(%q: !strided, %o: memref<1x4x64x64xbf16>) {
  // expected-error @+1 {{the sm_80 schedule does not apply: an operand's strides or offset are not multiples of 16 bytes}}
  rudnn.attention ins(%q, %q, %q : !strided, !strided, !strided) outs(%o : memref<1x4x64x64xbf16>)
  return
}

// -----

!columns = memref<1x4x64x64xbf16, strided<[16384, 4096, 1, 64]>>
func.func @columns(%q: !columns, %o: memref<1x4x64x64xbf16>) {
  // expected-error @+1 {{the sm_80 schedule does not apply: the last dim of an operand is not contiguous}}
  rudnn.attention ins(%q, %q, %q : !columns, !columns, !columns) outs(%o : memref<1x4x64x64xbf16>)
  return
}
