from spack_repo.builtin.build_systems.cuda import CudaPackage
from spack_repo.builtin.build_systems.meson import MesonPackage

from spack.package import *


class Tagflow(MesonPackage, CudaPackage):
    """Lattice Boltzmann flow solver for laptops and clusters: D3Q19, MPI, HDF5, complex geometry, results with the same bits
    on any number of ranks."""

    # No address yet: `spack dev-build` and `spack develop` take a folder with the sources.
    version("0.1.0")

    license("BSD-3-Clause")

    depends_on("c", type="build")
    depends_on("cxx", type="build", when="+cuda")
    depends_on("meson@1.0:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("openmpi")
    depends_on("hdf5@1.10: +mpi")
    depends_on("libyaml")
    depends_on("libpng")
    depends_on("libtiff@4.5:")
    depends_on("jansson")
    depends_on("xxhash", type="build")
    depends_on("python@3.9:", type=("build", "run"))
    depends_on("py-numpy", type="run")
    depends_on("py-h5py", type="run")
    depends_on("py-matplotlib", type="run")

    conflicts("cuda_arch=none", when="+cuda", msg="name the GPUs, as in cuda_arch=80,90")

    def meson_args(self):
        if self.spec.satisfies("+cuda"):
            archs = ",".join(self.spec.variants["cuda_arch"].value)
            return ["-Dtests=false", "-Dcuda=enabled", f"-Dgpu_archs={archs}"]
        return ["-Dtests=false", "-Dcuda=disabled"]

    @run_after("install")
    def scripts_use_python_of_spack(self):
        for script in find(self.prefix.share.tagflow.scripts, "*.py", recursive=False):
            filter_file("^#!/usr/bin/python3$", f"#!{self.spec['python'].command.path}", script)
