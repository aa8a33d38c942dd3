//===- Options.cpp - Command line of rudnn-run -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Options.h"

#include <CLI/CLI.hpp>

#include <iostream>

static const char *const kFooter = R"(SPEC of an argument:
  FILE.npy             float32, float16, float64, bool, int8 to int64; float32 for bf16
  normal:SEED          standard normal
  uniform:SEED:LO:HI   in [LO, HI)
  iota                 0, 1, 2, ...
  const:X              X everywhere (also for scalars)
  randint:SEED:LO:HI   integers in [LO, HI)
Dynamic extents come from the .npy file, or follow the spec: normal:1@4x128.
A line of a batch file: {"entry": "f", "args": ["a.npy", "iota"], "out": "DIR"}.
Exit status: 0 success, 1 compilation, run or a check failed or --compare out of
tolerance, 2 bad arguments.)";

Options parseOptions(int argc, char **argv) {
  Options options;
  CLI::App app("Compiles a module of rudnn and linalg ops and runs a function of it.",
               "rudnn-run");
  app.footer(kFooter);
  app.add_option("FILE", options.file, "MLIR text or bytecode, - for stdin")->required();
  app.add_option("--target", options.target,
                 "What to compile for: cpu (default), cuda, a chip, or\n"
                 "emulate[:CHIP][:SEED]");
  app.add_option("--entry", options.entry,
                 "Function to run (default: the only public one)");
  app.add_option("--arg", options.args, "I:SPEC, the values of argument I")
      ->allow_extra_args(false);
  app.add_option("--out", options.out,
                 "Write result I to DIR/resultI.npy (bf16 as float32)");
  app.add_option("--compare", options.compare,
                 "Compare the results with target cpu, or with DIR/resultI.npy");
  app.add_option("--rtol", options.rtol, "Relative tolerance (default: 1e-5)")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--atol", options.atol, "Absolute tolerance (default: 1e-6)")
      ->check(CLI::NonNegativeNumber);
  app.add_flag("--bench", options.bench, "Time the function");
  app.add_option("--bench-seconds", options.benchSeconds,
                 "How long to time (default: 1)")
      ->check(CLI::PositiveNumber);
  app.add_option("--batch", options.batch, "Run a list of calls from a file, or from - (stdin),\n"
                 "where `done` is printed after each");
  app.add_flag(
      "--no-check", options.noCheck,
      "Target cpu: don't check extents and index values when the code runs\n"
      "(--bench never does)");
  app.add_flag("--time-passes", options.timePasses, "Print the time of every pass");
  app.add_flag("--verify-each", options.verifyEach, "Verify the IR after every pass");
  app.add_option("-O", options.optLevel, "Optimization level of LLVM (default: 3)")
      ->check(CLI::Range(0, 3));
  try {
    app.parse(argc, argv);
    if (!options.batch.empty() &&
        (!options.entry.empty() || !options.args.empty() || !options.out.empty() ||
         !options.compare.empty() || options.bench))
      throw CLI::ValidationError("--batch excludes --entry, --arg, --out, --compare "
                                 "and --bench");
  } catch (const CLI::CallForHelp &help) {
    app.exit(help);
    std::exit(kSuccess);
  } catch (const CLI::ParseError &error) {
    std::cerr << "rudnn-run: " << error.what() << "\n";
    std::exit(kBadArguments);
  }
  return options;
}
