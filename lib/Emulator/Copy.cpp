//===- Copy.cpp - cp.async, bulk copies, tensor copies ----------*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Machine.h"
#include "Numeric.h"
#include "TensorMap.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>

using namespace llvm;
using namespace rudnn::emulator;

static std::string hex(uint64_t v) { return "0x" + utohexstr(v, true); }

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

static std::shared_ptr<CopyGroup> openGroup(std::shared_ptr<CopyGroup> &group,
                                            Thread &t) {
  if (!group) {
    group = std::make_shared<CopyGroup>();
    group->owner = &t;
  }
  return group;
}

static void commit(std::shared_ptr<CopyGroup> &open,
                   std::deque<std::shared_ptr<CopyGroup>> &groups, Thread &t) {
  groups.push_back(openGroup(open, t));
  open = nullptr;
}

/// Waits until all but the `n` latest groups are complete.
static void waitGroups(Exec &e, std::deque<std::shared_ptr<CopyGroup>> &groups,
                       uint64_t n, bool readsOnly, WaitKind kind) {
  auto busy = [&] {
    for (size_t i = 0; i + n < groups.size(); ++i)
      if (readsOnly ? groups[i]->pendingReads : groups[i]->pendingWrites)
        return true;
    return false;
  };
  while (busy())
    e.m.block(kind);
  for (size_t i = 0; i + n < groups.size(); ++i)
    groups[i]->waited = true;
  while (!groups.empty() && groups.front()->waited &&
         !groups.front()->pendingWrites)
    groups.pop_front();
}

static void asyncCommit(Exec &e) {
  commit(e.t.openAsync, e.t.asyncGroups, e.t);
}
static void asyncWait(Exec &e) { // cp.async.wait_group n, cp.async.wait_all
  uint64_t n = 0;
  if (e.inst.operands.empty())
    asyncCommit(e);
  else
    n = e.value(0);
  waitGroups(e, e.t.asyncGroups, n, false, WaitKind::AsyncGroup);
}
static void bulkCommit(Exec &e) { commit(e.t.openBulk, e.t.bulkGroups, e.t); }
static void bulkWait(Exec &e) { // cp.async.bulk.wait_group{.read} n
  waitGroups(e, e.t.bulkGroups, e.value(0), e.inst.has("read"),
             WaitKind::BulkGroup);
}

//===----------------------------------------------------------------------===//
// cp.async
//===----------------------------------------------------------------------===//

/// cp.async.{ca,cg}.shared.global [dst], [src], size{, source size}
static void asyncCopy(Exec &e) {
  Machine &m = e.m;
  uint64_t dst = e.address(0), src = e.address(1), size = e.value(2);
  uint64_t valid = size, offset = 0;
  if (e.inst.operands.size() > 3)
    valid = uint32_t(e.value(3));
  if (!is_contained({4, 8, 16}, int64_t(size)) ||
      (e.inst.has("cg") && size != 16))
    m.fail("cp.async of " + Twine(size) + " bytes");
  if (valid > size)
    m.fail("cp.async reads " + Twine(valid) + " bytes of a copy of " +
           Twine(size));
  if (dst % size || (valid && src % size))
    m.fail("cp.async of " + Twine(size) + " bytes from " + hex(src) + " to " +
           hex(dst) + " is not aligned");
  Cta *cta = m.sharedCta(dst, offset);
  if (cta != e.t.cta)
    m.fail(hex(dst) + " is not in the CTA's shared memory");
  if (offset < kReservedShared || offset + size > cta->sharedBytes)
    m.fail("shared+" + hex(offset) + " is out of bounds");
  if (valid)
    m.checkGlobal(src, valid, false);
  AsyncOp op;
  op.cta = cta;
  op.inst = &e.inst;
  op.group = openGroup(e.t.openAsync, e.t);
  uint32_t owner = e.t.tid + 1;
  Machine *mp = &m;
  op.write = [=] {
    uint8_t data[16] = {};
    memcpy(data, reinterpret_cast<void *>(src), valid);
    memcpy(cta->shared + offset, data, size);
    uint64_t granule = offset / 16;
    if (!cta->dirtyOwner[granule])
      cta->dirtyList.push_back(granule);
    cta->dirtyOwner[granule] = owner;
    cta->dirtyStamp[granule] = mp->clock;
  };
  m.startAsync(std::move(op));
}

