//===- Exec.cpp - Execution of statements, special registers ----*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Machine.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace rudnn::emulator;

//===----------------------------------------------------------------------===//
// Operands and execution
//===----------------------------------------------------------------------===//

uint64_t Exec::value(const Operand &o) const {
  switch (o.kind) {
  case Operand::Slot:
    return o.negated ? !(slots[o.slot] & 1) : slots[o.slot];
  case Operand::Immediate:
    return o.imm;
  case Operand::Special:
    return readSpecial(m, t, o.slot);
  default:
    m.fail("an operand of '" + inst.text + "' is not a value");
  }
}
uint64_t Exec::value(unsigned i) const { return value(inst.operands[i]); }

void Exec::set(const Operand &o, uint64_t v) const {
  if (o.kind == Operand::Sink)
    return;
  if (o.kind != Operand::Slot)
    m.fail("a result of '" + inst.text + "' is not a register");
  slots[o.slot] = v;
}
void Exec::set(unsigned i, uint64_t v) const { set(inst.operands[i], v); }

uint64_t Exec::address(unsigned i) const {
  const Operand &o = inst.operands[i];
  return value(o) + o.offset;
}

void rudnn::emulator::execute(const Block *block, uint64_t *slots) {
  Machine &m = *Machine::active();
  Thread &t = *m.current;
  uint32_t n = block->insts.size();
  for (uint32_t pc = 0; pc < n;) {
    const Inst &inst = block->insts[pc];
    if (inst.predicate >= 0 &&
        bool(slots[inst.predicate] & 1) == inst.predicateNegated) {
      ++pc;
      continue;
    }
    t.inst = &inst;
    Exec e{m, t, inst, slots, pc + 1};
    inst.run(e);
    if (e.next <= pc)
      m.yield(); // a loop may wait for what others do
    pc = e.next;
  }
}

//===----------------------------------------------------------------------===//
// Special registers
//===----------------------------------------------------------------------===//

static constexpr const char *kSpecial[] = {"tid.x",
                                           "tid.y",
                                           "tid.z",
                                           "ntid.x",
                                           "ntid.y",
                                           "ntid.z",
                                           "ctaid.x",
                                           "ctaid.y",
                                           "ctaid.z",
                                           "nctaid.x",
                                           "nctaid.y",
                                           "nctaid.z",
                                           "laneid",
                                           "warpid",
                                           "nwarpid",
                                           "smid",
                                           "nsmid",
                                           "gridid",
                                           "clusterid.x",
                                           "clusterid.y",
                                           "clusterid.z",
                                           "nclusterid.x",
                                           "nclusterid.y",
                                           "nclusterid.z",
                                           "cluster_ctaid.x",
                                           "cluster_ctaid.y",
                                           "cluster_ctaid.z",
                                           "cluster_nctaid.x",
                                           "cluster_nctaid.y",
                                           "cluster_nctaid.z",
                                           "cluster_ctarank",
                                           "cluster_nctarank",
                                           "is_explicit_cluster",
                                           "lanemask_eq",
                                           "lanemask_le",
                                           "lanemask_lt",
                                           "lanemask_ge",
                                           "lanemask_gt",
                                           "clock",
                                           "clock64",
                                           "globaltimer",
                                           "dynamic_smem_size",
                                           "total_smem_size",
                                           "warpsize",
                                           "clock_hi",
                                           "globaltimer_lo",
                                           "globaltimer_hi"};

int rudnn::emulator::specialRegister(StringRef name) {
  for (auto [i, s] : enumerate(kSpecial))
    if (name == s)
      return i;
  if (name == "WARP_SZ")
    return specialRegister("warpsize");
  return -1;
}

uint64_t rudnn::emulator::readSpecial(Machine &m, Thread &t, uint32_t reg) {
  auto axis = [](Dim3 d, uint32_t i) {
    return i == 0 ? d.x : i == 1 ? d.y : d.z;
  };
  const Cta &cta = *t.cta;
  Dim3 cl = m.clusterDim;
  Dim3 clusters{m.grid.x / cl.x, m.grid.y / cl.y, m.grid.z / cl.z};
  Dim3 inCluster{cta.index.x % cl.x, cta.index.y % cl.y, cta.index.z % cl.z};
  auto shift = [&](uint32_t from) { return reg - from; };
  if (reg < 3)
    return axis(t.index, reg);
  if (reg < 6)
    return axis(m.blockDim, shift(3));
  if (reg < 9)
    return axis(cta.index, shift(6));
  if (reg < 12)
    return axis(m.grid, shift(9));
  if (reg >= 18 && reg < 21)
    return axis(cta.cluster->index, shift(18));
  if (reg >= 21 && reg < 24)
    return axis(clusters, shift(21));
  if (reg >= 24 && reg < 27)
    return axis(inCluster, shift(24));
  if (reg >= 27 && reg < 30)
    return axis(cl, shift(27));
  uint64_t eq = uint64_t(1) << t.lane;
  switch (reg) {
  case 12:
    return t.lane;
  case 13:
    return t.warp->index;
  case 14:
    return cta.warps.size();
  case 15:
    return cta.cluster->slot * cl.count() + cta.rank;
  case 16:
    return m.launch.options.residentClusters * cl.count();
  case 17:
    return 0;
  case 30:
    return cta.rank;
  case 31:
    return cl.count();
  case 32:
    return cl.count() > 1;
  case 33:
    return eq;
  case 34:
    return uint32_t(2 * eq - 1);
  case 35:
    return uint32_t(eq - 1);
  case 36:
    return uint32_t(~(eq - 1));
  case 37:
    return uint32_t(~(2 * eq - 1));
  case 41:
    return m.launch.dynamicSharedBytes;
  case 42:
    return cta.sharedBytes - kReservedShared;
  case 43:
    return kWarpSize;
  case 44:
  case 46:
    return 0;
  default:
    return m.statistics.switches; // clocks and timers: only monotonic
  }
}
