// REQUIRES: ptxas
// Kernels of the portable schedules through ptxas for each chip: no spill, no stack frame.
// RUN: rudnn-opt %s -pass-pipeline='builtin.module(rudnn-schedule{chip=sm_80},canonicalize,cse,rudnn-kernels-to-nvvm{format=isa chip=sm_80})' -o %t.80.mlir
// RUN: %rudnn_src/test/Target/ptxas.sh %ptxas %t.80.mlir | FileCheck %s
// RUN: rudnn-opt %s -pass-pipeline='builtin.module(rudnn-schedule{chip=sm_86},canonicalize,cse,rudnn-kernels-to-nvvm{format=isa chip=sm_86})' -o %t.86.mlir
// RUN: %rudnn_src/test/Target/ptxas.sh %ptxas %t.86.mlir | FileCheck %s
// RUN: rudnn-opt %s -pass-pipeline='builtin.module(rudnn-schedule{chip=sm_90},canonicalize,cse,rudnn-kernels-to-nvvm{format=isa chip=sm_90})' -o %t.90.mlir
// RUN: %rudnn_src/test/Target/ptxas.sh %ptxas %t.90.mlir | FileCheck %s
// CHECK-DAG: kernel 'attention':{{.*}} 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
// CHECK-DAG: kernel 'attention_1':
// CHECK-DAG: kernel 'attention_2':
// CHECK-DAG: kernel 'attention_3':
// CHECK-DAG: kernel 'attention_4':
// CHECK-DAG: kernel 'attention_5':
// CHECK-DAG: kernel 'attention_6':
// CHECK-DAG: kernel 'gemm':
// CHECK-DAG: kernel 'gemm_1':
// CHECK-DAG: kernel 'rms_norm':
// CHECK-DAG: kernel 'layer_norm':
// CHECK-DAG: kernel 'softmax':

!q = memref<1x4x4096x128xbf16>
!q64 = memref<1x4x?x64xbf16>
!q80 = memref<1x4x?x80xf16>
!q192 = memref<1x4x?x192xbf16>
!q128 = memref<1x4x?x128xbf16>
!q256 = memref<1x4x?x256xbf16>
func.func @attention(%q: !q, %o: !q, %lse: memref<1x4x4096xf32>, %q64: !q64, %q80: !q80, %q192: !q192, %q128: !q128, %q256: !q256, %sinks: memref<4xf32>, %mask: memref<1x1x?x?xi1>, %bias: memref<1x4x?x?xbf16>) {
  rudnn.attention ins(%q, %q, %q : !q, !q, !q) outs(%o, %lse : !q, memref<1x4x4096xf32>)
  rudnn.attention ins(%q, %q, %q : !q, !q, !q) outs(%o, %lse : !q, memref<1x4x4096xf32>) {causal = #rudnn.causal<bottom_right>}
  rudnn.attention ins(%q64, %q64, %q64 : !q64, !q64, !q64) sinks(%sinks : memref<4xf32>) outs(%q64 : !q64) {causal = #rudnn.causal<bottom_right>, window_left = 300 : i64, softcap = 30.0 : f64}
  rudnn.attention ins(%q192, %q192, %q128 : !q192, !q192, !q128) outs(%q128 : !q128) {causal = #rudnn.causal<bottom_right>}
  rudnn.attention ins(%q256, %q256, %q256 : !q256, !q256, !q256) outs(%q256 : !q256) {causal = #rudnn.causal<bottom_right>}
  rudnn.attention ins(%q128, %q128, %q128 : !q128, !q128, !q128) mask(%mask : memref<1x1x?x?xi1>) bias(%bias : memref<1x4x?x?xbf16>) outs(%q128 : !q128)
  rudnn.attention ins(%q80, %q80, %q80 : !q80, !q80, !q80) outs(%q80 : !q80)
  return
}

!a = memref<?x4096xbf16>
func.func @gemm(%a: !a, %b: memref<8192x4096xbf16>, %d: memref<?x8192xbf16>, %bias: memref<8192xf32>, %bn: memref<2x4096x512xf16>, %an: memref<2x?x4096xf16>, %c: memref<2x?x512xf32>) {
  rudnn_tile.gemm ins(%a, %b : !a, memref<8192x4096xbf16>) extras(%bias, %d : memref<8192xf32>, memref<?x8192xbf16>) outs(%d : memref<?x8192xbf16>) transpose_b epilogue {
  ^bb0(%x: f32, %e: f32, %h: bf16):
    %one = arith.constant 1.0 : f32
    %z = arith.addf %x, %e : f32
    %n = arith.negf %z : f32
    %p = math.exp %n : f32
    %q = arith.addf %p, %one : f32
    %r = arith.divf %z, %q : f32
    %w = arith.extf %h : bf16 to f32
    %s = arith.addf %r, %w : f32
    %y = arith.truncf %s : f32 to bf16
    rudnn_tile.yield %y : bf16
  }
  rudnn_tile.gemm ins(%an, %bn : memref<2x?x4096xf16>, memref<2x4096x512xf16>) outs(%c : memref<2x?x512xf32>) epilogue {
  ^bb0(%x: f32):
    rudnn_tile.yield %x : f32
  }
  return
}

func.func @rows(%x: memref<?x8192xbf16>, %g: memref<8192xf32>, %y: memref<?x32768xf16>) {
  rudnn.rms_norm ins(%x, %g : memref<?x8192xbf16>, memref<8192xf32>) outs(%x : memref<?x8192xbf16>)
  rudnn.layer_norm ins(%x, %g : memref<?x8192xbf16>, memref<8192xf32>) beta(%g : memref<8192xf32>) outs(%x : memref<?x8192xbf16>)
  rudnn.softmax ins(%y : memref<?x32768xf16>) outs(%y : memref<?x32768xf16>)
  return
}
