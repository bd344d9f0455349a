/*
 * What poles do to a value of E, for the host (devices: advance_device_body.h): `quantity` (a
 * number, or as many as a register holds), NAME and LEAF, what a function begins with, are the
 * includer's.
 */

/* sum add u, and u a step on; f[states][4]: add, own, cross, drive; u: states `stride` apart, of
 * which the first 2 pairs act on each other. */
LEAF quantity NAME(respond)(const quantity (*f)[4], int states, int pairs, quantity e, quantity *u,
                            int64_t stride)
{
    quantity sum = e - e;
    for (int v = 0; v < 2 * pairs; v += 2) {
        const quantity a = u[v * stride], b = u[(v + 1) * stride];
        sum += f[v][0] * a + f[v + 1][0] * b;
        u[v * stride] = a + (f[v][1] * a + f[v][2] * b + f[v][3] * e);
        u[(v + 1) * stride] = b + (f[v + 1][1] * b + f[v + 1][2] * a + f[v + 1][3] * e);
    }
    for (int v = 2 * pairs; v < states; ++v) {
        const quantity a = u[v * stride];
        sum += f[v][0] * a;
        u[v * stride] = a + (f[v][1] * a + f[v][3] * e);
    }
    return sum;
}

/* out = t in, t symmetric: xx, yy, zz, xy, xz, yz. */
LEAF void NAME(turn)(const quantity *t, const quantity *in, quantity *out)
{
    out[0] = t[0] * in[0] + t[3] * in[1] + t[4] * in[2];
    out[1] = t[3] * in[0] + t[1] * in[1] + t[5] * in[2];
    out[2] = t[4] * in[0] + t[5] * in[1] + t[2] * in[2];
}
