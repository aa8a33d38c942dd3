// REQUIRES: ptxas
// Every family's kernel through ptxas: no serialized wgmma, no spill, no stack frame.
// RUN: rudnn-opt %s -pass-pipeline='builtin.module(rudnn-schedule,canonicalize,cse,rudnn-kernels-to-nvvm{format=isa})' -o %t.mlir
// RUN: %rudnn_src/test/Target/ptxas.sh %ptxas %t.mlir | FileCheck %s
// CHECK-DAG: kernel 'gemm':{{.*}} 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
// CHECK-DAG: kernel 'gemm_1':
// CHECK-DAG: kernel 'gemm_2':
// CHECK-DAG: kernel 'gemm_3':
// CHECK-DAG: kernel 'gemm_4':
// CHECK-DAG: kernel 'gemm_5':
// CHECK-DAG: kernel 'attention':
// CHECK-DAG: kernel 'attention_1':
// CHECK-DAG: kernel 'attention_2':
// CHECK-DAG: kernel 'attention_3':
// CHECK-DAG: kernel 'attention_4':
// CHECK-DAG: kernel 'attention_5':
// CHECK-DAG: kernel 'experts_up':
// CHECK-DAG: kernel 'experts_up_few':
// CHECK-DAG: kernel 'experts_down':
// CHECK-DAG: kernel 'experts_down_few':
// CHECK-DAG: kernel 'rms_norm':
// CHECK-DAG: kernel 'layer_norm':
// CHECK-DAG: kernel 'softmax':

!a = memref<?x4096xbf16>
func.func @gemm(%a: !a, %b: memref<8192x4096xbf16>, %d: memref<?x8192xbf16>, %bias: memref<8192xf32>, %bn: memref<4096x512xbf16>, %c: memref<?x512xbf16>) {
  rudnn_tile.gemm ins(%a, %b : !a, memref<8192x4096xbf16>) outs(%d : memref<?x8192xbf16>) transpose_b epilogue {
  ^bb0(%x: f32):
    %y = arith.truncf %x : f32 to bf16
    rudnn_tile.yield %y : bf16
  }
  rudnn_tile.gemm ins(%a, %b : !a, memref<8192x4096xbf16>) extras(%bias : memref<8192xf32>) outs(%d : memref<?x8192xbf16>) transpose_b epilogue {
  ^bb0(%x: f32, %e: f32):
    %one = arith.constant 1.0 : f32
    %z = arith.addf %x, %e : f32
    %n = arith.negf %z : f32
    %p = math.exp %n : f32
    %q = arith.addf %p, %one : f32
    %r = arith.divf %z, %q : f32
    %y = arith.truncf %r : f32 to bf16
    rudnn_tile.yield %y : bf16
  }
  rudnn_tile.gemm ins(%a, %bn : !a, memref<4096x512xbf16>) extras(%c : memref<?x512xbf16>) outs(%c : memref<?x512xbf16>) epilogue {
  ^bb0(%x: f32, %e: bf16):
    %z = arith.extf %e : bf16 to f32
    %r = arith.addf %x, %z : f32
    %y = arith.truncf %r : f32 to bf16
    rudnn_tile.yield %y : bf16
  }
  return
}

