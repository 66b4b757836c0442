#!/bin/sh
# From a bare checkout to a picture: installs what is missing, builds, and runs the lid-driven cavity
# on two ranks for about a minute.
#   scripts/quickstart.sh [OPTIONS OF tagflow run]      for example --set run.steps=20000
set -eu
case " $* " in *" --help "* | *" -h "*) exec sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" ;; esac
cd -- "$(dirname -- "$0")/.."
. scripts/environment.sh

scripts/setup.sh run
[ -f build/build.ninja ] || meson setup build --buildtype=release -Dtests=false
ninja -C build
mpi_run 2 build/tagflow run configs/cavity.yaml --output runs/cavity --overwrite "$@"

picture=
for picture in runs/cavity/images/*.png; do :; done # the last one
if [ ! -f "$picture" ]; then
    echo "quickstart: the run left no picture in runs/cavity/images" >&2
    exit 1
fi
echo "The flow in the cavity: $PWD/$picture"
