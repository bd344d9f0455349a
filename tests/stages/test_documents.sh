# The pages that people read: each page of specs/ is in its index, and links lead to files that exist.
. "$ROOT/tests/stages/lib.sh"
cd "$ROOT" || exit 1
for page in specs/*.md; do
    name=$(basename "$page")
    [ "$name" = README.md ] || grep -q "($name)" specs/README.md || fail "$page is not in specs/README.md"
done
for page in *.md specs/*.md cases/*/*.md docs/*.md docs/*/*.md; do
    [ -e "$page" ] || continue
    for link in $(grep -o '](\([^)#]*\)[^)]*)' "$page" | sed 's/^](//; s/[#)].*//'); do
        case $link in http*|mailto:*|'') continue ;; esac
        [ -e "$(dirname "$page")/$link" ] || fail "$page: the link $link leads nowhere"
    done
done
# Files that a page names in backticks, with their folder, must be there, too.
for page in ARCHITECTURE.md CONTRIBUTING.md README.md; do
    for path in $(grep -o '`[A-Za-z0-9_.-]*/[A-Za-z0-9_./-]*\.\(md\|h\|c\|sh\)`' "$page" | tr -d '`'); do
        case $path in *STAGE*|*NAME*|*FAMILY*|*OP*) continue ;; esac
        [ -e "$path" ] || fail "$page names $path, which is not there"
    done
done
# Every program says what it checks.
for program in $(awk -F'|' '!/^#/ && NF { gsub(/ /, "", $1); print $1 }' programs.list); do
    tr '\n' ' ' < specs/trust.md | grep -oE '\*\*[^*]*\*\*' | tr -d '*.' | tr -s ', ' '\n' | grep -qx -- "$program" ||
        fail "specs/trust.md does not say what $program checks"
done
