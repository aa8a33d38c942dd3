//===- TileDialect.cpp - The kernel dialect: types and attributes -*- C++
//-*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rudnn/Tile/TileDialect.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace rudnn::tile;

#include "rudnn/TileDialect.cpp.inc"
#include "rudnn/TileEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "rudnn/TileAttrs.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "rudnn/TileTypes.cpp.inc"

void TileDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "rudnn/TileAttrs.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "rudnn/TileTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "rudnn/TileOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "rudnn/TileHostOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "rudnn/TileMmaOps.cpp.inc"
      >();
}

bool rudnn::tile::isSharedTile(Type type) {
  auto memref = dyn_cast<MemRefType>(type);
  return memref && memref.hasStaticShape() &&
         isa_and_nonnull<SharedAttr>(memref.getMemorySpace());
}

bool rudnn::tile::isGlobalBuffer(Type type) {
  auto memref = dyn_cast<MemRefType>(type);
  return memref && !memref.getMemorySpace() && memref.getRank() == 1 &&
         memref.getLayout().isIdentity();
}

unsigned rudnn::tile::getSwizzle(MemRefType type) {
  auto shared = dyn_cast_or_null<SharedAttr>(type.getMemorySpace());
  return shared ? shared.getSwizzle() : 0;
}

int64_t rudnn::tile::getBytes(ShapedType type) {
  return type.getNumElements() *
         llvm::divideCeil(type.getElementTypeBitWidth(), 8);
}

//===----------------------------------------------------------------------===//
// Layouts
//===----------------------------------------------------------------------===//

static void printVectors(AsmPrinter &printer, StringRef name,
                         ArrayRef<Layout::Basis> bases) {
  printer << name << " = [";
  SmallVector<int64_t> flat;
  for (const Layout::Basis &basis : bases)
    llvm::append_range(flat, basis);
  llvm::interleaveComma(flat, printer);
  printer << "]";
}

static void printLayout(AsmPrinter &printer, const Layout &layout) {
  std::string name = layout.name();
  if (!name.empty()) {
    printer << name;
    return;
  }
  printVectors(printer, "reg", layout.regBases());
  printVectors(printer, " lane", layout.laneBases());
  printVectors(printer, " warp", layout.warpBases());
  printer << " rep = [";
  llvm::interleaveComma(layout.repetition(), printer);
  printer << "]";
}

static ParseResult parseVectors(AsmParser &parser, StringRef name,
                                unsigned rank, Layout::Bases &bases) {
  SmallVector<int64_t> flat;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword(name) || parser.parseEqual() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
        return parser.parseInteger(flat.emplace_back());
      }))
    return failure();
  if (flat.size() % rank != 0)
    return parser.emitError(loc)
           << "'" << name << "' has " << flat.size()
           << " numbers, expected a multiple of the rank " << rank;
  for (size_t i = 0; i < flat.size(); i += rank)
    bases.emplace_back(flat.begin() + i, flat.begin() + i + rank);
  return success();
}

static FailureOr<Layout> parseLayout(AsmParser &parser,
                                     ArrayRef<int64_t> shape) {
  SMLoc loc = parser.getCurrentLocation();
  unsigned rank = shape.size();
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::interleave(shape, os, "x");
  Layout::Bases reg, lane, warp;
  SmallVector<int64_t> rep;
  StringRef keyword;
  if (succeeded(parser.parseOptionalKeyword(
          &keyword, {"acc", "acc_rows", "acc_cols", "acc_quads", "operand_a",
                     "operand_b"}))) {
    std::optional<std::pair<int64_t, int64_t>> warps;
    if (succeeded(parser.parseOptionalLess())) {
      SmallVector<int64_t> grid;
      if (parser.parseDimensionList(grid, /*allowDynamic=*/false,
                                    /*withTrailingX=*/false) ||
          parser.parseGreater())
        return failure();
      if (grid.size() != 2)
        return parser.emitError(loc)
               << "warps of layout '" << keyword
               << "' are rows x columns, expected 2 numbers, got "
               << grid.size();
      warps = {grid[0], grid[1]};
    }
    if (std::optional<Layout> layout = Layout::named(keyword, shape, warps))
      return *layout;
    InFlightDiagnostic error = parser.emitError(loc)
                               << "layout '" << keyword
                               << "' does not exist for shape " << text;
    if (warps)
      error << " and " << warps->first << "x" << warps->second << " warps";
    return error;
  }
  if (parseVectors(parser, "reg", rank, reg) ||
      parseVectors(parser, "lane", rank, lane) ||
      parseVectors(parser, "warp", rank, warp) || parser.parseKeyword("rep") ||
      parser.parseEqual() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
        return parser.parseInteger(rep.emplace_back());
      }))
    return failure();
  if (rep.size() != rank)
    return parser.emitError(loc)
           << "'rep' has " << rep.size() << " numbers, expected " << rank;
  auto negative = [](const Layout::Basis &basis) {
    return llvm::any_of(basis, [](int64_t x) { return x < 0; });
  };
  if (llvm::any_of(reg, negative) || llvm::any_of(lane, negative) ||
      llvm::any_of(warp, negative) ||
      llvm::any_of(rep, [](int64_t r) { return r < 1; }))
    return parser.emitError(loc, "negative vector or repetition less than 1");
  Layout layout(reg, lane, warp, rep);
  std::string why;
  if (!layout.isValid(&why))
    return parser.emitError(loc) << "not a layout: " << why;
  if (layout.shape() != shape)
    return parser.emitError(loc) << "the layout does not cover shape " << text;
  return layout;
}

