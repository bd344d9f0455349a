# Local time steps out of core: bars of graded elements, even ones and slivers, in memory, in tiles and in a file with as little
# memory as there may be: the same bits; stopped, killed and damaged.
. "$ROOT/tests/stages/lib.sh"
needs mesh-box mesh-import mesh-partition dgtd-setup dgtd-march compare
export OMP_NUM_THREADS=1
# bar NX NY PULL: cells of six tetrahedra, half as long as others in most of it and a fifth in its middle, of group 2 there; every
# 31st inner vertex is moved PULL of the way to the next one.
bar() {
    awk -v nx=$1 -v ny=$2 -v pull=$3 'function near(i) { return (i - nx / 2) ^ 2 < 5 }
    BEGIN { mx = nx + 1; my = ny + 1; print "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes"; print mx * my * my
    for (i = 0; i <= nx; ++i) x[i] = i ? x[i - 1] + (near(i - .5) ? .2 : (i - .5 - nx / 2) ^ 2 < nx * nx / 9 ? .45 : 1) : 0
    for (v = 0; v < mx * my * my; ++v) { i = v % mx; j = int(v / mx) % my; k = int(v / mx / my); px = x[i]
        if (i && i < nx && j && j < ny && k && k < ny && v % 31 == 7) px += pull * (x[i + 1] - x[i])
        printf "%d %.9g %.9g %.9g\n", v + 1, .01 * px, .01 * j, .01 * k }
    print "$EndNodes\n$Elements"; print 6 * nx * ny * ny
    split("0 1 2 0 2 1 1 0 2 1 2 0 2 0 1 2 1 0", o, " "); step[0] = 1; step[1] = mx; step[2] = mx * my
    for (z = 0; z < ny; ++z) for (y = 0; y < ny; ++y) for (i = 0; i < nx; ++i) for (k = 0; k < 6; ++k) {
        v = i + mx * y + mx * my * z + 1; tag = near(i + .5) ? 2 : 1; line = ++e " 4 2 " tag " " tag " " v
        for (n = 1; n < 4; ++n) { v += step[o[3 * k + n]]; line = line " " v }
        print line }
    print "$EndElements" }'
}
for mesh in "even 0" "ugly .85"; do
    bar 48 4 ${mesh#* } > bar.msh
    expect 0 "" penstock-mesh-import -q bar.msh bar.hdf --kind volume --orient --force
    expect 0 "" penstock-mesh-partition -q bar.hdf ${mesh% *}.h5 --order layers
done
model() { # MESH NAME ORDER OPTION...
    expect 0 "" penstock-dgtd-setup -q $1.h5 $2.m.h5 --force --allow early --allow cut --order $3 --material 1:eps=3 \
        --source current:at=.08,.02,.02:axis=0,0,1:radius=.015:moment=1e-12:shape=gaussian:width=.05ns:frequency=3e9 "${@:4}"
}
go="--probe .12,.021,.023 --probe .02,.02,.02 --energy-every 2 --frequency 2e9 --allow part-periods --allow faint --force -q"
agree() { local k; for k in "" .electric .magnetic .phasors; do [ ! -e $1$k.h5 ] || same $1$k.h5 $2$k.h5; done; }
# tight NAME OPTION...: in a file, with the least memory that its plan tells; sets depth and visit
tight() {
    local memory
    memory=$(($(least penstock-dgtd-march $1.m.h5 tight.h5 "${@:2}" --state file) + 200000))
    expect 0 "" penstock-dgtd-march $1.m.h5 tight.h5 "${@:2}" --state file --host-memory $memory --json
    peak=$(grep -oE '"peak_memory": *[0-9]+' out | grep -oE '[0-9]+$') stages=$(grep -oE '"half_steps_a_step": *[0-9]+' out | grep -oE '[0-9]+$')
    within $peak $((memory / 10 * 6)) $memory "peak with $memory bytes"
}

deepest=0
# ---- orders, precisions, meshes: in memory, in tiles there, in a file, with the least memory ----
for order in 1 2 3 4; do
    mesh=even precision=fp64
    [ $((order % 2)) = 1 ] || mesh=ugly
    [ $order -lt 3 ] || precision=fp32
    model $mesh m $order --boundary outer:pec --material 2:eps=1,sigma=.05 --local-steps auto
    levels=$(awk '/^local_steps/ { at = 1 } at && $1 == "levels" { print $2; exit }' out)
    [ "$levels" -ge 2 ] || fail "P$order $mesh: $levels levels"
    run="--steps 9 --precision $precision $go"
    expect 0 "" penstock-dgtd-march m.m.h5 memory.h5 $run
    expect 0 "" penstock-dgtd-march m.m.h5 file.h5 $run --visit-steps 3
    agree memory file
    expect 0 "" penstock-dgtd-march m.m.h5 file.h5 $run --state file --visit-steps $((order % 3 + 1))
    agree memory file
    tight m $run
    agree memory tight
    echo "P$order $precision $mesh: $levels levels, $stages half steps a step with the least memory"
    deepest=$((stages > deepest ? stages : deepest))
done
[ "$deepest" -gt 2 ] || fail "no smaller steps went over all ranges"

# ---- poles, a layer; and with all of them the balance ----
model even p 2 --boundary outer:pec --material 2:eps=1.2,sigma=.02,debye=2/1ns --local-steps 1
run="--steps 15 --precision fp64 $go"
expect 0 "" penstock-dgtd-march p.m.h5 memory.h5 $run
tight p $run
agree memory tight
expect 0 "" penstock-mesh-box -q box.hdf --cells 20,6,6 --size 3,1,1 --shake .3 --region 2:box:1.2,.3,.3,1.8,.7,.7
expect 0 "" penstock-mesh-partition -q box.hdf box.h5 --order layers
expect 0 "" penstock-dgtd-setup -q box.h5 l.m.h5 --allow early --allow short-pulse --order 1 --material 1:eps=20 --material 2:eps=1 \
    --boundary outer:absorbing --pml auto:layers=2:reflection=1e-3 --local-steps auto \
    --source current:at=.6,.5,.5:axis=0,0,1:radius=.3:moment=1e-12:shape=gaussian:width=.8ns:delay=2ns
run="--steps 15 --precision fp64 --probe 1.5,.5,.5 --energy-every 1 --frequency 1e8 --allow part-periods --allow faint --force -q --balance"
expect 0 "" penstock-dgtd-march l.m.h5 memory.h5 $run
tight l $run
agree memory tight

# ---- stopped, killed, damaged ----
model ugly m 1 --boundary outer:pec --material 2:eps=1,sigma=.05 --local-steps auto
run="--steps 60 --precision fp32 $go --checkpoint-every 7steps"
run=${run/--force -q/}
expect 0 "" penstock-dgtd-march m.m.h5 whole.h5 $run
memory=$(($(least penstock-dgtd-march m.m.h5 cut.h5 $run --state file) + 200000))
file="penstock-dgtd-march m.m.h5 cut.h5 $run --state file --host-memory $memory"
for moment in rename:2 fsync:5 rename:3; do killed_at $moment $file --restart; done
expect 75 "the same command continues" at rename:1 TERM $file
expect 0 "continuing after" $file
agree whole cut
expect 75 "" $file --stop-after 0.01 --force
printf 'xyz' | dd of="$(ls cut.state? | head -n 1)" bs=1 seek=3000 conv=notrunc 2> /dev/null
expect 0 "" $file
agree whole cut

# ---- elements that are in no layers ----
expect 0 "" penstock-mesh-partition -q bar.hdf curve.h5
model curve c 1 --boundary outer:pec --material 2:eps=1,sigma=.05 --local-steps auto
expect 4 "elements in layers (penstock-mesh-partition --order layers) do with less" \
    penstock-dgtd-march c.m.h5 no.h5 $run --state file --host-memory 15M
expect 0 "" penstock-dgtd-march c.m.h5 cut.h5 $run --force
expect 0 "" penstock-dgtd-march c.m.h5 file.h5 $run --state file
agree cut file
exit 0
