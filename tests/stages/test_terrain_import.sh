# penstock-terrain-import: NetCDF, GeoTIFF and ASCII grids, layers, gaps, stations, geographic models, refusals; terrain
# that is ugly, through prism-field.
. "$ROOT/tests/stages/lib.sh"
needs terrain-import prism-field compare verify
make_grid() { python3 "$ROOT/tests/support/elevation.py" "$@" || fail "elevation.py $*"; }
import() { penstock-terrain-import "$@"; }
same() { expect 0 "" penstock-compare "$1" "$2" --tolerance 0 --no-attributes; }

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
sed 's/30 40/30 -9999/' hand.asc > flag.asc
expect 3 "a usual flag of gaps" import flag.asc x.h5
expect 0 "no mass" import flag.asc x.h5 --no-data -9999 --gaps omit
sed 's/30 40/30 25000/' hand.asc > high.asc
expect 3 "is 25000 m" import high.asc x.h5
expect 0 "" import high.asc x.h5 --height-unit ft
printf 'ncols 2\nnrows 2\nxllcorner 5\nyllcorner 4\ncellsize 1\n30 40\n10 -20\n' > degrees.asc
expect 3 "degrees or m: --coordinates does" import degrees.asc x.h5
sed '$d' hand.asc > short.asc
expect 3 "ends after 2 of 4 heights" import short.asc x.h5
sed 's/10 -20/10 ten/' hand.asc > word.asc
expect 3 'is "ten"' import word.asc x.h5
echo "no elevation model at all" > no.txt
expect 3 "nor an ASCII grid" import no.txt x.h5

# What a header announces twice, in parts, or beyond the file; coordinates that rounding eats or the Earth has not.
sed '1a ncols 3' hand.asc > bad.asc
expect 3 "has ncols twice" import bad.asc x.h5
sed 's/ncols 2/ncols 2.5/' hand.asc > bad.asc
expect 3 "ncols, nrows" import bad.asc x.h5
sed 's/s 2/s 40000/' hand.asc > bad.asc
expect 3 "cannot hold" import bad.asc x.h5
sed 's/cellsize 100/cellsize 1e-9/' hand.asc > bad.asc
expect 3 "lost in the rounding of coordinates" import bad.asc x.h5
sed 's/cellsize 100/cellsize 1e12/' hand.asc > bad.asc
expect 3 "no places of the Earth" import bad.asc x.h5
expect 2 "a bottom at -1e+300 m" import hand.asc x.h5 --layer -1e300,1000
printf 'ncols 2\nnrows 1\nxllcorner 500000\nyllcorner 4000000\ncellsize 100\n30 40\n' > row.asc # one row has a width, too
expect 0 "mass                              1.869e+09 kg" import row.asc x.h5
# Flags that could be heights: alone, far from the others; not where they are one height of many.
sed 's/30 40/30 -999/' hand.asc > flag.asc
expect 3 "is -999, a usual flag" import flag.asc x.h5
expect 0 "" import flag.asc x.h5 --allow flags
sed 's/30 40/-1500 -999/' hand.asc > flag.asc
expect 0 "" import flag.asc x.h5
# Depths, if the user says so: the same prisms as of heights.
sed 's/30 40/-30 -40/; s/10 -20/-10 20/' hand.asc > depths.asc
expect 0 "" import depths.asc b.h5 --positive down --stations above:2m
import hand.asc a.h5 --force --stations above:2m -q || fail "hand.asc"
same a.h5 b.h5

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
        make_grid nc b.nc $how
        expect 0 "" import b.nc b.h5 --stations above:1m
        same a.h5 b.h5
    done
    # What files say of heights is applied, or refused where it is not known.
    make_grid nc b.nc metres=-1 of_z=positive:down
    expect 0 "" import b.nc b.h5 --stations above:1m
    same a.h5 b.h5
    make_grid nc b.nc name=depth
    expect 3 "names depths" import b.nc x.h5
    expect 0 "" import b.nc b.h5 --positive up --stations above:1m
    same a.h5 b.h5
    make_grid nc b.nc of_z=standard_name:sea_floor_depth_below_geoid
    expect 3 "names depths" import b.nc x.h5
    make_grid nc b.nc "units=meters above the ellipsoid of a year that the attribute goes on to name"
    expect 3 "m, km or feet" import b.nc x.h5
    make_grid nc b.nc type=short scale=0.1 offset=400 gap=2,1 nodata=-32768
    expect 3 "is -32768, a usual flag" import b.nc x.h5
    expect 3 "has 1 gaps" import b.nc x.h5 --no-data -32768
    make_grid nc b.nc gap=2,1 nodata=777 of_z=nodata:777
    expect 3 "has 1 gaps" import b.nc x.h5
    make_grid nc b.nc of_x=scale_factor:2
    expect 3 "x has a scale_factor" import b.nc x.h5
    make_grid nc b.nc of_x=standard_name:grid_longitude
    expect 3 "rotated pole" import b.nc x.h5
    make_grid nc b.nc x=y y=x
    expect 3 "y runs along its rows: transpose it" import b.nc x.h5
    make_grid nc b.nc x0=10 y0=45 step=0.1 # degrees, declared as m
    expect 3 "would be a needle" import b.nc x.h5
    make_grid nc b.nc gap=2,1 type=short fill=-1
    expect 3 "has 1 gaps in 30 cells, the first at x 500200, y 4000100" import b.nc x.h5
    make_grid nc b.nc gap=2,1 # NaN
    expect 3 "has 1 gaps" import b.nc x.h5
    make_grid nc b.nc uneven=20
    expect 3 "beside an even grid" import b.nc x.h5
    make_grid nc b.nc units=kelvin
    expect 3 'in "kelvin"' import b.nc x.h5
    make_grid nc b.nc units= x0=10 y0=20 step=0.1
    expect 3 "degrees or m" import b.nc x.h5
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
    make_grid tif b.tif gap=2,1 nodata=-9999 type=short
    expect 3 "has 1 gaps in 30 cells, the first at x 500200, y 4000100" import b.tif x.h5
    make_grid tif b.tif role=unittype item=unittype:ft metres=0.3048 type=double
    expect 0 "" import b.tif b.h5 --stations above:1m
    expect 0 "" penstock-compare a.h5 b.h5 --tolerance 1e-12 --no-attributes
    make_grid tif b.tif keys=4096:6360
    expect 0 "highest                           168.859" import b.tif x.h5 --height-unit ft
    expect 0 "highest                           168.86" import b.tif x.h5 # US survey feet: 2e-6 more
    make_grid tif b.tif keys=4096:5715 metres=-1
    expect 0 "" import b.tif b.h5 --stations above:1m
    same a.h5 b.h5
    make_grid tif b.tif keys=4096:5773
    expect 0 "" import b.tif b.h5 --stations above:1m
    same a.h5 b.h5
    make_grid tif b.tif keys=4096:1234
    expect 3 "the vertical system EPSG:1234" import b.tif x.h5
    make_grid tif b.tif keys=3072:29999
    expect 3 "the unit of its coordinates is not known" import b.tif x.h5
    expect 0 "" import b.tif b.h5 --coordinates projected --stations above:1m
    same a.h5 b.h5
    make_grid tif b.tif mask=1
    expect 3 "has its gaps as a mask" import b.tif x.h5
    make_grid tif b.tif band=3
    expect 3 "has 3 bands" import b.tif x.h5
    make_grid tif b.tif role=scale
    expect 3 "with a scale or an offset" import b.tif x.h5
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
