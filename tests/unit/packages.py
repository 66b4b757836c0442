#!/usr/bin/python3
"""Recipes of packages agree with meson.build: one version everywhere, and every recipe names every library."""
import os
import re
import sys
import types

ROOT = os.environ.get("TAGFLOW_SOURCE_ROOT", os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
# What meson.build calls it: its packages in Debian, Spack and conda. None: the compiler brings it, or another one serves.
PACKAGES = {
    "mpi": ("libopenmpi-dev", "openmpi", "openmpi"),
    "mpich": None,  # in place of Open MPI
    "hdf5-": ("libhdf5-openmpi-dev", "hdf5", "hdf5"),
    "hdf5": ("libhdf5-openmpi-dev", "hdf5", "hdf5"),
    "yaml-0.1": ("libyaml-dev", "libyaml", "yaml"),
    "libpng": ("libpng-dev", "libpng", "libpng"),
    "libtiff-4": ("libtiff-dev", "libtiff", "libtiff"),
    "jansson": ("libjansson-dev", "jansson", "jansson"),
    "libxxhash": ("libxxhash-dev", "xxhash", "xxhash"),
    "openmp": None,
}
wrong = []


def text(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def spack():
    """What the recipe for Spack declares: versions, names of what it depends on."""
    said = {"version": [], "depends_on": []}
    module = types.ModuleType("spack.package")
    for name in ("version", "license", "depends_on", "requires", "conflicts", "run_after"):
        # run_after returns a decorator; the others return nothing that is used.
        setattr(module, name, lambda what, *_, _name=name, **__: said.setdefault(_name, []).append(what) or (lambda f: f))
    bases = {"meson": "MesonPackage", "cuda": "CudaPackage"}
    known = {"spack": types.ModuleType("spack"), "spack.package": module, "spack_repo": types.ModuleType("spack_repo"),
             "spack_repo.builtin": types.ModuleType("builtin"), "spack_repo.builtin.build_systems": types.ModuleType("build_systems")}
    for name, base in bases.items():
        known["spack_repo.builtin.build_systems." + name] = types.ModuleType(name)
        setattr(known["spack_repo.builtin.build_systems." + name], base, type(base, (), {}))
    sys.modules.update(known)
    exec(compile(text("packaging/spack/spack_repo/tagflow/packages/tagflow/package.py"), "package.py", "exec"), {"__name__": "tagflow"})
    return said["version"], {re.match(r"[\w-]+", what)[0] for what in said["depends_on"]}


build = text("meson.build")
version = re.search(r"^  version: '(\d+\.\d+\.\d+)',$", build, re.M)[1]
spack_versions, spack_names = spack()
conda = text("packaging/conda/recipe.yaml")
versions = {
    "CHANGELOG.md": re.search(r"^## \[(.*?)\]", text("CHANGELOG.md"), re.M)[1],
    "CITATION.cff": re.search(r"^version: (\S+)$", text("CITATION.cff"), re.M)[1],
    "debian/changelog": re.match(r"tagflow \((.*?)\)", text("debian/changelog"))[1],
    "packaging/conda/recipe.yaml": re.search(r'^  version: "(.*)"$', conda, re.M)[1],
    "packaging/spack": spack_versions[0],
}
for path, pattern in (("python/pyproject.toml", r'^version = "(.*)"$'), ("python/src/tagflow/_version.py", r'^__version__\b.*"(.*)"$')):
    if os.path.exists(os.path.join(ROOT, path)):
        found = re.search(pattern, text(path), re.M)
        if found:
            versions[path] = found[1]
wrong += [f"version {found} in {path}, {version} in meson.build" for path, found in versions.items() if found != version]

control = text("debian/control")
debian_names = set(re.findall(r"^ ([\w.+-]+)", control[control.index("Build-Depends:"):control.index("Standards-Version:")], re.M))
setup_names = set(re.search(r"^run='(.*?)'", text("scripts/setup.sh"), re.M | re.S)[1].split())
conda_names = set(re.findall(r"^    - ([\w-]+)", conda[conda.index("  host:"):conda.index("  run:")], re.M))
needed = re.findall(r"\bdependency\('([^']+)'", build)
for name in needed:
    if name not in PACKAGES:
        wrong.append(f"meson.build needs {name}: add its packages to PACKAGES in this test and to the recipes")
    elif PACKAGES[name]:
        wrong += [f"{where} does not name {package}, for {name} of meson.build" for where, names, package in
                  zip(("debian/control", "packaging/spack", "packaging/conda"), (debian_names, spack_names, conda_names), PACKAGES[name])
                  if package not in names]
        if PACKAGES[name][0] not in setup_names:
            wrong.append(f"scripts/setup.sh does not name {PACKAGES[name][0]}, for {name} of meson.build")
wrong += [f"PACKAGES has {name}, which meson.build does not need" for name in PACKAGES.keys() - set(needed)]

# What recipes name besides.
for path, pattern in (("packaging/Dockerfile", r"packaging/[\w.]+"), ("packaging/tagflow.def", r"(?:packaging|configs)/[\w.]+"),
                      ("packaging/conda/recipe.yaml", r"configs/[\w.]+")):
    wrong += [f"{path} names {name}, which is not there" for name in re.findall(pattern, text(path))
              if not os.path.exists(os.path.join(ROOT, name))]
installed = re.findall(r"doc/tagflow/([\w.]+)", text("debian/rules"))
wrong += [f"debian/rules removes {name}, which meson.build does not install" for name in installed if f"'{name}'" not in build]

print("\n".join(wrong) if wrong else f"version {version} in {len(versions)} other files; {len(needed)} dependencies in 4 lists")
sys.exit(bool(wrong))
