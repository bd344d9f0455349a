# What --plan --ranks counts from the files is what ranks then send each other, message by message and byte by byte, and
# the sums that they make: every family, by the difference of two runs of unequal lengths. COUNTED: numbers of ranks.
. "$ROOT/tests/stages/lib.sh"
needs mesh-surface slice-assemble tdbem-march mesh-box mesh-partition dgtd-setup dgtd-march particle-import octree-build \
    fmm cluster-build hmatrix-assemble hbem-solve gravity-model gravity-assemble schwarz-solve
command -v mpirun > /dev/null && mpirun -n 2 "$BUILD/tests-programs/comm_check" 2 > /dev/null 2>&1 || { echo "no mpirun"; exit 77; }
export OMP_NUM_THREADS=1 PENSTOCK_STRICT=1
made penstock-mesh-surface s.hdf --divisions 5
made penstock-mesh-surface t.hdf --divisions 6

# counted N UNIT COMMAND...: messages, sent, most_sent, sums, summed of a unit, by the plan
counted() {
    local n=$1
    shift
    "$@" --plan --ranks "$n" --device cpu > out 2> err || { cat out err; fail "plan of $n ranks: $*"; }
    plan=$(awk '$1 == "traffic" { on = 1 } on { v[$1] = $2 } END { print v["messages"] + 0, v["sent"] + 0, v["sums"] + 0, v["summed"] + 0 }' out)
}
# told N COMMAND...: the same of a run, all of it; its `units` is figure $unit of the run
told() {
    local n=$1
    shift
    mpirun -n "$n" "$@" --device cpu --force -v > out 2> err || { cat out err; fail "$n ranks: $*"; }
    sums=$(sed -n 's/.* ranks: \([0-9]*\) messages of \([0-9]*\) B, .* in \([0-9]*\) sums of \([0-9]*\) B.*/\1 \2 \3 \4/p' err)
    [ -n "$sums" ] || fail "$*: nothing is told of ranks"
}
# same WHAT N UNITS_A TOLD_A UNITS_B TOLD_B [columns]: the difference is that of UNITS_B - UNITS_A of the plan
same() {
    echo "$plan $4 $6" | awk -v units=$(($5 - $3)) -v columns="${7:-1 2 3 4}" '{
        split(columns, c, " ")
        for (i in c) { k = c[i]; if ($(8 + k) - $(4 + k) != units * $k) { print "column " k ": told " $(8 + k) - $(4 + k) ", counted " units * $k; bad = 1 } }
        exit bad || units <= 0 }' > told || { cat told; fail "$1 on $2 ranks: other traffic than counted"; }
    echo "$1, $2 ranks: counted $plan a unit (messages, bytes, sums, bytes), $(($5 - $3)) units told the same"
}

# ---- tdbem: a sum a step, of all unknowns ----
made penstock-slice-assemble s.hdf slices.h5 --formulation sound-hard --courant 2 --speed 340
# ---- dgtd: traces ----
made penstock-mesh-box box.hdf --cells 5
made penstock-mesh-partition box.hdf parts.h5 --parts 8
made penstock-dgtd-setup parts.h5 model.h5 --order 2 --material default:eps=1 --boundary outer:pec \
    --source mode:n=1,1,1:amplitude=1,-1,0
# ---- fmm: pieces ----
made penstock-particle-import --generate cube --count 6000 p.h5
made penstock-octree-build p.h5 tree.h5 --height 4 --group 16
# ---- hbem: products ----
made penstock-cluster-build t.hdf c.h5
for o in dlp hyps adlp; do made penstock-hmatrix-assemble c.h5 $o.h5 --operator $o --wavenumber 1 --device cpu; done
made penstock-hmatrix-assemble c.h5 slp.h5 --operator slp --device cpu
made penstock-hmatrix-assemble c.h5 slp2.h5 --operator slp --wavenumber 1 --device cpu
# ---- schwarz: traces and planes ----
made penstock-gravity-model model.hdf --preset chx-1 --nodes 33,25,15
made penstock-gravity-assemble model.hdf load.hdf --boundary point-mass

for n in ${COUNTED:-2 3}; do
    march="penstock-tdbem-march slices.h5 s.hdf run.h5 --group 4 --emitter plane:dir=1,0,0:width=0.02 --allow short-pulse --allow loud-start"
    counted $n $march --steps 8
    told $n $march --steps 8; first=$sums
    told $n $march --steps 24
    same tdbem $n 2 "$first" 6 "$sums"

    march="penstock-dgtd-march model.h5 wave.h5 --checkpoint-every 0"
    counted $n $march --steps 10
    told $n $march --steps 10; first=$sums
    told $n $march --steps 25
    same dgtd $n 10 "$first" 25 "$sums" "1 2"

    # all of a run: nothing else goes from rank to rank
    counted $n penstock-fmm tree.h5 r.h5 --order 3 --tree uniform
    told $n penstock-fmm tree.h5 r.h5 --order 3
    same fmm $n 0 "0 0 0 0" 1 "$sums" "1 2"

    counted $n penstock-fmm tree.h5 r.h5 --order 3 --tree adaptive
    told $n penstock-fmm tree.h5 r.h5 --order 3 --tree adaptive
    same "fmm, adaptive" $n 0 "0 0 0 0" 1 "$sums" "1 2"

    for way in "dlp.h5 hyps.h5:--direction 1,0,0" "slp2.h5 adlp.h5:--direction 1,0,0 --boundary others:soft" \
        "slp.h5:--problem dirichlet --form indirect --data point:0,0,.2 --solver gmres"; do
        solve="penstock-hbem-solve t.hdf ${way%%:--*} phi.hdf ${way#*:}"
        counted $n $solve
        told $n $solve --tolerance 1e-2; first=$sums few=$(figure products)
        told $n $solve --tolerance 1e-8
        same "hbem ${way%%:--*}" $n "$few" "$first" "$(figure products)" "$sums" "3 4"
    done

    for way in "--slabs 8 --method fixed-point --kind oo2:1 2 3 4" "--method cg:1 2" "--method bicgstab:1 2"; do
        solve="penstock-schwarz-solve load.hdf ${way%%:*} --checkpoint-every 0"
        counted $n $solve
        told $n $solve --tolerance 1e-2; first=$sums few=$(figure iterations)
        told $n $solve --tolerance 1e-5
        same "schwarz ${way%%:*}" $n "$few" "$first" "$(figure iterations)" "$sums" "${way#*:}"
    done
done

expect 2 "goes with --plan" penstock-fmm tree.h5 r.h5 --ranks 4
expect 2 "goes with --plan" mpirun -n 2 penstock-dgtd-march model.h5 wave.h5 --steps 4 --plan --ranks 4
expect 2 "parts" penstock-dgtd-march model.h5 wave.h5 --steps 4 --plan --ranks 9
