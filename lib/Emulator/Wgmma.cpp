//===- Wgmma.cpp - Warp-group matrix instructions ---------------*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A wgmma returns tokens in place of its accumulators: NaNs that name the
// instruction and the register. The next wgmma of the chain takes them as they
// are; every other use goes through readAccumulator(), which gives the value
// when a wgmma.wait_group has retired the instruction and an error otherwise.
//
//===----------------------------------------------------------------------===//

#include "Machine.h"
#include "Numeric.h"
#include "TensorMap.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace rudnn::emulator;

//===----------------------------------------------------------------------===//
// Tokens
//===----------------------------------------------------------------------===//

// A signalling NaN: sign, exponent, a quiet bit of 0, a mark of 1, 14 bits of
// the sequence number, 7 bits of the register.
static constexpr uint32_t kTokenMark = 0xffa00000;
static constexpr uint32_t kTokenMask = 0xffe00000;
static constexpr uint64_t kTokenSeqs = 1 << 14;
/// Results that stay readable after the instruction has been retired.
static constexpr size_t kKeptOps = 256;

static uint32_t token(uint64_t seq, unsigned reg) {
  return kTokenMark | uint32_t(seq % kTokenSeqs) << 7 | reg;
}
static bool isToken(uint32_t bits) { return (bits & kTokenMask) == kTokenMark; }

static WarpGroup &groupOf(Thread &t) {
  return t.cta->groups[t.tid / kWarpGroup];
}

/// The instruction a token of the thread's warp group names; null when its
/// result is no longer kept.
static WgmmaOp *tokenOp(WarpGroup &g, uint32_t bits, uint64_t &seq) {
  uint64_t last = g.firstSeq + g.ops.size();
  uint64_t low = bits >> 7 & (kTokenSeqs - 1);
  seq = (last & ~(kTokenSeqs - 1)) | low;
  if (seq >= last)
    seq -= kTokenSeqs;
  if (seq - g.firstSeq >= g.ops.size())
    return nullptr;
  return g.ops[seq - g.firstSeq].get();
}

static unsigned columns(const Inst &inst) { return inst.a; }

float rudnn::emulator::readAccumulator(Machine &m, Thread &t, float value) {
  uint32_t bits = floatBits(value);
  if (!isToken(bits))
    return value;
  WarpGroup &g = groupOf(t);
  uint64_t seq;
  WgmmaOp *op = tokenOp(g, bits, seq);
  if (!op)
    m.fail("an accumulator is read more than " + Twine(kKeptOps) +
           " wgmma instructions after its own");
  if (seq >= t.wgmmaRetired)
    m.fail("an accumulator of '" + op->inst->text +
           "' is read before a wgmma.wait_group has waited for it");
  return op
      ->result[(t.tid % kWarpGroup) * columns(*op->inst) / 2 + (bits & 127)];
}

//===----------------------------------------------------------------------===//
// Operands in shared memory
//===----------------------------------------------------------------------===//

namespace {

/// What a matrix descriptor says.
struct Descriptor {
  uint64_t start, leading, stride;
  Swizzle swizzle;
  unsigned span; ///< Bytes of a row of the swizzle atom.

  Descriptor(Machine &m, const Inst &inst, uint64_t bits)
      : start((bits & 0x3fff) << 4), leading((bits >> 16 & 0x3fff) << 4),
        stride((bits >> 32 & 0x3fff) << 4) {
    switch (bits >> 62) {
    case 0:
      swizzle = Swizzle::None;
      span = 16;
      break;
    case 1:
      swizzle = Swizzle::B128;
      span = 128;
      break;
    case 2:
      swizzle = Swizzle::B64;
      span = 64;
      break;
    default:
      swizzle = Swizzle::B32;
      span = 32;
      break;
    }
    if (bits >> 49 & 7)
      m.fail("'" + inst.text + "': a matrix descriptor with base offset " +
             Twine(bits >> 49 & 7) + " is not modelled by the emulator");
  }

