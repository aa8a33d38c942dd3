// Kernels of the portable schedules (sm_80 and later) in the emulator against the CPU path: copies in order, then
// late in an order drawn from the seed. Tails of rows and keys, head dims that are no whole panel.
// DEFINE: %{run} = rudnn-run %s --compare=cpu --rtol=2e-2 --atol=2e-2
// RUN: %{run} --entry=causal --target=emulate:sm_80 --arg=0:normal:1 --arg=1:normal:2 --arg=2:normal:3
// RUN: %{run} --entry=causal --target=emulate:sm_80:1 --arg=0:normal:1 --arg=1:normal:2 --arg=2:normal:3
// RUN: %{run} --entry=causal --target=emulate:sm_80:4 --arg=0:normal:1 --arg=1:normal:2 --arg=2:normal:3
// RUN: %{run} --entry=options --target=emulate:sm_86 --arg=0:normal:1@2x4x100x64 --arg=1:normal:2@2x2x260x64 --arg=2:normal:3@2x2x260x64 --arg=3:normal:4
// RUN: %{run} --entry=options --target=emulate:sm_86:2 --arg=0:normal:1@2x4x100x64 --arg=1:normal:2@2x2x260x64 --arg=2:normal:3@2x2x260x64 --arg=3:normal:4
// RUN: %{run} --entry=wide --target=emulate:sm_89 --arg=0:normal:1 --arg=1:normal:2 --arg=2:normal:3 --arg=3:randint:4:0:2 --arg=4:normal:5
// RUN: %{run} --entry=wide --target=emulate:sm_89:3 --arg=0:normal:1 --arg=1:normal:2 --arg=2:normal:3 --arg=3:randint:4:0:2 --arg=4:normal:5
// RUN: %{run} --entry=rows --target=emulate:sm_80 --arg=0:normal:1@5x1000 --arg=1:normal:2

func.func @causal(%q: tensor<1x2x130x80xbf16>, %k: tensor<1x1x200x80xbf16>, %v: tensor<1x1x200x72xbf16>) -> (tensor<1x2x130x72xbf16>, tensor<1x2x130xf32>) {
  %i = tensor.empty() : tensor<1x2x130x72xbf16>
  %l = tensor.empty() : tensor<1x2x130xf32>
  %o:2 = rudnn.attention ins(%q, %k, %v : tensor<1x2x130x80xbf16>, tensor<1x1x200x80xbf16>, tensor<1x1x200x72xbf16>)
      outs(%i, %l : tensor<1x2x130x72xbf16>, tensor<1x2x130xf32>) {causal = #rudnn.causal<bottom_right>} -> tensor<1x2x130x72xbf16>, tensor<1x2x130xf32>
  return %o#0, %o#1 : tensor<1x2x130x72xbf16>, tensor<1x2x130xf32>
}

!t = tensor<?x4x?x64xf16>
!s = tensor<?x2x?x64xf16>
func.func @options(%q: !t, %k: !s, %v: !s, %sinks: tensor<4xf32>) -> !t {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %b = tensor.dim %q, %c0 : !t
  %n = tensor.dim %q, %c2 : !t
  %i = tensor.empty(%b, %n) : !t
  %o = rudnn.attention ins(%q, %k, %v : !t, !s, !s) sinks(%sinks : tensor<4xf32>) outs(%i : !t)
      {causal = #rudnn.causal<bottom_right>, window_left = 150 : i64, softcap = 5.0 : f64} -> !t
  return %o : !t
}

!w = tensor<1x1x40x256xbf16>
!x = tensor<1x1x70x256xbf16>
func.func @wide(%q: !w, %k: !x, %v: !x, %mask: tensor<1x1x40x70xi1>, %bias: tensor<1x1x1x70xf32>) -> !w {
  %i = tensor.empty() : !w
  %o = rudnn.attention ins(%q, %k, %v : !w, !x, !x) mask(%mask : tensor<1x1x40x70xi1>) bias(%bias : tensor<1x1x1x70xf32>)
      outs(%i : !w) -> !w
  return %o : !w
}

func.func @rows(%x: tensor<?x1000xbf16>, %g: tensor<1000xf32>) -> tensor<?x1000xbf16> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x1000xbf16>
  %i = tensor.empty(%n) : tensor<?x1000xbf16>
  %a = rudnn.rms_norm ins(%x, %g : tensor<?x1000xbf16>, tensor<1000xf32>) outs(%i : tensor<?x1000xbf16>) -> tensor<?x1000xbf16>
  %b = rudnn.softmax ins(%a : tensor<?x1000xbf16>) outs(%i : tensor<?x1000xbf16>) -> tensor<?x1000xbf16>
  return %b : tensor<?x1000xbf16>
}
