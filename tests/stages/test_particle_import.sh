# penstock-particle-import: every format gives the same particles, generators do not depend on threads,
# what is wrong is refused with its place, real data where they are.
. "$ROOT/tests/stages/lib.sh"
needs particle-import compare inspect
import=penstock-particle-import


# ---- one set of particles in every format ----
printf '# made by hand\n0.5 -1.25 3e2 1\n\t1.0e0, 2.5 ,-.125;-2 %% here\n\n7 8 9 0.25\n' > p.txt
printf 'id,mass,z,y,x\n1,1,300,-1.25,0.5\n2,-2,-0.125,2.5,1\n3,.25,9,8,7' > p.csv # no newline at the end
printf 'REMARK x\nATOM      1  N   NTE     1     0.5   -1.25   300.0   1.0 1.8\nHETATM    2  CA  PHE A   1     1.0 2.5 -0.125 -2 1.9\nATOM      3  O   PHE     1     7 8 9 0.25 1.6\nEND\n' > p.pqr
printf '8 4\n3 150 0 0 0\n0.5 -1.25 300 1\n1 2.5 -0.125 -2\n7 8 9 .25\n' > p.fma
printf '3 150 0 0 0\n0.5 -1.25 300 1\n1 2.5 -0.125 -2\n7 8 9 .25\n' > old.fma
expect 0 "" $import p.txt txt.h5
[ "$(figure particles)" = 3 ] || fail "$(figure particles) particles"
expect 4 "are needed" $import p.txt no.h5 --host-memory 8M
expect 4 "are needed" $import --generate cube --count 1000 no.h5 --host-memory 8M
for f in p.csv p.pqr p.fma old.fma; do expect 0 "" $import $f one.h5 --force; same_content txt.h5 one.h5; done
expect 0 "" $import p.txt one.h5 --columns 1,2,3,4 --force; same_content txt.h5 one.h5
expect 0 "" $import p.csv one.h5 --columns x,y,z,mass --force; same_content txt.h5 one.h5
expect 0 "" $import p.csv one.h5 --columns 5,4,3,mass --force; same_content txt.h5 one.h5
for f in p.csv p.pqr p.fma; do gzip -k $f; expect 0 "" $import $f.gz one.h5 --force; same_content txt.h5 one.h5; done
cp p.csv.gz plain.csv; expect 0 "" $import plain.csv one.h5 --force; same_content txt.h5 one.h5 # magic, not name
expect 0 "" $import txt.h5 one.h5 --force; same_content txt.h5 one.h5 # our own file
expect 0 "" $import txt.h5 one.h5 --positions /x,y,z --charge-names q0 --force; same_content txt.h5 one.h5
expect 0 "up to date" $import txt.h5 one.h5 --positions /x,y,z --charge-names q0
# the columns of PDB run together
printf 'ATOM      1  N   NTE     1       0.500  -1.250 300.000   1.000   1.800\nATOM   9999  CA  PHE A1234    -101.000-102.500-100.125  -2.000   1.900\n' > run.pqr
expect 0 "" $import run.pqr run.h5 --pqr-columns auto
grep -q "lower  *\[-101, -102.5, -100.125\]" out || { cat out; fail "fixed columns are misread"; }
expect 3 "line 2" $import run.pqr --pqr-columns free
# without a radius the number of the residue is no x; a PDB's occupancies are no charges; a second model of the same atoms
printf 'ATOM      1  N   ALA A   1       1.000   2.000   3.000  -.5\nATOM      2  N   ALA A   2       1.000   2.500   3.000  .5\n' > bare.pqr
expect 0 "" $import bare.pqr one.h5 --force
grep -q "lower  *\[1, 2, 3\]" out || { cat out; fail "the number of a residue was taken for x"; }
printf 'ATOM      1  N   ALA A   1       1.000   2.000   3.000  1.00 20.00\nATOM      2  N   ALA A   2       1.000   2.500   3.000  1.00 21.00\n' > pdb.pqr
expect 3 "occupancies of a PDB file" $import pdb.pqr no.h5
expect 0 "" $import pdb.pqr --pqr-columns free
{ echo "MODEL 1"; cat run.pqr; echo "MODEL 2"; sed 's/0.500/0.600/; s/102.5/103.5/' run.pqr; } > models.pqr
expect 3 "line 4: a second MODEL" $import models.pqr no.h5
sed 's/ALA A   2/GLY A   2/; s/  ALA/ AALA/; s/  GLY/ BALA/; s/A   2 /A   1 /' bare.pqr > places.pqr
expect 3 "line 2: a second location of the same residue" $import places.pqr no.h5
sed '1s/ALA A   1/ALA A   2/' places.pqr > terminal.pqr # NALA, CALA are names of residues
expect 0 "" $import terminal.pqr one.h5 --force
# binary FMA and tipsy, of both byte orders and both lengths of header, floats
float() { for v; do case $v in 0.5) b='3f 00 00 00';; -1.25) b='bf a0 00 00';; 300) b='43 96 00 00';; 1) b='3f 80 00 00';;
    2.5) b='40 20 00 00';; -0.125) b='be 00 00 00';; -2) b='c0 00 00 00';; 7) b='40 e0 00 00';; 8) b='41 00 00 00';;
    9) b='41 10 00 00';; .25) b='3e 80 00 00';; 0) b='00 00 00 00';; i3) b='00 00 00 03';; i1) b='00 00 00 01';; i4) b='00 00 00 04';; esac
    [ $order = big ] && echo "$b" || echo "$b" | awk '{ print $4, $3, $2, $1 }'; done; }
