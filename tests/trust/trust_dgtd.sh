# make trust, dgtd: Maxwell's programs against series, modes and identities, on clean and on ugly inputs.
. "$ROOT/tests/trust/lib.sh"
figure() { awk -v n="$1" '$1 == n { print $2; exit }' "${2:-run.out}"; }
dgtd="penstock-dgtd"

# ---- clean: a mode between walls of metal; the table of the guide (P3, n = 2) ----
run penstock-mesh-box cube.hdf --cells 2
run penstock-mesh-partition cube.hdf cube.h5
run $dgtd-setup cube.h5 mode.h5 --order 3 --material default:eps=1 --boundary outer:pec --source mode:n=1,1,1:amplitude=1,-1,0 --divide 1m
run $dgtd-march mode.h5 run.h5 --steps 31 --mode-error 1 --precision fp64
row dgtd-march "cube of metal, P3" clean "error of the mode over the guide's" 1.001 "$(awk -v v="$(figure mode_error)" 'BEGIN { print v / 2.6830e-2 }')"

# ---- ugly: the same mode on a shaken mesh with slivers and a sheet of metal that it does not feel ----
run penstock-mesh-box shaken.hdf --cells 4 --shake .3
run penstock-mesh-partition shaken.hdf shaken.h5 --parts 3
run $dgtd-setup shaken.h5 smode.h5 --order 3 --material default:eps=1 --boundary outer:pec --source mode:n=1,1,1:amplitude=1,-1,0 --divide 1m
run $dgtd-march smode.h5 srun.h5 --time 3.3356409519815204e-09 --mode-error 8 --precision fp64
row dgtd-march "shaken cube, 3 parts, P3" ugly "error of the mode" 6e-3 "$(figure mode_error)"
# ... stopped and continued out of core: the same bits
run $dgtd-march smode.h5 whole.h5 --steps 200 --probe .3,.4,.5 --precision fp64
penstock-dgtd-march smode.h5 file.h5 --steps 200 --probe .3,.4,.5 --precision fp64 --state file --checkpoint-every 20steps --stop-after .01 -q \
    > run.out 2> run.err
run $dgtd-march smode.h5 file.h5 --steps 200 --probe .3,.4,.5 --precision fp64 --state file --checkpoint-every 20steps --restart
penstock-compare whole.electric.h5 file.electric.h5 --tolerance 0 > same.txt 2>&1 && same=0 || same=1
row dgtd-march "the same, stopped, in a file" ugly "bits that differ (+1e-9)" 1e-8 "$(awk -v s=$same 'BEGIN { print s + 1e-9 }')"

# ---- ugly: a ball of metal left out of the mesh, coarse facets, absorbing faces a wavelength away from it: Mie. The
# surface itself is right to 5e-4 (below); what is left here is the open boundary (with .7 wavelengths 3.3 %) and facets. ----
ball() { # GEO-LINES: a ball of .2 m in one of 1.2 m
    {
        echo 'SetFactory("OpenCASCADE"); Sphere(1) = {0, 0, 0, 1.2}; Sphere(2) = {0, 0, 0, .2};'
        echo "$1"
        echo 'e = 1e-3; skin() = Surface In BoundingBox{-.2 - e, -.2 - e, -.2 - e, .2 + e, .2 + e, .2 + e};
            outer() = Surface{:}; outer() -= skin();
            Physical Surface("skin", 11) = skin(); Physical Surface("absorbing", 12) = outer();
            Field[1] = Ball; Field[1].Radius = .2; Field[1].Thickness = .7; Field[1].VIn = .05; Field[1].VOut = .16;
            Background Field = 1; Mesh.MeshSizeExtendFromBoundary = 0; Mesh.MeshSizeFromPoints = 0;
            Mesh.MeshSizeFromCurvature = 0;'
    } > ball.geo
    run penstock-mesh-import ball.geo ball.hdf --kind volume --force
    run penstock-mesh-partition ball.hdf ball.h5 --force
}
wave="plane:dir=0,0,1:pol=1,0,0:shape=ramp:width=6ns:frequency=300e6:at=0,0,0"
mie() { # NAME EXACT-OPTIONS SETUP-OPTIONS...: error of the far field
    local name=$1 exact=$2
    shift 2
    run $dgtd-setup ball.h5 "$name.m.h5" --order 2 --boundary absorbing:absorbing --total ball:0,0,0,.4 --source $wave --divide 300e6Hz "$@" &&
    run $dgtd-march "$name.m.h5" "$name.h5" --periods 6 --frequency 300e6 --transform-periods 1 &&
    run $dgtd-far "$name.phasors.h5" ball.hdf "$name.far.h5" --directions 36 &&
    run $dgtd-sphere "$name.exact.h5" --radius .2 $exact --quantity far --like "$name.far.h5"
    penstock-compare "$name.far.h5" "$name.exact.h5" --tolerance 1 2>&1 | awk '$1 == "relative_l2" && n++ < 2 && $2 > m { m = $2 } END { print m }'
}
ball 'BooleanDifference(3) = { Volume{1}; Delete; }{ Volume{2}; Delete; }; Physical Volume("air", 1) = {3};'
row dgtd-far "ball of metal as a hole" ugly "far field against Mie, L2" 3e-2 "$(mie metal --pec --material air:eps=1 --boundary skin:pec)"

# ---- exact fields: what the surface, the background and the rule of averages make of them ----
sample=$BUILD/tests-programs/phasors_sample
run "$sample" hole 3 6 hole.hdf hole.h5
run $dgtd-far hole.h5 hole.hdf hole.far.h5 --directions 36
run $dgtd-sphere hole.exact.h5 --radius .02 --pec --quantity far --like hole.far.h5
row dgtd-far "exact field round a hole, P3" clean "far field against Mie, L2" 5e-4 \
    "$(penstock-compare hole.far.h5 hole.exact.h5 --tolerance 1 2>&1 | awk '$1 == "relative_l2" && n++ < 2 && $2 > m { m = $2 } END { print m }')"
run "$sample" uniform 1 6 uniform.hdf uniform.h5
run $dgtd-sar uniform.h5 uniform.hdf uniform.sar.hdf --grid 2e-3
row dgtd-sar "uniform field in half a cube" clean "absorbed over the exact, less 1" 1e-5 \
    "$(awk -v v="$(figure absorbed)" 'BEGIN { d = v / (.5 * .8 * 25 * .06 * .06 * .03) - 1; print d < 0 ? -d : d + 1e-12 }')"

# ---- what must be refused ----
air="--material default:eps=1 --boundary outer:absorbing"
refused dgtd-setup "current through the wall" "a source that is cut" 3 "allow cut" \
    $dgtd-setup cube.h5 no.h5 --order 1 $air --source current:at=.5,.5,.1:axis=0,0,1:radius=.2:moment=1e-12:width=1ns
refused dgtd-setup "wave inside at t = 0" "a pulse that is not quiet" 3 "allow early" \
    $dgtd-setup cube.h5 no.h5 --order 1 $air --source plane:dir=0,0,1:pol=1,0,0:width=1ns:delay=0s:at=0,0,0
refused dgtd-march "part of a period" "a transform over 2.2 periods" 3 "allow part-periods" \
    $dgtd-march mode.h5 no.h5 --steps 5000 --frequency 1e8,2.2e8 --transform-periods 1
