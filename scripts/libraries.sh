# shellcheck shell=bash
# Shared libraries that a program needs, for scripts that source this: bundle.sh and wheel.sh. They have $work, an empty folder, and
# is_there NAME FOLDER: is this library not to be copied to the folder?
here=$(cd -- "$(dirname -- "$0")/.." && pwd)

say_no() { # STATUS TEXT
    local name=${0##*/}
    echo "${name%.sh}: $2" >&2
    exit "$1"
}

# find_build BUILD FILE...: sets $build, by default to the first usual build folder with the program. The files are in it.
find_build() {
    local file
    build=$1
    shift
    if [ -z "$build" ]; then
        for build in "$here/build" "$here/build-all" "$here/build-test"; do
            [ ! -x "$build/tagflow" ] || break
        done
    fi
    [ -d "$build" ] || say_no 2 "no build folder $build (meson setup build && ninja -C build)"
    for file in "$@"; do
        [ -x "$build/$file" ] || say_no 2 "there is no $file in $build (ninja -C $build)"
    done
}

# needs TOOL... PACKAGES: are the tools here?
needs() {
    local tool
    for tool in "${@:1:$#-1}"; do
        command -v "$tool" >/dev/null || say_no 1 "needs $tool, which is not here (${*: -1})"
    done
}

# What every machine has of its own and must not be mixed: glibc and GPU drivers.
own_here() {
    case $1 in
    ld-linux* | libc.so.* | libm.so.* | libdl.so.* | libpthread.so.* | librt.so.* | libresolv.so.* | libutil.so.*) ;;
    libcuda.so* | libnvidia-*) ;;
    *) return 1 ;;
    esac
}

# HDF5 reads from Amazon's S3 with these two, which need thirty libraries more. tagflow does not: in
# their place are libraries of our own whose functions return 0, so that opening S3 fails and nothing else.
replaced() {
    case $1 in
    libcurl.so.* | libcurl-gnutls.so.*) echo '^CURL_' ;;
    libcrypto.so.*) echo '^OPENSSL_' ;;
    *) return 1 ;;
    esac
}

# make_replacement SONAME FOR TO: the functions that the library FOR takes from SONAME, with their versions.
make_replacement() {
    local versions symbols
    versions=$(replaced "$1")
    symbols=$(nm -D --undefined-only --with-symbol-versions "$2" | awk '{ print $2 }' |
        awk -F '@' -v v="$versions" '$NF ~ v { print $1, $NF }')
    [ -n "$symbols" ] || say_no 1 "cannot tell what $2 needs of $1"
    awk '{ print "long " $1 "(void) { return 0; }" }' <<<"$symbols" >"$work/replacement.c"
    awk '{ of[$2] = of[$2] " " $1 ";" } END { for (v in of) print v " { global:" of[v] " };" }' \
        <<<"$symbols" >"$work/replacement.map"
    cc -shared -fPIC -nostdlib -Wl,-soname,"$1" -Wl,--version-script="$work/replacement.map" -w \
        -fno-builtin -o "$3" "$work/replacement.c"
}

# add_libraries FOLDER FILE...: what the files need and is not there yet, into the folder.
add_libraries() {
    local folder=$1 file name path found
    shift
    while [ $# -gt 0 ]; do
        file=$1
        shift
        found=$(ldd "$file")
        for name in $(readelf -d "$file" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'); do
            if own_here "$name" || is_there "$name" "$folder"; then
                continue
            fi
            if replaced "$name" >/dev/null; then
                make_replacement "$name" "$file" "$folder/$name"
                continue
            fi
            path=$(awk -v name="$name" '$1 == name && $2 == "=>" { print $3; exit }' <<<"$found")
            [ -f "$path" ] || say_no 1 "$file needs $name, which is not on this machine"
            install -m 755 "$(readlink -f -- "$path")" "$folder/$name"
            readlink -f -- "$path" >>"$work/origins"
            set -- "$@" "$path"
        done
    done
}

# copy_licences FOLDER: those of Debian's packages from which files were copied.
copy_licences() {
    local path name package
    command -v dpkg-query >/dev/null || return 0
    sort -u "$work/origins" | while read -r path; do
        # Files of the merged /usr are known by their old names.
        for name in "$path" "${path#/usr}"; do
            package=$(dpkg-query -S "$name" 2>/dev/null | cut -d : -f 1 | head -n 1) || true
            if [ -n "$package" ] && [ -f "/usr/share/doc/$package/copyright" ]; then
                cp -L "/usr/share/doc/$package/copyright" "$1/$package.txt"
                break
            fi
        done
    done
}

mebibytes() {
    du -sk --apparent-size "$1" | awk '{ printf "%.1f MiB", $1 / 1024 }'
}
