# States of unfinished runs with one value edited and all hashes made anew (tests/programs/store_edit), as no damage is: the same
# command refuses them by name, or ends with the right bits, or, of iterations, with a solution that is judged as any other. Only of
# items of journals (rows `unseen`) another result is made; no program crashes, hangs or keeps a number that is none. Rows `told` leave
# what a state tells of itself and of its log, its sums and the log's hash, as they were; for all others those are gone, too.
. "$ROOT/tests/stages/lib.sh"
. "$ROOT/tests/support/gravity.bash"
needs dgtd-march mesh-surface cluster-build slice-assemble slice-block tdbem-march hbem-solve hmatrix-assemble particle-import octree-build fmm gravity-invert
edit="$BUILD/tests-programs/store_edit"
[ -x "$edit" ] || { echo "store_edit was not built"; exit 77; }
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
rows=0

# begin OUT MOMENT COMMAND...: a whole run in ./whole, and in ./killed what one leaves that is killed at MOMENT.
begin() {
    out=$1 moment=$2
    shift 2
    run=("$@")
    rm -rf whole killed
    mkdir whole killed
    (cd whole && made "${run[@]}") || exit 1
    (cd killed && killed_at "$moment" "${run[@]}" && rm -f -- *.tmp) || exit 1
}
# again STATE EDIT...: the newest state of that ending, edited and alone, and the same command; leaves rc, said.
again() {
    local state
    rm -rf trial
    cp -r killed trial
    state=$(ls trial | grep -E "$1" | tail -n 1)
    [ -n "$state" ] || { ls killed; fail "no state like $1"; }
    case $state in *.h5) (cd trial && ls | grep -E "$1" | grep -v "^$state\$" | xargs -r rm) ;; esac
    shift
    "$edit" "killed/$state" "trial/$state.new" "$@" > edited 2>&1 || { cat edited; fail "not edited: $*"; }
    mv "trial/$state.new" "trial/$state"
    case $state in
    *.log) [ -n "${STORE_EDIT_KEEPS:-}" ] || for other in trial/*.0*.h5; do "$edit" "$other" new.h5 @log 0 0 && mv new.h5 "$other"; done ;;
    esac
    (cd trial && MALLOC_PERTURB_=165 timeout 60 "${run[@]}" > said 2>&1)
    rc=$?
    what="${run[0]}, $state, $*"
    said=trial/said
    rows=$((rows + 1))
}
# refused TEXT STATE EDIT...
refused() {
    local text=$1
    shift
    again "$@"
    [ $rc -ge 1 ] && [ $rc -le 5 ] && grep -qE -- "$text" $said || { cat $said; fail "$what: ended with $rc, not refused by \"$text\""; }
    [ ! -e "trial/$out" ] || fail "$what: refused, but there is an output"
}
told() { STORE_EDIT_KEEPS=1 refused "$@"; }
# bits STATE EDIT...; agrees TOLERANCE DATASET STATE EDIT...
bits() { agrees 0 '*' "$@"; }
agrees() {
    local tolerance=$1 set=$2
    again "${@:3}"
    [ $rc -eq 0 ] || { cat $said; fail "$what: ended with $rc"; }
    penstock-compare "whole/$out" "trial/$out" --tolerance "$tolerance" --dataset "$set" --no-attributes > compared 2>&1 || { cat compared; fail "$what: another $set"; }
}
# unseen STATE EDIT...: finite, and told by nothing else; it ends as a run does.
unseen() { again "$@"; [ $rc -eq 0 ] || { cat $said; fail "$what: ended with $rc"; }; }

made penstock-mesh-surface s.hdf --divisions 3
made penstock-cluster-build s.hdf c.h5 --leaf 16

# ---- journals: sizes, places, lags, numbers ----
begin o.h5 rename:1 penstock-slice-assemble -q ../s.hdf o.h5 --speed 1 --courant 2 --checkpoint-every 1step --device cpu --threads 1
cp whole/o.h5 slices.h5
refused "a square that is none of this assembly" squares record:0 0 7
refused "has the wrong size" squares record:0 4 -1
refused "has the wrong size" squares record:0 9 cut
refused "holds what no square has" squares record:0 6 1000000007   # where the values of a row begin
refused "holds what no square has" squares record:0 90 -1
refused "holds what no square has" squares record:0 1200 nan
begin o.h5 rename:1 penstock-slice-block -q ../slices.h5 o.h5 --checkpoint-every 1step --layout full --threads 1
refused "has another size" items record:0 5 7
bits items record:0 7 -1                                           # counted anew
refused "numbers that are not finite" items record:0 300 nan
unseen items record:0 300 1.5
made penstock-particle-import --generate ellipsoid --count 600 p.h5
begin o.h5 rename:1 penstock-octree-build -q ../p.h5 o.h5 --group 40 --checkpoint-every 1step --height 3 --threads 1
cp whole/o.h5 tree.h5
refused "what is no tile of this tree" items record:0 2 7
refused "other particles than its leaves" items record:0 3 1000000007 # coincident ones
refused "other particles than its leaves" items record:0 4 1.5e9      # x of the first
refused "other particles than its leaves" items record:0 4 nan
refused "other particles than its leaves" items record:0 2410 600     # a place
refused "particles twice" items record:0 2410 7
begin o.h5 rename:1 penstock-fmm -q ../tree.h5 o.h5 --device cpu --checkpoint-every 1step --order 4 --tree uniform --threads 1
refused "a group that is not there" groups record:0 0 1000000007
refused "has the wrong size" groups record:0 1 -1
refused "has the wrong size" groups record:0 1 cut
refused "numbers that are not finite" groups record:0 40 nan
unseen groups record:0 90 7.5

begin o.h5 rename:2 penstock-hmatrix-assemble -q ../c.h5 o.h5 --chunk-size 4K --epsilon 1e-4 --threads 1 --device cpu
for word in -1 0 1000000007; do bits part0000 /rank 3 $word; done
bits part0000 /values 3 nan
bits part0000 /values 3 7.5

# ---- marches: the past is what the log holds; rows of the log ----
march="penstock-tdbem-march -q ../slices.h5 ../s.hdf o.h5 --emitter plane:dir=0,0,1:width=5 --checkpoint-every 10steps --steps 60 --threads 1 --device cpu"
begin o.h5 rename:5 $march
bits '\.0.*h5$' @step 0 -1
bits '\.0.*h5$' @step 0 1000000007
bits '\.0.*h5$' @part 0 3
bits '\.0.*h5$' /past 144 nan
refused "another step" '\.0.*h5$' /past 431 -.5
refused "another step" '\.0.*h5$' /past 0 1e9
refused "no 8 rows of finite numbers" 'log$' record:0 3 nan
refused "no 8 rows of finite numbers" 'log$' record:0 1 cut
refused "another step" 'log$' record:5 260 .25
told "beside another log" 'log$' record:0 3 .25
told "numbers of /figures add up to" '\.0.*h5$' /figures 0 7.5

"$BUILD/tests-programs/dgtd_model" m.h5 side=4 order=1 || fail "no model"
begin o.h5 rename:3 penstock-dgtd-march -q ../m.h5 o.h5 --steps 60 --checkpoint-every 10steps --probe .3,.4,.5 --threads 1 --device cpu
bits '\.0.*h5$' @step 0 -1
told "beside another log" '\.0.*h5$' @step 0 10 # where the log has a record that ends, too
told "of a newer penstock" '\.0.*h5$' @format_version 0 2
told "beside another log" 'log$' record:0 3 .25
bits '\.0.*h5$' /electric 0 nan
refused "samples up to step 1 are not finite" 'log$' record:0 3 nan
refused "cut short" 'log$' record:0 3 cut
told "numbers of /electric add up to" '\.0.*h5$' /electric 0 .25
told "numbers of /magnetic add up to" '\.0.*h5$' /magnetic 70 1e-9

# ---- solvers ----
solve="penstock-hbem-solve -q ../s.hdf ../c.h5 o.hdf --problem dirichlet --checkpoint-every 2steps --data point:2,0,0 --threads 1 --device cpu"
begin o.hdf rename:3 $solve
bits 'h5$' @step 0 0
bits 'h5$' @part 0 1
for word in 0 1 2 3 4; do refused "counters that no run has|items, not the" 'h5$' /small $word -1; done
agrees 1e-9 '*' 'h5$' /small 2 1000000007 # the step: no index in conjugate gradients
bits 'h5$' /vectors 0 nan
told "numbers of /vectors add up to" 'h5$' /vectors 0 .25
told "of a newer penstock" 'h5$' @format_version 0 2
printf '%s\n' "1 1 1 .01 .001" "2 2 1 .02 .001" "3 1 2 .01 .001" > observed.txt
printf '4 3 2\n0 0 0\n4*1\n3*1\n2*.5\n' > mesh.msh
begin o.h5 rename:3 penstock-gravity-invert -q ../observed.txt ../mesh.msh o.h5 --checkpoint-every 2steps --threads 1 --regularisation 1e-8 --bounds 0,9
for word in 0 1 2; do refused "do not belong together" 'h5$' /search $word 1000000007; done # products, trials, done
refused "do not belong together" 'h5$' /search 5 1.5                                            # beta
refused "do not belong together" 'h5$' /small 2 1000000007                                      # halvings
refused "do not belong together" 'h5$' /small 7 1.5                                             # tolerance
refused "do not belong together" 'h5$' /vectors 3 1e9                                           # the model
refused "do not belong together" 'h5$' /vectors 30 -5                                           # its gradient
bits 'h5$' /vectors 3 nan
told "numbers of /vectors add up to" 'h5$' /vectors 40 .25

penstock-gravity-model load.m.hdf --preset chx-1 --nodes 17,15,11 > /dev/null || fail model
assembled load.m.hdf load.hdf --subdomains sub.h5 --parts 3
solve="penstock-schwarz-solve -q ../load.hdf o.hdf --threads 1 --limit 150"
begin o.hdf rename:3 $solve --method cg --checkpoint-every 3steps --tolerance 1e-8
potential=/VTKHDF/PointData/potential
agrees 0 $potential 'h5$' /x 0 1e9      # a fixed node, which no residual sees
agrees 0 $potential 'h5$' /x 2804 -3e8  # and the last one
refused "nothing is kept" 'h5$' /x 1402 -3e8
bits 'h5$' /x 1402 nan
refused "holds 6 items, not the 7" 'h5$' @step 0 7
for word in 0 1; do refused "a state that no solve by this method has" 'h5$' /scalars $word 1000000007; done
refused "a state that no solve by this method has" 'h5$' /scalars 7 -1 # iterations
refused "nothing is kept" 'h5$' /vectors 1402 -.5
told "numbers of /history add up to" 'h5$' /history 0 7.5
begin o.hdf rename:3 $solve --slabs 5 --method gmres --checkpoint-every 1steps --tolerance 1e-8
refused "no run has that" 'h5$' /gmres 0 1e9
refused "no run has that" 'h5$' /gmres 1 1e9
refused "no run has that" 'h5$' /gmres 1 1
agrees 1e-3 $potential 'h5$' /traces 0 -.5
bits 'h5$' /basis 0 nan
begin o.hdf rename:3 $solve --subdomains ../sub.h5 --method fixed-point --inner cg --checkpoint-every 1steps --tolerance 1e-6
refused "no run has that" 'h5$' /measure 0 -.5
refused "no run has that" 'h5$' /measure 1 1e-9
agrees 1e-3 $potential 'h5$' /field 0 1e9
agrees 1e-3 $potential 'h5$' /traces 0 -.5
echo "$rows edited states"
