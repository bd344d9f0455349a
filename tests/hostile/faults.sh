# faults: programs whose calls fail, that are killed, whose power goes away (attack.py); races: two writers at one output.
# Sourced by run.

content() { penstock-inspect --json "$1" 2> /dev/null | sed -n 's/.*"content": "\([0-9a-f]*\)".*/\1/p'; }

# attack power|faults|kills MOST NAME...: the short form takes MOST of each kind of these programs, the long one all of all.
attack() {
    local kind=$1 most=$2; shift 2
    long && { most=${MOST:-0}; set --; }
    [ -z "${CASES:-}" ] || { local IFS=';'; set -- $CASES; }
    [ -d "$bulk/attack/s" ] || { seeds "$bulk/attack/s"; text_seeds "$bulk/attack/t"; }
    UNDER=$bulk/attack SEEDS=$bulk/attack/s TEXTS=$bulk/attack/t WORK=$bulk/attack/w MOST=$most python3 "$here/attack.py" "$kind" "$@" ||
        fail "$kind"
}

races() {
    local count damaged=0 a b ra rb i one two
    count=$(long && echo 200 || echo 10)
    cd "$bulk" || exit 1
    penstock-mesh-surface one.hdf --divisions 3 > /dev/null; one=$(content one.hdf)
    penstock-mesh-surface two.hdf --divisions 4 > /dev/null; two=$(content two.hdf)
    for ((i = 0; i < count; ++i)); do
        penstock-mesh-surface race.hdf --divisions 3 --force > /dev/null 2>&1 & a=$!
        penstock-mesh-surface race.hdf --divisions 4 --force > /dev/null 2>&1 & b=$!
        wait $a; ra=$?; wait $b; rb=$?
        [ $ra -eq 0 ] || [ $rb -eq 0 ] || fail "race: neither wrote"
        penstock-verify -q race.hdf > /dev/null 2>&1 || { damaged=$((damaged + 1)); continue; }
        case $(content race.hdf) in
            "$one") [ $ra -eq 0 ] || fail "race: the file of the writer that failed is there" ;;
            "$two") [ $rb -eq 0 ] || fail "race: the file of the writer that failed is there" ;;
            *) damaged=$((damaged + 1)) ;;
        esac
    done
    cd - > /dev/null
    echo "$count races, $damaged damaged"
    [ $damaged -eq 0 ] || fail "races"
}