/// cp.async.mbarrier.arrive{.noinc} [b]: arrives when all earlier cp.async of
/// the thread are complete.
static void asyncArrive(Exec &e) {
  Machine *m = &e.m;
  uint64_t address = e.address(0);
  MBarrier &b = m->barrierAt(address, e.inst);
  if (!e.inst.has("noinc"))
    ++b.pending;
  AsyncOp op;
  op.cta = e.t.cta;
  op.inst = &e.inst;
  for (auto &group : e.t.asyncGroups)
    op.after.push_back(group);
  if (e.t.openAsync) {
    // What follows belongs to another group for this purpose, but to the same
    // commit; committing both keeps the count that wait_group sees, because
    // mbarrier users do not mix the two.
    op.after.push_back(e.t.openAsync);
    commit(e.t.openAsync, e.t.asyncGroups, e.t);
  }
  const Inst *inst = &e.inst;
  op.write = [=] { m->arrive(m->barrierAt(address, *inst), 1, 0, *inst); };
  m->startAsync(std::move(op));
}

//===----------------------------------------------------------------------===//
// Bulk copies
//===----------------------------------------------------------------------===//

/// The CTAs that a copy to shared::cluster goes to.
static SmallVector<Cta *> targets(Exec &e, uint64_t address, uint64_t &offset,
                                  int maskOperand) {
  Cta *cta = e.m.sharedCta(address, offset);
  if (!cta)
    e.m.fail(hex(address) + " is no shared address");
  if (!e.inst.has("multicast::cluster"))
    return {cta};
  SmallVector<Cta *> result;
  uint32_t mask = uint16_t(e.value(maskOperand));
  if (!mask || mask >> e.m.clusterDim.count())
    e.m.fail("multicast mask " + hex(mask) + " in a cluster of " +
             Twine(e.m.clusterDim.count()));
  for (auto &other : cta->cluster->ctas)
    if (mask >> other->rank & 1)
      result.push_back(other.get());
  return result;
}

/// The mbarrier that a copy to `cta` signals: for a multicast the one at the
/// same offset in each CTA.
static uint64_t signalAddress(Exec &e, Cta &cta, uint64_t barrier) {
  MBarrier &b = e.m.barrierAt(barrier, e.inst);
  uint64_t address = e.inst.has("multicast::cluster")
                         ? reinterpret_cast<uint64_t>(cta.shared) + b.offset
                         : barrier;
  MBarrier &target = e.m.barrierAt(address, e.inst);
  if (!target.fenced)
    e.m.fail("the mbarrier at shared+" + hex(target.offset) +
             " is used by an asynchronous copy, but no fence.mbarrier_init or "
             "fence.proxy.async of the initializing thread has made it "
             "visible");
  return address;
}

static bool isLoad(const Inst &inst) {
  for (const std::string &token : inst.tokens) {
    if (token == "global")
      return false;
    if (StringRef(token).starts_with("shared"))
      return true;
  }
  return false;
}

static std::string decodeBulk(Inst &inst) {
  inst.a = isLoad(inst);
  unsigned needed = inst.a ? 4 : 3;
  if (inst.operands.size() < needed)
    return "the bulk copy takes " + std::to_string(needed) + " operands";
  const char *names[] = {"add", "min", "max", "and", "or",
                         "xor", "",    "",    "inc", "dec"};
  inst.b = -1;
  for (auto [i, name] : enumerate(names))
    if (inst.has(name))
      inst.b = i;
  return "";
}

static void checkBulk(Exec &e, uint64_t a, uint64_t b, uint64_t bytes) {
  if (a % 16 || b % 16 || bytes % 16 || !bytes)
    e.m.fail("a bulk copy of " + Twine(bytes) + " bytes from " + hex(b) +
             " to " + hex(a) + " is not aligned to 16");
}

