#!/bin/sh
# Shows that a change changes nothing: records what a build says and computes of all cases of configs/, or compares with what
# another build said.
#   scripts/golden.sh record FOLDER [BUILD [cpu]]   writes FOLDER by the programs in BUILD (build-test, with all tests built)
#   scripts/golden.sh compare FOLDER [BUILD [cpu]]  says what differs from FOLDER; exit status 1: something
# cpu: without the stand-in for a GPU, which takes most of the time.
# tests/golden.py lists what it records.
set -eu
case "${1:-}" in record | compare) ;; *) exec sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" ;; esac
root=$(cd -- "$(dirname -- "$0")/.." && pwd)
. "$root/scripts/environment.sh"
folder=${2:?a folder is missing}
build=${3:-$root/build-test}
export LD_PRELOAD="$build/tests/yield.so" OMPI_MCA_mpi_yield_when_idle=1
if [ "$1" = record ]; then
    exec /usr/bin/python3 "$root/tests/golden.py" "$build" "$folder" ${4:+cpu}
fi
now=$(mktemp -d)
trap 'rm -rf "$now"' EXIT
/usr/bin/python3 "$root/tests/golden.py" "$build" "$now/golden" ${4:+cpu}
LD_PRELOAD='' diff -r "$folder" "$now/golden"