  /// Offset of byte `k` of row `mn` of an operand whose rows run along K.
  uint64_t kMajor(unsigned mn, unsigned k) const {
    uint64_t at = start + mn / 8 * stride + mn % 8 * span;
    at += swizzle == Swizzle::None ? k / 16 * leading + k % 16 : k;
    return swizzled(at, swizzle);
  }
  /// Offset of the 16-bit element (mn, k) of an operand whose rows run along M
  /// or N.
  uint64_t mnMajor(unsigned mn, unsigned k) const {
    unsigned n = span / 2;
    uint64_t at = start + k % 8 * span + mn % n * 2;
    if (swizzle == Swizzle::None)
      at += mn / n * stride + k / 8 * leading;
    else
      at += mn / n * leading + k / 8 * stride;
    return swizzled(at, swizzle);
  }
};

struct Reader {
  Machine &m;
  Cta &cta;
  const Inst &inst;

  /// Reads `rows` x K elements into `to`, row by row.
  void read(const Descriptor &d, bool mnMajor, PtxType type, unsigned rows,
            unsigned k, float *to) const {
    unsigned bytes = bitWidth(type) / 8;
    uint64_t checked = ~uint64_t(0);
    for (unsigned r = 0; r < rows; ++r)
      for (unsigned i = 0; i < k; ++i) {
        uint64_t at = mnMajor ? d.mnMajor(r, i) : d.kMajor(r, i * bytes);
        if (at / 16 != checked) {
          checked = at / 16;
          m.checkAsyncShared(cta, at & ~uint64_t(15), 16, false, inst);
        }
        uint64_t v = 0;
        memcpy(&v, cta.shared + at, bytes);
        to[r * k + i] = bytes == 2 && type == PtxType::BF16
                            ? fromBF16(v)
                            : float(toDouble(type, v));
      }
  }
};

} // namespace

//===----------------------------------------------------------------------===//
// Issue and execution
//===----------------------------------------------------------------------===//

// Inst::a: N; b: whether A is in registers; c: bit 0 A transposed, bit 1 B
// transposed, bit 2 A negated, bit 3 B negated.
static std::string decodeWgmma(Inst &inst) {
  StringRef shape;
  for (const std::string &t : inst.tokens)
    if (StringRef(t).starts_with("m64n"))
      shape = t;
  unsigned n = 0, k = 0;
  if (!shape.consume_front("m64n") || shape.consumeInteger(10, n) ||
      !shape.consume_front("k") || shape.getAsInteger(10, k) || n % 8 ||
      n < 8 || n > 256)
    return "wgmma takes a shape m64nNkK with N a multiple of 8 up to 256";
  if (inst.types.size() != 3)
    return "wgmma takes three types";
  PtxType d = inst.types[0], a = inst.types[1], b = inst.types[2];
  if (d != PtxType::F32)
    return "wgmma with an accumulator type other than f32 is not modelled by "
           "the emulator";
  bool half = a == PtxType::F16 || a == PtxType::BF16;
  bool byte = a == PtxType::E4M3 || a == PtxType::E5M2;
  if ((!half && !byte && a != PtxType::TF32) || bitWidth(a) != bitWidth(b) ||
      (!byte && a != b))
    return "wgmma with these operand types is not modelled by the emulator";
  if (k != 256 / bitWidth(a))
    return "wgmma's K is 32 bytes";
  inst.a = n;
  inst.b = inst.operands[1].kind == Operand::Vector;
  unsigned immediates = half ? inst.b ? 3 : 4 : 2;
  if (inst.operands.size() != 4 + immediates)
    return "wgmma takes " + std::to_string(4 + immediates) + " operands";
  int64_t imm[4] = {};
  for (unsigned i = 0; i < immediates; ++i) {
    const Operand &o = inst.operands[4 + i];
    if (o.kind != Operand::Immediate)
      return "wgmma's scales and transpositions are constants";
    imm[i] = int64_t(o.imm);
  }
  if ((imm[0] != 1 && imm[0] != -1) || (imm[1] != 1 && imm[1] != -1))
    return "wgmma's scales are 1 and -1";
  bool transA = half && !inst.b && imm[2], transB = half && imm[inst.b ? 2 : 3];
  inst.c = transA | transB << 1 | (imm[0] < 0) << 2 | (imm[1] < 0) << 3;
  if (inst.operands[0].kind != Operand::Vector ||
      inst.operands[0].elements.size() != n / 2)
    return "wgmma of N = " + std::to_string(n) + " has " +
           std::to_string(n / 2) + " accumulator registers";
  if (inst.b && inst.operands[1].elements.size() != 4)
    return "wgmma's A takes four registers";
  return "";
}

