# faults: programs whose calls fail, that are killed, whose power goes away (attack.py); races: two writers at one output.
# Sourced by run.

content() { penstock-inspect --json "$1" 2> /dev/null | sed -n 's/.*"content": "\([0-9a-f]*\)".*/\1/p'; }

# attack KIND MOST NAME...: KIND is one of attack.py; the short form takes MOST of each of these programs, the long one all of all.
attack() {
    local kind=$1 most=$2; shift 2
    long && { most=${MOST:-0}; set --; }
    [ -z "${CASES:-}" ] || { local IFS=';'; set -- $CASES; }
    [ -d "$bulk/attack/s" ] || { seeds "$bulk/attack/s"; text_seeds "$bulk/attack/t"; }
    late && { echo "$LIMIT s are over: left out: $kind"; return; }
    SOON=$((LIMIT ? $(date +%s) + LIMIT - SECONDS : 0)) UNDER=$bulk/attack SEEDS=$bulk/attack/s TEXTS=$bulk/attack/t WORK=$bulk/attack/w MOST=$most python3 "$here/attack.py" "$kind" "$@" ||
        fail "$kind"
}

# race COUNT NAME OPTIONS OPTIONS: two processes of a program write one output at once, with these options. One of them may
# be refused; the output is of one that ended with 0, whole, and of parts only its own stay.
race() {
    local count=$1 program=penstock-$2 damaged=0 one two i a b ra rb last parts
    $program one.h5 $3 > /dev/null 2>&1; one=$(content one.h5)
    $program two.h5 $4 > /dev/null 2>&1; two=$(content two.h5)
    for ((i = 0; i < count; ++i)); do
        $program race.h5 $3 --force > /dev/null 2>&1 & a=$!
        $program race.h5 $4 --force > /dev/null 2>&1 & b=$!
        wait $a; ra=$?; wait $b; rb=$?
        [ $ra -eq 0 ] || [ $rb -eq 0 ] || fail "race of $2: neither wrote ($ra, $rb)"
        penstock-verify -q race.h5 > /dev/null 2>&1 || { damaged=$((damaged + 1)); continue; }
        case $(content race.h5) in
            "$one") [ $ra -eq 0 ] || fail "race of $2: the file of the writer that failed is there"; last=one ;;
            "$two") [ $rb -eq 0 ] || fail "race of $2: the file of the writer that failed is there"; last=two ;;
            *) damaged=$((damaged + 1)); continue ;;
        esac
        parts=$(ls race.*part*.h5 2> /dev/null | wc -l)
        [ "$parts" -eq "$(ls $last.*part*.h5 2> /dev/null | wc -l)" ] || fail "race of $2: parts of the other one stay: $(ls race.*)"
    done
    echo "$2: $count races, $damaged damaged"
    [ $damaged -eq 0 ] || fail "races"
    rm -f one.* two.* race.*
}

races() {
    cd "$bulk" || exit 1
    penstock-mesh-surface sphere.hdf --divisions 3 > /dev/null && penstock-cluster-build -q sphere.hdf clusters.hdf --leaf 16 > /dev/null
    race $(long && echo 200 || echo 10) mesh-surface "--divisions 3" "--divisions 4"
    penstock-hmatrix() { penstock-hmatrix-assemble -q clusters.hdf "$@" --chunk-size 4K; }
    race $(long && echo 200 || echo 5) hmatrix "--epsilon 1e-2" "--epsilon 1e-4"
    cd - > /dev/null
}
