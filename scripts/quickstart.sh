#!/bin/sh
# From a bare checkout to a picture: installs what is missing, builds, and runs a vortex street behind a
# rod on two ranks. Two cores take about three minutes, most of them to build; the run takes about 10 s.
#   scripts/quickstart.sh [OPTIONS OF tagflow run]      for example --set run.steps=20000
set -eu
case " $* " in *" --help "* | *" -h "*) exec sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" ;; esac
cd -- "$(dirname -- "$0")/.."
. scripts/environment.sh
log=build/quickstart.log

# Runs a command whose output goes to the log, unless this is a terminal on which it draws progress.
quiet() {
    if [ "$1" = ninja ] && [ -t 1 ]; then
        "$@"
    elif ! "$@" >>$log 2>&1; then
        tail -n 20 $log >&2
        echo "quickstart: $1 failed; $PWD/$log has all that it said" >&2
        exit 1
    fi
}

# Tells how long a part took.
took() {
    now=$(date +%s)
    echo "  took $((now - begin)) s"
    begin=$now
}

begin=$(date +%s)
echo "quickstart 1 of 3: packages"
scripts/setup.sh run
took

cores=$(env -u OMP_NUM_THREADS nproc 2>/dev/null || echo 2)
echo "quickstart 2 of 3: build, about $((300 / cores + 10)) s the first time, on $cores core(s)"
mkdir -p build
: >$log
if [ ! -f build/build.ninja ]; then
    # Kernels for this processor alone, and for a GPU if there is one: the others take minutes.
    cuda=auto
    if command -v nvcc >/dev/null && ! nvidia-smi -L 2>/dev/null | grep -q GPU; then
        cuda=disabled
        echo "  no GPU here, so CUDA is left out (to build it: meson configure build -Dcuda=enabled && ninja -C build)"
    fi
    quiet meson setup build --buildtype=release -Dtests=false -Disas=auto -Dcuda=$cuda
fi
quiet ninja -C build
took

echo "quickstart 3 of 3: run, a vortex street behind a rod at Re 120 on 2 ranks, about 10 s"
status=0
mpi_run 2 build/tagflow run configs/street.yaml --output runs/street --overwrite "$@" >$log || status=$?
if [ $status -ne 0 ]; then
    exit $status # the program said why
fi
sed -n 's/^done: /  /p' $log
took

picture=
for picture in runs/street/images/vorticity_*.png; do :; done # the last one
if [ ! -f "$picture" ]; then
    echo "quickstart: the run left no picture in runs/street/images" >&2
    exit 1
fi
echo "The vortices behind the rod: $PWD/$picture"
