/* The bodies of ps_product_functions; `real`, `REDUCE`, `EXPAND` are defined by the includer. Eight
 * sums are kept apart, for vectors. */
static void REDUCE(const ps_product_vectors *basis, int64_t begin, int64_t n, const double *x,
                   int64_t stride, double *out)
{
    enum { WIDTH = 8 };
    for (int64_t l = 0; l < basis->count; ++l) {
        const real *re = (const real *)basis->values + l * basis->vector + begin;
        const real *im = re + (basis->parts > 1 ? basis->part : 0);
        double sum[2][WIDTH] = {{0}};
        int64_t e = 0;
        for (; e + WIDTH <= n; e += WIDTH)
            for (int w = 0; w < WIDTH; ++w) {
                sum[0][w] += (double)re[e + w] * x[e + w];
                if (basis->parts == 1) continue;
                sum[0][w] -= (double)im[e + w] * x[stride + e + w];
                sum[1][w] += (double)im[e + w] * x[e + w] + (double)re[e + w] * x[stride + e + w];
            }
        for (int w = 0; e < n; ++e, ++w) {
            sum[0][w] += (double)re[e] * x[e];
            if (basis->parts == 1) continue;
            sum[0][w] -= (double)im[e] * x[stride + e];
            sum[1][w] += (double)im[e] * x[e] + (double)re[e] * x[stride + e];
        }
        for (int part = 0; part < basis->parts; ++part) {
            double total = 0;
            for (int w = 0; w < WIDTH; ++w) total += sum[part][w];
            out[part * basis->count + l] = total;
        }
    }
}

static void EXPAND(const ps_product_vectors *basis, int64_t begin, int64_t n, const double *t,
                   double *y, int64_t stride)
{
    for (int64_t l = 0; l < basis->count; ++l) {
        const real *re = (const real *)basis->values + l * basis->vector + begin;
        double a = t[l];
        if (basis->parts == 1) {
            for (int64_t e = 0; e < n; ++e) y[e] += a * (double)re[e];
            continue;
        }
        const real *im = re + basis->part;
        double b = t[basis->count + l];
        for (int64_t e = 0; e < n; ++e) {
            y[e] += a * (double)re[e] - b * (double)im[e];
            y[stride + e] += a * (double)im[e] + b * (double)re[e];
        }
    }
}
