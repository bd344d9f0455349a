# Media with poles and tensors: slabs against what they reflect exactly, tissues against their formula, absorbed
# power, restart, file, tiles and ranks, and what is refused before any step.
. "$ROOT/tests/stages/lib.sh"
command -v python3 > /dev/null || { echo "no python3"; exit 77; }
needs mesh-box mesh-partition dgtd-setup dgtd-march dgtd-sar compare inspect
. "$ROOT/tests/support/dgtd_march.bash"
value() { awk -v s="$1" -v n="$2" '/^[a-z]/ { inside = $1 == s } inside && $1 == n { print $2; exit }' out; }

# ---- a pulse along a guide of metal and magnetic walls, a slab in it ----
expect 0 "" penstock-mesh-box guide.hdf --cells 20,1,1 --size 1,.05,.05 --region 2:box:.45,0,0,.65,.05,.05
expect 0 "" penstock-mesh-partition guide.hdf guide.h5
expect 0 "" penstock-mesh-partition guide.hdf two.h5 --parts 2 --method boxes
walls=(--boundary 101:absorbing --boundary 102:absorbing --boundary 103:pmc --boundary 104:pmc --boundary 105:pec --boundary 106:pec)
wave=plane:dir=1,0,0:pol=0,0,1:width=.6ns:frequency=400e6
setup() { # CODE TEXT MODEL MEDIUM OPTIONS
    expect "$1" "$2" penstock-dgtd-setup "${parts:-guide.h5}" "$3" --order 3 --material 1:eps=1 --material "2:$4" "${walls[@]}" \
        --source $wave --force "${@:5}"
}
setup 0 "" air.m.h5 eps=1
march=(--time 25e-9 --probe .3,.025,.025 --probe .8,.025,.025 --frequency 400e6)
dgtd air.m.h5 air.h5 "${march[@]}"
penstock-inspect --csv air.electric.h5 > air.csv
slab() { # NAME MEDIUM PERMITTIVITY
    setup 0 "" $1.m.h5 "$2"
    dgtd $1.m.h5 $1.h5 "${march[@]}"
    penstock-inspect --csv $1.electric.h5 > $1.csv
    python3 "$ROOT/tests/support/slab.py" air.csv $1.csv .3 .8 .45 .65 "$3" > out
    within "$(cat out)" 0 4e-3 "$1: reflection and transmission"
}
slab debye eps=3,sigma=.02,debye=5/400ps "3 + .02/(s*e0) + 5/(1 + s*4e-10)"
slab drude eps=2,drude=3e9/4e8 "2 + 9e18/(s*s + s*4e8)"
slab lorentz eps=2,lorentz=2/4.5e9/1e9,debye=1/1ns "2 + 2*4.5e9**2/(4.5e9**2 + s*s + s*1e9) + 1/(1 + s*1e-9)"
slab tensor eps=7/2/4/0/0/0 "4"
# turned about z: E along z sees zz alone; about x it would not
slab turned eps=5/3/2.5/.7/0/0,debye=1/50ps "2.5 + 1/(1 + s*5e-11)"

# ---- absorbed power is that of all losses at the frequency ----
setup 0 "" debye.m.h5 eps=3,sigma=.02,rho=1000,debye=5/400ps --frequency 400MHz
eps=$(value medium_2 eps_at_1) sigma=$(value medium_2 sigma_at_1)
setup 0 "" plain.m.h5 eps=$eps,sigma=$sigma,rho=1000
absorbed() {
    dgtd $1.m.h5 $1.h5 "${march[@]}" --force
    expect 0 "" penstock-dgtd-sar $1.phasors.h5 guide.hdf $1.sar.hdf -q
    awk '$1 == "absorbed" { print $2; exit }' out
}
a=$(absorbed debye) b=$(absorbed plain)
within "$(awk "BEGIN { print $a / $b }")" .996 1.004 "absorbed power"

# ---- the same bits wherever the state is, and after a stop ----
setup 0 "" l.m.h5 eps=2,lorentz=2/4.5e9/1e9,debye=1/1ns
march=(--steps 600 --probe .5,.02,.03 --frequency 4e8)
dgtd l.m.h5 whole.h5 "${march[@]}"
expect 75 "" penstock-dgtd-march l.m.h5 part.h5 "${march[@]}" --stop-after 0.03 -q
dgtd l.m.h5 part.h5 "${march[@]}"
same whole part
dgtd l.m.h5 file.h5 "${march[@]}" --state file --visit-steps 4
same whole file
dgtd l.m.h5 tiled.h5 "${march[@]}" --visit-steps 2
same whole tiled
expect 75 "" penstock-dgtd-march l.m.h5 cut.h5 "${march[@]}" --state file --stop-after 0.03 -q
dgtd l.m.h5 cut.h5 "${march[@]}" --state file
same whole cut
if command -v mpirun > /dev/null; then
    parts=two.h5 setup 0 "" p.m.h5 eps=2,lorentz=2/4.5e9/1e9,debye=1/1ns
    mpirun --oversubscribe -n 2 penstock-dgtd-march p.m.h5 ranks.h5 "${march[@]}" -q > /dev/null
    expect 0 "" penstock-compare whole.electric.h5 ranks.electric.h5 --tolerance 1e-5
