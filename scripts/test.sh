#!/bin/sh
# Installs what is missing, builds, and runs all tests: on a release build, then those of suites unit
# and parallel on a build without optimisation under the address and undefined-behaviour sanitizers.
# The last line counts them; the exit status is not 0 when one failed. Arguments go to `meson test`,
# for example --suite unit, and then the release build alone is tested.
#
# --long, the first argument, adds what is slow by nature (CONTRIBUTING.md lists it) and compiles the CUDA kernels for
# all architectures, not for one.
#
# --systems [FOLDER] [NAME...] builds and tries tagflow on other Debians, with other MPIs and compilers instead, in chroots
# (scripts/systems/all --help).
set -eu
case " $* " in *" --help "* | *" -h "*) exec sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" ;; esac
cd -- "$(dirname -- "$0")/.."
. scripts/environment.sh

[ "${1:-}" != --systems ] || {
    shift
    exec scripts/systems/all "$@"
}
archs=90
chosen='--no-suite long'
if [ "${1:-}" = --long ]; then
    shift
    archs=auto
    chosen=
    export TAGFLOW_LONG=1
fi

scripts/setup.sh test
[ -f build-test/build.ninja ] || meson setup build-test -Dwerror=true -Dgpu_compress=balance
meson configure build-test -Dgpu_archs="$archs"
ninja -C build-test

# Open MPI keeps its sockets in here, and removes the folder when it is empty: two programs of which one
# starts while the other ends can fail over it. So it is never empty.
for host in "$(uname -n)" "$(uname -n | cut -d. -f1)"; do
    mkdir -p "${TMPDIR:-/tmp}/ompi.$host.$(id -u)/kept"
done
trap 'rmdir "${TMPDIR:-/tmp}/ompi.$(uname -n).$(id -u)/kept" "${TMPDIR:-/tmp}/ompi.$(uname -n | cut -d. -f1).$(id -u)/kept" 2>/dev/null || true' EXIT

# Half as many more tests at a time as there are cores: many wait, for a disk or for other ranks.
# nproc alone would say OMP_NUM_THREADS, which is 1 here.
cores=$(env -u OMP_NUM_THREADS -u OMP_THREAD_LIMIT nproc)
processes=$((cores + (cores + 1) / 2))
failed=0
rm -f build-test/meson-logs/testlog.json build-test/meson-logs/waits.json build-sanitize/meson-logs/testlog.json
# tests FOLDER OPTIONS...: no signal is ignored in the tests, even if this script was started so, as by nohup.
tests() {
    folder=$1
    shift
    env --default-signal meson test -C "$folder" --num-processes "$processes" --no-rebuild --print-errorlogs "$@" </dev/null
}

if [ $# = 0 ]; then
    # Tests that mostly wait run while this is built.
    # shellcheck disable=SC2086 # one word or two
    tests build-test --logbase waits $chosen --suite waits &
    waiting=$!
    chosen="$chosen --no-suite waits"
    # Loops for the widest vectors of this processor and for the narrowest ones: what they address depends on the width alone.
    best=$(build-test/tagflow info | sed -n 's/.*; this processor has \([a-z0-9]*\).*/\1/p')
    [ -f build-sanitize/build.ninja ] ||
        meson setup build-sanitize --buildtype=debug -Dcuda=disabled -Db_sanitize=address,undefined \
            -Db_lundef=false -Disas="$best"
    nice ninja -C build-sanitize || {
        wait
        exit 1
    }
    export TAGFLOW_O0="$PWD/build-sanitize/tagflow"
    export ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0 # as in tests/meson.build
fi

# shellcheck disable=SC2086 # several words
tests build-test $chosen "$@" || failed=$?
if [ $# = 0 ]; then
    # shellcheck disable=SC2086
    tests build-sanitize -t 2 $chosen --suite unit --suite parallel || failed=$?
    wait "$waiting" || failed=$?
fi

/usr/bin/python3 - build-test/meson-logs/testlog.json build-test/meson-logs/waits.json build-sanitize/meson-logs/testlog.json <<'END' || failed=1
import json, os, sys

tests = [json.loads(line) for log in sys.argv[1:] if os.path.exists(log) for line in open(log)]
passed = sum(test["result"] in ("OK", "EXPECTEDFAIL") for test in tests)
skipped = sum(test["result"] == "SKIP" for test in tests)
failed = len(tests) - passed - skipped
for test in tests:  # once more, at the end of a long output
    for line in (test.get("stdout") or "").splitlines():
        if line.startswith("note: "):
            print(f"{test['name']}: {line[:2000]}")
    if test["result"] not in ("OK", "EXPECTEDFAIL", "SKIP"):
        lines = (test.get("stdout") or "").splitlines() + (test.get("stderr") or "").splitlines()
        told = [line for line in lines if line.startswith("FAIL") or "Error" in line[:40]] or lines[-3:]
        print(f"failed: {test['name']}: {test['result']}", *(f"    {line[:2000]}" for line in told[:10]), sep="\n")
print(f"{passed} passed, {failed} failed, {skipped} skipped")
sys.exit(failed > 0 or passed == 0)
END
exit "$failed"
