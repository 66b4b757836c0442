#!/bin/sh
# compile.sh REPORT COMMAND...: runs hipcc and writes its remarks, the registers and scratch memory of
# each kernel, to REPORT. Shows all other messages; if the compiler fails, everything.
set -eu
report=$1
shift
all=$report.all
if "$@" 2>"$all"; then
    grep 'remark:' "$all" >"$report" || true
    grep -E 'warning:|error:' "$all" >&2 || true
    rm -f "$all"
    exit 0
fi
cat "$all" >&2
exit 1
