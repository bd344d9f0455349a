/* The bodies of ps_product_functions; `real` and NAME(function) are defined by the includer. The
 * number of sides, of vectors taken at once and of parts are constants wherever the inner functions
 * are called. Every number of y and every sum gets its terms in one order, a fused multiply-add
 * each: bits do not depend on how many sides there are. */

enum { NAME(width) = 8 };

/* One vector times `sides` sides: eight sums each are kept apart, for the lanes. */
static inline __attribute__((always_inline)) void NAME(reduce_sides)(int sides, int parts,
                                                                     const real *re, const real *im,
                                                                     int64_t n, ps_product_lanes x,
                                                                     ps_product_lanes out)
{
    enum { W = NAME(width) };
    double sum[2][PS_PRODUCT_SIDES][W] = {{{0}}};
    int64_t e = 0;
    for (; e + W <= n; e += W)
        for (int s = 0; s < sides; ++s)
#pragma omp simd
            for (int w = 0; w < W; ++w) {
                const double *at = x.data + s * x.side + e;
                sum[0][s][w] += (double)re[e + w] * at[w];
                if (parts == 1) continue;
                sum[0][s][w] -= (double)im[e + w] * at[x.part + w];
                sum[1][s][w] += (double)im[e + w] * at[w];
                sum[1][s][w] += (double)re[e + w] * at[x.part + w];
            }
    for (int s = 0; s < sides; ++s) {
        const double *at = x.data + s * x.side;
        for (int64_t i = e; i < n; ++i) {
            sum[0][s][i - e] += (double)re[i] * at[i];
            if (parts == 1) continue;
            sum[0][s][i - e] -= (double)im[i] * at[x.part + i];
            sum[1][s][i - e] += (double)im[i] * at[i];
            sum[1][s][i - e] += (double)re[i] * at[x.part + i];
        }
        for (int part = 0; part < parts; ++part) {
            double total = 0;
            for (int w = 0; w < W; ++w) total += sum[part][s][w];
            out.data[s * out.side + part * out.part] = total;
        }
    }
}

static void NAME(reduce)(const ps_product_vectors *basis, int64_t begin, int64_t n, int sides,
                         ps_product_lanes x, ps_product_lanes out)
{
    for (int64_t l = 0; l < basis->count; ++l, ++out.data) {
        const real *re = (const real *)basis->values + l * basis->vector + begin;
        const real *im = re + basis->part;
        ps_product_lanes from = x, to = out;
        int s = 0;
        for (; s + PS_PRODUCT_SIDES <= sides; s += PS_PRODUCT_SIDES) {
            from.data = x.data + s * x.side;
            to.data = out.data + s * out.side;
            if (basis->parts == 1)
                NAME(reduce_sides)(PS_PRODUCT_SIDES, 1, re, im, n, from, to);
            else
                NAME(reduce_sides)(PS_PRODUCT_SIDES, 2, re, im, n, from, to);
        }
        for (; s < sides; ++s) {
            from.data = x.data + s * x.side;
            to.data = out.data + s * out.side;
            if (basis->parts == 1)
                NAME(reduce_sides)(1, 1, re, im, n, from, to);
            else
                NAME(reduce_sides)(1, 2, re, im, n, from, to);
        }
    }
}

/* y += sum of `vectors` vectors, for one side: y is read and written once. */
static inline __attribute__((always_inline)) void
NAME(expand_vectors)(int vectors, int parts, const real *re, const ps_product_vectors *b, int64_t n,
                     const double *t, int64_t t_part, double *y, int64_t y_part)
{
#pragma omp simd
    for (int64_t e = 0; e < n; ++e) {
        double upper = y[e], lower = parts > 1 ? y[y_part + e] : 0;
        for (int v = 0; v < vectors; ++v) {
            const real *at = re + v * b->vector + e;
            upper += t[v] * (double)at[0];
            if (parts == 1) continue;
            upper -= t[t_part + v] * (double)at[b->part];
            lower += t[v] * (double)at[b->part];
            lower += t[t_part + v] * (double)at[0];
        }
        y[e] = upper;
        if (parts > 1) y[y_part + e] = lower;
    }
}

static void NAME(expand)(const ps_product_vectors *basis, int64_t begin, int64_t n, int sides,
                         ps_product_lanes t, ps_product_lanes y)
{
    enum { V = PS_PRODUCT_VECTORS };
    int64_t l = 0;
    for (; l + V <= basis->count; l += V) {
        const real *re = (const real *)basis->values + l * basis->vector + begin;
        for (int s = 0; s < sides; ++s) {
            const double *from = t.data + s * t.side + l;
            double *to = y.data + s * y.side;
            if (basis->parts == 1)
                NAME(expand_vectors)(V, 1, re, basis, n, from, t.part, to, y.part);
            else
                NAME(expand_vectors)(V, 2, re, basis, n, from, t.part, to, y.part);
        }
    }
    for (; l < basis->count; ++l) {
        const real *re = (const real *)basis->values + l * basis->vector + begin;
        for (int s = 0; s < sides; ++s) {
            const double *from = t.data + s * t.side + l;
            double *to = y.data + s * y.side;
            if (basis->parts == 1)
                NAME(expand_vectors)(1, 1, re, basis, n, from, t.part, to, y.part);
            else
                NAME(expand_vectors)(1, 2, re, basis, n, from, t.part, to, y.part);
        }
    }
}
