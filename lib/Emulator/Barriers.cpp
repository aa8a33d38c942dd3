//===- Barriers.cpp - mbarriers, named and cluster barriers -----*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Machine.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/bit.h"

using namespace llvm;
using namespace rudnn::emulator;

// The eight bytes of a live mbarrier; data written over it is noticed.
static constexpr uint64_t kBarrierMark = 0x6d62617272696572; // "mbarrier"
static constexpr int64_t kMaxTx = (1 << 20) - 1;

static std::string hex(uint64_t v) { return "0x" + utohexstr(v, true); }

//===----------------------------------------------------------------------===//
// mbarriers
//===----------------------------------------------------------------------===//

MBarrier &Machine::barrierAt(uint64_t address, const Inst &inst) {
  uint64_t offset = 0;
  Cta *cta = sharedCta(address, offset);
  if (!cta)
    fail("'" + inst.text + "': " + hex(address) + " is no shared address");
  if (!cta->alive)
    fail("'" + inst.text + "': all threads of " + cta->name() +
         ", whose mbarrier it uses, have exited");
  auto it = cta->mbarriers.find(offset);
  if (it == cta->mbarriers.end())
    fail("'" + inst.text + "': no mbarrier has been initialized at shared+" +
         hex(offset) + " of " + cta->name());
  uint64_t mark;
  memcpy(&mark, cta->shared + offset, sizeof(mark));
  if (mark != kBarrierMark)
    fail("'" + inst.text + "': the mbarrier at shared+" + hex(offset) +
         " has been overwritten by data");
  return *it->second;
}

void Machine::checkPhase(MBarrier &b) {
  if (b.pending || b.tx)
    return;
  ++b.phase;
  b.pending = b.count;
  ++progress;
  wakeAll(b.waiters);
}

void Machine::arrive(MBarrier &b, uint32_t count, int64_t expectTx,
                     const Inst &inst) {
  b.tx += expectTx;
  if (b.tx > kMaxTx)
    fail("'" + inst.text + "': the mbarrier at shared+" + hex(b.offset) +
         " expects " + Twine(b.tx) + " bytes, more than 2^20 - 1");
  if (count > b.pending)
    fail("'" + inst.text + "': too many arrivals at the mbarrier at shared+" +
         hex(b.offset) + " in phase " + Twine(b.phase) + ": its count is " +
         Twine(b.count) + ", " + Twine(b.pending) + " are pending and " +
         Twine(b.tx) + " bytes are");
  b.pending -= count;
  ++progress;
  checkPhase(b);
}

void Machine::completeTx(MBarrier &b, int64_t bytes, const Inst &inst) {
  b.tx -= bytes;
  if (b.tx < -kMaxTx)
    fail("'" + inst.text + "': the mbarrier at shared+" + hex(b.offset) +
         " has received " + Twine(-b.tx) + " bytes that nobody expected");
  ++progress;
  checkPhase(b);
}

static void mbarrierInit(Exec &e) {
  uint64_t address = e.address(0), offset = 0;
  uint32_t count = e.value(1);
  Cta *cta = e.m.sharedCta(address, offset);
  if (cta != e.t.cta)
    e.m.fail(hex(address) + " is not in the CTA's shared memory");
  if (offset % 8)
    e.m.fail("the mbarrier at shared+" + hex(offset) +
             " is not aligned to 8 bytes");
  if (count < 1 || count > (1 << 20) - 1)
    e.m.fail("an mbarrier's count is 1 to 2^20 - 1, not " + Twine(count));
  e.m.checkAccess(address, 8, Machine::Space::Shared, true);
  std::unique_ptr<MBarrier> &b = cta->mbarriers[offset];
  if (b)
    e.m.fail("the mbarrier at shared+" + hex(offset) +
             " is initialized a second time without mbarrier.inval");
  b = std::make_unique<MBarrier>();
  b->cta = cta;
  b->offset = offset;
  b->count = b->pending = count;
  b->initThread = e.t.tid;
  memcpy(cta->shared + offset, &kBarrierMark, 8);
}

