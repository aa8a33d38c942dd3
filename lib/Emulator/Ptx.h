//===- Ptx.h - Parsed PTX statements and the instruction table --*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Everything that the device does beyond plain LLVM IR is a block of PTX
// statements here: the text of an inline asm call, or the text that stands for
// an NVVM intrinsic. A block's registers are 64-bit slots; slot k < numOperands
// is operand $k of the text, the others are registers that it declares.
//
//===----------------------------------------------------------------------===//
#ifndef RUDNN_LIB_EMULATOR_PTX_H
#define RUDNN_LIB_EMULATOR_PTX_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace rudnn::emulator {

struct Thread;
struct Machine;
struct Inst;

/// Scalar types of PTX.
enum class PtxType : uint8_t {
  None,
  Pred,
  B8,
  B16,
  B32,
  B64,
  B128,
  U8,
  U16,
  U32,
  U64,
  S8,
  S16,
  S32,
  S64,
  F16,
  F16x2,
  BF16,
  BF16x2,
  TF32,
  F32,
  F64,
  E4M3,
  E5M2,
  E4M3x2,
  E5M2x2
};
PtxType parseType(llvm::StringRef token);
unsigned bitWidth(PtxType type);

struct Operand {
  enum Kind : uint8_t { Sink, Slot, Immediate, Label, Vector, Special };
  Kind kind = Sink;
  bool address = false; ///< Written in brackets.
  bool negated = false; ///< !p
  bool isFloat = false; ///< Immediate written as 0f... or 0d...
  uint32_t slot = 0;    ///< Slot or target statement or special register.
  uint64_t imm = 0;
  int64_t offset = 0;              ///< Bytes added to an address.
  std::vector<Operand> elements;   ///< Vector; coordinates of a tensor address.
  std::shared_ptr<Operand> second; ///< The q of p|q.
};

/// What a handler sees: one statement executed by one thread.
struct Exec {
  Machine &m;
  Thread &t;
  const Inst &inst;
  uint64_t *slots;
  uint32_t next; ///< Statement to continue with.

  uint64_t value(const Operand &o) const;
  uint64_t value(unsigned operand) const;
  void set(const Operand &o, uint64_t v) const;
  void set(unsigned operand, uint64_t v) const;
  /// Address of a bracketed operand.
  uint64_t address(unsigned operand) const;
};

using Handler = void (*)(Exec &);

struct Inst {
  Handler run = nullptr;
  std::string text;                         ///< The statement, for messages.
  std::string where;                        ///< Source line when known.
  llvm::SmallVector<std::string, 8> tokens; ///< Opcode split at dots.
  llvm::SmallVector<PtxType, 4> types;      ///< Types among the modifiers.
  std::vector<Operand> operands;
  int predicate = -1; ///< Slot, or -1.
  bool predicateNegated = false;
  /// Decoded modifiers, meaning set by the instruction's decoder.
  int64_t a = 0, b = 0, c = 0;

  bool has(llvm::StringRef modifier) const;
  PtxType type(unsigned i = 0) const {
    return i < types.size() ? types[i] : PtxType::None;
  }
};

struct Block {
  std::vector<Inst> insts;
  unsigned numOperands = 0, numSlots = 0;
  std::string text;
};

/// One row of the instruction table.
struct OpInfo {
  /// Leading tokens of the opcode, e.g. "mbarrier.try_wait".
  const char *name;
  /// Accepted further tokens, separated by spaces; types may be written "*".
  const char *modifiers;
  unsigned minOperands, maxOperands;
  Handler run;
  /// Checks the modifiers and fills Inst::a, b, c. Returns the empty string or
  /// what is wrong. May be null.
  std::string (*decode)(Inst &) = nullptr;
};

/// Tables of the instruction families.
llvm::ArrayRef<OpInfo> scalarOps();
llvm::ArrayRef<OpInfo> convertOps();
llvm::ArrayRef<OpInfo> memoryOps();
llvm::ArrayRef<OpInfo> warpOps();
llvm::ArrayRef<OpInfo> barrierOps();
llvm::ArrayRef<OpInfo> copyOps();
llvm::ArrayRef<OpInfo> matrixOps();
llvm::ArrayRef<OpInfo> wgmmaOps();

/// Parses a text with operands $0..$(numOperands - 1).
llvm::Expected<std::unique_ptr<Block>> parsePtx(llvm::StringRef text,
                                                unsigned numOperands,
                                                llvm::StringRef where = "");

/// Number of a special register ("tid.x", "laneid", ...), or -1.
int specialRegister(llvm::StringRef name);

} // namespace rudnn::emulator

#endif // RUDNN_LIB_EMULATOR_PTX_H
