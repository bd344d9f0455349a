# A body before a plane that mirrors, and the body and its image as a mesh of its own. Sourced after march.bash.
at=.1,-.2,.3 normal=.3,-.4,1.1

# bodies HEIGHT: body.h5 and both.h5
bodies() {
    python3 "$ROOT/tests/support/mirror_bodies.py" body 1 "$1" $at $normal
    penstock-mesh-import body.off body.h5 --order none --open --force -q > /dev/null
    penstock-mesh-import body.both.off both.h5 --order none --force -q > /dev/null
}
# emitters KIND: a wave and a source, and their images
python3 - $at $normal > emitters.txt << 'P'
import sys
p, n = ([float(x) for x in a.split(",")] for a in sys.argv[1:3])
dot = lambda a, b: sum(x * y for x, y in zip(a, b))
n = [x / dot(n, n) ** .5 for x in n]
e, s = [.2, .5, -1], [1.5, 0, 4]
e = [x / dot(e, e) ** .5 for x in e]
image = lambda a, h: ",".join("%.17g" % (x - 2 * h * y) for x, y in zip(a, n))
print("--emitter plane:dir=.2,.5,-1:width=1.2:delay=9 --emitter point:at=1.5,0,4:width=1:delay=5")
print("--emitter plane:dir=%s:width=1.2:delay=%.17g:amplitude=SIGN --emitter point:at=%s:width=1:delay=5:amplitude=SIGN"
      % (image(e, dot(e, n)), 9 + 2 * dot(p, n) * dot(e, n), image(s, dot(s, n) - dot(p, n))))
P
given=$(head -n 1 emitters.txt)
run="--steps 70 --tolerance 1e-14 --force"
quietly() { "$@" > /dev/null 2> quiet.txt || { cat quiet.txt; return 1; }; }
# traces RUN MESH NAME UNKNOWNS
traces() {
    penstock-probe "$1" "$2" "$3.surface.h5" --surface "0-$(($4 - 1))" --force -q > /dev/null
    penstock-probe "$1" "$2" "$3.near.h5" --field total --at 2,0,3 --at .5,-3,2 --allow no-field --force -q > /dev/null
    penstock-probe "$1" "$2" "$3.far.h5" --direction 0,0 --direction 50,20 --allow no-field --force -q > /dev/null
}
same_traces() { for q in surface near far; do close_to "$1.$q.h5" "$2.$q.h5" "$3"; done; }
