// RUN: rudnn-opt %s -split-input-file -verify-diagnostics

// Kernels, roles and the protocol of a ring.

// expected-error @+1 {{has 384 threads, its warp groups 256}}
rudnn_tile.kernel @threads() attributes {threads = 384 : i32} {
  rudnn_tile.warp_groups
    role "a" groups 1 registers 40 (%p) { rudnn_tile.yield }
    role "b" groups 1 registers 40 (%q) { rudnn_tile.yield }
  rudnn_tile.yield
}

// -----

// expected-error @+1 {{argument 0 has type 'tensor<4xf32>'}}
rudnn_tile.kernel @argument(%x: tensor<4xf32>) attributes {threads = 128 : i32} {
  rudnn_tile.yield
}

// -----

// expected-error @+1 {{needs 300000 bytes of shared memory, a block has 232448}}
rudnn_tile.kernel @shared() attributes {threads = 128 : i32, shared_bytes = 300000 : i32} {
  rudnn_tile.yield
}

// -----

rudnn_tile.kernel @registers() attributes {threads = 384 : i32} {
  // expected-error @+1 {{the roles need 66560 registers, an SM has 65536}}
  rudnn_tile.warp_groups
    role "a" groups 1 registers 40 (%p) { rudnn_tile.yield }
    role "b" groups 2 registers 240 (%q) { rudnn_tile.yield }
  rudnn_tile.yield
}

// -----

rudnn_tile.kernel @registers_step() attributes {threads = 256 : i32} {
  // expected-error @+1 {{role "a" has 41 registers a thread, expected a multiple of 8 in 24 to 240}}
  rudnn_tile.warp_groups
    role "a" groups 1 registers 41 (%p) { rudnn_tile.yield }
    role "b" groups 1 registers 240 (%q) { rudnn_tile.yield }
  rudnn_tile.yield
}

// -----

rudnn_tile.kernel @collective() attributes {threads = 128 : i32} {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{'rudnn_tile.group_barrier' is a warp collective: one thread alone would hang}}
  rudnn_tile.single_thread {
    rudnn_tile.group_barrier %c0
  }
  rudnn_tile.yield
}

// -----

rudnn_tile.kernel @ring_commit_missing() attributes {threads = 256 : i32} {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{a block of code acquires it 1 times and commits it 0 times}}
  %ring = rudnn_tile.ring : !rudnn_tile.ring<2, consumers = 1>
  rudnn_tile.warp_groups
    role "p" groups 1 registers 40 (%p) {
      rudnn_tile.ring_acquire %ring[%c0] : !rudnn_tile.ring<2, consumers = 1>
      rudnn_tile.yield
    }
    role "c" groups 1 registers 40 (%q) { rudnn_tile.yield }
  rudnn_tile.yield
}

// -----

rudnn_tile.kernel @ring_release_missing() attributes {threads = 256 : i32} {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{a block of code waits for it 1 times and releases it 0 times}}
  %ring = rudnn_tile.ring : !rudnn_tile.ring<2, consumers = 1>
  rudnn_tile.warp_groups
    role "p" groups 1 registers 40 (%p) { rudnn_tile.yield }
    role "c" groups 1 registers 40 (%q) {
      rudnn_tile.ring_wait %ring[%c0] : !rudnn_tile.ring<2, consumers = 1>
      rudnn_tile.yield
    }
  rudnn_tile.yield
}

// -----

rudnn_tile.kernel @ring_consumers() attributes {threads = 384 : i32} {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{expects 1 consumer warp groups, role "c" has 2}}
  %ring = rudnn_tile.ring : !rudnn_tile.ring<2, consumers = 1>
  rudnn_tile.warp_groups
    role "p" groups 1 registers 40 (%p) { rudnn_tile.yield }
    role "c" groups 2 registers 40 (%q) {
      rudnn_tile.ring_wait %ring[%c0] : !rudnn_tile.ring<2, consumers = 1>
      rudnn_tile.ring_release %ring[%c0] : !rudnn_tile.ring<2, consumers = 1>
      rudnn_tile.yield
    }
  rudnn_tile.yield
}

// -----

rudnn_tile.kernel @ring_trip(%a: !rudnn_tile.tma<64x64xbf16, swizzle = 128>) attributes {threads = 256 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tile = rudnn_tile.alloc -> memref<64x64xbf16, #rudnn_tile.shared<swizzle = 128>>
  %ring = rudnn_tile.ring : !rudnn_tile.ring<1, consumers = 1>
  rudnn_tile.warp_groups
    role "p" groups 1 registers 40 (%p) {
      rudnn_tile.ring_acquire %ring[%c0] : !rudnn_tile.ring<1, consumers = 1>
      // expected-error @+1 {{no rudnn_tile.ring_acquire of this ring and trip stands before it in its block}}
      rudnn_tile.tma_load %a[%c0, %c0] to %tile, full %ring[%c1] : !rudnn_tile.tma<64x64xbf16, swizzle = 128>, memref<64x64xbf16, #rudnn_tile.shared<swizzle = 128>>, !rudnn_tile.ring<1, consumers = 1>
      rudnn_tile.ring_commit %ring[%c0] : !rudnn_tile.ring<1, consumers = 1>
      rudnn_tile.yield
    }
    role "c" groups 1 registers 40 (%q) { rudnn_tile.yield }
  rudnn_tile.yield
}

