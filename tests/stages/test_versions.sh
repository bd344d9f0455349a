# One version in all places that name it; notes that a tag can take; the table of the files' versions is that of the sources.
. "$ROOT/tests/stages/lib.sh"
cd "$ROOT" || exit 1
version=$(sed -n 's/^VERSION *:= *//p' Makefile)
major=${version%%.*}
is() { [ "$2" = "$1" ] || fail "$3 says $2, the Makefile $1"; } # WANTED FOUND WHERE
[[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]] || fail "the Makefile's version is $version"
is "$version" "$(sed -n 's/^version: *//p' CITATION.cff)" CITATION.cff
is "$version" "$(sed -n '1s/^penstock (\([^)-]*\)).*/\1/p' debian/changelog)" debian/changelog
is "$version" "$(sed -n 's/^ *version("\([0-9.]*\)", tag="v\1").*/\1/p' packaging/spack/penstock/package.py | head -n 1)" "the recipe for Spack"
is "$version" "$(sed -n 's|^/\* "\([0-9.]*\) (REVISION)" \*/|\1|p' library/penstock/status.h)" library/penstock/status.h
is "$version" "$(sed -n 's/.*"\([0-9.]*\) (REVISION)".*/\1/p' python/penstock/__init__.py)" python/penstock/__init__.py
is "$version" "$(penstock-inspect --version | awk '{ print $2 }')" penstock-inspect
is "libpenstock$major" "$(sed -n 's/^Package: \(libpenstock[0-9]*\)$/\1/p' debian/control)" debian/control
[ -e "debian/libpenstock$major.install" ] || fail "debian/libpenstock$major.install is missing"
is "libpenstock.so.$major" "$(grep -oh 'libpenstock\.so\.[0-9]*' python/penstock/_library.py python/penstock_build.py | sort -u | tr '\n' ' ' | sed 's/ $//')" "the Python package"
grep -q "^PENSTOCK_$major\.0 {" library/penstock.map || fail "library/penstock.map has no symbols of $major.0"
# pip takes the version from the Makefile: nothing else may state one
grep -q '^version' pyproject.toml && fail "pyproject.toml states a version of its own"
# notes: in the changes under this version or what is to come, and as the text of the tag
grep -qE "^## ($version|Unreleased)" CHANGELOG.md || fail "CHANGELOG.md has no heading for $version"
[ "$(head -n 1 "docs/releases/$version.md" 2> /dev/null)" = "Penstock $version" ] || fail "docs/releases/$version.md has no notes"
[ "$(sed -n 2p "docs/releases/$version.md")" = "" ] || fail "the first line of a tag's text stands alone"

# kind and version: in the sources, and in the page
for file in formats/*.[ch]; do # X_FORMAT goes with X_VERSION, a lone format with the one version of its file
    sed -nE 's/.*[ #](PS_[A-Z_]+|.*)(_FORMAT|_format\[\] =) "(penstock-[a-z-]+)".*/\1 \3/p' "$file" | while read -r name kind; do
        v=$({ grep -oE "\b${name}_VERSION = [0-9]+" "$file" || grep -oE '\b[A-Z_]*VERSION = [0-9]+' "$file"; } | head -n 1 | sed 's/.* //')
        echo "$kind $v"
    done
done | sort > "$OLDPWD/sources"
sed -n 's/^| \[`\(penstock-[a-z-]*\)`\]([^)]*) | \([0-9]*\) |.*/\1 \2/p' docs/formats.md | sort > "$OLDPWD/page"
[ "$(wc -l < "$OLDPWD/sources")" -ge 29 ] || fail "only $(wc -l < "$OLDPWD/sources") kinds were found in formats/"
diff "$OLDPWD/sources" "$OLDPWD/page" || fail "docs/formats.md and formats/ differ"
container=$(grep -oE 'PS_STORE_VERSION = [0-9]+' formats/store_private.h | sed 's/.* //')
grep -q "(\`store_version\`, $container;" docs/formats.md || fail "docs/formats.md does not say container $container"
