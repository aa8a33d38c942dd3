// RUN: rudnn-opt %s -canonicalize -verify-each | FileCheck %s

// A dispatch whose row_experts nobody reads computes four results.
// CHECK-LABEL: @dispatch_row_experts
// CHECK: rudnn.moe.dispatch {{.*}} -> tensor<32x64xf16>, tensor<9xi32>, tensor<16x2xi32>, tensor<32xi32>{{$}}
func.func @dispatch_row_experts(%x: tensor<16x64xf16>, %ids: tensor<16x2xi32>, %v: tensor<32x64xf16>, %o: tensor<9xi32>,
    %s: tensor<16x2xi32>, %r: tensor<32xi32>) -> (tensor<32x64xf16>, tensor<9xi32>) {
  %values, %offsets, %slot_rows, %row_slots, %row_experts = rudnn.moe.dispatch
      ins(%x, %ids : tensor<16x64xf16>, tensor<16x2xi32>)
      outs(%v, %o, %s, %r, %r : tensor<32x64xf16>, tensor<9xi32>, tensor<16x2xi32>, tensor<32xi32>, tensor<32xi32>)
      -> tensor<32x64xf16>, tensor<9xi32>, tensor<16x2xi32>, tensor<32xi32>, tensor<32xi32>
  return %values, %offsets : tensor<32x64xf16>, tensor<9xi32>
}

// It keeps the five when they are read.
// CHECK-LABEL: @dispatch_row_experts_used
// CHECK: rudnn.moe.dispatch {{.*}} -> tensor<32x64xf16>, tensor<9xi32>, tensor<16x2xi32>, tensor<32xi32>, tensor<32xi32>{{$}}
func.func @dispatch_row_experts_used(%x: tensor<16x64xf16>, %ids: tensor<16x2xi32>, %v: tensor<32x64xf16>, %o: tensor<9xi32>,
    %s: tensor<16x2xi32>, %r: tensor<32xi32>) -> tensor<32xi32> {
  %values, %offsets, %slot_rows, %row_slots, %row_experts = rudnn.moe.dispatch
      ins(%x, %ids : tensor<16x64xf16>, tensor<16x2xi32>)
      outs(%v, %o, %s, %r, %r : tensor<32x64xf16>, tensor<9xi32>, tensor<16x2xi32>, tensor<32xi32>, tensor<32xi32>)
      -> tensor<32x64xf16>, tensor<9xi32>, tensor<16x2xi32>, tensor<32xi32>, tensor<32xi32>
  return %row_experts : tensor<32xi32>
}

// Without tokens there is nothing to compute.
// CHECK-LABEL: @no_tokens
// CHECK-NOT: rudnn.
// CHECK: return %arg4 : tensor<0x64xf32>
func.func @no_tokens(%logits: tensor<0x8xf32>, %y: tensor<0x64xf32>, %i: tensor<0x2xi32>, %w: tensor<0x2xf32>, %out: tensor<0x64xf32>) -> tensor<0x64xf32> {
  %ids, %weights = rudnn.moe.route ins(%logits : tensor<0x8xf32>) outs(%i, %w : tensor<0x2xi32>, tensor<0x2xf32>)
      -> tensor<0x2xi32>, tensor<0x2xf32>
  %r = rudnn.moe.combine ins(%y, %ids, %weights : tensor<0x64xf32>, tensor<0x2xi32>, tensor<0x2xf32>)
      outs(%out : tensor<0x64xf32>) -> tensor<0x64xf32>
  return %r : tensor<0x64xf32>
}

// But the offsets of a dispatch of no token are still to be written.
// CHECK-LABEL: @dispatch_no_tokens
// CHECK: rudnn.moe.dispatch
func.func @dispatch_no_tokens(%x: tensor<0x64xf16>, %ids: tensor<0x2xi32>, %o: tensor<9xi32>, %r: tensor<0xi32>) -> tensor<9xi32> {
  %values, %offsets, %slot_rows, %row_slots = rudnn.moe.dispatch ins(%x, %ids : tensor<0x64xf16>, tensor<0x2xi32>)
      outs(%x, %o, %ids, %r : tensor<0x64xf16>, tensor<9xi32>, tensor<0x2xi32>, tensor<0xi32>)
      -> tensor<0x64xf16>, tensor<9xi32>, tensor<0x2xi32>, tensor<0xi32>
  return %offsets : tensor<9xi32>
}

// A cast to a less static type before an op moves behind it.
// CHECK-LABEL: @cast
// CHECK: %[[R:.*]] = rudnn.moe.combine ins(%arg0, %arg1, %arg2 : tensor<32x64xf32>, tensor<16x2xi32>, tensor<16x2xf32>) outs(%{{.*}}) -> tensor<16x64xf32>
// CHECK: tensor.cast %[[R]] : tensor<16x64xf32> to tensor<?x64xf32>
func.func @cast(%y: tensor<32x64xf32>, %s: tensor<16x2xi32>, %w: tensor<16x2xf32>, %i: tensor<16x64xf32>) -> tensor<?x64xf32> {
  %dy = tensor.cast %y : tensor<32x64xf32> to tensor<?x64xf32>
  %ds = tensor.cast %s : tensor<16x2xi32> to tensor<?x2xi32>
  %di = tensor.cast %i : tensor<16x64xf32> to tensor<?x64xf32>
  %r = rudnn.moe.combine ins(%dy, %ds, %w : tensor<?x64xf32>, tensor<?x2xi32>, tensor<16x2xf32>)
      outs(%di : tensor<?x64xf32>) -> tensor<?x64xf32>
  return %r : tensor<?x64xf32>
}
