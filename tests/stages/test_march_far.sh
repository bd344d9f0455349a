# Two levels: near lags every group, far lags from a file of their own once in many steps. The densities
# are those of the whole matrix, whatever the memory, the ranks and the restarts; halves change them by
# as much as is stated; files that do not belong together are refused.
set -eu
. "$ROOT/tests/support/march.bash"
sphere 2
run="--steps 240 $plane"
tiles="--tile-rows 256 --tile-slices 64"
cut() { penstock-slice-block "$@" --force -q > said.txt; }
go() { penstock-tdbem-march near-fp64.h5 sphere2.h5 "$@"; }

# ---- near + far = all, to rounding ----
for precision in fp64 fp32; do
    penstock-slice-assemble sphere2.h5 s-$precision.h5 --courant 4 --speed 1 --precision $precision $tiles -q > /dev/null
    march s-$precision.h5 sphere2.h5 one-$precision.h5 $run
    cut s-$precision.h5 near-$precision.h5 --k-below 16
    for layout in full contiguous warp; do
        cut s-$precision.h5 far-$precision.h5 --k-from 16 --layout $layout
        march near-$precision.h5 sphere2.h5 two-$precision.h5 $run --far far-$precision.h5 --force
        case $precision in
            fp64) close_to two-fp64.h5 one-fp64.h5 1e-13 ;;
            *) close_to two-fp32.h5 one-fp32.h5 1e-5 ;;
        esac
        [ $layout = full ] || identical two-$precision.h5 first.h5
        cp two-$precision.h5 first.h5
    done
    # how long the far groups are does not show
    for group in 8 16; do
        march near-$precision.h5 sphere2.h5 out.h5 $run --far far-$precision.h5 --far-group $group --force
        penstock-compare out.h5 two-$precision.h5 --tolerance 0 --no-attributes > said.txt
    done
done
# groups of more than 32 steps; other groups, to rounding
penstock-slice-assemble sphere2.h5 fine.h5 --courant 12 --speed 1 --precision fp64 $tiles -q > /dev/null
cut fine.h5 fine-near.h5 --k-below 43
cut fine.h5 fine-far.h5 --k-from 43
march fine.h5 sphere2.h5 fine-one.h5 $run
penstock-tdbem-march fine-near.h5 sphere2.h5 fine-two.h5 $run --far fine-far.h5 --json > fine.json
[ "$(figure fine.json far_group)" = 40 ] && [ "$(figure fine.json far_sweeps)" = 5 ]
close_to fine-two.h5 fine-one.h5 1e-13

# ---- out of core, near in memory: far is read once in n_far steps ----
for group in 8 16; do
    go out.h5 $run --far far-fp64.h5 --far-group $group --plan --json > plan.json
    budget=$(($(figure plan.json least_memory) + $(figure plan.json tiles)))
    go out.h5 $run --far far-fp64.h5 --far-group $group --host-memory $budget --json --force > out-$group.json
    penstock-compare out.h5 two-fp64.h5 --tolerance 0 --no-attributes > said.txt
    below "$(figure out-$group.json chunks)" "$(figure out-$group.json resident_chunks)"
    below "$(figure out-$group.json far_resident_chunks)" $(($(figure out-$group.json far_chunks) - 1))
done
read8=$(figure out-8.json far_read) read16=$(figure out-16.json far_read)
echo "far lags read: $read8 GB with far groups of 8 steps, $read16 GB of 16"
awk -v a="$read8" -v b="$read16" 'BEGIN { exit !(a / b > 1.5 && a / b < 3) }' # 2, had they as many resident tiles
fails 4 "cannot do" go no.h5 $run --far far-fp64.h5 --host-memory $(($(figure plan.json least_memory) / 2))

# ---- halves ----
cut s-fp64.h5 half.h5 --values f16
figure_of() { awk -v n="$1" '$1 == n { print $2 }' said.txt; }
penstock-slice-block s-fp64.h5 half.h5 --values f16 --force > said.txt 2> /dev/null
below "$(figure_of rounding_max)" 4.8829e-4
below 1e-4 "$(figure_of rounding_rms)"
march half.h5 sphere2.h5 rounded.h5 $run
change=$(penstock-compare rounded.h5 one-fp64.h5 --no-attributes --tolerance 1 | awk 'NF == 1 { s = $1 } s == "/densities" && $1 == "relative_l2" { print $2 }')
echo "halves change the densities by $change"
below "$change" 1e-3
below 1e-5 "$change"
cut s-fp32.h5 half32.h5 --values f16
march half32.h5 sphere2.h5 rounded32.h5 $run
close_to rounded32.h5 rounded.h5 2e-5
cut s-fp64.h5 far-half.h5 --k-from 16 --values f16
march near-fp64.h5 sphere2.h5 far-rounded.h5 $run --far far-half.h5
close_to far-rounded.h5 one-fp64.h5 "$change"
# stable still: 10,000 steps
penstock-tdbem-march half32.h5 sphere2.h5 long.h5 --steps 10000 $plane --json > long.json
below "$(figure long.json largest)" 20
mean=$(figure long.json mean_at_the_end); below "${mean#-}" 1e-3

