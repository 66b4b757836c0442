#!/bin/sh
# compile.sh REPORT COMMAND...: runs a compiler and writes its assembler's report, registers and
# spills of each kernel, to REPORT. Shows all other messages; if the compiler fails, everything.
report=$1
shift
if "$@" 2>"$report"; then
    grep -v '^ptxas info\|^ *[0-9]* bytes \|^$' "$report" >&2
    exit 0
fi
cat "$report" >&2
exit 1
