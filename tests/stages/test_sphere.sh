#!/bin/bash
# The physics: spheres of 80 and 320 triangles against exact series at or below the guide's
# errors + 10 %, and the gates at 1280 (surface 1 %, far field 0.2 %, uniform 0.4 %).
. "$ROOT/tests/stages/lib.sh"
needs mesh-import slice-assemble tdbem-march probe sphere-exact compare
"$ROOT/cases/tdbem-sphere/verify.sh" quick "$PWD/files" || fail "the table above"