static void mbarrierInval(Exec &e) {
  MBarrier &b = e.m.barrierAt(e.address(0), e.inst);
  if (!b.waiters.empty())
    e.m.fail("the mbarrier at shared+" + hex(b.offset) +
             " is invalidated while " + Twine(b.waiters.size()) +
             " threads wait for it");
  memset(b.cta->shared + b.offset, 0xff, 8);
  b.cta->mbarriers.erase(b.offset);
}

static void checkRemote(Exec &e, MBarrier &b) {
  if (b.cta != e.t.cta && !b.fenced)
    e.m.fail("the mbarrier at shared+" + hex(b.offset) + " of " +
             b.cta->name() +
             " is used by another CTA, but no fence.mbarrier_init has "
             "followed its initialization");
}

/// mbarrier.arrive{_drop}{.expect_tx} state, [b]{, count or bytes}
static void mbarrierArrive(Exec &e) {
  bool expect = e.inst.has("expect_tx"),
       drop = e.inst.tokens[1] == "arrive_drop";
  MBarrier &b = e.m.barrierAt(e.address(1), e.inst);
  checkRemote(e, b);
  if (b.cta != e.t.cta && e.inst.operands[0].kind != Operand::Sink)
    e.m.fail("an arrival at another CTA's mbarrier has no state to return");
  uint32_t count = 1;
  int64_t tx = 0;
  if (expect)
    tx = uint32_t(e.value(2));
  else if (e.inst.operands.size() > 2)
    count = e.value(2);
  if (e.inst.has("noComplete") && count >= b.pending && !b.tx)
    e.m.fail("an arrival with .noComplete would complete the phase");
  e.set(0, (b.phase << 20) | b.pending);
  if (drop)
    b.count -= count;
  e.m.arrive(b, count, tx, e.inst);
}

static void mbarrierTx(Exec &e) { // mbarrier.expect_tx/complete_tx [b], bytes
  MBarrier &b = e.m.barrierAt(e.address(0), e.inst);
  checkRemote(e, b);
  int64_t bytes = uint32_t(e.value(1));
  if (e.inst.tokens[1] == "complete_tx")
    return e.m.completeTx(b, bytes, e.inst);
  b.tx += bytes;
  if (b.tx > kMaxTx)
    e.m.fail("the mbarrier at shared+" + hex(b.offset) + " expects " +
             Twine(b.tx) + " bytes, more than 2^20 - 1");
}

/// mbarrier.{test,try}_wait{.parity} p, [b], state or parity{, time}
static void mbarrierWait(Exec &e) {
  MBarrier &b = e.m.barrierAt(e.address(1), e.inst);
  if (b.cta != e.t.cta)
    e.m.fail("a thread can wait for an mbarrier of its own CTA only");
  uint64_t wanted = e.value(2);
  bool parity = e.inst.has("parity");
  if (parity && uint32_t(wanted) > 1)
    e.m.fail("a phase parity is 0 or 1, not " + Twine(uint32_t(wanted)));
  auto passed = [&] {
    return parity ? (b.phase & 1) != (wanted & 1) : b.phase != wanted >> 20;
  };
  // A test that fails parks the thread as a wait does: whatever it does next
  // can only be another test, and the scheduler lets it go on when nothing
  // else can.
  if (!passed()) {
    e.t.barrier = &b;
    e.t.waitValue = parity ? wanted & 1 : (wanted >> 20) & 1;
    e.t.pollFailed = false;
    b.waiters.push_back(&e.t);
    e.m.block(WaitKind::MBarrier);
  }
  bool done = passed();
  if (done)
    e.m.synced(e.t);
  e.set(0, done);
}

static void pendingCount(Exec &e) { e.set(0, e.value(1) & 0xfffff); }

//===----------------------------------------------------------------------===//
// Named barriers
//===----------------------------------------------------------------------===//

static bool isAligned(const Inst &inst) {
  return inst.tokens[0] == "bar" || inst.has("aligned");
}

uint32_t Machine::expected(const NamedBarrier &b, const Cta &cta) {
  if (b.expected)
    return b.expected;
  if (!b.aligned)
    return cta.alive;
  return kWarpSize *
         count_if(cta.warps, [](const Warp &w) { return w.alive != 0; });
}

void Machine::completeNamed(NamedBarrier &b) {
  b.resultPopc = b.popc;
  b.resultAll = b.all;
  b.resultAny = b.any;
  b.arrived = 0;
  ++progress;
  wakeAll(b.waiters);
}

