//===- Status.h - Errors as values -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The runtime never throws and never aborts on bad input: what can fail returns
// a Status, or a Result that holds the value or the Status.
//
//===----------------------------------------------------------------------===//
#ifndef RUDNN_RUNTIME_STATUS_H
#define RUDNN_RUNTIME_STATUS_H

#include "rudnn-c/Status.h"

#include <optional>
#include <string>
#include <utility>

namespace rudnn {

/// A code, RUDNN_OK on success, and a text that names the offending argument,
/// its value and what is allowed.
class [[nodiscard]] Status {
public:
  Status() = default;
  Status(RudnnStatusCode code, std::string message)
      : statusCode(code), text(std::move(message)) {}

  static Status success() { return {}; }

  bool ok() const { return statusCode == RUDNN_OK; }
  explicit operator bool() const { return ok(); }
  RudnnStatusCode code() const { return statusCode; }
  const std::string &message() const { return text; }

private:
  RudnnStatusCode statusCode = RUDNN_OK;
  std::string text;
};

/// A value of type T, or the reason why there is none.
template <typename T>
class [[nodiscard]] Result {
public:
  Result(T value) : held(std::move(value)) {}
  /// `status` must not be a success.
  Result(Status status) : reason(std::move(status)) {}
  Result(RudnnStatusCode code, std::string message)
      : reason(code, std::move(message)) {}

  bool ok() const { return held.has_value(); }
  explicit operator bool() const { return ok(); }
  const Status &status() const { return reason; }
  RudnnStatusCode code() const { return reason.code(); }
  const std::string &message() const { return reason.message(); }

  /// The value. Only when ok().
  T &operator*() & { return *held; }
  const T &operator*() const & { return *held; }
  T &&operator*() && { return std::move(*held); }
  T *operator->() { return &*held; }
  const T *operator->() const { return &*held; }

private:
  std::optional<T> held;
  Status reason;
};

} // namespace rudnn

#endif // RUDNN_RUNTIME_STATUS_H
