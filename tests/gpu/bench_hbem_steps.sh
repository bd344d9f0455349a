#!/bin/bash
# Steps of GMRES to 1e-5 by condition and wave number: spheres of radius 1, and a prolate spheroid of 4 x 1 for rigid and soft
# bodies, in a plane wave and beside a source a third of a radius off, at 6 edges a wavelength of the slower medium. A table on
# stdout, in brackets the steps of the numerics guide (hbem-real 3: the sphere's symbols, a random right-hand side), and a JSON
# record of the most steps of rigid and soft bodies. K: wave numbers (1 pi 5 10 20); ROWS: a pattern of the rows wanted (all);
# DEVICE: cuda; WORK: a folder.
set -eu
. "$(dirname "$0")/lib.sh"
measuring hbem-solve
pi=3.14159265358979
# mesh BODY K: body.hdf and clusters.h5, fine enough for k
mesh() {
    local edge
    edge=$(calculate "(2 * $pi / (6 * $2) < .1 ? 2 * $pi / (6 * $2) : .1)")
    case $1 in
    sphere) penstock-mesh-surface -q body.hdf --divisions "$(calculate "int(2 / $edge) + 1")" --force > /dev/null ;;
    spheroid) penstock-mesh-surface -q body.hdf --shape spheroid --size 4,1 --edge "$edge" --force > /dev/null ;;
    esac
    penstock-cluster-build -q body.hdf clusters.h5 --force > /dev/null
}
# solve K OPTIONS..: steps of the right-hand side that takes most
solve() {
    local k=$1
    shift
    penstock-hbem-solve -q body.hdf clusters.h5 out.hdf --wavenumber "$k" --precision fp32 --skeleton --density 1 --speed 1 \
        --direction 0.6,0,0.8 --source "$source" --device "${DEVICE:-cuda}" --json --force "$@" > solve.json 2> said || { cat said >&2; echo none; return; }
    json steps_most solve
}
# row NAME BODY SLOWER GUIDE OPTIONS..: GUIDE: steps at each wave number; SLOWER: the inner wave number over k, at least 1
row() {
    [[ "$1" =~ ${ROWS:-.} ]] || return 0
    local name=$1 body=$2 slower=$3 guide=($4) line="| $1 |" i=0 k steps
    shift 4
    source=point:0,.3,1.3
    [ "$body" = sphere ] || source=point:.5,.3,.8
    for k in ${K:-1 pi 5 10 20}; do
        [ "$k" != pi ] || k=$pi
        mesh "$body" "$(calculate "$k * $slower")"
        steps=$(solve "$k" "$@")
        line="$line $steps${guide[i]:+ (${guide[i]})} |"
        case $name in rigid* | soft*) [ "$steps" = none ] || [ "$steps" -le "$most" ] || most=$steps ;; esac
        i=$((i + 1))
    done
    echo "$line"
}
most=0
echo "| | $(echo "${K:-1 pi 5 10 20}" | sed 's/ / | /g') |"
echo "|---|$(printf -- '---|%.0s' ${K:-1 pi 5 10 20})"
row "rigid sphere" sphere 1 "7 7 7 7 8"
row "soft sphere" sphere 1 "7 6 6 6 7" --boundary others:soft
row "rigid spheroid 4 x 1" spheroid 1 ""
row "soft spheroid 4 x 1" spheroid 1 "" --boundary others:soft
row "impedance 1" sphere 1 "8 9 11 14 17" --boundary others:impedance:1
row "impedance .1" sphere 1 "" --boundary others:impedance:.1
row "impedance 2i" sphere 1 "7 8 9 12 16" --boundary others:impedance:0,2
row "fluid, g 1.043, c1/c 1.052" sphere 1 "3 5 6 7 9" --boundary others:fluid:density=1.043,speed=1.052
row "fluid, g 2, c1/c .5" sphere 2 "9 16 24 36 63" --boundary others:fluid:density=2,speed=.5
row "gas, g .0012, c1/c .22" sphere 4.55 "14 25 34 64 120" --boundary others:fluid:density=.0012,speed=.22
[ "$most" = 0 ] || record hbem-steps "most steps of rigid and soft bodies, k = 1 .. 20" "$most" 1 12 "spheres and a spheroid of 4 x 1; to 1e-5; at most 12 asked"