static NamedBarrier &namedBarrier(Exec &e, uint64_t id, uint64_t threads,
                                  bool sync, bool predicate) {
  Machine &m = e.m;
  Cta &cta = *e.t.cta;
  if (id > 15)
    m.fail("a barrier number is 0 to 15, not " + Twine(id));
  if (threads % kWarpSize)
    m.fail("a barrier's thread count is a multiple of 32, not " +
           Twine(threads));
  if (threads > cta.warps.size() * kWarpSize)
    m.fail("barrier " + Twine(id) + " waits for " + Twine(threads) +
           " threads, the CTA has " + Twine(cta.threads.size()));
  // A warp counts as a whole, when its last lane arrives.
  bool whole = isAligned(e.inst);
  uint32_t weight = 1;
  if (whole)
    weight = m.aligned(e, /*needsAll=*/false) ? kWarpSize : 0;
  NamedBarrier &b = cta.named[id];
  bool open = b.arrived || !b.waiters.empty();
  if (open && b.expected != threads)
    m.fail("barrier " + Twine(id) + " is used with thread counts " +
           Twine(b.expected) + " ('" + b.inst->text + "') and " +
           Twine(threads) + " (0: all threads)");
  if (open && b.aligned != whole)
    m.fail("barrier " + Twine(id) +
           " is used by aligned and other "
           "instructions at once");
  if (!open) {
    b.expected = threads;
    b.aligned = whole;
    b.inst = &e.inst;
    b.popc = 0;
    b.all = true;
    b.any = false;
  }
  b.arrived += weight;
  b.popc += predicate;
  b.all &= predicate;
  b.any |= predicate;
  uint32_t total = Machine::expected(b, cta);
  if (b.arrived > total)
    m.fail("barrier " + Twine(id) + " expects " + Twine(total) + " threads, " +
           Twine(b.arrived) + " have arrived");
  if (b.arrived == total) {
    m.completeNamed(b);
  } else if (sync) {
    b.waiters.push_back(&e.t);
    e.t.waitValue = id;
    m.block(WaitKind::Named);
  }
  if (sync)
    m.synced(e.t);
  return b;
}

static void barSync(Exec &e) { // bar.sync id{, threads}
  namedBarrier(e, e.value(0),
               e.inst.operands.size() > 1 ? uint32_t(e.value(1)) : 0, true,
               false);
}

static void barArrive(Exec &e) { // bar.arrive id, threads
  namedBarrier(e, e.value(0), uint32_t(e.value(1)), false, false);
}

static void barRed(Exec &e) { // bar.red.op d, id{, threads}, p
  bool counted = e.inst.operands.size() > 3;
  NamedBarrier &b =
      namedBarrier(e, e.value(1), counted ? uint32_t(e.value(2)) : 0, true,
                   e.value(counted ? 3 : 2) & 1);
  e.set(0, e.inst.has("popc")  ? b.resultPopc
           : e.inst.has("and") ? b.resultAll
                               : b.resultAny);
}

//===----------------------------------------------------------------------===//
// Cluster barrier
//===----------------------------------------------------------------------===//

void Machine::completeCluster(Cluster &c) {
  c.arrived = 0;
  ++c.phase;
  ++progress;
  wakeAll(c.waiters);
}

static void clusterArrive(Exec &e) {
  if (e.inst.has("aligned"))
    e.m.aligned(e, false);
  if (e.t.clusterArrivals != e.t.clusterWaits)
    e.m.fail("barrier.cluster.arrive twice without barrier.cluster.wait");
  ++e.t.clusterArrivals;
  Cluster &c = *e.t.cta->cluster;
  if (++c.arrived == c.alive)
    e.m.completeCluster(c);
}

static void clusterWait(Exec &e) {
  if (e.inst.has("aligned"))
    e.m.aligned(e, false);
  if (e.t.clusterArrivals == e.t.clusterWaits)
    e.m.fail("barrier.cluster.wait without barrier.cluster.arrive");
  ++e.t.clusterWaits;
  Cluster &c = *e.t.cta->cluster;
  if (c.phase < e.t.clusterWaits) {
    c.waiters.push_back(&e.t);
    e.m.block(WaitKind::Cluster);
  }
  e.m.synced(e.t);
}

