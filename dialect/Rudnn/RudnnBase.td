//===- RudnnBase.td - The rudnn dialect and its op base class -*- tablegen -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef RUDNN_BASE_TD
#define RUDNN_BASE_TD

include "mlir/Dialect/Linalg/IR/LinalgInterfaces.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/TilingInterface.td"

def Rudnn_Dialect : Dialect {
  let name = "rudnn";
  let cppNamespace = "::rudnn";
  let summary = "Deep-learning operators in destination style";
  let description = [{
    What a network computes: attention, mixture of experts, the gated delta
    rule, normalization and convolution, forward and first-order backward.

    Every op is in destination style: `ins(...)` are read, `outs(...)` are the
    buffers that results take. On tensors each `outs` operand has a result of
    its type; on memrefs the op has no results and writes the `outs`. The old
    contents of `outs` are never read unless an op says so.

    Element types are f32, f16 and bf16. Sums, softmax and statistics are
    computed in f32 and rounded once to the result's type. Index operands are
    signless i32, read as unsigned.

    Each op's constraints are clauses with labels (`rms_norm_c1`): the same
    label stands in the verifier and in the test that violates it.

    Any op, also one of another dialect, may carry `rudnn.strategy`: "schedule"
    asks for the kernels of a schedule on a GPU, an error where none applies;
    "fallback" asks for generic kernels. Without it the compiler chooses. It
    selects GPU kernels: the CPU target checks its value and ignores it.
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::bufferization::BufferizationDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
    "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"
  ];
  let extraClassDeclaration = [{
    // One per family, defined beside the family's ops.
    void registerNormOps();
    void registerAttentionOps();
    void registerPagedOps();
    void registerMoeOps();
    void registerDeltaOps();
    void registerConvOps();
  }];
}

/// An enumeration and its attribute, written `#rudnn.name<case>`.
class Rudnn_Enum<string cppName, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<cppName, summary, cases> {
  let cppNamespace = "::rudnn";
  let genSpecializedAttr = 0;
}
class Rudnn_EnumAttr<EnumAttrInfo info, string name>
    : EnumAttr<Rudnn_Dialect, info, name> {
  let assemblyFormat = "`<` $value `>`";
}

def Rudnn_Causal : Rudnn_Enum<"Causal", "which keys follow a query", [
  I32EnumAttrCase<"None", 0, "none">,
  I32EnumAttrCase<"BottomRight", 1, "bottom_right">,
  I32EnumAttrCase<"TopLeft", 2, "top_left">]>;
def Rudnn_CausalAttr : Rudnn_EnumAttr<Rudnn_Causal, "causal">;

def Rudnn_LogBase : Rudnn_Enum<"LogBase", "base of a log-sum-exp", [
  I32EnumAttrCase<"E", 0, "e">, I32EnumAttrCase<"Two", 1, "two">]>;
def Rudnn_LogBaseAttr : Rudnn_EnumAttr<Rudnn_LogBase, "log_base">;

def Rudnn_ConvLayout : Rudnn_Enum<"ConvLayout",
    "where the channels stand", [
  I32EnumAttrCase<"ChannelsFirst", 0, "nchw">,
  I32EnumAttrCase<"ChannelsLast", 1, "nhwc">]>;
def Rudnn_ConvLayoutAttr : Rudnn_EnumAttr<Rudnn_ConvLayout, "conv_layout">;

def Rudnn_HistoryGradient : Rudnn_Enum<"HistoryGradient",
    "how gradients of shared history slots are summed", [
  I32EnumAttrCase<"Atomic", 0, "atomic">,
  I32EnumAttrCase<"Ordered", 1, "ordered">]>;
def Rudnn_HistoryGradientAttr : Rudnn_EnumAttr<Rudnn_HistoryGradient, "history_gradient">;

def Rudnn_PagedGradients : I32BitEnumAttr<"PagedGradients",
    "which gradients of a paged op are computed", [
  I32BitEnumAttrCaseBit<"Dq", 0, "dq">, I32BitEnumAttrCaseBit<"Dqp", 1, "dqp">,
  I32BitEnumAttrCaseBit<"Dk", 2, "dk">, I32BitEnumAttrCaseBit<"Dv", 3, "dv">,
  I32BitEnumAttrCaseBit<"Dlatent", 4, "dlatent">,
  I32BitEnumAttrCaseBit<"Dkp", 5, "dkp">,
  I32BitEnumAttrCaseBit<"Dsinks", 6, "dsinks">]> {
  let cppNamespace = "::rudnn";
  let genSpecializedAttr = 0;
  let separator = "|";
}
def Rudnn_PagedGradientsAttr : Rudnn_EnumAttr<Rudnn_PagedGradients, "paged_gradients">;

def Rudnn_ExpertsStrategy : Rudnn_Enum<"ExpertsStrategy",
    "how the expert products are computed", [
  I32EnumAttrCase<"Auto", 0, "auto">,
  I32EnumAttrCase<"Grouped", 1, "grouped">,
  I32EnumAttrCase<"PerExpert", 2, "per_expert">]>;
def Rudnn_ExpertsStrategyAttr : Rudnn_EnumAttr<Rudnn_ExpertsStrategy, "experts_strategy">;

def Rudnn_RouterScoring : Rudnn_Enum<"RouterScoring",
    "how a router turns logits into probabilities", [
  I32EnumAttrCase<"Softmax", 0, "softmax">,
  I32EnumAttrCase<"Sigmoid", 1, "sigmoid">]>;
def Rudnn_RouterScoringAttr : Rudnn_EnumAttr<Rudnn_RouterScoring, "router_scoring">;

// Shaped operands: ranked tensors or memrefs, of floats or of i32.
def Rudnn_Float : AnyTypeOf<[F32, F16, BF16]>;
def Rudnn_FloatShaped : AnyTypeOf<[RankedTensorOf<[F32, F16, BF16]>,
    MemRefOf<[F32, F16, BF16]>], "ranked tensor or memref of f32, f16 or bf16">;
def Rudnn_F32Shaped : AnyTypeOf<[RankedTensorOf<[F32]>, MemRefOf<[F32]>],
    "ranked tensor or memref of f32">;
def Rudnn_BoolShaped : AnyTypeOf<[RankedTensorOf<[I1]>, MemRefOf<[I1]>],
    "ranked tensor or memref of i1">;
def Rudnn_IndexShaped : AnyTypeOf<[RankedTensorOf<[I32]>, MemRefOf<[I32]>],
    "ranked tensor or memref of i32">;
def Rudnn_AnyShaped : AnyTypeOf<[RankedTensorOf<[F32, F16, BF16, I1, I32]>,
    MemRefOf<[F32, F16, BF16, I1, I32]>],
    "ranked tensor or memref of f32, f16, bf16, i1 or i32">;

/// Base of every op. The op has a variadic operand `outs` and variadic results
/// `results`; memory effects and result shapes follow from that
/// (dialect/Rudnn/OpUtils.h). `decomposeOperation` is the meaning of the op: it
/// returns linalg/scf/tensor code for tensors, and is what the CPU target runs.
class Rudnn_Op<string mnemonic, list<Trait> traits = []>
    : Op<Rudnn_Dialect, mnemonic, !listconcat(traits, [
        DestinationStyleOpInterface,
        DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
        ReifyRankedShapedTypeOpInterface, AggregatedOpInterface
      ])> {
  let hasVerifier = 1;
  code baseDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getOutsMutable(); }
    ::llvm::LogicalResult reifyResultShapes(
        ::mlir::OpBuilder &b, ::mlir::ReifiedRankedShapedTypeDims &shapes);
    ::mlir::FailureOr<::llvm::SmallVector<::mlir::Value>> decomposeOperation(
        ::mlir::OpBuilder &b);
  }];
  let extraClassDeclaration = baseDeclaration;
  code baseDefinition = [{
    void $cppClass::getEffects(
        ::llvm::SmallVectorImpl<::mlir::MemoryEffects::EffectInstance> &effects) {
      ::rudnn::getDestinationStyleEffects(*this, effects);
    }
    ::llvm::LogicalResult $cppClass::reifyResultShapes(
        ::mlir::OpBuilder &b, ::mlir::ReifiedRankedShapedTypeDims &shapes) {
      return ::rudnn::reifyDestinationShapes(b, *this, shapes);
    }
  }];
  let extraClassDefinition = baseDefinition;
}

