#!/bin/bash
# penstock-fmm with GPU workers against CPU workers alone: to rounding, one and two trees, precisions,
# kernels, pairs from one side and from both, little memory on the device; a replayed mapping to the bit. BUILD:
# the object folder; QUICK=1: a few of the cases.
set -eu
BUILD=${BUILD:-build/current}
. "$(dirname "$0")/lib.sh"
generate() { penstock-particle-import --generate "$@" > /dev/null; }
tree() { penstock-octree-build "$@" --box 0,0,0,1 > /dev/null; }
generate cube --count 200000 s.h5
generate ellipsoid --count 200000 --right-hand-sides 2 e.h5
generate cube --count 20000 --seed 4 t.h5
tree s.h5 st.h5 --height 5 --group 100
tree e.h5 et.h5 --height 8 --group 150
tree e.h5 bt.h5 --height 6 --group 100 --targets t.h5
tree t.h5 ft.h5 --height 3 --group 20
rows() { # each: tree, tolerance, options
    cat << END
st 1e-12 --order 3
st 1e-12 --order 5 --kernel yukawa
st 1e-12 --order 7
st 1e-12 --order 5 --basis plain
st 1e-4 --order 5 --precision fp32
et 1e-12 --order 5
et 1e-12 --order 5 --pairs mutual
et 1e-4 --order 3 --precision mixed
bt 1e-12 --order 5
ft 1e-12 --order 5
st 1e-12 --order 4 --device-memory 40M
END
}
rows | awk -v quick="${QUICK:-}" '!quick || NR == 7 || NR == 10' > cases
while read -r tree tolerance how; do
    penstock-fmm $tree.h5 a.h5 $how --device cpu --force > /dev/null
    for kinds in down all; do
        penstock-fmm $tree.h5 b.h5 $how --gpu-kinds $kinds --device cuda --resident no --workers 1 --force --trace tr.h5 > /dev/null
        penstock-compare b.h5 a.h5 --tolerance "$tolerance" > out || { cat out; fail "$tree $how, $kinds"; }
        penstock-verify tr.h5 > /dev/null || fail "the trace of $tree $how, $kinds"
        penstock-inspect tr.h5 >> inspected
    done
done < cases
penstock-fmm st.h5 a.h5 --order 5 --device cpu --force > /dev/null
for how in "auto" "two" "table" "two --pairs mutual" "down --workers 3 --termination none"; do
    penstock-fmm st.h5 b.h5 --order 5 --device cuda --resident no --force --trace tr.h5 --gpu-kinds $how > /dev/null
    penstock-compare b.h5 a.h5 --tolerance 1e-12 > out || { cat out; fail "kinds $how"; }
    penstock-verify tr.h5 > /dev/null || fail "the trace of kinds $how"
done
for kind in P2M M2M encode M2L L2L L2P P2P; do
    grep -q "$kind  *CPU .*GPU [1-9]" inspected || fail "no $kind was on a GPU"
done
penstock-fmm et.h5 a.h5 --order 5 --device cuda --resident no --gpu-kinds table --workers 3 --force --trace m.h5 > /dev/null
penstock-fmm et.h5 b.h5 --order 5 --device cuda --resident no --gpu-kinds table --workers 3 --force --mapping m.h5 > /dev/null
penstock-compare b.h5 a.h5 --tolerance 0 > /dev/null || fail "a replayed mapping has other bits"
echo "penstock-fmm on GPUs: passed"
