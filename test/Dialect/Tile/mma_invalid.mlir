// RUN: rudnn-opt %s -split-input-file -verify-diagnostics

rudnn_tile.kernel @element(%x: memref<?xbf16>, %ld: i64, %n: index) attributes {threads = 128 : i32} {
  %t = rudnn_tile.alloc -> memref<64x64xf16, #rudnn_tile.shared<swizzle = 128>>
  // expected-error @+1 {{'rudnn_tile.copy_async' op copies 'bf16', the tile has 'f16'}}
  rudnn_tile.copy_async %x[%ld] leading %ld to %t : memref<?xbf16>, memref<64x64xf16, #rudnn_tile.shared<swizzle = 128>>
  rudnn_tile.yield
}

// -----

rudnn_tile.kernel @rank(%x: memref<?xbf16>, %ld: i64, %n: index) attributes {threads = 128 : i32} {
  %t = rudnn_tile.alloc -> memref<64xbf16, #rudnn_tile.shared>
  // expected-error @+1 {{'rudnn_tile.copy_async' op tile must be rows x columns or panels x rows x columns of whole bytes, got 'memref<64xbf16, #rudnn_tile.shared>'}}
  rudnn_tile.copy_async %x[%ld] leading %ld to %t : memref<?xbf16>, memref<64xbf16, #rudnn_tile.shared>
  rudnn_tile.yield
}

// -----

rudnn_tile.kernel @row(%x: memref<?xbf16>, %ld: i64, %n: index) attributes {threads = 128 : i32} {
  %t = rudnn_tile.alloc -> memref<64x12xbf16, #rudnn_tile.shared>
  // expected-error @+1 {{'rudnn_tile.copy_async' op a row of a panel has 24 bytes, expected a multiple of 16 up to 512}}
  rudnn_tile.copy_async %x[%ld] leading %ld to %t : memref<?xbf16>, memref<64x12xbf16, #rudnn_tile.shared>
  rudnn_tile.yield
}

// -----

rudnn_tile.kernel @bounds(%x: memref<?xbf16>, %ld: i64, %n: index) attributes {threads = 128 : i32} {
  %t = rudnn_tile.alloc -> memref<64x64xbf16, #rudnn_tile.shared<swizzle = 128>>
  // expected-error @+1 {{'rudnn_tile.copy_async' op has 1 bounds, expected 2}}
  rudnn_tile.copy_async %x[%ld] leading %ld bounds(%n) to %t : memref<?xbf16>, memref<64x64xbf16, #rudnn_tile.shared<swizzle = 128>>
  rudnn_tile.yield
}

// -----

rudnn_tile.kernel @columns(%x: memref<?xbf16>, %ld: i64, %n: index) attributes {threads = 128 : i32} {
  %t = rudnn_tile.alloc -> memref<64x64xbf16, #rudnn_tile.shared<swizzle = 128>>
  // expected-error @+1 {{'rudnn_tile.copy_async' op columns is 12, expected whole chunks of 16 bytes up to 64}}
  rudnn_tile.copy_async %x[%ld] leading %ld to %t {columns = 12 : i64} : memref<?xbf16>, memref<64x64xbf16, #rudnn_tile.shared<swizzle = 128>>
  rudnn_tile.yield
}

// -----

rudnn_tile.kernel @columns(%x: memref<?xbf16>, %ld: i64, %n: index) attributes {threads = 128 : i32} {
  %t = rudnn_tile.alloc -> memref<64x64xbf16, #rudnn_tile.shared<swizzle = 128>>
  // expected-error @+1 {{'rudnn_tile.copy_async' op columns is 72, expected whole chunks of 16 bytes up to 64}}
  rudnn_tile.copy_async %x[%ld] leading %ld to %t {columns = 72 : i64} : memref<?xbf16>, memref<64x64xbf16, #rudnn_tile.shared<swizzle = 128>>
  rudnn_tile.yield
}

// -----

rudnn_tile.kernel @pending(%x: memref<?xbf16>, %ld: i64, %n: index) attributes {threads = 128 : i32} {
  // expected-error @+1 {{'rudnn_tile.copy_async_wait' op pending is 8, expected 0 to 7}}
  rudnn_tile.copy_async_wait 8
  rudnn_tile.yield
}

// -----