/// An op whose loops each run along whole dims of its operands: it defines
/// `TilingLoops getTilingLoops()` (include/rudnn/IR/TilingUtils.h) and all of
/// TilingInterface follows. An op whose tiles need more than slices of its
/// operands names its own `tileFunction`, with the signature of tileAlongDims.
class Rudnn_TiledOp<string mnemonic, list<Trait> traits = []>
    : Rudnn_Op<mnemonic, !listconcat(traits, [
        DeclareOpInterfaceMethods<TilingInterface, [
          "getLoopIteratorTypes", "getIterationDomain", "getTiledImplementation",
          "getResultTilePosition", "generateResultTileValue",
          "getIterationDomainTileFromResultTile",
          "getIterationDomainTileFromOperandTiles",
          "getTiledImplementationFromOperandTiles"]>])> {
  string tileFunction = "::rudnn::tileAlongDims";
  code tilingDeclaration = baseDeclaration # [{
    ::rudnn::TilingLoops getTilingLoops();
  }];
  let extraClassDeclaration = tilingDeclaration;
  let extraClassDefinition = baseDefinition # [{
    ::llvm::SmallVector<::mlir::utils::IteratorType> $cppClass::getLoopIteratorTypes() {
      return getTilingLoops().iterators;
    }
    ::llvm::SmallVector<::mlir::Range> $cppClass::getIterationDomain(::mlir::OpBuilder &b) {
      return ::rudnn::tilingDomain(b, *this, getTilingLoops());
    }
    ::mlir::FailureOr<::mlir::TilingResult> $cppClass::getTiledImplementation(
        ::mlir::OpBuilder &b, ::llvm::ArrayRef<::mlir::OpFoldResult> offsets,
        ::llvm::ArrayRef<::mlir::OpFoldResult> sizes) {
      return }] # tileFunction # [{(b, *this, getTilingLoops(), offsets, sizes);
    }
    ::llvm::LogicalResult $cppClass::getResultTilePosition(
        ::mlir::OpBuilder &b, unsigned result,
        ::llvm::ArrayRef<::mlir::OpFoldResult> offsets,
        ::llvm::ArrayRef<::mlir::OpFoldResult> sizes,
        ::llvm::SmallVector<::mlir::OpFoldResult> &resultOffsets,
        ::llvm::SmallVector<::mlir::OpFoldResult> &resultSizes) {
      return ::rudnn::resultTilePosition(b, *this, getTilingLoops(), result,
          offsets, sizes, resultOffsets, resultSizes);
    }
    ::mlir::FailureOr<::mlir::TilingResult> $cppClass::generateResultTileValue(
        ::mlir::OpBuilder &b, unsigned result,
        ::llvm::ArrayRef<::mlir::OpFoldResult> offsets,
        ::llvm::ArrayRef<::mlir::OpFoldResult> sizes) {
      return ::rudnn::tileForResult(b, *this, getTilingLoops(), result, offsets, sizes,
          }] # tileFunction # [{);
    }
    ::llvm::LogicalResult $cppClass::getIterationDomainTileFromResultTile(
        ::mlir::OpBuilder &b, unsigned result,
        ::llvm::ArrayRef<::mlir::OpFoldResult> offsets,
        ::llvm::ArrayRef<::mlir::OpFoldResult> sizes,
        ::llvm::SmallVectorImpl<::mlir::OpFoldResult> &domainOffsets,
        ::llvm::SmallVectorImpl<::mlir::OpFoldResult> &domainSizes) {
      return ::rudnn::domainOfResultTile(b, *this, getTilingLoops(), result,
          offsets, sizes, domainOffsets, domainSizes);
    }
    ::llvm::LogicalResult $cppClass::getIterationDomainTileFromOperandTiles(
        ::mlir::OpBuilder &b, ::llvm::ArrayRef<unsigned> operands,
        ::llvm::ArrayRef<::llvm::SmallVector<::mlir::OpFoldResult>> offsets,
        ::llvm::ArrayRef<::llvm::SmallVector<::mlir::OpFoldResult>> sizes,
        ::llvm::SmallVectorImpl<::mlir::OpFoldResult> &domainOffsets,
        ::llvm::SmallVectorImpl<::mlir::OpFoldResult> &domainSizes) {
      return ::rudnn::domainOfOperandTiles(b, *this, getTilingLoops(), operands,
          offsets, sizes, domainOffsets, domainSizes);
    }
    ::mlir::FailureOr<::mlir::TilingResult> $cppClass::getTiledImplementationFromOperandTiles(
        ::mlir::OpBuilder &b, ::llvm::ArrayRef<unsigned> operands,
        ::llvm::ArrayRef<::llvm::SmallVector<::mlir::OpFoldResult>> offsets,
        ::llvm::ArrayRef<::llvm::SmallVector<::mlir::OpFoldResult>> sizes) {
      ::llvm::SmallVector<::mlir::OpFoldResult> domainOffsets, domainSizes;
      if (::mlir::failed(getIterationDomainTileFromOperandTiles(
              b, operands, offsets, sizes, domainOffsets, domainSizes)))
        return ::mlir::failure();
      return getTiledImplementation(b, domainOffsets, domainSizes);
    }
  }];
}

#endif // RUDNN_BASE_TD