static void wgmma(Exec &e) { // d, a or descriptor, descriptor, scale-d, ...
  Machine &m = e.m;
  Thread &t = e.t;
  m.aligned(e, true);
  if (t.cta->threads.size() < (t.tid / kWarpGroup + 1) * kWarpGroup)
    m.fail("wgmma takes a warp group of 128 threads");
  WarpGroup &g = groupOf(t);
  uint64_t seq = t.wgmmaSeq++;
  if (seq - g.firstSeq == g.ops.size()) {
    g.ops.push_back(std::make_unique<WgmmaOp>());
    g.ops.back()->inst = &e.inst;
  }
  WgmmaOp &op = *g.ops[seq - g.firstSeq];
  bool registerA = e.inst.b;
  uint64_t descA = registerA ? 0 : e.value(1), descB = e.value(2);
  bool scaleD = e.value(3) & 1;
  if (op.inst != &e.inst)
    m.fail("divergent warp group: other threads execute '" + op.inst->text +
           "', this one '" + e.inst.text + "'");
  if (op.arrived == 0) {
    op.descA = descA;
    op.descB = descB;
    op.scaleD = scaleD;
    op.in.resize(kWarpGroup * columns(e.inst) / 2);
    if (registerA)
      op.a.resize(kWarpGroup * 4);
  } else if (op.descA != descA || op.descB != descB || op.scaleD != scaleD) {
    m.fail("the threads of the warp group give different descriptors or "
           "scale-d: 0x" +
           utohexstr(descA) + ", 0x" + utohexstr(descB) + " and 0x" +
           utohexstr(op.descA) + ", 0x" + utohexstr(op.descB));
  }
  unsigned index = t.tid % kWarpGroup, registers = columns(e.inst) / 2;
  for (unsigned i = 0; i < registers; ++i) {
    const Operand &d = e.inst.operands[0].elements[i];
    if (scaleD)
      op.in[index * registers + i] = floatFromBits(e.value(d));
    e.set(d, token(seq, i));
  }
  if (registerA)
    for (unsigned i = 0; i < 4; ++i)
      op.a[index * 4 + i] = e.value(e.inst.operands[1].elements[i]);
  if (++op.arrived == kWarpGroup && !m.delayed())
    while (m.runWgmma(g)) {
    }
}

/// Row and column of accumulator register i of a thread of the warp group.
static std::pair<unsigned, unsigned> position(unsigned thread, unsigned i) {
  unsigned warp = thread / 32, lane = thread % 32;
  return {16 * warp + lane / 4 + 8 * (i / 2 % 2),
          8 * (i / 4) + 2 * (lane % 4) + i % 2};
}

/// A from the registers of the warp group, 64 x K.
static void registersToA(const WgmmaOp &op, PtxType type, unsigned k,
                         float *a) {
  unsigned per = 32 / bitWidth(type), bits = bitWidth(type);
  for (unsigned thread = 0; thread < kWarpGroup; ++thread)
    for (unsigned r = 0; r < 4; ++r)
      for (unsigned j = 0; j < per; ++j) {
        unsigned lane = thread % 32;
        unsigned row = 16 * (thread / 32) + lane / 4 + 8 * (r & 1);
        unsigned column = (4 * (r >> 1) + lane % 4) * per + j;
        uint32_t word = op.a[thread * 4 + r];
        uint32_t v =
            bits == 32 ? word : word >> (j * bits) & ((1u << bits) - 1);
        a[row * k + column] = float(toDouble(type, v));
      }
}

/// d[64][n] += a[64][k] * b[n][k]
#if defined(__x86_64__) && defined(__clang__)
__attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#endif
static void multiply(float *d, const float *a, const float *bT, unsigned n,
                     unsigned k) {
  for (unsigned row = 0; row < 64; ++row)
    for (unsigned i = 0; i < k; ++i) {
      float x = a[row * k + i];
      const float *b = bT + i * n;
      float *to = d + row * n;
      for (unsigned c = 0; c < n; ++c)
        to[c] += x * b[c];
    }
}

