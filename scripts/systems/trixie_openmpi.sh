#!/bin/sh
# tagflow on Debian 13 with Open MPI 5; FOLDER, output and exit status: see `debian` beside this.
exec "$(dirname -- "$0")/debian" "${1:?a folder for chroots}" trixie openmpi gcc 'unit parallel'
