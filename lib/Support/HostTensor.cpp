//===- HostTensor.cpp - Arrays of the tools -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "rudnn/Support/HostTensor.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

#include <unistd.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <numbers>

using namespace llvm;
using namespace rudnn;

int64_t rudnn::getByteSize(RudnnDType dtype) {
  switch (dtype) {
  case RUDNN_I1:
  case RUDNN_I8:
    return 1;
  case RUDNN_F16:
  case RUDNN_BF16:
  case RUDNN_I16:
    return 2;
  case RUDNN_F32:
  case RUDNN_I32:
    return 4;
  case RUDNN_F64:
  case RUDNN_I64:
  case RUDNN_INDEX:
    return 8;
  }
  llvm_unreachable("covered switch");
}

StringRef rudnn::getName(RudnnDType dtype) {
  static const char *const names[] = {"f32", "f16", "bf16", "f64", "i1",
                                      "i8",  "i16", "i32",  "i64", "index"};
  return names[dtype];
}

std::string rudnn::formatShape(ArrayRef<int64_t> shape) {
  return "[" +
         join(map_range(shape, [](int64_t d) { return std::to_string(d); }), ", ") +
         "]";
}

std::string rudnn::formatIndex(int64_t linear, ArrayRef<int64_t> shape) {
  std::vector<int64_t> index(shape.size());
  for (size_t d = shape.size(); d-- > 0;) {
    index[d] = linear % shape[d];
    linear /= shape[d];
  }
  return formatShape(index);
}

static uint16_t round16(float value, const fltSemantics &semantics) {
  APFloat rounded(value);
  bool lost;
  rounded.convert(semantics, APFloat::rmNearestTiesToEven, &lost);
  return rounded.bitcastToAPInt().getZExtValue();
}

