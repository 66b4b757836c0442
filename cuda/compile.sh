#!/bin/sh
# compile.sh REPORT PTX COMMAND...: runs nvcc and writes its assembler's report, registers and
# spills of each kernel, to REPORT, and the PTX for the last architecture of COMMAND to PTX. Shows
# all other messages; if the compiler fails, everything.
set -eu
report=$1 ptx=$2
shift 2
kept=$ptx.kept
rm -rf "$kept"
mkdir "$kept"
trap 'rm -rf "$kept"' EXIT
if "$@" --keep --keep-dir "$kept" 2>"$report"; then
    # kernels.ptx; for several architectures kernels.compute_<number>.ptx.
    mv "$(find "$kept" -name '*.ptx' | sort -V | tail -n 1)" "$ptx"
    grep -v '^ptxas info\|^ *[0-9]* bytes \|^$' "$report" >&2 || true
    exit 0
fi
cat "$report" >&2
exit 1