bytes() { tr -d ' \n' | sed 's/../\\x&/g' | xargs -0 printf '%b'; }
order=little
float i4 i4 i3 0  0 0 0 0  0.5 -1.25 300 1  1 2.5 -0.125 -2  7 8 9 .25 | bytes > b.bfma
expect 0 "" $import b.bfma one.h5 --force; same_content txt.h5 one.h5
for order in little big; do
    # one of each kind: mass x y z, then what is not read
    { float 0 0 i3 i3 i1 i1 i1 0; float 1 0.5 -1.25 300 0 0 0 0 0 0 0 0; float -2 1 2.5 -0.125 0 0 0 0 0
      float .25 7 8 9 0 0 0 0 0 0 0; } | bytes > $order.tipsy
    expect 0 "" $import $order.tipsy one.h5 --force; same_content txt.h5 one.h5
    expect 0 "" $import $order.tipsy --components dark
    [ "$(figure particles)" = 1 ] || fail "one dark particle, not $(figure particles)"
done
head -c 28 little.tipsy > short.tipsy; tail -c +33 little.tipsy >> short.tipsy
expect 0 "" $import short.tipsy one.h5 --force; same_content txt.h5 one.h5

# ---- charges ----
printf '0 0 0\n1 1 1\n' > bare.txt
expect 3 "--charges unit" $import bare.txt no.h5
expect 0 "" $import bare.txt unit.h5 --charges unit --right-hand-sides 3
[ "$(figure right_hand_sides)" = 3 ] || fail "not 3 right-hand sides"
printf '0 0 0 1 2 3 4 5 6 7 8\n1 1 1 1 2 3 4 5 6 7 8\n' > eight.txt
expect 3 "11 numbers without a header" $import eight.txt no.h5
expect 0 "" $import eight.txt eight.h5 --columns 1,2,3,4,5,6,7,8,9,10,11
[ "$(figure right_hand_sides)" = 8 ] || fail "not 8 right-hand sides"
sed 's/$/ 9/' eight.txt > nine.txt
expect 3 "--columns" $import nine.txt no.h5
# a column is a charge if it is called so, or named
for name in vx radius mass_error charge_sigma temperature; do
    printf 'x,y,z,%s\n1,2,3,4\n5,6,7,8\n' $name > t
    expect 3 "is called a charge" $import t no.h5
    expect 0 "" $import t one.h5 --columns x,y,z,$name --force
    printf '# x y z %s\n1 2 3 4\n5 6 7 8\n' $name > t
    expect 3 "is called a charge" $import t no.h5
done
for name in q q0 Q Charge mass M m1 weight 'mass[kg]'; do
    printf 'vx,x,y,z,%s\n9,1,2,3,4\n9,5,6,7,8\n' "$name" > t
    expect 0 "right_hand_sides" $import t one.h5 --force
    [ "$(figure right_hand_sides)" = 1 ] || fail "$name: $(figure right_hand_sides) charges"