# ---- stops and restarts, between far sweeps too ----
long="--steps 1400 $plane --far far-half.h5 --checkpoint-every 24steps" # every other one inside a far group
march near-fp64.h5 sphere2.h5 whole.h5 $long
go killed.h5 $long --restart -q --stop-after 0.001 > /dev/null && exit 1
for moment in rename:3 write:150 fsync:7 unlink:4; do
    killed_at $moment penstock-tdbem-march near-fp64.h5 sphere2.h5 killed.h5 $long --restart
    RANK= partly at rename:3 TERM penstock-tdbem-march near-fp64.h5 sphere2.h5 killed.h5 $long --restart -q > /dev/null
    [ ! -e killed.h5 ]
done
march near-fp64.h5 sphere2.h5 killed.h5 $long --restart
identical killed.h5 whole.h5

# ---- what does not belong together ----
cut s-fp64.h5 far-12.h5 --k-from 12
cut s-fp32.h5 far-fp32.h5 --k-from 16
penstock-slice-assemble sphere2.h5 other.h5 --courant 4 --speed 1 --precision fp64 --points 3 $tiles -q > /dev/null
cut other.h5 far-other.h5 --k-from 16
fails 3 "give the others with --far" go no.h5 $run
fails 3 "without M^0: it is a far matrix" penstock-tdbem-march far-fp64.h5 sphere2.h5 no.h5 $run
fails 3 "without M^0: it is a far matrix" penstock-tdbem-march far-fp64.h5 sphere2.h5 no.h5 $run --far far-fp64.h5
fails 2 "holds all lags by itself" penstock-tdbem-march s-fp64.h5 sphere2.h5 no.h5 $run --far far-fp64.h5
fails 3 "holds the lags 12 to below" go no.h5 $run --far far-12.h5
fails 3 "holds the lags 0 to below" go no.h5 $run --far near-fp64.h5
fails 3 "not cut from the same slice matrix" go no.h5 $run --far far-fp32.h5
fails 3 "not cut from the same slice matrix" go no.h5 $run --far far-other.h5
fails 3 "absent.h5" go no.h5 $run --far absent.h5
fails 2 "--far-group 24" go no.h5 $run --far far-fp64.h5 --far-group 24
fails 2 "--far-group 12" go no.h5 $run --far far-fp64.h5 --far-group 12
fails 2 "too near for such groups" go no.h5 $run --far far-fp64.h5 --group 32
fails 2 "--far-group is for runs with --far" penstock-tdbem-march s-fp64.h5 sphere2.h5 no.h5 $run --far-group 16
fails 2 "there is no lag" penstock-slice-block s-fp64.h5 no.h5 --k-from 200
fails 2 "there is no lag" penstock-slice-block s-fp64.h5 no.h5 --k-from 9 --k-below 9
fails 2 "only warps" penstock-slice-block s-fp64.h5 no.h5 --values f16 --layout contiguous
# another far file is another run
partly go part.h5 --steps 12000 $plane --far far-fp64.h5 --stop-after 0.1 -q > /dev/null
[ ! -e part.log ] || fails 2 "input-far" go part.h5 --steps 12000 $plane --far far-half.h5 --restart
rm -f part.*

# ---- the drifting mean of sound-hard bodies ----
penstock-slice-assemble sphere2.h5 hard.h5 --courant 4 --speed 1 --formulation sound-hard $tiles -q > /dev/null
cut hard.h5 hard-near.h5 --k-below 12
cut hard.h5 hard-far.h5 --k-from 12
march hard.h5 sphere2.h5 hard-one.h5 --steps 400 $plane --project-mean
march hard-near.h5 sphere2.h5 hard-two.h5 --steps 400 $plane --project-mean --far hard-far.h5
close_to hard-two.h5 hard-one.h5 1e-4
partly penstock-tdbem-march hard-near.h5 sphere2.h5 hard-three.h5 --steps 400 $plane --project-mean --far hard-far.h5 \
    --stop-after 0.05 -q > /dev/null
[ -e hard-three.h5 ] || march hard-near.h5 sphere2.h5 hard-three.h5 --steps 400 $plane --project-mean --far hard-far.h5 --restart
identical hard-three.h5 hard-two.h5

# ---- ranks ----
command -v mpirun > /dev/null || { echo "there is no mpirun here"; exit 77; }
for n in 2 3; do
    ranks $n penstock-tdbem-march near-fp64.h5 sphere2.h5 ranks.h5 $run --threads 1 -q --far far-fp64.h5 --force > /dev/null
    close_to ranks.h5 one-fp64.h5 1e-13
done
partly ranks 2 penstock-tdbem-march near-fp64.h5 sphere2.h5 moved.h5 $long --threads 1 -q --stop-after 0.5 > /dev/null
[ -e moved.h5 ] || march near-fp64.h5 sphere2.h5 moved.h5 $long --restart
close_to moved.h5 whole.h5 1e-12
