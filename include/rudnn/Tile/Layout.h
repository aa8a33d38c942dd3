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

  /// Accumulator of m16n8 products (mma.sync, wgmma): `rows`/16 warps stacked
  /// along the rows, each with 16 x `cols`. rows is 16, 32, 64 or 128; cols a
  /// multiple of 8. With cols a multiple of 16 this is also the register A
  /// operand (16 x 16 steps) of the same instructions.
  static Layout accumulator(int64_t rows, int64_t cols);
  /// B operand (k x n) of mma.sync m16n8k16, in every warp: k a multiple of 16,
  /// n of 8.
  static Layout operandB(int64_t k, int64_t n);
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

  /// `acc`, `acc_rows`, `acc_cols`, `acc_quads`, `row_...` or empty when the
  /// layout is none of the named ones.
  std::string name() const;
  /// The named layout of this shape.
  static std::optional<Layout> named(llvm::StringRef name,
                                     llvm::ArrayRef<int64_t> shape);

private:
  void canonicalize();

  Bases reg, lane, warp;
  llvm::SmallVector<int64_t> rep;
};

} // namespace rudnn::tile

#endif // RUDNN_TILE_LAYOUT_H
