//===- Dump.cpp - Readable state of a stuck launch --------------*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Machine.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace rudnn::emulator;

std::string Cta::name() const {
  return ("CTA (" + Twine(index.x) + "," + Twine(index.y) + "," +
          Twine(index.z) + ")")
      .str();
}

std::string Machine::describe(const Thread &t) const {
  std::string s = (t.cta->name() + " thread " + Twine(t.tid) + " (warp " +
                   Twine(t.warp->index) + ", lane " + Twine(t.lane) + ")")
                      .str();
  if (t.inst) {
    s += " at '" + t.inst->text + "'";
    if (!t.inst->where.empty())
      s += ", " + t.inst->where;
  }
  return s;
}

/// What a thread waits for.
static std::string waitText(const Thread &t) {
  std::string text;
  raw_string_ostream os(text);
  switch (t.wait) {
  case WaitKind::None:
    return t.state == Thread::Done ? "exited" : "runs";
  case WaitKind::Poll:
    os << "polls";
    break;
  case WaitKind::Warp: {
    os << "waits for lanes of its warp";
    for (auto &r : t.warp->open)
      if (r->arrived & (1u << t.lane))
        os << format(", missing lanes mask 0x%08x", r->mask & ~r->arrived);
    break;
  }
  case WaitKind::Named: {
    const NamedBarrier &b = t.cta->named[t.waitValue & 15];
    os << "waits at barrier " << t.waitValue << " (" << b.arrived << " of "
       << Machine::expected(b, *t.cta) << " threads have arrived)";
    break;
  }
  case WaitKind::MBarrier:
    os << format("waits for mbarrier at shared+0x%x", t.barrier->offset)
       << ", parity " << (t.waitValue & 1);
    break;
  case WaitKind::Cluster:
    os << "waits at the cluster barrier (" << t.cta->cluster->arrived << " of "
       << t.cta->cluster->alive << " threads have arrived)";
    break;
  case WaitKind::Wgmma:
    os << "waits for its wgmma groups";
    break;
  case WaitKind::BulkGroup:
    os << "waits for its bulk copies";
    break;
  case WaitKind::AsyncGroup:
    os << "waits for its cp.async copies";
    break;
  }
  if (t.inst)
    os << " in '" << t.inst->text << "'";
  return text;
}

static void dumpWarp(raw_ostream &os, const Warp &warp) {
  // Lanes in the same state share a line.
  std::vector<std::pair<std::string, uint32_t>> groups;
  for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
    const Thread *t = warp.lanes[lane];
    if (!t)
      continue;
    std::string text = waitText(*t);
    auto it = find_if(groups, [&](auto &g) { return g.first == text; });
    if (it == groups.end())
      groups.emplace_back(text, 1u << lane);
    else
      it->second |= 1u << lane;
  }
  for (auto &[text, mask] : groups) {
    os << "    warp " << warp.index;
    if (mask != warp.members)
      os << format(" lanes 0x%08x", mask);
    os << ": " << text << "\n";
  }
  for (const AlignedEntry &entry : warp.aligned)
    if (uint32_t missing = warp.members & ~entry.arrived)
      os << "    warp " << warp.index << ": '" << entry.inst->text
         << "' takes the whole warp, lanes " << format("0x%08x", missing)
         << " have not executed it\n";
}

std::string Machine::dumpState() const {
  std::string text;
  raw_string_ostream os(text);
  for (auto &cluster : resident) {
    for (auto &cta : cluster->ctas) {
      os << "  " << cta->name();
      if (clusterDim.count() > 1)
        os << ", rank " << cta->rank << " of its cluster";
      os << "\n";
      for (const Warp &warp : cta->warps)
        dumpWarp(os, warp);
      for (auto &[offset, b] : cta->mbarriers)
        os << format("    mbarrier at shared+0x%x: ", offset) << b->pending
           << " of " << b->count << " arrivals pending, " << b->tx
           << " bytes pending, phase " << b->phase << " (waits for parity "
           << (b->phase & 1) << " block), " << b->waiters.size()
           << " threads wait\n";
      for (auto [id, b] : enumerate(cta->named))
        if (b.arrived) {
          os << "    barrier " << id << ": " << b.arrived << " of "
             << expected(b, *cta) << " threads have arrived\n";
        }
      for (const WarpGroup &g : cta->groups)
        for (auto [i, op] : enumerate(g.ops))
          if (!op->done)
            os << "    warp group " << g.index << ": '" << op->inst->text
               << "' issued by " << op->arrived << " of 128 threads\n";
    }
    if (cluster->arrived)
      os << "  cluster barrier: " << cluster->arrived << " of "
         << cluster->alive << " threads have arrived\n";
  }
  return text;
}
