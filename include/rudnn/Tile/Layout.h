//===- Layout.h - Where the elements of a register tile live -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A layout maps (register, lane, warp) to the coordinates of a tile element. It
// is linear over GF(2): each bit of the register number, the lane and the warp
// has a basis vector of coordinates, and an element's coordinates are the
// exclusive or of the vectors of the bits that are set. The tile those bits
// cover has power-of-two extents; it is repeated `rep[d]` times along dim d, the
// last dim fastest, with further registers (an extent of 192 is 64 repeated 3
// times). A zero vector means that the bit does not matter: the element is
// replicated over these lanes or warps.
//
// Layouts are kept in one canonical form (even repetitions become register
// bits), so that equal mappings compare equal.
//
//===----------------------------------------------------------------------===//
#ifndef RUDNN_TILE_LAYOUT_H
#define RUDNN_TILE_LAYOUT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <optional>
#include <string>

namespace rudnn::tile {

/// Where one copy of an element is.
struct ElementPlace {
  int64_t reg = 0, lane = 0, warp = 0;
  bool operator==(const ElementPlace &) const = default;
};

class Layout {
public:
  using Basis = llvm::SmallVector<int64_t, 2>;
  using Bases = llvm::SmallVector<Basis>;

  Layout() = default;
  /// `lane` has 5 vectors. `rep` has one entry per dim.
  Layout(Bases reg, Bases lane, Bases warp, llvm::SmallVector<int64_t> rep);

  // Named layouts.

  // Products of m16n8k16 instructions (mma.sync, wgmma): warps in `warpRows` rows
  // and `warpCols` columns share the result. Each warp has blocks of 16 rows, with
  // `warpRows` * 16 rows between them, and one range of columns. warpRows and
  // warpCols are powers of two; with warpCols > 1 the columns of a warp are 8 times
  // a power of two.

  /// The accumulators: rows a multiple of 16 * warpRows, cols of 8 * warpCols.
  /// With warpCols = 1 and cols a multiple of 16 this is also the register A operand.
  static Layout accumulator(int64_t rows, int64_t cols, int64_t warpRows,
                            int64_t warpCols);
  /// With one warp for every 16 rows: rows is 16, 32, 64 or 128.
  static Layout accumulator(int64_t rows, int64_t cols) {
    return accumulator(rows, cols, rows / 16, 1);
  }
  /// A operand (rows x k), k a multiple of 16; equal in the warps of a row.
  static Layout operandA(int64_t rows, int64_t k, int64_t warpRows,
                         int64_t warpCols);
  /// B operand (k x n), k a multiple of 16; equal in the warps of a column. With
  /// warpCols = 1 every warp holds all of it.
  static Layout operandB(int64_t k, int64_t n, int64_t warpRows = 1,
                         int64_t warpCols = 1);
  /// `vector` consecutive elements of the last dim in a thread, then lanes, then
  /// `warps` warps along the last dim, then repetition. vector and warps are
  /// powers of two; `cols` is a multiple of vector * 32 * warps.
  static Layout row(int64_t cols, int64_t vector, int64_t warps);

  // Derived layouts.

  /// Drops dim `dim`: the layout of a reduction's result, replicated over the
  /// lanes and warps that held the dim.
  Layout slice(unsigned dim) const;
  /// Reduces dim `dim` over registers only: its extent becomes the number of
  /// threads that hold a part of each element.
  Layout partial(unsigned dim) const;
  /// `size` elements of the last dim from an offset that is a multiple of
  /// `size`; nothing when the registers of such a piece aren't the same in all
  /// threads.
  std::optional<Layout> columns(int64_t size) const;

  // Queries.

  unsigned rank() const { return rep.size(); }
  llvm::SmallVector<int64_t> shape() const;
  int64_t numRegs() const;
  unsigned warpBits() const { return warp.size(); }
  llvm::ArrayRef<Basis> regBases() const { return reg; }
  llvm::ArrayRef<Basis> laneBases() const { return lane; }
  llvm::ArrayRef<Basis> warpBases() const { return warp; }
  llvm::ArrayRef<int64_t> repetition() const { return rep; }
  /// Extents of what the bits cover.
  llvm::SmallVector<int64_t> tile() const;
  /// Coordinates of an element.
  Basis at(int64_t r, int64_t l = 0, int64_t w = 0) const;
  /// The inverse: the place of an element with all free bits zero; nothing when
  /// the coordinates are outside of the tile.
  std::optional<ElementPlace> locate(llvm::ArrayRef<int64_t> coords) const;
  /// Every element of the tile is somewhere, and bits that do matter are
  /// independent of each other.
  bool isValid(std::string *why = nullptr) const;

  bool operator==(const Layout &other) const;

  /// The registers of `from` that make up `to` in order, when no value has to
  /// change its thread; nothing otherwise.
  static std::optional<llvm::SmallVector<int64_t>>
  registerPermutation(const Layout &from, const Layout &to);

  /// A flat encoding (rank, counts, vectors) and back.
  llvm::SmallVector<int64_t> encode() const;
  static Layout decode(llvm::ArrayRef<int64_t> code);

  /// `acc`, `acc_rows`, `acc_cols`, `acc_quads`, `operand_a`, `operand_b`, where the
  /// warps aren't the default ones with their number, as `acc<4x1>`; empty when the
  /// layout is none of the named ones.
  std::string name() const;
  /// The named layout of this shape. Warps {rows, columns} default to one for every
  /// 16 rows and one column of them.
  static std::optional<Layout>
  named(llvm::StringRef name, llvm::ArrayRef<int64_t> shape,
        std::optional<std::pair<int64_t, int64_t>> warps = std::nullopt);

private:
  void canonicalize();

  Bases reg, lane, warp;
  llvm::SmallVector<int64_t> rep;
};

} // namespace rudnn::tile

#endif // RUDNN_TILE_LAYOUT_H