/// `64x128x` ahead of a type, or `64x128` alone.
static ParseResult parseShape(AsmParser &parser,
                              SmallVectorImpl<int64_t> &shape, bool trailingX) {
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseDimensionList(shape, /*allowDynamic=*/false, trailingX))
    return failure();
  if (shape.empty() || shape.size() > 5)
    return parser.emitError(loc, "expected 1 to 5 extents");
  return success();
}

Attribute LayoutAttr::parse(AsmParser &parser, Type) {
  SmallVector<int64_t> shape;
  if (parser.parseLess() || parseShape(parser, shape, /*trailingX=*/false) ||
      parser.parseComma())
    return {};
  FailureOr<Layout> layout = parseLayout(parser, shape);
  if (failed(layout) || parser.parseGreater())
    return {};
  return LayoutAttr::get(parser.getContext(), *layout);
}

void LayoutAttr::print(AsmPrinter &printer) const {
  Layout layout = getLayout();
  printer << "<";
  llvm::interleave(layout.shape(), printer, "x");
  printer << ", ";
  printLayout(printer, layout);
  printer << ">";
}

LogicalResult SharedAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 unsigned swizzle) {
  if (swizzle != 0 && swizzle != 32 && swizzle != 64 && swizzle != 128)
    return emitError() << "swizzle is " << swizzle
                       << ", expected 0, 32, 64 or 128";
  return success();
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

Type FragmentType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape;
  Type elementType;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parseShape(parser, shape, /*trailingX=*/true) ||
      parser.parseType(elementType) || parser.parseComma())
    return {};
  FailureOr<Layout> layout = parseLayout(parser, shape);
  if (failed(layout) || parser.parseGreater())
    return {};
  MLIRContext *context = parser.getContext();
  return getChecked([&] { return parser.emitError(loc); }, context,
                    ArrayRef<int64_t>(shape), elementType,
                    LayoutAttr::get(context, *layout));
}

void FragmentType::print(AsmPrinter &printer) const {
  printer << "<";
  llvm::interleave(getShape(), printer, "x");
  printer << "x" << getElementType() << ", ";
  printLayout(printer, getLayout());
  printer << ">";
}

LogicalResult FragmentType::verify(function_ref<InFlightDiagnostic()> emitError,
                                   ArrayRef<int64_t> shape, Type elementType,
                                   LayoutAttr layout) {
  if (!elementType.isF32() && !elementType.isF16() && !elementType.isBF16() &&
      !elementType.isInteger(32) && !elementType.isInteger(1))
    return emitError() << "fragment element type is " << elementType
                       << ", expected f32, f16, bf16, i32 or i1";
  if (layout.getLayout().shape() != shape)
    return emitError() << "the layout does not cover the fragment's shape";
  return success();
}

bool FragmentType::isPacked() const {
  if (!getElementType().isF16() && !getElementType().isBF16())
    return false;
  return getNumRegs() % 2 == 0;
}

Type RingType::parse(AsmParser &parser) {
  unsigned stages, consumers;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseInteger(stages) ||
      parser.parseComma() || parser.parseKeyword("consumers") ||
      parser.parseEqual() || parser.parseInteger(consumers) ||
      parser.parseGreater())
    return {};
  return getChecked([&] { return parser.emitError(loc); }, parser.getContext(),
                    stages, consumers);
}

void RingType::print(AsmPrinter &printer) const {
  printer << "<" << getStages() << ", consumers = " << getConsumers() << ">";
}

LogicalResult RingType::verify(function_ref<InFlightDiagnostic()> emitError,
                               unsigned stages, unsigned consumers) {
  if (stages < 1 || stages > 16)
    return emitError() << "ring has " << stages << " stages, expected 1 to 16";
  if (consumers < 1 || consumers > 7)
    return emitError() << "ring has " << consumers
                       << " consumer warp groups, expected 1 to 7";
  return success();
}

Type TmaType::parse(AsmParser &parser) {
  SmallVector<int64_t> box;
  Type elementType;
  unsigned swizzle;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parseShape(parser, box, /*trailingX=*/true) ||
      parser.parseType(elementType) || parser.parseComma() ||
      parser.parseKeyword("swizzle") || parser.parseEqual() ||
      parser.parseInteger(swizzle) || parser.parseGreater())
    return {};
  return getChecked([&] { return parser.emitError(loc); }, parser.getContext(),
                    ArrayRef<int64_t>(box), elementType, swizzle);
}

void TmaType::print(AsmPrinter &printer) const {
  printer << "<";
  llvm::interleave(getBox(), printer, "x");
  printer << "x" << getElementType() << ", swizzle = " << getSwizzle() << ">";
}

LogicalResult TmaType::verify(function_ref<InFlightDiagnostic()> emitError,
                              ArrayRef<int64_t> box, Type elementType,
                              unsigned swizzle) {
  if (!elementType.isIntOrFloat() || elementType.getIntOrFloatBitWidth() % 8)
    return emitError() << "TMA element type is " << elementType
                       << ", expected a float or integer of whole bytes";
  for (int64_t extent : box)
    if (extent < 1 || extent > 256)
      return emitError() << "TMA box extent is " << extent
                         << ", expected 1 to 256";
  if (failed(SharedAttr::verify(emitError, swizzle)))
    return failure();
  int64_t row = box.back() * (elementType.getIntOrFloatBitWidth() / 8);
  if (row % 16 != 0)
    return emitError() << "TMA box row has " << row
                       << " bytes, expected a multiple of 16";
  if (swizzle && row > swizzle)
    return emitError() << "TMA box row has " << row
                       << " bytes, more than the swizzle of " << swizzle;
  return success();
}
