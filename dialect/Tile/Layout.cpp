//===- Layout.cpp - Where the elements of a register tile live -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rudnn/Tile/Layout.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;
using namespace rudnn::tile;

using Basis = Layout::Basis;
using Bases = Layout::Bases;

static bool isZero(const Basis &basis) {
  return all_of(basis, [](int64_t x) { return x == 0; });
}

Layout::Layout(Bases reg, Bases lane, Bases warp, SmallVector<int64_t> rep)
    : reg(std::move(reg)), lane(std::move(lane)), warp(std::move(warp)),
      rep(std::move(rep)) {
  canonicalize();
}

SmallVector<int64_t> Layout::tile() const {
  SmallVector<int64_t> extents(rank(), 1);
  for (const Bases *bases : {&reg, &lane, &warp})
    for (const Basis &basis : *bases)
      for (unsigned d = 0; d < rank(); ++d)
        if (basis[d])
          extents[d] =
              std::max<int64_t>(extents[d], PowerOf2Ceil(basis[d] + 1));
  return extents;
}

void Layout::canonicalize() {
  SmallVector<int64_t> extents = tile();
  for (int d = int(rank()) - 1; d >= 0; --d) {
    while (rep[d] % 2 == 0) {
      Basis basis(rank(), 0);
      basis[d] = extents[d];
      reg.push_back(basis);
      extents[d] *= 2;
      rep[d] /= 2;
    }
    // Slower dims repeat behind this one: their bits would not be contiguous.
    if (rep[d] != 1)
      break;
  }
}

SmallVector<int64_t> Layout::shape() const {
  SmallVector<int64_t> extents = tile();
  for (unsigned d = 0; d < rank(); ++d)
    extents[d] *= rep[d];
  return extents;
}

int64_t Layout::numRegs() const {
  int64_t n = int64_t(1) << reg.size();
  for (int64_t r : rep)
    n *= r;
  return n;
}

Basis Layout::at(int64_t r, int64_t l, int64_t w) const {
  Basis coords(rank(), 0);
  auto add = [&](const Bases &bases, int64_t bits) {
    for (auto [i, basis] : enumerate(bases))
      if (bits >> i & 1)
        for (unsigned d = 0; d < rank(); ++d)
          coords[d] ^= basis[d];
  };
  add(reg, r);
  add(lane, l);
  add(warp, w);
  int64_t copy = r >> reg.size();
  SmallVector<int64_t> extents = tile();
  for (int d = int(rank()) - 1; d >= 0; --d) {
    coords[d] += copy % rep[d] * extents[d];
    copy /= rep[d];
  }
  return coords;
}

/// Coordinates as one bit string.
static uint64_t pack(ArrayRef<int64_t> coords, ArrayRef<int64_t> extents) {
  uint64_t bits = 0;
  unsigned shift = 0;
  for (auto [x, extent] : zip_equal(coords, extents)) {
    bits |= uint64_t(x) << shift;
    shift += Log2_64(extent);
  }
  return bits;
}

namespace {
/// Gaussian elimination over GF(2) of the bases of a layout, as bit strings.
/// `which` has one bit per basis: registers, then lanes, then warps.
struct Elimination {
  struct Row {
    uint64_t value, which;
  };
  SmallVector<Row> rows; // distinct leading bits
  bool independent = true;

  explicit Elimination(const Layout &layout) {
    SmallVector<int64_t> extents = layout.tile();
    unsigned index = 0;
    for (ArrayRef<Basis> bases :
         {layout.regBases(), layout.laneBases(), layout.warpBases()})
      for (const Basis &basis : bases)
        add(pack(basis, extents), uint64_t(1) << index++);
  }

  void add(uint64_t value, uint64_t which) {
    bool matters = value != 0;
    reduce(value, which);
    if (value)
      rows.push_back({value, which});
    else if (matters)
      independent = false;
  }

  void reduce(uint64_t &value, uint64_t &which) const {
    for (const Row &row : rows)
      if (value >> Log2_64(row.value) & 1) {
        value ^= row.value;
        which ^= row.which;
      }
  }
};
} // namespace

