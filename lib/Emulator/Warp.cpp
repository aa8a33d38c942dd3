//===- Warp.cpp - Instructions of a whole warp ------------------*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Machine.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>

using namespace llvm;
using namespace rudnn::emulator;

static std::string maskText(uint32_t mask) { return "0x" + utohexstr(mask); }

bool Machine::aligned(Exec &e, bool needsAll) {
  Thread &t = e.t;
  Warp &w = *t.warp;
  uint32_t bit = 1u << t.lane;
  for (auto &r : w.open)
    if ((r->mask & bit & ~r->arrived) && r->alignedSeq == t.alignedSeq)
      fail("divergent warp: lanes " + maskText(r->arrived) + " execute '" +
           r->inst->text +
           "' with this lane in their mask, this lane executes '" +
           e.inst.text + "'");
  uint64_t i = t.alignedSeq - w.alignedBase;
  // Lanes that have executed it may have gone on and exited.
  uint32_t there = w.alive | (i < w.aligned.size() ? w.aligned[i].arrived : 0);
  if (needsAll && there != ~0u)
    fail("'" + e.inst.text + "' takes a whole warp, but only lanes " +
         maskText(there) + " of it exist or have not exited");
  if (i == w.aligned.size()) {
    w.aligned.push_back({&e.inst, bit});
  } else {
    AlignedEntry &entry = w.aligned[i];
    if (entry.inst != &e.inst)
      fail("divergent warp: lanes " + maskText(entry.arrived) + " execute '" +
           entry.inst->text +
           "', which takes the whole warp, this lane executes '" + e.inst.text +
           "'");
    entry.arrived |= bit;
  }
  ++t.alignedSeq;
  bool complete = (w.aligned[i].arrived & w.alive) == w.alive;
  while (!w.aligned.empty() &&
         (w.aligned.front().arrived & w.alive) == w.alive) {
    w.aligned.pop_front();
    ++w.alignedBase;
  }
  return complete;
}

void Machine::exchange(Exec &e, uint32_t mask, ArrayRef<uint64_t> in,
                       MutableArrayRef<uint64_t> out,
                       function_ref<void(Rendezvous &)> complete) {
  Thread &t = e.t;
  Warp &w = *t.warp;
  uint32_t bit = 1u << t.lane;
  if (!(mask & bit))
    fail("the executing lane is not in the mask " + maskText(mask));
  mask &= w.members;
  if (uint32_t gone = mask & ~w.alive)
    fail("partial warp: lanes " + maskText(gone) + " of the mask " +
         maskText(mask) + " have exited");
  for (uint32_t lane = 0; lane < kWarpSize; ++lane)
    if ((mask >> lane & 1) && w.lanes[lane]->alignedSeq > t.alignedSeq)
      fail("divergent warp: lane " + Twine(lane) + " of the mask " +
           maskText(mask) + " has gone on to '" +
           w.aligned[t.alignedSeq - w.alignedBase].inst->text +
           "' without executing '" + e.inst.text + "'");

  std::shared_ptr<Rendezvous> r;
  for (auto &open : w.open) {
    if (!(open->mask & bit))
      continue;
    if (open->inst != &e.inst || open->mask != mask)
      fail("divergent warp: lanes " + maskText(open->arrived) + " execute '" +
           open->inst->text + "' with mask " + maskText(open->mask) +
           ", this lane executes '" + e.inst.text + "' with mask " +
           maskText(mask));
    r = open;
  }
  if (!r) {
    r = std::make_shared<Rendezvous>();
    r->inst = &e.inst;
    r->mask = mask;
    r->alignedSeq = t.alignedSeq;
    w.open.push_back(r);
  }
  r->arrived |= bit;
  std::copy(in.begin(), in.end(), r->in[t.lane]);
  if (r->arrived == r->mask) {
    complete(*r);
    w.open.erase(std::find(w.open.begin(), w.open.end(), r));
    ++progress;
    for (uint32_t lane = 0; lane < kWarpSize; ++lane)
      if ((mask >> lane & 1) && lane != t.lane)
        wake(w.lanes[lane]);
  } else {
    block(WaitKind::Warp);
  }
  std::copy(r->out[t.lane], r->out[t.lane] + out.size(), out.begin());
}

