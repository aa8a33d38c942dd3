// RUN: rudnn-opt %s -split-input-file -verify-diagnostics

// Types and layouts.

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

// expected-error @+1 {{'lane' has 9 numbers, expected a multiple of the rank 2}}
func.func private @layout_vector(!rudnn_tile.fragment<64x8xf32, reg = [0, 1] lane = [0, 2, 0, 4, 1, 0, 2, 0, 4] warp = [8, 0] rep = [1, 1]>)

// -----

// expected-error @+1 {{'rep' has 2 numbers, expected 1}}
func.func private @layout_rep(!rudnn_tile.fragment<64xf32, reg = [1] lane = [2, 4, 8, 16, 32] warp = [] rep = [1, 1]>)

// -----

// expected-error @+1 {{negative vector or repetition less than 1}}
func.func private @layout_negative(!rudnn_tile.fragment<64xf32, reg = [-1] lane = [2, 4, 8, 16, 32] warp = [] rep = [1]>)

// -----

// expected-error @+1 {{negative vector or repetition less than 1}}
func.func private @layout_repetition(!rudnn_tile.fragment<64xf32, reg = [1] lane = [2, 4, 8, 16, 32] warp = [] rep = [0]>)

// -----

// expected-error @+1 {{not a layout: }}
func.func private @layout_holes(!rudnn_tile.fragment<64xf32, reg = [] lane = [2, 4, 8, 16, 32] warp = [] rep = [1]>)

// -----

// expected-error @+1 {{expected 1 to 5 extents}}
func.func private @layout_rank(!rudnn_tile.fragment<2x2x2x2x2x2xf32, acc>)

// -----

// expected-error @+1 {{ring has 8 consumer warp groups, expected 1 to 7}}
func.func private @ring_consumers_range(!rudnn_tile.ring<2, consumers = 8>)

// -----

// expected-error @+1 {{TMA element type is 'i1', expected a float or integer of whole bytes}}
func.func private @tma_element(!rudnn_tile.tma<64x128xi1, swizzle = 0>)

// -----

// expected-error @+1 {{TMA box extent is 257, expected 1 to 256}}
func.func private @tma_extent(!rudnn_tile.tma<257x64xbf16, swizzle = 128>)

// -----

// expected-error @+1 {{TMA box row has 24 bytes, expected a multiple of 16}}
func.func private @tma_row_bytes(!rudnn_tile.tma<64x12xbf16, swizzle = 32>)

// -----

// expected-error @+1 {{swizzle is 96, expected 0, 32, 64 or 128}}
func.func private @tma_swizzle_value(!rudnn_tile.tma<64x32xbf16, swizzle = 96>)
