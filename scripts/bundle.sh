#!/bin/bash
# Makes a folder that holds tagflow and everything it needs on a machine without packages: its
# libraries, Open MPI, configs/, the scripts to use with it, and the GPU suite.
#   scripts/bundle.sh [--tgz] DIR [BUILD]
# DIR must be empty or not exist; BUILD is a build folder, by default build, build-all or build-test. With --tgz there
# is DIR.tgz as well, one file to copy and unpack. The folder may then be moved anywhere, also where it cannot be written to. For x86-64 Linux with a glibc as new as
# DIR/README.txt says; a GPU's driver is taken from the machine.
# Exit status: 1 the machine failed, 2 wrong usage.
set -euo pipefail
case " $* " in *" --help "* | *" -h "*) exec sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" ;; esac

. "$(dirname -- "$0")/libraries.sh"
archive=no
if [ "${1-}" = --tgz ]; then
    archive=yes
    shift
fi
[ $# = 1 ] || [ $# = 2 ] || say_no 2 "usage: scripts/bundle.sh [--tgz] DIR [BUILD]"
case $1 in '' | -*) say_no 2 "usage: scripts/bundle.sh [--tgz] DIR [BUILD]" ;; esac
dir=$1
find_build "${2-}" tagflow tagflow-bench
if [ -e "$dir" ] || [ -L "$dir" ]; then
    [ -d "$dir" ] || say_no 2 "$dir is not a folder"
    [ -z "$(ls -A -- "$dir")" ] || say_no 2 "$dir is not empty (remove it, or give another name)"
fi
needs readelf ldd strip nm cc mpirun ompi_info "binutils, gcc, openmpi-bin"
[ "$(uname -m)" = x86_64 ] || say_no 1 "is for x86-64, and this machine is $(uname -m)"

# Where this Open MPI has what.
mpi_path() {
    ompi_info --path "$1" --parsable | sed -n "s/^path:$1://p" | head -n 1
}
plugins=$(mpi_path pkglibdir)
mpi_texts=$(mpi_path pkgdatadir)
orterun=$(readlink -f -- "$(command -v mpirun)")
orted=$(dirname -- "$orterun")/orted
if [ ! -d "$plugins" ] || [ ! -d "$mpi_texts" ] || [ ! -x "$orted" ]; then
    say_no 1 "mpirun is not that of Open MPI 4 with plugins ($plugins, $mpi_texts, $orted)"
fi

