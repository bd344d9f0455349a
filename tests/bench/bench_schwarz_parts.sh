#!/bin/bash
# GMRES iterations to 1e-6 over subdomains by Scotch, without a coarse space and with it: a ball in a cube of
# 33 x 33 x 33 nodes, 60 km wide. A table on stderr; PARTS="4 8" takes these numbers of subdomains.
set -eu
. "$(dirname "$0")/../gpu/lib.sh"
measuring schwarz-solve
device=cpu
penstock-gravity-model cube.hdf -q --body ball:1000,2000,30000,9000,100 --box -30000,30000,-30000,30000,0,60000 --nodes 33,33,33 > out
printf '%-12s %-14s %8s %14s\n' subdomains kind without "coarse space" >&2
for n in ${PARTS:-4 8 16 32 64}; do
    penstock-gravity-assemble cube.hdf load.hdf -q --subdomains s.h5 --parts $n > out
    for kind in oo0 oo0-two-sided oo2 oo2-two-sided; do
        line=
        for way in 0 1; do
            penstock-schwarz-solve load.hdf -q --subdomains s.h5 --kind $kind --coarse $way > out
            count=$(figure iterations)
            [ $way = 0 ] && text= || text=", coarse space"
            record gravity-parts-interface "$kind, GMRES$text" "$count" iterations "" "33 x 33 x 33 nodes, $n subdomains"
            line="$line $count"
        done
        printf '%-12s %-14s %8s %14s\n' $n $kind $line >&2
    done
done
