// RUN: rudnn-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{the layout does not cover shape 128}}
func.func private @layout_shape(!rudnn_tile.fragment<128xf32, reg = [1] lane = [2, 4, 8, 16, 32] warp = [] rep = [1]>)

// -----

// expected-error @+1 {{not a layout: the basis vectors depend on each other}}
func.func private @layout_dependent(!rudnn_tile.fragment<64xf32, reg = [1] lane = [2, 4, 8, 16, 32] warp = [32] rep = [1]>)

// -----

// expected-error @+1 {{not a layout: a warp has 5 lane bits}}
func.func private @layout_lanes(!rudnn_tile.fragment<16xf32, reg = [1] lane = [2, 4, 8] warp = [] rep = [1]>)

// -----

// expected-error @+1 {{layout 'acc' does not exist for shape 48x8}}
func.func private @layout_name(!rudnn_tile.fragment<48x8xf32, acc>)

// -----

// expected-error @+1 {{fragment element type is 'f64', expected f32, f16, bf16, i32 or i1}}
func.func private @fragment_element(!rudnn_tile.fragment<64x8xf64, acc>)

// -----

// expected-error @+1 {{ring has 0 stages, expected 1 to 16}}
func.func private @ring_stages(!rudnn_tile.ring<0, consumers = 2>)

// -----

// expected-error @+1 {{TMA box row has 256 bytes, more than the swizzle of 128}}
func.func private @tma_row(!rudnn_tile.tma<64x128xbf16, swizzle = 128>)

// -----

