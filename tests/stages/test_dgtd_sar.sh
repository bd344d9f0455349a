# penstock-dgtd-sar on fields that are known: absorbed power, averages of 1 g and 10 g, energy balance,
# scales, cuts, refused inputs.
. "$ROOT/tests/stages/lib.sh"
needs dgtd-sar verify inspect compare
sample=$BUILD/tests-programs/phasors_sample
sar=penstock-dgtd-sar
# figure [SECTION] NAME of what the last program printed as lines
figure() {
    awk -v s="${2:+$1}" -v n="${2:-$1}" '/^[^ ]/ && NF == 1 { at = $1 } /^[^ ]/ && NF > 1 { at = "" }
        at == s && $1 == n { print $2; exit }' out
}
near() { # VALUE EXPECTED RELATIVE WHAT
    within "$1" "$(awk "BEGIN { print $2 - ($2 < 0 ? -1 : 1) * $2 * $3 }")" \
        "$(awk "BEGIN { print $2 + ($2 < 0 ? -1 : 1) * $2 * $3 }")" "$4"
}

# ---- |E| = 5 V/m, 0.8 S/m, 1000 kg/m3: 0.01 W/kg everywhere, 108 cm3 of tissue ----
for order in 1 3; do
    "$sample" uniform $order 4 mesh.hdf uniform.h5 || fail "sample"
    expect 0 "" $sar uniform.h5 mesh.hdf uniform.hdf --grid 1e-3
    near "$(figure absorbed)" 1.08e-3 1e-5 "absorbed power"
    near "$(figure muscle absorbed)" 1.08e-3 1e-5 "absorbed power of a material"
    near "$(figure muscle mean_sar)" .01 1e-5 "mean SAR"
    near "$(figure mass)" .108 1e-9 "mass"
    near "$(figure voxel_mass)" .108 1e-6 "mass of the voxels"
    near "$(figure average_1g largest)" .01 1e-5 "1 g"
    near "$(figure average_10g largest)" .01 1e-5 "10 g"
    [ "$(figure average_10g voxels_without)" = 0 ] || fail "tissue without a value"
    # 108e-3 W of 1 V/m: over 1/(2 Z0) W/m2
    near "$(figure absorption_cross_section)" .813737 1e-5 "cross-section"
done
expect 0 "" penstock-verify uniform.hdf
expect 0 "" penstock-inspect uniform.hdf
grep -q SAR_10g out || fail "no SAR_10g in the output"
expect 0 "" $sar uniform.h5 mesh.hdf twice.hdf --grid 2e-3 --amplitude 10 --masses 1 --threads 1
near "$(figure average_1g largest)" 1 1e-5 "1 g of ten times the amplitude"
expect 0 "" $sar uniform.h5 mesh.hdf dense.hdf --grid 2e-3 --density muscle=2000
near "$(figure average_1g largest)" .005 1e-5 "1 g of twice the density"
expect 0 "" $sar uniform.h5 mesh.hdf plain.hdf --grid 0
near "$(figure largest_sar)" .01 1e-5 "SAR without voxels"
expect 0 "memory_of_voxels" $sar uniform.h5 mesh.hdf --plan
expect 4 "are needed" $sar uniform.h5 mesh.hdf no.hdf --grid 0 --host-memory 8M
expect 3 "does not have H" $sar uniform.h5 mesh.hdf no.hdf --power 1

# ---- E = e^{z/d} below the surface, d = 16 mm, only tissue in the file ----
"$sample" decay 4 4 mesh.hdf decay.h5 || fail "sample"
# voxels of 10/9 mm; their midpoints lose (2h/d)^2/24 = 8e-4; flush cube: SAR0 d/(2a) (1 - e^{-2a/d})
expect 0 "" $sar decay.h5 mesh.hdf decay.hdf --grid 1.1111111111e-3 --frequency 1.8e9 --amplitude 3 \
    --cut='0,-.02,-.029;0,.04,0;0,0,.028;5x29' --cut-output cut.h5 --cut-quantity average --masses 10,1
