#!/bin/sh
# Fuzzes with libFuzzer under the address and undefined-behaviour sanitizers, with clang and without
# Meson. Each target starts from its seeds; 0: nothing found, 1: a finding (the input that shows it
# lies in BUILD/findings; `BUILD/TARGET FILE` repeats it), 77: no clang with libFuzzer here.
#
#   tests/fuzz/run.sh [-b BUILD] [-r RUNS | -s SECONDS] [TARGET...]
#       RUNS inputs a target (20000), the same ones every time; or SECONDS a target of random ones,
#       where inputs worth keeping stay in BUILD/corpus/TARGET
#   tests/fuzz/run.sh -c [-b BUILD] [TARGET...]
#       lines that the seeds and BUILD/corpus reach (llvm-cov), with nothing fuzzed
#
# A target is a file here and a row in the functions below; what they share is fuzz.h. The seeds were
# written by hand. Inputs of `set` and `memory` may begin with lines `--set PATH=VALUE`.
# shellcheck disable=SC2046,SC2086,SC2089,SC2090 # lists of words are meant
set -eu
from=$PWD
cd -- "$(dirname -- "$0")/../.."

# Target and what it is made of: `case_sources`, folders of seeds, libraries.
targets='case set memory words seal stl voxels tiff facts machine series files'
voxel_sources='src/base/agree.c src/base/signals.c src/body/voxel_file.c src/body/voxel_hdf5.c src/body/voxel_npy.c src/body/voxel_stack.c src/body/voxel_tiff.c
    src/foreign/child.c src/foreign/hdf5.c src/foreign/hdf5_serve.c'
