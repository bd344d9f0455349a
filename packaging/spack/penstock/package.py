# A recipe for Spack 1: copy this folder into a repository of yours (spack repo create, spack repo
# add), then
#   spack dev-build penstock@main
# in a clone of Penstock, or spack install penstock after "git" was set below.
from spack_repo.builtin.build_systems.makefile import MakefilePackage

from spack.package import *


class Penstock(MakefilePackage):
    """Out-of-core pipeline of field solvers: sound, Maxwell's equations, gravity, boundary
    elements, fast sums."""

    license("MIT")
    version("main", branch="main")
    version("1.0.0", tag="v1.0.0")

    variant("mpi", default=True, description="several ranks")
    variant("cuda", default=False, description="device code for NVIDIA GPUs")
    variant("gmsh", default=True, description="mesh-import: mesh files and geometry")
    variant("grids", default=True, description="elevation models: NetCDF and GeoTIFF")

    depends_on("c", type="build")
    depends_on("cxx", type="build", when="+cuda")
    depends_on("gmake", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("hdf5~mpi")
    depends_on("zstd")
    depends_on("zlib-api")
    depends_on("xxhash")
    depends_on("openblas threads=pthreads")
    depends_on("fftw~mpi precision=double")
    depends_on("scotch~mpi")
    depends_on("suite-sparse")
    depends_on("mpi", when="+mpi")
    depends_on("cuda@11.8:", when="+cuda")
    depends_on("gmsh+shared+opencascade", when="+gmsh")
    depends_on("netcdf-c~mpi", when="+grids")
    depends_on("libgeotiff", when="+grids")
    depends_on("libtiff", when="+grids")
    depends_on("gnuplot", type="run")

    def options(self):
        """What the Makefile is told: its probes would find what the system has besides."""
        told = [f"PREFIX={self.prefix}", "HDF5=hdf5"]
        for variant, names in (
            ("mpi", ["MPI"]),
            ("cuda", ["CUDA"]),
            ("gmsh", ["GMSH"]),
            ("grids", ["NETCDF", "GEOTIFF"]),
        ):
            has = int(self.spec.satisfies(f"+{variant}"))
            told += [f"WITH_{name}={has}" for name in names]
        if self.spec.satisfies("+mpi"):
            told.append(f"MPICC={self.spec['mpi'].mpicc}")
        return told

    def build(self, spec, prefix):
        make(*self.options(), "all")

    def install(self, spec, prefix):
        make(*self.options(), "install")
