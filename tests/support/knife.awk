# A prism one long over an isosceles triangle of side 1 and an angle of A radians, closed and outward, as OFF:
# awk -v a=1e-5 -f knife.awk. Its two long faces nearly lie on one another.
BEGIN {
    print "OFF\n6 8 0"
    for (z = 0; z < 2; ++z) printf "0 0 %d\n%.17g %.17g %d\n%.17g %.17g %d\n", z, cos(a / 2), -sin(a / 2), z, cos(a / 2), sin(a / 2), z
    print "3 0 2 1\n3 3 4 5\n3 0 1 4\n3 0 4 3\n3 1 2 5\n3 1 5 4\n3 2 0 3\n3 2 3 5"
}