// expected-error @+1 {{swizzle is 16, expected 0, 32, 64 or 128}}
func.func private @swizzle(memref<64x64xbf16, #rudnn_tile.shared<swizzle = 16>>)

// -----

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

func.func @tma_coords(%a: !rudnn_tile.tma<64x64xbf16, swizzle = 128>, %t: memref<64x64xbf16, #rudnn_tile.shared<swizzle = 128>>, %r: !rudnn_tile.ring<1, consumers = 1>, %i: index) {
  // expected-error @+1 {{has 1 coordinates, expected 2}}
  rudnn_tile.tma_load %a[%i] to %t, full %r[%i] : !rudnn_tile.tma<64x64xbf16, swizzle = 128>, memref<64x64xbf16, #rudnn_tile.shared<swizzle = 128>>, !rudnn_tile.ring<1, consumers = 1>
  return
}

// -----

func.func @tma_tile(%a: !rudnn_tile.tma<64x64xbf16, swizzle = 128>, %t: memref<32x64xbf16, #rudnn_tile.shared<swizzle = 128>>, %i: index) {
  // expected-error @+1 {{is not one box of '!rudnn_tile.tma<64x64xbf16, swizzle = 128>' or a row of such panels}}
  rudnn_tile.tma_store %t to %a[%i, %i] : memref<32x64xbf16, #rudnn_tile.shared<swizzle = 128>>, !rudnn_tile.tma<64x64xbf16, swizzle = 128>
  return
}

// -----

func.func @tma_swizzle(%a: !rudnn_tile.tma<64x64xbf16, swizzle = 128>, %t: memref<64x64xbf16, #rudnn_tile.shared>, %i: index) {
  // expected-error @+1 {{descriptor has swizzle 128, the tile 0}}
  rudnn_tile.tma_store %t to %a[%i, %i] : memref<64x64xbf16, #rudnn_tile.shared>, !rudnn_tile.tma<64x64xbf16, swizzle = 128>
  return
}

// -----

func.func @wgmma_k(%a: memref<64x64xbf16, #rudnn_tile.shared<swizzle = 128>>, %b: memref<2x64x64xbf16, #rudnn_tile.shared<swizzle = 128>>) {
  // expected-error @+1 {{K of a is 64 and of b 128, expected equal multiples of 16}}
  %0 = rudnn_tile.wgmma %a, %b : memref<64x64xbf16, #rudnn_tile.shared<swizzle = 128>>, memref<2x64x64xbf16, #rudnn_tile.shared<swizzle = 128>> -> !rudnn_tile.fragment<64x64xf32, acc>
  return
}

// -----

func.func @wgmma_result(%a: memref<64x64xbf16, #rudnn_tile.shared<swizzle = 128>>, %b: memref<64x64xbf16, #rudnn_tile.shared<swizzle = 128>>) {
  // expected-error @+1 {{result must be 64x64xf32 in layout acc}}
  %0 = rudnn_tile.wgmma %a, %b : memref<64x64xbf16, #rudnn_tile.shared<swizzle = 128>>, memref<64x64xbf16, #rudnn_tile.shared<swizzle = 128>> -> !rudnn_tile.fragment<64x128xf32, acc>
  return
}

// -----

func.func @wgmma_in_flight(%a: memref<64x64xbf16, #rudnn_tile.shared<swizzle = 128>>) {
  // expected-error @+1 {{the product is in flight, but 'rudnn_tile.convert' reads it without rudnn_tile.wgmma_wait}}
  %0 = rudnn_tile.wgmma %a, %a : memref<64x64xbf16, #rudnn_tile.shared<swizzle = 128>>, memref<64x64xbf16, #rudnn_tile.shared<swizzle = 128>> -> !rudnn_tile.fragment<64x64xf32, acc>
  %1 = rudnn_tile.convert %0 : !rudnn_tile.fragment<64x64xf32, acc> -> !rudnn_tile.fragment<64x64xbf16, acc>
  return
}

// -----

func.func @reduce_layout(%x: !rudnn_tile.fragment<64x64xf32, acc>) {
  // expected-error @+1 {{is not the slice}}
  %0 = rudnn_tile.reduce max %x dim 0 : !rudnn_tile.fragment<64x64xf32, acc> -> !rudnn_tile.fragment<64xf32, acc_rows>
  return
}

// -----

func.func @reduce_warps(%x: !rudnn_tile.fragment<64x64xf32, acc>) {
  // expected-error @+1 {{dim 0 is spread over warps}}
  %0 = rudnn_tile.reduce max %x dim 0 : !rudnn_tile.fragment<64x64xf32, acc> -> !rudnn_tile.fragment<64xf32, acc_cols>
  return
}

// -----

func.func @map_layout(%x: !rudnn_tile.fragment<64xf32, acc_rows>, %y: !rudnn_tile.fragment<64xf32, acc_cols>) {
  // expected-error @+1 {{operand 1 has layout}}
  %0 = rudnn_tile.map (%x, %y) {
  ^bb0(%a: f32, %b: f32):
    rudnn_tile.yield %a : f32
  } : (!rudnn_tile.fragment<64xf32, acc_rows>, !rudnn_tile.fragment<64xf32, acc_cols>) -> !rudnn_tile.fragment<64xf32, acc_rows>
  return
}

// -----

func.func @convert_type(%x: !rudnn_tile.fragment<64x8xf32, acc>) {
  // expected-error @+1 {{converts 'f32' to 'i32'}}
  %0 = rudnn_tile.convert %x : !rudnn_tile.fragment<64x8xf32, acc> -> !rudnn_tile.fragment<64x8xi32, acc>
  return
}

// -----

func.func @convert_layout_scratch(%x: !rudnn_tile.fragment<64x8xf32, acc>) {
  // expected-error @+1 {{elements change their threads: needs `scratch` and `group`}}
  %0 = rudnn_tile.convert_layout %x : !rudnn_tile.fragment<64x8xf32, acc> -> !rudnn_tile.fragment<64x8xf32, reg = [0, 1, 0, 2] lane = [0, 4, 1, 0, 2, 0, 4, 0, 8, 0] warp = [16, 0, 32, 0] rep = [1, 1]>
  return
}

// -----

func.func @columns_offset(%x: !rudnn_tile.fragment<64x64xf32, acc>) {
  // expected-error @+1 {{offset is 16, expected a multiple of 32 within the fragment}}
  %0 = rudnn_tile.columns %x from 16 : !rudnn_tile.fragment<64x64xf32, acc> -> !rudnn_tile.fragment<64x32xf32, acc>
  return
}

// -----

func.func @store_shared_panels(%x: !rudnn_tile.fragment<64x64xbf16, acc>, %t: memref<2x64x64xbf16, #rudnn_tile.shared<swizzle = 128>>) {
  // expected-error @+1 {{does not hold}}
  rudnn_tile.store_shared %x to %t : !rudnn_tile.fragment<64x64xbf16, acc>, memref<2x64x64xbf16, #rudnn_tile.shared<swizzle = 128>>
  return
}

// -----

func.func @alloc_row() {
  // expected-error @+1 {{a row of the tile has 64 bytes, expected the swizzle of 128}}
  %0 = rudnn_tile.alloc -> memref<64x32xbf16, #rudnn_tile.shared<swizzle = 128>>
  return
}

// -----

func.func @alloc_over() {
  %0 = rudnn_tile.alloc -> memref<32x64xbf16, #rudnn_tile.shared<swizzle = 128>>
  // expected-error @+1 {{the tile needs 8192 bytes, `over` has 4096}}
  %1 = rudnn_tile.alloc over %0 : memref<32x64xbf16, #rudnn_tile.shared<swizzle = 128>> -> memref<64x64xbf16, #rudnn_tile.shared<swizzle = 128>>
  return
}

// -----

func.func @load_strides(%x: memref<?xf32>, %o: i64) {
  // expected-error @+1 {{has 2 strides, expected 1}}
  %0 = rudnn_tile.load %x[%o] strides [1, 2] : memref<?xf32> -> !rudnn_tile.fragment<64xf32, acc_rows>
  return
}

// -----

func.func @turns(%g: index) {
  // expected-error @+1 {{turns of 1 warp groups, expected 2 to 4}}
  rudnn_tile.turn_take %g of 1
  return
}
