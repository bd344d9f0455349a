# A rough model, for awk -v nx= -v ny= -v nz= -v x0= -v y0= -v z0= -v hx= -v hy= -v hz= -v seed=: bricks of random densities as a
# table (x0 x1 y0 y1 z0 z1 density), a fifth of them empty, the uppermost layers cut into steps like terrain.
function random() { seed = (seed * 16807) % 2147483647; return seed / 2147483647 }
BEGIN {
    for (i = 0; i < nx; ++i)
        for (j = 0; j < ny; ++j) {
            ground = int(3 * random())
            for (k = 0; k < nz; ++k) {
                empty = random() < .2 || k < ground
                density = 1200 * (random() - .5)
                if (!empty)
                    printf "%.17g %.17g %.17g %.17g %.17g %.17g %.17g\n", x0 + i * hx, x0 + (i + 1) * hx, y0 + j * hy,
                        y0 + (j + 1) * hy, z0 + k * hz, z0 + (k + 1) * hz, density
            }
        }
}
