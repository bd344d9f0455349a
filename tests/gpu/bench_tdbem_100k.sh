#!/bin/bash
# Spheres from their meshes to densities on one device, upper tiles of halves (--symmetric on --values f16), JSON records on stdout, talk on stderr:
#   tdbem-100k   12,252, 24,012, 47,612 and 96,042 unknowns: a sweep of n_g = 16 steps, bytes on the device, march and assembly
# CUTS: triangles of the icosahedron are cut into the squares of these, 35 49 69 98; STEPS: 5000; DEVICE: cuda.
set -eu
. "$(dirname "$0")/lib.sh"
measuring tdbem-march
for n in ${CUTS:-35 49 69 98}; do
    awk -v n="$n" -f "$ROOT/tests/support/icosphere.awk" > sphere.off
    penstock-mesh-import -q sphere.off sphere.h5 --order hilbert --force > /dev/null
    penstock-tdbem-march -q sphere.h5 out.h5 --formulation sound-hard --speed 340 --courant 2 --points 3 --values f16 --symmetric on --force \
        --steps "${STEPS:-5000}" --group 16 --device "${DEVICE:-cuda}" --checkpoint-every 0 --emitter plane:dir=0.94,0.34,0:width=0.001 \
        --json > run.json
    cat run.json >&2
    size="$(json unknowns run) unknowns, halves above the diagonal, $(json steps run) steps, n_g 16"
    record tdbem-100k "a sweep" "$(calculate "$(json summation run) / $(json sweeps run)")" s "" "$size"
    record tdbem-100k "tiles on the device" "$(json tiles_on_device run)" B "" "$size"
    record tdbem-100k "assembling in memory" "$(json assembled_in run)" s "" "$size"
    record tdbem-100k "march, history written" "$(calculate "$(json time run) - $(json assembled_in run)")" s 120 "$size"
    rm -f out.h5 out.workers.h5
done
