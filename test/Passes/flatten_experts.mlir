// RUN: rudnn-opt %s -verify-each -rudnn-flatten-experts -canonicalize -cse | FileCheck %s

// How many rows an expert has is known on the device: each row looks its expert up.
func.func @experts(%x: tensor<?x16xbf16>, %offsets: tensor<5xi32>, %gate: tensor<4x32x16xbf16>,
    %up: tensor<4x32x16xbf16>, %down: tensor<4x16x32xbf16>, %init: tensor<?x16xbf16>) -> tensor<?x16xbf16> {
  %y = rudnn.moe.experts ins(%x, %offsets : tensor<?x16xbf16>, tensor<5xi32>)
      weights(%gate, %up, %down : tensor<4x32x16xbf16>, tensor<4x32x16xbf16>, tensor<4x16x32xbf16>)
      outs(%init : tensor<?x16xbf16>) -> tensor<?x16xbf16>
  return %y : tensor<?x16xbf16>
}
// CHECK-LABEL: func.func @experts
// CHECK-SAME:  %[[X:[a-z0-9]+]]: tensor<?x16xbf16>, %[[OFFSETS:[a-z0-9]+]]: tensor<5xi32>, %[[GATE:[a-z0-9]+]]: tensor<4x32x16xbf16>
// CHECK-NOT:   scf.for
// The experts that end at or before a row; 4 for rows before the first.
// CHECK:       %[[ENDS:.*]] = tensor.extract_slice %[[OFFSETS]][1] [4] [1]
// CHECK:       linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]} ins(%[[ENDS]]
// CHECK:         arith.cmpi ule
// CHECK:       %[[EXPERT:.*]] = linalg.generic
// CHECK:         arith.select
// One sum per row and column, with the weights of the row's expert.
// CHECK:       linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction"]} ins(%[[X]], %[[EXPERT]]
// CHECK:         arith.minui
// CHECK:         tensor.extract %[[GATE]]
// CHECK:         arith.addf
// CHECK:       linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction"]}
// CHECK:         math.exp
// CHECK:       linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction"]}
// Rows without an expert are zero.
// CHECK:         arith.cmpi ult
// CHECK:         arith.truncf