//===----------------------------------------------------------------------===//
// Shuffles
//===----------------------------------------------------------------------===//

static std::string decodeShfl(Inst &inst) {
  inst.a = inst.has("up") ? 0 : inst.has("down") ? 1 : inst.has("bfly") ? 2 : 3;
  return "";
}

/// The source lane of a shuffle, and whether it is in range.
static std::pair<uint32_t, bool> shuffleSource(int64_t mode, uint32_t lane,
                                               uint32_t b, uint32_t c) {
  uint32_t delta = b & 31, clamp = c & 31, segment = (c >> 8) & 31;
  uint32_t maxLane = (lane & segment) | (clamp & ~segment);
  uint32_t minLane = lane & segment;
  int32_t j = lane;
  bool inRange = false;
  switch (mode) {
  case 0:
    j = int32_t(lane) - int32_t(delta);
    inRange = j >= int32_t(maxLane);
    break;
  case 1:
    j = lane + delta;
    inRange = j <= int32_t(maxLane);
    break;
  case 2:
    j = lane ^ delta;
    inRange = j <= int32_t(maxLane);
    break;
  default:
    j = minLane | (delta & ~segment);
    inRange = j <= int32_t(maxLane);
    break;
  }
  return {inRange ? uint32_t(j) : lane, inRange};
}

static void shfl(Exec &e) { // shfl.sync.mode.b32 d[|p], a, b, c, mask
  uint64_t in[3] = {e.value(1), e.value(2), e.value(3)}, out[2];
  int64_t mode = e.inst.a;
  e.m.exchange(e, e.value(4), in, out, [&](Rendezvous &r) {
    for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
      if (!(r.mask >> lane & 1))
        continue;
      auto [source, inRange] =
          shuffleSource(mode, lane, r.in[lane][1], r.in[lane][2]);
      if (!(r.mask >> source & 1))
        e.m.fail("lane " + Twine(lane) + " reads lane " + Twine(source) +
                 ", which is not in the mask " + maskText(r.mask));
      r.out[lane][0] = uint32_t(r.in[source][0]);
      r.out[lane][1] = inRange;
    }
  });
  e.set(0, out[0]);
  if (e.inst.operands[0].second)
    e.set(*e.inst.operands[0].second, out[1]);
}

//===----------------------------------------------------------------------===//
// Votes, matches and reductions
//===----------------------------------------------------------------------===//

static std::string decodeVote(Inst &inst) {
  inst.a = inst.has("all") ? 0 : inst.has("any") ? 1 : inst.has("uni") ? 2 : 3;
  return "";
}

static void vote(Exec &e) { // vote.sync.mode d, p, mask
  uint64_t in[1] = {e.value(1) & 1}, out[1];
  int64_t mode = e.inst.a;
  e.m.exchange(e, e.value(2), in, out, [&](Rendezvous &r) {
    uint32_t ballot = 0;
    for (uint32_t lane = 0; lane < kWarpSize; ++lane)
      if (r.mask >> lane & 1)
        ballot |= uint32_t(r.in[lane][0]) << lane;
    uint64_t result = mode == 0   ? ballot == r.mask
                      : mode == 1 ? ballot != 0
                      : mode == 2 ? ballot == r.mask || ballot == 0
                                  : ballot;
    for (auto &o : r.out)
      o[0] = result;
  });
  e.set(0, out[0]);
}

static std::string decodeMatch(Inst &inst) {
  inst.a = inst.has("all");
  return "";
}