// -----

rudnn_tile.kernel @ring_roles() attributes {threads = 256 : i32} {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{is produced and consumed by the same role}}
  %ring = rudnn_tile.ring : !rudnn_tile.ring<1, consumers = 1>
  rudnn_tile.warp_groups
    role "p" groups 1 registers 40 (%p) {
      rudnn_tile.ring_acquire %ring[%c0] : !rudnn_tile.ring<1, consumers = 1>
      rudnn_tile.ring_commit %ring[%c0] : !rudnn_tile.ring<1, consumers = 1>
      rudnn_tile.ring_wait %ring[%c0] : !rudnn_tile.ring<1, consumers = 1>
      rudnn_tile.ring_release %ring[%c0] : !rudnn_tile.ring<1, consumers = 1>
      rudnn_tile.yield
    }
    role "c" groups 1 registers 40 (%q) { rudnn_tile.yield }
  rudnn_tile.yield
}

// -----

func.func @turns(%g: index) {
  // expected-error @+1 {{turns of 1 warp groups, expected 2 to 4}}
  rudnn_tile.turn_take %g of 1
  return
}

// -----

// expected-error @+1 {{threads is 100, expected a multiple of 32 up to 1024}}
rudnn_tile.kernel @thread_count() attributes {threads = 100 : i32} {
  rudnn_tile.yield
}

// -----

// expected-error @+1 {{cluster is 16, expected 1 to 8}}
rudnn_tile.kernel @cluster() attributes {threads = 128 : i32, cluster = 16 : i32} {
  rudnn_tile.yield
}

// -----

// expected-error @+1 {{has results}}
"rudnn_tile.kernel"() <{function_type = () -> i32, sym_name = "results", threads = 128 : i32}> ({
  "rudnn_tile.yield"() : () -> ()
}) : () -> ()

// -----

rudnn_tile.kernel @role_names() attributes {threads = 256 : i32} {
  // expected-error @+1 {{has 2 roles, 1 names, 2 group and 2 register counts, expected as many of each, 2 or more}}
  "rudnn_tile.warp_groups"() <{names = ["a"], groups = array<i32: 1, 1>, registers = array<i32: 40, 40>}> ({
  ^bb0(%g: index):
    "rudnn_tile.yield"() : () -> ()
  }, {
  ^bb0(%g: index):
    "rudnn_tile.yield"() : () -> ()
  }) : () -> ()
  rudnn_tile.yield
}

// -----

rudnn_tile.kernel @role_argument() attributes {threads = 256 : i32} {
  // expected-error @+1 {{role "b" must have one argument of type index}}
  "rudnn_tile.warp_groups"() <{names = ["a", "b"], groups = array<i32: 1, 1>, registers = array<i32: 40, 40>}> ({
  ^bb0(%g: index):
    "rudnn_tile.yield"() : () -> ()
  }, {
    "rudnn_tile.yield"() : () -> ()
  }) : () -> ()
  rudnn_tile.yield
}

// -----

rudnn_tile.kernel @role_one() attributes {threads = 128 : i32} {
  // expected-error @+1 {{has 1 roles, 1 names, 1 group and 1 register counts, expected as many of each, 2 or more}}
  rudnn_tile.warp_groups
    role "a" groups 1 registers 40 (%p) { rudnn_tile.yield }
  rudnn_tile.yield
}

// -----

rudnn_tile.kernel @role_groups() attributes {threads = 128 : i32} {
  // expected-error @+1 {{role "b" has 0 warp groups, expected 1 or more}}
  rudnn_tile.warp_groups
    role "a" groups 1 registers 40 (%p) { rudnn_tile.yield }
    role "b" groups 0 registers 40 (%q) { rudnn_tile.yield }
  rudnn_tile.yield
}

// -----

rudnn_tile.kernel @registers_most() attributes {threads = 256 : i32} {
  // expected-error @+1 {{role "b" has 248 registers a thread, expected a multiple of 8 in 24 to 240}}
  rudnn_tile.warp_groups
    role "a" groups 1 registers 40 (%p) { rudnn_tile.yield }
    role "b" groups 1 registers 248 (%q) { rudnn_tile.yield }
  rudnn_tile.yield
}

