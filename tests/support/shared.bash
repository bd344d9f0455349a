# What all stage tests share, whether they source lib.sh or march.bash.
. "$ROOT/tests/support/at.bash"
fail() { echo "FAILED: $*"; exit 1; }
# geometry NAME BODIES: NAME.geo, a script of Gmsh for these bodies of OpenCASCADE.
geometry() { printf 'SetFactory("OpenCASCADE");\n%s\n' "$2" > "$1.geo"; }
