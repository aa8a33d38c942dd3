//===- Memory.cpp - Address checks, loads, stores, atomics ------*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Machine.h"
#include "Numeric.h"

#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace rudnn::emulator;

static std::string hex(uint64_t v) { return "0x" + utohexstr(v, true); }

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

Cta *Machine::sharedCta(uint64_t address, uint64_t &offset) const {
  uint64_t at = address - window;
  if (at >= windowBytes)
    return nullptr;
  uint64_t rank = at / kWindowStride % 16, slot = at / kWindowStride / 16;
  offset = at % kWindowStride;
  for (auto &cluster : resident)
    if (cluster->slot == slot && rank < cluster->ctas.size())
      return cluster->ctas[rank].get();
  return nullptr;
}

void Machine::checkGlobal(uint64_t address, uint64_t bytes, bool write) {
  if (!checkGlobals)
    return;
  auto inside = [&](const Extent &x) {
    return address >= x.begin && address + bytes <= x.end;
  };
  if (lastExtent < extents.size() && inside(extents[lastExtent]) &&
      (!write || extents[lastExtent].writable))
    return;
  const Extent *nearest = nullptr;
  for (auto [i, x] : enumerate(extents)) {
    if (inside(x)) {
      if (write && !x.writable)
        fail("store to the read-only buffer '" + x.name + "' at byte " +
             Twine(address - x.begin));
      lastExtent = i;
      return;
    }
    if (address + bytes > x.begin && x.begin <= address &&
        (!nearest || x.begin > nearest->begin))
      nearest = &x;
  }
  std::string text = "global " + std::string(write ? "store" : "load") +
                     " of " + std::to_string(bytes) + " bytes at " +
                     hex(address) + " is outside of all buffers";
  if (nearest)
    text += ": " + std::to_string(address - nearest->begin) +
            " bytes after the start of '" + nearest->name + "', which has " +
            std::to_string(nearest->end - nearest->begin);
  fail(text);
}

void Machine::checkAccess(uint64_t address, uint64_t bytes, Space space,
                          bool write) {
  uint64_t offset = 0;
  if (space == Space::Global)
    return checkGlobal(address, bytes, write);
  Cta *cta = sharedCta(address, offset);
  if (!cta) {
    if (space != Space::Generic)
      fail(Twine("shared ") + (write ? "store" : "load") + " at " +
           hex(address) + ", which is no shared address");
    if (stacks->contains(address))
      return; // local memory
    return checkGlobal(address, bytes, write);
  }
  if (cta != current->cta &&
      (space == Space::Shared || cta->cluster != current->cta->cluster))
    fail("access to the shared memory of " + cta->name() +
         " through a shared::cta address");
  if (!cta->alive)
    fail("access to the shared memory of " + cta->name() +
         ", all threads of which have exited");
  if (offset + bytes > cta->sharedBytes || offset < kReservedShared)
    fail(Twine("shared ") + (write ? "store" : "load") + " of " + Twine(bytes) +
         " bytes at shared+" + hex(offset) +
         " is out of bounds: the CTA has bytes " + hex(kReservedShared) +
         " to " + hex(cta->sharedBytes));
  if (!write)
    return;
  for (uint64_t g = offset / 16; g <= (offset + bytes - 1) / 16; ++g) {
    if (!cta->dirtyOwner[g])
      cta->dirtyList.push_back(g);
    cta->dirtyOwner[g] = current->tid + 1;
    cta->dirtyStamp[g] = clock;
  }
}

void Machine::checkAsyncShared(Cta &cta, uint64_t offset, uint64_t bytes,
                               bool write, const Inst &inst) {
  if (offset + bytes > cta.sharedBytes || offset < kReservedShared)
    fail("'" + inst.text + "': bytes shared+" + hex(offset) + " to +" +
         hex(offset + bytes) + " are out of bounds: the CTA has bytes " +
         hex(kReservedShared) + " to " + hex(cta.sharedBytes));
  for (uint64_t g = offset / 16; g <= (offset + bytes - 1) / 16; ++g) {
    if (write)
      cta.dirtyOwner[g] = 0;
    else if (cta.dirtyOwner[g])
      fail("'" + inst.text + "' reads shared+" + hex(g * 16) +
           ", which thread " + Twine(cta.dirtyOwner[g] - 1) +
           " has stored without a fence.proxy.async before the barrier");
  }
}

