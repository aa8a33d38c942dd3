// RUN: rudnn-opt %s -rudnn-lower-assertions -verify-each -split-input-file -verify-diagnostics | FileCheck %s

// The message goes to the standard error (2) with its length, then abort.
// CHECK-DAG: llvm.mlir.global internal constant @[[OTHER:.*]]("other\0A")
// CHECK-DAG: llvm.mlir.global internal constant @[[BAD:.*]]("bad id\0A")
// CHECK-DAG: llvm.func @write(i32, !llvm.ptr, i64) -> i64
// CHECK-DAG: llvm.func @abort()
// CHECK-LABEL: func.func @f(
// CHECK: cf.cond_br %arg0, ^[[REST:.*]], ^[[FAIL:.*]]
// CHECK: ^[[FAIL]]:
// CHECK: %[[TEXT:.*]] = llvm.mlir.addressof @[[BAD]]
// CHECK: %[[FILE:.*]] = llvm.mlir.constant(2 : i32)
// CHECK: %[[SIZE:.*]] = llvm.mlir.constant(7 : i64)
// CHECK: llvm.call @write(%[[FILE]], %[[TEXT]], %[[SIZE]])
// CHECK: llvm.call @abort()
// CHECK: llvm.unreachable
// CHECK: ^[[REST]]:
// CHECK: cf.cond_br %arg1
// CHECK: llvm.mlir.addressof @[[BAD]]
// CHECK: cf.cond_br %arg0
// CHECK: llvm.mlir.addressof @[[OTHER]]
// CHECK: return %arg2
// CHECK-NOT: cf.assert
func.func @f(%a: i1, %b: i1, %c: f32) -> f32 {
  cf.assert %a, "bad id"
  cf.assert %b, "bad id"
  cf.assert %a, "other"
  return %c : f32
}

// -----

// What a check reports: text as above, an index value in decimal. Other prints
// are left to the library that upstream's lowering calls.
// CHECK-DAG: llvm.mlir.global internal constant @[[TEXT:.*]]("value ")
// CHECK-DAG: llvm.mlir.global internal constant @[[FORMAT:.*]]("%llu\00")
// CHECK-DAG: llvm.func @dprintf(i32, !llvm.ptr, ...) -> i32
// CHECK-LABEL: func.func @report(
// CHECK: llvm.mlir.addressof @[[TEXT]]
// CHECK: llvm.mlir.constant(6 : i64)
// CHECK: llvm.call @write
// CHECK: %[[AT:.*]] = llvm.mlir.addressof @[[FORMAT]]
// CHECK: %[[WORD:.*]] = arith.index_castui %arg0 : index to i64
// CHECK: llvm.call @dprintf(%{{.*}}, %[[AT]], %[[WORD]]) vararg(!llvm.func<i32 (i32, ptr, ...)>)
// CHECK: vector.print %arg1 : f32
func.func @report(%i: index, %x: f32) {
  vector.print str "value "
  vector.print %i : index punctuation <no_punctuation>
  vector.print %x : f32
  return
}

// -----

// expected-error @+1 {{redefinition of function 'abort'}}
llvm.func @abort(i32)
func.func @taken(%a: i1) {
  // expected-error @+1 {{can't be lowered: the module defines `write` or `abort` with another type}}
  cf.assert %a, "bad id"
  return
}

// -----

func.func @nested(%a: i1, %n: index) {
  %c0 = arith.constant 0 : index
  scf.for %i = %c0 to %n step %n {
    // expected-error @+1 {{stands in 'scf.for', which has no branches, expected it in their form (run convert-scf-to-cf before)}}
    cf.assert %a, "bad id"
  }
  return
}

// -----

// expected-error @+1 {{redefinition of function 'dprintf'}}
llvm.func @dprintf(i32)
func.func @print_taken(%i: index) {
  // expected-error @+1 {{can't be lowered: the module defines `dprintf` with another type}}
  vector.print %i : index punctuation <no_punctuation>
  return
}
