# The site of all pages: what the generator writes of the library's headers has every exported function, and, where Sphinx is, the
# site is made without a warning: a link that leads nowhere is one.
. "$ROOT/tests/stages/lib.sh"
[ -n "$PYTHON" ] || { echo "python3 is not installed"; exit 77; }
python3 "$ROOT/docs/api.py" api || fail "docs/api.py"
for name in $(grep -o 'penstock_[a-z_]*' "$ROOT/library/penstock.map"); do
    grep -qE "[ *]$name\(" api/*.rst || fail "the pages have no $name"
done
for type in $(grep -oh '^} penstock_[a-z_]*' "$ROOT"/library/penstock/*.h | sed 's/} //'); do
    grep -q "c:type:: $type\$" api/*.rst || fail "the pages have no type $type"
done
grep -q 'shapes in brackets' api/status.rst || fail "what holds for all calls is not in the pages"
python_has sphinx myst_parser numpy || { echo "the pages of the library pass; there is no Sphinx with MyST: the site was not made"; exit 77; }
[ "$(cd "$ROOT" && readlink -f "$(make -s print-build 2> /dev/null)")" = "$(readlink -f "$BUILD")" ] ||
    { echo "this build was made with other options than make's defaults"; exit 77; }
make -s -C "$ROOT" docs SPHINX="$PYTHON -m sphinx" > log 2>&1 || { tail -n 5 log; fail "make docs"; }
site=$(readlink -f "$BUILD")/site
grep -q 'penstock_file_read' "$site/api/file.html" || fail "the site has no page of files"
grep -q 'penstock.fmm' "$site/api/python.html" || fail "the site has no page of the Python package"
grep -q 'class="math' "$site/docs/theory/hbem.html" || fail "there are no equations"
# What sets equations is in the site itself, which is read without a network; a real browser sets all of them.
[ -d /usr/share/javascript/katex ] || { echo "the pages pass; there is no KaTeX (libjs-katex): equations were not set"; exit 77; }
foreign=$(grep -rlE --include='*.html' '<(script|link|img)[^>]*(src|href)="(https?:)?//' "$site")
[ -z "$foreign" ] || fail "pages need a network: $foreign"
needs_browser
for page in "$site"/docs/theory/*.html; do
    dom "$page"
    grep -q CONSOLE chrome.log && { grep CONSOLE chrome.log; fail "$page: the browser complains"; }
    [ "$(grep -o 'class="katex"' dom | wc -l)" = "$(grep -o 'class="math ' "$page" | wc -l)" ] || fail "$page: equations are not set"
done
exit 0
