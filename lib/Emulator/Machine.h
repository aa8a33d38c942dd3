//===- Machine.h - State of the emulated device -----------------*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One Machine runs one launch on one host thread. Its device threads are
// fibres: a thread runs until it blocks, so that between two switches nothing
// else touches the state.
//
// Shared memory of the CTA with rank r of a cluster lies at window + r *
// kWindowStride, below 4 GiB, so that a 32-bit shared address is the low half
// of the host address and the 18 bits of a matrix descriptor are an offset.
//
//===----------------------------------------------------------------------===//
#ifndef RUDNN_LIB_EMULATOR_MACHINE_H
#define RUDNN_LIB_EMULATOR_MACHINE_H

#include "Fibre.h"
#include "Ptx.h"
#include "rudnn/Emulator.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/Twine.h"

#include <chrono>
#include <csetjmp>
#include <deque>
#include <functional>
#include <map>
#include <random>

namespace rudnn::emulator {

struct Cta;
struct Warp;
struct Cluster;

constexpr uint32_t kWarpSize = 32;
constexpr uint32_t kWarpGroup = 128;
constexpr uint64_t kWindowStride = 1 << 20;
/// What the descriptors can address.
constexpr uint64_t kWindowBytes = 1 << 18;
/// The device keeps the first KiB of a CTA's shared memory for itself.
constexpr uint32_t kReservedShared = 1024;

/// Completion state of one cp.async.bulk group or cp.async group.
struct CopyGroup {
  Thread *owner = nullptr;
  unsigned pendingReads = 0, pendingWrites = 0, copies = 0;
  bool waited = false; ///< By some wait_group, if only for the reads.
};

/// An asynchronous copy: `read` takes the source away, `write` makes the result
/// visible. A copy whose source need not be released early has only `write`.
struct AsyncOp {
  Cta *cta = nullptr; ///< Whose shared memory it uses.
  const Inst *inst = nullptr;
  std::function<void()> read, write;
  bool released = false; ///< `read` has run.
  std::shared_ptr<CopyGroup> group;
  /// cp.async copies that must be complete before this runs.
  std::vector<std::shared_ptr<CopyGroup>> after;
};

/// A wgmma instruction of one warp group.
struct WgmmaOp {
  const Inst *inst = nullptr;
  uint64_t descA = 0, descB = 0;
  bool scaleD = false;
  uint32_t arrived = 0; ///< Threads that issued it.
  bool done = false;
  std::vector<uint32_t> a;   ///< 128 x 4 registers of A.
  std::vector<float> in;     ///< 128 x N/2 accumulators.
  std::vector<float> result; ///< The same.
};

struct WarpGroup {
  Cta *cta = nullptr;
  uint32_t index = 0;
  uint64_t firstSeq = 0; ///< Sequence number of ops.front().
  uint64_t doneSeq = 0;  ///< Instructions below are complete.
  std::deque<std::unique_ptr<WgmmaOp>> ops;
  std::vector<Thread *> waiters;
};

struct MBarrier {
  Cta *cta = nullptr;
  uint32_t offset = 0; ///< In the CTA's shared memory.
  uint32_t count = 0, pending = 0;
  int64_t tx = 0;
  uint64_t phase = 0; ///< Completed phases.
  uint32_t initThread = 0;
  bool fenced = false; ///< Visible to the async proxy and the cluster.
  std::vector<Thread *> waiters;
};

struct NamedBarrier {
  uint32_t expected = 0; ///< Threads; 0: all.
  uint32_t arrived = 0;
  bool aligned = false; ///< Counts whole warps.
  const Inst *inst = nullptr;
  uint32_t popc = 0;
  bool all = true, any = false;
  uint64_t generation = 0;
  uint32_t resultPopc = 0;
  bool resultAll = false, resultAny = false;
  std::vector<Thread *> waiters;
};

/// Lanes that meet to exchange data.
struct Rendezvous {
  const Inst *inst = nullptr;
  uint32_t mask = 0, arrived = 0;
  uint64_t alignedSeq = 0; ///< Aligned instructions before it.
  uint64_t in[kWarpSize][6] = {}, out[kWarpSize][6] = {};
};

/// An aligned instruction that some lanes of the warp have executed and others
/// have not yet.
struct AlignedEntry {
  const Inst *inst;
  uint32_t arrived;
};

struct Warp {
  Cta *cta = nullptr;
  uint32_t index = 0;
  uint32_t alive = 0, members = 0;
  Thread *lanes[kWarpSize] = {};
  std::vector<std::shared_ptr<Rendezvous>> open;
  std::deque<AlignedEntry> aligned;
  uint64_t alignedBase = 0; ///< Sequence number of aligned.front().
};

enum class WaitKind : uint8_t {
  None,
  Poll,
  Warp,
  Named,
  MBarrier,
  Cluster,
  Wgmma,
  BulkGroup,
  AsyncGroup
};

struct Thread {
  Fibre fibre;
  Cta *cta = nullptr;
  Warp *warp = nullptr;
  uint32_t tid = 0, lane = 0;
  Dim3 index; ///< threadIdx
  enum State : uint8_t { Ready, Blocked, Done } state = Ready;
  // What it executes and waits for.
  const Inst *inst = nullptr;
  WaitKind wait = WaitKind::None;
  MBarrier *barrier = nullptr;
  uint64_t waitValue = 0;
  bool pollFailed = false; ///< Woken without the awaited event.
  uint64_t alignedSeq = 0;
  uint64_t lastSync = 0; ///< Clock when it last passed a barrier.
  // cp.async
  std::shared_ptr<CopyGroup> openAsync;
  std::deque<std::shared_ptr<CopyGroup>> asyncGroups;
  // cp.async.bulk
  std::shared_ptr<CopyGroup> openBulk;
  std::deque<std::shared_ptr<CopyGroup>> bulkGroups;
  // wgmma
  uint64_t wgmmaSeq = 0, wgmmaCommitted = 0, wgmmaRetired = 0;
  std::deque<uint64_t> wgmmaGroups; ///< End sequence numbers.
  // barrier.cluster
  uint64_t clusterArrivals = 0, clusterWaits = 0;
};

struct Cta {
  Cluster *cluster = nullptr;
  uint32_t rank = 0;
  Dim3 index; ///< blockIdx
  uint8_t *shared = nullptr;
  uint32_t sharedBytes = 0; ///< Including the reserved part.
  uint32_t alive = 0;
  std::vector<std::unique_ptr<Thread>> threads;
  std::deque<Warp> warps;
  std::deque<WarpGroup> groups;
  NamedBarrier named[16];
  std::map<uint32_t, std::unique_ptr<MBarrier>> mbarriers;
  // 16-byte granules written by the generic proxy and not yet fenced.
  std::vector<uint32_t> dirtyOwner; ///< Thread + 1, 0: clean.
  std::vector<uint64_t> dirtyStamp;
  std::vector<uint32_t> dirtyList;

