#!/bin/sh
# From a bare checkout to a picture: installs what is missing, builds, and runs the lid-driven cavity
# on two ranks for about a minute.
#   scripts/quickstart.sh [OPTIONS OF tagflow run]      for example --set run.steps=20000
set -eu
case " $* " in *" --help "* | *" -h "*) exec sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" ;; esac
cd -- "$(dirname -- "$0")/.."
. scripts/environment.sh

scripts/setup.sh run
if [ ! -f build/build.ninja ]; then
    # Kernels for this processor alone, and for a GPU if there is one: the others take minutes.
    cuda=auto
    if command -v nvcc >/dev/null && ! nvidia-smi -L 2>/dev/null | grep -q GPU; then
        cuda=disabled
        echo "quickstart: no GPU here, so CUDA is left out (to build it: meson configure build -Dcuda=enabled && ninja -C build)"
    fi
    meson setup build --buildtype=release -Dtests=false -Disas=auto -Dcuda=$cuda
fi
ninja -C build
mpi_run 2 build/tagflow run configs/cavity.yaml --output runs/cavity --overwrite "$@"

picture=
for picture in runs/cavity/images/*.png; do :; done # the last one
if [ ! -f "$picture" ]; then
    echo "quickstart: the run left no picture in runs/cavity/images" >&2
    exit 1
fi
echo "The flow in the cavity: $PWD/$picture"