// -----

rudnn_tile.kernel @roles_last() attributes {threads = 256 : i32} {
  // expected-error @+1 {{must be the last op of its kernel}}
  rudnn_tile.warp_groups
    role "a" groups 1 registers 40 (%p) { rudnn_tile.yield }
    role "b" groups 1 registers 40 (%q) { rudnn_tile.yield }
  %c0 = arith.constant 0 : index
  rudnn_tile.yield
}

// -----

rudnn_tile.kernel @nested_single_thread() attributes {threads = 128 : i32} {
  // expected-error @+1 {{'rudnn_tile.single_thread' is a warp collective: one thread alone would hang}}
  rudnn_tile.single_thread {
    rudnn_tile.single_thread {
    }
  }
  rudnn_tile.yield
}

// -----

rudnn_tile.kernel @elected_reduction(%i: index) attributes {threads = 128 : i32} {
  %zero = arith.constant 0.0 : f32
  %x = rudnn_tile.splat %zero : f32 -> !rudnn_tile.fragment<64x64xf32, acc>
  %yes = arith.cmpi eq, %i, %i : index
  // expected-error @+1 {{'rudnn_tile.reduce' is a warp collective: one thread alone would hang}}
  rudnn_tile.single_thread {
    scf.if %yes {
      %m = rudnn_tile.reduce max %x dim 1 : !rudnn_tile.fragment<64x64xf32, acc> -> !rudnn_tile.fragment<64xf32, acc_rows>
    }
  }
  rudnn_tile.yield
}

// -----

rudnn_tile.kernel @ring_outside() attributes {threads = 256 : i32} {
  %c0 = arith.constant 0 : index
  %ring = rudnn_tile.ring : !rudnn_tile.ring<2, consumers = 1>
  // expected-error @+1 {{stands outside of the roles of warp_groups}}
  rudnn_tile.ring_wait %ring[%c0] : !rudnn_tile.ring<2, consumers = 1>
  rudnn_tile.warp_groups
    role "p" groups 1 registers 40 (%p) { rudnn_tile.yield }
    role "c" groups 1 registers 40 (%q) { rudnn_tile.yield }
  rudnn_tile.yield
}

// -----

rudnn_tile.kernel @ring_two_producers() attributes {threads = 256 : i32} {
  %c0 = arith.constant 0 : index
  %ring = rudnn_tile.ring : !rudnn_tile.ring<2, consumers = 1>
  rudnn_tile.warp_groups
    role "p" groups 1 registers 40 (%p) {
      rudnn_tile.ring_acquire %ring[%c0] : !rudnn_tile.ring<2, consumers = 1>
      // expected-error @+1 {{the ring already has a producer in another role}}
      rudnn_tile.ring_commit %ring[%c0] : !rudnn_tile.ring<2, consumers = 1>
      rudnn_tile.yield
    }
    role "c" groups 1 registers 40 (%q) {
      rudnn_tile.ring_acquire %ring[%c0] : !rudnn_tile.ring<2, consumers = 1>
      rudnn_tile.ring_commit %ring[%c0] : !rudnn_tile.ring<2, consumers = 1>
      rudnn_tile.yield
    }
  rudnn_tile.yield
}

// -----

rudnn_tile.kernel @ring_two_consumers() attributes {threads = 256 : i32} {
  %c0 = arith.constant 0 : index
  %ring = rudnn_tile.ring : !rudnn_tile.ring<2, consumers = 1>
  rudnn_tile.warp_groups
    role "p" groups 1 registers 40 (%p) {
      rudnn_tile.ring_wait %ring[%c0] : !rudnn_tile.ring<2, consumers = 1>
      // expected-error @+1 {{the ring already has a consumer in another role}}
      rudnn_tile.ring_release %ring[%c0] : !rudnn_tile.ring<2, consumers = 1>
      rudnn_tile.yield
    }
    role "c" groups 1 registers 40 (%q) {
      rudnn_tile.ring_wait %ring[%c0] : !rudnn_tile.ring<2, consumers = 1>
      rudnn_tile.ring_release %ring[%c0] : !rudnn_tile.ring<2, consumers = 1>
      rudnn_tile.yield
    }
  rudnn_tile.yield
}

// -----

rudnn_tile.kernel @ring_commit_twice(%n: index) attributes {threads = 256 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error @+1 {{a block of code acquires it 1 times and commits it 2 times}}
  %ring = rudnn_tile.ring : !rudnn_tile.ring<2, consumers = 1>
  rudnn_tile.warp_groups
    role "p" groups 1 registers 40 (%p) {
      scf.for %it = %c0 to %n step %c1 {
        rudnn_tile.ring_acquire %ring[%it] : !rudnn_tile.ring<2, consumers = 1>
        rudnn_tile.ring_commit %ring[%it] : !rudnn_tile.ring<2, consumers = 1>
        rudnn_tile.ring_commit %ring[%it] : !rudnn_tile.ring<2, consumers = 1>
      }
      rudnn_tile.yield
    }
    role "c" groups 1 registers 40 (%q) { rudnn_tile.yield }
  rudnn_tile.yield
}

