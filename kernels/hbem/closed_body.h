/*
 * Part of pair_integrals_cpu.c and near_cuda.cu: the potentials of closed.h at several points at
 * once, each in a lane, and their derivatives. `lanes` is a vector of doubles (one on a device);
 * `CHOOSE(where, a, b)`, `ROOT_OF`, `LOG_OF`, `ATAN2_OF` and `SIZE_OF` work lane by lane; `INLINE`
 * declares a function.
 */

/* A triangle as points see it. */
typedef struct closed_triangle {
    double corner[3][3], normal[3], jacobian;
    double flat, thin;                        /* see closed.c; thin: of a square                */
    double along[3][3], out[3][3], length[3]; /* of edge l, from corner l: outwards in the plane */
    double slope[3][3];                       /* gradient of hat l                              */
} closed_triangle;

/* What is integrated over the triangle, times its hats, q(r) = 1/r - half r: q itself, its
 * derivative along the triangle's normal where the integral is taken, or, at the point, along a
 * normal given. half = k^2/2: the first two terms of cos(kr)/r. */
enum { CLOSED_VALUE, CLOSED_INNER, CLOSED_OUTER };

INLINE double dot_closed(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

INLINE void cross_closed(const double a[3], const double b[3], double out[3])
{
    for (int c = 0; c < 3; ++c)
        out[c] = a[(c + 1) % 3] * b[(c + 2) % 3] - a[(c + 2) % 3] * b[(c + 1) % 3];
}

INLINE void closed_open(const ps_hbem_triangle *t, closed_triangle *s)
{
    double edge[3];
    for (int e = 0; e < 9; ++e) s->corner[e / 3][e % 3] = t->corner[e / 3][e % 3];
    for (int c = 0; c < 3; ++c) s->normal[c] = t->normal[c];
    s->jacobian = t->jacobian;
    s->flat = 1e-10 * t->diameter;
    s->thin = 1e-28 * t->diameter * t->diameter;
    for (int i = 0; i < 3; ++i) {
        const double *to = t->corner[(i + 1) % 3], *opposite = t->corner[(i + 2) % 3];
        for (int c = 0; c < 3; ++c) edge[c] = to[c] - t->corner[i][c];
        s->length[i] = sqrt(dot_closed(edge, edge));
        for (int c = 0; c < 3; ++c) s->along[i][c] = edge[c] / s->length[i];
        cross_closed(s->along[i], s->normal, s->out[i]);
        for (int c = 0; c < 3; ++c) edge[c] = opposite[c] - to[c];
        cross_closed(s->normal, edge, s->slope[i]);
        for (int c = 0; c < 3; ++c) s->slope[i][c] /= s->jacobian;
    }
}

/* The points from the corners, and what their edges give: integrals of 1/R and R along them. */
typedef struct closed_view {
    lanes from[3][3], distance[3], height;
    lanes begin[3], end[3], log[3], first[3]; /* begin, end: along an edge, from the foot */
} closed_view;

INLINE lanes along_closed(const lanes a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

INLINE lanes between_closed(const lanes a[3], const lanes b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

INLINE void closed_look(const closed_triangle *s, const lanes x[3], closed_view *v)
{
    for (int l = 0; l < 3; ++l) {
        for (int c = 0; c < 3; ++c) v->from[l][c] = x[c] - s->corner[l][c];
        v->distance[l] = ROOT_OF(between_closed(v->from[l], v->from[l]));
    }
    /* From the nearest corner, where the difference is exact. */
    lanes least = v->distance[0], height = along_closed(v->from[0], s->normal);
    for (int l = 1; l < 3; ++l) {
        lanes other = along_closed(v->from[l], s->normal);
        height = CHOOSE(v->distance[l] < least, other, height);
        least = CHOOSE(v->distance[l] < least, v->distance[l], least);
    }
    v->height = CHOOSE(SIZE_OF(height) <= s->flat, 0 * height, height);
}

INLINE void closed_edge(const closed_triangle *s, closed_view *v, int i)
{
    const lanes rm = v->distance[i], rp = v->distance[(i + 1) % 3];
    const lanes lm = -along_closed(v->from[i], s->along[i]), lp = lm + s->length[i];
    const lanes p = along_closed(v->from[i], s->out[i]);
    const lanes square = p * p + v->height * v->height;
    /* Of the three forms the one that does not cancel. */
    lanes above = CHOOSE(lp <= 0, rm - lm, (rp + lp) * (rm - lm));
    lanes below = CHOOSE(lp <= 0, rp - lp, CHOOSE(square <= s->thin, above, square));
    above = CHOOSE(lm >= 0, rp + lp, above);
    below = CHOOSE(lm >= 0, rm + lm, below);
    v->begin[i] = lm;
    v->end[i] = lp;
    v->log[i] = LOG_OF(above / below);
    v->first[i] = (lp * rp - lm * rm + square * v->log[i]) * .5;
}

INLINE lanes closed_angle(const closed_triangle *s, const closed_view *v)
{
    const lanes *r = v->distance;
    lanes below = r[0] * r[1] * r[2] + between_closed(v->from[0], v->from[1]) * r[2] +
                  between_closed(v->from[1], v->from[2]) * r[0] +
                  between_closed(v->from[2], v->from[0]) * r[1];
    lanes angle = 2 * ATAN2_OF(s->jacobian * v->height, below);
    return CHOOSE(v->height == 0, 0 * angle, angle);
}

/* Integrals over the triangle of 1/r and r, and of the edges' integrals times their normals. */
typedef struct closed_sums {
    lanes angle, inverse, length, log[3], first[3], third[3];
} closed_sums;

INLINE void closed_add(const closed_triangle *s, const closed_view *v, int powers, closed_sums *sum)
{
    const lanes h = v->height, zero = 0 * h;
    lanes inverse = zero, length = zero;
    for (int c = 0; c < 3; ++c) sum->log[c] = sum->first[c] = sum->third[c] = zero;
    for (int i = 0; i < 3; ++i) {
        const lanes p = -along_closed(v->from[i], s->out[i]), square = p * p + h * h;
        const lanes rm = v->distance[i], rp = v->distance[(i + 1) % 3];
        inverse += p * v->log[i];
        length += p * v->first[i];
        for (int c = 0; c < 3; ++c) {
            sum->log[c] += s->out[i][c] * v->log[i];
            sum->first[c] += s->out[i][c] * v->first[i];
        }
        if (!powers) continue;
        const lanes third =
            (v->end[i] * rp * rp * rp - v->begin[i] * rm * rm * rm + 3 * square * v->first[i]) *
            .25;
        for (int c = 0; c < 3; ++c) sum->third[c] += s->out[i][c] * third;
    }
    sum->inverse = inverse - h * sum->angle;
    sum->length = (h * h * sum->inverse + length) * (1. / 3);
}

/* int along edges of hat l times q, times (normal).(the edge's outward one), summed up. */
INLINE lanes closed_rim(const closed_triangle *s, const closed_view *v, const double normal[3],
                        double half, int l)
{
    lanes sum = 0 * v->height;
    for (int side = 0; side < 2; ++side) {
        const int i = side ? (l + 2) % 3 : l; /* hat l falls along edge l, grows along the other */
        const lanes rm = v->distance[i], rp = v->distance[(i + 1) % 3];
        const lanes even = v->log[i] - half * v->first[i];
        const lanes odd = rp - rm - half / 3 * (rp * rp * rp - rm * rm * rm);
        const lanes rise = side ? odd - v->begin[i] * even : v->end[i] * even - odd;
        sum += dot_closed(normal, s->out[i]) / s->length[i] * rise;
    }
    return sum;
}

/* out[l] for the hats l. */
INLINE void closed_potentials(const closed_triangle *s, const lanes x[3], int kind,
                              const double normal[3], double half, lanes out[3])
{
    closed_view v;
    closed_sums sum;
    closed_look(s, x, &v);
    for (int i = 0; i < 3; ++i) closed_edge(s, &v, i);
    sum.angle = closed_angle(s, &v);
    closed_add(s, &v, half != 0, &sum);
    const double across = kind == CLOSED_OUTER ? dot_closed(normal, s->normal) : 0;
    for (int l = 0; l < 3; ++l) {
        const lanes hat = along_closed(v.from[(l + 1) % 3], s->slope[l]);
        const lanes inverse = hat * sum.inverse + along_closed(sum.first, s->slope[l]);
        if (kind == CLOSED_VALUE) {
            out[l] = inverse;
            if (half != 0)
                out[l] -=
                    half * (hat * sum.length + along_closed(sum.third, s->slope[l]) * (1. / 3));
            continue;
        }
        out[l] = hat * sum.angle - v.height * along_closed(sum.log, s->slope[l]) +
                 half * v.height * inverse;
        if (kind == CLOSED_OUTER)
            out[l] = dot_closed(normal, s->slope[l]) * (sum.inverse - half * sum.length) -
                     across * out[l] - closed_rim(s, &v, normal, half, l);
    }
}
