# penstock-fmm --charges: other charges of the particles of an octree give, to the bit, what an octree of them gives, by all
# ways of computing; particles at other places, in another order or of another number are refused.
. "$ROOT/tests/stages/lib.sh"
needs particle-import octree-build fmm compare
fmm="penstock-fmm --device cpu --threads 2"
import() { penstock-particle-import "$@" > import 2>&1 || { cat import; fail "import $1"; }; }
tree() { penstock-octree-build "$@" > built 2>&1 || { cat built; fail "tree $1"; }; }
same() { penstock-compare "$1" "$2" --tolerance 0 --no-attributes > compared || { cat compared; fail "$1 and $2 differ: $3"; }; }

bash "$ROOT/tests/support/particles-of" plummer 5000 1 > one.txt
awk 'NR > 1 { $4 = sprintf("%.17g", cos(NR) - .2) } { print }' one.txt > other.txt
awk 'NR == 1 { print $0, "q2" } NR > 1 { printf "%s %.17g\n", $0, cos(NR) - .2 }' one.txt > both.txt
for f in one other both; do import $f.txt $f.h5; tree $f.h5 $f.tree.h5 --height 5 --group 100; done
for how in "--tree uniform" "--tree adaptive" "--tree uniform --host-memory 90M" "--tree uniform --checkpoint-every 1step"; do
    expect 0 "" $fmm one.tree.h5 got.h5 --charges other.h5 --order 4 $how --force
    expect 0 "" $fmm other.tree.h5 want.h5 --order 4 $how --force
    same got.h5 want.h5 "$how"
done
expect 0 "up to date" $fmm one.tree.h5 got.h5 --charges other.h5 --order 4 --tree uniform --checkpoint-every 1step
expect 0 "" $fmm one.tree.h5 own.h5 --order 4 --tree uniform
penstock-compare got.h5 own.h5 --tolerance 1e-3 --no-attributes > compared 2>&1 && fail "other charges have changed nothing"
expect 0 "" $fmm one.tree.h5 own.again.h5 --charges one.h5 --order 4 --tree uniform
same own.h5 own.again.h5 "its own charges"
# two of each particle where the octree has one, within a bound that is checked with them
expect 0 "" $fmm one.tree.h5 got.h5 --charges both.h5 --order 4 --tree uniform --check 200 --force
grep -q "right_hand_sides *2" out || fail "two right-hand sides: $(grep right_hand out)"
expect 0 "" $fmm both.tree.h5 want.h5 --order 4 --tree uniform --check 200 --force
same got.h5 want.h5 "two charges of each"
expect 0 "" $fmm one.tree.h5 got.h5 --charges other.h5 --accuracy 1e-3 --check 200 --force
within "$(awk '$1 == "error_potential" { print $2 }' out)" 0 1e-3 "potential by other charges"

head -n 4001 other.txt > few.txt
import few.txt few.h5
expect 3 "4000 particles, and" $fmm one.tree.h5 none.h5 --charges few.h5 --order 4
{ head -n 1 other.txt; tail -n +2 other.txt | sort; } > sorted.txt
import sorted.txt sorted.h5
expect 3 "in another order" $fmm one.tree.h5 none.h5 --charges sorted.h5 --order 4
awk 'NR == 2500 { $1 = sprintf("%.17g", $1 + 1e-9) } { print }' other.txt > moved.txt
import moved.txt moved.h5
expect 3 "at other places" $fmm one.tree.h5 none.h5 --charges moved.h5 --order 4
expect 3 "" $fmm one.tree.h5 none.h5 --charges one.tree.h5 --order 4
echo "other charges: the bits of an octree of them; other particles are refused"
