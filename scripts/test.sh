#!/bin/sh
# Installs what is missing, builds, and runs all tests. The last line counts them; the exit status is
# not 0 when one failed. Arguments go to `meson test`, for example --suite unit.
set -eu
cd -- "$(dirname -- "$0")/.."
. scripts/environment.sh

scripts/setup.sh test
[ -f build-test/build.ninja ] || meson setup build-test
ninja -C build-test
log=build-test/meson-logs/testlog.json
rm -f "$log"
failed=0
meson test -C build-test --no-rebuild --print-errorlogs "$@" </dev/null || failed=$?

/usr/bin/python3 - "$log" <<'END' || failed=1
import json, sys

with open(sys.argv[1]) as log:
    results = [json.loads(line)["result"] for line in log]
passed = sum(result in ("OK", "EXPECTEDFAIL") for result in results)
skipped = results.count("SKIP")
failed = len(results) - passed - skipped
print(f"{passed} passed, {failed} failed, {skipped} skipped")
sys.exit(failed > 0)
END
exit "$failed"
