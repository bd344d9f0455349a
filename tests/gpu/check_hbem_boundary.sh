#!/bin/bash
# penstock-hbem-solve --boundary on a CUDA device, from the programs on PATH: soft, lined and vibrating bodies and sources;
# products of matrices in files as the cores have them, matrices assembled on the device within their tolerance.
# DEVICE=cpu runs all of it by the cores. Leaves nothing.
. "$(dirname "$0")/near.sh"
run penstock-mesh-surface s.hdf --divisions 16
run penstock-cluster-build s.hdf c.h5
run penstock-cluster-build s.hdf d.h5 --test p1 --trial p0
options="--inner-tolerance 1e-12 --direction 0,0,1 --source point:1,1,1.5 --source dipole:-2,0,1,0,1,0"
# loss: of the medium outside
loss=
# kind NAME "OPERATORS" "OPERATORS OF p0" OPTIONS..
kind() {
    local name=$1 files= o
    for o in $2; do
        run penstock-hmatrix-assemble c.h5 $o.h5 --operator $o --wavenumber 4 $loss --device cpu --force
        files="$files $o.h5"
    done
    for o in ${inside:-}; do
        run penstock-hmatrix-assemble c.h5 inner-$o.h5 --operator $o --wavenumber 5 --device cpu --force
        files="$files inner-$o.h5"
    done
    for o in $3; do
        run penstock-hmatrix-assemble d.h5 d$o.h5 --operator $o --wavenumber 4 $loss --device cpu --force
        files="$files d$o.h5"
    done
    shift 3
    run penstock-hbem-solve s.hdf $files cores.hdf $options $loss "$@" --device cpu --force
    run penstock-hbem-solve s.hdf $files device.hdf $options $loss "$@" --device "$device" --force
    cp out told
    near cores.hdf device.hdf 1e-8 "$name, files"
    bytes=$(awk '$1 == "matrices" { print $2; exit }' told)
    run penstock-hbem-solve s.hdf $files streamed.hdf $options $loss "$@" --device "$device" --force --device-memory $((bytes * 3 / 4 + 40000000))
    near device.hdf streamed.hdf 1e-12 "$name, streamed"
    run penstock-hbem-solve s.hdf c.h5 memory.hdf $options $loss "$@" --wavenumber 4 --device "$device" --force
    grep steps_most out
    near cores.hdf memory.hdf 1e-3 "$name, in memory"
}
medium="--density 1000 --speed 1500"
kind soft "slp adlp" "" --boundary others:soft
kind impedance "slp dlp adlp hyps" "" --boundary others:impedance:1,-.5
kind velocity "dlp hyps" "slp adlp" $medium --boundary others:velocity:0,0,1
kind both "slp dlp adlp hyps" "slp adlp" $medium --boundary others:velocity:0,0,1 --boundary others:impedance:2
inside="slp dlp adlp hyps"
kind fluid "slp dlp adlp hyps" "" $medium --boundary others:fluid:density=1100,speed=1200
loss="--absorption .4Np/m"
kind "fluid in a medium that absorbs" "slp dlp adlp hyps" "" $medium --boundary others:fluid:density=1100,speed=1200
inside=
kind "impedance in a medium that absorbs" "slp dlp adlp hyps" "" --boundary others:impedance:1,-.5
kind "vibrating in a medium that absorbs" "dlp hyps" "slp adlp" $medium --boundary others:velocity:0,0,1
echo "$passed passed"