static void bulkLoad(Exec &e) { // [dst], [src], bytes, [mbar]{, mask}{, hint}
  Machine *m = &e.m;
  uint64_t dst = e.address(0), src = e.address(1), bytes = uint32_t(e.value(2));
  uint64_t offset = 0, barrier = e.address(3);
  checkBulk(e, dst, src, bytes);
  uint64_t sourceOffset = 0;
  Cta *source = m->sharedCta(src, sourceOffset); // shared::cta to cluster
  if (source)
    m->checkAsyncShared(*source, sourceOffset, bytes, false, e.inst);
  else
    m->checkGlobal(src, bytes, false);
  for (Cta *cta : targets(e, dst, offset, 4)) {
    m->checkAsyncShared(*cta, offset, bytes, true, e.inst);
    uint64_t signal = signalAddress(e, *cta, barrier);
    AsyncOp op;
    op.cta = cta;
    op.inst = &e.inst;
    const Inst *inst = &e.inst;
    op.write = [=] {
      MBarrier &b = m->barrierAt(signal, *inst);
      memcpy(cta->shared + offset, reinterpret_cast<void *>(src), bytes);
      m->completeTx(b, bytes, *inst);
    };
    m->startAsync(std::move(op));
  }
}

static void bulkStore(Exec &e) { // [dst], [src], bytes{, hint}
  Machine *m = &e.m;
  uint64_t dst = e.address(0), src = e.address(1), bytes = uint32_t(e.value(2));
  uint64_t offset = 0;
  checkBulk(e, dst, src, bytes);
  Cta *cta = m->sharedCta(src, offset);
  if (cta != e.t.cta)
    m->fail(hex(src) + " is not in the CTA's shared memory");
  m->checkAsyncShared(*cta, offset, bytes, false, e.inst);
  m->checkGlobal(dst, bytes, true);
  auto data = std::make_shared<std::vector<uint8_t>>(bytes);
  AsyncOp op;
  op.cta = cta;
  op.inst = &e.inst;
  op.group = openGroup(e.t.openBulk, e.t);
  op.read = [=] { memcpy(data->data(), cta->shared + offset, bytes); };
  int64_t reduce = e.inst.tokens[1] == "reduce" ? e.inst.b : -1;
  PtxType type = e.inst.type();
  if (e.inst.tokens[1] == "reduce" && (reduce < 0 || type == PtxType::None))
    m->fail("a bulk reduction takes an operation and a type");
  op.write = [=] {
    if (reduce < 0) {
      memcpy(reinterpret_cast<void *>(dst), data->data(), bytes);
      return;
    }
    unsigned size = bitWidth(type) / 8;
    for (uint64_t i = 0; i < bytes; i += size) {
      uint64_t old = 0, value = 0;
      memcpy(&old, reinterpret_cast<void *>(dst + i), size);
      memcpy(&value, data->data() + i, size);
      old = combine(int(reduce), type, old, value, 0);
      memcpy(reinterpret_cast<void *>(dst + i), &old, size);
    }
  };
  m->startAsync(std::move(op));
}

static void bulk(Exec &e) { return e.inst.a ? bulkLoad(e) : bulkStore(e); }

//===----------------------------------------------------------------------===//
// Tensor copies
//===----------------------------------------------------------------------===//

namespace {

/// A box of a tensor and where it lies in shared memory.
struct Box {
  EncodedMap map;
  int64_t at[5] = {};
  uint64_t offset = 0; ///< In the CTA's shared memory.
  unsigned size = 0;   ///< Bytes of an element.
  uint32_t count[5];   ///< Elements per dimension.

  uint64_t rowBytes() const { return uint64_t(count[0]) * size; }
  uint64_t rows() const {
    return uint64_t(count[1]) * count[2] * count[3] * count[4];
  }
  uint64_t bytes() const { return rows() * rowBytes(); }

  /// Calls f(row, global address of the row's first element or 0 when the row
  /// is outside, first and end byte of the part inside).
  template <typename F>
  void eachRow(F f) const {
    for (uint64_t row = 0; row < rows(); ++row) {
      uint64_t rest = row, address = map.address;
      bool inside = true;
      for (unsigned i = 1; i < 5; ++i) {
        int64_t x = at[i] + int64_t(rest % count[i]) * map.step[i];
        rest /= count[i];
        inside &= x >= 0 && x < int64_t(map.dim[i]);
        address += x * map.stride[i];
      }
      int64_t first = std::max<int64_t>(0, -at[0]);
      int64_t end = std::min<int64_t>(count[0], int64_t(map.dim[0]) - at[0]);
      if (first >= end)
        inside = false;
      address += at[0] * int64_t(size);
      f(row, inside ? address : 0, first * size, end * size);
    }
  }
};

} // namespace

