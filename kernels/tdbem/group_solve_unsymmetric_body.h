/*
 * group_solve_unsymmetric_body: the iteration of group_solve_cuda.cu for an M^0 that is not
 * symmetric: BiCGStab (van der Vorst, SIAM J. Sci. Stat. Comput. 13, 1992), scaled by D from the
 * right, from r with D^-1 r shown. Two products and four meetings of all blocks an iteration, of
 * which two bring what is multiplied next. A part of that file.
 */

/* What the iteration has in the places of vectors. */
enum { SHADOW = Q, DIRECTION = P, V = W, HALF = S, T = Z };

/* s = r - alpha v, whose product is next. Its norm is asked for the meeting's sake. */
__device__ void half_step(const task &t, block &k, double alpha)
{
    double value[1] = {0};
    for (int row = threadIdx.x; row < k.rows; row += THREADS) {
        const double s = at(t, k, R, row) - alpha * at(t, k, V, row);
        at(t, k, HALF, row) = s;
        show(t, k, FACTOR, row, at(t, k, SCALE, row) * s);
        value[0] += s * s;
    }
    meet<1, 0>(t, k, value);
}

/* t.s, t.t, r0.s, r0.t of t = M^0 D^-1 s. */
__device__ void multiply_half(const task &t, block &k, double *value)
{
    value[0] = value[1] = value[2] = value[3] = 0;
    each_product(t, k, [&](int row, double product) {
        const double s = at(t, k, HALF, row), shadow = at(t, k, SHADOW, row);
        at(t, k, T, row) = product;
        value[0] += product * s;
        value[1] += product * product;
        value[2] += shadow * s;
        value[3] += shadow * product;
    });
    meet<4, 0, false, false>(t, k, value);
}

/* The other half of a step; shows the next direction and the iterate; returns |r|^2. */
__device__ double full_step(const task &t, block &k, double alpha, double omega, double beta)
{
    double value[1] = {0};
    for (int row = threadIdx.x; row < k.rows; row += THREADS) {
        const double scale = at(t, k, SCALE, row), s = at(t, k, HALF, row);
        const double p = at(t, k, DIRECTION, row), r = s - omega * at(t, k, T, row);
        const double x = at(t, k, X, row) + scale * (alpha * p + omega * s);
        const double next = r + beta * (p - omega * at(t, k, V, row));
        at(t, k, X, row) = x;
        at(t, k, R, row) = r;
        at(t, k, DIRECTION, row) = next;
        show(t, k, FACTOR, row, scale * next);
        show(t, k, ANSWER, row, x);
        value[0] += r * r;
    }
    meet<1, 0>(t, k, value);
    return value[0];
}

/* As iterate(): to the tolerance, or to the limit. */
__device__ void iterate_unsymmetric(const task &t, block &k, double size, int *iterations)
{
    const double enough = t.s.tolerance * t.s.tolerance * size;
    double value[4] = {0}; /* r0.v, |r|^2 at first */
    each_product(t, k, [&](int row, double product) {
        const double r = at(t, k, R, row);
        at(t, k, V, row) = product;
        at(t, k, SHADOW, row) = at(t, k, DIRECTION, row) = r;
        show(t, k, ANSWER, row, at(t, k, X, row));
        value[0] += r * product;
        value[1] += r * r;
    });
    meet<2, 0, false, false>(t, k, value);
    double rest = value[1], rho = value[1];
    while (!(rest <= enough) && isfinite(rest) && *iterations < t.s.limit) {
        const double alpha = rho / value[0];
        half_step(t, k, alpha);
        multiply_half(t, k, value);
        const double omega = value[1] > 0 ? value[0] / value[1] : 0;
        const double next = value[2] - omega * value[3];
        rest = full_step(t, k, alpha, omega, next / rho * (alpha / omega));
        ++*iterations;
        if (rest <= enough || !isfinite(rest) || *iterations >= t.s.limit) return;
        rho = next;
        value[0] = 0;
        each_product(t, k, [&](int row, double product) {
            at(t, k, V, row) = product;
            value[0] += at(t, k, SHADOW, row) * product;
        });
        meet<1, 0, false, false>(t, k, value);
    }
}
