# From a mesh to SAR and far field: a lossy block in a plane wave; what the march's transforms, probes and
# the energy balance say of one another.
. "$ROOT/tests/stages/lib.sh"
needs mesh-box mesh-partition dgtd-setup dgtd-march dgtd-sar dgtd-far verify

# 12 cm of air with a block of 4 x 4 x 4 cm; 1 GHz, 5 periods, fields of the last one
expect 0 "" penstock-mesh-box -q box.hdf --cells 6 --size .12 --corner -.06 --region 2:box:-.02,-.02,-.02,.02,.02,.02
expect 0 "" penstock-mesh-partition -q box.hdf box.h5
expect 0 "" penstock-dgtd-setup -q box.h5 model.h5 --order 2 --material 1:eps=1 --material 2:eps=6,sigma=.3,rho=1000 \
    --boundary outer:absorbing --source plane:dir=0,0,1:pol=1,0,0:shape=ramp:width=1.5ns:frequency=1e9:at=0,0,0 --divide 1GHz
expect 0 "" penstock-dgtd-march -q model.h5 run.h5 --periods 5 --frequency 1e9 --transform-periods 1 \
    --probe .003,.005,-.007 --probe -.04,.03,.035 --precision fp64
expect 0 "" penstock-dgtd-sar run.phasors.h5 box.hdf sar.hdf --grid 2e-3 --masses 1,10 --at .003,.005,-.007 \
    --at -.04,.03,.035
flow=$(figure outflow) absorbed=$(figure absorbed)
within "$(awk "BEGIN { print -($flow) / $absorbed }")" .97 1.03 "inflow over absorbed power"
within "$(figure mass)" .0639999 .0640001 "mass of the block"
within "$(awk "BEGIN { print $(figure voxel_power) / $absorbed }")" .9 1.1 "power of the voxels"
awk '$1 ~ /^average_/ { at = $1 } $1 == "largest" { v[at] = $2 } END { exit !(v["average_1g"] > v["average_10g"] && v["average_10g"] > 0) }' out ||
    fail "averages over 1 g and 10 g"
# the transform of a probe's last period is the phasor at its place
period=$(h5dump -d /trace/axis -y -m %.12g run.electric.h5 | sed -n '/DATA {$/,/}/p' | tr ',' '\n' | awk '/^ *[0-9]/' | wc -l)
period=$((period / 5))
rows() { h5dump -d /trace/real -y -m %.9g run.electric.h5 | sed -n '/DATA {$/,/}/p' | tr ',' '\n' | awk '/^ *[-0-9.]/ { printf "%s%s", $1, ++n % 6 ? " " : "\n" }' | tail -n $period; }
for probe in 1 2; do
    rows | awk -v p=$probe -v n=$period '{ a = 2 * atan2(0, -1) * NR / n
        for (c = 0; c < 3; ++c) { re[c] += 2 / n * $(3 * p - 2 + c) * cos(a); im[c] += 2 / n * $(3 * p - 2 + c) * sin(a) } }
        END { for (c = 0; c < 3; ++c) s += re[c] ^ 2 + im[c] ^ 2; printf "%.9g\n", sqrt(s) }' > probe.txt
    seen=$(awk -v s="at_$probe" '$1 == s { at = 1 } at && $1 == "electric" { print $2; exit }' out)
    within "$(awk -v a="$(cat probe.txt)" -v b="$seen" 'BEGIN { print a / b }')" .9999 1.0001 "probe $probe against the phasors"
done
# two ranks, whose transforms are parts of one file
if command -v mpirun > /dev/null; then
    expect 0 "" penstock-mesh-partition -q box.hdf two.h5 --parts 3
    expect 0 "" penstock-dgtd-setup -q two.h5 model2.h5 --order 2 --material 1:eps=1 --material 2:eps=6,sigma=.3,rho=1000 \
        --boundary outer:absorbing --source plane:dir=0,0,1:pol=1,0,0:shape=ramp:width=1.5ns:frequency=1e9:at=0,0,0 --divide 1GHz
    OMP_NUM_THREADS=1 expect 0 "" mpirun -n 2 penstock-dgtd-march -q model2.h5 run2.h5 --periods 5 --frequency 1e9 \
        --transform-periods 1 --precision fp64
    expect 0 "" penstock-dgtd-sar run2.phasors.h5 box.hdf sar2.hdf --grid 2e-3 --masses 1,10
    within "$(awk "BEGIN { print $(figure absorbed) / $absorbed }")" .999999 1.000001 "absorbed power of two ranks"
    expect 0 "" penstock-compare sar.hdf sar2.hdf --tolerance 1e-5
fi
# far field from the block and from the boundary
expect 0 "" penstock-dgtd-far run.phasors.h5 box.hdf block.h5 --around 2 --directions 12
expect 0 "" penstock-dgtd-far run.phasors.h5 box.hdf outer.h5 --directions 12
expect 0 "" penstock-compare block.h5 outer.h5 --tolerance .05
# a current beside the block, over a plate: what it supplies in a period (the march's account) is what is
# absorbed and leaves through the absorbing faces; E x H on these coarse faces is off by tenths
expect 0 "" penstock-dgtd-setup -q box.h5 inside.h5 --order 1 --material 1:eps=1 --material 2:eps=6,sigma=.3,rho=1000 \
    --boundary 105:pec --boundary outer:absorbing --divide 1GHz \
    --source current:at=.035,0,0:axis=0,0,1:radius=.02:moment=1e-12:shape=ramp:width=1.5ns:frequency=1e9
expect 0 "" penstock-dgtd-march -q inside.h5 inside.run.h5 --periods 8 --frequency 1e9 --transform-periods 1 --balance \
    --energy-every "$(figure steps_a_period_1)"
expect 0 "" penstock-dgtd-sar inside.run.phasors.h5 box.hdf inside.hdf --grid 0
# W, E, H, conducted, lost, supplied, imbalance: the last two rows, a period apart, of a current of 2 pi 1e9 1e-12 A m
h5dump -d /trace/real -y -m %.12g inside.run.h5 | sed -n '/DATA {$/,/}/p' | tr ',' '\n' | awk '/^ *[-0-9.]/ { v[n++] = $1 }
    END { for (k = 3; k < 6; ++k) print (v[n - 7 + k] - v[n - 14 + k]) * 1e9 / (8e-3 * atan2(1, 1)) ^ 2 }' > account.txt
account() { sed -n "$1p" account.txt; }
within "$(awk "BEGIN { print $(figure absorbed) / $(account 1) }")" .998 1.002 "absorbed power and the march's account"
within "$(awk "BEGIN { print $(figure outflow) / $(account 2) }")" .998 1.002 "outflow and the march's account"
within "$(awk "BEGIN { print $(figure accepted) / $(account 3) }")" .995 1.005 "accepted power and the march's account"
expect 0 "" penstock-verify run.phasors.h5 sar.hdf block.h5
