//===- Ptx.cpp - Parser of PTX statements -----------------------*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Ptx.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/Twine.h"

#include <cctype>
#include <deque>

using namespace llvm;
using namespace rudnn::emulator;

PtxType rudnn::emulator::parseType(StringRef token) {
  return StringSwitch<PtxType>(token)
      .Case("pred", PtxType::Pred)
      .Case("b8", PtxType::B8)
      .Case("b16", PtxType::B16)
      .Case("b32", PtxType::B32)
      .Case("b64", PtxType::B64)
      .Case("b128", PtxType::B128)
      .Case("u8", PtxType::U8)
      .Case("u16", PtxType::U16)
      .Case("u32", PtxType::U32)
      .Case("u64", PtxType::U64)
      .Case("s8", PtxType::S8)
      .Case("s16", PtxType::S16)
      .Case("s32", PtxType::S32)
      .Case("s64", PtxType::S64)
      .Case("f16", PtxType::F16)
      .Case("f16x2", PtxType::F16x2)
      .Case("bf16", PtxType::BF16)
      .Case("bf16x2", PtxType::BF16x2)
      .Case("tf32", PtxType::TF32)
      .Case("f32", PtxType::F32)
      .Case("f64", PtxType::F64)
      .Case("e4m3", PtxType::E4M3)
      .Case("e5m2", PtxType::E5M2)
      .Case("e4m3x2", PtxType::E4M3x2)
      .Case("e5m2x2", PtxType::E5M2x2)
      .Default(PtxType::None);
}

unsigned rudnn::emulator::bitWidth(PtxType type) {
  switch (type) {
  case PtxType::None:
    return 0;
  case PtxType::Pred:
    return 1;
  case PtxType::B8:
  case PtxType::U8:
  case PtxType::S8:
  case PtxType::E4M3:
  case PtxType::E5M2:
    return 8;
  case PtxType::B16:
  case PtxType::U16:
  case PtxType::S16:
  case PtxType::F16:
  case PtxType::BF16:
  case PtxType::E4M3x2:
  case PtxType::E5M2x2:
    return 16;
  case PtxType::B32:
  case PtxType::U32:
  case PtxType::S32:
  case PtxType::F16x2:
  case PtxType::BF16x2:
  case PtxType::TF32:
  case PtxType::F32:
    return 32;
  case PtxType::B64:
  case PtxType::U64:
  case PtxType::S64:
  case PtxType::F64:
    return 64;
  case PtxType::B128:
    return 128;
  }
  return 0;
}

bool Inst::has(StringRef modifier) const {
  return is_contained(tokens, modifier);
}

namespace {

/// The instruction table by the leading tokens of the opcode.
const StringMap<const OpInfo *> &opTable() {
  static const StringMap<const OpInfo *> table = [] {
    StringMap<const OpInfo *> t;
    for (ArrayRef<OpInfo> ops :
         {scalarOps(), convertOps(), memoryOps(), warpOps(), barrierOps(),
          copyOps(), matrixOps(), wgmmaOps()})
      for (const OpInfo &op : ops)
        t[op.name] = &op;
    return t;
  }();
  return table;
}

class Parser {
public:
  Parser(StringRef text, unsigned numOperands, StringRef where)
      : text(text), where(where), numOperands(numOperands) {
    block = std::make_unique<Block>();
    block->numOperands = block->numSlots = numOperands;
    block->text = text.str();
    scopes.emplace_back();
  }

  Expected<std::unique_ptr<Block>> run();

private:
  // Characters.
  void skipSpace();
  bool atEnd() {
    skipSpace();
    return pos >= text.size();
  }
  char peek() {
    skipSpace();
    return pos < text.size() ? text[pos] : '\0';
  }
  bool eat(char c) {
    if (peek() != c)
      return false;
    ++pos;
    return true;
  }
  StringRef word();
  Error fail(const Twine &message) {
    return createStringError("PTX \"" + statement() + "\": " + message +
                             (where.empty() ? Twine() : " (" + where + ")"));
  }
  std::string statement() const {
    StringRef rest = text.substr(start);
    rest = rest.take_until([](char c) { return c == ';'; }).trim();
    return rest.str();
  }

  Error parseStatement();
  Error parseReg();
  Error parseInst();
  Error parseOperand(Operand &o);
  Error parsePrimary(Operand &o);
  Error parseNumber(Operand &o);
  Error resolve(Inst &inst);
  int lookup(StringRef name) const;