static Box boxOf(Exec &e, unsigned mapOperand) {
  const Operand &o = e.inst.operands[mapOperand];
  Box box;
  uint64_t address = e.address(mapOperand);
  if (address % 64)
    e.m.fail("the tensor map at " + hex(address) +
             " is not aligned to 64 bytes");
  memcpy(&box.map, reinterpret_cast<void *>(address), sizeof(box.map));
  if (box.map.magic != kTensorMapMagic)
    e.m.fail("the tensor map operand is none of the emulator's tensor maps");
  if (o.elements.size() != box.map.rank || box.map.rank != e.inst.c)
    e.m.fail("the instruction has " + Twine(o.elements.size()) +
             " coordinates, the tensor map has rank " + Twine(box.map.rank));
  for (auto [i, c] : enumerate(o.elements))
    box.at[i] = int32_t(e.value(c));
  box.size = elementBytes(ElementType(box.map.type));
  for (unsigned i = 0; i < 5; ++i)
    box.count[i] = (box.map.box[i] + box.map.step[i] - 1) / box.map.step[i];
  return box;
}

static void checkShared(Exec &e, const Box &box, Cta &cta, bool write) {
  if (box.offset % 128)
    e.m.fail("the shared address shared+" + hex(box.offset) +
             " of a tensor copy is not aligned to 128 bytes");
  e.m.checkAsyncShared(cta, box.offset, box.bytes(), write, e.inst);
}

static void checkTensor(Exec &e, const Box &box, bool write) {
  box.eachRow([&](uint64_t, uint64_t address, uint64_t first, uint64_t end) {
    if (address)
      e.m.checkGlobal(address + first, end - first, write);
  });
}

static std::vector<uint8_t> outsideRow(const Box &box) {
  std::vector<uint8_t> row(box.rowBytes(), 0);
  if (OobFill(box.map.oobFill) == OobFill::Nan) {
    PtxType type = scalarType(ElementType(box.map.type));
    uint64_t nan = fromDouble(type, __builtin_nan(""));
    for (uint64_t i = 0; i < row.size(); i += box.size)
      memcpy(&row[i], &nan, box.size);
  }
  return row;
}

/// Copies between a dense row and its swizzled place.
template <typename F>
static void eachChunk(const Box &box, uint64_t row, F f) {
  for (uint64_t i = 0; i < box.rowBytes(); i += 16)
    f(i, swizzled(box.offset + row * box.rowBytes() + i,
                  Swizzle(box.map.swizzle)));
}

/// [dst], [map, {coordinates}], [mbar]{, mask}{, hint}
static void tensorLoad(Exec &e) {
  Machine *m = &e.m;
  Box box = boxOf(e, 1);
  uint64_t barrier = e.address(2);
  checkTensor(e, box, false);
  for (Cta *cta : targets(e, e.address(0), box.offset, 3)) {
    checkShared(e, box, *cta, true);
    uint64_t signal = signalAddress(e, *cta, barrier);
    AsyncOp op;
    op.cta = cta;
    op.inst = &e.inst;
    const Inst *inst = &e.inst;
    op.write = [=] {
      MBarrier &b = m->barrierAt(signal, *inst);
      std::vector<uint8_t> outside = outsideRow(box);
      box.eachRow(
          [&](uint64_t row, uint64_t address, uint64_t first, uint64_t end) {
            std::vector<uint8_t> data = outside;
            if (address)
              memcpy(&data[first], reinterpret_cast<void *>(address + first),
                     end - first);
            eachChunk(box, row, [&](uint64_t i, uint64_t at) {
              memcpy(cta->shared + at, &data[i], 16);
            });
          });
      m->completeTx(b, box.bytes(), *inst);
    };
    m->startAsync(std::move(op));
  }
}

