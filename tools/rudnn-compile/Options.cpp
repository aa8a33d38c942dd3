//===- Options.cpp - Command line of rudnn-compile -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Options.h"

#include <CLI/CLI.hpp>

#include <iostream>

Options parseOptions(int argc, char **argv) {
  Options options;
  CLI::App app("Compiles a module of rudnn and linalg ops ahead of time.",
               "rudnn-compile");
  app.footer("The extension of an output chooses what is written; a target refuses "
             "those it does not have.\n"
             "Exit status: 0 success, 1 compilation failed, 2 bad arguments.");
  app.add_option("FILE", options.file, "MLIR text or bytecode, - for stdin")->required();
  app.add_option("-o", options.outputs, "Output file, several are possible")
      ->allow_extra_args(false);
  app.add_option("--target", options.target, "What to compile for (default: cpu)");
  app.add_option("--cpu", options.cpu,
                 "CPU of the host code, a name of LLVM (default: native)");
  app.add_option("-O", options.optLevel, "Optimization level of LLVM (default: 3)")
      ->check(CLI::Range(0, 3));
  app.add_flag(
      "--check", options.check,
      "Target cpu: code that ends the program with a message when extents or\n"
      "index values are wrong");
  app.add_flag("--report", options.report, "Print a table of the kernels");
  app.add_flag("--time-passes", options.timePasses, "Print the time of every pass");
  app.add_flag("--verify-each", options.verifyEach, "Verify the IR after every pass");
  try {
    app.parse(argc, argv);
    if (options.outputs.empty() && !options.report)
      throw CLI::ValidationError("give an output with -o, or --report");
  } catch (const CLI::CallForHelp &help) {
    app.exit(help);
    std::exit(kSuccess);
  } catch (const CLI::ParseError &error) {
    std::cerr << "rudnn-compile: " << error.what() << "\n";
    std::exit(kBadArguments);
  }
  return options;
}
