# fmm against direct sums of other targets than those that it checks itself; what must be refused.
. "$ROOT/tests/trust/lib.sh"
figure() { awk -v n="$1" '$1 == n { print $2; exit }' run.out; }
make() { # KIND HEIGHT
    bash "$ROOT/tests/support/particles-of" "$1" 8000 > "$1.txt"
    run penstock-particle-import "$1.txt" "$1.h5" && run penstock-octree-build "$1.h5" "$1.tree.h5" --height "$2"
}
bound() { # KIND HEIGHT clean|ugly ACCURACY KERNEL...
    local kind=$1 height=$2 look=$3 accuracy=$4
    shift 4
    make "$kind" "$height"
    potential=nothing gradient=nothing
    run penstock-fmm --device cpu "$kind.tree.h5" r.h5 --accuracy "$accuracy" --check 400 --force --kernel "$@" &&
        potential=$(figure error_potential) gradient=$(figure error_gradient)
    row fmm "$kind, $*" "$look" "potential, relative L2" "$accuracy" "$potential"
    row fmm "$kind, $*" "$look" "gradient, relative L2" "$accuracy" "$gradient"
}
bound cube 4 clean 1e-5 inverse
bound sphere 5 clean 1e-4 inverse
bound cube 4 clean 1e-4 exponential
bound plummer-signed 6 ugly 1e-4 inverse
bound plane 6 ugly 1e-4 inverse
bound far 12 ugly 1e-4 inverse
bound cube 4 ugly 1e-4 gaussian --parameter 1e4
# Moments of generated particles, by an adaptive tree.
moments() { # KIND MOMENTS clean|ugly ACCURACY OPTIONS...
    local kind=$1 moments=$2 look=$3 accuracy=$4
    shift 4
    run penstock-particle-import --generate "$kind" --count 6000 --charges signed --moments "$moments" m.h5 --force &&
        run penstock-octree-build m.h5 m.tree.h5 --force
    local value=nothing
    run penstock-fmm --device cpu m.tree.h5 m.r.h5 --accuracy "$accuracy" --check 300 --force "$@" && value=$(figure error_potential)
    row fmm "$kind, $moments $*" "$look" "values, relative L2" "$accuracy" "$value"
}
moments cube dipoles clean 1e-4
moments cube forces clean 1e-3 --kernel stokeslet
moments cube complex clean 1e-4 --kernel helmholtz --parameter 10
moments ellipsoid charges-and-dipoles ugly 1e-3 --hessian
moments plummer forces ugly 1e-3 --kernel stokeslet
run penstock-octree-build cube.h5 out.tree.h5 --height 4 --box 0.1,0.1,0.1,0.8 --clamp
refused fmm "cube, a tenth outside the box" "particles in their leaves" 3 "--box that holds them" \
    penstock-fmm --device cpu out.tree.h5 none.h5
printf 'x,y,z,vx\n0,0,0,1\n1,0,0,2\n' > velocities.csv
refused fmm "velocities for charges" "columns that are charges" 3 "is called a charge" \
    penstock-particle-import velocities.csv none.h5
refused fmm "cube, single precision" "an accuracy of 1e-6" 5 "is not reached" \
    penstock-fmm --device cpu cube.tree.h5 none.h5 --accuracy 1e-6 --precision fp32
