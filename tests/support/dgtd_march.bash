# What the stage tests of dgtd-march share. Sourced; the work folder is the current one.
export OMP_NUM_THREADS=1 # small meshes on busy machines
. "$ROOT/tests/support/march.bash"
cube() { "$BUILD/tests-programs/dgtd_model" "$@"; } # FILE name=value ...: a model of the unit cube
dgtd() { penstock-dgtd-march -q "$@" > /dev/null; }
# meshed NAME OPTIONS OF mesh-partition..: NAME.hdf and NAME.h5 of NAME.geo
meshed() {
    penstock-mesh-import "$1.geo" "$1.hdf" -q > /dev/null
    penstock-mesh-partition "$1.hdf" "$1.h5" -q "${@:2}" > /dev/null
}
metre=3.3356409519815204e-09 # s: c0 t = 1 m
# same RUN RUN: all that two runs have written agrees to the bit.
same() {
    local kind
    for kind in "" .electric .magnetic .phasors; do
        [ -e "$1$kind.h5" ] || continue
        identical "$1$kind.h5" "$2$kind.h5"
    done
}
# left RUN: files beside the outputs of a run.
left() { ls "$1".* | grep -vE "^$1(\.electric|\.magnetic|\.phasors(\.part[0-9]+)?)?\.h5$" || true; }
