#!/bin/bash
# Debian 11 is too old for tagflow, and the set-up has to say so: scripts/systems/bullseye.sh FOLDER; see `debian` beside this.
set -euo pipefail
case ${1--} in -*) exec sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" ;; esac
cd -- "$(dirname -- "$0")/../.."
mkdir -p "$1"
work=$(cd "$1" && pwd)
. scripts/chroot.sh
if [ "$(id -u)" != 0 ] || ! command -v mmdebstrap >/dev/null; then
    echo "Debian 11 | - | - | not tried: it needs root and mmdebstrap"
    exit 77
fi
[ -d "$work/bullseye" ] || {
    make_base bullseye
    fresh bullseye bullseye
}
cp scripts/setup.sh "$work/bullseye/root/"
status=0
inside bullseye "/root/setup.sh run" >"$work/bullseye.log" 2>&1 || status=$?
said=$(grep '^setup: ' "$work/bullseye.log" || true)
if [ $status = 1 ] && echo "$said" | grep -q 'Debian 11 is too old'; then
    echo "Debian 11 | - | - | refused by the set-up: ${said#setup: }"
else
    tail -n 20 "$work/bullseye.log" >&2
    echo "Debian 11 | - | - | the set-up does not refuse it (exit status $status)"
    exit 1
fi