//===----------------------------------------------------------------------===//
// Fences and hints
//===----------------------------------------------------------------------===//

static void markFenced(Exec &e) {
  for (auto &[offset, b] : e.t.cta->mbarriers)
    if (b->initThread == e.t.tid)
      b->fenced = true;
}

static void proxyFence(Exec &e) {
  markFenced(e);
  e.m.proxyFence(e.t);
}

static void nothing(Exec &) {}

static void setMaxRegisters(Exec &e) {
  e.m.aligned(e, true);
  uint64_t n = e.value(0);
  if (n < 24 || n > 256 || n % 8)
    e.m.fail("a register count is a multiple of 8 from 24 to 256, not " +
             Twine(n));
}

static void sleep(Exec &e) { e.m.yield(); }

static void exitThread(Exec &e) { e.m.exitThread(); }

static void trap(Exec &e) { e.m.fail("the kernel traps"); }

ArrayRef<OpInfo> rudnn::emulator::barrierOps() {
#define SPACES "shared shared::cta shared::cluster b64"
#define SCOPES " release relaxed acquire cta cluster "
  static const OpInfo table[] = {
      {"mbarrier.init", SPACES, 2, 2, mbarrierInit},
      {"mbarrier.inval", SPACES, 1, 1, mbarrierInval},
      {"mbarrier.arrive", SPACES SCOPES "noComplete expect_tx", 2, 3,
       mbarrierArrive},
      {"mbarrier.arrive_drop", SPACES SCOPES "noComplete expect_tx", 2, 3,
       mbarrierArrive},
      {"mbarrier.expect_tx", SPACES SCOPES, 2, 2, mbarrierTx},
      {"mbarrier.complete_tx", SPACES SCOPES, 2, 2, mbarrierTx},
      {"mbarrier.test_wait", SPACES SCOPES "parity", 3, 4, mbarrierWait},
      {"mbarrier.try_wait", SPACES SCOPES "parity", 3, 4, mbarrierWait},
      {"mbarrier.pending_count", "b64", 2, 2, pendingCount},
      {"bar.sync", "", 1, 2, barSync},
      {"bar.cta.sync", "", 1, 2, barSync},
      {"barrier.sync", "aligned", 1, 2, barSync},
      {"barrier.cta.sync", "aligned", 1, 2, barSync},
      {"bar.arrive", "", 2, 2, barArrive},
      {"bar.cta.arrive", "", 2, 2, barArrive},
      {"barrier.arrive", "aligned", 2, 2, barArrive},
      {"barrier.cta.arrive", "aligned", 2, 2, barArrive},
      {"bar.red", "popc and or pred u32", 3, 4, barRed},
      {"bar.cta.red", "popc and or pred u32", 3, 4, barRed},
      {"barrier.red", "aligned popc and or pred u32", 3, 4, barRed},
      {"barrier.cta.red", "aligned popc and or pred u32", 3, 4, barRed},
      {"barrier.cluster.arrive", "aligned release relaxed", 0, 0,
       clusterArrive},
      {"barrier.cluster.wait", "aligned acquire", 0, 0, clusterWait},
      {"fence.proxy.async", "global shared::cta shared::cluster", 0, 0,
       proxyFence},
      {"fence.mbarrier_init.release.cluster", "", 0, 0, markFenced},
      {"fence.proxy.alias", "", 0, 0, nothing},
      {"fence.proxy.tensormap::generic", "release acquire cta cluster gpu sys",
       0, 2, nothing},
      {"fence", "sc acq_rel acquire release cta cluster gpu sys", 0, 0,
       nothing},
      {"membar", "cta gl sys", 0, 0, nothing},
      {"griddepcontrol.wait", "", 0, 0, nothing},
      {"griddepcontrol.launch_dependents", "", 0, 0, nothing},
      {"setmaxnreg.inc.sync.aligned", "u32", 1, 1, setMaxRegisters},
      {"setmaxnreg.dec.sync.aligned", "u32", 1, 1, setMaxRegisters},
      {"nanosleep", "u32", 1, 1, sleep},
      {"exit", "", 0, 0, exitThread},
      {"trap", "", 0, 0, trap},
  };
#undef SPACES
#undef SCOPES
  return table;
}
