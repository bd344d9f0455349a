# What other programs change in our files afterwards is noticed: options, inputs, links.
. "$ROOT/tests/stages/lib.sh"
needs mesh-surface cluster-build verify
needs_python h5py numpy
expect 0 "" penstock-mesh-surface s.hdf --divisions 2
expect 0 "" penstock-cluster-build s.hdf c.h5 --leaf 16
expect 0 "" penstock-verify c.h5

# edited WHAT CODE TEXT: Python that changes the open file f
edited() {
    cp c.h5 e.h5
    python3 -c "
import h5py, numpy
f = h5py.File('e.h5', 'r+', libver='v110')
$1
f.close()" || fail "not edited: $1"
    expect "$2" "$3" penstock-verify e.h5
}
put() { echo "f['$1'].attrs.modify('$2', numpy.array('$3', 'S${#3}'))"; }
edited "f['/'].attrs['created'][:4]" 0 ""
edited "$(put / options 'leaf=17')" 3 "its record hash is"
edited "$(put / created 2001-01-01T00:00:00Z)" 3 "its record hash is"
edited "$(put /inputs/mesh content_hash 0123456789abcdef)" 3 "its record hash is"
edited "$(put /inputs/mesh file other.hdf)" 3 "its record hash is"
edited "del f['/inputs/mesh']" 3 "its record hash is"
edited "del f['/'].attrs['record_hash']" 3 "record_hash"
edited "f['/'].attrs['store_version'] = numpy.int64(1)" 3 "its content hash is"
edited "f['/elsewhere'] = h5py.ExternalLink('s.hdf', '/')" 3 "a link leads elsewhere"
edited "f['/soft'] = h5py.SoftLink('/chunks')" 3 "a link leads elsewhere"
edited "g = f.create_group('/many')
for i in range(20): g.create_group('x%d' % i)" 3 "links lie outside of the header of many"
edited "g = f.create_group('/many')
for i in range(20): g.attrs['x%d' % i] = i" 3 "attributes lie outside of the header of many"
edited "g = f['/']
for i in range(20): g = g.create_group('x')" 3 "groups are too deep"
edited "f['/inputs']['again'] = f['/inputs']" 3 "groups are too deep"
# Files of container version 1 may have groups that no checksum covers: damage there ends a child, not the program.
edited "f['/'].attrs['store_version'] = numpy.int64(1)
g = f.create_group('/many')
for i in range(20): g.create_group('x%d' % i)
for i in range(20): g.attrs['a%d' % i] = i" 3 "its content hash is"
expect 0 "" penstock-inspect --trust e.h5
python3 - <<'END' || fail "nothing to damage"
whole = open('e.h5', 'rb').read()
at, made = -1, 0
while (at := whole.find(b'FHDB', at + 1)) >= 0:
    for place in range(at + 8, min(at + 264, len(whole)), 4):
        open('flip%d.h5' % made, 'wb').write(whole[:place] + bytes([whole[place] ^ 0x41]) + whole[place + 1:])
        made += 1
assert made >= 100, made
END
refused=0
for f in flip*.h5; do
    MALLOC_PERTURB_=165 penstock-inspect --trust "$f" > out 2> err
    case $? in
        0) ;;
        3) grep -q "a trial did not survive them" err && refused=$((refused + 1)) ;;
        *) cat err; fail "$f: a damaged dense group ended the program" ;;
    esac
done
rm flip*.h5
[ $refused -ge 10 ] || fail "only $refused damaged dense groups are refused"
echo "$refused damaged dense groups refused"
# An output whose record was changed is made again.
cp c.h5 e.h5
python3 -c "
import h5py, numpy
f = h5py.File('c.h5', 'r+', libver='v110')
$(put / created 2001-01-01T00:00:00Z)
f.close()"
expect 0 "" penstock-cluster-build s.hdf c.h5 --leaf 16
grep -q "up to date" err && fail "an edited output counts as up to date"
expect 0 "" penstock-verify c.h5
echo passed