/// [map, {coordinates}], [src]{, hint}
static void tensorStore(Exec &e) {
  Machine *m = &e.m;
  Box box = boxOf(e, 0);
  Cta *cta = m->sharedCta(e.address(1), box.offset);
  if (cta != e.t.cta)
    m->fail(hex(e.address(1)) + " is not in the CTA's shared memory");
  checkShared(e, box, *cta, false);
  checkTensor(e, box, true);
  auto data = std::make_shared<std::vector<uint8_t>>(box.bytes());
  AsyncOp op;
  op.cta = cta;
  op.inst = &e.inst;
  op.group = openGroup(e.t.openBulk, e.t);
  op.read = [=] {
    for (uint64_t row = 0; row < box.rows(); ++row)
      eachChunk(box, row, [&](uint64_t i, uint64_t at) {
        memcpy(data->data() + row * box.rowBytes() + i, cta->shared + at, 16);
      });
  };
  int64_t reduce = e.inst.tokens[1] == "reduce" ? e.inst.b : -1;
  if (e.inst.tokens[1] == "reduce" && reduce < 0)
    m->fail("a tensor reduction takes an operation");
  op.write = [=] {
    PtxType type = scalarType(ElementType(box.map.type));
    box.eachRow(
        [&](uint64_t row, uint64_t address, uint64_t first, uint64_t end) {
          if (!address)
            return;
          const uint8_t *from = data->data() + row * box.rowBytes();
          if (reduce < 0) {
            memcpy(reinterpret_cast<void *>(address + first), from + first,
                   end - first);
            return;
          }
          for (uint64_t i = first; i < end; i += box.size) {
            uint64_t old = 0, value = 0;
            memcpy(&old, reinterpret_cast<void *>(address + i), box.size);
            memcpy(&value, from + i, box.size);
            old = combine(int(reduce), type, old, value, 0);
            memcpy(reinterpret_cast<void *>(address + i), &old, box.size);
          }
        });
  };
  m->startAsync(std::move(op));
}

static std::string decodeTensor(Inst &inst) {
  inst.a = isLoad(inst);
  for (const std::string &token : inst.tokens)
    if (token.size() == 2 && token[1] == 'd' && isDigit(token[0]))
      inst.c = token[0] - '0';
  if (!inst.c)
    return "the tensor copy has no dimension";
  const char *names[] = {"add", "min", "max", "and", "or",
                         "xor", "",    "",    "inc", "dec"};
  inst.b = -1;
  for (auto [i, name] : enumerate(names))
    if (inst.has(name))
      inst.b = i;
  if (inst.operands.size() < (inst.a ? 3 : 2))
    return "the tensor copy lacks operands";
  return "";
}

static void tensor(Exec &e) {
  return e.inst.a ? tensorLoad(e) : tensorStore(e);
}

static void prefetchCopy(Exec &) {}

ArrayRef<OpInfo> rudnn::emulator::copyOps() {
#define BULK                                                                   \
  "shared::cta shared::cluster global mbarrier::complete_tx::bytes "           \
  "bulk_group multicast::cluster L2::cache_hint "
#define REDUCE "add min max inc dec and or xor noftz * "
#define DIMS "1d 2d 3d 4d 5d tile "
  static const OpInfo table[] = {
      {"cp.async.ca",
       "shared shared::cta global L2::cache_hint L2::64B "
       "L2::128B L2::256B",
       3, 5, asyncCopy},
      {"cp.async.cg",
       "shared shared::cta global L2::cache_hint L2::64B "
       "L2::128B L2::256B",
       3, 5, asyncCopy},
      {"cp.async.commit_group", "", 0, 0, asyncCommit},
      {"cp.async.wait_group", "", 1, 1, asyncWait},
      {"cp.async.wait_all", "", 0, 0, asyncWait},
      {"cp.async.mbarrier.arrive", "noinc shared shared::cta b64", 1, 1,
       asyncArrive},
      {"cp.async.bulk.commit_group", "", 0, 0, bulkCommit},
      {"cp.async.bulk.wait_group", "read", 1, 1, bulkWait},
      {"cp.async.bulk", BULK, 3, 6, bulk, decodeBulk},
      {"cp.reduce.async.bulk", BULK REDUCE, 3, 4, bulk, decodeBulk},
      {"cp.async.bulk.tensor", BULK DIMS, 2, 5, tensor, decodeTensor},
      {"cp.reduce.async.bulk.tensor", BULK DIMS REDUCE, 2, 3, tensor,
       decodeTensor},
      {"cp.async.bulk.prefetch.tensor", DIMS "L2 global L2::cache_hint", 1, 2,
       prefetchCopy},
      {"cp.async.bulk.prefetch", "L2 global L2::cache_hint", 2, 3,
       prefetchCopy},
  };
#undef BULK
#undef REDUCE
#undef DIMS
  return table;
}
