#!/bin/bash
# penstock-hbem-solve --mirror on a CUDA device, from the programs on PATH: bodies near and far from one plane and from two,
# of all conditions, in both precisions, with what cores assemble and multiply; fields of them. DEVICE=cpu: all by cores.
. "$(dirname "$0")/near.sh"
run penstock-mesh-surface s.hdf --divisions 16
run penstock-cluster-build s.hdf c.h5
medium="--density 1000 --speed 1500"
# images NAME OPTIONS..: by cores, and on the device
images() {
    local name=$1 precision
    shift
    run penstock-hbem-solve s.hdf c.h5 cores.hdf --wavenumber 4 --inner-tolerance 1e-12 "$@" --device cpu --force
    grep -E "^matrices " out
    run penstock-hbem-field cores.hdf cores.h5 --incidence all --at 0,0,1.3 --at 2,.1,.2 --device cpu --force
    for precision in fp64 fp32; do
        run penstock-hbem-solve s.hdf c.h5 device.hdf --wavenumber 4 --inner-tolerance 1e-12 "$@" --precision $precision --device "$device" --force
        grep -E "^assembly_time|^device" out
        near cores.hdf device.hdf 1e-3 "$name, $precision"
        cp device.hdf first.hdf
        run penstock-hbem-solve s.hdf c.h5 device.hdf --wavenumber 4 --inner-tolerance 1e-12 "$@" --precision $precision --device "$device" --force
        near first.hdf device.hdf 1e-15 "$name, $precision, again"
        run penstock-hbem-field device.hdf device.h5 --incidence all --at 0,0,1.3 --at 2,.1,.2 --device "$device" --force
        near cores.h5 device.h5 1e-3 "$name, $precision, its field"
    done
}
down="--direction 0,0,-1 --source point:1,1,1.5"
images "rigid above a soft plane" --mirror z=-2.5:soft $down
images "rigid near a rigid plane" --mirror z=-1.03:rigid $down --skeleton
images "soft near a soft plane" --mirror z=-1.03:soft $down --boundary others:soft
images "lined between two planes" --mirror z=-1.2:soft --mirror x=-2:rigid $down --boundary others:impedance:1,-.5
images "vibrating above a plane" --mirror z=-1.1:rigid $down $medium --boundary others:velocity:0,0,1 --boundary others:impedance:2
images "fluid above a plane" --mirror z=-1.1:rigid $down $medium --boundary others:fluid:density=1100,speed=1200
images "rigid near a rigid plane, in a medium that absorbs" --mirror z=-1.03:rigid $down --skeleton --absorption .4Np/m
images "soft above a soft plane, in a medium that absorbs" --mirror z=-1.2:soft $down --boundary others:soft --absorption 2dB/m
echo "$passed passed"