// -----

rudnn_tile.kernel @ring_commit_before(%a: !rudnn_tile.tma<64x64xbf16, swizzle = 128>) attributes {threads = 256 : i32} {
  %c0 = arith.constant 0 : index
  %tile = rudnn_tile.alloc -> memref<64x64xbf16, #rudnn_tile.shared<swizzle = 128>>
  %ring = rudnn_tile.ring : !rudnn_tile.ring<2, consumers = 1>
  rudnn_tile.warp_groups
    role "p" groups 1 registers 40 (%p) {
      rudnn_tile.ring_acquire %ring[%c0] : !rudnn_tile.ring<2, consumers = 1>
      rudnn_tile.ring_commit %ring[%c0] : !rudnn_tile.ring<2, consumers = 1>
      // expected-error @+1 {{no rudnn_tile.ring_commit of this ring and trip stands after it in its block}}
      rudnn_tile.tma_load %a[%c0, %c0] to %tile, full %ring[%c0] : !rudnn_tile.tma<64x64xbf16, swizzle = 128>, memref<64x64xbf16, #rudnn_tile.shared<swizzle = 128>>, !rudnn_tile.ring<2, consumers = 1>
      rudnn_tile.yield
    }
    role "c" groups 1 registers 40 (%q) { rudnn_tile.yield }
  rudnn_tile.yield
}

// -----

func.func @barrier_bytes(%ring: !rudnn_tile.ring<2, consumers = 1>, %s: index) {
  // expected-error @+1 {{bytes belong to the full barrier only}}
  rudnn_tile.barrier_arrive empty %ring[%s] bytes 8192 : !rudnn_tile.ring<2, consumers = 1>
  return
}

// -----

rudnn_tile.kernel @moments_scratch(%x: memref<?xf32>, %offset: i64) attributes {threads = 64 : i32} {
  %f = rudnn_tile.load %x[%offset] strides [1] : memref<?xf32> -> !rudnn_tile.fragment<128xf32, reg = [1] lane = [2, 4, 8, 16, 32] warp = [64] rep = [1]>
  %scratch = rudnn_tile.alloc -> memref<2xf32, #rudnn_tile.shared>
  // expected-error @+1 {{scratch must be memref<4xf32, #rudnn_tile.shared>, got 'memref<2xf32, #rudnn_tile.shared>'}}
  %mean, %squares = rudnn_tile.block_moments %f with %scratch : !rudnn_tile.fragment<128xf32, reg = [1] lane = [2, 4, 8, 16, 32] warp = [64] rep = [1]>, memref<2xf32, #rudnn_tile.shared>
  rudnn_tile.yield
}

// -----

rudnn_tile.kernel @moments_copies(%x: memref<?xf32>, %offset: i64) attributes {threads = 64 : i32} {
  %f = rudnn_tile.load %x[%offset] strides [1] : memref<?xf32> -> !rudnn_tile.fragment<64xf32, reg = [1] lane = [2, 4, 8, 16, 32] warp = [0] rep = [1]>
  %scratch = rudnn_tile.alloc -> memref<4xf32, #rudnn_tile.shared>
  // expected-error @+1 {{several threads hold the same element of the input}}
  %mean, %squares = rudnn_tile.block_moments %f with %scratch : !rudnn_tile.fragment<64xf32, reg = [1] lane = [2, 4, 8, 16, 32] warp = [0] rep = [1]>, memref<4xf32, #rudnn_tile.shared>
  rudnn_tile.yield
}

// -----

rudnn_tile.kernel @moments_elements(%x: memref<?xbf16>, %offset: i64) attributes {threads = 64 : i32} {
  %f = rudnn_tile.load %x[%offset] strides [1] : memref<?xbf16> -> !rudnn_tile.fragment<128xbf16, reg = [1] lane = [2, 4, 8, 16, 32] warp = [64] rep = [1]>
  %scratch = rudnn_tile.alloc -> memref<4xf32, #rudnn_tile.shared>
  // expected-error @+1 {{input has elements of 'bf16', expected f32}}
  %mean, %squares = rudnn_tile.block_moments %f with %scratch : !rudnn_tile.fragment<128xbf16, reg = [1] lane = [2, 4, 8, 16, 32] warp = [64] rep = [1]>, memref<4xf32, #rudnn_tile.shared>
  rudnn_tile.yield
}
