# faults: every nth call of real programs fails, or the process is killed there; races: two writers at one output.
# Sourced by run. What must hold: code 0 only with the new output, whole; else the old one to the bit, or the new one
# whole (the folder's sync comes after the rename); no part of a new set may replace one of the old. Codes are those of
# specs/conventions.md, but where libhdf5 itself ends for want of memory.

content() { penstock-inspect --json "$1" 2> /dev/null | sed -n 's/.*"content": "\([0-9a-f]*\)".*/\1/p'; }
# The set of an output: the file and its parts that an old master could name.
state() { cat "$1" 2> /dev/null | sha256sum; }

# judge WHAT CODE OUTPUT OLD NEW: OLD is the state before, NEW the content that the command makes
judge() {
    local now; now=$(state "$3")
    if [ "$now" = "$4" ]; then
        [ "$2" -ne 0 ] || fail "$1: code 0, and the output is the old one"
        penstock-verify -q "$3" > /dev/null 2>&1 || fail "$1: the old set is damaged"
    elif [ ! -e "$3" ] || ! penstock-verify -q "$3" > /dev/null 2>&1; then
        fail "$1: code $2, and the output is damaged or gone"
    elif [ "$(content "$3")" != "$5" ]; then
        fail "$1: code $2, and the output is neither the old nor the new one"
    else
        return 1 # the new one
    fi
}

# sweep NAME OLD-COMMAND -- NEW-COMMAND: both write $out
sweep() {
    command -v "penstock-$1" > /dev/null || { echo "$1 is not built"; return; }
    local name=$1 before=() call n kill code old new count step tried=0 ended=0 noticed=0; shift
    while [ "$1" != -- ]; do before+=("$1"); shift; done
    shift
    local dir=$work/faults/$name out
    rm -rf "$dir"; mkdir -p "$dir"; out=$dir/out.h5
    before=("${before[@]//OUT/$out}"); local after=("${@//OUT/$out}")
    "${after[@]}" > "$work/log" 2>&1 || { fail "$name: $(tail -n 1 "$work/log")"; return; }
    new=$(content "$out")
    make_old() { rm -rf "${dir:?}"/*; "${before[@]}" > /dev/null 2>&1; old=$(state "$out"); cp -r "$dir" "$dir.old"; }
    rm -rf "$dir.old"; make_old
    for call in write fsync rename open malloc; do
        LD_PRELOAD=$BUILD/hostile/fail_nth.so FAIL_CALL=$call FAIL_UNDER=$dir FAIL_COUNT=$work/count "${after[@]}" > /dev/null 2>&1
        count=$(cat "$work/count" 2> /dev/null || echo 0); rm -rf "$dir"; cp -r "$dir.old" "$dir"
        long && step=$((count / 200 + 1)) || step=$((count / 4 + 1))
        for ((n = 1; n <= count; n += step)); do
            for kill in "" 1; do
                [ "$call" = malloc ] && [ -n "$kill" ] && continue
                long || [ -z "$kill" ] || [ $call = rename ] || [ $call = fsync ] || continue
                { timeout 60 env LD_PRELOAD="$BUILD/hostile/fail_nth.so" FAIL_CALL=$call FAIL_NTH=$n FAIL_UNDER="$dir" \
                    ${kill:+FAIL_KILL=1} "${after[@]}" > "$work/log" 2>&1
                code=$?; } 2> /dev/null
                tried=$((tried + 1))
                [ $code -eq 0 ] || noticed=$((noticed + 1))
                case $code in
                    [0-5] | 75 | 124) ;;
                    137) [ -n "$kill" ] || fail "$name: $call $n: killed" ;;
                    # libhdf5 does not survive that some allocations fail while it sets itself up.
                    *) [ $call = malloc ] && ended=$((ended + 1)) || fail "$name: $call $n: code $code" ;;
                esac
                [ $code -ne 124 ] || fail "$name: $call $n: hung"
                judge "$name: $call $n${kill:+, killed}" $code "$out" "$old" "$new"
                rm -rf "$dir"; cp -r "$dir.old" "$dir"
            done
        done
    done
    rm -rf "$dir.old"
    echo "$name: $tried failures and kills, $noticed ended with an error, $ended allocations ended libhdf5"
}

faults() {
    local s=$work/fault-seeds
    mkdir -p "$s"
    penstock-mesh-surface "$s/s.hdf" --divisions 2 > /dev/null
    penstock-cluster-build "$s/s.hdf" "$s/c.h5" --leaf 16 > /dev/null
    penstock-slice-assemble -q "$s/s.hdf" "$s/slices.h5" --courant 2 --speed 1 > /dev/null
    penstock-particle-import --generate ellipsoid --count 300 "$s/p.h5" > /dev/null
    [ -d "$work/text" ] || text_seeds "$work/text"
    local march="penstock-tdbem-march -q $s/slices.h5 $s/s.hdf OUT --emitter plane:dir=0,0,1:width=5"
    sweep mesh-surface penstock-mesh-surface OUT --divisions 1 --force -- penstock-mesh-surface OUT --divisions 2 --force
    sweep mesh-import penstock-mesh-import "$work/text/cube.off" OUT --force -- \
        penstock-mesh-import "$work/text/cube.off" OUT --scale 2 --force
    sweep particle-import penstock-particle-import --generate cube --count 99 OUT --force -- \
        penstock-particle-import "$work/text/table.txt" OUT --force
    sweep octree-build penstock-octree-build "$s/p.h5" OUT --height 3 --group 40 --force -- \
        penstock-octree-build "$s/p.h5" OUT --height 4 --group 40 --force
    sweep gravity-model penstock-gravity-model OUT --preset chx-1 --nodes 7,7,7 --force -- \
        penstock-gravity-model OUT --preset chx-1 --nodes 9,9,9 --force
    sweep slice-assemble penstock-slice-assemble -q "$s/s.hdf" OUT --courant 3 --speed 1 --fresh --force -- \
        penstock-slice-assemble -q "$s/s.hdf" OUT --courant 2 --speed 1 --fresh --force
    sweep hmatrix-assemble penstock-hmatrix-assemble "$s/c.h5" OUT --tolerance 1e-2 --fresh --force -- \
        penstock-hmatrix-assemble "$s/c.h5" OUT --tolerance 1e-4 --fresh --force
    sweep tdbem-march $march --steps 4 --fresh --force -- $march --steps 8 --fresh --force
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
