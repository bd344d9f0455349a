# A ball of muscle by four Debye poles in one pulse, in a mesh too coarse for more than some per cent: absorbed and
# scattered power at two frequencies against Mie's series with the tissue's permittivity at each (cases/dgtd-sphere has
# the fine one).
. "$ROOT/tests/stages/lib.sh"
needs mesh-import mesh-partition dgtd-setup dgtd-march dgtd-sar dgtd-far dgtd-sphere
. "$ROOT/tests/support/dgtd_march.bash"
{ echo 'R = 0.1011; A = 0.3; h = 0.03; H = 0.08;'; cat "$ROOT/cases/dgtd-sphere/ball.geo"; } > muscle.geo # the volume of R = .1
expect 0 "" penstock-mesh-import muscle.geo muscle.hdf --kind volume -q
expect 0 "" penstock-mesh-partition muscle.hdf parts.h5 -q
expect 0 "" penstock-dgtd-setup parts.h5 model.h5 --order 2 --material ball:tissue=muscle,rho=1000 --material outside:eps=1 \
    --boundary absorbing:absorbing --total ball:0,0,0,0.17 --frequency 450MHz,900MHz \
    --source plane:dir=0,0,1:pol=1,0,0:shape=gaussian:width=.6ns:frequency=6.75e8:at=0,0,0
cp out muscle-model.txt
expect 0 "" penstock-dgtd-march model.h5 muscle.h5 --time 8ns --frequency 450e6,900e6 --transform-every 4 -q
for n in 1 2; do
    for power in absorbed scattered; do
        bash "$ROOT/cases/dgtd-sphere/muscle.sh" . $power $n > off.json || fail "$power $n"
        within "$(figure off.json off)" 0 .05 "$power at frequency $n"
    done
done
exit 0
