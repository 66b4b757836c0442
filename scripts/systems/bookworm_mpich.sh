#!/bin/sh
# tagflow on Debian 12 with MPICH; FOLDER, output and exit status: see `debian` beside this.
exec "$(dirname -- "$0")/debian" "${1:?a folder for chroots}" bookworm mpich gcc 'unit parallel'