near "$(figure average_1g largest)" 8.219465e-3 2e-3 "1 g at the surface of a slab"
near "$(figure absorbed)" "$(awk 'BEGIN { print .5 * .8 * 36 * .0036 * .008 * (1 - exp(-.06 / .016)) }')" 1e-4 "power in the slab"
near "$(figure largest_sar)" 1.44e-2 1e-5 "SAR at the surface"
expect 0 "W/kg" penstock-inspect cut.h5
if command -v gnuplot > /dev/null; then
    expect 0 "written" penstock-plot plane cut.h5 --output cut.png --script cut.gp
    grep -q "f = 1.8 GHz" cut.gp || fail "no frequency in the picture"
    expect 0 "written" penstock-plot plane cut.h5 --log --dynamic 20 --output level.png --script level.gp
    grep -q "cbrange \[-20:0\]" level.gp && grep -q "re 0.0082.* W/kg (dB)" level.gp || fail "levels of the cut"
    expect 0 "written" penstock-plot surface decay.hdf --field SAR_1g --output skin.png --script skin.gp
    # 4 x 4 squares of two triangles above and below, 4 x 2 on each side, each in pieces
    within "$(grep -c . skin.gp)" 1000 1000000 "lines of the picture"
    grep -q "SAR_1g (mW/kg)" skin.gp || fail "units of the picture"
    expect 2 "SAR, SAR_10g, SAR_1g" penstock-plot surface decay.hdf --field pressure --output no.hdf.png
fi
expect 0 "taking the first" $sar decay.h5 mesh.hdf first.hdf --grid 0
near "$(figure largest_sar)" 4e-4 1e-5 "SAR of the first frequency"

# ---- a plane wave in a lossy medium: what flows in is absorbed ----
"$sample" wave 4 5 wave.hdf wave.h5 || fail "sample"
expect 0 "no density" $sar wave.h5 wave.hdf balance.hdf --grid 0
flow=$(figure outflow)
near "$(figure absorbed)" "$(awk -v f="$flow" 'BEGIN { print -f }')" 1e-4 "energy balance"
within "$flow" -2e-4 -1e-4 "outflow" # 1.17665e-4 W, from the fields' formula

# ---- the field at points: E = 2 e^{z/d}; e^{ikz} in the medium, of which the phase at z = -.01 is known ----
expect 0 "" $sar decay.h5 mesh.hdf at.hdf --grid 0 --amplitude 2 --at .005,.011,-.0123 --at 0,0,-.03
near "$(figure at_1 electric)" "$(awk 'BEGIN { print 2 * exp(-.0123 / .016) }')" 1e-4 "field at a point"
near "$(figure at_2 electric)" "$(awk 'BEGIN { print 2 * exp(-.03 / .016) }')" 1e-4 "field at a vertex"
expect 2 "there is no field" $sar decay.h5 mesh.hdf no.hdf --at 0,0,.01

# ---- refused ----
"$sample" uniform 1 3 other.hdf other.h5 || fail "sample"
expect 3 "was not computed on" $sar other.h5 mesh.hdf no.hdf
expect 3 "penstock-dgtd-phasors" $sar mesh.hdf mesh.hdf no.hdf
expect 3 "missing.h5" $sar missing.h5 mesh.hdf no.hdf
expect 2 "no 5e+08 Hz" $sar wave.h5 wave.hdf no.hdf --frequency 5e8
expect 2 "TAG=KG/M3" $sar wave.h5 wave.hdf no.hdf --density 1
expect 2 "one comes twice" $sar wave.h5 wave.hdf no.hdf --masses 1,10,1
"$sample" uniform 1 4 mesh.hdf uniform.h5 || fail "sample"
for rho in 1.04 1e-300 1e300; do expect 3 "50 to 23000 are expected" $sar uniform.h5 mesh.hdf no.hdf --density muscle=$rho; done
expect 0 "averages over cubes are as wrong" $sar uniform.h5 mesh.hdf coarse.hdf --grid 5e-2
expect 2 "no material of this tag" $sar wave.h5 wave.hdf no.hdf --density brain=1000
expect 2 "go together" $sar wave.h5 wave.hdf no.hdf --cut '0,0,0;1,0,0;0,1,0;3x3'
expect 2 "OUTPUT is missing" $sar wave.h5 wave.hdf
expect 3 "not inside the mesh" $sar wave.h5 wave.hdf no.hdf --power 1 --grid 0
expect 3 "there is no tissue" $sar wave.h5 wave.hdf no.hdf --density muscle=0
expect 4 "host-memory" $sar wave.h5 wave.hdf no.hdf --grid 1e-4 --host-memory 64M
head -c 20000 wave.h5 > cut.h5; expect 3 "cut.h5" $sar cut.h5 mesh.hdf no.hdf