uint16_t rudnn::toBf16(float value) {
  uint32_t bits = llvm::bit_cast<uint32_t>(value);
  if (std::isnan(value))
    return (bits >> 16) | 0x40; // stays a NaN
  return (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
}

uint16_t rudnn::toF16(float value) {
  return round16(value, APFloat::IEEEhalf());
}

float rudnn::fromBf16(uint16_t bits) {
  return llvm::bit_cast<float>(uint32_t(bits) << 16);
}

float rudnn::fromF16(uint16_t bits) {
  uint32_t exponent = (bits >> 10) & 31, mantissa = bits & 1023;
  float magnitude;
  if (exponent == 31)
    magnitude = mantissa ? std::numeric_limits<float>::quiet_NaN()
                         : std::numeric_limits<float>::infinity();
  else if (exponent == 0)
    magnitude = std::ldexp(float(mantissa), -24);
  else
    magnitude = std::ldexp(float(mantissa + 1024), int(exponent) - 25);
  return bits & 0x8000 ? -magnitude : magnitude;
}

HostTensor::HostTensor(RudnnDType dtype, std::vector<int64_t> shape)
    : dtype(dtype), shape(std::move(shape)), numElements(1) {
  for (int64_t extent : this->shape)
    numElements *= extent;
  bytes.resize(getNumBytes());
}

Expected<HostTensor> HostTensor::create(RudnnDType dtype,
                                        std::vector<int64_t> shape) {
  int64_t bytes = getByteSize(dtype);
  int64_t memory = int64_t(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  bool isEmpty = is_contained(shape, 0);
  for (int64_t extent : shape)
    if (!isEmpty && (MulOverflow(bytes, extent, bytes) || bytes > memory))
      return createStringError("shape " + formatShape(shape) + " of " +
                               getName(dtype) +
                               " is too large: the machine has a memory of " +
                               Twine(memory) + " bytes");
  return HostTensor(dtype, std::move(shape));
}

template <typename T>
static T load(const char *data, int64_t i) {
  T value;
  std::memcpy(&value, data + i * sizeof(T), sizeof(T));
  return value;
}

template <typename T>
static void store(char *data, int64_t i, T value) {
  std::memcpy(data + i * sizeof(T), &value, sizeof(T));
}

double HostTensor::get(int64_t i) const {
  switch (dtype) {
  case RUDNN_F32:
    return load<float>(data(), i);
  case RUDNN_F16:
    return fromF16(load<uint16_t>(data(), i));
  case RUDNN_BF16:
    return fromBf16(load<uint16_t>(data(), i));
  case RUDNN_F64:
    return load<double>(data(), i);
  case RUDNN_I1:
    return load<uint8_t>(data(), i);
  case RUDNN_I8:
    return load<int8_t>(data(), i);
  case RUDNN_I16:
    return load<int16_t>(data(), i);
  case RUDNN_I32:
    return load<int32_t>(data(), i);
  case RUDNN_I64:
  case RUDNN_INDEX:
    return static_cast<double>(load<int64_t>(data(), i));
  }
  llvm_unreachable("covered switch");
}

void HostTensor::set(int64_t i, double value) {
  switch (dtype) {
  case RUDNN_F32:
    return store(data(), i, float(value));
  case RUDNN_F16:
    return store(data(), i, toF16(float(value)));
  case RUDNN_BF16:
    return store(data(), i, toBf16(float(value)));
  case RUDNN_F64:
    return store(data(), i, value);
  case RUDNN_I1:
    return store(data(), i, uint8_t(value != 0));
  case RUDNN_I8:
    return store(data(), i, int8_t(int64_t(value)));
  case RUDNN_I16:
    return store(data(), i, int16_t(int64_t(value)));
  case RUDNN_I32:
    return store(data(), i, int32_t(int64_t(value)));
  case RUDNN_I64:
  case RUDNN_INDEX:
    return store(data(), i, int64_t(value));
  }
}

void HostTensor::poison() {
  // All ones is a NaN in every float type.
  std::memset(bytes.data(), dtype == RUDNN_I1 ? 1 : 0xff, bytes.size());
}

//===----------------------------------------------------------------------===//
// Values of a spec
//===----------------------------------------------------------------------===//

/// A hash of seed and position (the finalizer of splitmix64).
static uint64_t hash(uint64_t seed, uint64_t position) {
  uint64_t x = (seed + 1) * 0x9e3779b97f4a7c15u + position * 0xd1b54a32d192ed03u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/// In [0, 1).
static double uniform(uint64_t seed, uint64_t position) {
  return double(hash(seed, position) >> 11) * 0x1p-53;
}

/// Box and Muller's method on two hashes.
static double normal(uint64_t seed, uint64_t position) {
  double radius = std::sqrt(-2 * std::log(1 - uniform(seed, 2 * position)));
  return radius *
         std::cos(2 * std::numbers::pi * uniform(seed, 2 * position + 1));
}

static bool isFloat(RudnnDType dtype) {
  return dtype == RUDNN_F32 || dtype == RUDNN_F16 || dtype == RUDNN_BF16 ||
         dtype == RUDNN_F64;
}

namespace {
struct Bounds {
  uint64_t seed;
  double lo, hi;
};
} // namespace

/// SEED:LO:HI.
static Expected<Bounds> parseBounds(StringRef spec, ArrayRef<StringRef> fields) {
  Bounds bounds;
  if (fields.size() != 4 || fields[1].getAsInteger(10, bounds.seed) ||
      fields[2].getAsDouble(bounds.lo) || fields[3].getAsDouble(bounds.hi))
    return createStringError("'" + spec + "': expected " + fields[0] +
                             ":SEED:LO:HI with a number each");
  if (!(bounds.lo < bounds.hi) || std::isinf(bounds.lo) || std::isinf(bounds.hi))
    return createStringError("'" + spec + "': LO must be less than HI");
  return bounds;
}

static Error fillRandint(HostTensor &tensor, StringRef spec,
                         ArrayRef<StringRef> fields) {
  Expected<Bounds> bounds = parseBounds(spec, fields);
  if (!bounds)
    return bounds.takeError();
  double lo = std::ceil(bounds->lo), width = std::ceil(bounds->hi) - lo;
  if (width < 1)
    return createStringError("'" + spec + "': no integer in [LO, HI)");
  for (int64_t i = 0, e = tensor.getNumElements(); i < e; ++i)
    tensor.set(i, lo + std::floor(uniform(bounds->seed, i) * width));
  return Error::success();
}

static Error fillUniform(HostTensor &tensor, StringRef spec,
                         ArrayRef<StringRef> fields) {
  Expected<Bounds> bounds = parseBounds(spec, fields);
  if (!bounds)
    return bounds.takeError();
  for (int64_t i = 0, e = tensor.getNumElements(); i < e; ++i)
    tensor.set(i, bounds->lo +
                      uniform(bounds->seed, i) * (bounds->hi - bounds->lo));
  return Error::success();
}

static Error fillNormal(HostTensor &tensor, StringRef spec,
                        ArrayRef<StringRef> fields) {
  uint64_t seed;
  if (fields.size() != 2 || fields[1].getAsInteger(10, seed))
    return createStringError("'" + spec + "': expected normal:SEED with a number");
  for (int64_t i = 0, e = tensor.getNumElements(); i < e; ++i)
    tensor.set(i, normal(seed, i));
  return Error::success();
}

static Error fillConst(HostTensor &tensor, StringRef spec,
                       ArrayRef<StringRef> fields) {
  double value;
  if (fields.size() != 2 || fields[1].getAsDouble(value))
    return createStringError("'" + spec + "': expected const:X with a number");
  if (!isFloat(tensor.getDType()) && value != std::floor(value))
    return createStringError("'" + spec + "': not a value of " +
                             getName(tensor.getDType()));
  for (int64_t i = 0, e = tensor.getNumElements(); i < e; ++i)
    tensor.set(i, value);
  return Error::success();
}

Error rudnn::fill(HostTensor &tensor, StringRef spec) {
  SmallVector<StringRef> fields;
  spec.split(fields, ':');
  StringRef kind = fields.front();
  if ((kind == "normal" || kind == "uniform") && !isFloat(tensor.getDType()))
    return createStringError("'" + spec + "': only for floats, the argument is " +
                             getName(tensor.getDType()));
  if (kind == "normal")
    return fillNormal(tensor, spec, fields);
  if (kind == "uniform")
    return fillUniform(tensor, spec, fields);
  if (kind == "randint")
    return fillRandint(tensor, spec, fields);
  if (kind == "const")
    return fillConst(tensor, spec, fields);
  if (kind == "iota" && fields.size() == 1) {
    for (int64_t i = 0, e = tensor.getNumElements(); i < e; ++i)
      tensor.set(i, double(i));
    return Error::success();
  }
  return createStringError(
      "'" + spec +
      "': expected a .npy file, normal:SEED, uniform:SEED:LO:HI, iota, const:X or "
      "randint:SEED:LO:HI");
}

//===----------------------------------------------------------------------===//
// Comparison
//===----------------------------------------------------------------------===//

Comparison rudnn::compare(const HostTensor &actual, const HostTensor &expected,
                          double rtol, double atol) {
  Comparison result;
  for (int64_t i = 0, e = actual.getNumElements(); i < e; ++i) {
    double a = actual.get(i), b = expected.get(i);
    if (a == b || (std::isnan(a) && std::isnan(b)))
      continue;
    double error = std::fabs(a - b);
    if (std::isnan(error))
      error = std::numeric_limits<double>::infinity();
    result.maxAbsError = std::max(result.maxAbsError, error);
    result.maxRelError = std::max(
        result.maxRelError,
        b == 0 || std::isinf(error) ? std::numeric_limits<double>::infinity()
                                    : error / std::fabs(b));
    if (error <= atol + rtol * std::fabs(b) && !std::isinf(error))
      continue;
    ++result.numBad;
    if (result.firstBad < 0)
      result.firstBad = i;
  }
  return result;
}