  std::string name() const;
};

struct Cluster {
  Dim3 index;
  uint64_t window = 0;
  uint32_t slot = 0;
  uint32_t alive = 0;
  uint32_t arrived = 0;
  uint64_t phase = 0;
  std::vector<Thread *> waiters;
  std::vector<std::unique_ptr<Cta>> ctas;
};

/// What the lowering found out about a kernel.
struct KernelInfo {
  void (*entry)(void **) = nullptr;
  uint32_t staticShared = 0;  ///< Bytes of static shared variables.
  uint32_t dynamicAlign = 16; ///< Of the extern shared array.
  std::vector<uint32_t> argumentBytes;
  std::vector<uint32_t> argumentAlign;
  Dim3 cluster{0, 0, 0}; ///< nvvm.cluster_dim, 0: none.
  Dim3 requiredBlock{0, 0, 0};
  uint64_t maxThreads = 0; ///< nvvm.maxntid, 0: none.
  uint32_t maxShared = 232448;
};

struct Machine {
  Machine(const KernelInfo &kernel, const Launch &launch,
          llvm::ArrayRef<Buffer> moduleGlobals, Statistics &statistics);
  ~Machine();

  /// Runs the grid; returns the error text, empty on success.
  std::string run(void **arguments);

  //===--------------------------------------------------------------------===//
  // Threads (Scheduler.cpp)
  //===--------------------------------------------------------------------===//
  static Machine *&active();
  Thread *current = nullptr; ///< Null while the scheduler itself works.
  /// Stops the launch with this message, about the current thread if any.
  [[noreturn]] void fail(const llvm::Twine &message);
  /// Lets other threads run until wake().
  void block(WaitKind kind);
  void wake(Thread *t);
  void wakeAll(std::vector<Thread *> &waiters);
  /// Lets the others run before this thread continues.
  void yield();
  /// Ends the current thread.
  [[noreturn]] void exitThread();
  void startAsync(AsyncOp op);
  bool delayed() const { return launch.options.mode == Mode::Delayed; }
  std::string describe(const Thread &t) const;