std::optional<ElementPlace> Layout::locate(ArrayRef<int64_t> coords) const {
  SmallVector<int64_t> extents = tile();
  SmallVector<int64_t> inside(coords);
  int64_t copy = 0;
  for (unsigned d = 0; d < rank(); ++d) {
    if (coords[d] < 0 || coords[d] >= extents[d] * rep[d])
      return std::nullopt;
    copy = copy * rep[d] + coords[d] / extents[d];
    inside[d] = coords[d] % extents[d];
  }
  Elimination rows(*this);
  uint64_t value = pack(inside, extents), which = 0;
  rows.reduce(value, which); // a row has no leading bit of an earlier one
  if (value)
    return std::nullopt;
  ElementPlace place;
  place.reg = int64_t(which & maskTrailingOnes<uint64_t>(reg.size())) |
              copy << reg.size();
  place.lane = which >> reg.size() & maskTrailingOnes<uint64_t>(lane.size());
  place.warp = which >> (reg.size() + lane.size());
  return place;
}

bool Layout::isValid(std::string *why) const {
  auto fail = [&](const char *text) {
    if (why)
      *why = text;
    return false;
  };
  if (lane.size() != 5)
    return fail("a warp has 5 lane bits");
  for (const Bases *bases : {&reg, &lane, &warp})
    for (const Basis &basis : *bases)
      if (basis.size() != rank())
        return fail("a basis vector has the wrong rank");
  if (any_of(rep, [](int64_t r) { return r < 1; }))
    return fail("a repetition is less than 1");
  if (any_of(reg, isZero))
    return fail("two registers hold the same element");
  Elimination rows(*this);
  if (!rows.independent)
    return fail("the basis vectors depend on each other");
  unsigned bits = 0;
  for (int64_t extent : tile())
    bits += Log2_64(extent);
  if (rows.rows.size() != bits)
    return fail("the basis vectors don't reach every element");
  return true;
}

bool Layout::operator==(const Layout &other) const {
  return reg == other.reg && lane == other.lane && warp == other.warp &&
         rep == other.rep;
}

//===----------------------------------------------------------------------===//
// Named layouts
//===----------------------------------------------------------------------===//

/// Bits of warps: `rows` of them `rowStep` rows apart, then `cols` of them
/// `colStep` columns apart; steps of 0 make warps that hold the same.
static Bases warpGrid(int64_t rows, int64_t rowStep, int64_t cols,
                      int64_t colStep) {
  Bases warp;
  for (int64_t i = 1; i < rows; i *= 2)
    warp.push_back({i * rowStep, 0});
  for (int64_t i = 1; i < cols; i *= 2)
    warp.push_back({0, i * colStep});
  return warp;
}

/// Registers of a warp's columns by 8, when other warps hold the next ones.
static void addColumns(Bases &reg, int64_t cols, int64_t warpCols) {
  if (warpCols > 1)
    for (int64_t col = 8; col < cols / warpCols; col *= 2)
      reg.push_back({0, col});
}

Layout Layout::accumulator(int64_t rows, int64_t cols, int64_t warpRows,
                           int64_t warpCols) {
  // Thread l of a warp, element i of an 8-column step: row l/4 + 8*(i/2),
  // column 2*(l%4) + i%2 (PTX ISA, mma.m16n8k16 and wgmma accumulators).
  Bases reg = {{0, 1}, {8, 0}};
  addColumns(reg, cols, warpCols);
  return Layout(reg, {{0, 2}, {0, 4}, {1, 0}, {2, 0}, {4, 0}},
                warpGrid(warpRows, 16, warpCols, cols / warpCols),
                {rows / (16 * warpRows), warpCols > 1 ? 1 : cols / 8});
}

Layout Layout::operandA(int64_t rows, int64_t k, int64_t warpRows,
                        int64_t warpCols) {
  return Layout({{0, 1}, {8, 0}}, {{0, 2}, {0, 4}, {1, 0}, {2, 0}, {4, 0}},
                warpGrid(warpRows, 16, warpCols, 0),
                {rows / (16 * warpRows), k / 8});
}

