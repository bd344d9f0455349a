# text_seeds FOLDER: small valid files that come from elsewhere; text_command FILE OUTPUT: the command that reads one.
text_seeds() {
    mkdir -p "$1" && cd "$1" || exit 1
    # a cube of 12 triangles in the formats of triangles
    local corners="0 0 0
1 0 0
1 1 0
0 1 0
0 0 1
1 0 1
1 1 1
0 1 1" faces="0 2 1
0 3 2
4 5 6
4 6 7
0 1 5
0 5 4
1 2 6
1 6 5
2 3 7
2 7 6
3 0 4
3 4 7"
    { echo OFF; echo 8 12 0; echo "$corners"; sed 's/^/3 /' <<< "$faces"; } > cube.off
    { sed 's/^/v /' <<< "$corners"; awk '{ print "f", $1 + 1, $2 + 1, $3 + 1 }' <<< "$faces"; } > cube.obj
    local head="element vertex 8
property float x
property float y
property float z
element face 12
property list uchar int vertex_indices
end_header"
    { printf 'ply\nformat ascii 1.0\n'; echo "$head"; echo "$corners"; sed 's/^/3 /' <<< "$faces"; } > cube.ply
    {
        printf 'ply\nformat binary_little_endian 1.0\n'; echo "$head"
        # shellcheck disable=SC2059
        printf "$(awk '{ for (i = 1; i <= 3; ++i) printf $i ? "\\0\\0\\200\\077" : "\\0\\0\\0\\0" }' <<< "$corners")"
        printf "$(awk '{ printf "\\003"; for (i = 1; i <= 3; ++i) printf "\\%03o\\0\\0\\0", $i }' <<< "$faces")"
    } > binary.ply
    {
        echo solid cube
        awk 'NR == FNR { p[n++] = $0; next } { print "facet normal 0 0 0\nouter loop"
            for (i = 1; i <= 3; ++i) print "vertex", p[$i]; print "endloop\nendfacet" }' <(echo "$corners") <(echo "$faces")
        echo endsolid cube
    } > cube.stl
    {
        printf '$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n8\n'; awk '{ print NR, $0 }' <<< "$corners"
        printf '$EndNodes\n$Elements\n12\n'; awk '{ print NR, 2, 2, 7, 1, $1 + 1, $2 + 1, $3 + 1 }' <<< "$faces"
        echo '$EndElements'
    } > two.msh
    {
        printf '$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Entities\n0 0 1 0\n1 0 0 0 1 1 1 1 7 0\n$EndEntities\n'
        printf '$Nodes\n1 8 1 8\n2 1 0 8\n'; seq 8; echo "$corners"
        printf '$EndNodes\n$Elements\n1 12 1 12\n2 1 2 12\n'
        awk '{ print NR, $1 + 1, $2 + 1, $3 + 1 }' <<< "$faces"; echo '$EndElements'
    } > four.msh
    {
        printf '# vtk DataFile Version 3.0\ncube\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 8 double\n'; echo "$corners"
        echo CELLS 12 48; sed 's/^/3 /' <<< "$faces"; echo CELL_TYPES 12; yes 5 | head -n 12
    } > cube.vtk
    {
        printf 'MeshVersionFormatted 2\nDimension 3\nVertices\n8\n'; sed 's/$/ 0/' <<< "$corners"
        printf 'Triangles\n12\n'; awk '{ print $1 + 1, $2 + 1, $3 + 1, 7 }' <<< "$faces"; echo End
    } > cube.mesh
    mkdir ../regions && python3 "$here/../support/two_regions.py" ../regions > /dev/null || fail "no seed: two_regions.py"
    cp ../regions/two.inp ../regions/two_5b.vtk ../regions/two_raw.vtu ../regions/two_zlib.vtu . && rm -r ../regions
    gzip -c two.msh > packed.msh.gz
    { echo "# x,y,z,q"; seq 40 | awk '{ print sin($1) "," cos($1) "," $1 / 40 "," 1 }'; } > table.csv
    seq 40 | awk '{ print sin($1), cos($1), $1 / 40, 1 }' > table.txt
    seq 20 | awk '{ printf "ATOM %6d  CA  ALA A%4d    %8.3f%8.3f%8.3f %7.4f %6.4f\n", $1, $1, $1, -$1, $1 / 2, .5, 1.5 }' > a.pqr
    printf '4 3 2\n0 0 0\n2*100 100 50\n3*100\n2*50\n' > ubc.mesh.txt
    printf '3 2 2\n0 0 0\n100 100 50\n100 100\n50 50\n' > grid.ubc
    seq 12 | awk '{ print $1 / 10 }' > grid.den
    printf 'x0 x1 y0 y1 z0 z1 density\n-1 1 -1 1 1 2 300\n2 3 0 1 1 2 -100\n' > b.bricks
    rm ubc.mesh.txt
    { printf '%%%%MatrixMarket matrix coordinate real symmetric\n6 6 11\n'
      for i in 1 2 3 4 5 6; do echo "$i $i 4"; done; for i in 2 3 4 5 6; do echo "$i $((i - 1)) -1"; done; } > s.mtx
    { printf '%%%%MatrixMarket matrix coordinate real general\n4 4 5\n1 1 2\n2 2 2\n3 3 2\n4 4 2\n1 3 .5\n'; } > g.mtx
    gzip -c s.mtx > p.mtx.gz
    # prisms, stations, what was measured there, elevation models, recorded sounds
    printf '%s\n' 2 "-1 1 -2 2 -3 3 1" "2 3 -1 1 -3 1 2" > two.prisms
    printf '%s\n' "x y z" "4 1 -2" "5 .5 4" "6 2 7" > three.stations
    printf '%s\n' "1 1 1 .01 .001" "2 2 1 .02 .001" "3 1 2 .01 .001" > three.observed
    printf '4 3 2\n0 0 0\n4*1\n3*1\n2*.5\n' > four.cells
    local kind
    for kind in asc nc tif; do python3 "$here/../support/elevation.py" $kind hills.$kind || fail "no seed: elevation.py $kind"; done
    seq 0 60 | awk '{ print $1 / 10, exp(-($1 - 30) ^ 2 / 50) }' > bell.sound
    { printf 'RIFF\244\0\0\0WAVEfmt \020\0\0\0\001\0\001\0\012\0\0\0\024\0\0\0\002\0\020\0data\200\0\0\0'
      for i in {1..64}; do printf "\\0\\$(printf %03o $((i < 32 ? i : 64 - i)))"; done; } > bell.wav
    # pressures at the corners of an octahedron, panels about it with pressures and velocities
    { printf 'OFF\n6 8 0\n1 0 0\n-1 0 0\n0 1 0\n0 -1 0\n0 0 1\n0 0 -1\n'
      printf '3 %s\n' "0 2 4" "2 1 4" "1 3 4" "3 0 4" "2 0 5" "1 2 5" "3 1 5" "0 3 5"; } > ball.off
    python3 "$here/../support/samples.py" ball.off pressure vertices .5 0 160 9 40 bell || fail "no seed: samples.py"
    python3 "$here/../support/panels.py" ball.off 5 1 1 9 40 .5 160 0 0 flow || fail "no seed: panels.py"
    mv bell.csv bell.samples; mv bell-points.csv bell.places; mv flow.csv flow.panels; mv flow-p.csv flow.pressures; mv flow-u.csv flow.fluid
    penstock-mesh-import -q ball.off ball.hdf > /dev/null || fail "no seed: an octahedron"
    rm ball.off
    cd - > /dev/null
}
# The program is taken from the watched build; models need the other one of their two files, which is whole.
text_command() { # FILE OUTPUT SEEDS
    local bin=$BUILD/watched/bin memory="--host-memory 512M --threads 1"
    case $1 in
        *.csv | *.txt | *.pqr) echo "$bin/penstock-particle-import $memory $1 $2" ;;
        *.ubc) echo "$bin/penstock-gravity-model $memory $2 --ubc-mesh $1 --ubc-model $3/grid.den" ;;
        *.den) echo "$bin/penstock-gravity-model $memory $2 --ubc-mesh $3/grid.ubc --ubc-model $1" ;;
        *.bricks) echo "$bin/penstock-gravity-model $memory $2 --nodes 9,9,9 --box -4,4,-4,4,0,4 --bricks $1" ;;
        *.prisms) echo "$bin/penstock-prism-field -q $memory $1 $3/three.stations $2" ;;
        *.stations) echo "$bin/penstock-prism-field -q $memory $3/two.prisms $1 $2" ;;
        *.observed) echo "$bin/penstock-gravity-invert -q $memory $1 $3/four.cells $2 --limit 20" ;;
        *.cells) echo "$bin/penstock-gravity-invert -q $memory $3/three.observed $1 $2 --limit 20" ;;
        *.asc | *.nc | *.tif) echo "$bin/penstock-terrain-import -q $memory $1 $2 --stations above:1m" ;;
        *.sound | *.wav) echo "$bin/penstock-incident -q $memory $3/ball.hdf $2 --dt .5 --speed 1 --steps 9 --source monopole:at=0,0,5:wave=$1" ;;
        *.samples | *.places | *.panels | *.pressures | *.fluid)
            local f=$3/bell.samples p=$3/bell.places a=$3/flow.panels b=$3/flow.pressures u=$3/flow.fluid
            case $1 in *.samples) f=$1 ;; *.places) p=$1 ;; *.panels) a=$1 ;; *.pressures) b=$1 ;; *.fluid) u=$1 ;; esac
            echo "$bin/penstock-incident -q $memory $3/ball.hdf $2 --dt .5 --speed 1 --steps 9 --density 1 --samples $f:quantity=pressure:points=$p --panels $a:pressure=$b:fluid=$u" ;;
        *.mtx | *.mtx.gz) echo "$bin/penstock-spmv-bench $memory $1 --device cpu --least-time 0.0001" ;;
        *) echo "$bin/penstock-mesh-import $memory --gmsh-time 10 $1 $2" ;;
    esac
}