done
printf 'x,y,z,vx,mass,vy,charge\n1,2,3,9,4,9,5\n5,6,7,9,8,9,5\n' > t
expect 0 "" $import t one.h5 --force
[ "$(figure right_hand_sides)" = 2 ] || fail "mass and charge: $(figure right_hand_sides) charges"
printf 'ra,dec,z,mass\n1,2,3,4\n' > t; expect 3 "no columns are called x, y and z" $import t no.h5
printf 'x,y,z,mass kg\n1,2,3,4\n' > t; expect 3 "a header of 5 names" $import t no.h5
printf 'x[km] y[km] z[m] q\n1 2 3 4\n' > t; expect 3 "x[km] and z[m] are in different units" $import t no.h5
expect 3 "in different units" $import t no.h5 --columns x,y,z,q
printf 'x[m] x[km] y z q\n1 2 3 4 5\n' > t; expect 3 "two columns are called x" $import t no.h5
expect 2 "no column x" $import t no.h5 --columns x,y,z,q
printf 'x[m] y[m] z[m] q[C]\n1 2 3 4\n' > t; expect 0 "" $import t one.h5 --columns x,y,z,q --force
expect 2 "3 and 3 are one column" $import t no.h5 --columns 1,2,3,3
expect 2 "no column 4294967297" $import t no.h5 --columns 4294967297,2,3,4
printf 'x y z px py pz px2 py2 pz2\n1 2 3 4 5 6 7 8 9\n' > t; expect 3 "px2 belongs to none of 1 whole sides" $import t no.h5 --moments dipoles
# a comment that is the header, with others behind it
for more in "# made by hand" "#" "# where x y z are in kpc" "# four words of prose"; do
    printf '# q z y x\n%s\n-2 9 8 7\n' "$more" > t
    expect 0 "" $import t one.h5 --force
    grep -q "lower  *\[7, 8, 9\]" out || { cat out; fail "the header before \"$more\" was lost"; }
done
printf '# q z y x\n# x y z q\n1 2 3 4\n' > t; expect 3 "two comments name 4 columns" $import t no.h5
printf '# three particles at last\n1 2 3 4\n' > t; expect 0 "" $import t one.h5 --force

# ---- more than a chunk, generated: the same whatever the threads; text of it the same again ----
expect 0 "" $import --generate clusters --count 300000 --charges signed --seed 7 g1.h5 --threads 1
expect 0 "" $import --generate clusters --count 300000 --charges signed --seed 7 g3.h5 --threads 3
same_content g1.h5 g3.h5
expect 0 "" $import --generate clusters --count 300000 --charges signed --seed 8 g8.h5
[ "$(content g1.h5)" != "$(content g8.h5)" ] || fail "the seed makes no difference"
expect 0 "" $import g1.h5 again.h5
[ "$(figure coincident)" = 0 ] || fail "coincident particles are found where there are none"
penstock-compare g1.h5 again.h5 > /dev/null || fail "a large file changed on its way"
awk 'BEGIN { srand(3); for (i = 0; i < 150000; ++i) printf "%.17g,%.17g,%.17g,1\n", rand(), rand(), rand() + i }' > big.csv
expect 0 "" $import big.csv big.h5
[ "$(figure particles)" = 150000 ] || fail "of 150000 lines came $(figure particles)"
expect 0 "particles" $import --generate cube --count 5000000000 none.h5 --plan
[ ! -e none.h5 ] || fail "a plan wrote its output"

# ---- coincident particles ----
{ cat big.csv; sed -n '5p;77p' big.csv; } > twice.csv
expect 3 "2 particles are at the place" $import twice.csv no.h5
expect 0 "2 particles" $import twice.csv keep.h5 --coincident keep
[ "$(figure coincident)" = 2 ] || fail "coincident: $(figure coincident)"
# so many that their places are compared in two passes
{ seq 1200000; echo 5; echo 77; } | sed 's/$/ 0 0 1/' > many.txt
expect 0 "2 particles" $import many.txt passes.h5 --coincident keep --host-memory 60M
[ "$(figure coincident)" = 2 ] || fail "coincident in two passes: $(figure coincident)"
printf '0 0 0 1\n0.0 -0 0e5 2\n' > zero.txt
expect 3 "particles 1 and 2" $import zero.txt no.h5

