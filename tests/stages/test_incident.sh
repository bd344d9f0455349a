# penstock-incident and tdbem-march --incident: a plane wave from a file is the plane wave of --emitter to the bit, on
# ranks, out of core, with a team and after a restart; recordings; sources that turn about a rigid sphere against the
# series of spherical waves; what is refused.
. "$ROOT/tests/stages/lib.sh"
. "$ROOT/tests/support/march.bash"
set -e
sphere 1
for kind in hard soft-s; do
    penstock-slice-assemble sphere1.h5 $kind.h5 --courant 2 --speed 1 --formulation sound-$kind -q > /dev/null
    penstock-incident sphere1.h5 $kind.sound.h5 --like $kind.h5 --steps 60 -q --source plane:dir=0,0,1:width=1.5 > /dev/null 2>&1
    penstock-tdbem-march -q $kind.h5 sphere1.h5 $kind.a.h5 --steps 60 --emitter plane:dir=0,0,1:width=1.5 > /dev/null 2>&1
    penstock-tdbem-march -q $kind.h5 sphere1.h5 $kind.b.h5 --steps 60 --incident $kind.sound.h5 > /dev/null
    close_to $kind.a.h5 $kind.b.h5 1e-12
done
penstock-verify hard.sound.h5 > /dev/null
fails 0 "up to date" penstock-tdbem-march hard.h5 sphere1.h5 hard.b.h5 --steps 60 --incident hard.sound.h5
penstock-slice-block hard.h5 hard.blocks.h5 -q > /dev/null
march="penstock-tdbem-march -q hard.blocks.h5 sphere1.h5 OUT --steps 60 --incident hard.sound.h5"
${march/OUT/whole.h5} > /dev/null
PENSTOCK_TEAM=2 ${march/OUT/team.h5} > /dev/null
close_to whole.h5 team.h5 1e-5
${march/OUT/core.h5} --host-memory "$(least ${march/OUT/core.h5})" > /dev/null
identical whole.h5 core.h5
if command -v mpirun > /dev/null; then
    ranks 2 ${march/OUT/ranks.h5} > /dev/null
    close_to whole.h5 ranks.h5 1e-5
fi
# killed in the middle, the same command goes on to the same bits; with another file it does not
penstock-incident sphere1.h5 other.h5 --like hard.h5 --steps 60 -q --source plane:dir=0,0,1:width=1.6 > /dev/null 2>&1
keep="--checkpoint-every 16steps"
killed_at rename:2 ${march/OUT/killed.h5} $keep
ls killed.0*.h5 > /dev/null || fail "no state is left"
fails 2 "input-incident" penstock-tdbem-march hard.blocks.h5 sphere1.h5 killed.h5 --steps 60 --incident other.h5 $keep
${march/OUT/killed.h5} $keep --json > last.json
identical whole.h5 killed.h5
below 16 "$(awk -v n="$(figure last.json steps_in_this_start)" 'BEGIN { print 60 - n }')"

# recordings: a table and a WAV file of a bell are the pulse, later by what the filter takes before it
awk 'BEGIN { for (i = 0; i <= 400; ++i) { t = i * .125; printf "%.17g,%.17g\n", t, exp(-((t - 25) / 5)^2) } }' > bell.csv
python3 - << 'P'
import math, struct
s = b"".join(struct.pack("<f", math.exp(-((i / 8 - 25) / 5) ** 2)) for i in range(401))
f = struct.pack("<HHIIHH", 3, 1, 8, 32, 4, 32)
open("bell.wav", "wb").write(b"RIFF" + struct.pack("<I", 36 + len(s)) + b"WAVEfmt " + struct.pack("<I", 16) + f + b"data" + struct.pack("<I", len(s)) + s)
P
make="penstock-incident sphere1.h5 OUT --like hard.h5 --steps 250 -q --source"
at=monopole:at=0,0,4
${make/OUT/pulse.h5} $at:width=5:delay=40 > /dev/null 2>&1
${make/OUT/table.h5} $at:wave=bell.csv:delay=15 > said.txt 2>&1
cut=$(awk '$1 == "cut_energy" { print $2 }' said.txt)
within "$cut" 0 1e-3 "energy of a bell that is cut"
${make/OUT/wav.h5} $at:wave=bell.wav:delay=15 > /dev/null 2>&1
close_to pulse.h5 table.h5 1e-3
close_to table.h5 wav.h5 1e-6
fails 0 "up to date" penstock-incident sphere1.h5 wav.h5 --like hard.h5 --steps 250 --source $at:wave=bell.wav:delay=15
sed '200d' bell.csv > gap.csv
fails 3 "a gap" ${make/OUT/gap.h5} $at:wave=gap.csv
sed '200s/,.*/,nan/' bell.csv > nan.csv
fails 3 "not a finite number" ${make/OUT/nan.h5} $at:wave=nan.csv
head -c 900 bell.wav > short.wav
fails 3 "cut short" ${make/OUT/short.h5} $at:wave=short.wav

# sources that turn, M = .6, at four places
sphere 2 12.566370614359172
penstock-slice-assemble sphere2.h5 turn.h5 --dt 0.26179938779914946 --speed 1 --formulation sound-hard -q > /dev/null
places="3,60,45 4,75,10 3,130,200 2.5,70,300"
at=$(awk -v p="$places" 'BEGIN { d = atan2(0, -1) / 180; n = split(p, s, " "); for (i = 1; i <= n; ++i) { split(s[i], q, ",")
    printf " --at %.17g,%.17g,%.17g", q[1] * sin(q[2] * d) * cos(q[3] * d), q[1] * sin(q[2] * d) * sin(q[3] * d), q[1] * cos(q[2] * d) } }')
