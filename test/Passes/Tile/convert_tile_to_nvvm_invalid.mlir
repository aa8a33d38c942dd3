// RUN: rudnn-opt %s -rudnn-convert-tile-to-nvvm -split-input-file -verify-diagnostics

// What has no place yet.
gpu.module @tile_place {
  rudnn_tile.kernel @kernel() attributes {threads = 128 : i32} {
    // expected-error @+2 {{has no place in shared memory: run rudnn-plan-smem}}
    // expected-error @+1 {{failed to legalize operation 'rudnn_tile.alloc'}}
    %a = rudnn_tile.alloc -> memref<64x64xbf16, #rudnn_tile.shared<swizzle = 128>>
    rudnn_tile.yield
  }
}

// -----

gpu.module @ring_place {
  rudnn_tile.kernel @kernel() attributes {threads = 128 : i32} {
    // expected-error @+2 {{has no place in shared memory: run rudnn-plan-smem}}
    // expected-error @+1 {{failed to legalize operation 'rudnn_tile.ring'}}
    %r = rudnn_tile.ring : !rudnn_tile.ring<2, consumers = 1>
    rudnn_tile.yield
  }
}

// -----

// A grid has one dim.
gpu.module @grid {
  rudnn_tile.kernel @kernel(%x: memref<?xf32>) attributes {threads = 128 : i32} {
    // expected-error @+2 {{kernels use dimension x only}}
    // expected-error @+1 {{failed to legalize operation 'gpu.block_id'}}
    %y = gpu.block_id y
    rudnn_tile.yield
  }
}

// -----

gpu.module @functions {
  rudnn_tile.kernel @kernel(%x: f16) attributes {threads = 128 : i32} {
    // expected-error @+2 {{only f32 is supported in kernels, got 'f16'}}
    // expected-error @+1 {{failed to legalize operation 'math.exp2'}}
    %y = math.exp2 %x : f16
    rudnn_tile.yield
  }
}

// -----

// The threads of a cluster's block are not known where its copies are made.
gpu.module @clusters {
  rudnn_tile.kernel @kernel(%x: memref<?xbf16>, %o: i64, %s: i64, %n: index) attributes {threads = 128 : i32, cluster = 2 : i32} {
    %t = rudnn_tile.alloc {offset = 0 : i32} -> memref<64x64xbf16, #rudnn_tile.shared<swizzle = 128>>
    // expected-error @+2 {{is not supported in kernels with clusters}}
    // expected-error @+1 {{failed to legalize operation 'rudnn_tile.copy_async'}}
    rudnn_tile.copy_async %x[%o] leading %s bounds(%n, %n) to %t {columns = 64 : i64} : memref<?xbf16>, memref<64x64xbf16, #rudnn_tile.shared<swizzle = 128>>
    rudnn_tile.yield
  }
}
