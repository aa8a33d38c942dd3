// RUN: rudnn-opt %s -transform-interpreter -canonicalize -cse -verify-each | FileCheck %s
