#!/bin/bash
# The physics verification of the tdbem solver: spheres of 80 to 1280 triangles against exact
# series, every row of the guide's table (numerics guide, section 6), measured errors beside
# the guide's. Usage: verify.sh quick|full [FOLDER for the files]
#
# Rows: what, levels of subdivision, h/D, points of the outer rule, the guide's error, gate.
# A row passes within 10 % of the guide's error and below its gate. The rows soft10k and hard10k
# march 10,000 steps in single precision: amplitude at their end relative to half way, at most 1.
# DEVICE=cuda has a GPU assemble and march.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
what=${1:-full}
device=${DEVICE:-cpu}
work=${2:-$(mktemp -d)}
mkdir -p "$work"
[ $# -ge 2 ] || trap 'rm -rf "$work"' EXIT
cd "$work"

quick='
uniform 1 4 6 5.8e-2 -
plane   1 4 6 1.03e-1 -
far     1 4 3 4.7e-2 -
uniform 2 4 6 1.7e-2 -
plane   2 4 6 3.0e-2 -
far     2 4 3 8.3e-3 -
hard    2 2 6 6.9e-2 -
uniform 3 4 3 3.2e-3 4e-3
plane   3 4 3 9.2e-3 1e-2
far     3 4 3 1.9e-3 2e-3
'
more='
uniform 2 1 6 1.5e-1 -
uniform 2 2 6 3.7e-2 -
plane   2 1 6 1.26e-1 -
plane   2 2 6 5.1e-2 -
uniform 3 1 3 3.5e-2 -
uniform 3 2 3 1.2e-2 -
plane   3 1 3 4.4e-2 -
plane   3 2 3 1.8e-2 -
hard    2 1 6 1.6e-1 -
hard    2 3 6 5.0e-2 -
hard    2 4 6 4.1e-2 -
hard    3 1 6 5.1e-2 -
hard    3 2 6 1.7e-2 -
soft10k 2 4 6 1 1
hard10k 2 4 6 1 1
'
case $what in
    quick) rows=$quick ;;
    full) rows=$quick$more ;;
    *) echo "usage: verify.sh quick|full [FOLDER]" >&2; exit 2 ;;
esac

# figure NAME: the first number of that name in JSON on stdin.
figure() { grep -o "\"$1\": [-+0-9.eE]*" | head -n 1 | cut -d' ' -f2; }

mesh() { # LEVELS
    [ -e sphere$1.h5 ] && return
    awk -f "$here/icosphere.awk" -v levels="$1" -v area=12.566370614359172 > sphere$1.off
    penstock-mesh-import -q sphere$1.off sphere$1.h5 > import$1.txt
}

slices() { # LEVELS H/D POINTS FORMULATION [PRECISION] -> name of the file
    local name=slices-$4-$1-$2-$3${5:-}.h5
    [ -e $name ] || penstock-slice-assemble -q sphere$1.h5 $name --formulation "$4" --courant "$2" \
        --points "$3" --speed 1 --precision ${5:-fp64} --device $device > assemble.txt
    echo $name
}

matrix() { # SLICES -> what is marched: on GPUs blocks
    [ $device != cpu ] || { echo "$1"; return; }
    [ -e "warp-$1" ] || penstock-slice-block -q "$1" "warp-$1" > block.txt
    echo "warp-$1"
}

# Times T of each experiment, its wave, and how its error is taken.
uniform() { # LEVELS SLICES
    march "$2" $1 run.h5 5 uniform:width=0.5:delay=2.5
    penstock-probe -q run.h5 sphere$1.h5 got.h5 --force --mean > probe.txt
    penstock-sphere-exact -q exact.h5 --force --quantity uniform-density --like got.h5 --radius 1
    penstock-compare got.h5 exact.h5 --norm space-time --tolerance 9 --json | figure relative_l2
}

