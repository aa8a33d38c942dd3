//===- Options.h - Command line of rudnn-compile -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef RUDNN_TOOLS_COMPILE_OPTIONS_H
#define RUDNN_TOOLS_COMPILE_OPTIONS_H

#include <string>
#include <vector>

/// Exit codes of the tools.
enum ExitCode { kSuccess = 0, kFailed = 1, kBadArguments = 2 };

struct Options {
  std::string file;
  std::string target = "cpu";
  std::vector<std::string> outputs;
  std::string cpu = "native";
  unsigned optLevel = 3;
  bool report = false;
  bool timePasses = false;
  bool check = false;
  bool verifyEach = false;
};

/// Parses the command line; ends the program with 0 after --help, with 2 and one
/// line on an error.
Options parseOptions(int argc, char **argv);

#endif // RUDNN_TOOLS_COMPILE_OPTIONS_H