body_sources='src/body/voxel_survey.c src/body/voxels.c'
body_shown="src/body/stl.c src/body/lines.c src/body/mesh.c src/body/mesh_cap.c src/body/mesh_look.c src/body/mesh_sheets.c src/body/mesh_shells.c src/body/mesh_turn.c $voxel_sources $body_sources"
case_sources='src/body/images.c src/base/array.c src/base/sets.c src/base/isa.c src/base/launcher.c src/base/message.c src/base/precision.c src/base/file.c src/base/text.c src/body/lines.c src/body/mesh.c src/body/mesh_cap.c
    src/body/mesh_look.c src/body/mesh_sheets.c src/body/mesh_shells.c src/body/mesh_turn.c src/body/shape.c src/body/stl.c src/body/turn.c src/case/*.c tests/fuzz/fuzz.c'
advice_sources='src/advice/bare.c src/advice/case.c src/advice/earlier.c src/advice/faces.c src/advice/law.c src/advice/operator.c src/advice/pumps.c src/advice/resist.c
    src/advice/remedy.c src/advice/samples.c src/advice/scalars.c src/advice/signals.c src/advice/speed.c src/advice/outputs.c
    src/advice/storage.c src/advice/tau.c src/advice/wakes.c'
wrapped=-Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=strdup,--wrap=open_memstream,--wrap=newlocale
sources_of() {
    case $1 in
    case) echo $advice_sources $case_sources "tests/fuzz/$1.c" ;;
    seal) echo src/io/seal.c $case_sources "tests/fuzz/$1.c" ;;
    voxels) echo $voxel_sources $body_sources $case_sources "tests/fuzz/$1.c" ;;
    tiff) echo $voxel_sources $case_sources "tests/fuzz/$1.c" ;;
    files) echo src/tags/inputs.c $voxel_sources $body_sources $case_sources "tests/fuzz/$1.c" ;;
    machine) echo src/predict/cluster.c $case_sources "tests/fuzz/$1.c" ;;
    series) echo src/io/series.c src/io/series_cut.c $case_sources "tests/fuzz/$1.c" ;;
    *) echo $case_sources "tests/fuzz/$1.c" ;;
    esac
}
seeds_of() {
    case $1 in
    case) echo configs tests/fuzz/seeds/case ;;
    set) echo tests/fuzz/seeds/set ;;
    memory) echo configs tests/fuzz/seeds/case tests/fuzz/seeds/set ;;
    words) echo tests/fuzz/seeds/words ;;
    seal) echo tests/fuzz/seeds/seal ;;
    voxels) echo tests/fuzz/seeds/voxels ;;
    tiff) echo tests/fuzz/seeds/tiff ;;
    stl) echo tests/fuzz/seeds/stl ;;
    facts | machine | series | files) echo "tests/fuzz/seeds/$1" ;;
    esac
}
libraries_of() {
    case $1 in
    memory) echo "$wrapped -l:libyaml.a -lm" ;; # static: its allocations fail too
    voxels) echo "-Wl,--wrap=child_start $(pkg-config --libs hdf5-openmpi ompi-c libtiff-4) -lyaml -lm" ;;
    files) echo $(pkg-config --libs hdf5-openmpi ompi-c libtiff-4 libpng) -lyaml -lm ;;
    tiff) echo $(pkg-config --libs hdf5-openmpi ompi-c libtiff-4) -lyaml -lm ;;
    *) echo -lyaml -lm ;;
    esac
}

fail() {
    echo "fuzz: $*" >&2
    exit 2
}

build='' mode=fuzz limit=-runs=20000 seed=-seed=1
while getopts b:r:s:c option; do
    case $option in
    b) build=$OPTARG ;;
    r) limit=-runs=$OPTARG ;;
    s) limit=-max_total_time=$OPTARG seed='' ;;
    c) mode=coverage ;;
    *) fail "usage: tests/fuzz/run.sh [-b BUILD] [-r RUNS | -s SECONDS | -c] [TARGET...]" ;;
    esac
done
shift $((OPTIND - 1))
for target; do
    case " $targets " in
    *" $target "*) ;;
    *) fail "no target $target (known: $targets)" ;;
    esac
done
[ $# = 0 ] || targets=$*

clang=${CLANG:-clang}
if [ -z "$build" ]; then
    build=$(mktemp -d)
    trap 'rm -rf "$build"' EXIT
fi
case $build in
/*) ;;
*) build=$from/$build ;;
esac
mkdir -p "$build/object" "$build/corpus" "$build/findings"
echo 'X(generic)' >"$build/cpu_isas.h" # Meson's list of instruction sets
checks=address,undefined,float-cast-overflow,local-bounds
options="-std=gnu11 -g -O2 -fno-omit-frame-pointer -D_GNU_SOURCE -Iinclude -Isrc -Itests/fuzz
    -I$build -DTAGFLOW_ARCHITECTURE=\"any\" -DVOXEL_TIFF_BYTES=0x100000 $(pkg-config --cflags hdf5-openmpi ompi-c libtiff-4)
    -ffp-contract=off -Wall -Wextra -Wno-overlength-strings -Werror"
echo 'int LLVMFuzzerTestOneInput(const char *d, unsigned long n) { return d && n ? 0 : 0; }' >"$build/probe.c"
if ! "$clang" -fsanitize=fuzzer,$checks "$build/probe.c" -o "$build/probe" 2>"$build/probe.log"; then
    echo "fuzz: skipped, no clang with libFuzzer (on Debian: clang and libclang-rt-14-dev)"
    exit 77
fi
if [ $mode = coverage ]; then
    instrument="-fsanitize=fuzzer-no-link -fprofile-instr-generate -fcoverage-mapping"
    link="-fsanitize=fuzzer -fprofile-instr-generate"
    suffix=.coverage
else
    instrument="-fsanitize=fuzzer-no-link,$checks -fno-sanitize-recover=all"
    link="-fsanitize=fuzzer,$checks"
    suffix=
fi

# Objects that are older than a source or a header are made again.
newest=$(find include src/advice src/base src/body src/case src/foreign src/io src/predict src/tags tests/fuzz -name '*.[ch]' -newer "$build/stamp$suffix" 2>/dev/null ||
    echo all)
if [ -n "$newest" ] || [ ! -e "$build/stamp$suffix" ]; then
    rm -f "$build/object/"*"$suffix.o"
    touch "$build/stamp$suffix"
fi
object() {
    object=$build/object/$(echo "$1" | tr / _)$suffix.o
    [ -e "$object" ] || "$clang" $options $instrument -c "$1" -o "$object"
}
for target in $targets; do
    objects=
    for source in $(sources_of "$target"); do
        object "$source"
        objects="$objects $object"
    done
    "$clang" $link $objects $(libraries_of "$target") -o "$build/$target$suffix"
done
# The functions by which the table's keys are written are not called.
"$clang" $options -no-pie -Wl,--unresolved-symbols=ignore-all tests/fuzz/dictionary.c src/case/key_table.c src/case/keys.c \
    -lm -o "$build/dictionary"
"$build/dictionary" >"$build/words.dict"

if [ $mode = coverage ]; then
    # one process an input would be slow: -runs=0 only reads the folders
    objects=
    for target in $targets; do
        mkdir -p "$build/corpus/$target"
        LLVM_PROFILE_FILE="$build/$target.profraw" "$build/$target.coverage" -runs=0 \
            "$build/corpus/$target" $(seeds_of "$target") 2>"$build/$target.log" ||
            fail "$target: see $build/$target.log"
        objects="$objects ${objects:+-object }$build/$target.coverage"
    done
    profiles=$(for target in $targets; do echo "$build/$target.profraw"; done)
    "${LLVM_PROFDATA:-llvm-profdata}" merge -o "$build/profile" $profiles
    "${LLVM_COV:-llvm-cov}" report $objects -instr-profile="$build/profile" -show-region-summary=false \
        -show-branch-summary=false $body_shown src/case src/io/seal.c src/io/series_cut.c src/predict/cluster.c src/tags/inputs.c
    "${LLVM_COV:-llvm-cov}" show $objects -instr-profile="$build/profile" $body_shown src/case \
        src/io/seal.c src/io/series_cut.c src/predict/cluster.c src/tags/inputs.c >"$build/coverage.txt"
    echo "fuzz: line by line in $build/coverage.txt"
    exit 0
fi

failed=0
for target in $targets; do
    corpus=$build/corpus/$target
    seeds=$(seeds_of "$target")
    fresh=
    if [ -n "$seed" ]; then # repeatable: nothing from earlier runs
        fresh=$(mktemp -d)
        corpus=$fresh
    fi
    mkdir -p "$corpus"
    status=0
    # 4 KiB are enough for all but the limits on size; 60 s an input is a hang, on a busy machine too.
    few=$limit
    case $target$limit in
    voxels-runs=*) few=-runs=$((${limit#-runs=} / 4)) ;; # starts a process for every HDF5 file
    esac
    "$build/$target" $few $seed -timeout=60 -rss_limit_mb=1024 -max_len=4096 -print_final_stats=1 \
        -dict="$build/words.dict" -artifact_prefix="$build/findings/$target-" "$corpus" $seeds \
        >"$build/$target.log" 2>&1 || status=$?
    [ -z "$fresh" ] || rm -rf "$fresh"
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$build/$target.log")
    if [ $status != 0 ]; then
        failed=1
        grep -v '^#[0-9]' "$build/$target.log" | tail -n 60 >&2
        echo "fuzz: $target: FOUND SOMETHING after ${runs:-?} runs" >&2
    else
        echo "fuzz: $target: $runs runs, nothing found"
    fi
done
[ $failed = 0 ] || trap - EXIT # the findings stay
exit $failed
