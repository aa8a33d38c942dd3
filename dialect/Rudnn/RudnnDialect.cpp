//===- RudnnDialect.cpp - The rudnn dialect -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rudnn/Rudnn.h"

#include "mlir/Bytecode/BytecodeImplementation.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Transforms/InliningUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

#include "rudnn/RudnnDialect.cpp.inc"
#include "rudnn/RudnnEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "rudnn/RudnnAttrs.cpp.inc"

namespace {

/// Every op is a leaf without control flow: always inlinable.
struct RudnnInlinerInterface : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;
  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final {
    return true;
  }
};

/// Files carry the version of the op set that wrote them; a newer one than ours
/// is refused when read.
struct RudnnBytecodeInterface : BytecodeDialectInterface {
  explicit RudnnBytecodeInterface(Dialect *dialect)
      : BytecodeDialectInterface(dialect) {}

  struct Version : DialectVersion {
    explicit Version(uint64_t number) : number(number) {}
    uint64_t number;
  };
  static constexpr uint64_t kCurrent = 1;

  void writeVersion(DialectBytecodeWriter &writer) const final {
    writer.writeVarInt(kCurrent);
  }

  std::unique_ptr<DialectVersion>
  readVersion(DialectBytecodeReader &reader) const final {
    uint64_t number;
    if (failed(reader.readVarInt(number)))
      return nullptr;
    if (number > kCurrent) {
      reader.emitError() << "rudnn bytecode version " << number
                         << " is newer than the supported version "
                         << kCurrent;
      return nullptr;
    }
    return std::make_unique<Version>(number);
  }
};

} // namespace

/// What passes read or leave behind; a misspelt attribute would be ignored.
LogicalResult
rudnn::RudnnDialect::verifyOperationAttribute(Operation *op,
                                              NamedAttribute attribute) {
  StringRef name = attribute.getName().getValue();
  if (name == "rudnn.strategy") {
    auto strategy = dyn_cast<StringAttr>(attribute.getValue());
    if (strategy && (strategy == "schedule" || strategy == "fallback"))
      return success();
    return op->emitOpError() << name << " is " << attribute.getValue()
                             << ", expected \"schedule\" or \"fallback\"";
  }
  for (StringRef known :
       {"rudnn.kernels", "rudnn.shared_bytes", "rudnn.strategies"})
    if (name == known)
      return success();
  return op->emitOpError() << "has the attribute " << name
                           << ", which no pass reads";
}

void rudnn::RudnnDialect::initialize() {
  registerNormOps();
  registerAttentionOps();
  registerPagedOps();
  registerMoeOps();
  registerDeltaOps();
  registerConvOps();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "rudnn/RudnnAttrs.cpp.inc"
      >();
  addInterfaces<RudnnInlinerInterface, RudnnBytecodeInterface>();
}
