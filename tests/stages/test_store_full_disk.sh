# A full disk: exit code 4, the older file is as it was, no .tmp stays, and once there is room
# again the same command works. On a tmpfs of 8 MiB; where none can be mounted, a limit on the
# size of files stands in.
. "$ROOT/tests/stages/lib.sh"
needs verify
write=$BUILD/tests-programs/store_write
threads=$BUILD/tests-programs/store_threads
mkdir -p disk

checks() { # HOW: on ./disk, which holds between 5 and 12 MiB or limits files likewise
    local how=$1 kept
    expect 0 "" "$write" disk/old.h5 3
    kept=$(sha256sum <disk/old.h5)
    expect 4 "disk/old.h5" "$write" disk/old.h5 12
    grep -Eq 'No space left|File too large' err || { cat err; fail "$how: the reason is not told"; }
    # Eight threads, which all go on after the first failure: no commit follows a lost chunk.
    expect 4 "first failure: disk/old.h5: cannot write chunk" "$threads" disk/old.h5 300
    ! grep -q 'in spite' err || fail "$how: lost chunks were committed"
    [ "$(sha256sum <disk/old.h5)" = "$kept" ] || fail "$how: the old file changed"
    [ "$(ls disk)" = old.h5 ] || fail "$how: something was left behind: $(ls disk)"
    expect 0 good penstock-verify disk/old.h5
}

on_small_disk() {
    checks "a full disk"
    expect 4 "MB free" "$write" disk/new.h5 1 100000000
    [ ! -e disk/new.h5 ] && [ -z "$(find disk -name '*.tmp')" ] || fail "a refused file was begun"
    # So full that not even the tables fit, byte by byte up to where they do.
    dd if=/dev/zero of=disk/ballast bs=4096 2>/dev/null
    for room in 0 4096 8192 12288 16384; do
        truncate -s $(($(stat -c %s disk/ballast) - room)) disk/ballast
        "$write" disk/tiny.h5 0 2>err
        case $? in
            0) expect 0 "" penstock-verify disk/tiny.h5; rm disk/tiny.h5 ;;
            4) [ ! -e disk/tiny.h5 ] && [ -z "$(find disk -name '*.tmp')" ] || fail "half a file stays" ;;
            *) cat err; fail "a full disk did not give exit code 4" ;;
        esac
    done
    rm disk/ballast
    expect 0 "" "$write" disk/new.h5 1
}

on_disk_of 8m on_small_disk "$@"
echo "no small disk can be mounted here: a limit on the size of files stands in"
trap '' XFSZ
ulimit -f 8192 || { echo "no small disk can be mounted and no limit set"; exit 77; }
checks "a limit of 8 MiB a file"