// GELU in f16 in a batch; SiLU(x) * up with three extras; an f32 result with columns that no bulk
// copy writes.
!h = memref<?x256x512xf16>
func.func @epilogues(%a: !h, %b: memref<?x512x1024xf16>, %d: memref<?x256x1024xf16>, %row: memref<1024xf16>,
    %x: !a, %w: memref<333x4096xbf16>, %y: memref<?x333xf32>, %up: memref<?x333xbf16>, %gate: memref<?x333xf32>) {
  rudnn_tile.gemm ins(%a, %b : !h, memref<?x512x1024xf16>) extras(%row : memref<1024xf16>) outs(%d : memref<?x256x1024xf16>) epilogue {
  ^bb0(%s: f32, %e: f16):
    %one = arith.constant 1.0 : f32
    %half = arith.constant 0.5 : f32
    %c = arith.constant 0.70710678 : f32
    %f = arith.extf %e : f16 to f32
    %z = arith.addf %s, %f : f32
    %m = arith.mulf %z, %c : f32
    %u = math.erf %m : f32
    %v = arith.addf %u, %one : f32
    %p = arith.mulf %z, %half : f32
    %r = arith.mulf %p, %v : f32
    %t = arith.truncf %r : f32 to f16
    rudnn_tile.yield %t : f16
  }
  rudnn_tile.gemm ins(%x, %w : !a, memref<333x4096xbf16>) extras(%up, %gate : memref<?x333xbf16>, memref<?x333xf32>) outs(%y : memref<?x333xf32>) transpose_b epilogue {
  ^bb0(%s: f32, %e: bf16, %g: f32):
    %f = arith.extf %e : bf16 to f32
    %z = arith.mulf %s, %f : f32
    %r = arith.addf %z, %g : f32
    %u = math.tanh %r : f32
    rudnn_tile.yield %u : f32
  }
  rudnn_tile.gemm ins(%x, %w : !a, memref<333x4096xbf16>) outs(%up : memref<?x333xbf16>) transpose_b epilogue {
  ^bb0(%s: f32):
    %zero = arith.constant 0.0 : f32
    %c = arith.cmpf ogt, %s, %zero : f32
    %l = math.log %s : f32
    %r = arith.select %c, %l, %zero : f32
    %t = arith.truncf %r : f32 to bf16
    rudnn_tile.yield %t : bf16
  }
  return
}

!q = memref<1x4x4096x128xbf16>
!q64 = memref<1x4x?x64xbf16>
!q192 = memref<1x4x?x192xbf16>
!q128 = memref<1x4x?x128xbf16>
!q256 = memref<1x4x?x256xbf16>
func.func @attention(%q: !q, %o: !q, %lse: memref<1x4x4096xf32>, %q64: !q64, %q192: !q192, %q128: !q128, %q256: !q256, %sinks: memref<4xf32>, %mask: memref<1x1x?x?xi1>) {
  rudnn.attention ins(%q, %q, %q : !q, !q, !q) outs(%o, %lse : !q, memref<1x4x4096xf32>)
  rudnn.attention ins(%q, %q, %q : !q, !q, !q) outs(%o, %lse : !q, memref<1x4x4096xf32>) {causal = #rudnn.causal<bottom_right>}
  rudnn.attention ins(%q64, %q64, %q64 : !q64, !q64, !q64) sinks(%sinks : memref<4xf32>) outs(%q64 : !q64) {causal = #rudnn.causal<bottom_right>, window_left = 300 : i64, softcap = 30.0 : f64}
  rudnn.attention ins(%q192, %q192, %q128 : !q192, !q192, !q128) outs(%q128 : !q128) {causal = #rudnn.causal<bottom_right>}
  rudnn.attention ins(%q256, %q256, %q256 : !q256, !q256, !q256) outs(%q256 : !q256) {causal = #rudnn.causal<bottom_right>}
  rudnn.attention ins(%q128, %q128, %q128 : !q128, !q128, !q128) mask(%mask : memref<1x1x?x?xi1>) outs(%q128 : !q128)
  return
}

func.func @rows(%x: memref<?x8192xbf16>, %g: memref<8192xf32>, %y: memref<?x32768xf16>) {
  rudnn.rms_norm ins(%x, %g : memref<?x8192xbf16>, memref<8192xf32>) outs(%x : memref<?x8192xbf16>)
  rudnn.layer_norm ins(%x, %g : memref<?x8192xbf16>, memref<8192xf32>) beta(%g : memref<8192xf32>) outs(%x : memref<?x8192xbf16>)
  rudnn.softmax ins(%y : memref<?x32768xf16>) outs(%y : memref<?x32768xf16>)
  return
}

func.func @experts(%x: memref<?x2048xbf16>, %o: memref<129xi32>, %up: memref<128x768x2048xbf16>, %down: memref<128x2048x768xbf16>) {
  rudnn.moe.experts ins(%x, %o : memref<?x2048xbf16>, memref<129xi32>)
      weights(%up, %up, %down : memref<128x768x2048xbf16>, memref<128x768x2048xbf16>, memref<128x2048x768xbf16>)
      outs(%x : memref<?x2048xbf16>)
  return
}
