//===- Matrix.cpp - mma.sync, ldmatrix, stmatrix ----------------*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Machine.h"
#include "Numeric.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace rudnn::emulator;

//===----------------------------------------------------------------------===//
// mma.sync
//===----------------------------------------------------------------------===//

namespace {

/// An m16n8 instruction with K elements of `bits` bits, whose A is g x t
/// pieces of 32 bits: register r of A holds row g + 8 * (r & 1) and the
/// elements from piece 4 * (r >> 1) + t.
struct MmaShape {
  unsigned k, elementBits;
  unsigned perRegister() const { return 32 / elementBits; }
  unsigned aRegisters() const { return k * 16 / (32 * perRegister()); }
  unsigned bRegisters() const { return k * 8 / (32 * perRegister()); }
};

} // namespace

static MmaShape shapeOf(const Inst &inst) {
  return {unsigned(inst.a), bitWidth(inst.type(1))};
}

static bool integer(PtxType t) { return t == PtxType::S8 || t == PtxType::U8; }

static std::string decodeMma(Inst &inst) {
  StringRef shape;
  for (const std::string &token : inst.tokens)
    if (StringRef(token).starts_with("m16"))
      shape = token;
  unsigned k = 0;
  if (!shape.consume_front("m16n8k") || shape.getAsInteger(10, k))
    return "the emulator models mma.sync of the shapes m16n8kK";
  if (inst.types.size() != 4)
    return "mma.sync takes four types";
  if (!inst.has("row") || !inst.has("col"))
    return "mma.sync takes the layouts .row.col";
  inst.a = k;
  PtxType d = inst.types[0], a = inst.types[1], b = inst.types[2];
  bool small = a == PtxType::E4M3 || a == PtxType::E5M2 || integer(a);
  unsigned bits = bitWidth(a);
  if (bits != bitWidth(b) || (k * bits != 256 && k * bits != 128))
    return "mma.sync of this shape and these types is not modelled";
  if (integer(a)
          ? d != PtxType::S32
          : d != PtxType::F32 && !(d == PtxType::F16 && a == PtxType::F16))
    return "mma.sync with this accumulator type is not modelled";
  if (!small && a != PtxType::F16 && a != PtxType::BF16 && a != PtxType::TF32)
    return "mma.sync with this operand type is not modelled";
  return "";
}

static double element(PtxType type, uint32_t reg, unsigned i) {
  unsigned bits = bitWidth(type);
  uint32_t v = bits == 32 ? reg : reg >> (i * bits) & ((1u << bits) - 1);
  return toDouble(type, v);
}

/// All lanes' registers: A, B and C as 32-bit words.
struct MmaRegisters {
  uint32_t a[kWarpSize][4], b[kWarpSize][2], c[kWarpSize][4];
};

static void multiply(const Inst &inst, MmaRegisters &r) {
  MmaShape shape = shapeOf(inst);
  PtxType d = inst.types[0], ta = inst.types[1], tb = inst.types[2];
  unsigned per = shape.perRegister();
  float a[16][32], b[8][32];
  for (unsigned lane = 0; lane < kWarpSize; ++lane) {
    unsigned g = lane / 4, t = lane % 4;
    for (unsigned i = 0; i < shape.aRegisters(); ++i)
      for (unsigned j = 0; j < per; ++j)
        a[g + 8 * (i & 1)][(4 * (i >> 1) + t) * per + j] =
            element(ta, r.a[lane][i], j);
    for (unsigned i = 0; i < shape.bRegisters(); ++i)
      for (unsigned j = 0; j < per; ++j)
        b[g][(4 * i + t) * per + j] = element(tb, r.b[lane][i], j);
  }
  for (unsigned lane = 0; lane < kWarpSize; ++lane) {
    unsigned g = lane / 4, t = lane % 4;
    for (unsigned i = 0; i < 4; ++i) {
      unsigned row = g + 8 * (i >> 1), column = 2 * t + (i & 1);
      if (d == PtxType::S32) {
        int32_t sum = int32_t(r.c[lane][i]);
        for (unsigned k = 0; k < shape.k; ++k)
          sum += int32_t(a[row][k]) * int32_t(b[column][k]);
        r.c[lane][i] = uint32_t(sum);
        continue;
      }
      float sum = 0;
      for (unsigned k = 0; k < shape.k; ++k)
        sum += a[row][k] * b[column][k];
      if (d == PtxType::F32) {
        r.c[lane][i] = floatBits(floatFromBits(r.c[lane][i]) + sum);
      } else { // two halves in a register
        uint32_t &word = r.c[lane][i >> 1];
        unsigned shift = 16 * (i & 1);
        uint32_t half = toF16(fromF16(word >> shift & 0xffff) + sum);
        word = (word & ~(0xffffu << shift)) | half << shift;
      }
    }
  }
}

static void readVector(Exec &e, unsigned operand, uint32_t *to, unsigned n) {
  const Operand &o = e.inst.operands[operand];
  ArrayRef<Operand> elements =
      o.kind == Operand::Vector ? ArrayRef(o.elements) : ArrayRef(&o, 1);
  if (elements.size() != n)
    e.m.fail("operand " + Twine(operand) + " of the instruction has " +
             Twine(elements.size()) + " registers, not " + Twine(n));
  for (auto [i, x] : enumerate(elements))
    to[i] = e.value(x);
}

