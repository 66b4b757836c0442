#!/bin/sh
# tagflow on Debian 12 with clang; FOLDER, output and exit status: see `debian` beside this.
exec "$(dirname -- "$0")/debian" "${1:?a folder for chroots}" bookworm openmpi clang ''
