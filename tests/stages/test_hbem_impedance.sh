# Steps of bodies with an impedance: a stiff one, where surface waves make the equation nearly singular, and one that is nearly
# soft, take as many as a rigid sphere; without the preconditioner of impedances the stiff one took 12.
. "$ROOT/tests/stages/lib.sh"
needs mesh-surface cluster-build hbem-solve
export OMP_NUM_THREADS=2

clustered s.hdf c.h5 --divisions 6
while read -r impedance most; do
    expect 0 "" penstock-hbem-solve s.hdf c.h5 "u$impedance.hdf" --wavenumber 5 --force-coarse --direction .6,0,.8 --source point:0,.3,1.3 \
        --boundary others:impedance:$impedance --device cpu --rules 1e-3 --epsilon 1e-3
    within "$(figure steps_most)" 3 "$most" "steps with an impedance of $impedance"
done << END
0,2 8
.1 8
END
