# hbem against u = z, which the spaces hold exactly on flat faces, and the row sums of the double layer: clean boxes and
# spheres are right, stretched boxes and sharp wedges are right or refused.
. "$ROOT/tests/trust/lib.sh"
export OMP_NUM_THREADS=2
figure() { awk -v n="$1" '$1 == n { print $2; exit }' run.out; }

box() { # NAME ASPECT N
    awk -v a="$2" -v n="$3" -f "$ROOT/tests/support/box.awk" > "$1.off"
    run penstock-mesh-import "$1.off" "$1.hdf" &&
        run penstock-cluster-build "$1.hdf" "$1.s.h5" --test p0 && run penstock-cluster-build "$1.hdf" "$1.k.h5" --test p0 --trial p1
}
interior() { # NAME: u = z inside, solved for t = d_n u on P0
    penstock-hbem-solve "$1.hdf" "$1.s.h5" "$1.k.h5" "$1.u.hdf" --problem dirichlet --side interior --data linear:0,0,1 --device cpu
}

# ---- clean ----
box cube 1 4 && run interior cube && {
    row hbem-solve "cube, interior u = z" clean "row sums of K" 1e-3 "$(figure row_sum_error)"
    printf '.41 .37 .9999\n.41 .37 1\n1 1 .694\n.3 .2 .5\n' > points
    run penstock-hbem-field cube.u.hdf cube.f.h5 --points points --device cpu
    h5dump -y -w 1 -d /trace/real cube.f.h5 | sed -n '/DATA {/,/}/p' | sed '/}/q' | grep -o '[-0-9.e+]*[0-9]' > values
    row hbem-field "cube, points near and on it" clean "largest error of u = z" 1e-3 \
        "$(paste points values | awk '{ e = $4 - $3; e = e < 0 ? -e : e; if (e > m) m = e } END { print NR == 4 ? m : "none" }')"
}
run penstock-mesh-surface ball.hdf --divisions 6 && run penstock-cluster-build ball.hdf ball.h5 &&
    run penstock-hmatrix-assemble ball.h5 ball.k.h5 --operator dlp --device cpu &&
    row hmatrix "sphere" clean "row sums of K" 1e-3 "$(figure row_sum_error)"

# ---- ugly: right or refused ----
judged() { # INPUT NAME
    if interior "$2" > run.out 2> run.err; then
        row hbem-solve "$1" ugly "row sums of K" 1e-3 "$(figure row_sum_error)"
    else
        refused hbem-solve "$1" "entries, row sums of K" 3 "--allow" interior "$2"
    fi
}
box long4 4 3 && judged "box of aspect 4" long4
box long8 8 2 && judged "box of aspect 8" long8
box flat .1 3 && judged "plate of a tenth" flat
