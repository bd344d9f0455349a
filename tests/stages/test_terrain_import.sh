# penstock-terrain-import: NetCDF, GeoTIFF and ASCII grids, layers, gaps, stations, geographic models, refusals; terrain
# that is ugly, through prism-field.
. "$ROOT/tests/stages/lib.sh"
needs terrain-import prism-field compare verify
make_grid() { python3 "$ROOT/tests/support/elevation.py" "$@" || fail "elevation.py $*"; }
import() { penstock-terrain-import "$@"; }
same() { expect 0 "" penstock-compare "$1" "$2" --tolerance 0 --no-attributes; }
edited() { # SED TEXT OPTIONS OF import...: the model by hand, changed so, as bad.asc, is refused
    sed "$1" hand.asc > bad.asc
    expect 3 "$2" import bad.asc x.h5 "${@:3}"
}
wrong() { # FORM TEXT OPTIONS OF elevation.py...: a model of this form, as b.FORM, is refused
    make_grid "$1" "b.$1" "${@:3}"
    expect 3 "$2" import "b.$1" x.h5
}
alike() { # FORM "OPTIONS OF elevation.py" OPTIONS OF import...: it gives the prisms of a.h5
    make_grid "$1" "b.$1" $2
    expect 0 "" import "b.$1" b.h5 --stations above:1m "${@:3}"
    same a.h5 b.h5
}

# ASCII grids need no library. A hand-made one: 2 x 2 cells, one of them sea, by hand.
printf 'ncols 2\nnrows 2\nxllcorner 500000\nyllcorner 4000000\ncellsize 100\n30 40\n10 -20\n' > hand.asc
expect 0 "does not name its reference system" import hand.asc hand.h5 --stations above:2m
expect 0 "" penstock-verify hand.h5
# mass: 1e4 m2 x (2670 x (10 + 30 + 40) + (1025 - 2670) x 20)
import hand.asc hand.h5 --force --stations above:2m --json -q > hand.json || fail "hand.asc"
within "$(sed -n 's/.*"mass": \([-0-9.e+]*\).*/\1/p' hand.json)" 1806999999.9 1807000000.1 mass
expect 0 "up to date" import hand.asc hand.h5 --stations above:2m
import hand.asc dry.h5 --water 0 --json -q > dry.json || fail "dry"
within "$(sed -n 's/.*"mass": \([-0-9.e+]*\).*/\1/p' dry.json)" 1601999999.9 1602000000.1 "mass, dry"
# The field above it is that of its prisms, written down; z upwards, stations over the sea stand on the water.
cat > hand.txt <<'X'
500000 500100 4000000 4000100 0 10 2670
500100 500200 4000000 4000100 -20 0 -1645
500000 500100 4000100 4000200 0 30 2670
500100 500200 4000100 4000200 0 40 2670
X
printf '500050 4000050 12\n500150 4000050 2\n500050 4000150 32\n500150 4000150 42\n' > hand.xyz
expect 0 "" penstock-prism-field hand.h5 hand.h5 a.h5
expect 0 "" penstock-prism-field hand.txt hand.xyz b.h5
same a.h5 b.h5

# Layers: two of them, absolute densities, water on the top.
expect 0 "" import hand.asc two.h5 --layer -50,1000 --layer -100,3000 --water 1025 --json
sed -n 's/.*"mass": \([-0-9.e+]*\).*/\1/p' out > mass # 1e4 x (1000 (60 + 30 + 80 + 90) + 3000 x 200 + 1025 x 20)
within "$(cat mass)" 8804999999 8805000001 "mass of layers"
expect 0 "--water fills them" import hand.asc two.h5 --layer -50,1000
expect 3 "layer 1 is turned inside out at x 500050, y 4000050" import hand.asc x.h5 --layer 15,1000
expect 3 "layer 2 is turned inside out" import hand.asc x.h5 --layer -50,1000 --layer -40,1000
sed 's/30 40/-50 -60/; s/10 -20/10 -20.0/' hand.asc > floor.asc # touches the top twice
expect 0 "" import hand.asc two.h5 --layer floor.asc,2000
sed 's/cellsize 100/cellsize 50/' hand.asc > fine.asc
expect 3 "surfaces must have the same points" import hand.asc x.h5 --layer fine.asc,2000
expect 2 "is not BOTTOM,RHO" import hand.asc x.h5 --layer 1000