static void computeResult(Machine &m, WarpGroup &g, WgmmaOp &op) {
  const Inst &inst = *op.inst;
  unsigned n = columns(inst), registers = n / 2;
  PtxType ta = inst.types[1], tb = inst.types[2];
  unsigned k = 256 / bitWidth(ta);
  std::vector<float> a(64 * k), b(n * k), bT(n * k), d(64 * n, 0.0f);
  Reader reader{m, *g.cta, inst};
  if (inst.b)
    registersToA(op, ta, k, a.data());
  else
    reader.read(Descriptor(m, inst, op.descA), inst.c & 1, ta, 64, k, a.data());
  reader.read(Descriptor(m, inst, op.descB), inst.c & 2, tb, n, k, b.data());
  float sign = bool(inst.c & 4) == bool(inst.c & 8) ? 1.0f : -1.0f;
  for (unsigned column = 0; column < n; ++column)
    for (unsigned i = 0; i < k; ++i)
      bT[i * n + column] = sign * b[column * k + i];
  multiply(d.data(), a.data(), bT.data(), n, k);
  op.result.resize(kWarpGroup * registers);
  for (unsigned thread = 0; thread < kWarpGroup; ++thread)
    for (unsigned i = 0; i < registers; ++i) {
      auto [row, column] = position(thread, i);
      float sum = d[row * n + column];
      if (op.scaleD) {
        float c = op.in[thread * registers + i];
        uint32_t bits = floatBits(c);
        if (isToken(bits)) {
          uint64_t seq;
          WgmmaOp *earlier = tokenOp(g, bits, seq);
          if (!earlier || !earlier->done)
            m.fail("'" + inst.text +
                   "' takes an accumulator whose wgmma is too old");
          c = earlier
                  ->result[thread * columns(*earlier->inst) / 2 + (bits & 127)];
        }
        sum += c;
      }
      op.result[thread * registers + i] = sum;
    }
  ++m.statistics.matrixOps;
}

bool Machine::runWgmma(WarpGroup &g) {
  uint64_t i = g.doneSeq - g.firstSeq;
  if (i >= g.ops.size() || g.ops[i]->arrived != kWarpGroup)
    return false;
  WgmmaOp &op = *g.ops[i];
  computeResult(*this, g, op);
  op.done = true;
  op.in = {};
  op.a = {};
  ++g.doneSeq;
  ++progress;
  // Old results go once every thread has issued past them.
  while (g.ops.size() > kKeptOps && g.ops.front()->done) {
    g.ops.pop_front();
    ++g.firstSeq;
  }
  wakeAll(g.waiters);
  return true;
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

static void wgmmaFence(Exec &e) { e.m.aligned(e, true); }

static void wgmmaCommit(Exec &e) {
  e.m.aligned(e, true);
  e.t.wgmmaGroups.push_back(e.t.wgmmaSeq);
  e.t.wgmmaCommitted = e.t.wgmmaSeq;
}

static void wgmmaWait(Exec &e) { // wgmma.wait_group.sync.aligned n
  e.m.aligned(e, true);
  uint64_t n = e.value(0);
  WarpGroup &g = groupOf(e.t);
  while (e.t.wgmmaGroups.size() > n) {
    uint64_t end = e.t.wgmmaGroups.front();
    while (g.doneSeq < end) {
      g.waiters.push_back(&e.t);
      e.m.block(WaitKind::Wgmma);
    }
    e.t.wgmmaRetired = std::max(e.t.wgmmaRetired, end);
    e.t.wgmmaGroups.pop_front();
  }
}

ArrayRef<OpInfo> rudnn::emulator::wgmmaOps() {
  static const OpInfo table[] = {
      {"wgmma.mma_async.sync.aligned", "shape *", 6, 8, wgmma, decodeWgmma},
      {"wgmma.fence.sync.aligned", "", 0, 0, wgmmaFence},
      {"wgmma.commit_group.sync.aligned", "", 0, 0, wgmmaCommit},
      {"wgmma.wait_group.sync.aligned", "", 1, 1, wgmmaWait},
  };
  return table;
}
