#!/bin/sh
# tagflow for aarch64, compiled and tried on another machine: programs run under qemu-user.
#   scripts/systems/aarch64.sh FOLDER [--cpu MODEL] [TEST...]
#     FOLDER   keeps the libraries of a Debian for aarch64 (0.6 GB) and the build, for the next time
#     --cpu    processor that qemu shows, for example max,sve-default-vector-length=64 (default: max)
#     TEST     names of tests of Meson, for example near_32 (default: some of units and ranks, and the hashes). Not `child`: qemu
#              sets no limit to the memory of a process
# A line for each test says pass or FAIL. Hashes are compared with those of the program build-all/tagflow, or TAGFLOW, on this
# machine. The last line is a row of a table: system | MPI | compiler | result. Exit status 0: all passed; 77: it cannot be
# tried here.
#
# It needs Debian's packages gcc-aarch64-linux-gnu, g++-aarch64-linux-gnu and qemu-user-static. The kernel must run aarch64
# programs by qemu: Linux from 6.7 on does so for the processes of this script alone; else binfmt must be set up for the system.
set -eu
case " $* " in *" --help "* | *" -h "*) exec sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" ;; esac
cd -- "$(dirname -- "$0")/../.."
. scripts/environment.sh

cannot() {
    echo "aarch64: $1" >&2
    echo "aarch64 | - | - | not tried: $1"
    exit 77
}

[ $# -ge 1 ] || {
    echo "usage: $0 FOLDER [--cpu MODEL] [TEST...]" >&2
    exit 2
}
mkdir -p "$1"
folder=$(cd "$1" && pwd)
shift
if [ "${1:-}" = --cpu ] && [ $# -ge 2 ]; then
    export QEMU_CPU="$2"
    shift 2
fi
root=$folder/root build=$folder/build
export QEMU_LD_PREFIX="$root"
emulator=$(command -v qemu-aarch64-static) || cannot "qemu-aarch64-static is missing (Debian: qemu-user-static)"
compiler=aarch64-linux-gnu-gcc
command -v $compiler >/dev/null || cannot "$compiler is missing (Debian: gcc-aarch64-linux-gnu)"
command -v apt-get >/dev/null || cannot "the libraries for aarch64 come by apt-get, which is missing"

# The libraries, unpacked and not installed: this system's packages stay as they are.
libraries='libc6-dev libgcc-12-dev libstdc++-12-dev libopenmpi-dev libhdf5-openmpi-dev libyaml-dev libpng-dev libtiff-dev
    libjansson-dev libxxhash-dev libcmocka-dev'
if [ ! -e "$folder/complete" ]; then
    apt=$folder/apt
    rm -rf "$root" "$apt"
    mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" "$apt/etc/preferences.d" "$root/usr/bin" "$root/usr/sbin" "$root/usr/lib"
    : >"$apt/status"
    # From where this machine gets its packages.
    # shellcheck disable=SC2016 # for apt-get
    from=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Codename: bookworm' 2>/dev/null | head -n 1)
    [ -n "$from" ] || cannot "this machine gets no packages of Debian 12 (bookworm)"
    echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $from bookworm main" >"$apt/etc/sources.list"
    of_aarch64() {
        apt-get -qq -o APT::Architecture=arm64 -o APT::Architectures::=arm64 -o Dir::State="$apt" -o Dir::State::status="$apt/status" \
            -o Dir::Cache="$apt/cache" -o Dir::Etc="$apt/etc" -o Dir::Etc::sourcelist="$apt/etc/sources.list" \
            -o Dir::Etc::sourceparts=- -o APT::Install-Recommends=false "$@" </dev/null >&2
    }
    of_aarch64 update
    # shellcheck disable=SC2086 # a list
    of_aarch64 install --download-only -y $libraries
    for name in bin sbin lib; do
        ln -s usr/$name "$root/$name"
    done
    for package in "$apt"/cache/archives/*.deb; do
        dpkg-deb --fsys-tarfile "$package" | tar -x -C "$root" --keep-directory-symlink \
            --exclude=./usr/share/doc --exclude=./usr/share/man --exclude=./usr/share/locale
    done
    rm -rf "$apt"
    : >"$folder/complete"
fi

# ccache knows the compiler by a link to itself.
[ ! -e "/usr/lib/ccache/$compiler" ] || PATH=/usr/lib/ccache:$PATH
if [ ! -f "$build/build.ninja" ]; then
    printf "[constants]\nsysroot = '%s'\n" "$root" >"$folder/sysroot.ini"
    meson setup "$build" --cross-file "$folder/sysroot.ini" --cross-file packaging/cross/aarch64.ini -Dcuda=disabled -Dwerror=true >&2
fi
ninja -C "$build" tagflow tests/several >&2

# From here on in a mount namespace whose kernel runs aarch64 programs by the emulator.
handlers=/proc/sys/fs/binfmt_misc
script=$(cat <<'END'
set -u
emulator=$1 handlers=$2 build=$3
shift 3
if ! "$build/tagflow" info >/dev/null 2>&1; then
    mount -t binfmt_misc none "$handlers" 2>/dev/null || exit 78
    magic='\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00'
    mask='\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff'
    printf %s ":tagflow-aarch64:M::$magic:$mask:$emulator:F" >"$handlers/register" || exit 78
fi
"$build/tagflow" info || exit 78
failed=0
row() { # NAME COMMAND...
    name=$1
    shift
    if "$@" >"$build/$name.txt" 2>&1 </dev/null; then
        echo "$name: pass"
    else
        echo "$name: FAIL (status $?; $build/$name.txt)"
        failed=1
    fi
}
# Emulation takes ten times as long, or more.
if [ $# -gt 0 ]; then
    for name; do
        row "$name" meson test -C "$build" -t 20 "$name"
    done
else
    for name in machine stored case signal elementary_64 exact_32 image voxels backend_16 sweep_64 reference_ranks_16_8 \
        tables_ranks_32_2; do
        row "$name" meson test -C "$build" -t 20 "$name"
    done
    export TAGFLOW TAGFLOW_OTHER="$build/tagflow" TAGFLOW_SLOWER=20
    row hashes /usr/bin/python3 tests/parallel/hash_ranks.py
    row random_flows /usr/bin/python3 tests/parallel/random_flows.py 1 24
fi
exit $failed
END
)
export TAGFLOW="${TAGFLOW:-$PWD/build-all/tagflow}" TAGFLOW_SOURCE_ROOT="$PWD"
[ $# -gt 0 ] || [ -x "$TAGFLOW" ] || cannot "no program of this machine to compare with: $TAGFLOW (scripts/test.sh --all makes it; or set TAGFLOW)"
status=0
unshare --user --map-root-user --mount sh -c "$script" aarch64 "$emulator" "$handlers" "$build" "$@" || status=$?
[ $status != 78 ] || cannot "this kernel does not let a namespace run aarch64 programs by qemu (Linux from 6.7 on does)"
mpi=$(sed -n 's/^Version: //p' "$root/usr/lib/aarch64-linux-gnu/pkgconfig/ompi-c.pc")
[ $status = 0 ] && result=pass || result=FAIL
echo "Debian 12 aarch64, qemu-user${QEMU_CPU:+ $QEMU_CPU} | Open MPI $mpi | gcc $($compiler -dumpfullversion) | $result"
[ $status = 0 ]
