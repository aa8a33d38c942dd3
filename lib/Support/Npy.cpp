//===- Npy.cpp - Arrays in .npy files -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Format: "\x93NUMPY", version, length of the header, a header that is a Python
// dictionary with the keys descr, fortran_order and shape, then the data.
//
//===----------------------------------------------------------------------===//

#include "rudnn/Support/HostTensor.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <cstring>

using namespace llvm;
using namespace rudnn;

static constexpr StringLiteral kMagic = "\x93NUMPY";

/// The `descr` of an element type in a file.
static StringRef getDescr(RudnnDType dtype) {
  switch (dtype) {
  case RUDNN_F32:
  case RUDNN_BF16:
    return "<f4";
  case RUDNN_F16:
    return "<f2";
  case RUDNN_F64:
    return "<f8";
  case RUDNN_I1:
    return "|b1";
  case RUDNN_I8:
    return "|i1";
  case RUDNN_I16:
    return "<i2";
  case RUDNN_I32:
    return "<i4";
  case RUDNN_I64:
  case RUDNN_INDEX:
    return "<i8";
  }
  llvm_unreachable("covered switch");
}

namespace {

struct Header {
  StringRef descr;
  bool fortranOrder = false;
  std::vector<int64_t> shape;
};

/// Reads the dictionary; `error` tells what is wrong with it.
class HeaderParser {
public:
  explicit HeaderParser(StringRef text) : text(text) {}

  bool parse(Header &header) {
    if (!take("{"))
      return false;
    while (!take("}")) {
      StringRef key;
      if (!takeString(key) || !take(":") || !takeValue(key, header))
        return false;
      take(",");
    }
    return seen == 7;
  }

private:
  bool take(StringRef token) {
    text = text.ltrim();
    return text.consume_front(token);
  }

  bool takeString(StringRef &value) {
    text = text.ltrim();
    if (text.empty() || (text[0] != '\'' && text[0] != '"'))
      return false;
    size_t end = text.find(text[0], 1);
    if (end == StringRef::npos)
      return false;
    value = text.slice(1, end);
    text = text.drop_front(end + 1);
    return true;
  }

  bool takeValue(StringRef key, Header &header) {
    if (key == "descr") {
      seen |= 1;
      return takeString(header.descr);
    }
    if (key == "fortran_order") {
      seen |= 2;
      header.fortranOrder = take("True");
      return header.fortranOrder || take("False");
    }
    if (key != "shape" || !take("("))
      return false;
    seen |= 4;
    while (!take(")")) {
      int64_t extent;
      text = text.ltrim();
      if (text.consumeInteger(10, extent) || extent < 0)
        return false;
      header.shape.push_back(extent);
      take(",");
    }
    return true;
  }

  StringRef text;
  unsigned seen = 0;
};

} // namespace

/// Bytes of the elements of `shape`; none when they don't fit 63 bits.
static std::optional<int64_t> countBytes(ArrayRef<int64_t> shape, int64_t size) {
  int64_t bytes = size;
  for (int64_t extent : shape)
    if (MulOverflow(bytes, extent, bytes))
      return std::nullopt;
  return bytes;
}

static Error parseHeader(StringRef path, StringRef contents, Header &header,
                         StringRef &data) {
  auto error = [&](const Twine &what) {
    return createStringError(path + ": " + what);
  };
  if (!contents.starts_with(kMagic))
    return error("not a .npy file (wrong magic)");
  if (contents.size() < 10)
    return error("truncated .npy header");
  unsigned major = static_cast<unsigned char>(contents[6]);
  if (major < 1 || major > 3)
    return error("version " + Twine(major) + " of .npy is not supported (1 to 3 are)");
  size_t start = major == 1 ? 10 : 12;
  if (contents.size() < start)
    return error("truncated .npy header");
  size_t length = major == 1 ? support::endian::read16le(contents.data() + 8)
                             : support::endian::read32le(contents.data() + 8);
  if (contents.size() - start < length)
    return error("truncated .npy header");
  if (!HeaderParser(contents.substr(start, length)).parse(header))
    return error("malformed .npy header");
  data = contents.drop_front(start + length);
  return Error::success();
}

Expected<HostTensor> rudnn::readNpy(StringRef path, RudnnDType dtype) {
  auto file = MemoryBuffer::getFile(path, /*IsText=*/false,
                                    /*RequiresNullTerminator=*/false);
  if (!file)
    return createStringError(path + ": " + file.getError().message());
  Header header;
  StringRef data;
  if (Error error = parseHeader(path, (*file)->getBuffer(), header, data))
    return error;
  StringRef wanted = getDescr(dtype);
  if (header.descr.starts_with(">"))
    return createStringError(path + ": big-endian data (" + header.descr +
                             ") is not supported");
  if (header.descr != wanted)
    return createStringError(path + ": has elements of type '" + header.descr +
                             "', an array of " + getName(dtype) + " needs '" + wanted +
                             "'");
  if (header.fortranOrder && header.shape.size() > 1)
    return createStringError(path + ": Fortran order is not supported");

  int64_t size = dtype == RUDNN_BF16 ? 4 : getByteSize(dtype);
  std::optional<int64_t> bytes = countBytes(header.shape, size);
  if (!bytes || *bytes != static_cast<int64_t>(data.size()))
    return createStringError(
        path + ": shape " + formatShape(header.shape) + " needs " +
        (bytes ? std::to_string(*bytes) : std::string("too many")) +
        " bytes of data, the file has " + std::to_string(data.size()));
  HostTensor tensor(dtype, header.shape);
  if (dtype != RUDNN_BF16) {
    std::memcpy(tensor.data(), data.data(), data.size());
    return tensor;
  }
  for (int64_t i = 0, e = tensor.getNumElements(); i < e; ++i) {
    float value;
    std::memcpy(&value, data.data() + 4 * i, 4);
    tensor.set(i, value);
  }
  return tensor;
}

Error rudnn::writeNpy(StringRef path, const HostTensor &tensor) {
  std::error_code code;
  raw_fd_ostream out(path, code);
  if (code)
    return createStringError(path + ": " + code.message());
  std::string shape = "(";
  for (int64_t extent : tensor.getShape())
    shape += std::to_string(extent) + ",";
  std::string header = ("{'descr': '" + getDescr(tensor.getDType()) +
                        "', 'fortran_order': False, 'shape': " + shape + "), }")
                           .str();
  // Data starts at a multiple of 64, after a newline.
  header.append(63 - (10 + header.size()) % 64, ' ');
  header += '\n';
  char length[2];
  support::endian::write16le(length, header.size());
  out << kMagic << '\x01' << '\x00' << StringRef(length, 2) << header;
  if (tensor.getDType() != RUDNN_BF16) {
    out << StringRef(tensor.data(), tensor.getNumBytes());
  } else {
    std::vector<float> values(tensor.getNumElements());
    for (auto [i, value] : enumerate(values))
      value = tensor.get(i);
    out << StringRef(reinterpret_cast<const char *>(values.data()),
                     values.size() * sizeof(float));
  }
  out.close();
  if (out.has_error()) {
    std::string message = out.error().message();
    out.clear_error();
    return createStringError(path + ": " + message);
  }
  return Error::success();
}
