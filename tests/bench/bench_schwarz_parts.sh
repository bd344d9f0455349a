#!/bin/bash
# GMRES iterations to 1e-6 over subdomains by Scotch, with a coarse space and without: a ball in a cube of
# 33 x 33 x 33 nodes, 60 km wide. A table on stdout.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
penstock-gravity-model cube.hdf -q --body ball:1000,2000,30000,9000,100 --box -30000,30000,-30000,30000,0,60000 --nodes 33,33,33 > out
printf '%-12s %-14s %8s %14s\n' subdomains kind without "coarse space"
for n in ${PARTS:-4 8 16 32 64}; do
    penstock-gravity-assemble cube.hdf load.hdf -q --subdomains s.h5 --parts $n > out
    for kind in oo0 oo0-two-sided oo2 oo2-two-sided; do
        for coarse in 0 1; do
            penstock-schwarz-solve load.hdf -q --subdomains s.h5 --kind $kind --coarse $coarse > out
            eval "count$coarse=$(awk '$1 == "iterations" { print $2 }' out)"
        done
        printf '%-12s %-14s %8s %14s\n' $n $kind $count0 $count1
    done
done