  //===--------------------------------------------------------------------===//
  // Warps (Warp.cpp)
  //===--------------------------------------------------------------------===//
  /// Notes that the thread executes an instruction that the whole warp must
  /// execute. `needsAll`: lanes that have exited are an error.
  /// True for the lane with which the whole warp has.
  bool aligned(Exec &e, bool needsAll);
  /// Waits for all lanes in `mask`; the last one runs `complete`.
  void exchange(Exec &e, uint32_t mask, llvm::ArrayRef<uint64_t> in,
                llvm::MutableArrayRef<uint64_t> out,
                llvm::function_ref<void(Rendezvous &)> complete);

  //===--------------------------------------------------------------------===//
  // Memory (Memory.cpp)
  //===--------------------------------------------------------------------===//
  enum class Space : uint8_t { Generic, Global, Shared, SharedCluster };
  /// Checks an access of the generic proxy by the current thread.
  void checkAccess(uint64_t address, uint64_t bytes, Space space, bool write);
  /// Checks an access of the async proxy to the shared memory of `cta`.
  void checkAsyncShared(Cta &cta, uint64_t offset, uint64_t bytes, bool write,
                        const Inst &inst);
  void checkGlobal(uint64_t address, uint64_t bytes, bool write);
  /// The CTA and offset of a shared address; null when it is none.
  Cta *sharedCta(uint64_t address, uint64_t &offset) const;
  void proxyFence(Thread &t);

  //===--------------------------------------------------------------------===//
  // Barriers (Barriers.cpp)
  //===--------------------------------------------------------------------===//
  MBarrier &barrierAt(uint64_t address, const Inst &inst);
  void arrive(MBarrier &b, uint32_t count, int64_t expectTx, const Inst &inst);
  void completeTx(MBarrier &b, int64_t bytes, const Inst &inst);
  void checkPhase(MBarrier &b);
  void synced(Thread &t) { t.lastSync = ++clock; }
  void completeCluster(Cluster &c);
  void completeNamed(NamedBarrier &b);
  /// Threads that complete the barrier.
  static uint32_t expected(const NamedBarrier &b, const Cta &cta);

  /// Executes the oldest unfinished wgmma of the group if all have issued it.
  bool runWgmma(WarpGroup &g);

  const KernelInfo &kernel;
  const Launch &launch;
  Dim3 grid, blockDim, clusterDim;
  Statistics &statistics;
  std::mt19937_64 random;
  uint64_t clock = 1;
  uint64_t window = 0, windowBytes = 0;
  uint64_t progress = 0; ///< Counts events that can end a poll.
  std::vector<std::unique_ptr<Cluster>> resident;

  // Public for the dump and the handlers' use only.
  std::string dumpState() const;

private:
  std::unique_ptr<Cluster> startCluster(uint64_t number, uint32_t slot,
                                        void **arguments);
  bool schedule();
  bool completeOneAsync();
  void completePending(size_t i);
  void wakeOwner(CopyGroup *group);
  bool wakePollers();
  void switchTo(Thread *t);
  void finishThread(Thread &t);
  void finishCta(Cta &cta);
  static void threadMain(void *argument);
  void reserveWindow(uint32_t slots);
  bool timeIsUp() const;

  Fibre scheduler;
  std::unique_ptr<StackPool> stacks;
  std::vector<std::unique_ptr<Fibre>> fibres;
  std::deque<Thread *> ready;
  std::vector<AsyncOp> pending;
  void **arguments = nullptr;
  std::string error;
  std::jmp_buf bail;
  double earlyCompletion = 0;
  uint64_t pollProgress = 0;
  unsigned pollRounds = 0, idleRounds = 0;
  std::chrono::steady_clock::time_point deadline;

  struct Extent {
    uint64_t begin, end;
    bool writable;
    std::string name;
  };
  std::vector<Extent> extents;
  size_t lastExtent = 0;
  bool checkGlobals = false;
};

/// Reads of `N` threads' slots etc. are all 64 bit; these give them types.
template <typename To, typename From>
To bitCast(From from) {
  static_assert(sizeof(To) <= sizeof(From) || sizeof(To) >= sizeof(From));
  To to{};
  __builtin_memcpy(&to, &from,
                   sizeof(To) < sizeof(From) ? sizeof(To) : sizeof(From));
  return to;
}

/// Called by the compiled kernels.
void execute(const Block *block, uint64_t *slots);
uint64_t readSpecial(Machine &m, Thread &t, uint32_t reg);
/// The value of an accumulator register that wgmma has written; an error when
/// nothing has waited for that wgmma yet.
float readAccumulator(Machine &m, Thread &t, float value);

} // namespace rudnn::emulator

#endif // RUDNN_LIB_EMULATOR_MACHINE_H
