#!/bin/sh
# tagflow on Debian 12, compiled for the processor here; FOLDER, output and exit status: see `debian` beside this.
exec "$(dirname -- "$0")/debian" "${1:?a folder for chroots}" bookworm openmpi gcc '' -Dc_args=-march=native
