//===- Conversions.cpp - Float conversions that code calls -*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// On a CPU without the instructions the code generator calls library functions
// for f16 and bf16, which the libgcc of many systems does not have all of. Every
// compiled module brings its own.
//
//===----------------------------------------------------------------------===//

#include "Conversions.h"

#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/Module.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

using namespace llvm;

static constexpr StringLiteral kSource = R"(
; Adds half of the last place, and one more when that makes ties even.
define hidden bfloat @__truncsfbf2(float %x) {
  %bits = bitcast float %x to i32
  %high = lshr i32 %bits, 16
  %odd = and i32 %high, 1
  %half = add i32 %odd, 32767
  %sum = add i32 %bits, %half
  %rounded = lshr i32 %sum, 16
  %quiet = or i32 %high, 64
  %nan = fcmp uno float %x, %x
  %result = select i1 %nan, i32 %quiet, i32 %rounded
  %short = trunc i32 %result to i16
  %value = bitcast i16 %short to bfloat
  ret bfloat %value
}

; f64 to f32 rounded to odd, so that a second rounding is right.
define internal float @rudnn_round_to_odd(double %x) {
  %near = fptrunc double %x to float
  %back = fpext float %near to double
  %inexact = fcmp one double %back, %x
  %bits = bitcast float %near to i32
  %absx = call double @llvm.fabs.f64(double %x)
  %absback = call double @llvm.fabs.f64(double %back)
  %above = fcmp ogt double %absback, %absx
  %one = zext i1 %above to i32
  %down = sub i32 %bits, %one
  %odd = or i32 %down, 1
  %result = select i1 %inexact, i32 %odd, i32 %bits
  %value = bitcast i32 %result to float
  ret float %value
}
declare double @llvm.fabs.f64(double)

define hidden bfloat @__truncdfbf2(double %x) {
  %f = call float @rudnn_round_to_odd(double %x)
  %r = call bfloat @__truncsfbf2(float %f)
  ret bfloat %r
}

; Magnitudes from 2^16 on are infinite (or NaN); below 2^-14 the sum with a power
; of two rounds to multiples of 2^-24; between, as for bf16.
define hidden half @__truncsfhf2(float %x) {
  %bits = bitcast float %x to i32
  %sign = and i32 %bits, -2147483648
  %mag = xor i32 %bits, %sign
  %nan = icmp ugt i32 %mag, 2139095040
  %top = select i1 %nan, i32 32256, i32 31744
  %magf = bitcast i32 %mag to float
  %subsum = fadd float %magf, 5.000000e-01
  %subbits = bitcast float %subsum to i32
  %sub = sub i32 %subbits, 1056964608
  %last = lshr i32 %mag, 13
  %odd = and i32 %last, 1
  %rebias = add i32 %mag, -939520001
  %sum = add i32 %rebias, %odd
  %normal = lshr i32 %sum, 13
  %issub = icmp ult i32 %mag, 947912704
  %finite = select i1 %issub, i32 %sub, i32 %normal
  %istop = icmp uge i32 %mag, 1199570944
  %abs = select i1 %istop, i32 %top, i32 %finite
  %signhalf = lshr i32 %sign, 16
  %result = or i32 %abs, %signhalf
  %short = trunc i32 %result to i16
  %value = bitcast i16 %short to half
  ret half %value
}

define hidden half @__truncdfhf2(double %x) {
  %f = call float @rudnn_round_to_odd(double %x)
  %r = call half @__truncsfhf2(float %f)
  ret half %r
}

define hidden float @__extendhfsf2(half %x) {
  %short = bitcast half %x to i16
  %bits = zext i16 %short to i32
  %signhalf = and i32 %bits, 32768
  %sign = shl i32 %signhalf, 16
  %mag = and i32 %bits, 32767
  %wide = shl i32 %mag, 13
  %normal = add i32 %wide, 939524096
  %top = add i32 %wide, 1879048192
  %istop = icmp uge i32 %mag, 31744
  %abs = select i1 %istop, i32 %top, i32 %normal
  %count = uitofp i32 %mag to float
  %subf = fmul float %count, 0x3E70000000000000
  %sub = bitcast float %subf to i32
  %issub = icmp ult i32 %mag, 1024
  %value = select i1 %issub, i32 %sub, i32 %abs
  %result = or i32 %value, %sign
  %float = bitcast i32 %result to float
  ret float %float
}
)";

Error rudnn::linkConversions(Module &module) {
  SMDiagnostic diagnostic;
  std::unique_ptr<Module> source =
      parseAssemblyString(kSource, diagnostic, module.getContext());
  if (!source)
    return createStringError("conversions: " + diagnostic.getMessage());
  source->setDataLayout(module.getDataLayout());
  source->setTargetTriple(module.getTargetTriple());
  SmallVector<std::string> names;
  for (Function &function : *source)
    if (!function.isDeclaration() && function.hasHiddenVisibility())
      names.push_back(function.getName().str());
  if (Linker::linkModules(module, std::move(source)))
    return createStringError("conversions: linking failed");
  // Calls of them appear in code generation only.
  SmallVector<GlobalValue *> used;
  for (const std::string &name : names)
    used.push_back(module.getFunction(name));
  appendToCompilerUsed(module, used);
  return Error::success();
}
