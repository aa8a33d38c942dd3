// RUN: rudnn-opt %s -generate-runtime-verification -canonicalize -verify-each | FileCheck %s

// Lengths and table entries first, then rows: each rule is an assertion that
// names the op (its text is in the message) and the operand.
// CHECK-LABEL: @attention
// CHECK: scf.for %[[S:.*]] = %c0 to %c2
// CHECK:   tensor.extract %{{.*}}[%[[S]]] : tensor<2xi32>
// CHECK:   arith.ceildivui
// CHECK:   cf.assert %{{.*}}, "{{.*}}rudnn.paged.attention{{.*}}lengths: a length needs more pages than its table has{{.*}}"
// CHECK:   scf.for %[[J:.*]] = %c0 to
// CHECK:     tensor.extract %{{.*}}[%[[S]], %[[J]]] : tensor<2x3xi32>
// CHECK:     cf.assert %{{.*}}, "{{.*}}rudnn.paged.attention{{.*}}tables: a page id is not below the number of pages{{.*}}"
// CHECK: scf.for %[[R:.*]] = %c0 to %{{.*}}
// CHECK:   cf.assert %{{.*}}, "{{.*}}rudnn.paged.attention{{.*}}sequence_ids: an id is not below the number of sequences{{.*}}"
// CHECK:   arith.ori
// CHECK:   cf.assert %{{.*}}, "{{.*}}rudnn.paged.attention{{.*}}positions: a position is not below the length of its sequence{{.*}}"
// CHECK: rudnn.paged.attention
func.func @attention(%q: tensor<?x4x8xf32>, %k: tensor<5x2x2x8xf32>, %t: tensor<2x3xi32>, %l: tensor<2xi32>, %s: tensor<?xi32>,
    %p: tensor<?xi32>) -> tensor<?x4x8xf32> {
  %0 = rudnn.paged.attention ins(%q, %k, %k : tensor<?x4x8xf32>, tensor<5x2x2x8xf32>, tensor<5x2x2x8xf32>)
      pages(%t, %l, %s, %p : tensor<2x3xi32>, tensor<2xi32>, tensor<?xi32>, tensor<?xi32>)
      outs(%q : tensor<?x4x8xf32>) -> tensor<?x4x8xf32>
  return %0 : tensor<?x4x8xf32>
}

// CHECK-LABEL: @mla
// CHECK: cf.assert %{{.*}}, "{{.*}}rudnn.paged.mla{{.*}}lengths:
// CHECK: cf.assert %{{.*}}, "{{.*}}rudnn.paged.mla{{.*}}tables:
// CHECK: cf.assert %{{.*}}, "{{.*}}rudnn.paged.mla{{.*}}sequence_ids:
// CHECK: cf.assert %{{.*}}, "{{.*}}rudnn.paged.mla{{.*}}positions:
func.func @mla(%q: tensor<3x4x8xf32>, %c: tensor<5x2x1x8xf32>, %t: tensor<2x3xi32>, %l: tensor<2xi32>, %s: tensor<3xi32>) -> tensor<3x4x8xf32> {
  %0 = rudnn.paged.mla ins(%q, %q, %c, %c : tensor<3x4x8xf32>, tensor<3x4x8xf32>, tensor<5x2x1x8xf32>, tensor<5x2x1x8xf32>)
      pages(%t, %l, %s, %s : tensor<2x3xi32>, tensor<2xi32>, tensor<3xi32>, tensor<3xi32>)
      outs(%q : tensor<3x4x8xf32>) {scale = 0.5 : f64} -> tensor<3x4x8xf32>
  return %0 : tensor<3x4x8xf32>
}

// An append asks for more: a position inside the length always, and slots that
// are written once. On memrefs the checks are loads.
// CHECK-LABEL: @append
// CHECK: memref.load
// CHECK: cf.assert %{{.*}}, "{{.*}}rudnn.paged.append{{.*}}lengths:
// CHECK: cf.assert %{{.*}}, "{{.*}}rudnn.paged.append{{.*}}tables:
// CHECK: cf.assert %{{.*}}, "{{.*}}rudnn.paged.append{{.*}}sequence_ids:
// CHECK-NOT: arith.ori
// CHECK: cf.assert %{{.*}}, "{{.*}}rudnn.paged.append{{.*}}positions: a position is not below the length of its sequence{{.*}}"
// CHECK: cf.assert %{{.*}}, "{{.*}}rudnn.paged.append{{.*}}positions: two rows write the same slot of a page{{.*}}"
func.func @append(%k: memref<?x2x8xf32>, %t: memref<2x3xi32>, %l: memref<2xi32>, %s: memref<?xi32>, %p: memref<?xi32>,
    %kc: memref<5x2x2x8xf32>, %vc: memref<5x2x2x8xf32>) {
  rudnn.paged.append ins(%k, %k : memref<?x2x8xf32>, memref<?x2x8xf32>)
      pages(%t, %l, %s, %p : memref<2x3xi32>, memref<2xi32>, memref<?xi32>, memref<?xi32>)
      outs(%kc, %vc : memref<5x2x2x8xf32>, memref<5x2x2x8xf32>)
  return
}

// A plan needs rows that belong to a sequence; it has no tables. A check that
// fails prints the element, its value and what is allowed.
// CHECK-LABEL: @plan
// CHECK: %[[COUNT:.*]] = tensor.dim
// CHECK: %[[ID:.*]] = arith.index_castui
// CHECK: %[[GOOD:.*]] = arith.cmpi ult, %[[ID]], %{{.*}} : index
// CHECK: %[[BAD:.*]] = arith.cmpi uge, %[[ID]], %{{.*}} : index
// CHECK: scf.if %[[BAD]] {
// CHECK:   vector.print str "rudnn.paged.plan: sequence_ids["
// CHECK:   vector.print %{{.*}} : index punctuation <no_punctuation>
// CHECK:   vector.print str "] is "
// CHECK:   vector.print %[[ID]] : index punctuation <no_punctuation>
// CHECK:   vector.print str ", expected "
// CHECK:   vector.print str "an id below "
// CHECK: }
// CHECK: cf.assert %[[GOOD]], "{{.*}}rudnn.paged.plan{{.*}}sequence_ids: an id is not below the number of sequences{{.*}}"
// CHECK: cf.assert %{{.*}}, "{{.*}}rudnn.paged.plan{{.*}}positions:
// CHECK: rudnn.paged.plan
func.func @plan(%l: tensor<?xi32>, %s: tensor<?xi32>, %r: tensor<8x5xi32>, %m: tensor<?x3xi32>, %c: tensor<2xi32>)
    -> (tensor<8x5xi32>, tensor<?x3xi32>, tensor<2xi32>) {
  %0:3 = rudnn.paged.plan ins(%l, %s, %s : tensor<?xi32>, tensor<?xi32>, tensor<?xi32>)
      outs(%r, %m, %c : tensor<8x5xi32>, tensor<?x3xi32>, tensor<2xi32>) -> tensor<8x5xi32>, tensor<?x3xi32>, tensor<2xi32>
  return %0#0, %0#1, %0#2 : tensor<8x5xi32>, tensor<?x3xi32>, tensor<2xi32>
}