rudnn_tile.kernel @roles(%n: index) attributes {threads = 256 : i32} {
  rudnn_tile.warp_groups
    role "one" groups 1 registers 40 (%p) {
      // expected-error @+1 {{'rudnn_tile.block_barrier' op stands in a role of warp_groups: the other roles would not arrive}}
      rudnn_tile.block_barrier
      rudnn_tile.yield
    }
    role "two" groups 1 registers 40 (%q) {
      rudnn_tile.yield
    }
  rudnn_tile.yield
}

// -----

rudnn_tile.kernel @load_type(%x: memref<?xbf16>, %ld: i64, %n: index) attributes {threads = 128 : i32} {
  %t = rudnn_tile.alloc -> memref<64x64xbf16, #rudnn_tile.shared<swizzle = 128>>
  // expected-error @+1 {{'rudnn_tile.load_matrix' op loads f16 or bf16 from a tile of the same, got 'memref<64x64xbf16, #rudnn_tile.shared<swizzle = 128>>' and '!rudnn_tile.fragment<64x16xf16, acc>'}}
  %f = rudnn_tile.load_matrix %t from [0, 0] : memref<64x64xbf16, #rudnn_tile.shared<swizzle = 128>> -> !rudnn_tile.fragment<64x16xf16, acc>
  rudnn_tile.yield
}

// -----

rudnn_tile.kernel @load_layout(%x: memref<?xbf16>, %ld: i64, %n: index) attributes {threads = 128 : i32} {
  %t = rudnn_tile.alloc -> memref<64x64xbf16, #rudnn_tile.shared<swizzle = 128>>
  // expected-error @+1 {{'rudnn_tile.load_matrix' op result must have layout acc, operand_a or operand_b, got '!rudnn_tile.fragment<64x4xbf16, acc_quads>'}}
  %f = rudnn_tile.load_matrix %t from [0, 0] : memref<64x64xbf16, #rudnn_tile.shared<swizzle = 128>> -> !rudnn_tile.fragment<64x4xbf16, acc_quads>
  rudnn_tile.yield
}

// -----

rudnn_tile.kernel @load_tile(%x: memref<?xbf16>, %ld: i64, %n: index) attributes {threads = 128 : i32} {
  %t = rudnn_tile.alloc -> memref<64x24xbf16, #rudnn_tile.shared>
  // expected-error @+1 {{'rudnn_tile.load_matrix' op tile must be rows x columns or panels x rows x columns with columns a multiple of 16, got 'memref<64x24xbf16, #rudnn_tile.shared>'}}
  %f = rudnn_tile.load_matrix %t from [0, 0] : memref<64x24xbf16, #rudnn_tile.shared> -> !rudnn_tile.fragment<64x16xbf16, acc>
  rudnn_tile.yield
}

// -----

rudnn_tile.kernel @load_offsets(%x: memref<?xbf16>, %ld: i64, %n: index) attributes {threads = 128 : i32} {
  %t = rudnn_tile.alloc -> memref<64x64xbf16, #rudnn_tile.shared<swizzle = 128>>
  // expected-error @+1 {{'rudnn_tile.load_matrix' op offsets are [4, 0], expected a multiple of 8 rows and of 16 columns}}
  %f = rudnn_tile.load_matrix %t from [4, 0] : memref<64x64xbf16, #rudnn_tile.shared<swizzle = 128>> -> !rudnn_tile.fragment<16x16xbf16, acc>
  rudnn_tile.yield
}

// -----

rudnn_tile.kernel @load_outside(%x: memref<?xbf16>, %ld: i64, %n: index) attributes {threads = 128 : i32} {
  %t = rudnn_tile.alloc -> memref<64x64xbf16, #rudnn_tile.shared<swizzle = 128>>
  // expected-error @+1 {{'rudnn_tile.load_matrix' op reads up to row 80 and column 16 of a tile of 64 x 64}}
  %f = rudnn_tile.load_matrix %t from [16, 0] : memref<64x64xbf16, #rudnn_tile.shared<swizzle = 128>> -> !rudnn_tile.fragment<64x16xbf16, acc>
  rudnn_tile.yield
}

// -----

rudnn_tile.kernel @load_warps(%x: memref<?xbf16>, %ld: i64, %n: index) attributes {threads = 128 : i32} {
  %t = rudnn_tile.alloc -> memref<64x64xbf16, #rudnn_tile.shared<swizzle = 128>>
  // expected-error @+1 {{'rudnn_tile.load_matrix' op a warp starts at column 32 of panels of 64}}
  %f = rudnn_tile.load_matrix %t from [0, 0] : memref<64x64xbf16, #rudnn_tile.shared<swizzle = 128>> -> !rudnn_tile.fragment<16x64xbf16, operand_b<2x2>>
  rudnn_tile.yield
}

