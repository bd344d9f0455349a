#!/bin/bash
# The hull of cases/hbem-submarine at fixed elements a wavelength, twice and nearly three times as fine: matrices and
# solution in memory by penstock-hbem-solve, rows of K compared by penstock-verify --error. JSON records on stdout,
# all figures on stderr. CASES: 115k 461k 941k, all of them; ERROR: those whose rows are compared (files of 3, 13
# and 45 GB); CUT: --cut-rank; WORK: a folder with room; DEVICE: cuda.
set -eu
. "$(dirname "$0")/lib.sh"
measuring hbem-solve
common="--precision fp32 --skeleton ${CUT:+--cut-rank $CUT} --device ${DEVICE:-cuda}"
for case in ${CASES:-115k 461k 941k}; do
    case $case in
    115k) edge=0.11 k=4.18879 ;;
    461k) edge=0.055 k=8.38 ;;
    941k) edge=0.0385 k=12 ;;
    esac
    penstock-mesh-surface -q hull.hdf --shape suboff --scale 14.2 --edge $edge --wavenumber $k --force > /dev/null
    penstock-cluster-build -q hull.hdf clusters.h5 --wavenumber $k --force > /dev/null
    begin=$(date +%s.%N)
    penstock-hbem-solve ${VERBOSE:--q} hull.hdf clusters.h5 phi.hdf --wavenumber $k $common \
        --direction 0.984807753012208,0.173648177666930,0 --json --force > solve.json
    all=$(calculate "$(date +%s.%N) - $begin")
    cat solve.json >&2
    of="N = $(json unknowns solve), k = $k, kh = .46, eps 0.0001, eta 2, fp32, skeletons${CUT:+, cut rank $CUT}"
    record "hbem-hull-$case" "mesh and clusters to solution" "$all" s "" "$of, $(json steps_most solve) steps"
    record "hbem-hull-$case" "memory of K and W a function" "$(calculate "$(json matrices solve) / $(json unknowns solve)")" B "" "$of"
    record "hbem-hull-$case" "assembly of K and W" "$(json assembly_time solve)" s "" "$of"
    [[ " ${ERROR:-} " == *" $case "* ]] || continue
    penstock-hmatrix-assemble -q clusters.h5 K.h5 --operator dlp --wavenumber $k $common --json --force > K.json
    penstock-verify K.h5 --error "${ROWS:-100}" --json > error.json
    cat K.json error.json >&2
    rm -f K.h5 K.part*.h5
done
