# What the stage tests of tdbem-march share. Sourced; the work folder is the current one.
. "$ROOT/tests/support/shared.bash"
tool=$BUILD/tests-programs/march_tool
ranks() { local n=$1; shift; mpirun --oversubscribe -np "$n" "$@"; }
plane="--emitter plane:dir=0,0,1:width=0.5:delay=3"

# sphere LEVEL [AREA]: sphere<LEVEL>.h5, a mesh of 20 * 4^LEVEL triangles.
sphere() {
    "$tool" off "$@" > "sphere$1.off"
    penstock-mesh-import "sphere$1.off" "sphere$1.h5" --order none -q > /dev/null
}
# halves LEVEL: s.h5, a sphere of area 4 pi whose upper half is group 1, the lower one group 2.
halves() {
    "$tool" off "$1" 12.566370614359172 > sphere.off
    awk 'NR == 2 { n = $1; m = $2
            print "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n2\n2 1 \"upper half\"\n2 2 \"lower\"\n$EndPhysicalNames\n$Nodes\n" n }
        NR > 2 && NR <= n + 2 { z[NR - 3] = $3; print NR - 2, $1, $2, $3 }
        NR == n + 2 { print "$EndNodes\n$Elements\n" m }
        NR > n + 2 && NF > 3 { t = z[$2] + z[$3] + z[$4] > 0 ? 1 : 2; print ++e, 2, 2, t, t, $2 + 1, $3 + 1, $4 + 1 }
        END { print "$EndElements" }' sphere.off > sphere.msh
    penstock-mesh-import sphere.msh s.h5 --order none -q > /dev/null
}
# figure FILE NAME: a number out of a --json report.
figure() { grep -o "\"$2\": *[-0-9.e+]*" "$1" | head -n 1 | sed 's/.*: *//'; }
# below A B: A <= B, numbers.
below() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a + 0 <= b + 0 && a == a + 0) }' || { echo "$1 exceeds $2"; exit 1; }; }
# fails CODE TEXT COMMAND...: it ends with this code and says this.
fails() {
    local code=$1 text=$2 rc=0
    shift 2
    "$@" > said.txt 2>&1 || rc=$?
    [[ "$code" = 0 || "$code" = 75 ]] || nothing_made "$@"
    [ $rc -eq "$code" ] && grep -qF -- "$text" said.txt && return
    echo "$*: ended with $rc, expected $code and \"$text\"; it said:"
    cat said.txt
    exit 1
}
identical() { penstock-compare "$1" "$2" --tolerance 0 > said.txt || { echo "$1 and $2 differ:"; cat said.txt; exit 1; }; }
close_to() { penstock-compare "$1" "$2" --tolerance "$3" --no-attributes > said.txt || { echo "$1 and $2 differ by more than $3:"; cat said.txt; exit 1; }; }
team() { local n=$1; shift; PENSTOCK_TEAM=$n march "$@"; }
march() { penstock-tdbem-march -q "$@" > /dev/null; }
