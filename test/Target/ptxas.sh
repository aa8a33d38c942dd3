#!/usr/bin/env bash
# ptxas.sh PTXAS FILE.mlir: the gate every kernel passes. FILE is the output of
# rudnn-kernels-to-nvvm{format=isa} on stdin of this script when FILE is "-". Assembles each
# PTX text with ptxas -v and fails on C7508 and C7510-C7518 (ignored setmaxnreg, serialized
# wgmma), on any spill and on a stack frame. Prints one line per kernel.
set -euo pipefail
ptxas=$1 input=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
/usr/bin/python3 - "$input" "$work" <<'PY'
import re, sys
source, work = sys.argv[1:3]
text = open(source).read()
found = re.findall(r'assembly = "((?:[^"\\]|\\.)*)"', text)
if not found:
    sys.exit("ptxas.sh: no PTX in " + source)
def unescape(match):
    code = match.group(1)
    return {"n": "\n", "t": "\t", '"': '"', "\\": "\\"}.get(code) or chr(int(code, 16))
for i, ptx in enumerate(found):
    ptx = re.sub(r'\\([nt"\\]|[0-9A-Fa-f]{2})', unescape, ptx).rstrip("\0")
    open(f"{work}/{i}.ptx", "w").write(ptx)
PY
status=0
for ptx in "$work"/*.ptx; do
  chip=$(awk '/^\.target/ {sub(",", "", $2); print $2; exit}' "$ptx")
  log=$("$ptxas" -arch="$chip" -v "$ptx" -o "$work/out.cubin" 2>&1) || { echo "$log"; exit 1; }
  echo "$log" | awk '/Compiling entry function/ {k=$7} /stack frame/ {s=$0} /Used/ {print "kernel " k ":" s "; " $0}'
  if echo "$log" | grep -E 'C7508|C751[0-8]'; then status=1; fi
  if echo "$log" | grep -E '[1-9][0-9]* bytes (stack frame|spill)'; then status=1; fi
done
exit $status