# ---- refusals, with their places ----
printf '1 2 3 4\n5 6 7\n' > t; expect 3 "t: line 2: 3 numbers, but the lines before have 4" $import t no.h5
printf '1 2 3 4\n5 6 7 8 9\n' > t; expect 3 "line 2: 5 numbers" $import t no.h5
printf '1 2 3 4\n5 6 seven 8\n' > t; expect 3 'line 2: "seven" is not a number' $import t no.h5
printf '1 2 3 4\n\n1 2 nan 4\n' > t; expect 3 "line 3: the coordinate nan is not finite" $import t no.h5
printf '1 2 3 inf\n' > t; expect 3 "line 1: the charge inf is not finite" $import t no.h5
printf '1 2 1e999 4\n' > t; expect 3 "line 1: the coordinate inf" $import t no.h5
printf '1,,2,3\n' > t; expect 3 "line 1" $import t no.h5
printf '1 2\n' > t; expect 3 "line 1: 2 numbers; x y z" $import t no.h5
: > t; expect 3 "t is empty" $import t no.h5
printf '# nothing\n\n' > t; expect 3 "no particles" $import t no.h5
printf 'a b c\n' > t; expect 3 "no particles" $import t no.h5
printf '1 2 3 4\n\0\0\1\n' > t; expect 3 "line 2: this is no line of text" $import t no.h5
head -c 2000000 /dev/zero | tr '\0' '1' > t; expect 3 "line 1: this is no line of text" $import t no.h5
gzip -c big.csv | head -c 100000 > t; expect 3 "cut short" $import t no.h5
expect 3 "missing.csv: cannot be opened: No such file" $import missing.csv no.h5
expect 3 "is a folder" $import . no.h5
expect 2 "there is no column w" $import p.csv no.h5 --columns x,y,z,w
expect 2 "there is no column 9" $import p.csv no.h5 --columns 1,2,3,9
printf '8 4\n3 150 0 0 0\n0.5 -1.25 300 1\n1 2.5 -0.125 -2\n' > t; expect 3 "ends after 2 of 3" $import t no.h5 --format fma
printf '8 4\n3 150 0 0\n' > t; expect 3 "line 2: no header of FMA" $import t no.h5 --format fma
head -c 70 b.bfma > t; expect 3 "ends after 2 of 3" $import t no.h5 --format fma
for f in p.fma old.fma; do { cat $f; echo 1 2 3 4; } > t; expect 3 "goes on after its 3 particles" $import t no.h5 --format fma; done
{ cat b.bfma; echo; } > t; expect 3 "goes on after its 3 particles" $import t no.h5 --format fma
sed 's/8 4/8 4.7/' p.fma > t; expect 3 "no header of FMA" $import t no.h5 --format fma
head -c 100 little.tipsy > t; expect 3 "cut short" $import t no.h5 --format tipsy
{ cat little.tipsy; echo; } > t; expect 3 "goes on after" $import t no.h5 --format tipsy
expect 3 "not tipsy" $import p.txt no.h5 --format tipsy
expect 3 "there is no dataset /Coordinates" $import txt.h5 no.h5 --positions Coordinates
expect 3 "2 columns; 3 are expected" $import txt.h5 no.h5 --positions x,y
head -c 3000 txt.h5 > cut.h5; expect 3 "cut.h5" $import cut.h5 no.h5
expect 2 "OUTPUT alone" $import --generate cube a.h5 b.h5

# ---- real particles ----
data=$SHARED/data/particles
if [ -d "$data" ]; then
    expect 0 "" $import "$data/galaxy_20K.tipsy" galaxy.h5
    [ "$(figure particles)" = 20000 ] && [ "$(figure coincident)" = 0 ] || fail "galaxy: $(cat out)"
    expect 0 "" $import "$data/galaxy_20K.tipsy" --components dark
    [ "$(figure particles)" = 2500 ] || fail "$(figure particles) dark particles, not 2500"
    expect 0 "" $import "$data/achbp_16090.pqr.gz" achbp.h5
    [ "$(figure particles)" = 16090 ] && [ "$(figure coincident)" = 0 ] || fail "achbp: $(cat out)"
    expect 0 "" $import "$data/achbp_16090.pqr.gz" fixed.h5 --pqr-columns free; same_content achbp.h5 fixed.h5
    expect 0 "" $import "$data/scalfmm_unitCube20k.fma.gz" cube.h5
    [ "$(figure particles)" = 20000 ] || fail "cube: $(cat out)"
fi

# A first line that is no header: behind a byte order mark, or with a number that is none; two columns of one name.
printf '\xef\xbb\xbf0 0 0 1\n1 0 0 1\n0 1 0 1\n' > mark.txt
for how in "" "--columns 1,2,3,4"; do
    expect 0 "" $import mark.txt mark.h5 --force $how
    [ "$(figure particles)" = 3 ] || fail "a particle behind a byte order mark is lost: $(cat out)"
done
printf '0 0 0 1\n1.5D+01 0 0 1\n' > exponent.txt
printf 'a 0 0 1\n1 0 0 1\n0 1 0 1\n' > letter.txt
printf 'x,y,z,q,X\n1,0,0,1,9\n0,2,0,1,9\n' > twice.csv
expect 3 'exponent.txt: line 2: "1.5D+01" is not a number' $import exponent.txt no.h5
expect 3 'letter.txt: line 1: "a" is not a number' $import letter.txt no.h5 --columns 1,2,3,4
expect 3 "two columns are called X among x, y, z, q, X" $import twice.csv no.h5