# Gaps.
sed '5a NODATA_value -9999' hand.asc | sed 's/30 40/30 -9999/' > gap.asc
expect 3 "has 1 gaps in 4 cells, the first at x 500150, y 4000150" import gap.asc x.h5
[ ! -e x.h5 ] || fail "x.h5 was left"
expect 0 "are gaps and have no mass" import gap.asc omit.h5 --gaps omit --stations above:1m
grep -q '^stations *3$' out || fail "stations in gaps"
expect 0 "filled up to 5 m" import gap.asc level.h5 --gaps level --level 5
edited 's/30 40/30 -9999/' "a usual flag of gaps"
expect 0 "no mass" import bad.asc x.h5 --no-data -9999 --gaps omit
edited 's/30 40/30 25000/' "is 25000 m"
expect 0 "" import bad.asc x.h5 --height-unit ft
printf 'ncols 2\nnrows 2\nxllcorner 5\nyllcorner 4\ncellsize 1\n30 40\n10 -20\n' > degrees.asc
expect 3 "degrees or m: --coordinates does" import degrees.asc x.h5
edited '$d' "ends after 2 of 4 heights"
edited 's/10 -20/10 ten/' 'is "ten"'
echo "no elevation model at all" > no.txt
expect 3 "nor an ASCII grid" import no.txt x.h5

# What a header announces twice, in parts, or beyond the file; coordinates that rounding eats or the Earth has not.
edited '1a ncols 3' "has ncols twice"
edited 's/ncols 2/ncols 2.5/' "ncols, nrows"
edited 's/s 2/s 40000/' "cannot hold"
edited 's/cellsize 100/cellsize 1e-9/' "lost in the rounding of coordinates"
edited 's/cellsize 100/cellsize 1e12/' "no places of the Earth"
expect 2 "a bottom at -1e+300 m" import hand.asc x.h5 --layer -1e300,1000
printf 'ncols 2\nnrows 1\nxllcorner 500000\nyllcorner 4000000\ncellsize 100\n30 40\n' > row.asc # one row has a width, too
expect 0 "mass                              1.869e+09 kg" import row.asc x.h5
# Flags that could be heights: alone, far from the others; not where they are one height of many.
edited 's/30 40/30 -999/' "is -999, a usual flag"
expect 0 "" import bad.asc x.h5 --allow flags
sed 's/30 40/-1500 -999/' hand.asc > bad.asc
expect 0 "" import bad.asc x.h5
# Depths, if the user says so: the same prisms as of heights.
sed 's/30 40/-30 -40/; s/10 -20/-10 20/' hand.asc > depths.asc
expect 0 "" import depths.asc b.h5 --positive down --stations above:2m
import hand.asc a.h5 --force --stations above:2m -q || fail "hand.asc"
same a.h5 b.h5

# Degrees go on around the globe: the same prisms, and layers, wherever they are counted from; not twice around, nor as stations.
globe() { printf 'ncols %d\nnrows 2\nxllcorner %s\nyllcorner 45\ncellsize %s\n' "$1" "$2" "$3"; yes -- "${4:-30} ${5:-40}" | head -n "$1" | tr '\n' ' '; } # two rows
globe 2 179.99 .01 > here.asc; globe 2 -180.01 .01 > there.asc; globe 2 539.99 .01 -50 -60 > below.asc
degrees="--coordinates geographic --stations above:1m"
expect 0 "" import here.asc a.h5 --force $degrees
expect 0 "" import there.asc b.h5 --force $degrees
same a.h5 b.h5
expect 0 "" import there.asc b.h5 --force $degrees --layer below.asc,2000
globe 50 0 7.3 > twice.asc
expect 3 "365 degrees around the globe" import twice.asc x.h5 --coordinates geographic --accuracy 1e6
echo "-180.005 45.01 100" > degrees.xyz
expect 3 "all stations are within the model if x and y are degrees" penstock-prism-field a.h5 degrees.xyz f.h5
expect 0 "" penstock-prism-field a.h5 degrees.xyz f.h5 --allow units