static void writeVector(Exec &e, unsigned operand, const uint32_t *from,
                        unsigned n) {
  const Operand &o = e.inst.operands[operand];
  ArrayRef<Operand> elements =
      o.kind == Operand::Vector ? ArrayRef(o.elements) : ArrayRef(&o, 1);
  if (elements.size() != n)
    e.m.fail("operand " + Twine(operand) + " of the instruction has " +
             Twine(elements.size()) + " registers, not " + Twine(n));
  for (auto [i, x] : enumerate(elements))
    e.set(x, from[i]);
}

static void mma(Exec &e) { // mma.sync.aligned.shape... d, a, b, c
  e.m.aligned(e, true);
  MmaShape shape = shapeOf(e.inst);
  unsigned accumulators = e.inst.types[0] == PtxType::F16 ? 2 : 4;
  uint32_t w[12] = {};
  readVector(e, 1, w, shape.aRegisters());
  readVector(e, 2, w + 4, shape.bRegisters());
  readVector(e, 3, w + 6, accumulators);
  uint64_t in[6], out[6];
  memcpy(in, w, sizeof(in));
  const Inst &inst = e.inst;
  e.m.exchange(e, ~0u, in, out, [&](Rendezvous &r) {
    MmaRegisters regs;
    for (unsigned lane = 0; lane < kWarpSize; ++lane) {
      uint32_t words[12];
      memcpy(words, r.in[lane], sizeof(words));
      memcpy(regs.a[lane], words, 16);
      memcpy(regs.b[lane], words + 4, 8);
      memcpy(regs.c[lane], words + 6, 16);
    }
    multiply(inst, regs);
    for (unsigned lane = 0; lane < kWarpSize; ++lane)
      memcpy(r.out[lane], regs.c[lane], 16);
    ++e.m.statistics.matrixOps;
  });
  uint32_t result[4];
  memcpy(result, out, 16);
  writeVector(e, 0, result, accumulators);
}

//===----------------------------------------------------------------------===//
// ldmatrix and stmatrix
//===----------------------------------------------------------------------===//

static std::string decodeMatrixAccess(Inst &inst) {
  inst.a = inst.has("x1") ? 1 : inst.has("x2") ? 2 : inst.has("x4") ? 4 : 0;
  inst.b = inst.has("trans");
  return inst.a ? "" : "the number of matrices is missing";
}

/// Address of row `row` of matrix `i`, checked by the lane that gives it.
static void checkRow(Exec &e, uint64_t address, bool write) {
  if (e.t.lane >= unsigned(e.inst.a) * 8)
    return; // this lane's address is not used
  if (address % 16)
    e.m.fail("the row address 0x" + Twine::utohexstr(address) +
             " is not aligned to 16 bytes");
  e.m.checkAccess(address, 16, Machine::Space::Shared, write);
}

static void
loadMatrix(Exec &e) { // ldmatrix.sync.aligned.m8n8.xN{.trans} d, [a]
  e.m.aligned(e, true);
  uint64_t in[1] = {e.address(1)}, out[2];
  checkRow(e, in[0], false);
  unsigned n = e.inst.a;
  bool transposed = e.inst.b;
  e.m.exchange(e, ~0u, in, out, [&](Rendezvous &r) {
    for (unsigned i = 0; i < n; ++i) {
      uint16_t matrix[8][8];
      for (unsigned row = 0; row < 8; ++row)
        memcpy(matrix[row], reinterpret_cast<void *>(r.in[8 * i + row][0]), 16);
      for (unsigned lane = 0; lane < kWarpSize; ++lane) {
        unsigned g = lane / 4, t = 2 * (lane % 4);
        uint32_t low = transposed ? matrix[t][g] : matrix[g][t];
        uint32_t high = transposed ? matrix[t + 1][g] : matrix[g][t + 1];
        uint32_t word = low | high << 16;
        memcpy(reinterpret_cast<char *>(r.out[lane]) + 4 * i, &word, 4);
      }
    }
  });
  uint32_t words[4];
  memcpy(words, out, 16);
  writeVector(e, 0, words, n);
}

static void storeMatrix(Exec &e) { // stmatrix...[a], v
  e.m.aligned(e, true);
  unsigned n = e.inst.a;
  bool transposed = e.inst.b;
  uint32_t words[4] = {};
  readVector(e, 1, words, n);
  uint64_t in[3] = {e.address(0)};
  memcpy(in + 1, words, 16);
  checkRow(e, in[0], true);
  e.m.exchange(e, ~0u, in, {}, [&](Rendezvous &r) {
    for (unsigned i = 0; i < n; ++i) {
      uint16_t matrix[8][8];
      for (unsigned lane = 0; lane < kWarpSize; ++lane) {
        uint32_t word;
        memcpy(&word, reinterpret_cast<char *>(r.in[lane] + 1) + 4 * i, 4);
        unsigned g = lane / 4, t = 2 * (lane % 4);
        (transposed ? matrix[t][g] : matrix[g][t]) = word;
        (transposed ? matrix[t + 1][g] : matrix[g][t + 1]) = word >> 16;
      }
      for (unsigned row = 0; row < 8; ++row)
        memcpy(reinterpret_cast<void *>(r.in[8 * i + row][0]), matrix[row], 16);
    }
  });
}

ArrayRef<OpInfo> rudnn::emulator::matrixOps() {
  static const OpInfo table[] = {
      {"mma.sync.aligned", "shape row col *", 4, 4, mma, decodeMma},
      {"ldmatrix.sync.aligned.m8n8", "x1 x2 x4 trans shared shared::cta b16", 2,
       2, loadMatrix, decodeMatrixAccess},
      {"stmatrix.sync.aligned.m8n8", "x1 x2 x4 trans shared shared::cta b16", 2,
       2, storeMatrix, decodeMatrixAccess},
  };
  return table;
}
