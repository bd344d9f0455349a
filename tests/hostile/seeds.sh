# seeds FOLDER: small valid files of the formats, by the programs. Sourced; what a program cannot make
# (no CHOLMOD, say) is left out and said.
seeds() {
    mkdir -p "$1" && cd "$1" || exit 1
    local q=">/dev/null 2>&1"
    made() { eval "$* $q" || echo "no seed: $*"; }
    made penstock-mesh-surface s.hdf --divisions 3
    made penstock-mesh-box -q box.hdf --cells 4 --size .12 --corner -.06
    made penstock-mesh-partition -q box.hdf box.h5 --parts 4
    made penstock-dgtd-setup -q box.h5 model.h5 --order 1 --material 1:eps=1
    made penstock-particle-import --generate ellipsoid --count 3000 --right-hand-sides 2 p.h5
    made penstock-octree-build p.h5 tree.h5 --height 4 --box 0,0,0,1 --group 40
    made penstock-slice-assemble -q s.hdf slices.h5 --courant 2 --speed 1
    made penstock-slice-block -q slices.h5 blocks.h5
    made penstock-cluster-build s.hdf clusters.h5 --leaf 16
    made penstock-hmatrix-assemble clusters.h5 matrix.h5 --tolerance 1e-3
    made penstock-gravity-model density.hdf --preset chx-1 --nodes 17,15,11
    made penstock-gravity-assemble density.hdf load.hdf --subdomains sub.h5 --slabs 2
    made penstock-transmission-optimize transmission.h5
    made "$BUILD/tests-programs/store_sample" sample.h5
    made "$BUILD/tests-programs/phasors_sample" phasors.h5
    made "$BUILD/tests-programs/task_trace_sample" tasks.h5
    made "$BUILD/tests-programs/worker_log_sample" workers.h5
    cd - > /dev/null
}