# Stations at places: on the border of cells the higher one is the ground; beside the model there is none.
printf '500050 4000050\n500100 4000150\n500100 4000100\n' > places.txt
expect 0 "" import hand.asc p.h5 --stations above:50cm --station-places places.txt
h5dump -y -w 300 -d /stations p.h5 | grep -A3 'DATA {' | tr -d '\n' | grep -q '10.5,.*40.5,.*40.5' ||
    fail "ground at places"
echo "500300 4000050" > beside.txt
{ echo "lat,lon"; tr ' ' , < places.txt; } > turned.txt
expect 3 'calls column 1 "lat", where x is expected' import hand.asc x.h5 --stations above:1m --station-places turned.txt
expect 3 "station 1 at 500300, 4000050 has no ground" import hand.asc x.h5 --stations above:1m --station-places beside.txt
expect 2 "is not above:HEIGHT" import hand.asc x.h5 --stations 1m
expect 2 "belong to --stations" import hand.asc x.h5 --station-every 2

# The same heights in every form are the same prisms.
make_grid asc a.asc
expect 0 "" import a.asc a.h5 --stations above:1m
if import a.asc x.h5 -q && make_grid nc a.nc && ! { import a.nc x.h5 2>&1 | grep -q "without libnetcdf"; }; then
    for how in "down=1" "type=short scale=0.5 offset=100 fill=-32768" "type=double node=1" "type=int units=m node=0"; do
        alike nc "$how"
    done
    # What files say of heights is applied, or refused where it is not known.
    alike nc "metres=-1 of_z=positive:down"
    wrong nc "names depths" name=depth
    expect 0 "" import b.nc b.h5 --positive up --stations above:1m
    same a.h5 b.h5
    wrong nc "names depths" of_z=standard_name:sea_floor_depth_below_geoid
    wrong nc "m, km or feet" "units=meters above the ellipsoid of a year that the attribute goes on to name"
    wrong nc "is -32768, a usual flag" type=short scale=0.1 offset=400 gap=2,1 nodata=-32768
    expect 3 "has 1 gaps" import b.nc x.h5 --no-data -32768
    wrong nc "has 1 gaps" gap=2,1 nodata=777 of_z=nodata:777
    wrong nc "x has a scale_factor" of_x=scale_factor:2
    wrong nc "rotated pole" of_x=standard_name:grid_longitude
    wrong nc "y runs along its rows: transpose it" x=y y=x
    wrong nc "would be a needle" x0=10 y0=45 step=0.1 # degrees, declared as m
    wrong nc "has 1 gaps in 30 cells, the first at x 500200, y 4000100" gap=2,1 type=short fill=-1
    wrong nc "has 1 gaps" gap=2,1 # NaN
    wrong nc "beside an even grid" uneven=20
    wrong nc 'in "kelvin"' units=kelvin
    wrong nc "degrees or m" units= x0=10 y0=20 step=0.1
    make_grid nc a.nc geographic=1 x0=179.99 y0=45 step=.01; make_grid nc b.nc geographic=1 x0=179.99 y0=45 step=.01 wrap=180
    import a.nc c.h5 -q && import b.nc b.h5 --force -q || fail "across 180"
    same c.h5 b.h5
    head -c 300 a.nc > cut.nc
    expect 3 "" import cut.nc x.h5
    # 2^31 - 1 dimensions, before which libnetcdf 4.9 falls
    { head -c 12 a.nc; printf '\177\377\377\377'; tail -c +17 a.nc; } > many.nc
    expect 3 "many.nc" import many.nc x.h5
    # nor are they believed: memory is bounded by the file
    python3 -c 'import resource, subprocess, sys
