#!/bin/sh
# compile.sh REPORT COMMAND...: a compiler whose assembler reports registers and spills of each
# kernel: into REPORT; what else it says, and everything when it fails, is shown.
report=$1
shift
if "$@" 2>"$report"; then
    grep -v '^ptxas info\|^ *[0-9]* bytes \|^$' "$report" >&2
    exit 0
fi
cat "$report" >&2
exit 1
