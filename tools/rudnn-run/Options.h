//===- Options.h - Command line of rudnn-run -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef RUDNN_TOOLS_RUN_OPTIONS_H
#define RUDNN_TOOLS_RUN_OPTIONS_H

#include <string>
#include <vector>

/// Exit codes of the tools.
enum ExitCode { kSuccess = 0, kFailed = 1, kBadArguments = 2 };

struct Options {
  std::string file;
  std::string target = "cpu";
  std::string entry;
  /// `I:SPEC` each.
  std::vector<std::string> args;
  std::string out;
  std::string compare;
  double rtol = 1e-5, atol = 1e-6;
  bool bench = false;
  double benchSeconds = 1;
  std::string batch;
  bool timePasses = false;
  bool verifyEach = false;
  /// Without checks of extents and index values.
  bool noCheck = false;
  unsigned optLevel = 3;
};

/// Parses the command line; ends the program with 0 after --help, with 2 and one
/// line on an error.
Options parseOptions(int argc, char **argv);

#endif // RUDNN_TOOLS_RUN_OPTIONS_H