fi

# ---- local steps: poles see the whole step, and what differs is the error of steps ----
expect 0 "" penstock-mesh-box fine.hdf --cells 6 --region 2:box:0,0,0,.34,1,1
expect 0 "" penstock-mesh-partition fine.hdf fine.h5
for steps in off 1; do
    expect 0 "" penstock-dgtd-setup fine.h5 $steps.m.h5 --order 1 --material 1:eps=12 --material 2:eps=1,debye=3/3ns --boundary outer:pec \
        --source current:at=.7,.5,.5:axis=0,0,1:radius=.28:moment=1e-12:width=4ns --local-steps $steps --force -q --allow cut
    dgtd $steps.m.h5 steps.$steps.h5 --time 60e-9 --frequency 5e7 2> /dev/null
done
expect 0 "" penstock-compare steps.off.phasors.h5 steps.1.phasors.h5 --tolerance .02

# ---- tissues: the formula to the digits of the numerics guide, poles within what is stated ----
tissue() { # NAME then eps and sigma at .45 .9 1.8 2.45 GHz
    local name=$1 at=0
    setup 0 "" t.m.h5 tissue=$name --frequency 450MHz,900MHz,1.8GHz,2.45GHz
    shift
    while [ $# -gt 0 ]; do
        at=$((at + 1))
        for what in eps sigma; do
            within "$(awk "BEGIN { print $(value medium_2 cole_${what}_at_$at) / $1 }")" .99999 1.00001 "$name: $what at $at"
            shift
        done
        within "$(value medium_2 deviation_at_$at)" 0 "$(value medium_2 fit_error)" "$name: poles at $at"
    done
}
tissue muscle 56.754362 .80927611 55.031946 .9429593 53.549288 1.3409776 52.729488 1.7387942
tissue skin-dry 45.7528 .708817 41.4052 .866758 38.8718 1.18474 38.0066 1.46404
tissue bone-cortical 13.0388 .0958359 12.4536 .143315 11.7805 .275221 11.3809 .394318
tissue grey-matter 56.5519 .75855 52.7253 .942294 50.0792 1.3913 48.9115 1.80778
tissue white-matter 41.4846 .459424 38.8862 .590806 37.0109 .914958 36.1666 1.21499
tissue csf 70.481235 2.2642602 68.638335 2.4125736 67.200494 2.9235864 66.243276 3.4578457
tissue fat 5.56056 .0419386 5.46195 .0510437 5.34937 .0783898 5.2801 .104522
within "$(value medium_2 fit_error)" 0 .01 "stated error"
expect 3 "stand for" penstock-dgtd-march t.m.h5 no.h5 --steps 5 --frequency 20e9 -q
expect 0 "poles" penstock-inspect t.m.h5

# ---- refused before any step ----
setup 2 "STRENGTH/TIME is expected" no.h5 eps=2,debye=5
setup 2 "passive" no.h5 eps=2,debye=-5/1ns
setup 2 "passive" no.h5 eps=2,debye=5/-1ns
setup 2 "passive" no.h5 eps=2,drude=0/1e9
setup 2 "passive" no.h5 eps=2,lorentz=1/1e9/-2
setup 2 "RESONANCE" no.h5 eps=2,lorentz=1/1e9
setup 2 "positive definite" no.h5 eps=2/2/2/3/0/0
setup 2 "XX/YY/ZZ" no.h5 eps=2/2
setup 2 "no tissue" no.h5 tissue=soap
setup 2 "leave out" no.h5 tissue=fat,eps=4
setup 2 "not negative" no.h5 eps=2,debye=5/1ns,rho=-1
setup 2 "more than 16 poles" no.h5 "eps=2$(printf ',debye=1/%dns' $(seq 17))"
setup 2 "upwind flux takes a number" no.h5 eps=2/3/4 --flux upwind
setup 0 "follows the field" fast.m.h5 eps=2,debye=5/1e-15s
dgtd fast.m.h5 fast.h5 --steps 400
setup 0 "turns by" quick.m.h5 eps=2,lorentz=1/1e12/1e9
dgtd quick.m.h5 quick.h5 --steps 400
wave=current:at=.55,.025,.025:axis=0,0,1:radius=.1:moment=1e-12:width=1ns
setup 0 "" tensor.m.h5 eps=2/3/4 --allow cut
expect 2 "a tensor of permittivity" penstock-dgtd-march tensor.m.h5 no.h5 --steps 5 -q
expect 2 "balance" penstock-dgtd-march l.m.h5 no.h5 --steps 5 --balance -q
expect 3 "impedance of infinite frequency" penstock-dgtd-setup guide.h5 no.h5 --order 1 --material default:eps=2,debye=1/1ns "${walls[@]}" -q
expect 2 "absorbs at a face" penstock-dgtd-setup guide.h5 no.h5 --order 1 --material default:eps=2/3/4 "${walls[@]}" -q