surface() { # LEVELS SLICES QUANTITY T
    march "$2" $1 run.h5 "$4" plane:dir=0,0,1:width=0.5:delay=3
    penstock-sphere-exact -q exact.h5 --quantity $3 --like run.h5 --mesh sphere$1.h5
    penstock-compare run.h5 exact.h5 --norm space-time --weights sphere$1.h5 --tolerance 9 --json |
        figure relative_l2
}

far() { # LEVELS SLICES: the worst of five angles
    march "$2" $1 run.h5 15 plane:dir=0,0,1:width=0.5:delay=5
    penstock-probe -q run.h5 sphere$1.h5 got.h5 --from 2 --to 13 --direction 0,0 \
        --direction 45,0 --direction 90,0 --direction 135,0 --direction 180,0 > probe.txt
    penstock-sphere-exact -q exact.h5 --quantity soft-far --like got.h5
    penstock-compare got.h5 exact.h5 --norm space-time --tolerance 9 --json | figure channel_largest
}

# 10,000 steps in single precision: what is left at the end, relative to what was left half way.
long() { # LEVELS SLICES
    local half
    penstock-tdbem-march -q "$(matrix "$2")" sphere$1.h5 run.h5 --force --steps 10000 \
        --emitter plane:dir=0,0,1:width=0.5:delay=3 --device $device > march.txt
    half=$(penstock-inspect run.h5 --json | figure dt | awk '{ print 5000 * $1 }')
    penstock-probe -q run.h5 sphere$1.h5 got.h5 --force --surface all > probe.txt
    penstock-probe -q run.h5 sphere$1.h5 half.h5 --force --surface all --to "$half" > probe.txt
    for part in got half; do
        penstock-spectrum -q $part.h5 spectrum.h5 --force --frequencies 0.1 --json | figure truncation
    done | awk 'NR == 1 { end = $1 } NR == 2 { print end / $1 }'
}

march() { # SLICES LEVELS HISTORY T EMITTER
    penstock-tdbem-march -q "$(matrix "$1")" sphere$2.h5 "$3" --force --emitter "$5" --time "$4" \
        --device $device > march.txt
}

failures=0
printf '%-8s %9s %4s %4s %11s %11s %7s\n' what triangles h/D rule measured guide ratio
while read -r kind levels courant points guide gate; do
    [ -n "$kind" ] || continue
    mesh $levels
    case $kind in
        uniform) error=$(uniform $levels "$(slices $levels $courant $points sound-soft-s)") ;;
        plane) error=$(surface $levels "$(slices $levels $courant $points sound-soft-s)" soft-density 24) ;;
        far) error=$(far $levels "$(slices $levels $courant $points sound-soft-s)") ;;
        hard) error=$(surface $levels "$(slices $levels $courant $points sound-hard)" hard-surface \
            $([ $levels = 2 ] && echo 16 || echo 12)) ;;
        soft10k) error=$(long $levels "$(slices $levels $courant $points sound-soft-s fp32)") ;;
        hard10k) error=$(long $levels "$(slices $levels $courant $points sound-hard fp32)") ;;
    esac
    verdict=$(awk -v e="${error:-nan}" -v g="$guide" -v gate="$gate" 'BEGIN {
        printf "%11.3e %11.2e %7.2f", e, g, e / g
        if (!(e + 0 == e && e > 0 && e <= 1.1 * g)) print "  EXCEEDS"
        else if (gate != "-" && e > gate) print "  ABOVE THE GATE " gate
        else print "" }')
    printf '%-8s %9d %4s %4s %s\n' $kind $((20 * 4 ** levels)) $courant $points "$verdict"
    case $verdict in *EXCEEDS* | *ABOVE*) failures=$((failures + 1)) ;; esac
done <<< "$rows"
[ $failures -eq 0 ] || { echo "$failures rows exceed the guide's errors by more than 10 %"; exit 1; }
echo "all within 10 % of the guide's errors and below the gates"