subprocess.run(sys.argv[1:], stderr=subprocess.DEVNULL)
held = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
sys.exit(held > 200 and f"{held:.0f} MB for 400 bytes")' penstock-terrain-import many.nc x.h5 || fail "memory for a count that no file holds"
fi
make_grid tif a.tif
if ! { import a.tif x.h5 2>&1 | grep -q "without libgeotiff"; }; then
    for how in "type=float" "type=short point=1" "type=double nodata=-5"; do
        make_grid tif b.tif $how
        expect 0 "EPSG:32633" import b.tif b.h5 --stations above:1m
        same a.h5 b.h5
    done
    make_grid tif b.tif vertical=9002
    expect 0 "highest                           168.859" import b.tif x.h5
    wrong tif "has 1 gaps in 30 cells, the first at x 500200, y 4000100" gap=2,1 nodata=-9999 type=short
    make_grid tif b.tif role=unittype item=unittype:ft metres=0.3048 type=double
    expect 0 "" import b.tif b.h5 --stations above:1m
    expect 0 "" penstock-compare a.h5 b.h5 --tolerance 1e-12 --no-attributes
    make_grid tif b.tif keys=4096:6360
    expect 0 "highest                           168.859" import b.tif x.h5 --height-unit ft
    expect 0 "highest                           168.86" import b.tif x.h5 # US survey feet: 2e-6 more
    alike tif "keys=4096:5715 metres=-1"
    alike tif keys=4096:5773
    wrong tif "the vertical system EPSG:1234" keys=4096:1234
    wrong tif "the unit of its coordinates is not known" keys=3072:29999
    expect 0 "" import b.tif b.h5 --coordinates projected --stations above:1m
    same a.h5 b.h5
    wrong tif "has its gaps as a mask" mask=1
    wrong tif "has 3 bands" band=3
    wrong tif "with a scale or an offset" role=scale
    head -c 380 a.tif > cut.tif
    expect 3 "" import cut.tif x.h5
    # Degrees: flat prisms against ones that stand on the ellipsoid. The guide has .010 mGal at .05 degrees for 1 km.
    make_grid tif g.tif geographic=1 x0=10 y0=45 step=0.002 nx=25 ny=25 shape=flat base=1000
    expect 0 "EPSG:4326" import g.tif g.h5 --json
    within "$(sed -n 's/.*"frame_error": \([-0-9.e+]*\).*/\1/p' out)" .007 .014 "error of a flat frame"
    make_grid tif g.tif geographic=1 x0=10 y0=45 step=0.02 nx=25 ny=25 shape=flat base=1000
    rm -f x.h5
    expect 5 "prisms in one flat frame are off by up to" import g.tif x.h5
    [ ! -e x.h5 ] || fail "x.h5 was left"
fi

# Ugly terrain: a cliff of 900 m by a flat sea, a spike of 2 km, a void; direct sums and the tree.
make_grid asc ugly.asc nx=24 ny=20 shape=cliff spike=20,7 gap=15,10 fill=-7777
expect 3 "has 1 gaps" import ugly.asc x.h5
expect 0 "" import ugly.asc u.h5 --gaps omit --stations above:1m
expect 0 "stations_inside                   0" penstock-prism-field u.h5 u.h5 d.h5 --height 1
expect 0 "reached_attraction" penstock-prism-field u.h5 u.h5 f.h5 --height 4 --accuracy 1e-6
expect 0 "" penstock-compare f.h5 d.h5 --tolerance 1e-5 --dataset '/attraction' --no-attributes
