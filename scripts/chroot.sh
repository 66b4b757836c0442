# shellcheck shell=bash
# Bare chroots of Debian, for scripts that source this. $work: the absolute path of a folder that keeps them and what they
# downloaded. Needs root and mmdebstrap. CCACHE=1 keeps compiled files, too.

# make_base SUITE: $work/SUITE.tar, made once.
make_base() {
    mkdir -p "$work"/cache/{apt/partial,ccache}
    [ ! -f "$work/$1.tar" ] || return 0
    echo "making a bare $1" >&2
    # As on this machine: whether apt looks at dates.
    local dates=() name
    for name in Acquire::Check-Valid-Until Acquire::Check-Date; do
        [ "$(apt-config dump --format %v "$name")" != false ] || dates+=("--aptopt=$name \"false\"")
    done
    mmdebstrap --quiet --variant=minbase "${dates[@]}" "$1" "$work/$1.part.tar" </dev/null
    mv "$work/$1.part.tar" "$work/$1.tar"
}

# fresh SUITE NAME: a bare chroot in $work/NAME.
fresh() {
    rm -rf --one-file-system "${work:?}/$2"
    mkdir "$work/$2"
    tar xf "$work/$1.tar" -C "$work/$2"
}

# inside NAME COMMANDS: with /proc, /sys, /dev/shm, /dev/pts and the caches, which are mounted for these commands alone: nothing remains
# mounted when they end. The locale is this machine's, as a compiler cache asks for it.
inside() {
    local path=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
    [ -z "${CCACHE-}" ] || path=/usr/lib/ccache:$path
    # shellcheck disable=SC2016 # for the inner shell
    unshare --mount --pid --fork --kill-child sh -euc '
        mount -t proc proc "$0/proc"
        mount -t sysfs -o ro sysfs "$0/sys"
        mount -t tmpfs -o mode=1777 tmpfs "$0/dev/shm"
        mount -t devpts -o newinstance,ptmxmode=0666 devpts "$0/dev/pts"
        mount --bind "$0/dev/pts/ptmx" "$0/dev/ptmx"
        mkdir -p "$0/var/cache/ccache"
        mount --bind "$2/apt" "$0/var/cache/apt/archives"
        mount --bind "$2/ccache" "$0/var/cache/ccache"
        exec chroot "$0" env -i HOME=/root LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive PATH="$3" \
            CCACHE_DIR=/var/cache/ccache CCACHE_NOHASHDIR=1 CCACHE_BASEDIR=/root sh -euxc "$1"' \
        "$work/$1" "$2" "$work/cache" "$path" </dev/null
}
