//===- Scheduler.cpp - Threads, asynchronous work, end of launch -*- C++
//-*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Machine.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <numeric>

#include <sys/mman.h>

using namespace llvm;
using namespace rudnn::emulator;

Machine *&Machine::active() {
  static thread_local Machine *machine = nullptr;
  return machine;
}

Machine::Machine(const KernelInfo &kernel, const Launch &launch,
                 ArrayRef<Buffer> moduleGlobals, Statistics &statistics)
    : kernel(kernel), launch(launch), grid(launch.grid), blockDim(launch.block),
      clusterDim(launch.cluster), statistics(statistics),
      random(launch.options.seed * 0x9e3779b97f4a7c15u + 1) {
  // How eagerly copies complete differs between seeds: never before somebody
  // must wait, now and then, or soon.
  const double chances[] = {0.0, 0.01, 0.1, 0.5};
  earlyCompletion = chances[random() % 4];
  checkGlobals = !launch.buffers.empty();
  auto add = [&](const Buffer &b) {
    auto begin = reinterpret_cast<uint64_t>(b.data);
    extents.push_back({begin, begin + b.bytes, b.writable, b.name});
  };
  for (const Buffer &b : launch.buffers)
    add(b);
  for (const Buffer &b : moduleGlobals)
    add(b);
}

Machine::~Machine() {
  resident.clear();
  if (window)
    munmap(reinterpret_cast<void *>(window), windowBytes);
}

/// Reserves the shared memory of `slots` clusters in the low 4 GiB.
void Machine::reserveWindow(uint32_t slots) {
  constexpr uint64_t align = 16 * kWindowStride;
  windowBytes = slots * align;
  for (uint64_t at = align; at + windowBytes < (uint64_t(1) << 32);
       at += align) {
    void *p =
        mmap(reinterpret_cast<void *>(at), windowBytes, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE,
             -1, 0);
    if (p == MAP_FAILED)
      continue;
    if (reinterpret_cast<uint64_t>(p) == at) {
      window = at;
      return;
    }
    munmap(p, windowBytes); // a kernel without MAP_FIXED_NOREPLACE
  }
}

std::string Machine::run(void **args) {
  arguments = args;
  auto start = std::chrono::steady_clock::now();
  deadline = start +
             std::chrono::microseconds(int64_t(launch.options.timeLimit * 1e6));
  uint64_t perCluster = clusterDim.count() * blockDim.count();
  uint64_t clusters = grid.count() / clusterDim.count();
  uint32_t slots = std::clamp<uint64_t>(launch.options.residentClusters, 1,
                                        std::max<uint64_t>(clusters, 1));
  reserveWindow(slots);
  if (!window)
    return "no room below 4 GiB for the shared memory of " +
           std::to_string(slots) + " clusters";
  stacks = std::make_unique<StackPool>(perCluster * slots);
  if (!stacks->valid())
    return "no memory for the stacks of " + std::to_string(perCluster * slots) +
           " threads";

  std::vector<uint64_t> order(clusters);
  std::iota(order.begin(), order.end(), 0);
  if (delayed())
    std::shuffle(order.begin(), order.end(), random);
  std::vector<uint32_t> freeSlots(slots);
  std::iota(freeSlots.rbegin(), freeSlots.rend(), 0);

  Machine *outer = active();
  active() = this;
  size_t next = 0;
  if (!setjmp(bail)) {
    while (next < order.size() || !resident.empty()) {
      while (next < order.size() && !freeSlots.empty()) {
        resident.push_back(
            startCluster(order[next++], freeSlots.back(), arguments));
        freeSlots.pop_back();
      }
      while (schedule()) {
      }
      for (size_t i = 0; i < resident.size();)
        if (resident[i]->alive == 0) {
          freeSlots.push_back(resident[i]->slot);
          resident.erase(resident.begin() + i);
        } else {
          ++i;
        }
    }
  }
  active() = outer;
  statistics.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
          .count();
  return error;
}

