# Wrong options, files that do not belong together, damaged files, a full disk: a clear message, the
# right code, nothing left behind.
set -eu
. "$ROOT/tests/support/march.bash"
sphere 1
sphere 2
penstock-slice-assemble sphere1.h5 s.h5 --courant 2 --speed 1 -q > /dev/null
penstock-slice-assemble sphere1.h5 hard.h5 --courant 2 --speed 1 --formulation sound-hard -q > /dev/null
go="penstock-tdbem-march s.h5 sphere1.h5 out.h5"
fails 2 "either --steps N or --time SECONDS" $go $plane
fails 2 "either --steps N or --time SECONDS" $go --steps 5 --time 3 $plane
fails 2 "Give --emitter" $go --steps 5
fails 2 "h/(c dt) = 100" penstock-tdbem-march sphere1.h5 out.h5 --courant 100 --speed 1 --steps 9 $plane
fails 2 "width=SECONDS is missing" $go --steps 5 --emitter plane:dir=0,0,1
fails 2 "begins with plane:" $go --steps 5 --emitter sphere
fails 2 "--group" $go --steps 5 --group 33 $plane
fails 2 "--group" $go --steps 5 --group 0 $plane
fails 2 "--tolerance" $go --steps 5 --tolerance 2 $plane
fails 2 "beyond what double numbers can tell" $go --steps 5 --tolerance 1e-30 $plane
fails 2 "is called --tolerance now" $go --steps 5 --solve-tolerance 1e-30 $plane
fails 2 "cg|cholesky" $go --steps 5 --solver magic $plane
fails 2 "did you mean --steps" $go --stepz 5 $plane
fails 2 "too few" penstock-tdbem-march s.h5 sphere1.h5 --steps 5 $plane
fails 2 "makes no load" penstock-tdbem-march hard.h5 sphere1.h5 out.h5 --steps 5 --emitter uniform:width=1
fails 1 "too small for single precision" $go --steps 60 --emitter plane:dir=0,0,1:width=0.5:amplitude=1e-34
fails 1 "a smaller amplitude" $go --steps 60 --emitter plane:dir=0,0,1:width=0.5:amplitude=1e200
fails 3 "assembled from another mesh" penstock-tdbem-march s.h5 sphere2.h5 out.h5 --steps 5 $plane
fails 2 "is a mesh: give MESH OUTPUT" penstock-tdbem-march sphere1.h5 sphere1.h5 out.h5 --steps 5 $plane
fails 3 "s.h5" penstock-tdbem-march s.h5 s.h5 out.h5 --steps 5 $plane
fails 3 "absent.h5" penstock-tdbem-march absent.h5 sphere1.h5 out.h5 --steps 5 $plane
fails 3 "absent.h5" penstock-tdbem-march s.h5 absent.h5 out.h5 --steps 5 $plane
cp s.h5 cut.h5; truncate -s -2000 cut.h5
fails 3 "cut.h5" penstock-tdbem-march cut.h5 sphere1.h5 out.h5 --steps 5 $plane
size=$(stat -c %s s.h5) refused=0
for part in 3 4 5 6 7; do # a flipped byte in the data is found when it is read
    cp s.h5 bad.h5
    at=$((size * part / 10))
    byte=$(dd if=bad.h5 bs=1 skip=$at count=1 2> /dev/null | od -An -tu1)
    printf "\\$(printf %o $(((byte + 1) % 256)))" | dd of=bad.h5 bs=1 seek=$at conv=notrunc 2> /dev/null
    rc=0; penstock-tdbem-march bad.h5 sphere1.h5 out.h5 --steps 50 $plane > said.txt 2>&1 || rc=$?
    case $rc in
        3) grep -q "bad.h5" said.txt; refused=$((refused + 1)) ;;
        0) rm out.h5 out.workers.h5 ;; # it hit unused space
        *) echo "a flipped byte at $at of $size: exit $rc"; cat said.txt; exit 1 ;;
    esac
done
below 3 $refused
[ -z "$(ls out.* 2> /dev/null)" ] || { echo "left behind: $(ls out.*)"; exit 1; }
# an output that is complete is not computed again, and not harmed by a failing run
march s.h5 sphere1.h5 out.h5 --steps 50 $plane
cp out.h5 before.h5
penstock-tdbem-march s.h5 sphere1.h5 out.h5 --steps 50 $plane > said.txt 2>&1
grep -q "is up to date" said.txt
cmp out.h5 before.h5
# growth is noticed: a matrix whose densities grow by half in every step
"$tool" unstable sphere1.h5 wild.h5
fails 1 "the march is unstable" penstock-tdbem-march wild.h5 sphere1.h5 out.h5 --steps 500 $plane
cmp out.h5 before.h5
[ ! -e out.log ]
# a full disk (a file-size limit stands in for it): code 4, the old output unharmed, then --restart
rc=0; (ulimit -f 100; penstock-tdbem-march s.h5 sphere1.h5 out.h5 --steps 2000 $plane --checkpoint-every 80steps) > said.txt 2>&1 || rc=$?
[ $rc -eq 4 ] || { echo "a full disk ended with $rc"; cat said.txt; exit 1; }
cmp out.h5 before.h5
march s.h5 sphere1.h5 out.h5 --steps 2000 $plane --checkpoint-every 80steps --restart
march s.h5 sphere1.h5 whole.h5 --steps 2000 $plane
identical out.h5 whole.h5
