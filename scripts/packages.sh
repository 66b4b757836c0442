#!/bin/bash
# Builds the source archive and the packages in bare chroots of Debian, and tries them there:
#   scripts/packages.sh [--work DIR] [STEP]...
# Steps, by default all, in this order:
#   archive      build/meson-dist of the commit: it builds, passes its unit tests and knows its commit, without git
#   debian       the Debian package: dpkg-buildpackage with its tests, lintian, and a run after its installation
#   docker       packaging/Dockerfile, with buildah
#   apptainer    the commands of packaging/tagflow.def
# Needs root and what `scripts/setup.sh packages` installs. DIR, by default /var/tmp/tagflow-packages, keeps the chroots, about
# 6 GB, what they downloaded, and the packages in DIR/out. SUITE=trixie takes another Debian. CCACHE=1 keeps compiled files, too.
# Exit status: 1 a step failed, 2 wrong usage.
set -euo pipefail
case " $* " in *" --help "* | *" -h "*) exec sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" ;; esac
cd -- "$(dirname -- "$0")/.."

say_no() { # STATUS TEXT
    echo "packages: $2" >&2
    exit "$1"
}

work=/var/tmp/tagflow-packages
if [ "${1-}" = --work ]; then
    [ $# -ge 2 ] || say_no 2 "--work needs a folder"
    case $2 in /*) work=$2 ;; *) work=$PWD/$2 ;; esac
    shift 2
fi
suite=${SUITE:-bookworm}
all="archive debian docker apptainer"
for step in "$@"; do
    case " $all " in *" $step "*) ;; *) say_no 2 "unknown step '$step' (steps: $all)" ;; esac
done
# shellcheck disable=SC2086 # several words
[ $# -gt 0 ] || set -- $all
[ "$(id -u)" = 0 ] || say_no 1 "needs root, for chroots"
scripts/setup.sh packages
git diff --quiet HEAD || say_no 1 "there are changes that are not committed; the archive holds the last commit"

. scripts/chroot.sh
out=$work/out
mkdir -p "$out"
base=$work/$suite.tar
make_base "$suite"

version=$(sed -n "s/^  version: '\(.*\)',/\1/p" meson.build)
commit=$(git rev-parse --short=12 HEAD)
archive=$out/tagflow-$version.tar.xz

# A program that was installed: it runs a shipped case, alone and with mpirun, and its scripts work.
try_installed="
    tagflow --version | grep $commit
    cd /root
    tagflow run /usr/share/tagflow/configs/cavity_re100.yaml --set run.steps=500
    test -s cavity_re100/series/flow.csv
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
    mpirun -n 2 tagflow run /usr/share/tagflow/configs/cavity_re100.yaml --set run.steps=500 --output two
    grep -h state_hash cavity_re100/report.json two/report.json | uniq | wc -l | grep -x 1
    tagflow selftest"

make_archive() {
    rm -rf "${work:?}/build" &&
        meson setup "$work/build" -Dcuda=disabled -Dtests=false &&
        meson dist -C "$work/build" --no-tests &&
        cp "$work/build/meson-dist/tagflow-$version.tar.xz" "$out/"
}

step_archive() {
    fresh "$suite" archive
    cp "$archive" "$work/archive/root/"
    inside archive "
        cd /root
        apt-get update
        apt-get install -y --no-install-recommends xz-utils ${CCACHE:+ccache}
        tar xf tagflow-$version.tar.xz
        cd tagflow-$version
        scripts/setup.sh run
        apt-get install -y --no-install-recommends libcmocka-dev
        meson setup build -Dcuda=disabled
        ninja -C build tagflow
        build/tagflow --version | grep $commit
        meson test -C build --suite unit --print-errorlogs"
}

step_debian() {
    fresh "$suite" debian
    cp "$archive" "$work/debian/root/"
    inside debian "
        cd /root
        apt-get update
        apt-get install -y --no-install-recommends xz-utils build-essential lintian ${CCACHE:+ccache}
        tar xf tagflow-$version.tar.xz
        cd tagflow-$version
        apt-get build-dep -y --no-install-recommends ./
        dpkg-buildpackage -b -us -uc
        lintian --fail-on error,warning ../tagflow_*.changes"
    cp "$work"/debian/root/tagflow_*.deb "$out/"
    fresh "$suite" installed
    cp "$out/tagflow_${version}_amd64.deb" "$work/installed/root/"
    inside installed "
        apt-get update
        apt-get install -y --no-install-recommends /root/tagflow_${version}_amd64.deb
        $try_installed
        test -s /usr/share/man/man1/tagflow.1.gz
        test -s /usr/share/bash-completion/completions/tagflow
        /usr/share/tagflow/scripts/make_mesh.py car.stl --shape car
        apt-get install -y --no-install-recommends python3-h5py python3-matplotlib python3-numpy
        /usr/share/tagflow/scripts/report.py cavity_re100
        python3 -c 'import tagflow; assert tagflow.__version__ == \"$version\"'
        dpkg --purge tagflow
        ! find /usr /etc /var/lib -name '*tagflow*' -not -path '/var/lib/apt/*' | grep ."
}

step_docker() {
    local buildah=(buildah --root "$work/buildah" --runroot "$work/buildah-run" --storage-driver vfs)
    local container
    rm -rf --one-file-system "${work:?}/context"
    mkdir "$work/context"
    cp "$archive" "$work/context/"
    container=$("${buildah[@]}" from scratch)
    "${buildah[@]}" add --quiet "$container" "$base" /
    "${buildah[@]}" commit --quiet "$container" localhost/tagflow-base
    "${buildah[@]}" rm "$container"
    "${buildah[@]}" build --isolation chroot --pull=never --build-arg BASE=localhost/tagflow-base -t tagflow \
        -f packaging/Dockerfile "$work/context"
    container=$("${buildah[@]}" from --pull=never localhost/tagflow)
    "${buildah[@]}" run --isolation chroot "$container" -- sh -euxc "$try_installed"
    "${buildah[@]}" rm "$container"
}

# section NUMBER: a %post of the definition.
section() {
    awk -v wanted="$1" '/^(%|Bootstrap:)/ { inside = 0 } inside; /^%post/ { inside = (++found == wanted) }' packaging/tagflow.def
}

step_apptainer() {
    fresh "$suite" apptainer-build
    mkdir "$work/apptainer-build/src"
    cp "$archive" "$work/apptainer-build/src/"
    [ -z "${CCACHE-}" ] || inside apptainer-build "apt-get update; apt-get install -y --no-install-recommends ccache"
    inside apptainer-build "$(section 1)"
    fresh "$suite" apptainer
    cp "$work"/apptainer-build/src/tagflow_*.deb "$work/apptainer/opt/"
    inside apptainer "$(section 2)"
    inside apptainer "$try_installed"
}

make_archive >"$out/make_archive.log" 2>&1 || say_no 1 "meson dist failed ($out/make_archive.log)"
for step in "$@"; do
    echo "packages: $step"
    SECONDS=0
    # Not in a condition: bash would go on after a command of the step that fails.
    set +e
    (
        set -e
        "step_$step"
    ) >"$out/$step.log" 2>&1
    status=$?
    set -e
    [ $status = 0 ] || say_no 1 "$step failed after $SECONDS s: $(tail -n 1 "$out/$step.log") ($out/$step.log)"
    echo "packages: $step works, $SECONDS s"
done
echo "packages: in $out"