static Dim3 unflatten(uint64_t i, Dim3 extent) {
  return {uint32_t(i % extent.x), uint32_t(i / extent.x % extent.y),
          uint32_t(i / extent.x / extent.y)};
}

std::unique_ptr<Cluster> Machine::startCluster(uint64_t number, uint32_t slot,
                                               void **) {
  auto cluster = std::make_unique<Cluster>();
  Dim3 clusters{grid.x / clusterDim.x, grid.y / clusterDim.y,
                grid.z / clusterDim.z};
  cluster->index = unflatten(number, clusters);
  cluster->slot = slot;
  cluster->window = window + slot * 16 * kWindowStride;
  uint32_t threads = blockDim.count();
  size_t stack = size_t(slot) * clusterDim.count() * threads;
  for (uint32_t rank = 0; rank < clusterDim.count(); ++rank) {
    auto cta = std::make_unique<Cta>();
    cta->cluster = cluster.get();
    cta->rank = rank;
    Dim3 in = unflatten(rank, clusterDim);
    cta->index = {cluster->index.x * clusterDim.x + in.x,
                  cluster->index.y * clusterDim.y + in.y,
                  cluster->index.z * clusterDim.z + in.z};
    cta->shared =
        reinterpret_cast<uint8_t *>(cluster->window + rank * kWindowStride);
    uint32_t dynamicBase =
        (kReservedShared + kernel.staticShared + kernel.dynamicAlign - 1) &
        ~(kernel.dynamicAlign - 1);
    cta->sharedBytes = dynamicBase + launch.dynamicSharedBytes;
    // What nobody has written reads as NaN in every float type.
    memset(cta->shared, 0xff, cta->sharedBytes);
    cta->dirtyOwner.assign((cta->sharedBytes + 15) / 16, 0);
    cta->dirtyStamp.assign((cta->sharedBytes + 15) / 16, 0);
    cta->alive = threads;
    cta->warps.resize((threads + kWarpSize - 1) / kWarpSize);
    cta->groups.resize((threads + kWarpGroup - 1) / kWarpGroup);
    for (auto [i, g] : enumerate(cta->groups))
      g.cta = cta.get(), g.index = i;
    for (uint32_t tid = 0; tid < threads; ++tid) {
      auto t = std::make_unique<Thread>();
      Warp &warp = cta->warps[tid / kWarpSize];
      warp.cta = cta.get();
      warp.index = tid / kWarpSize;
      t->cta = cta.get();
      t->warp = &warp;
      t->tid = tid;
      t->lane = tid % kWarpSize;
      t->index = unflatten(tid, blockDim);
      t->lastSync = 0;
      warp.lanes[t->lane] = t.get();
      warp.members |= 1u << t->lane;
      t->fibre.prepare(stacks->base(stack), stacks->bytes(), threadMain,
                       t.get());
      ++stack;
      ready.push_back(t.get());
      cta->threads.push_back(std::move(t));
    }
    for (Warp &warp : cta->warps)
      warp.alive = warp.members;
    cluster->alive += threads;
    cluster->ctas.push_back(std::move(cta));
  }
  statistics.threads += cluster->alive;
  return cluster;
}

void Machine::threadMain(void *) {
  Machine &m = *active();
  m.kernel.entry(m.arguments);
  m.exitThread();
}

void Machine::exitThread() {
  Thread &t = *current;
  finishThread(t);
  t.state = Thread::Done;
  current = nullptr;
  Fibre::switchTo(t.fibre, scheduler);
  __builtin_unreachable();
}

void Machine::switchTo(Thread *t) {
  ++statistics.switches;
  current = t;
  Fibre::switchTo(scheduler, t->fibre);
  current = nullptr;
}

void Machine::fail(const Twine &message) {
  if (current)
    error = (message + "\n  in " + describe(*current)).str();
  else
    error = message.str();
  if (current) {
    Thread *t = current;
    current = nullptr;
    Fibre::switchTo(t->fibre, scheduler);
  }
  longjmp(bail, 1);
}

