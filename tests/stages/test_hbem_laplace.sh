# penstock-hbem-solve: Dirichlet and Neumann problems of Laplace on the sphere, inside and outside, whose
# solutions are known: order 2 (specs/hbem_solve.md).
. "$ROOT/tests/stages/lib.sh"
needs hbem-solve hbem-field hmatrix-assemble cluster-build mesh-surface compare

for n in 8 12; do
    clustered s$n.hdf c$n.h5 --divisions $n
    for o in slp dlp adlp hyps; do expect 0 "" penstock-hmatrix-assemble c$n.h5 $o-0-$n.h5 --operator $o; done
done

laplace() { # N OPTIONS...: to laplaceN.hdf
    local n=$1; shift
    expect 0 "" penstock-hbem-solve s$n.hdf "$@" laplace$n.hdf --force
}
# sums over vertices of (a - b)^2 and b^2 for b = f(x, y, z): relative error
against() { # FILE LAYER EXPRESSION
    /usr/bin/python3 - "$@" <<'P'
import h5py, numpy as np, sys
f = h5py.File(sys.argv[1]); x, y, z = f["/VTKHDF/Points"][:].T
a = f["/solutions/" + sys.argv[2]][0, 0]; b = eval(sys.argv[3]) + 0 * x
print(np.linalg.norm(a - b) / max(np.linalg.norm(b), 1e-9))
P
}
order() { # WHAT LAYER EXPRESSION BOUND OPTIONS with N for 8 and 12
    local what=$1 layer=$2 expression=$3 bound=$4; shift 4
    for n in 8 12; do
        laplace $n "${@//N/$n}"
        [ $n = 12 ] || coarse=$(against laplace8.hdf "$layer" "$expression")
    done
    fine=$(against laplace12.hdf "$layer" "$expression")
    within "$fine" 0 "$bound" "$what"
    within "$(awk -v a="$coarse" -v b="$fine" 'BEGIN { print log(a/b)/log(1.5) }')" 1.6 3.2 "order of $what ($coarse $fine)"
}
order "the density of a constant" single "1" .01 slp-0-N.h5 --problem dirichlet --form indirect --data value:1
order "a flux inside" single "z" .02 slp-0-N.h5 dlp-0-N.h5 --problem dirichlet --side interior --data linear:0,0,1
order "a flux outside" single "-1/4/np.pi" .01 slp-0-N.h5 dlp-0-N.h5 --problem dirichlet --data point:0,0,0
order "a potential inside" double "z + 3" .02 hyps-0-N.h5 adlp-0-N.h5 --problem neumann --side interior --data linear:0,0,1 --mean 3
order "a potential outside" double "1/4/np.pi/np.sqrt(x*x+y*y+(z-.4)**2)" .1 hyps-0-N.h5 adlp-0-N.h5 \
    --problem neumann --data point:0,0,.4
order "a density inside" single "3*z" .02 adlp-0-N.h5 --problem neumann --side interior --form indirect --data linear:0,0,1
order "a density outside" single "1/4/np.pi" .01 adlp-0-N.h5 --problem neumann --form indirect --data point:0,0,0
laplace 8 slp-0-8.h5 dlp-0-8.h5 --problem dirichlet --data point:0,.1,.3 --data value:2 --solver gmres --tolerance 1e-9
cp laplace8.hdf gmres.hdf
laplace 8 slp-0-8.h5 dlp-0-8.h5 --problem dirichlet --data point:0,.1,.3 --data value:2 --tolerance 1e-9
# Residuals, both below 1e-9, have nothing to do with each other; what is asserted is the solution.
expect 0 "" penstock-compare gmres.hdf laplace8.hdf --tolerance 100
within "$(awk 'NF == 1 { s = $1 } s == "/solutions/single" && $1 == "relative_l2" { print $2 }' out)" 0 1e-7 "cg against gmres"

# W by either preconditioner: the same solution, fewer steps by the diagonal
steps() { awk '$1 == "steps_most" { print $2 }' out; }
flux="hyps-0-12.h5 adlp-0-12.h5 --problem neumann --data point:0,0,.4 --tolerance 1e-9"
laplace 12 $flux --preconditioner mass
cp laplace12.hdf mass.hdf; by_mass=$(steps)
laplace 12 $flux
within "$(steps)" 5 $((by_mass - 5)) "steps by the diagonal, $by_mass by the mass"
expect 1 "differs" penstock-compare mass.hdf laplace12.hdf
within "$(awk 'NF == 1 { s = $1 } s == "/solutions/double" && $1 == "relative_l2" { print $2 }' out)" 0 1e-6 "both preconditioners"

# ---- the capacitance of the unit cube, 4 pi eps0 x 0.6606782: R u far away; from below, order 4/3 (cases/hbem-cube) ----
capacitance() { # N
    expect 0 "" penstock-mesh-surface cube.hdf --shape cube --divisions "$1" --force
    expect 0 "" penstock-cluster-build cube.hdf cube.h5 --force
    expect 0 "" penstock-hmatrix-assemble cube.h5 cube-slp.h5 --force
    expect 0 "" penstock-hbem-solve cube.hdf cube-slp.h5 sigma.hdf --problem dirichlet --form indirect --data value:1 --force
    expect 0 "" penstock-hbem-field sigma.hdf potential.h5 --at 600,0,-800 --force
    /usr/bin/python3 -c 'import h5py; print(1000 * h5py.File("potential.h5")["/trace/real"][0][0])'
}
coarse=$(capacitance 6); fine=$(capacitance 12)
within "$fine" 0.6600 0.6606782 "capacitance of the cube"
within "$(awk -v a="$coarse" -v b="$fine" 'BEGIN { print b + (b - a) / (2^(4/3) - 1) }')" .66063 .66073 "its limit ($coarse, $fine)"
