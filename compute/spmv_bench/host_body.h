/*
 * host_body: the vector operations of the cores. The including file defines `real` and NAME(what).
 */
static void NAME(scale)(const bench *s)
{
    real *x = s->own[OWN_X];
#pragma omp parallel for simd schedule(static)
    for (int64_t i = 0; i < s->matrix.rows; ++i) x[i] *= (real)1.0000001;
}

static void NAME(axpy)(const bench *s)
{
    const real *x = s->own[OWN_X];
    real *y = s->own[OWN_Y];
#pragma omp parallel for simd schedule(static)
    for (int64_t i = 0; i < s->matrix.rows; ++i) y[i] += (real)1e-7 * x[i];
}

static void NAME(multiply_elements)(const bench *s)
{
    const real *x = s->own[OWN_INVERSE];
    real *y = s->own[OWN_Y];
#pragma omp parallel for simd schedule(static)
    for (int64_t i = 0; i < s->matrix.rows; ++i) y[i] *= x[i];
}

static void NAME(dot)(const bench *s)
{
    real *x = s->own[OWN_X];
    const real *y = s->own[OWN_Y];
    double sum = 0;
#pragma omp parallel for simd schedule(static) reduction(+ : sum)
    for (int64_t i = 0; i < s->matrix.rows; ++i) sum += (double)x[i] * (double)y[i];
    x[0] = sum != sum ? 0 : x[0]; /* so that it is needed */
}

static void NAME(fill)(const bench *s, const double *from, real *to)
{
    for (int64_t i = 0; i < s->matrix.rows; ++i) to[i] = from ? (real)from[i] : 1;
}
