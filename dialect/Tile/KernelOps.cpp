//===- KernelOps.cpp - Kernels, roles and the ring protocol -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rudnn/Tile/TileDialect.h"

#include "mlir/Interfaces/FunctionImplementation.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace rudnn::tile;

//===----------------------------------------------------------------------===//
// Kernel
//===----------------------------------------------------------------------===//

ParseResult KernelOp::parse(OpAsmParser &parser, OperationState &result) {
  auto buildType = [](Builder &builder, ArrayRef<Type> args, ArrayRef<Type>,
                      function_interface_impl::VariadicFlag, std::string &) {
    return builder.getFunctionType(args, {});
  };
  return function_interface_impl::parseFunctionOp(
      parser, result, /*allowVariadic=*/false,
      getFunctionTypeAttrName(result.name), buildType,
      getArgAttrsAttrName(result.name), getResAttrsAttrName(result.name));
}

void KernelOp::print(OpAsmPrinter &printer) {
  function_interface_impl::printFunctionOp(
      printer, *this, /*isVariadic=*/false, getFunctionTypeAttrName(),
      getArgAttrsAttrName(), getResAttrsAttrName());
}

LogicalResult KernelOp::verify() {
  if (!getFunctionType().getResults().empty())
    return emitOpError("has results");
  for (auto [i, type] : llvm::enumerate(getFunctionType().getInputs()))
    if (!isa<TmaType, IndexType, IntegerType, FloatType>(type) &&
        !isGlobalBuffer(type))
      return emitOpError("argument ") << i << " has type " << type
                                      << ", expected a TMA descriptor, "
                                         "memref<?xT>, index, integer or float";
  if (getThreads() < 32 || getThreads() > 1024 || getThreads() % 32 != 0)
    return emitOpError("threads is ")
           << getThreads() << ", expected a multiple of 32 up to 1024";
  if (getCluster() && (*getCluster() < 1 || *getCluster() > 8))
    return emitOpError("cluster is ") << *getCluster() << ", expected 1 to 8";
  if (getSharedBytes() && *getSharedBytes() > kMaxSharedBytes)
    return emitOpError("needs ")
           << *getSharedBytes() << " bytes of shared memory, a block has "
           << kMaxSharedBytes;
  return success();
}

