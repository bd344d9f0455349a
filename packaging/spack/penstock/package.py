# A recipe for Spack: copy this folder into a repository of yours (spack repo create, spack repo add), then
#   spack dev-build penstock@main     in a clone of Penstock, or spack install penstock after "git" was set below.
from spack.package import *


class Penstock(MakefilePackage):
    """Out-of-core pipeline of field solvers: sound, Maxwell's equations, gravity, boundary elements, fast sums."""

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
    depends_on("netlib-lapack+lapacke~external-blas")
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
        on = lambda variant: "1" if self.spec.satisfies(f"+{variant}") else "0"
        mpi = [f"MPICC={self.spec['mpi'].mpicc}"] if self.spec.satisfies("+mpi") else []
        return [f"PREFIX={self.prefix}", "HDF5=hdf5", *mpi, f"WITH_MPI={on('mpi')}", f"WITH_CUDA={on('cuda')}",
                f"WITH_GMSH={on('gmsh')}", f"WITH_NETCDF={on('grids')}", f"WITH_GEOTIFF={on('grids')}"]

    def build(self, spec, prefix):
        make(*self.options(), "all")

    def install(self, spec, prefix):
        make(*self.options(), "install")
