// RUN: rudnn-opt %s -rudnn-merge-kernels -verify-each | FileCheck %s

module attributes {gpu.container_module} {
// CHECK-LABEL: func.func @f
// CHECK: gpu.launch_func @first::@kernel
// CHECK: gpu.launch_func @first::@[[SECOND:kernel_[0-9]+]]
func.func @f(%x: f32) {
  %c1 = arith.constant 1 : index
  gpu.launch_func @first::@kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%x : f32)
  gpu.launch_func @second::@kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%x : f32)
  return
}

// CHECK: gpu.module @first
// CHECK: llvm.func @__nv_expf(f32) -> f32
// CHECK: gpu.func @kernel(
// CHECK-NOT: llvm.func @__nv_expf
// CHECK: gpu.func @[[SECOND]](
// CHECK: llvm.call @__nv_expf
// CHECK-NOT: gpu.module
gpu.module @first {
  llvm.func @__nv_expf(f32) -> f32
  gpu.func @kernel(%x: f32) kernel {
    %y = llvm.call @__nv_expf(%x) : (f32) -> f32
    gpu.return
  }
}
gpu.module @second {
  llvm.func @__nv_expf(f32) -> f32
  gpu.func @kernel(%x: f32) kernel {
    %y = llvm.call @__nv_expf(%x) : (f32) -> f32
    gpu.return
  }
}
}
