# What all stage tests share, whether they source lib.sh or march.bash.
. "$ROOT/tests/support/at.bash"
fail() { echo "FAILED: $*"; exit 1; }
# nothing_made COMMAND...: none of the outputs called no or none is there, as tests name what a refused command does not make, nor
# what lies beside it.
nothing_made() {
    local name
    for name in {no,none}.{h5,hdf,html,png,svg,log}*; do [ ! -e "$name" ] || fail "$name was left behind by: $*"; done
}
# geometry NAME BODIES: NAME.geo, a script of Gmsh for these bodies of OpenCASCADE.
geometry() { printf 'SetFactory("OpenCASCADE");\n%s\n' "$2" > "$1.geo"; }
