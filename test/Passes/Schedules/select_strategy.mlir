// RUN: rudnn-opt %s -rudnn-select-strategy=chip=sm_90a | FileCheck %s
// RUN: rudnn-opt %s -rudnn-select-strategy=chip=sm_90 | FileCheck %s
// RUN: rudnn-opt %s -rudnn-select-strategy=chip=sm_89 | FileCheck %s
// RUN: rudnn-opt %s -rudnn-select-strategy=chip=sm_80 | FileCheck %s
// RUN: rudnn-opt %s -rudnn-select-strategy=chip=sm_75 | FileCheck %s --check-prefix=OTHER

// The table has a schedule for attention and row kernels on every chip that it names.
!q = tensor<1x4x?x128xbf16>
!f = tensor<1x4x?x128xf32>
func.func @ops(%q: !q, %f: !f, %x: tensor<?x256xf32>, %n: tensor<?x?xf32>) -> (!q, !f, tensor<?x256xf32>, tensor<?x?xf32>) {
  // CHECK: rudnn.attention {{.*}}rudnn.strategy = "schedule"
  // OTHER: rudnn.attention {{.*}}rudnn.strategy = "fallback"
  %a = rudnn.attention ins(%q, %q, %q : !q, !q, !q) outs(%q : !q) -> !q
  // CHECK: rudnn.attention {{.*}}rudnn.strategy = "fallback"
  %b = rudnn.attention ins(%f, %f, %f : !f, !f, !f) outs(%f : !f) -> !f
  // CHECK: rudnn.softmax {{.*}}rudnn.strategy = "schedule"
  %c = rudnn.softmax ins(%x : tensor<?x256xf32>) outs(%x : tensor<?x256xf32>) -> tensor<?x256xf32>
  // CHECK: rudnn.softmax {{.*}}rudnn.strategy = "fallback"
  %d = rudnn.softmax ins(%n : tensor<?x?xf32>) outs(%n : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %a, %b, %c, %d : !q, !f, tensor<?x256xf32>, tensor<?x?xf32>
}