void Machine::block(WaitKind kind) {
  Thread *t = current;
  t->wait = kind;
  t->state = Thread::Blocked;
  Fibre::switchTo(t->fibre, scheduler);
  t->wait = WaitKind::None;
}

void Machine::yield() {
  Thread *t = current;
  t->wait = WaitKind::Poll;
  ready.push_back(t);
  ++pollRounds;
  Fibre::switchTo(t->fibre, scheduler);
  t->wait = WaitKind::None;
}

void Machine::wake(Thread *t) {
  if (t->state != Thread::Blocked)
    return;
  t->state = Thread::Ready;
  ready.push_back(t);
}

void Machine::wakeAll(std::vector<Thread *> &waiters) {
  for (Thread *t : waiters)
    wake(t);
  waiters.clear();
}

bool Machine::timeIsUp() const {
  return (statistics.switches & 1023) == 0 &&
         std::chrono::steady_clock::now() > deadline;
}

/// One step. False when a cluster has ended.
bool Machine::schedule() {
  if (!error.empty())
    longjmp(bail, 1);
  if (delayed() && earlyCompletion > 0 &&
      std::uniform_real_distribution<>()(random) < earlyCompletion)
    completeOneAsync();
  // Threads that poll memory may be waiting for what is still in flight.
  if (pollRounds > 4 * ready.size() + 64) {
    pollRounds = 0;
    completeOneAsync();
  }
  if (ready.empty()) {
    if (completeOneAsync())
      return true;
    if (any_of(resident, [](auto &c) { return c->alive == 0; }))
      return false;
    if (wakePollers())
      return true;
    fail("deadlock: every thread waits\n" + dumpState());
  }
  if (delayed() && random() % 4 == 0)
    std::swap(ready.front(), ready[random() % ready.size()]);
  Thread *t = ready.front();
  ready.pop_front();
  Cluster *cluster = t->cta->cluster;
  switchTo(t);
  if (!error.empty())
    longjmp(bail, 1);
  if (timeIsUp())
    fail("time limit of " + std::to_string(launch.options.timeLimit) +
         " s exceeded\n" + dumpState());
  return cluster->alive != 0;
}

/// Threads in a try_wait or test_wait loop may do something else when the
/// instruction gives up: let them, as long as that leads anywhere.
bool Machine::wakePollers() {
  idleRounds = progress == pollProgress ? idleRounds + 1 : 0;
  pollProgress = progress;
  if (idleRounds > 16)
    return false;
  bool any = false;
  for (auto &cluster : resident)
    for (auto &cta : cluster->ctas)
      for (auto &[offset, b] : cta->mbarriers) {
        for (Thread *t : b->waiters) {
          t->pollFailed = true;
          any = true;
        }
        wakeAll(b->waiters);
      }
  return any;
}

void Machine::startAsync(AsyncOp op) {
  ++statistics.asyncCopies;
  if (op.group) {
    ++op.group->copies;
    ++op.group->pendingReads;
    ++op.group->pendingWrites;
    op.group->owner = current;
  }
  pending.push_back(std::move(op));
  if (!delayed())
    completePending(pending.size() - 1);
}

/// Takes one step of a copy: releases its source or writes its result.
void Machine::completePending(size_t i) {
  AsyncOp &op = pending[i];
  ++progress;
  std::shared_ptr<CopyGroup> group = op.group;
  if (op.read) {
    op.read();
    op.read = nullptr;
    op.released = true;
    if (group)
      --group->pendingReads;
    if (delayed()) // the result is written at some other time
      return wakeOwner(group.get());
  } else if (group && !op.released) {
    --group->pendingReads;
  }
  op.write();
  if (group)
    --group->pendingWrites;
  if (delayed()) { // the order means nothing
    if (i + 1 != pending.size())
      pending[i] = std::move(pending.back());
    pending.pop_back();
  } else {
    pending.erase(pending.begin() + i);
  }
  wakeOwner(group.get());
}

