/* The body of ps_radiation_functions.rows; `real` and `NAME` are defined by the includer. */
static void NAME(const ps_near *near, const void *recent, int64_t g, int64_t begin, int64_t end,
                 double *sums)
{
    const real *values = near->values;
    for (int64_t m = 1; m <= g; ++m) {
        const int64_t *row_start = near->row_start + (m - 1) * (near->unknowns + 1);
        const real *density = (const real *)recent + (g - m) * near->unknowns;
        for (int64_t i = begin; i < end; ++i) {
            double sum = sums[i];
            for (int64_t e = row_start[i]; e < row_start[i + 1]; ++e)
                sum += (double)values[e] * (double)density[near->columns[e]];
            sums[i] = sum;
        }
    }
}
