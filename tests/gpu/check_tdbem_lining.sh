#!/bin/bash
# Linings marched and assembled by a CUDA device against cores, of meshes alone: parts with poles, both equations and
# precisions, symmetric sweeps, halves, a plane; a device too small for the tiles; a kill; a sphere against its series.
# MESHES: a folder of surface meshes, NAME.h5 each, with two tags where they are to have two walls (bodies of ugly-meshes
# beside spheres are what to take); STEPS: 400; SPHERE: a mesh of the sphere of area 4 pi, 5,120 triangles or more, without
# which the series is left out. DEVICE=cpu: all by cores.
set -u
meshes=$(cd "${MESHES:?the folder of the meshes}" && pwd)
sphere=${SPHERE:+$(realpath "$SPHERE")}
. "$(dirname "$0")/lib.sh"
device=${DEVICE:-cuda} passed=0
how="--formulation sound-hard --speed 1 --courant 2 --group 16 --checkpoint-every 0 --allow short-pulse --force"
wave="--emitter plane:dir=0,0,1:width=1"
wall=b0=.1:pair=.6,-.242711950090,.75,1.854049621773557
# The plain equation adds up what solving leaves, 1e-12 a step if nothing is said: on a box 9e-11 after 400 steps by cores
# alone with another tolerance. At 1e-14 devices and cores are compared and not the ends of two iterations.
fine="--precision fp64 --tolerance 1e-14"

near() { # A B TOLERANCE WHAT
    penstock-compare "$1" "$2" --dataset /densities --no-attributes --tolerance "$3" > out 2> err || fail "$4"
    passed=$((passed + 1))
    echo "near: $4: $(figure relative_l2)"
}
# lined NAME MESH TOLERANCE OPTIONS...: on the device and by cores
lined() {
    local name=$1 mesh=$2 tolerance=$3
    shift 3
    run penstock-tdbem-march "$meshes/$mesh.h5" device.h5 --steps "${STEPS:-400}" $how $wave --device "$device" "$@"
    [ "$(figure growth_suspected)" = no ] || fail "$mesh: $name grows"
    run penstock-tdbem-march "$meshes/$mesh.h5" cores.h5 --steps "${STEPS:-400}" $how $wave --device cpu "$@"
    near cores.h5 device.h5 "$tolerance" "$mesh: $name"
}
for file in "$meshes"/*.h5; do
    mesh=$(basename "$file" .h5)
    run penstock-inspect "$file"
    two=$(grep -q '^triangles_of_tag.*,' out && echo "--admittance 1:b0=.5:pole=1,3 --admittance 2:$wall" || echo "--admittance all:$wall")
    lined "combined, fp64" "$mesh" 1e-11 $fine --combined auto $two
    lined "plain, fp64" "$mesh" 1e-11 $fine $two
    lined "plain, symmetric sweeps" "$mesh" 1e-11 $fine --symmetric on $two
    lined "combined, fp32" "$mesh" 1e-4 --precision fp32 --combined auto $two
    lined "combined, halves" "$mesh" 1e-4 --precision fp32 --values f16 --combined auto $two
    lined "before a plane" "$mesh" 1e-11 $fine --mirror 0,0,3:0,0,1:rigid $two
done

# The last of them: streamed, and killed.
long="--steps 2000 ${how/--checkpoint-every 0 /} $wave --precision fp64 --combined auto --device $device $two"
run penstock-tdbem-march "$file" whole.h5 $long
penstock-tdbem-march "$file" little.h5 $long --device-memory 1M > out 2> err && fail "a march in 1 MB"
least=$(sed -n 's/.*; \([0-9]*\) MB are needed.*/\1/p' err) # with the file's margin, and no more
run penstock-tdbem-march "$file" little.h5 $long --device-memory "${LITTLE:-$((least + least / 50 + 1))M}"
near whole.h5 little.h5 1e-11 "$mesh: streamed"
long=${long/ --force/}
timeout -s KILL "${KILL_AFTER:-1.5}" penstock-tdbem-march "$file" killed.h5 $long --checkpoint-every 160steps > out 2> err
run penstock-tdbem-march "$file" killed.h5 $long --checkpoint-every 160steps
near whole.h5 killed.h5 0 "$mesh: killed, the last $(figure steps_in_this_start) steps anew"

# ---- the series, on all vertices at once: second order in the edges, 1.6 % at ka = 4 with 1,280 triangles ----
series() { # KA
    local f
    f=$(calculate "$1 / 6.283185307179586")
    run penstock-spectrum surface.h5 f.h5 --frequencies "$f" --divide --basis -q --force
    run penstock-sphere-exact e.h5 --like f.h5 --quantity hard-surface $wave --admittance "all:$wall" -q --force
    run penstock-compare f.h5 e.h5 --norm space-time --tolerance .01
    passed=$((passed + 1))
    echo "series: ka $1: $(figure relative_l2)"
}
if [ -n "$sphere" ]; then
    run penstock-tdbem-march "$sphere" exact.h5 --time 40 $how --emitter plane:dir=0,0,1:width=.25 --device "$device" --combined .25 \
        --admittance "all:$wall"
    run penstock-probe -q exact.h5 "$sphere" surface.h5 --surface all
    for ka in .5 1 1.5 2 3 4; do series $ka; done
fi
echo "$passed passed"