Layout Layout::operandB(int64_t k, int64_t n, int64_t warpRows,
                        int64_t warpCols) {
  Bases reg = {{1, 0}, {8, 0}};
  addColumns(reg, n, warpCols);
  Bases warp;
  if (warpCols > 1)
    warp = warpGrid(warpRows, 0, warpCols, n / warpCols);
  return Layout(reg, {{2, 0}, {4, 0}, {0, 1}, {0, 2}, {0, 4}}, warp,
                {k / 16, warpCols > 1 ? 1 : n / 8});
}

Layout Layout::row(int64_t cols, int64_t vector, int64_t warps) {
  Bases reg, lane, warp;
  int64_t x = 1;
  for (; x < vector; x *= 2)
    reg.push_back({x});
  for (; x < vector * 32; x *= 2)
    lane.push_back({x});
  for (; x < vector * 32 * warps; x *= 2)
    warp.push_back({x});
  return Layout(reg, lane, warp, {cols / x});
}

std::optional<Layout>
Layout::named(StringRef name, ArrayRef<int64_t> shape,
              std::optional<std::pair<int64_t, int64_t>> warps) {
  if (shape.empty() || shape.size() > 2)
    return std::nullopt;
  bool isCols = name == "acc_cols", isB = name == "operand_b";
  auto [warpRows, warpCols] =
      warps.value_or(std::pair<int64_t, int64_t>(isB      ? 1
                                                 : isCols ? 4
                                                          : shape[0] / 16,
                                                 1));
  if (warpRows < 1 || warpCols < 1 || !isPowerOf2_64(warpRows) ||
      !isPowerOf2_64(warpCols) || warpRows * warpCols > 8)
    return std::nullopt;
  auto isRows = [rows = warpRows](int64_t extent) {
    return extent > 0 && extent % (16 * rows) == 0;
  };
  auto isColumns = [cols = warpCols](int64_t extent) {
    return extent > 0 && extent % (8 * cols) == 0 &&
           (cols == 1 || isPowerOf2_64(extent / (8 * cols)));
  };
  auto isDepth = [](int64_t extent) { return extent > 0 && extent % 16 == 0; };
  if (shape.size() == 1) {
    if (name == "acc_rows" && isRows(shape[0]))
      return accumulator(shape[0], 8 * warpCols, warpRows, warpCols).slice(1);
    if (isCols && isColumns(shape[0]))
      return accumulator(16 * warpRows, shape[0], warpRows, warpCols).slice(0);
    return std::nullopt;
  }
  if (name == "acc" && isRows(shape[0]) && isColumns(shape[1]))
    return accumulator(shape[0], shape[1], warpRows, warpCols);
  if (name == "acc_quads" && isRows(shape[0]) && shape[1] == 4 && warpCols == 1)
    return accumulator(shape[0], 8, warpRows, 1).partial(1);
  if (name == "operand_a" && isRows(shape[0]) && isDepth(shape[1]))
    return operandA(shape[0], shape[1], warpRows, warpCols);
  if (isB && isDepth(shape[0]) && isColumns(shape[1]))
    return operandB(shape[0], shape[1], warpRows, warpCols);
  return std::nullopt;
}

std::string Layout::name() const {
  SmallVector<int64_t> extents = shape();
  constexpr const char *kNames[] = {"acc",      "acc_rows",  "acc_quads",
                                    "acc_cols", "operand_a", "operand_b"};
  for (const char *candidate : kNames)
    if (std::optional<Layout> layout = named(candidate, extents))
      if (*layout == *this)
        return candidate;
  for (const char *candidate : kNames)
    for (int64_t rows : {1, 2, 4, 8})
      for (int64_t cols = 1; rows * cols <= 8; cols *= 2)
        if (std::optional<Layout> layout =
                named(candidate, extents, std::pair(rows, cols)))
          if (*layout == *this)
            return candidate + ("<" + std::to_string(rows)) + "x" +
                   std::to_string(cols) + ">";
  return "";
}

//===----------------------------------------------------------------------===//
// Derived layouts
//===----------------------------------------------------------------------===//

static Basis without(const Basis &basis, unsigned dim) {
  Basis result = basis;
  result.erase(result.begin() + dim);
  return result;
}