# A text that becomes another while it is read, after it was hashed.
awk 'BEGIN { for (i = 0; i < 400000; ++i) printf "%.7f %.7f %.7f 1\n", i / 4e5, i % 631 / 631, i % 77 / 77 }' > long.txt
sed 's/ 1$/ 2/' long.txt > other.txt
size=$(stat -c %s long.txt)
for how in "mv other.txt long.txt" "dd if=other.txt of=long.txt conv=notrunc status=none"; do
    sed 's/ 1$/ 2/' long.txt > other.txt
    $import long.txt swapped.h5 --coincident keep -q > /dev/null 2> err &
    until read -r _ seen < /proc/$!/io && [ "$seen" -gt $((size + 100000)) ]; do :; done 2> /dev/null
    $how
    wait $! && fail "a file that was changed by $how while it was read was taken"
    grep -q "long.txt: was changed or replaced while it was read" err || fail "changed by $how: $(cat err)"
    [ ! -e swapped.h5 ] || fail "changed by $how: something was written"
    rm -f other.txt
done

# HDF5 of others: a stream that is shorter than its chunk, which HDF5 itself reads past, and filters of which nothing is known.
python_has h5py || { echo "h5py is not here: not tried"; exit 0; }
python3 - <<'END' || fail "h5py"
import h5py, numpy, zlib
x = numpy.random.rand(4000, 3)
def write(name, **filters):
    with h5py.File(name, "w") as f:
        for i, c in enumerate("xyz"):
            f.create_dataset(c, data=x[:, i], chunks=(1000,), **filters)
        f.create_dataset("q", data=numpy.ones(4000))
def columns(name):
    f = h5py.File(name + ".h5", "w")
    for i, c in enumerate("xyz"):
        f[c] = x[:, i]
    return f
write("plain.h5")
write("checked.h5", compression="gzip", fletcher32=True)
write("short.h5", compression="gzip", shuffle=True)
write("odd.h5", scaleoffset=4)
with h5py.File("short.h5", "r+") as f:
    f["x"].id.write_direct_chunk((1000,), zlib.compress(b"\1" * 100))
# values in another file, which no hash of this one sees
for name in "link", "raw", "virtual":
    with columns(name) as f:
        if name == "link":
            f["q"] = h5py.ExternalLink("plain.h5", "/q")
        elif name == "raw":
            f.create_dataset("q", (4000,), "f8", external=[("plain.h5", 0, 32000)])
        else:
            layout = h5py.VirtualLayout((4000,), "f8")
            layout[:] = h5py.VirtualSource("nowhere.h5", "q", (4000,))
            f.create_virtual_dataset("q", layout, fillvalue=3.)
# values that nobody wrote, for which HDF5 gives fill values without an error
for name, options in dict(gaps=dict(chunks=(400,)), packed=dict(chunks=(400,), compression="gzip"), bare={}).items():
    with columns(name) as f:
        q = f.create_dataset("q", (4000,), "f8", **options)
        if name != "bare":
            q[:400] = 1
# what attributes of CF say: packed numbers, values that are none, units
for name in "packing", "filled", "units":
    with columns(name) as f:
        for c in "xyz" if name == "units" else "":
            f[c].attrs["units"] = "m" if c == "z" else "km"
        f["q"] = numpy.arange(4000.)
        f["q"].attrs["scale_factor" if name == "packing" else "_FillValue"] = .1 if name == "packing" else 3999. if name == "filled" else -1.
with columns("grown") as f:
    q = f.create_dataset("q", (4100,), "f8", chunks=(400,), maxshape=(None,))
    q[:4000] = 1
    q.resize((4000,))
END
for name in gaps packed; do
    expect 3 "$name.h5: 9 of 10 chunks of /q were never written" $import $name.h5 no.h5
done
expect 3 "bare.h5: no value of /q was ever written" $import bare.h5 no.h5
expect 0 "" $import grown.h5 b.h5 --force
expect 3 "packing.h5: /q is packed: its values are to be multiplied by scale_factor 0.1" $import packing.h5 no.h5
expect 3 "filled.h5: /q: row 3999 is 3999, which its attributes say stands for no value" $import filled.h5 no.h5
expect 3 "units.h5: --positions x,y,z are in km and m" $import units.h5 no.h5
expect 2 "x is named twice" $import units.h5 no.h5 --positions x,/x,z
for name in link raw virtual; do
    expect 3 "$name.h5: the values of /q lie in another file" $import $name.h5 no.h5
done
expect 0 "" $import plain.h5 a.h5
expect 0 "" $import checked.h5 b.h5
same_content a.h5 b.h5
expect 3 "short.h5: /x: the chunk at row 1000: it holds 100 bytes, expected 8000" $import short.h5 no.h5
expect 3 "odd.h5: /x: is packed by a filter other than" $import odd.h5 no.h5