void Machine::wakeOwner(CopyGroup *group) {
  if (group && (group->owner->wait == WaitKind::BulkGroup ||
                group->owner->wait == WaitKind::AsyncGroup))
    wake(group->owner);
}

/// Completes one outstanding copy or matrix operation (a random one in the
/// delayed mode). False when there is none that can complete.
bool Machine::completeOneAsync() {
  std::vector<WarpGroup *> runnable;
  for (auto &cluster : resident)
    for (auto &cta : cluster->ctas)
      for (WarpGroup &g : cta->groups)
        if (g.doneSeq - g.firstSeq < g.ops.size() &&
            g.ops[g.doneSeq - g.firstSeq]->arrived == kWarpGroup)
          runnable.push_back(&g);
  auto canComplete = [&](size_t i) {
    return all_of(pending[i].after,
                  [](auto &g) { return g->pendingWrites == 0; });
  };
  size_t choices = pending.size() + runnable.size();
  constexpr int kTries = 8; // most copies can complete
  for (int i = 0; delayed() && choices && i < kTries; ++i) {
    size_t pick = random() % choices;
    if (pick >= pending.size()) {
      runWgmma(*runnable[pick - pending.size()]);
      return true;
    }
    if (canComplete(pick)) {
      completePending(pick);
      return true;
    }
  }
  for (size_t i = 0; i < pending.size(); ++i)
    if (canComplete(i)) {
      completePending(i);
      return true;
    }
  if (runnable.empty())
    return false;
  runWgmma(*runnable.front());
  return true;
}

void Machine::finishThread(Thread &t) {
  Warp &warp = *t.warp;
  uint32_t bit = 1u << t.lane;
  for (auto [i, entry] : enumerate(warp.aligned))
    if (!(entry.arrived & bit) && warp.alignedBase + i >= t.alignedSeq)
      fail("the thread exits while other lanes of its warp execute '" +
           entry.inst->text + "', which takes the whole warp");
  for (auto &rendezvous : warp.open)
    if (rendezvous->mask & bit)
      fail("the thread exits while other lanes of its warp wait for it in '" +
           rendezvous->inst->text + "'");
  if (t.wgmmaRetired != t.wgmmaSeq)
    fail("the thread exits with " + Twine(t.wgmmaSeq - t.wgmmaRetired) +
         " wgmma instructions in flight: wgmma.wait_group is missing");
  if (t.openBulk)
    fail("the thread exits with bulk copies that no "
         "cp.async.bulk.commit_group has committed");
  if (any_of(t.bulkGroups, [](auto &g) { return g->copies && !g->waited; }))
    fail("the thread exits with bulk copies from shared memory that no "
         "cp.async.bulk.wait_group has waited for");
  warp.alive &= ~bit;
  ++progress;
  Cluster &cluster = *t.cta->cluster;
  --t.cta->alive;
  --cluster.alive;
  // Barriers of all threads wait for the living ones only.
  for (NamedBarrier &b : t.cta->named)
    if (b.arrived && !b.expected && t.cta->alive &&
        b.arrived >= expected(b, *t.cta))
      completeNamed(b);
  if (cluster.arrived && cluster.arrived >= cluster.alive)
    completeCluster(cluster);
  if (!t.cta->alive)
    finishCta(*t.cta);
}

void Machine::finishCta(Cta &cta) {
  for (AsyncOp &op : pending)
    if (op.cta == &cta && op.group == nullptr)
      fail("the CTA exits while the copy '" + op.inst->text +
           "' into its shared memory is in flight");
  // What is left are copies whose group nobody waited for; they complete.
  for (size_t i = 0; i < pending.size();) {
    if (pending[i].cta != &cta) {
      ++i;
      continue;
    }
    AsyncOp op = std::move(pending[i]);
    pending.erase(pending.begin() + i);
    if (op.read)
      op.read();
    op.write();
  }
}
