#!/bin/sh
# tagflow on Debian 13 with clang; FOLDER, output and exit status: see `debian` beside this.
exec "$(dirname -- "$0")/debian" "${1:?a folder for chroots}" trixie openmpi clang unit