LogicalResult KernelOp::verifyRegions() {
  for (WarpGroupsOp groups : getBody().getOps<WarpGroupsOp>()) {
    int64_t threads = 0;
    for (int32_t n : groups.getGroups())
      threads += n * kGroupThreads;
    if (threads != getThreads())
      return emitOpError("has ")
             << getThreads() << " threads, its warp groups " << threads;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Roles
//===----------------------------------------------------------------------===//

ParseResult WarpGroupsOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<Attribute> names;
  SmallVector<int32_t> groups, registers;
  while (succeeded(parser.parseOptionalKeyword("role"))) {
    StringAttr name;
    OpAsmParser::Argument arg;
    if (parser.parseAttribute(name) || parser.parseKeyword("groups") ||
        parser.parseInteger(groups.emplace_back()) ||
        parser.parseKeyword("registers") ||
        parser.parseInteger(registers.emplace_back()) || parser.parseLParen() ||
        parser.parseArgument(arg) || parser.parseRParen())
      return failure();
    arg.type = parser.getBuilder().getIndexType();
    names.push_back(name);
    if (parser.parseRegion(*result.addRegion(), arg))
      return failure();
  }
  Builder &builder = parser.getBuilder();
  result.addAttribute(getNamesAttrName(result.name),
                      builder.getArrayAttr(names));
  result.addAttribute(getGroupsAttrName(result.name),
                      builder.getDenseI32ArrayAttr(groups));
  result.addAttribute(getRegistersAttrName(result.name),
                      builder.getDenseI32ArrayAttr(registers));
  return parser.parseOptionalAttrDict(result.attributes);
}

void WarpGroupsOp::print(OpAsmPrinter &printer) {
  printer.increaseIndent();
  for (auto [i, region] : llvm::enumerate(getRoles())) {
    printer.printNewline();
    printer << "role " << getNames()[i] << " groups " << getGroups()[i]
            << " registers " << getRegisters()[i] << " (";
    printer.printRegionArgument(region.getArgument(0), {}, /*omitType=*/true);
    printer << ") ";
    printer.printRegion(region, /*printEntryBlockArgs=*/false);
  }
  printer.decreaseIndent();
  printer.printOptionalAttrDict(
      (*this)->getAttrs(),
      {getNamesAttrName(), getGroupsAttrName(), getRegistersAttrName()});
}

LogicalResult WarpGroupsOp::verify() {
  size_t n = getRoles().size();
  if (n < 2 || getNames().size() != n || getGroups().size() != n ||
      getRegisters().size() != n)
    return emitOpError("has ")
           << n << " roles, " << getNames().size() << " names, "
           << getGroups().size() << " group and " << getRegisters().size()
           << " register counts, expected as many of each, 2 or more";
  int64_t total = 0;
  for (auto [i, role] : llvm::enumerate(getRoles())) {
    int32_t groups = getGroups()[i], registers = getRegisters()[i];
    if (groups < 1)
      return emitOpError("role ") << getNames()[i] << " has " << groups
                                  << " warp groups, expected 1 or more";
    if (registers < 24 || registers > 240 || registers % 8 != 0)
      return emitOpError("role ")
             << getNames()[i] << " has " << registers
             << " registers a thread, expected a multiple of 8 in 24 to 240";
    total += int64_t(groups) * kGroupThreads * registers;
    if (role.getNumArguments() != 1 ||
        !isa<IndexType>(role.getArgument(0).getType()))
      return emitOpError("role ")
             << getNames()[i] << " must have one argument of type index";
  }
  if (total > kRegisterFile)
    return emitOpError("the roles need ")
           << total << " registers, an SM has " << kRegisterFile;
  auto next = dyn_cast_or_null<YieldOp>((*this)->getNextNode());
  if (!next)
    return emitOpError("must be the last op of its kernel");
  return success();
}

LogicalResult SingleThreadOp::verify() {
  Operation *bad = nullptr;
  getBody().walk([&](Operation *op) {
    if (op->hasTrait<WarpCollective>() || isa<SingleThreadOp>(op)) {
      bad = op;
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  if (bad)
    return emitOpError("'")
           << bad->getName()
           << "' is a warp collective: one thread alone would hang";
  return success();
}

//===----------------------------------------------------------------------===//
// The ring protocol
//===----------------------------------------------------------------------===//

namespace {
struct RoleOf {
  WarpGroupsOp op;
  unsigned index;
  bool operator==(const RoleOf &o) const {
    return op == o.op && index == o.index;
  }
};

struct Balance {
  int acquire = 0, commit = 0, wait = 0, release = 0;
};
} // namespace

static std::optional<RoleOf> roleOf(Operation *op) {
  while (Operation *parent = op->getParentOp()) {
    if (auto groups = dyn_cast<WarpGroupsOp>(parent))
      return RoleOf{groups, op->getParentRegion()->getRegionNumber()};
    op = parent;
  }
  return std::nullopt;
}

/// A copy must stand between the acquire and the commit of its trip.
static LogicalResult verifyTrip(TmaLoadOp load) {
  bool acquired = false, committed = false;
  for (Operation &op : *load->getBlock()) {
    bool before = op.isBeforeInBlock(load);
    if (auto acquire = dyn_cast<RingAcquireOp>(op))
      acquired |= before && acquire.getRing() == load.getRing() &&
                  acquire.getIt() == load.getIt();
    if (auto commit = dyn_cast<RingCommitOp>(op))
      committed |= !before && commit.getRing() == load.getRing() &&
                   commit.getIt() == load.getIt();
  }
  if (!acquired)
    return load.emitOpError("no rudnn_tile.ring_acquire of this ring and trip "
                            "stands before it in its block");
  if (!committed)
    return load.emitOpError("no rudnn_tile.ring_commit of this ring and trip "
                            "stands after it in its block");
  return success();
}

LogicalResult RingOp::verify() {
  llvm::MapVector<Block *, Balance> balance;
  std::optional<RoleOf> producer, consumer;
  bool lowered = false;
  for (Operation *user : getRing().getUsers()) {
    std::optional<RoleOf> role = roleOf(user);
    Balance &b = balance[user->getBlock()];
    bool produces = isa<RingAcquireOp, RingCommitOp>(user);
    bool consumes = isa<RingWaitOp, RingReleaseOp>(user);
    lowered |= isa<BarrierWaitOp, BarrierArriveOp>(user);
    b.acquire += isa<RingAcquireOp>(user);
    b.commit += isa<RingCommitOp>(user);
    b.wait += isa<RingWaitOp>(user);
    b.release += isa<RingReleaseOp>(user);
    if ((produces || consumes) && !role)
      return user->emitOpError("stands outside of the roles of warp_groups");
    std::optional<RoleOf> &mine = produces ? producer : consumer;
    if (produces || consumes) {
      if (mine && !(*mine == *role))
        return user->emitOpError("the ring already has a ")
               << (produces ? "producer" : "consumer") << " in another role";
      mine = role;
    }
  }
  if (producer && consumer && *producer == *consumer)
    return emitOpError("is produced and consumed by the same role");
  if (consumer && !lowered) {
    unsigned groups = consumer->op.getGroups()[consumer->index];
    if (groups != getRing().getType().getConsumers())
      return emitOpError("expects ")
             << getRing().getType().getConsumers()
             << " consumer warp groups, role "
             << consumer->op.getNames()[consumer->index] << " has " << groups;
  }
  for (auto &[block, b] : balance) {
    if (b.acquire != b.commit)
      return emitOpError("a block of code acquires it ")
             << b.acquire << " times and commits it " << b.commit << " times";
    if (b.wait != b.release)
      return emitOpError("a block of code waits for it ")
             << b.wait << " times and releases it " << b.release << " times";
  }
  if (!lowered)
    for (Operation *user : getRing().getUsers())
      if (auto load = dyn_cast<TmaLoadOp>(user))
        if (failed(verifyTrip(load)))
          return failure();
  return success();
}

LogicalResult BarrierArriveOp::verify() {
  if (getBytes() && getBarrier() == Barrier::Empty)
    return emitOpError("bytes belong to the full barrier only");
  return success();
}

LogicalResult TurnTakeOp::verify() {
  if (getOf() < 2 || getOf() > 4)
    return emitOpError("turns of ")
           << getOf() << " warp groups, expected 2 to 4";
  return success();
}
