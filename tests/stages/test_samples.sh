# penstock-incident --samples: a plane wave, and the velocity of a sphere, given at points and times, are those of --emitter
# and --velocity; as text, with and without other steps; what is refused.
. "$ROOT/tests/stages/lib.sh"
. "$ROOT/tests/support/march.bash"
set -e
sphere 1 12.566370614359172
for kind in hard soft-m; do
    penstock-slice-assemble sphere1.h5 $kind.h5 --dt .25 --speed 1 --formulation sound-$kind -q > /dev/null
    penstock-tdbem-march -q $kind.h5 sphere1.h5 $kind.a.h5 --steps 120 --emitter plane:dir=0,0,1:width=4:delay=15 > /dev/null 2>&1
done
# sample QUANTITY PLACES STEP FIRST COUNT WIDTH DELAY
sample() { python3 "$ROOT/tests/support/samples.py" sphere1.off "$@" file; }
make="penstock-incident sphere1.h5 OUT --steps 120 -q"
is() { # RUN REFERENCE LIMIT
    penstock-compare "$1" "$2" --dataset /densities --no-attributes --tolerance 1 > said.txt
    within "$(awk '$1 == "relative_l2" { print $2 }' said.txt)" 0 "$3" "$1"
}
while read -r quantity places kind limit; do
    for resample in "" :resample; do
        [ -n "$resample" ] && sample $quantity $places .2 -10 211 4 15 || sample $quantity $places .25 0 124 4 15
        ${make/OUT/x.h5} --like $kind.h5 --force --samples "file.csv:quantity=$quantity:points=file-points.csv$resample" > told.txt
        within "$(awk '$1 == "cut_energy" { print $2 }' told.txt)" 1e-9 1e-3 "energy that is cut"
        penstock-tdbem-march --force -q $kind.h5 sphere1.h5 x.run.h5 --steps 120 --incident x.h5 > /dev/null
        is x.run.h5 $kind.a.h5 $limit
    done
done << T
gradient vertices hard .004
slope centroids hard .004
pressure centroids soft-m .004
T
${make/OUT/v.h5} --like hard.h5 --density 2 --velocity all:along=0,0,1:width=4:delay=15 > /dev/null
penstock-tdbem-march -q hard.h5 sphere1.h5 v.run.h5 --steps 120 --incident v.h5 > /dev/null
sample velocity centroids .25 0 124 4 15
samples="file.csv:quantity=velocity:points=file-points.csv"
${make/OUT/x.h5} --like hard.h5 --force --density 2 --samples $samples > told.txt
grep -q "velocity_modes *1$" told.txt || fail "modes"
penstock-tdbem-march --force -q hard.h5 sphere1.h5 x.run.h5 --steps 120 --incident x.h5 > /dev/null
is x.run.h5 v.run.h5 1e-4

# refused
bad="${make/OUT/no.h5} --like hard.h5 --density 2 --samples"
fails 2 "is not FILE:quantity" $bad file.csv
fails 2 "none of quantity" $bad file.csv:quantity=loudness
fails 2 "points=FILE" $bad file.csv:quantity=velocity
fails 3 "not of pressure" ${make/OUT/no.h5} --like hard.h5 --samples ${samples/velocity/pressure}
sed '3s/^[^,]*/7/' file-points.csv > moved.csv
fails 3 "point 2 at 7" $bad file.csv:quantity=velocity:points=moved.csv
sed '3{h};4{G;s/.*\n//}' file-points.csv > twice.csv
fails 3 "given twice" $bad file.csv:quantity=velocity:points=twice.csv
sed 1,9d file-points.csv > few.csv
fails 3 "points of 3 numbers" $bad file.csv:quantity=velocity:points=few.csv
for case in "40d|a gap" "40s/,[^,]*$/,nan/|not a finite number" "40s/,[^,]*$//|numbers, those before" "100,\$d|what comes later is not known" \
    "1,60d|quiet"; do
    sed "${case%|*}" file.csv > broken.csv
    fails 3 "${case#*|}" $bad broken.csv:quantity=velocity:points=file-points.csv
done
sample velocity centroids .2 0 160 4 15
fails 3 "say :resample" $bad $samples
sample velocity centroids .25 0 124 .3 15
fails 3 "lies above" $bad $samples