for kind in monopole dipole; do
    [ $kind = dipole ] && force=:force=0,0,1 || force=
    penstock-incident sphere2.h5 sound.h5 --like turn.h5 --steps 300 -q \
        --source $kind:at=2,0,0:turns=.0477464829275686:frequency=0:ramp=41.8879$force > /dev/null
    penstock-tdbem-march -q turn.h5 sphere2.h5 run.h5 --steps 300 --incident sound.h5 > /dev/null
    penstock-probe -q run.h5 sphere2.h5 out.h5 $at > /dev/null
    penstock-inspect out.h5 --csv > out.csv
    python3 "$ROOT/tests/support/rotor.py" $kind .3 2 out.csv .01 $places > rotor.txt || { cat rotor.txt; fail "$kind"; }
done
fails 2 "not at points" penstock-probe run.h5 sphere2.h5 total.h5 $at --field total

# a source in a flow: the loads are those of its exact field, sampled at the vertices
python3 - sphere1.off > flow.txt << 'P'
import math, sys
words = open(sys.argv[1]).read().split()[1:]
points = [[float(x) for x in words[3 + 3 * i:6 + 3 * i]] for i in range(int(words[0]))]
m, b2 = .3, 1 - .09
open("places.txt", "w").writelines("%.17g %.17g %.17g\n" % tuple(p) for p in points)
def field(p, t):
    x, y, z = p[0] + 2, p[1] - 3, p[2] - 1
    r = math.sqrt(x * x + b2 * (y * y + z * z))
    q = (t - (r - m * x) / b2 - 9) / 2.5
    return math.exp(-q * q) / (4 * math.pi * r)
for n in range(170):
    print(n * .2, *("%.12g" % field(p, n * .2) for p in points))
P
grid="--dt .2 --speed 1 --steps 100 --formulation sound-soft-s -q"
penstock-incident sphere1.h5 flow.h5 $grid --source monopole:at=-2,3,1:width=2.5:delay=9 --flow .3,0,0 > /dev/null 2>&1
penstock-incident sphere1.h5 sampled.h5 $grid --samples flow.txt:quantity=pressure:points=places.txt > /dev/null
penstock-incident sphere1.h5 rest.h5 $grid --source monopole:at=-2,3,1:width=2.5:delay=9 > /dev/null 2>&1
close_to flow.h5 sampled.h5 .01
penstock-compare rest.h5 sampled.h5 --tolerance .1 --no-attributes > /dev/null 2>&1 && fail "a flow makes no difference"
penstock-slice-assemble sphere1.h5 soft.h5 --dt .2 --speed 1 -q > /dev/null
fails 3 "errors of the order" penstock-tdbem-march soft.h5 sphere1.h5 no.h5 --steps 100 --incident flow.h5
fails 3 "up to 0.3" penstock-incident sphere1.h5 no.h5 $grid --source monopole:at=-2,3,1:width=2.5 --flow .31,0,0
fails 2 "--source alone" penstock-incident sphere1.h5 no.h5 $grid --samples flow.txt:quantity=pressure --flow .1,0,0
fails 3 "one along it" penstock-incident sphere1.h5 no.h5 $grid --source monopole:at=-2,3,1:width=2.5 --flow 0,0,.1 --mirror 0,0,-2:0,0,1:rigid

# refused
make="penstock-incident sphere1.h5 no.h5 --like hard.h5 --steps 60 -q --source"
fails 3 "times the speed of sound" $make monopole:at=3,0,0:turns=.16:frequency=0:ramp=30
fails 3 "keep 0.309 m away" $make monopole:at=0,0,-4:velocity=0,0,.5:frequency=0:ramp=30
fails 3 "inside the closed body" $make monopole:at=.1,0,.1:frequency=0:ramp=30
fails 3 "from the surface" $make monopole:at=0,0,1.02:frequency=0:ramp=30
fails 3 "on the body at t = 0" $make monopole:at=0,0,4:width=2:delay=0
fails 3 "Use a longer width" $make monopole:at=0,0,4:width=.05
fails 3 "cuts the body" penstock-incident sphere1.h5 no.h5 --dt .2 --speed 1 --formulation sound-hard --steps 60 -q \
    --source monopole:at=0,0,4:width=2 --mirror 0,0,0:0,0,1:rigid
fails 2 "no part is called" $make monopole:at=0,0,4:breadth=2
fails 2 "dipoles, and only they" $make dipole:at=0,0,4:width=2
march="penstock-tdbem-march hard.h5 sphere1.h5 no.h5 --incident hard.sound.h5"
fails 3 "60 steps, 61 are to be marched" $march --steps 61
fails 2 "not both" $march --steps 60 --emitter plane:dir=0,0,1:width=2
fails 3 "loads of sound-hard" penstock-tdbem-march soft-s.h5 sphere1.h5 no.h5 --steps 60 --incident hard.sound.h5
fails 3 "another mesh" penstock-tdbem-march turn.h5 sphere2.h5 no.h5 --steps 60 --incident hard.sound.h5
penstock-slice-assemble sphere1.h5 finer.h5 --courant 2.5 --speed 1 --formulation sound-hard -q > /dev/null
fails 3 "make it again, with --like" penstock-tdbem-march finer.h5 sphere1.h5 no.h5 --steps 60 --incident hard.sound.h5