/// Makes stores of this thread, and those that it knows of through a barrier,
/// visible to the async proxy.
void Machine::proxyFence(Thread &t) {
  Cta &cta = *t.cta;
  llvm::erase_if(cta.dirtyList, [&](uint32_t g) {
    if (!cta.dirtyOwner[g])
      return true;
    if (cta.dirtyOwner[g] != t.tid + 1 && cta.dirtyStamp[g] >= t.lastSync)
      return false;
    cta.dirtyOwner[g] = 0;
    return true;
  });
}

//===----------------------------------------------------------------------===//
// Loads and stores
//===----------------------------------------------------------------------===//

static Machine::Space spaceOf(const Inst &inst) {
  if (inst.has("global") || inst.has("const") || inst.has("param"))
    return Machine::Space::Global;
  if (inst.has("shared") || inst.has("shared::cta"))
    return Machine::Space::Shared;
  if (inst.has("shared::cluster"))
    return Machine::Space::SharedCluster;
  return Machine::Space::Generic;
}

static std::string decodeAccess(Inst &inst) {
  inst.a = int64_t(spaceOf(inst));
  inst.b = bitWidth(inst.type(inst.types.size() - 1)) / 8;
  inst.c = inst.has("v2") ? 2 : inst.has("v4") ? 4 : inst.has("v8") ? 8 : 1;
  return inst.b && inst.b <= 8 ? "" : "the access has no type of 8 to 64 bits";
}

static uint64_t loadBytes(uint64_t address, uint64_t bytes) {
  uint64_t v = 0;
  memcpy(&v, reinterpret_cast<void *>(address), bytes);
  return v;
}

/// Operands of a scalar or vector access.
static ArrayRef<Operand> lanesOf(const Operand &o) {
  if (o.kind == Operand::Vector)
    return o.elements;
  return ArrayRef(&o, 1);
}

static void checkAlignment(Exec &e, uint64_t address, uint64_t bytes) {
  if (address % bytes)
    e.m.fail("address " + hex(address) + " is not aligned to the access's " +
             Twine(bytes) + " bytes");
}

static bool polls(const Inst &inst) {
  return inst.has("volatile") || inst.has("acquire") || inst.has("relaxed");
}

static void load(Exec &e) { // ld.space.type d, [a]
  if (polls(e.inst))
    e.m.yield();
  uint64_t address = e.address(1), bytes = e.inst.b;
  ArrayRef<Operand> targets = lanesOf(e.inst.operands[0]);
  if (int64_t(targets.size()) != e.inst.c)
    e.m.fail("the load has " + Twine(targets.size()) + " results");
  checkAlignment(e, address, bytes * e.inst.c);
  e.m.checkAccess(address, bytes * e.inst.c, Machine::Space(e.inst.a), false);
  PtxType type = e.inst.types.back();
  for (auto [i, target] : enumerate(targets)) {
    uint64_t v = loadBytes(address + i * bytes, bytes);
    if (type == PtxType::S8)
      v = uint64_t(int64_t(int8_t(v)));
    else if (type == PtxType::S16)
      v = uint64_t(int64_t(int16_t(v)));
    e.set(target, v);
  }
}

static void store(Exec &e) { // st.space.type [a], v
  uint64_t address = e.address(0), bytes = e.inst.b;
  ArrayRef<Operand> sources = lanesOf(e.inst.operands[1]);
  if (int64_t(sources.size()) != e.inst.c)
    e.m.fail("the store has " + Twine(sources.size()) + " values");
  checkAlignment(e, address, bytes * e.inst.c);
  e.m.checkAccess(address, bytes * e.inst.c, Machine::Space(e.inst.a), true);
  for (auto [i, source] : enumerate(sources)) {
    uint64_t v = e.value(source);
    memcpy(reinterpret_cast<void *>(address + i * bytes), &v, bytes);
  }
}

