#!/bin/sh
# Is the GPU backend right on this machine, and how fast is it? In three calls of ten minutes; see docs/gpu.md.
#   scripts/gpu_suite.sh [--out DIR] [--call 1|2|3] [--quick] [--peer COMMAND] [--backend cuda|cpu] [--build DIR]
#                        [--stages A,B] [--seconds N]
# From a source tree that was built, or from a bundle (scripts/bundle.sh). Needs Python 3.8, nothing else.
set -eu
scripts=$(cd -- "$(dirname -- "$0")" && pwd)
# shellcheck source=scripts/environment.sh
. "$scripts/environment.sh"
# Ranks that wait leave the core, and the GPU, to those that compute.
export OMPI_MCA_mpi_yield_when_idle=1 OMP_WAIT_POLICY=passive
for python in python3 /usr/bin/python3; do
    if "$python" -c 'import sys; sys.exit(sys.version_info < (3, 8))' 2>/dev/null; then
        exec "$python" -B "$scripts/gpu_suite.py" "$@"
    fi
done
echo "gpu_suite: needs Python 3.8 or newer, which is not here" >&2
exit 1