  StringRef text, where;
  size_t pos = 0, start = 0;
  unsigned numOperands;
  std::unique_ptr<Block> block;
  std::vector<StringMap<unsigned>> scopes;
  StringMap<unsigned> labels;
  std::vector<std::pair<unsigned, std::string>> labelUses; ///< inst, label
};

void Parser::skipSpace() {
  while (pos < text.size()) {
    if (isspace(static_cast<unsigned char>(text[pos]))) {
      ++pos;
    } else if (text.substr(pos).starts_with("//")) {
      pos = std::min(text.find('\n', pos), text.size());
    } else if (text.substr(pos).starts_with("/*")) {
      size_t end = text.find("*/", pos);
      pos = end == StringRef::npos ? text.size() : end + 2;
    } else {
      return;
    }
  }
}

StringRef Parser::word() {
  skipSpace();
  size_t begin = pos;
  while (pos < text.size() &&
         (isalnum(static_cast<unsigned char>(text[pos])) ||
          StringRef("_.%$").contains(text[pos]) ||
          // shared::cta, but not the colon of a label
          (text[pos] == ':' && text.substr(pos).starts_with("::")) ||
          (text[pos] == ':' && pos > begin && text[pos - 1] == ':')))
    ++pos;
  return text.slice(begin, pos);
}

int Parser::lookup(StringRef name) const {
  for (const StringMap<unsigned> &scope : reverse(scopes))
    if (auto it = scope.find(name); it != scope.end())
      return it->second;
  return -1;
}

Expected<std::unique_ptr<Block>> Parser::run() {
  while (!atEnd())
    if (Error e = parseStatement())
      return std::move(e);
  if (scopes.size() != 1)
    return fail("'}' expected at the end");
  for (auto &[inst, label] : labelUses) {
    auto it = labels.find(label);
    if (it == labels.end())
      return fail("no label '" + label + "'");
    block->insts[inst].operands[0].slot = it->second;
  }
  return std::move(block);
}

Error Parser::parseStatement() {
  start = pos;
  if (eat('{')) {
    scopes.emplace_back();
    return Error::success();
  }
  if (eat('}')) {
    if (scopes.size() == 1)
      return fail("unmatched '}'");
    scopes.pop_back();
    return Error::success();
  }
  if (eat(';'))
    return Error::success();
  skipSpace();
  if (text.substr(pos).starts_with(".reg"))
    return parseReg();
  if (text.substr(pos).starts_with(".pragma")) {
    pos = std::min(text.find(';', pos), text.size());
    return Error::success();
  }
  size_t before = pos;
  StringRef first = word();
  if (!first.empty() && peek() == ':') { // a label
    ++pos;
    if (!labels.try_emplace(first, block->insts.size()).second)
      return fail("label '" + first + "' twice");
    return Error::success();
  }
  pos = before;
  return parseInst();
}

Error Parser::parseReg() {
  word(); // .reg .type, or .reg with .type attached
  skipSpace();
  if (text[pos] == '.')
    word();
  do {
    StringRef name = word();
    if (name.empty())
      return fail("register name expected");
    if (eat('<')) { // r<4>: r0..r3
      unsigned count = 0;
      if (word().getAsInteger(10, count) || !eat('>'))
        return fail("register count expected");
      for (unsigned i = 0; i < count; ++i)
        scopes.back()[(name + Twine(i)).str()] = block->numSlots++;
    } else {
      scopes.back()[name] = block->numSlots++;
    }
  } while (eat(','));
  if (!eat(';'))
    return fail("';' expected after a register declaration");
  return Error::success();
}

Error Parser::parseInst() {
  Inst inst;
  inst.text = statement();
  inst.where = where.str();
  if (eat('@')) {
    inst.predicateNegated = eat('!');
    Operand p;
    if (Error e = parsePrimary(p))
      return e;
    if (p.kind != Operand::Slot)
      return fail("a predicate must be a register");
    inst.predicate = p.slot;
  }
  StringRef opcode = word();
  if (opcode.empty())
    return fail("instruction expected");
  SmallVector<StringRef> tokens;
  opcode.split(tokens, '.');
  for (StringRef token : tokens)
    inst.tokens.push_back(token.str());
  if (tokens[0] == "bra") {
    Operand target;
    target.kind = Operand::Label;
    labelUses.emplace_back(block->insts.size(), word().str());
    inst.operands.push_back(std::move(target));
  } else {
    while (peek() != ';' && peek() != '}' && peek() != '\0') {
      Operand o;
      if (Error e = parseOperand(o))
        return e;
      inst.operands.push_back(std::move(o));
      if (!eat(','))
        break;
    }
  }
  if (!eat(';') && !atEnd() && peek() != '}')
    return fail("';' expected near '" + text.substr(pos, 20) + "'");
  if (Error e = resolve(inst))
    return e;
  block->insts.push_back(std::move(inst));
  return Error::success();
}

Error Parser::parseOperand(Operand &o) {
  if (eat('[')) {
    o.address = true;
    if (Error e = parsePrimary(o))
      return e;
    if (peek() == '+' || peek() == '-') {
      bool minus = peek() == '-';
      ++pos;
      Operand offset;
      if (Error e = parsePrimary(offset))
        return e;
      if (offset.kind != Operand::Immediate)
        return fail("an address offset must be a constant");
      o.offset = minus ? -int64_t(offset.imm) : int64_t(offset.imm);
    }
    if (eat(',')) { // tensor coordinates
      Operand coordinates;
      if (Error e = parsePrimary(coordinates))
        return e;
      if (coordinates.kind != Operand::Vector)
        return fail("tensor coordinates must be in braces");
      o.elements = std::move(coordinates.elements);
    }
    return eat(']') ? Error::success() : fail("']' expected");
  }
  if (Error e = parsePrimary(o))
    return e;
  if (eat('|')) {
    o.second = std::make_shared<Operand>();
    return parsePrimary(*o.second);
  }
  return Error::success();
}

Error Parser::parseNumber(Operand &o) {
  bool minus = eat('-');
  StringRef number = word();
  o.kind = Operand::Immediate;
  StringRef digits = number;
  if (digits.consume_front("0f") || digits.consume_front("0F")) {
    o.isFloat = true;
    if (digits.size() != 8 || digits.getAsInteger(16, o.imm))
      return fail("bad float '" + number + "'");
    if (minus)
      o.imm ^= 0x80000000u;
    return Error::success();
  }
  if (digits.consume_front("0d") || digits.consume_front("0D")) {
    o.isFloat = true;
    if (digits.size() != 16 || digits.getAsInteger(16, o.imm))
      return fail("bad double '" + number + "'");
    if (minus)
      o.imm ^= uint64_t(1) << 63;
    return Error::success();
  }
  digits.consume_back("U");
  if (digits.getAsInteger(0, o.imm))
    return fail("bad number '" + number + "'");
  if (minus)
    o.imm = -o.imm;
  return Error::success();
}

Error Parser::parsePrimary(Operand &o) {
  if (eat('{')) {
    o.kind = Operand::Vector;
    do {
      if (peek() == '}') // a trailing comma
        break;
      o.elements.emplace_back();
      if (Error e = parsePrimary(o.elements.back()))
        return e;
    } while (eat(','));
    return eat('}') ? Error::success() : fail("'}' expected");
  }
  if (eat('!'))
    o.negated = true;
  char c = peek();
  if (isdigit(static_cast<unsigned char>(c)) || c == '-')
    return parseNumber(o);
  StringRef name = word();
  if (name.empty())
    return fail("operand expected near '" + text.substr(pos, 20) + "'");
  if (name == "_") {
    o.kind = Operand::Sink;
    return Error::success();
  }
  if (name.consume_front("$")) {
    if (name.getAsInteger(10, o.slot) || o.slot >= numOperands)
      return fail("no operand $" + name + " (there are " + Twine(numOperands) +
                  ")");
    o.kind = Operand::Slot;
    return Error::success();
  }
  if (int slot = lookup(name); slot >= 0) {
    o.kind = Operand::Slot;
    o.slot = slot;
    return Error::success();
  }
  StringRef special = name;
  special.consume_front("%");
  if (int reg = specialRegister(special); reg >= 0) {
    o.kind = Operand::Special;
    o.slot = reg;
    return Error::success();
  }
  return fail("unknown register '" + name + "'");
}

/// m64n128k16 and the like.
static bool isShape(StringRef token) {
  unsigned n = 0;
  return token.consume_front("m") && !token.consumeInteger(10, n) &&
         token.consume_front("n") && !token.consumeInteger(10, n) &&
         token.consume_front("k") && !token.consumeInteger(10, n) &&
         token.empty();
}

Error Parser::resolve(Inst &inst) {
  const auto &table = opTable();
  const OpInfo *op = nullptr;
  unsigned used = inst.tokens.size();
  for (; used && !op; --used) {
    auto it = table.find(join(ArrayRef(inst.tokens).take_front(used), "."));
    if (it != table.end())
      op = it->second;
  }
  if (!op)
    return fail("instruction '" + join(inst.tokens, ".") +
                "' is not modelled by the emulator");
  ++used; // the loop steps once more after it found the row
  SmallVector<StringRef> accepted;
  StringRef(op->modifiers).split(accepted, ' ', -1, /*KeepEmpty=*/false);
  for (const std::string &token : ArrayRef(inst.tokens).drop_front(used)) {
    PtxType type = parseType(token);
    if (type != PtxType::None)
      inst.types.push_back(type);
    if (isShape(token) && is_contained(accepted, "shape"))
      continue;
    if (!is_contained(accepted, token) &&
        !(type != PtxType::None && is_contained(accepted, "*")))
      return fail("modifier '." + token + "' of '" + op->name +
                  "' is not modelled by the emulator");
  }
  if (inst.operands.size() < op->minOperands ||
      inst.operands.size() > op->maxOperands)
    return fail("'" + Twine(op->name) + "' takes " + Twine(op->minOperands) +
                " to " + Twine(op->maxOperands) + " operands, not " +
                Twine(inst.operands.size()));
  inst.run = op->run;
  if (op->decode)
    if (std::string wrong = op->decode(inst); !wrong.empty())
      return fail(wrong);
  return Error::success();
}

} // namespace

Expected<std::unique_ptr<Block>> rudnn::emulator::parsePtx(StringRef text,
                                                           unsigned numOperands,
                                                           StringRef where) {
  return Parser(text, numOperands, where).run();
}