//===----------------------------------------------------------------------===//
// Atomics
//===----------------------------------------------------------------------===//

static std::string decodeAtomic(Inst &inst) {
  const char *names[] = {"add", "min",  "max", "and", "or",
                         "xor", "exch", "cas", "inc", "dec"};
  inst.b = -1;
  for (auto [i, name] : enumerate(names))
    if (inst.has(name))
      inst.b = i;
  inst.a = int64_t(spaceOf(inst));
  inst.c = inst.has("v2") ? 2 : inst.has("v4") ? 4 : inst.has("v8") ? 8 : 1;
  if (inst.b < 0 || inst.types.empty())
    return "an atomic takes an operation and a type";
  return "";
}

static void atomicOne(Exec &e, uint64_t address, const Operand *result,
                      uint64_t value, uint64_t other) {
  PtxType type = e.inst.type();
  uint64_t bytes = bitWidth(type) / 8;
  checkAlignment(e, address, bytes);
  e.m.checkAccess(address, bytes, Machine::Space(e.inst.a), true);
  uint64_t old = loadBytes(address, bytes);
  uint64_t now = combine(int(e.inst.b), type, old, value, other);
  memcpy(reinterpret_cast<void *>(address), &now, bytes);
  ++e.m.progress;
  if (result)
    e.set(*result, old);
}

static void atomic(Exec &e) { // atom.space.op.type d, [a], b{, c}
  e.m.yield();
  ArrayRef<Operand> results = lanesOf(e.inst.operands[0]);
  ArrayRef<Operand> values = lanesOf(e.inst.operands[2]);
  uint64_t bytes = bitWidth(e.inst.type()) / 8;
  for (size_t i = 0; i < values.size(); ++i)
    atomicOne(e, e.address(1) + i * bytes, &results[i], e.value(values[i]),
              e.inst.operands.size() > 3 ? e.value(3) : 0);
}

static void reduction(Exec &e) { // red.space.op.type [a], b
  ArrayRef<Operand> values = lanesOf(e.inst.operands[1]);
  uint64_t bytes = bitWidth(e.inst.type()) / 8;
  for (size_t i = 0; i < values.size(); ++i)
    atomicOne(e, e.address(0) + i * bytes, nullptr, e.value(values[i]), 0);
}

/// red.async / st.async ...::complete_tx::bytes [a], b, [mbar]
static void storeAsync(Exec &e) {
  uint64_t address = e.address(0), offset = 0;
  uint64_t barrier = e.address(2);
  ArrayRef<Operand> values = lanesOf(e.inst.operands[1]);
  PtxType type = e.inst.type();
  uint64_t bytes = bitWidth(type) / 8;
  Cta *cta = e.m.sharedCta(address, offset);
  if (!cta)
    e.m.fail(hex(address) + " is no shared::cluster address");
  bool reduce = e.inst.tokens[0] == "red";
  int operation = int(e.inst.b);
  std::vector<uint64_t> data;
  for (const Operand &o : values)
    data.push_back(e.value(o));
  AsyncOp op;
  op.cta = cta;
  op.inst = &e.inst;
  Machine *m = &e.m;
  const Inst *inst = &e.inst;
  op.write = [=] {
    MBarrier &b = m->barrierAt(barrier, *inst);
    m->checkAsyncShared(*cta, offset, bytes * data.size(), true, *inst);
    for (size_t i = 0; i < data.size(); ++i) {
      uint64_t at = address + i * bytes, v = data[i];
      if (reduce)
        v = combine(operation, type, loadBytes(at, bytes), v, 0);
      memcpy(reinterpret_cast<void *>(at), &v, bytes);
    }
    m->completeTx(b, bytes * data.size(), *inst);
  };
  e.m.startAsync(std::move(op));
}