// -----

func.func @types(%a: !rudnn_tile.fragment<64x16xf16, acc>, %b: !rudnn_tile.fragment<16x64xbf16, operand_b>, %c: !rudnn_tile.fragment<64x64xf32, acc>) {
  // expected-error @+1 {{'rudnn_tile.mma' op a and b must both be f16 or both bf16 and acc f32, got '!rudnn_tile.fragment<64x16xf16, acc>', '!rudnn_tile.fragment<16x64xbf16, operand_b>' and '!rudnn_tile.fragment<64x64xf32, acc>'}}
  %d = rudnn_tile.mma %a, %b acc %c : !rudnn_tile.fragment<64x16xf16, acc>, !rudnn_tile.fragment<16x64xbf16, operand_b>, !rudnn_tile.fragment<64x64xf32, acc>
  return
}

// -----

func.func @shapes(%a: !rudnn_tile.fragment<64x32xf16, acc>, %b: !rudnn_tile.fragment<16x64xf16, operand_b>, %c: !rudnn_tile.fragment<64x64xf32, acc>) {
  // expected-error @+1 {{'rudnn_tile.mma' op shapes don't form a product with K a multiple of 16: '!rudnn_tile.fragment<64x32xf16, acc>' times '!rudnn_tile.fragment<16x64xf16, operand_b>' into '!rudnn_tile.fragment<64x64xf32, acc>'}}
  %d = rudnn_tile.mma %a, %b acc %c : !rudnn_tile.fragment<64x32xf16, acc>, !rudnn_tile.fragment<16x64xf16, operand_b>, !rudnn_tile.fragment<64x64xf32, acc>
  return
}

// -----

func.func @layout_acc(%a: !rudnn_tile.fragment<16x16xf16, acc>, %b: !rudnn_tile.fragment<16x64xf16, operand_b>, %c: !rudnn_tile.fragment<16x64xf32, operand_b>) {
  // expected-error @+1 {{'rudnn_tile.mma' op acc must be in layout acc<1x1>, got '!rudnn_tile.fragment<16x64xf32, operand_b>'}}
  %d = rudnn_tile.mma %a, %b acc %c : !rudnn_tile.fragment<16x16xf16, acc>, !rudnn_tile.fragment<16x64xf16, operand_b>, !rudnn_tile.fragment<16x64xf32, operand_b>
  return
}

// -----

func.func @layout_a(%a: !rudnn_tile.fragment<64x16xf16, acc<2x1>>, %b: !rudnn_tile.fragment<16x64xf16, operand_b>, %c: !rudnn_tile.fragment<64x64xf32, acc>) {
  // expected-error @+1 {{'rudnn_tile.mma' op a must be in layout operand_a<4x1>, got '!rudnn_tile.fragment<64x16xf16, acc<2x1>>'}}
  %d = rudnn_tile.mma %a, %b acc %c : !rudnn_tile.fragment<64x16xf16, acc<2x1>>, !rudnn_tile.fragment<16x64xf16, operand_b>, !rudnn_tile.fragment<64x64xf32, acc>
  return
}

// -----

func.func @layout_b(%a: !rudnn_tile.fragment<64x16xf16, operand_a<2x2>>, %b: !rudnn_tile.fragment<16x64xf16, operand_b>, %c: !rudnn_tile.fragment<64x64xf32, acc<2x2>>) {
  // expected-error @+1 {{'rudnn_tile.mma' op b must be in layout operand_b<2x2>, got '!rudnn_tile.fragment<16x64xf16, operand_b>'}}
  %d = rudnn_tile.mma %a, %b acc %c : !rudnn_tile.fragment<64x16xf16, operand_a<2x2>>, !rudnn_tile.fragment<16x64xf16, operand_b>, !rudnn_tile.fragment<64x64xf32, acc<2x2>>
  return
}

// -----

// expected-error @+1 {{layout 'acc' does not exist for shape 48x64 and 2x1 warps}}
func.func private @no_such(!rudnn_tile.fragment<48x64xf32, acc<2x1>>)

// -----

// expected-error @+1 {{warps of layout 'acc' are rows x columns, expected 2 numbers, got 1}}
func.func private @one_number(!rudnn_tile.fragment<64x64xf32, acc<4>>)
