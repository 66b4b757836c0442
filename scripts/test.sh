#!/bin/sh
# Installs what is missing, builds, and runs tests. The last line counts them; the exit status is not 0 when one failed.
#
#   scripts/test.sh                  every promise of the README once, on a build like quickstart's: ten minutes on two cores
#   scripts/test.sh --changed [REV]  what the files that changed since REV (default: HEAD) can break; builds this alone
#   scripts/test.sh --all            everything, as CI runs it: all instruction sets, the CUDA backend on a stand-in and its PTX,
#                                    sanitizers, Slurm, several hosts, fuzz, the site
#   scripts/test.sh --long           --all, and what is slow by nature (CONTRIBUTING.md lists it), with the CUDA kernels
#                                    for all architectures, not for one
#   scripts/test.sh --systems [FOLDER] [NAME...]  builds and tries tagflow on other Debians, with other MPIs and compilers, in
#                                    chroots (scripts/systems/all --help)
#
# tests/choose.py has the tables of the first two. Arguments after --all or --long go to `meson test`, for example --suite unit,
# and then the release build alone is tested.
set -eu
case " $* " in *" --help "* | *" -h "*) exec sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" ;; esac
cd -- "$(dirname -- "$0")/.."
. scripts/environment.sh

what=${1:---short}
[ $# = 0 ] || shift
case $what in
--systems) exec scripts/systems/all "$@" ;;
--short)
    folder=build-test
    export TAGFLOW_SHORT=1
    scripts/setup.sh test
    [ -f $folder/build.ninja ] || meson setup $folder -Dwerror=true -Dcuda=disabled -Disas=auto
    ;;
--changed)
    folder=build-changed
    # A changed test runs whole.
    git diff --quiet "${1:-HEAD}" -- tests && export TAGFLOW_SHORT=1
    scripts/setup.sh test
    # Most of its tests are in fp32 and fp16.
    [ -f $folder/build.ninja ] || meson setup $folder -Dwerror=true -Dcuda=disabled -Disas=auto -Dunoptimised=64,32_64
    ;;
--all | --long)
    folder=build-all
    archs=90
    chosen='--no-suite long'
    if [ "$what" = --long ]; then
        archs=auto
        chosen=
        export TAGFLOW_LONG=1
    fi
    scripts/setup.sh all
    [ -f $folder/build.ninja ] || meson setup $folder -Dwerror=true -Dgpu_compress=balance
    meson configure $folder -Dgpu_archs="$archs"
    ;;
*)
    echo "test: $what is none of --changed, --all, --long, --systems (scripts/test.sh --help)" >&2
    exit 2
    ;;
esac

# Open MPI keeps its sockets in here, and removes the folder when it is empty: two programs of which one
# starts while the other ends can fail over it. So it is never empty.
for host in "$(uname -n)" "$(uname -n | cut -d. -f1)"; do
    mkdir -p "${TMPDIR:-/tmp}/ompi.$host.$(id -u)/kept"
done
trap 'rmdir "${TMPDIR:-/tmp}/ompi.$(uname -n).$(id -u)/kept" "${TMPDIR:-/tmp}/ompi.$(uname -n | cut -d. -f1).$(id -u)/kept" 2>/dev/null || true' EXIT

# Twice as many tests at a time as there are cores: most wait, for starts of MPI, for a disk or for other ranks.
# nproc alone would say OMP_NUM_THREADS, which is 1 here.
cores=$(env -u OMP_NUM_THREADS -u OMP_THREAD_LIMIT nproc)
processes=$((2 * cores))
failed=0
how=
rm -f $folder/meson-logs/testlog.json $folder/meson-logs/waits.json build-sanitize/meson-logs/testlog.json
# What is to have no more of the cores than others leave begins with this.
idly='nice -n 19'
# tests FOLDER OPTIONS...: no signal is ignored in the tests, even if this script was started so, as by nohup.
tests() {
    where=$1
    shift
    $how env --default-signal meson test -C "$where" --num-processes "$processes" --print-errorlogs "$@" </dev/null
}

# Tests that a table names. The first line is what all of them use, the rest is built by `meson test`.
named() {
    ninja -C $folder tagflow tagflow-bench src/lib/libtagflow.so.1 src/cli/tagflow.1 tests/several tests/yield.so
    tests $folder "$@" || failed=$?
}

everything() {
    # shellcheck disable=SC2046 # two words
    ninja -C $folder $([ "$what" = --all ] || echo all meson-test-prereq) # some tests of suite long are not built with the rest
    # Does every object wait for the generated headers that it includes?
    ninja -C $folder -t missingdeps || failed=1
    if [ $# = 0 ]; then
        # Tests that wait, and those that others would disturb, run while this is built and tested, which then has the rest of the cores.
        # shellcheck disable=SC2086 # one word or two
        tests $folder --no-rebuild --logbase waits $chosen --suite waits --suite alone &
        waiting=$!
        # Loops for the widest vectors of this processor and for the narrowest ones: what they address depends on the width alone.
        [ -f build-sanitize/build.ninja ] ||
            meson setup build-sanitize --buildtype=debug -Dcuda=disabled -Db_sanitize=address,undefined \
                -Db_lundef=false -Disas=auto
        $idly ninja -C build-sanitize || {
            wait
            exit 1
        }
        how=$idly
        # shellcheck disable=SC2086
        tests build-sanitize --no-rebuild -t 3 $chosen --suite unit --suite parallel || failed=$?
        how=
        wait "$waiting" || failed=$?
        chosen="$chosen --no-suite waits --no-suite alone"
        export TAGFLOW_O0="$PWD/build-sanitize/tagflow"
        export ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0 # as in tests/meson.build
    fi
    # shellcheck disable=SC2086 # several words
    tests $folder --no-rebuild $chosen "$@" || failed=$?
}

case $what in
--short) names=$(tests/choose.py short $folder) ;;
--changed) names=$(tests/choose.py changed "${1:-HEAD}" $folder) ;;
*)
    names=
    everything "$@"
    ;;
esac
if [ "$what" = --changed ] && [ -z "$names" ]; then
    echo "test: no test for what changed since ${1:-HEAD}"
    exit 0
fi
# shellcheck disable=SC2086 # names of tests
[ -z "$names" ] || named $names

/usr/bin/python3 - $folder/meson-logs/testlog.json $folder/meson-logs/waits.json build-sanitize/meson-logs/testlog.json <<'END' || failed=1
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
