//===- KernelReport.cpp - The tables of --report -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelReport.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Object/ELF.h"
#include "llvm/Support/Endian.h"

using namespace mlir;

namespace {

/// What a cubin says of a kernel.
struct Resources {
  int64_t registers = -1, local = -1, shared = 0;
};

/// Reads the `.nv.info` records of a cubin: { format, attribute, size16, data }, of which
/// format 4 has data of `size` bytes, here { symbol index, value }.
class CubinReader {
public:
  explicit CubinReader(StringRef bytes) : bytes(bytes) {}

  llvm::Error read(llvm::StringMap<Resources> &kernels) {
    auto file = llvm::object::ELF64LEFile::create(bytes);
    if (!file)
      return file.takeError();
    auto sections = file->sections();
    if (!sections)
      return sections.takeError();
    for (const auto &section : *sections) {
      auto name = file->getSectionName(section);
      if (!name)
        return name.takeError();
      if (name->starts_with(".nv.shared.reserved."))
        reserved = kReservedShared;
      else if (name->consume_front(".nv.shared."))
        kernels[*name].shared = section.sh_size;
      if (*name != ".nv.info")
        continue;
      auto symbols = file->getSection(section.sh_link);
      auto data = file->getSectionContents(section);
      if (!symbols || !data)
        return llvm::joinErrors(symbols.takeError(), data.takeError());
      if (llvm::Error error = readInfo(*file, **symbols, *data, kernels))
        return error;
    }
    for (auto &kernel : kernels)
      kernel.second.shared = std::max<int64_t>(kernel.second.shared - reserved, 0);
    return llvm::Error::success();
  }

private:
  /// What the system keeps of the shared memory of a block from sm_90 on; it
  /// counts in the size of a kernel's section.
  static constexpr int64_t kReservedShared = 1024;
  int64_t reserved = 0;

  using File = llvm::object::ELF64LEFile;

  llvm::Error readInfo(const File &file, const File::Elf_Shdr &symbols,
                       ArrayRef<uint8_t> data,
                       llvm::StringMap<Resources> &kernels) {
    constexpr uint8_t kSized = 0x04, kFrameSize = 0x11, kRegisterCount = 0x2f;
    auto names = file.getStringTableForSymtab(symbols);
    if (!names)
      return names.takeError();
    while (data.size() >= 4) {
      uint8_t format = data[0], attribute = data[1];
      uint16_t size = llvm::support::endian::read16le(&data[2]);
      data = data.drop_front(4);
      if (format != kSized)
        continue;
      if (data.size() < size)
        break;
      if (size == 8 && (attribute == kFrameSize || attribute == kRegisterCount)) {
        auto symbol = file.getSymbol(&symbols, llvm::support::endian::read32le(&data[0]));
        if (!symbol)
          return symbol.takeError();
        auto name = (*symbol)->getName(*names);
        if (!name)
          return name.takeError();
        int64_t value = llvm::support::endian::read32le(&data[4]);
        (attribute == kFrameSize ? kernels[*name].local : kernels[*name].registers) = value;
      }
      data = data.drop_front(size);
    }
    return llvm::Error::success();
  }

  StringRef bytes;
};

/// Rows of text in columns as wide as their widest cell.
class Table {
public:
  explicit Table(ArrayRef<StringRef> head) { add({head.begin(), head.end()}); }
  void add(std::vector<std::string> row) { rows.push_back(std::move(row)); }

  void print(raw_ostream &os) const {
    std::vector<size_t> widths(rows.front().size());
    for (const auto &row : rows)
      for (auto [i, cell] : llvm::enumerate(row))
        widths[i] = std::max(widths[i], cell.size());
    for (const auto &row : rows) {
      for (auto [i, cell] : llvm::enumerate(row)) {
        bool last = i + 1 == row.size();
        os << cell;
        if (!last)
          os.indent(widths[i] - cell.size() + 2);
      }
      os << "\n";
    }
  }

private:
  std::vector<std::vector<std::string>> rows;
};

} // namespace

/// file:line of the innermost place that a location holds.
static std::string formatPlace(Attribute attr) {
  std::string place = "-";
  auto loc = dyn_cast_or_null<LocationAttr>(attr);
  if (!loc)
    return place;
  loc.walk([&](Location inner) {
    auto file = dyn_cast<FileLineColLoc>(inner);
    if (!file)
      return WalkResult::advance();
    place = (file.getFilename().getValue().rsplit('/').second.empty()
                 ? file.getFilename().getValue()
                 : file.getFilename().getValue().rsplit('/').second)
                .str() +
            ":" + std::to_string(file.getLine());
    return WalkResult::interrupt();
  });
  return place;
}

static std::string formatExtents(Attribute attr) {
  std::string text;
  for (int64_t extent : cast<DenseI64ArrayAttr>(attr).asArrayRef())
    text += (text.empty() ? "" : "x") + (extent < 0 ? "?" : std::to_string(extent));
  return text;
}

static std::string formatCount(int64_t count) {
  return count < 0 ? "-" : std::to_string(count);
}

/// The resources of the kernels of every cubin that the host code carries.
static llvm::Expected<llvm::StringMap<Resources>> readCubins(Operation *module) {
  llvm::StringMap<Resources> resources;
  llvm::Error error = llvm::Error::success();
  module->walk([&](LLVM::GlobalOp global) {
    auto bytes = dyn_cast_or_null<StringAttr>(global.getValueOrNull());
    if (bytes && global.getSymName().starts_with("rudnn_data_") &&
        bytes.getValue().starts_with("\x7f"
                                     "ELF"))
      error = llvm::joinErrors(std::move(error),
                               CubinReader(bytes.getValue()).read(resources));
  });
  if (error)
    return std::move(error);
  return resources;
}

llvm::Expected<std::string> rudnn::formatKernelReport(Operation *module) {
  auto kernels = module->getAttrOfType<ArrayAttr>("rudnn.kernels");
  if (!kernels)
    return llvm::createStringError("--report: the module has no kernels");
  auto resources = readCubins(module);
  if (!resources)
    return resources.takeError();
  std::string text;
  llvm::raw_string_ostream os(text);
  if (auto ops = module->getAttrOfType<ArrayAttr>("rudnn.strategies")) {
    Table table({"place", "operator", "strategy", "why"});
    for (auto row : ops.getAsRange<DictionaryAttr>())
      table.add({formatPlace(row.get("location")),
                 row.getAs<StringAttr>("op").str(),
                 row.getAs<StringAttr>("strategy").str(),
                 row.getAs<StringAttr>("why").str()});
    table.print(os);
    os << "\n";
  }
  Table table({"place", "kernel", "strategy", "grid", "block", "cluster",
               "dynamic shared", "static shared", "registers", "local"});
  for (auto row : kernels.getAsRange<DictionaryAttr>()) {
    StringRef name = row.getAs<SymbolRefAttr>("kernel").getLeafReference();
    auto found = resources->find(name);
    bool known = found != resources->end();
    Resources used = known ? found->second : Resources();
    table.add({formatPlace(row.get("location")), name.str(),
               row.getAs<StringAttr>("strategy").str(),
               formatExtents(row.get("grid")), formatExtents(row.get("block")),
               formatExtents(row.get("cluster")),
               formatCount(row.getAs<IntegerAttr>("shared").getInt()),
               known ? formatCount(used.shared) : "-",
               formatCount(used.registers), formatCount(used.local)});
  }
  table.print(os);
  return text;
}
