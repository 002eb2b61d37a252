# SPDX-License-Identifier: see LICENSE
from spack.package import *


class Nkigrid(CMakePackage):
    """Batch system for experiments in which language models write NKI kernels: grids, Slurm arrays, a CPU simulator of
    NKI, logs in HDF5, tables with intervals."""

    # Built from a checkout (packaging/README.md): there is no released archive to fetch.
    version("main", branch="main")

    variant("tests", default=False, description="Build the tests")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")

    depends_on("boost")
    depends_on("cli11@2:")
    depends_on("cpp-httplib")
    depends_on("curl")
    depends_on("fmt@9:")
    depends_on("hdf5@1.10:~mpi")
    depends_on("libseccomp@2.5:")
    depends_on("mpi")
    depends_on("nlohmann-json@3.11:")
    depends_on("openblas")
    depends_on("openssl")
    depends_on("random123")
    depends_on("slurm")
    depends_on("yaml-cpp")
    depends_on("zlib-api")

    # What is started and imported at run time.
    depends_on("python@3.10:", type=("build", "run"))
    depends_on("py-numpy", type="run")
    depends_on("py-torch", type="run")

    depends_on("benchmark", type="build", when="+tests")
    depends_on("googletest@1.12: +gmock", type="build", when="+tests")
    depends_on("py-h5py", type="test", when="+tests")
    depends_on("py-scipy", type="test", when="+tests")

    generator("ninja")
    # Sandboxed children, fork servers, pidfd: Linux alone.
    requires("platform=linux")
    conflicts("%gcc@:11", msg="C++20 as g++ 12 has it")

    def cmake_args(self):
        return [
            self.define_from_variant("NKIGRID_TESTS", "tests"),
            self.define("NKIGRID_PYTHON", self.spec["python"].command.path),
        ]
