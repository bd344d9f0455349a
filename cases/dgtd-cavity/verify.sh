#!/bin/bash
# Mode (1, 1, 1) of a metal cube of 1 m through mesh-box, mesh-partition, dgtd-setup and dgtd-march:
# every row of the guide's table (numerics guide, dgtd, section 6), measured errors beside the guide's.
# Usage: verify.sh quick|full [FOLDER for the files]
#
# Rows: what, order, cells a side, fraction of the limit, steps between errors, error expected,
# tolerance. Errors: the largest over the steps of sqrt(|E - E_h|^2 + |H - H_h|^2), L2, over 1 m of
# light, fp64, initial fields interpolated. "cavity" and "damped" (sigma Z0 = 1.5 per m): the guide's
# figures; "upwind": those of specs/dgtd.md, for which the guide has none; "single": fp32.
set -eu
what=${1:-full}
work=${2:-$(mktemp -d)}
mkdir -p "$work"
[ $# -ge 2 ] || trap 'rm -rf "$work"' EXIT
cd "$work"

quick='
cavity 1 2 .9    1 3.7305e-1 2e-4
cavity 1 4 .9    1 1.7728e-1 2e-4
cavity 2 2 .9    1 1.2002e-1 2e-4
cavity 2 4 .9    1 2.4454e-2 2e-4
cavity 3 2 .9    1 2.6830e-2 2e-4
cavity 4 1 .9    1 7.7976e-2 2e-4
cavity 4 2 .9    1 6.2461e-3 2e-4
single 2 2 .9    1 1.2002e-1 3e-4
damped 1 4 .9    1 9.613e-2  3e-4
upwind 2 2 .4    1 5.7786e-2 3e-4
upwind 2 4 .4    1 7.9859e-3 3e-4
'
more='
cavity 1 8 .9    1 4.0102e-2 2e-4
cavity 3 4 .9    1 2.5125e-3 2e-4
cavity 1 2 .1125 4 3.5350e-1 2e-4
cavity 1 4 .1125 4 1.7950e-1 2e-4
cavity 1 8 .1125 4 3.9116e-2 2e-4
cavity 2 2 .1125 4 1.1791e-1 2e-4
cavity 2 4 .1125 4 2.4131e-2 2e-4
cavity 3 2 .1125 4 2.6435e-2 2e-4
cavity 3 4 .1125 4 2.4260e-3 2e-4
cavity 4 1 .1125 4 7.4273e-2 2e-4
cavity 4 2 .1125 4 6.0774e-3 2e-4
damped 1 8 .9    1 2.846e-2  3e-4
upwind 1 4 .4    1 1.0006e-1 3e-4
upwind 1 8 .4    1 2.5350e-2 3e-4
upwind 3 2 .4    1 1.1660e-2 3e-4
upwind 3 4 .4    1 8.3820e-4 3e-4
upwind 4 1 .4    1 5.3852e-2 3e-4
upwind 4 2 .4    1 2.2762e-3 3e-4
'
case $what in
    quick) rows=$quick ;;
    full) rows=$quick$more ;;
    *) echo "usage: verify.sh quick|full [FOLDER]" >&2; exit 2 ;;
esac
metre=3.3356409519815204e-9 # s

# figure NAME: the first number of that name in JSON on stdin.
figure() { grep -o "\"$1\": [-+0-9.eE]*" | head -n 1 | cut -d' ' -f2; }

partition() { # CELLS
    [ -e cube$1.h5 ] && return
    penstock-mesh-box -q cube$1.hdf --cells $1 > box.txt
    penstock-mesh-partition -q cube$1.hdf cube$1.h5 > partition.txt
}

march() { # KIND ORDER CELLS FRACTION EVERY -> the error
    local flux=centred sigma=0 precision=fp64 dt
    case $1 in
        damped) sigma=3.98162807e-3 ;; # 1.5/Z0
        upwind) flux=upwind ;;
        single) precision=fp32 ;;
    esac
    # exact limits of these meshes: C .06904/n
    dt=$(awk -v p=$2 -v n=$3 -v f=$4 'BEGIN { split("2.617 1.608 1.0608 .761", c, " "); printf "%.15g", f * c[p] * .06904 / n }')
    penstock-dgtd-setup -q cube$3.h5 model.h5 --force --order $2 --material default:eps=1,sigma=$sigma \
        --boundary outer:pec --source mode:n=1,1,1:amplitude=1,-1,0 --flux $flux --dt ${dt}m > setup.txt
    penstock-dgtd-march -q model.h5 $1-$2-$3-$4.h5 --force --time $metre --mode-error $5 \
        --precision $precision --device ${DEVICE:-cpu} --json | figure mode_error
}

failures=0
printf '%-8s %2s %3s %9s %12s %12s %8s %6s\n' what p n 'dt/limit' measured guide ratio order
while read -r kind order cells fraction every guide tolerance; do
    [ -n "$kind" ] || continue
    partition $cells
    error=$(march $kind $order $cells $fraction $every)
    former=$(awk -v k="$kind $order $((cells / 2)) $fraction" '$1 " " $2 " " $3 " " $4 == k { print $5 }' errors.txt 2> /dev/null || true)
    echo "$kind $order $cells $fraction $error" >> errors.txt
    verdict=$(awk -v e="${error:-0}" -v g="$guide" -v t="$tolerance" -v former="$former" 'BEGIN {
        printf "%12.4e %12.4e %8.5f %6s", e, g, e / g, former ? sprintf("%.2f", log(former / e) / log(2)) : ""
        if (!(e + 0 == e && e > 0 && (e / g - 1) ^ 2 <= t ^ 2)) print "  OFF"
        else print "" }')
    printf '%-8s %2d %3d %9s %s\n' $kind $order $cells $fraction "$verdict"
    case $verdict in *OFF*) failures=$((failures + 1)) ;; esac
done <<< "$rows"
[ $failures -eq 0 ] || { echo "$failures rows are off"; exit 1; }
echo "all are the guide's figures, within 2e-4 to 3e-4; upwind: those of specs/dgtd.md"
