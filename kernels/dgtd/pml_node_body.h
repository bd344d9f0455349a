/*
 * What the layer does to a node (pml.h), for the host and for devices: `real`, NAME and LEAF, what
 * each function begins with, are the includer's.
 */

/* One stage: its output, and its state for the next time. */
LEAF real NAME(stage)(const real *f, real in, real *state)
{
    real out = f[0] * in + *state;
    *state = f[1] * in - f[2] * out;
    return out;
}

/* Which directions are stretched, a bit each: s = 1 has the filters y = x. */
LEAF int NAME(stretched)(real (*f)[6])
{
    int bits = 0;
    for (int k = 0; k < 3; ++k)
        if (f[k][0] != 1 || f[k][1] != f[k][2]) bits |= 1 << k;
    return bits;
}

/* out = sum_k m_k s_k/(s_{k+1} s_{k+2}) (m_k . in); z: states of the node, `stride` apart. Stages
 * that do nothing are left out with their states: those of directions that are not stretched, and
 * where there are frames those that cancel, as s_1 = s_2. */
LEAF void NAME(filter_node)(real (*f)[6], real (*m)[3], int bits, int64_t stride, real *z,
                            const real in[3], real out[3])
{
    if (m) out[0] = out[1] = out[2] = 0;
#ifdef __CUDACC__
#pragma unroll
#endif
    for (int k = 0; k < 3; ++k) {
        const int a = (k + 1) % 3, b = (k + 2) % 3, left = m && k > 0 ? bits & 1 : bits;
        real *state = z + 3 * k * stride;
        real d = m ? m[k][0] * in[0] + m[k][1] * in[1] + m[k][2] * in[2] : in[k];
        if (left & 1 << k) d = NAME(stage)(f[k] + 3, d, state);
        if (left & 1 << a) d = NAME(stage)(f[a], d, state + stride);
        if (left & 1 << b) d = NAME(stage)(f[b], d, state + 2 * stride);
        if (m)
            for (int c = 0; c < 3; ++c) out[c] += m[k][c] * d;
        else
            out[k] = d;
    }
}
