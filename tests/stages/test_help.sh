# penstock-help and the front command: listing, dispatch, suggestions, manual pages, completion.
. "$ROOT/tests/stages/lib.sh"

# Every program of programs.list is listed, in that order.
awk -F'|' '!/^#/ && NF { gsub(/ /, "", $1); print $1 }' "$ROOT/programs.list" > wanted
penstock help | awk '/^  [a-z]/ { print $1 }' > listed
diff wanted listed || fail "the list differs from programs.list"
penstock | diff - <(penstock-help --list) || fail "penstock and penstock-help --list differ"
[ "$(penstock help --json | grep -o '"summary"' | wc -l)" -eq "$(wc -l < wanted)" ] ||
    fail "--json does not have every program"

# Dispatch: arguments and exit code pass through; help PROGRAM is PROGRAM --help.
expect 0 "usage: penstock-help" penstock help help
own_help() { grep -v -e '--host-memory'; } # its default is what is free at the moment
penstock help plot | own_help | diff - <(penstock-plot --help | own_help) || fail "penstock help plot"
penstock plot --help | own_help | diff - <(penstock-plot --help | own_help) || fail "plot --help"
expect 2 "--output" penstock plot trace nothing.h5
expect 0 "penstock " penstock --version
[ "$(penstock --version)" = "$(penstock-plot --version)" ] || fail "versions differ"

# A copy elsewhere finds its siblings beside itself, not on PATH.
mkdir apart
cp "$(command -v penstock-help)" apart/
ln -s penstock-help apart/penstock
printf '#!/bin/sh\necho "beside: $1"\n' > apart/penstock-verify
chmod +x apart/penstock-verify
expect 0 "beside: it's here" apart/penstock verify "it's here"
expect 1 "not installed" env PATH=/nowhere apart/penstock probe

# Unknown names: exit code 2 and the likely one.
expect 2 'did you mean "mesh-import"?' penstock mesh-imprt
expect 2 'did you mean "mesh-import"?' penstock import
expect 2 'did you mean "tdbem-march"?' penstock-help march
expect 2 '"penstock help" lists them' penstock qqqqqqqqqqqq
expect 2 "no option --lst" penstock --lst
expect 2 "did you mean --list?" penstock-help --lst

# Manual pages: one a built program and one for penstock; what --help says is in them.
mkdir man
expect 0 "manual pages" penstock-help --man-pages man
built=$(ls "$BUILD"/bin/penstock-* | wc -l)
[ "$(ls man | wc -l)" -eq $((built + 1)) ] || fail "$(ls man | wc -l) pages for $built programs"
for page in man/penstock-*.1; do
    program=$(basename "$page" .1)
    for section in NAME SYNOPSIS DESCRIPTION "COMMON OPTIONS" "EXIT STATUS"; do
        grep -qx ".SH $section" "$page" || fail "$page has no section $section"
    done
    "$program" --help | sed -n '/^options:/,/^examples:/p' | grep -E '.{101}| $' && fail "$program --help: a line of options above is too long or ends in a blank"
    for option in $("$program" --help | sed -n 's/^  --\([a-z0-9-]*\).*/\1/p'); do
        grep -qF "\\fB\\-\\-${option//-/\\-}\\fR" "$page" || fail "$page lacks --$option"
    done
done
if command -v groff >/dev/null; then
    for page in man/*.1; do
        groff -man -ww -Tutf8 "$page" 2>&1 >/dev/null | grep . && fail "groff complains of $page"
    done
fi
expect 2 "make the folder first" penstock-help --man-pages nowhere/at/all

# Completion, as bash runs it.
penstock-help --completion > completion
complete_words() { # words... : what is offered for the last one
    bash -c '. ./completion; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _penstock; echo "${COMPREPLY[*]}"' \
        bash "$@"
}
[ "$(complete_words penstock mesh-i)" = "mesh-import" ] || fail "completion of a program"
[ "$(complete_words penstock plot --outp)" = "--output" ] || fail "completion of an option"
[ "$(complete_words penstock-plot --azi)" = "--azimuth" ] || fail "completion of penstock-plot"
[ "$(complete_words penstock help compl)" = "" ] || fail "completion offers what is not there"
echo passed