static void match(Exec &e) { // match.any/all.sync.b32 d[|p], a, mask
  uint64_t width = bitWidth(e.inst.type());
  uint64_t in[1] = {width == 32 ? uint32_t(e.value(1)) : e.value(1)}, out[2];
  bool all = e.inst.a;
  e.m.exchange(e, e.value(2), in, out, [&](Rendezvous &r) {
    for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
      uint32_t equal = 0;
      for (uint32_t other = 0; other < kWarpSize; ++other)
        if ((r.mask >> other & 1) && r.in[other][0] == r.in[lane][0])
          equal |= 1u << other;
      r.out[lane][0] = all ? (equal == r.mask ? r.mask : 0) : equal;
      r.out[lane][1] = equal == r.mask;
    }
  });
  e.set(0, out[0]);
  if (e.inst.operands[0].second)
    e.set(*e.inst.operands[0].second, out[1]);
}

static std::string decodeRedux(Inst &inst) {
  const char *names[] = {"add", "min", "max", "and", "or", "xor"};
  for (auto [i, name] : enumerate(names))
    if (inst.has(name))
      inst.a = i;
  return "";
}

static void redux(Exec &e) { // redux.sync.op.type d, a, mask
  uint64_t in[1] = {uint32_t(e.value(1))}, out[1];
  int64_t op = e.inst.a;
  bool isSigned = e.inst.type() == PtxType::S32;
  e.m.exchange(e, e.value(2), in, out, [&](Rendezvous &r) {
    bool first = true;
    uint32_t acc = 0;
    for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
      if (!(r.mask >> lane & 1))
        continue;
      uint32_t x = r.in[lane][0];
      if (first)
        acc = x;
      else if (op == 0)
        acc += x;
      else if (op == 1 || op == 2) {
        bool less = isSigned ? int32_t(x) < int32_t(acc) : x < acc;
        acc = less == (op == 1) ? x : acc;
      } else
        acc = op == 3 ? acc & x : op == 4 ? acc | x : acc ^ x;
      first = false;
    }
    for (auto &o : r.out)
      o[0] = acc;
  });
  e.set(0, out[0]);
}

static void elect(Exec &e) { // elect.sync d|p, mask
  uint64_t out[2];
  e.m.exchange(e, e.value(1), {}, out, [&](Rendezvous &r) {
    // The device elects the same lane for the same mask each time.
    uint32_t leader = countr_zero(r.mask);
    if (e.m.delayed()) {
      uint32_t n =
          (e.m.launch.options.seed * 2654435761u >> 7) % popcount(r.mask);
      uint32_t rest = r.mask;
      while (n--)
        rest &= rest - 1;
      leader = countr_zero(rest);
    }
    for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
      r.out[lane][0] = leader;
      r.out[lane][1] = lane == leader;
    }
  });
  e.set(0, out[0]);
  if (e.inst.operands[0].second)
    e.set(*e.inst.operands[0].second, out[1]);
}

static void warpSync(Exec &e) { // bar.warp.sync mask
  e.m.exchange(e, e.value(0), {}, {}, [](Rendezvous &) {});
  e.m.synced(e.t);
}

static void activeMask(Exec &e) { e.set(0, e.t.warp->alive); }

ArrayRef<OpInfo> rudnn::emulator::warpOps() {
  static const OpInfo table[] = {
      {"shfl.sync", "up down bfly idx b32", 5, 5, shfl, decodeShfl},
      {"vote.sync", "all any uni ballot pred b32", 3, 3, vote, decodeVote},
      {"match.any.sync", "b32 b64", 3, 3, match, decodeMatch},
      {"match.all.sync", "b32 b64", 3, 3, match, decodeMatch},
      {"redux.sync", "add min max and or xor u32 s32 b32", 3, 3, redux,
       decodeRedux},
      {"elect.sync", "", 2, 2, elect},
      {"bar.warp.sync", "", 1, 1, warpSync},
      {"activemask", "b32", 1, 1, activeMask},
  };
  return table;
}
