#!/bin/sh
# tagflow on Debian 12 with -O2 in place of -O3; FOLDER, output and exit status: see `debian` beside this.
exec "$(dirname -- "$0")/debian" "${1:?a folder for chroots}" bookworm openmpi gcc '' --buildtype=debug -Doptimization=2
