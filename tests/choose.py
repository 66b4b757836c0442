#!/usr/bin/python3
"""Which tests to run, for scripts/test.sh:

    tests/choose.py short BUILD          the names of SHORT
    tests/choose.py changed REV BUILD    the names of tests that files changed since REV can break (of SHORT, and those of CHANGED)
    tests/choose.py check BUILD          are both tables right? (the test `choose`)

Names are in the order in which `meson test NAME...` is to start them: it knows no priorities then.

SHORT proves every promise of the README once. CHANGED has for each part of the tree the tests that a change of it can break first;
scripts/test.sh --all has the rest.
"""
import fnmatch
import json
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def units(*names):
    """Units in two precisions: 4-byte elements, and 2-byte elements with their conversions."""
    return [f"{name}_{bits}" for name in names for bits in ("32", "16")]


KERNELS = units("backend", "boundary", "collision", "near", "runs", "slot", "surface", "sweep", "tables")
# The same for a header of all kernels: 4-byte elements, and of 2 bytes how they are stored, moved and computed with.
HEADERS = [name for name in KERNELS if name.endswith("_32")] + ["backend_16", "boundary_16", "collision_16", "slot_16"]
SCALARS = units("scalars", "scalar_sums")
DOMAIN = units("decompose", "domain")
FLOW = units("elementary", "exact", "flow", "lattice")
CASE = ["case", "case_faces", "case_keys", "case_level", "case_quantity", "case_refine", "case_same", "case_scalars", "case_wall", "profile",
        "signal", "limits", "bad_input"]
BODY = ["array", "mesh", "shape", "stl", "voxels"]
FILES = ["file", "image", "seal", "series", "statistics", "vtkamr", "vtkhdf", "child"]
HOST = ["machine", "energy", "ceiling", "bench_cases", "stored", "run_signals"]
RUNS = ["resume", "folder", "damage", "stopping", "divergence", "reports", "kills"]
RANKS = ["reference_ranks_32_4", "tables_ranks_32_2", "sets_ranks_3", "agree_ranks_3", "vtkhdf_ranks_3", "output_resume_3", "pores_ranks_3",
         "levels_ranks_3"]
PHYSICS = ["poiseuille", "couette", "duct", "cavity_100", "taylor_green_2d_x", "abc", "mass_fp32", "momentum", "rest", "kovasznay",
           "heat_walls", "refined_reference", "refined_measures", "outlets", "inlets", "womersley", "surfaces", "symmetry", "flow_rate", "cavity_1000"]
# The promises of the README: what proves each.
SHORT = {
    "one text file describes a case, and mistakes are found before": CASE,
    "runs survive their jobs, on any number of ranks": RUNS + ["killed", "signals", "output_resume_3", "earlier", "refined_files"],
    "the same bits on any ranks, threads and instruction sets": ["selftest", "random_flows", "hash_ranks", "series_ranks", "field_ranks"] + RANKS,
    "the physics": PHYSICS + FLOW + SCALARS,
    "kernels, domains and levels": KERNELS + DOMAIN + ["refined", "sampling"],
    "bodies": BODY,
    "files and hosts": FILES + HOST,
    "commands, scripts and the installed program": ["commands", "install", "bundle", "python", "library", "simulation", "guards", "wrong", "layers", "packages", "choose"],
}
# Part of the tree: what a change of it can break first. The first row that fits counts.
CHANGED = [
    ("src/base/*", HOST + ["array", "file", "agree_ranks_3", "records_ranks_3", "commands"]),
    ("src/case/*", CASE),
    ("src/advice/*", CASE + ["guards", "wrong"]),
    ("src/body/*", BODY + ["voxels", "surfaces"]),
    ("src/foreign/*", ["child", "voxels"]),
    ("src/domain/*", DOMAIN + ["refined", "sampling", "pores_ranks_3", "reference_ranks_32_4"]),
    ("src/tags/*", ["boundary_32", "tables_32", "pores_ranks_3", "levels_ranks_3", "guards", "refined"]),
    ("src/solver/seam*", ["levels_ranks_3", "refined_reference", "refined_scheme"]),
    ("src/solver/exchange*", ["standin_runs", "levels_ranks_3", "refined_reference", "reference_ranks_32_4", "sets_ranks_3"]),
    ("src/solver/peers*", ["standin_runs", "levels_ranks_3", "reference_ranks_32_4"]),
    ("src/solver/*", ["backend_32", "flow_32", "reference_ranks_32_4", "sets_ranks_3", "levels_ranks_3", "selftest"]),
    ("src/measure/*", ["scalar_sums_32", "exact_32", "flow_rate", "momentum", "series_ranks", "refined_driven", "refined_cylinder", "refined_plane"]),
    ("src/bench/*", ["bench_cases", "ceiling", "bench"]),
    ("src/cpu/*", KERNELS + SCALARS + ["stored", "selftest"]),
    ("src/predict/*", ["scaling"]),
    ("src/io/*", FILES + ["vtkhdf_ranks_3", "output_resume_3"]),
    ("src/run/series*", ["tables_ranks_32_2", "series_ranks", "skins", "scalar_ranks", "dispersion_ranks", "resume", "kills"]),
    ("src/run/*", RUNS + ["earlier", "output_resume_3"]),
    ("src/lib/*", ["library", "simulation", "notebooks", "layers"]),
    ("src/cli/*", ["commands", "guards", "selftest"]),
    ("src/main.c", ["commands"]),
    ("src/*", ["commands", "selftest"]),
    ("include/seam.h", ["levels_ranks_3", "refined_reference", "refined_scheme"]),
    ("include/scalar*", SCALARS + ["heat_walls", "scalar_ranks"]),
    ("include/open.h", ["boundary_32", "boundary_16", "tables_32", "tables_ranks_32_2", "outlets", "inlets"]),
    ("include/surface.h", ["surface_32", "surface_16", "near_32", "surfaces", "momentum"]),
    ("include/*", HEADERS + ["elementary_32", "exact_32", "flow_32", "lattice_32", "scalars_32", "scalar_sums_32", "selftest"]),
    ("cuda/*", ["standin", "backend_32_lazy", "standin_runs", "mutants_look"]),
    ("configs/*", ["selftest", "wrong"]),
    ("python/src/tagflow/simulation.py", ["simulation", "notebooks", "python"]),
    ("python/*", ["python", "python_damage"]),
    ("notebooks/*", ["notebooks"]),
    ("scripts/wheel.sh", ["wheel", "scripts", "install"]),
    ("scripts/libraries.sh", ["wheel", "bundle", "install"]),
    ("scripts/*", ["scripts", "install"]),
    ("debian/*", ["packages"]),
    ("packaging/*", ["packages"]),
    ("docs/*", ["site", "case_keys"]),
    ("tests/unit/test_*", []),  # the test itself: see below
    ("tests/*", ["choose"]),
    ("*meson*", ["choose", "packages"]),
    ("*", []),  # texts
]


