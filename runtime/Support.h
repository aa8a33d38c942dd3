//===- Support.h - Small helpers of the runtime's sources -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef RUDNN_RUNTIME_SUPPORT_H
#define RUDNN_RUNTIME_SUPPORT_H

#include "rudnn/Runtime/Status.h"

#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

namespace rudnn {

inline constexpr uint64_t kU32Max = 0xFFFFFFFFull;

/// printf into a string.
[[gnu::format(printf, 1, 2)]] inline std::string text(const char *format, ...) {
  char buffer[512];
  va_list list;
  va_start(list, format);
  int size = std::vsnprintf(buffer, sizeof(buffer), format, list);
  va_end(list);
  if (size < 0)
    return {};
  if (size_t(size) < sizeof(buffer))
    return std::string(buffer, size_t(size));
  std::string out(size_t(size) + 1, '\0');
  va_start(list, format);
  std::vsnprintf(out.data(), out.size(), format, list);
  va_end(list);
  out.resize(size_t(size));
  return out;
}

inline unsigned long long ull(uint64_t value) { return value; }

inline uint64_t ceilDiv(uint64_t value, uint64_t by) {
  return value / by + (value % by != 0);
}

/// Memory from malloc/calloc. Plans can be gigabytes: running out is reported,
/// so operator new, which cannot report without exceptions, is not used for
/// them.
template <typename T>
class HostArray {
public:
  bool allocate(uint64_t count) { return reset(count, /*zero=*/false); }
  bool allocateZeroed(uint64_t count) { return reset(count, /*zero=*/true); }
  T *data() { return memory.get(); }
  const T *data() const { return memory.get(); }
  uint64_t size() const { return count; }
  T &operator[](uint64_t i) { return memory.get()[i]; }
  const T &operator[](uint64_t i) const { return memory.get()[i]; }

private:
  bool reset(uint64_t n, bool zero) {
    if (n > SIZE_MAX / sizeof(T))
      return false;
    size_t bytes = n ? size_t(n) * sizeof(T) : 1;
    memory.reset(
        static_cast<T *>(zero ? std::calloc(bytes, 1) : std::malloc(bytes)));
    count = memory ? n : 0;
    return memory != nullptr;
  }
  struct Free {
    void operator()(void *p) const { std::free(p); }
  };
  std::unique_ptr<T[], Free> memory;
  uint64_t count = 0;
};

/// A 32-bit value per page, 0 at first. A plain array when the cache has not
/// many more pages than are looked at, else a hash table, so that memory and
/// time follow the tables and not the page count.
class PageMap {
public:
  /// At most `keys` different pages below `pages` will be touched.
  bool init(uint64_t pages, uint64_t keys) {
    dense = pages <= 8 * keys + 65536;
    if (dense)
      return values.allocateZeroed(pages);
    shift = 63;
    while ((uint64_t(1) << (64 - shift)) < 2 * keys + 2)
      --shift;
    uint64_t slots = uint64_t(1) << (64 - shift);
    return values.allocateZeroed(slots) && tags.allocateZeroed(slots);
  }
  uint32_t &operator[](uint32_t page) {
    if (dense)
      return values[page];
    uint64_t mask = tags.size() - 1;
    uint64_t slot = (page * 0x9E3779B97F4A7C15ull) >> shift;
    // A tag is page + 1: a page id is below 2^32 - 1, so that fits and is not
    // 0.
    while (tags[slot] != 0 && tags[slot] != page + 1)
      slot = (slot + 1) & mask;
    tags[slot] = page + 1;
    return values[slot];
  }

private:
  bool dense = true;
  unsigned shift = 0;
  HostArray<uint32_t> values, tags;
};

} // namespace rudnn

#endif // RUDNN_RUNTIME_SUPPORT_H