static std::string decodeStoreAsync(Inst &inst) {
  if (inst.tokens[0] == "red")
    return decodeAtomic(inst);
  return inst.types.empty() ? "the store has no type" : "";
}

//===----------------------------------------------------------------------===//
// Address arithmetic and hints
//===----------------------------------------------------------------------===//

static void mapa(Exec &e) { // mapa{.shared::cluster}.u32 d, a, rank
  uint64_t offset = 0, address = e.value(1);
  uint32_t rank = e.value(2);
  if (!e.m.sharedCta(address, offset))
    e.m.fail("mapa of " + hex(address) + ", which is no shared address");
  // A rank outside of the cluster gives an address that nobody may use.
  if (rank >= e.m.clusterDim.count())
    return e.set(0, 0);
  e.set(0, e.t.cta->cluster->window + rank * kWindowStride + offset);
}

static void ctaRank(Exec &e) { // getctarank d, a
  uint64_t offset = 0;
  Cta *cta = e.m.sharedCta(e.value(1), offset);
  if (!cta)
    e.m.fail("getctarank of " + hex(e.value(1)) +
             ", which is no shared address");
  e.set(0, cta->rank);
}

static void cvta(Exec &e) { e.set(0, e.value(1)); }

static void isSpace(Exec &e) { // isspacep.space p, a
  uint64_t offset = 0;
  Cta *cta = e.m.sharedCta(e.value(1), offset);
  bool shared = cta && (cta == e.t.cta || e.inst.has("shared::cluster"));
  e.set(0, e.inst.has("global") ? !cta : shared);
}

static void prefetch(Exec &) {}

ArrayRef<OpInfo> rudnn::emulator::memoryOps() {
#define SPACES " global shared shared::cta shared::cluster local param const "
#define ORDER                                                                  \
  " relaxed acquire release acq_rel cta cluster gpu sys volatile weak "
#define CACHE                                                                  \
  " nc ca cg cs cv wb wt lu L1::no_allocate L1::evict_first L1::evict_last "   \
  "L1::evict_normal L1::evict_unchanged L2::cache_hint L2::64B L2::128B "      \
  "L2::256B "
#define ATOMIC " add min max and or xor exch cas inc dec noftz v2 v4 v8 "
  static const OpInfo table[] = {
      {"ld", SPACES ORDER CACHE "v2 v4 v8 *", 2, 3, load, decodeAccess},
      {"ldu", SPACES "v2 v4 *", 2, 2, load, decodeAccess},
      {"st", SPACES ORDER CACHE "v2 v4 v8 *", 2, 3, store, decodeAccess},
      {"atom", SPACES ORDER ATOMIC "*", 3, 4, atomic, decodeAtomic},
      {"red", SPACES ORDER ATOMIC "*", 2, 2, reduction, decodeAtomic},
      {"st.async", SPACES ORDER "mbarrier::complete_tx::bytes v2 v4 *", 3, 3,
       storeAsync, decodeStoreAsync},
      {"red.async",
       SPACES ORDER "mbarrier::complete_tx::bytes add min max and or xor inc "
                    "dec *",
       3, 3, storeAsync, decodeStoreAsync},
      {"mapa", "shared::cluster u32 u64", 3, 3, mapa},
      {"getctarank", "shared::cluster u32 u64", 2, 2, ctaRank},
      {"cvta",
       "to global shared shared::cta shared::cluster local param u32 "
       "u64",
       2, 2, cvta},
      {"isspacep", SPACES, 2, 2, isSpace},
      {"prefetch", SPACES "L1 L2 L2::evict_last L2::evict_normal tensormap", 1,
       1, prefetch},
      {"prefetchu", "L1", 1, 1, prefetch},
      {"applypriority", "global L2::evict_normal", 2, 2, prefetch},
      {"discard", "global L2", 2, 2, prefetch},
  };
#undef SPACES
#undef ORDER
#undef CACHE
#undef ATOMIC
  return table;
}