def short():
    return sorted({name for names in SHORT.values() for name in names})


def tests(build):
    """Priorities of tests by their names."""
    said = subprocess.run(["meson", "introspect", "--tests", build], capture_output=True, text=True, check=True)
    return {test["name"]: test["priority"] for test in json.loads(said.stdout)}


def in_order(names, known):
    return sorted(names, key=lambda name: (-known.get(name, 0), name))


def broken_by(path, known):
    """Names of tests for a changed file: those of its row, and those that bear its name."""
    stem = os.path.splitext(os.path.basename(path))[0].removeprefix("test_")
    row = next(names for pattern, names in CHANGED if fnmatch.fnmatch(path, pattern))
    return set(row) | {name for name in known if name in (stem, stem + "_32", stem + "_16", stem + "_ranks")}


def changed(revision, build):
    def git(*words):
        return subprocess.run(["git", "-C", ROOT, *words], capture_output=True, text=True, check=True).stdout.splitlines()

    paths = git("diff", "--name-only", revision) + git("ls-files", "--others", "--exclude-standard")
    known = tests(build)
    return in_order({name for path in paths for name in broken_by(path, known)} & known.keys(), known)


def check(build):
    known, good = tests(build), True
    named = set(short()) | {name for _, names in CHANGED for name in names}
    standin = {"standin", "backend_32_lazy", "standin_runs", "mutants_look"}  # built where there is a C++ compiler
    for name in sorted(named - known.keys() - standin):
        print(f"FAIL: no test is called {name}")
        good = False
    tree = [os.path.relpath(os.path.join(where, name), ROOT) for part in ("src", "include", "cuda", "python", "scripts")
            for where, _, names in os.walk(os.path.join(ROOT, part)) for name in names]
    used = {next(pattern for pattern, _ in CHANGED if fnmatch.fnmatch(path, pattern)) for path in tree}
    for pattern, names in CHANGED:
        if pattern.startswith(("src/", "include/", "cuda/")) and pattern not in used:
            print(f"FAIL: no file is matched by {pattern}")
            good = False
    for path in tree:
        if path.endswith((".c", ".h", ".cu")) and not broken_by(path, known):
            print(f"FAIL: no test for a change of {path}")
            good = False
    # Three changes, and what they must bring.
    for path, wanted in (("src/case/key_table.c", "case_keys"), ("include/open.h", "boundary_16"), ("src/io/seal.c", "seal"),
                         ("tests/unit/test_shape.c", "shape")):
        if wanted not in broken_by(path, known):
            print(f"FAIL: a change of {path} runs {sorted(broken_by(path, known))}, not {wanted}")
            good = False
    if good:
        print(f"{len(short())} tests in the short suite, {len(CHANGED)} parts of the tree")
    return good


if __name__ == "__main__":
    what = sys.argv[1:]
    if what[:1] == ["short"] and len(what) == 2:
        print(*in_order(short(), tests(what[1])))
    elif what[:1] == ["changed"] and len(what) == 3:
        print(*changed(what[1], what[2]))
    elif what[:1] == ["check"] and len(what) == 2:
        sys.exit(not check(what[1]))
    else:
        sys.exit(__doc__)