mkdir -p -- "$dir" 2>/dev/null || say_no 1 "cannot make $dir"
dir=$(cd -- "$dir" && pwd)
work=$(mktemp -d)
made=no
clean_up() { # half a bundle is none
    rm -rf -- "$work"
    if [ $made = no ]; then
        rm -rf -- "${dir:?}"/*
        echo "bundle: failed; $dir is left empty" >&2
    fi
}
trap clean_up EXIT
mkdir -p "$dir"/{bin,lib/openmpi3,lib/pmix,lib/tagflow,libexec,share,etc,scripts,licenses}

# ---- programs and libraries ----

is_there() {
    [ -e "$dir/lib/$1" ] || [ -e "$2/$1" ]
}

# Are the libraries that a plugin needs those of this machine, or here already?
needs_nothing_new() {
    local name
    for name in $(readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'); do
        own_here "$name" || [ -e "$dir/lib/$name" ] || [ -e "$dir/lib/tagflow/$name" ] || return 1
    done
}

# Built with tests there is one program that is all three: a third of the size. `tagflow bench` starts tagflow-bench.
programs=tagflow
if [ -x "$build/tests/gpu/tagflow_parity" ]; then
    programs="tagflow parity"
    install -m 755 "$build/tests/gpu/tagflow_parity" "$dir/libexec/tagflow"
    ln -s tagflow "$dir/libexec/parity"
    ln -s tagflow "$dir/libexec/tagflow-bench"
else
    install -m 755 "$build/tagflow" "$build/tagflow-bench" "$dir/libexec/"
    strip "$dir/libexec/tagflow-bench"
fi
strip "$dir/libexec/tagflow"
# Measurements of the GPU suite, which need nothing but the driver.
for program in streams variants_16 variants_32 variants_64; do
    if [ -x "$build/tests/gpu/variants/$program" ]; then
        install -m 755 "$build/tests/gpu/variants/$program" "$dir/libexec/"
        strip "$dir/libexec/$program"
    fi
done
install -m 755 "$orterun" "$dir/libexec/orterun"
install -m 755 "$orted" "$dir/libexec/orted"
printf '%s\n' "$orterun" "$plugins/mca_pml_ob1.so" >"$work/origins"

# Those of MPI in lib/: mpirun and what it starts find them; those of tagflow alone apart from them, so that
# no other program that mpirun starts gets to see them.
mpi_library=$(ldd "$build/tagflow" | awk '$1 ~ /^libmpi\.so/ { print $1, $3 }')
[ -n "$mpi_library" ] || say_no 1 "$build/tagflow does not use Open MPI"
read -r name path <<<"$mpi_library"
install -m 755 "$(readlink -f -- "$path")" "$dir/lib/$name"
add_libraries "$dir/lib" "$path" "$orterun" "$orted" "$plugins/mca_pmix_ext3x.so"
add_libraries "$dir/lib/tagflow" "$build/tagflow"
# Files through MPI and memory shared by ranks: of Open MPI's own, what needs nothing further.
for path in "$(dirname "$(readlink -f -- "$path")")"/libmca_common_{ompio,sm}.so.[0-9]*; do
    name=$(readelf -d "$path" | sed -n 's/.*(SONAME).*\[\(.*\)\]/\1/p')
    [ -e "$dir/lib/$name" ] || install -m 755 "$(readlink -f -- "$path")" "$dir/lib/$name"
done
# Plugins whose libraries are here; those for InfiniBand and the like, for other batch systems than Slurm,
# and of OpenSHMEM stay out.
for path in "$plugins"/mca_*.so; do
    if needs_nothing_new "$path"; then
        install -m 755 "$path" "$dir/lib/openmpi3/"
    fi
done
for plugin in pml_ob1 btl_self btl_vader btl_tcp pmix_ext3x ess_hnp ess_singleton ess_pmi plm_rsh plm_slurm odls_default \
    io_ompio fs_ufs fbtl_posix fcoll_two_phase coll_basic coll_tuned rmaps_round_robin; do
    [ -e "$dir/lib/openmpi3/mca_$plugin.so" ] || say_no 1 "Open MPI's plugin $plugin is not in $plugins, or needs too much"
done
pmix=$(dirname "$(readlink -f -- "$(ldd "$plugins/mca_pmix_ext3x.so" | awk '$1 ~ /^libpmix/ { print $3 }')")")
for path in "$pmix"/pmix/pmix_mca_*.so "$pmix"/pmix2/lib/pmix/pmix_mca_*.so; do
    if [ -e "$path" ] && needs_nothing_new "$path"; then
        install -m 755 "$path" "$dir/lib/pmix/"
    fi
done

# ---- texts ----

mkdir "$dir/share/openmpi" "$dir/share/pmix" "$dir/etc/openmpi"
cp "$mpi_texts"/help-*.txt "$dir/share/openmpi/"
for path in "$pmix"/../share/pmix "$pmix"/pmix2/share/pmix; do
    [ ! -d "$path" ] || cp "$path"/help-*.txt "$dir/share/pmix/"
done
# One-sided through pt2pt is broken in Open MPI 4.1; the other line is for a quiet start.
printf 'btl_base_warn_component_unused = 0\nosc = ^pt2pt\n' >"$dir/etc/openmpi/openmpi-mca-params.conf"
cp -r "$here/configs" "$dir/configs"
cp "$here/LICENSE" "$dir/LICENSE"
for path in environment.sh gpu_suite.sh gpu_suite.py validate_gpu.py plot.py render.py report.py command_line.py svg_chart.py join.py \
    bench_file.py compare.py roofline.py scaling.py scaling_measure.py scaling_predict.py slurm pbs lsf; do
    cp -r "$here/scripts/$path" "$dir/scripts/"
done
mkdir -p "$dir/python/src/tagflow"
cp "$here/python/README.md" "$here/python/pyproject.toml" "$dir/python/"
cp "$here/python/src/tagflow/"*.py "$here/python/src/tagflow/py.typed" "$dir/python/src/tagflow/"
copy_licences "$dir/licenses"

# ---- how programs start ----

cat >"$dir/libexec/environment.sh" <<'END'
# shellcheck shell=sh
# Where things are in the bundle; sourced by the programs in bin/, with $bundle its folder.
export OPAL_PREFIX="$bundle" OPAL_LIBDIR="$bundle/lib" OPAL_PKGLIBDIR="$bundle/lib/openmpi3"
export OPAL_PKGDATADIR="$bundle/share/openmpi" OPAL_SYSCONFDIR="$bundle/etc/openmpi"
export PMIX_PREFIX="$bundle" PMIX_LIBDIR="$bundle/lib" PMIX_PKGLIBDIR="$bundle/lib/pmix"
export PMIX_PKGDATADIR="$bundle/share/pmix" PMIX_SYSCONFDIR="$bundle/etc"
export PMIX_MCA_mca_base_component_path="$bundle/lib/pmix"
# tagflow launch and selftest start ranks with this mpirun.
export PATH="$bundle/bin${PATH:+:$PATH}"
# The machine's plugins are for another hwloc, and tagflow needs none.
export HWLOC_PLUGINS_PATH="$bundle/lib/hwloc"
# Open MPI does not start without a program to reach other machines with, though it needs none here.
command -v ssh >/dev/null || command -v rsh >/dev/null || export OMPI_MCA_plm="${OMPI_MCA_plm:-^rsh}"
# First what is here, whatever else is set.
with_libraries() {
    LD_LIBRARY_PATH=$1${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
    export LD_LIBRARY_PATH
}
END
start_script() { # NAME LIBRARIES COMMAND
    cat >"$dir/bin/$1" <<END
#!/bin/sh
here=\$0
[ ! -L "\$here" ] || here=\$(readlink -f -- "\$here")
bundle=\$(cd -- "\${here%/*}/.." && pwd -P)
. "\$bundle/libexec/environment.sh"
with_libraries "$2"
exec "\$bundle/libexec/"$3 "\$@"
END
    chmod 755 "$dir/bin/$1"
}
for program in $programs; do
    # shellcheck disable=SC2016 # $bundle is for the start script
    start_script "$program" '$bundle/lib:$bundle/lib/tagflow' "$program"
done
# shellcheck disable=SC2016
start_script mpirun '$bundle/lib' 'orterun --prefix "$bundle"'
# shellcheck disable=SC2016
start_script orted '$bundle/lib' orted

# ---- what it needs ----

# From ours, what must be: nothing found outside but glibc, nothing missing.
for file in "$dir"/libexec/* "$dir"/lib/openmpi3/*.so "$dir"/lib/pmix/*.so; do
    case $file in *.sh) continue ;; esac
    bad=$(LD_LIBRARY_PATH="$dir/lib:$dir/lib/tagflow" ldd "$file" | sed -n 's/^[[:space:]]*\(.*\) => /\1 /p' |
        while read -r name path; do
            own_here "$name" || case $path in "$dir"/*) ;; *) echo "$name: $path" ;; esac
        done)
    [ -z "$bad" ] || say_no 1 "${file#"$dir"/} would take ${bad//$'\n'/, }"
done

glibc=$(find "$dir/lib" "$dir/libexec" -type f ! -name '*.sh' -exec readelf -V {} + |
    grep -o 'GLIBC_2\.[0-9.]*' | sort -uV | tail -n 1)
commit=$(LD_LIBRARY_PATH='' "$build/tagflow" --version)
cat >"$dir/README.txt" <<END
$commit, with Open MPI $(ompi_info --version | sed -n 's/^Open MPI v//p'), to be used where it lies.

    bin/tagflow info
    bin/mpirun -n 4 bin/tagflow run configs/cavity.yaml --output ~/cavity
    bin/tagflow selftest                        does it compute here what it computes elsewhere?
    scripts/gpu_suite.sh --out ~/gpu_suite      is the GPU fast and right? (Python 3, standard library)
    scripts/validate_gpu.py --out ~/validate    flows at full size beside published results

Needs: Linux on x86-64, glibc ${glibc#GLIBC_} or newer, and for GPUs NVIDIA's driver. The folder
may be moved, be read-only, and have spaces in its name. Several machines: the same folder on all; TCP
between them, not InfiniBand.

As root set OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1, or source scripts/environment.sh.
tagflow's licence is in LICENSE, those of what comes with it in licenses/.
END
as_archive=
if [ $archive = yes ]; then
    tar -C "$(dirname -- "$dir")" -czf "$work/bundle.tgz" -- "$(basename -- "$dir")"
    if ! cp -- "$work/bundle.tgz" "$dir.tgz"; then
        rm -f -- "$dir.tgz"
        say_no 1 "cannot write $dir.tgz"
    fi
    as_archive=", $(mebibytes "$dir.tgz") as $dir.tgz"
fi
made=yes
echo "bundle: $dir, $(mebibytes "$dir")$as_archive, needs glibc ${glibc#GLIBC_}"
