#!/bin/sh
# Installs the Debian packages that tagflow needs and this machine lacks:
#   scripts/setup.sh run         to build it and run cases (the default)
#   scripts/setup.sh scripts     to use its Python scripts as well
#   scripts/setup.sh test        to build it and run scripts/test.sh
#   scripts/setup.sh all         to run scripts/test.sh --all
#   scripts/setup.sh packages    to make packages with scripts/packages.sh
#   scripts/setup.sh ... mpich   the same with MPICH in place of Open MPI
# The CUDA toolkit is never installed; the build finds it where there is one.
set -eu
case " $* " in *" --help "* | *" -h "*) exec sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" ;; esac

run='meson ninja-build gcc g++ pkg-config libc6-dev openmpi-bin libopenmpi-dev
    libhdf5-openmpi-dev libyaml-dev libpng-dev libtiff-dev libjansson-dev libxxhash-dev'
packages='git xz-utils mmdebstrap buildah'
scripts='python3-numpy python3-h5py python3-matplotlib'
test='libcmocka-dev python3-numpy python3-h5py python3-xxhash'
all='python3-vtk9 valgrind elfutils
    xvfb xauth libgl1-mesa-dri clang libclang-rt-dev slurm-wlm munge libpmix-dev
    mkdocs mkdocs-material'

case ${1:-run} in
run) wanted=$run ;;
scripts) wanted="$run $scripts" ;;
test) wanted="$run $test" ;;
all) wanted="$run $scripts $test $all" ;;
packages) wanted="$run $packages" ;;
*)
    echo "usage: $0 [run|scripts|test|all|packages] [openmpi|mpich]" >&2
    exit 2
    ;;
esac
case ${2:-openmpi} in
openmpi) ;;
mpich) wanted=$(echo "$wanted" | sed 's/openmpi-bin libopenmpi-dev/mpich libmpich-dev/; s/libhdf5-openmpi-dev/libhdf5-mpich-dev/') ;;
*)
    echo "setup: unknown MPI '$2' (openmpi or mpich)" >&2
    exit 2
    ;;
esac

if ! command -v dpkg-query >/dev/null; then
    echo "setup: not a Debian system; see that it has what these packages hold:" $wanted >&2
    exit 0
fi

# Debian 11 and older have a Meson and a libtiff that are too old.
debian=
if grep -qs '^ID=debian$' /etc/os-release; then
    debian=$(sed -n 's/^VERSION_ID="\{0,1\}\([0-9][0-9]*\).*/\1/p' /etc/os-release) # none: testing, unstable
fi
if [ -n "$debian" ] && [ "$debian" -lt 12 ]; then
    echo "setup: Debian $debian is too old: tagflow needs Meson 1.0 and libtiff 4.5, as Debian 12 has them" >&2
    exit 1
fi

missing=
for package in $wanted; do
    status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
    [ "$status" = installed ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" != 0 ]; then
    echo "setup: packages are missing; install them and start again:" >&2
    echo "sudo apt-get install --no-install-recommends$missing" >&2
    exit 1
fi

export DEBIAN_FRONTEND=noninteractive
install() {
    apt-get install -q -y --no-install-recommends $missing </dev/null
}
echo "setup: installing$missing"
if ls /var/lib/apt/lists/*Packages* >/dev/null 2>&1 && install; then
    exit 0
fi
# No package lists, or too old ones.
apt-get update -q </dev/null
install
