# penstock-incident --panels: pressures and velocities on a sphere about a monopole, which moves and turns and lets fluid
# through, are heard as the monopole (Ffowcs Williams and Hawkings); from text and from HDF5; what is refused.
. "$ROOT/tests/stages/lib.sh"
. "$ROOT/tests/support/march.bash"
set -e
sphere 1 12.566370614359172
make="penstock-incident sphere1.h5 OUT --dt .3 --speed 1 --steps 96 -q"
is() { # MADE REFERENCE LIMIT
    penstock-compare "$1" "$2" --dataset /loads --no-attributes --tolerance 1 > said.txt
    echo "$1: $(awk '$1 == "relative_l2" { print $2 }' said.txt)"
    within "$(awk '$1 == "relative_l2" { print $2 }' said.txt)" 0 "$3" "$1"
}
data() { python3 "$ROOT/tests/support/panels.py" sphere1.off 4 1.5 1000 4 14 "$@"; } # STEP COUNT SPEED TURNS OUT
source="--source monopole:at=0,0,4:shape=derivative:width=4:delay=14"
panels="--density 1000 --panels DATA.csv:pressure=DATA-p.csv:fluid=DATA-u.csv"
for kind in sound-hard sound-soft-s; do ${make/OUT/$kind.h5} --formulation $kind $source > /dev/null; done
data .3 106 0 0 rest
data .3 106 .05 .02 moving
moving="${panels//DATA/moving}:velocity=.05,0,0:about=-.7,0,0:turns=.02"
${make/OUT/rest.h5} --formulation sound-soft-s ${panels//DATA/rest} > /dev/null
is rest.h5 sound-soft-s.h5 .01
${make/OUT/moving.h5} --formulation sound-hard $moving > /dev/null
is moving.h5 sound-hard.h5 .01
"$BUILD/tests-programs/table_sample" rest-data.h5 panels=rest.csv time=rest-p.csv- pressure=rest-p.csv+ fluid=rest-u.csv+
${make/OUT/rest-hdf5.h5} --formulation sound-soft-s --density 1000 --panels rest-data.h5:fluid=rest-data.h5 > /dev/null
identical_loads() { penstock-compare "$1" "$2" --dataset /loads --no-attributes --tolerance 0 > /dev/null || fail "$1 and $2 differ"; }
identical_loads rest.h5 rest-hdf5.h5
# samples from HDF5, too
python3 "$ROOT/tests/support/samples.py" sphere1.off pressure vertices .3 0 100 4 14 file
"$BUILD/tests-programs/table_sample" file.h5 points=file-points.csv time=file.csv- pressure=file.csv+
soft="${make/OUT/OUT} --formulation sound-soft-s --samples"
${soft/OUT/text.h5} file.csv:quantity=pressure:points=file-points.csv > /dev/null
${soft/OUT/hdf5.h5} file.h5:quantity=pressure > /dev/null
identical_loads text.h5 hdf5.h5

# refused
bad="${make/OUT/no.h5} --formulation sound-soft-s --density 1000 --panels"
rest=rest.csv:pressure=rest-p.csv:fluid=rest-u.csv
fails 2 "need the fluid's --density" ${make/OUT/no.h5} --formulation sound-soft-s --panels $rest
fails 2 "there are pressure, fluid" $bad $rest:width=2
fails 3 "times the speed of sound" $bad $rest:turns=.2
sed 5d rest.csv > few.csv
fails 3 "one and three a panel" $bad few.csv:pressure=rest-p.csv:fluid=rest-u.csv
awk -F, -v OFS=, 'NR == 3 { $4 = 3 } 1' rest.csv > long.csv
fails 3 "panel 3 has a normal" $bad long.csv:pressure=rest-p.csv:fluid=rest-u.csv
sed 40d rest-p.csv > gap.csv
fails 3 "a gap" $bad rest.csv:pressure=gap.csv:fluid=rest-u.csv
head -60 rest-p.csv > short.csv; head -60 rest-u.csv > short-u.csv
fails 3 "is heard" $bad rest.csv:pressure=short.csv:fluid=short-u.csv
fails 3 "different times" $bad rest.csv:pressure=short.csv:fluid=rest-u.csv
sed 1,46d rest-p.csv > late.csv; sed 1,46d rest-u.csv > late-u.csv
fails 3 "fade it in" $bad rest.csv:pressure=late.csv:fluid=late-u.csv --steps 50
awk 'NR % 8 == 1' rest-p.csv > coarse.csv
fails 3 "values between are interpolated" $bad rest.csv:pressure=coarse.csv --steps 60
awk -F, -v OFS=, '{ $1 *= 3; $2 *= 3; $3 = ($3 - 4) * 3; $7 *= 9 } 1' rest.csv > around.csv
fails 3 "closes around the mesh" $bad around.csv:pressure=rest-p.csv:fluid=rest-u.csv
awk -F, -v OFS=, '{ $1 *= .2; $2 *= .2; $3 = ($3 - 4) * .2; $7 *= .04 } 1' rest.csv > inner.csv
fails 3 "inside the closed body" $bad inner.csv:pressure=rest-p.csv:fluid=rest-u.csv
awk -F, -v OFS=, '{ $3 -= 1.2 } 1' rest.csv > near.csv
fails 3 "come to" $bad near.csv:pressure=rest-p.csv:fluid=rest-u.csv