Layout Layout::slice(unsigned dim) const {
  auto project = [&](const Bases &bases, bool dropZero) {
    Bases result;
    for (const Basis &basis : bases)
      if (Basis rest = without(basis, dim); !dropZero || !isZero(rest))
        result.push_back(rest);
    return result;
  };
  SmallVector<int64_t> rest(rep);
  rest.erase(rest.begin() + dim);
  return Layout(project(reg, true), project(lane, false), project(warp, false),
                rest);
}

Layout Layout::partial(unsigned dim) const {
  // Registers of the dim go; what lanes and warps hold is numbered anew.
  Bases newReg;
  for (const Basis &basis : reg)
    if (basis[dim] == 0)
      newReg.push_back(basis);
  SmallVector<int64_t> held;
  for (const Bases *bases : {&lane, &warp})
    for (const Basis &basis : *bases)
      if (basis[dim])
        held.push_back(basis[dim]);
  llvm::sort(held);
  auto renumber = [&](const Bases &bases) {
    Bases result;
    for (Basis basis : bases) {
      if (basis[dim])
        basis[dim] = int64_t(1)
                     << (llvm::find(held, basis[dim]) - held.begin());
      result.push_back(basis);
    }
    return result;
  };
  SmallVector<int64_t> newRep(rep);
  newRep[dim] = 1;
  return Layout(newReg, renumber(lane), renumber(warp), newRep);
}

std::optional<Layout> Layout::columns(int64_t size) const {
  unsigned dim = rank() - 1;
  SmallVector<int64_t> extents = tile();
  int64_t total = extents[dim] * rep[dim];
  if (size < 1 || total % size != 0)
    return std::nullopt;
  // Within the bits: `size` must be a power of two, and no thread bit beyond
  // it.
  if (size % extents[dim] == 0) {
    SmallVector<int64_t> newRep(rep);
    newRep[dim] = size / extents[dim];
    return Layout(reg, lane, warp, newRep);
  }
  if (!isPowerOf2_64(size))
    return std::nullopt;
  Bases newReg;
  for (const Basis &basis : reg)
    if (basis[dim] < size)
      newReg.push_back(basis);
  for (const Bases *bases : {&lane, &warp})
    for (const Basis &basis : *bases)
      if (basis[dim] >= size)
        return std::nullopt;
  SmallVector<int64_t> newRep(rep);
  newRep[dim] = 1;
  return Layout(newReg, lane, warp, newRep);
}

std::optional<SmallVector<int64_t>>
Layout::registerPermutation(const Layout &from, const Layout &to) {
  if (from.shape() != to.shape() || from.lane != to.lane ||
      from.warp != to.warp || from.numRegs() != to.numRegs())
    return std::nullopt;
  SmallVector<int64_t> result;
  for (int64_t r = 0; r < to.numRegs(); ++r) {
    std::optional<ElementPlace> place = from.locate(to.at(r));
    if (!place || place->lane != 0 || place->warp != 0)
      return std::nullopt;
    result.push_back(place->reg);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Encoding
//===----------------------------------------------------------------------===//

SmallVector<int64_t> Layout::encode() const {
  SmallVector<int64_t> code = {int64_t(rank()), int64_t(reg.size()),
                               int64_t(lane.size()), int64_t(warp.size())};
  for (const Bases *bases : {&reg, &lane, &warp})
    for (const Basis &basis : *bases)
      append_range(code, basis);
  append_range(code, rep);
  return code;
}

Layout Layout::decode(ArrayRef<int64_t> code) {
  unsigned rank = code[0];
  ArrayRef<int64_t> rest = code.drop_front(4);
  auto take = [&](unsigned n) {
    Basis basis(rest.take_front(n));
    rest = rest.drop_front(n);
    return basis;
  };
  Bases bases[3];
  for (unsigned i = 0; i < 3; ++i)
    for (int64_t j = 0; j < code[1 + i]; ++j)
      bases[i].push_back(take(rank));
  return Layout(bases[0], bases[1], bases[2], SmallVector<int64_t>(rest));
}
