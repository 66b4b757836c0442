#!/usr/bin/python3
"""The variants of the step and the streams, on the stand-in: all variants, flows and precisions have the bits of cell_step;
requests and sectors of a warp are those of a formula; errors on purpose are noticed.

    variants.py STREAMS VARIANTS...    streams_standin, variants_*_standin
"""
import json
import os
import re
import subprocess
import sys
import tempfile

streams, *programs = sys.argv[1:]
failed = 0


def check(good, text):
    global failed
    failed += not good
    print(f"{'ok  ' if good else 'FAIL'} {text}", flush=True)


def run(program, *arguments):
    """Exit status, what it said, rows of the JSON."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "rows.json")
        done = subprocess.run([program, *map(str, arguments), "--json", path], capture_output=True, text=True, timeout=300)
        rows = []
        if os.path.exists(path):
            with open(path) as file:
                rows = [json.loads(line) for line in file]
    return done.returncode, done.stdout + done.stderr, rows[1:]


def bits_of(program):
    return int(re.search(r"variants_(\d+)_standin", program)[1])


def blocks(starts, size, step, of):
    """Mean number of blocks of `of` bytes that 32 accesses touch which begin at one of the starts."""
    return sum(len({(start + lane * step + byte) // of for lane in range(32) for byte in (0, size - 1)}) for start in starts) / len(starts)


def expected(size, cells, row_bytes, of):
    """Blocks of `of` bytes that an inner warp of plain rows touches: 19 loads and 19 stores, of which 5 each are shifted by a cell.
    Rows begin at multiples of row_bytes, and warps one behind the other."""
    word = size * cells
    starts = range(0, 128, min(row_bytes, 32 * word))
    even = blocks(starts, word, word, of)
    if cells == 1:
        side = 2 * blocks([s + size for s in starts], size, size, of)
    else:  # halves: of a load they share lines, of a store each counts
        low, high = [s + size for s in starts], [s + word for s in starts]
        side = blocks(low, size, word, of) + blocks(high, size, word, of)
        side += sum(len({(s + lane * word + half + byte) // of for lane in range(32) for half in (size, word) for byte in (0, size - 1)})
                    for s in starts) / len(starts)
    return 28 * even + 5 * side


# ---- bits ----

FLOWS = ["periodic", "box", "obstacles", "box with obstacles"]
for program in programs:
    bits = bits_of(program)
    code, said, rows = run(program, "--check")
    names = {row["variant"] for row in rows}
    check(code == 0 and len(names) > 30 and [row["flow"] for row in rows] == FLOWS * len(names) and all(row["bits_equal"] for row in rows),
          f"fp{bits}: {len(names)} variants have the bits of cell_step in {len(FLOWS)} flows: exit status {code}, {said.splitlines()[-1]}")
    for row in rows:
        if row["flow"] == "periodic" and row["rows"] == "plain" and row["known"] == "kinds" and row["row_bytes"] == 128:
            wanted = [expected(bits // 8, row["cells_a_thread"], 128, of) for of in (128, 32)]
            # A byte a cell: one line, one or two sectors.
            got = [row["requests"] - 1, row["sectors"] - row["cells_a_thread"]]
            if max(abs(a - b) for a, b in zip(wanted, got)) > 0.01:
                check(False, f"fp{bits}, {row['variant']}: {got} requests and sectors, by the formula {wanted}")
    # Rows with ghost cells at 32 and at 128 bytes; lifted rows touch least.
    of = {row["variant"]: row["requests"] for row in rows if row["flow"] == "box"}
    check(of["tagflow_32"] > of["tagflow_64"] > of["tagflow_128"] > of["lifted_kinds"], f"fp{bits}: requests of a box: "
          f"{of['tagflow_32']}, rows at 64 {of['tagflow_64']}, at 128 {of['tagflow_128']}, lifted with kinds {of['lifted_kinds']}")

# ---- errors on purpose ----

# Of step.h, by number: a variant that has to notice.
MUTANTS = {1: "lifted_kinds_late", 2: "lifted_stored", 3: "lifted_tags", 4: "two_stored", 5: "kinds_32", 6: "two_kinds", 7: "lifted_stored", 8: "stored_lines",
           9: "two_stored", 10: "two_tags", 11: "kinds_late", 12: "two_kinds", 13: "two_lifted_stored", 14: "stored_lines", 15: "kinds_rates"}
for program in programs[:2]:  # fp64 is as fp32
    for mutant, name in MUTANTS.items():
        code, said, rows = run(program, "--check", "--only", name, "--mutant", mutant)
        differ = {row["variant"] for row in rows if not row["bits_equal"]}
        check(code == 1 and differ and not any(name.startswith("tagflow") for name in differ), f"fp{bits_of(program)}, mutant {mutant}: {len(differ)} variants differ")
code, said, _ = run(programs[0], "--check", "--mutant", len(MUTANTS) + 1)
check(code == 2, f"there is no further mutant: {said.strip()}")

# ---- rates ----

# Rates mean nothing here; rows that do not fit are left out, the first variant comes again.
for program in programs[:1]:
    code, said, rows = run(program, "--cells", 64, "--seconds", 1e-6, "--flow", "box", "--only", "lifted_stored_lines")
    done = [row for row in rows if "left_out" not in row]
    check(code == 0 and [row["variant"] for row in rows] == ["tagflow_32", "lifted_stored_lines", "two_lifted_stored_lines"] and len(done) == 2 and
          all(row["bits_equal"] and row["states_equal"] and 0 < row["glups"]["least"] <= row["glups"]["median"] <= row["glups"]["most"] and
              row["share"] > 0 and row["copy_gbs"]["median"] > 0 and row["bytes_a_cell"] > 19 * bits_of(program) / 8 for row in done),
          f"fp{bits_of(program)}: rates of {len(done)} rows, {len(rows) - len(done)} left out: exit status {code}")
code, said, rows = run(programs[0], "--cells", 8, "--seconds", 1e-6)
again = [k for k, row in enumerate(rows) if row.get("again")]
check(code == 0 and len(again) == 2 * (len(names) // 6) and all(rows[k]["variant"] == "tagflow_32" for k in again), f"the first variant {len(again)} times again")
code, said, rows = run(programs[0], "--cells", 64, "--seconds", 1e-6, "--flow", "box", "--only", "lifted_stored_lines", "--mutant", 1)
check(code == 1 and [("glups" in row) for row in rows] == [True, False, False], "no rate without equal bits")
code, said, rows = run(streams, "--cells", 32, "--seconds", 1e-6)
check(code == 0 and len(rows) >= 60 and all(row["verified"] and row["gbs"]["median"] > 0 for row in rows), f"streams: {len(rows)} rows, numbers right")
of = {row["row_bytes"]: (row["requests"], row["sectors"]) for row in rows if row["bytes"] == 4 and row["streams"] == 19 and row["shifted"] == 0 and row["mode"] == "update"}
check(of == {128: (38, 152), 64: (57, 152), 32: (66.5, 152)}, f"streams: requests and sectors of 19 streams of 4 bytes: {of}")
for mutant in 1, 2:
    code, said, rows = run(streams, "--cells", 8, "--seconds", 1e-6, "--mutant", mutant)
    check(code == 1 and any(not row["verified"] for row in rows) and not any("gbs" in row for row in rows if not row["verified"]), f"streams, mutant {mutant}: noticed, no rate")
for program, *wrong in [(programs[0], "--cells", "x"), (programs[0], "--what"), (streams, "--cells", "0"), (streams, "--cells")]:
    done = subprocess.run([program, *wrong], capture_output=True, text=True, timeout=60)
    check(done.returncode == 2 and done.stderr.count("\n") == 1, f"wrong usage: {done.stderr.strip()}")
sys.exit(failed > 0)
