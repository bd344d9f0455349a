/*
 * Part of pair_integrals_cpu.c and near_cuda.cu, after closed_body.h: moments of two triangles
 * however they are shaped and lie to each other (specs/hbem.md, "Hard pairs"). The static part of
 * the kernel is integrated over one triangle, the inner one, in closed form, and over the other by
 * cells: products of Gauss rules, cut where they do not suffice. `WIDTH` lanes; `SUM_OF` adds them
 * up. On a device a warp has a pair, its threads are the lanes: each of them takes every
 * `HARD_STEP`-th of some tasks from `HARD_FIRST` on, `TOTAL_OF` adds up what they have, and
 * `HARD_MEET` lets all see what one has written to the room. A core is alone. `CALLED` declares a
 * function that is not inlined: there is one copy of it for all kernels.
 */
enum { HARD_PLAIN, HARD_EDGE, HARD_CORNER, HARD_STACK = 64, HARD_CELLS = 1000, HARD_EASE = 64 };

/* A square (u, z) on a part of the outer triangle. Edge: u = 0 is the edge from a to b, crowded
 * there and at its ends. Corner: u = 0 is corner c, crowded there. c < 0: the centroid. */
typedef struct hard_map {
    int kind, a, b, c;
} hard_map;

typedef struct hard_cell {
    double u, z, wide, high;
    int map;
} hard_cell;

typedef struct hard_pair {
    const ps_hbem_triangle *outer;
    closed_triangle inner;
    const ps_hbem_cell_rule *rule;
    int kind;
    double half, tolerance;
    hard_map map[3];
} hard_pair;

/* Where a pair is worked on. values[q]: potentials of the inner hats times the jacobian, at the
 * rule's points of a cell. */
typedef struct hard_room {
    hard_pair pair;
    hard_cell stack[HARD_STACK];
    double values[3][PS_HBEM_CELL_POINTS] ALIGNED;
} hard_room;

INLINE void hard_push(hard_room *room, int place, const hard_cell *cell)
{
    if (HARD_FIRST == 0) room->stack[place] = *cell;
}

/* The room's values; total[outer hat][inner hat]: their integrals, a share in each lane. */
INLINE void hard_values(hard_room *room, const hard_cell *cell, lanes total[9])
{
    const hard_pair *p = &room->pair;
    const hard_map *m = &p->map[cell->map];
    const ps_hbem_cell_rule *rule = p->rule;
    for (int e = 0; e < 9; ++e) total[e] = 0 * LOAD(rule->u);
    for (int g = 0; g < rule->padded; g += WIDTH) {
        const lanes u = cell->u + cell->wide * LOAD(rule->u + g);
        const lanes z = cell->z + cell->high * LOAD(rule->z + g);
        lanes t = u, s = z, hat[3], x[3], of[3];
        lanes jacobian = 0 * u + p->outer->jacobian * cell->wide * cell->high;
        if (m->kind != HARD_PLAIN) t = u * u, jacobian *= 2 * u;
        if (m->kind == HARD_EDGE) s = z * z * (3 - 2 * z), jacobian *= 6 * z * (1 - z);
        const lanes base = m->kind == HARD_CORNER ? t : 1 - t, rest = 1 - base;
        jacobian *= base;
        if (m->c < 0) jacobian *= 1. / 3;
        for (int l = 0; l < 3; ++l) {
            hat[l] = m->c < 0 ? rest * (1. / 3) : (l == m->c) * rest;
            hat[l] += (l == m->a) * (base * (1 - s)) + (l == m->b) * (base * s);
        }
        for (int c = 0; c < 3; ++c)
            x[c] = hat[0] * p->outer->corner[0][c] + hat[1] * p->outer->corner[1][c] +
                   hat[2] * p->outer->corner[2][c];
        closed_potentials(&p->inner, x, p->kind, p->outer->normal, p->half, of);
        const lanes weight = LOAD(rule->weight + g);
        for (int q = 0; q < 3; ++q) {
            of[q] *= jacobian;
            STORE(room->values[q] + g, of[q]);
            for (int l = 0; l < 3; ++l) total[3 * l + q] += weight * hat[l] * of[q];
        }
    }
}

/* What the last two coefficients of Legendre series along u and along z tell of the error, to the
 * power of 1.5: Gauss rules integrate twice their degree, so that it would be the square where
 * series converge as they do for analytic functions; here it is less, with narrow crests on some
 * cells. */
INLINE void hard_errors(const hard_room *room, double error[2])
{
    const ps_hbem_cell_rule *rule = room->pair.rule;
    const int n = rule->n;
    double size = 0, sums[2] = {0, 0};
    for (int e = HARD_FIRST; e < 3 * n; e += HARD_STEP) {
        const double *values = room->values[e / n];
        const int j = e % n;
        double last[2][2] = {{0, 0}, {0, 0}};
        for (int i = 0; i < n; ++i) {
            const double along = values[n * j + i], across = values[n * i + j];
            size += fabs(along) * rule->weight[n * j + i];
            for (int k = 0; k < 2; ++k) {
                last[0][k] += rule->tail[k][i] * along;
                last[1][k] += rule->tail[k][i] * across;
            }
        }
        for (int a = 0; a < 2; ++a)
            sums[a] += rule->line[j] * fmax(fabs(last[a][0]), fabs(last[a][1]) / 2);
    }
    size = TOTAL_OF(size) + 1e-300;
    for (int a = 0; a < 2; ++a) {
        error[a] = TOTAL_OF(sums[a]);
        error[a] *= fmin(1., sqrt(error[a] / size));
    }
}

/* moments[outer hat][inner hat], 4 pi times. What is asked of a cell is eased as more of them are
 * cut, so that those that are cut last are not left as they are. */
INLINE void hard_cells(hard_room *room, int maps, double moments[9])
{
    double tolerance = room->pair.tolerance, error[2];
    int waiting = maps, cells = 0;
    lanes sums[9], own[9];
    for (int m = 0; m < maps; ++m) {
        const hard_cell all = {0, 0, 1, 1, m};
        hard_push(room, m, &all);
    }
    for (int e = 0; e < 9; ++e) sums[e] = 0 * LOAD(room->pair.rule->u);
    while (waiting > 0) {
        HARD_MEET;
        hard_cell at = room->stack[--waiting];
        hard_values(room, &at, own);
        HARD_MEET;
        hard_errors(room, error);
        if (error[0] + error[1] > tolerance && ++cells < HARD_CELLS && waiting + 2 < HARD_STACK) {
            if (cells % HARD_EASE == 0) tolerance *= 2;
            const int along = error[0] >= error[1];
            if (along)
                at.wide /= 2;
            else
                at.high /= 2;
            hard_push(room, waiting++, &at);
            if (along)
                at.u += at.wide;
            else
                at.z += at.high;
            hard_push(room, waiting++, &at);
            continue;
        }
        for (int e = 0; e < 9; ++e) sums[e] += own[e];
    }
    for (int e = 0; e < 9; ++e) moments[e] = SUM_OF(sums[e]);
}

/* Corners of the outer triangle that the inner one has, first. Returns their number. */
INLINE int hard_shared(const ps_hbem_triangle *outer, const ps_hbem_triangle *inner, int order[3])
{
    int shared = 0, apart = 0, others[3] = {0, 0, 0};
    for (int l = 0; l < 3; ++l) {
        int is = 0;
        for (int m = 0; m < 3; ++m) is |= outer->vertex[l] == inner->vertex[m];
        if (is)
            order[shared++] = l;
        else
            others[apart++] = l;
    }
    for (int l = 0; l < apart; ++l) order[shared + l] = others[l];
    return shared;
}

/* The maps of an outer triangle; returns their number. */
INLINE int hard_open(const ps_hbem_triangle *outer, const ps_hbem_triangle *inner, hard_pair *p)
{
    int order[3];
    const int shared = hard_shared(outer, inner, order);
    const hard_map edge = {HARD_EDGE, order[0], order[1], order[2]};
    const hard_map corner = {HARD_CORNER, order[1], order[2], order[0]};
    const hard_map plain = {HARD_PLAIN, 0, 1, 2};
    const int maps = shared < 3 ? 1 : 3;
    if (HARD_FIRST != 0) return maps;
    p->outer = outer;
    closed_open(inner, &p->inner);
    p->map[0] = shared == 2 ? edge : shared == 1 ? corner : plain;
    for (int l = 0; l < 3 && shared == 3; ++l) {
        const hard_map third = {HARD_EDGE, l, (l + 1) % 3, -1};
        p->map[l] = third;
    }
    return maps;
}

/* All corners of a lie in the plane of b, where its double layer is 0. */
INLINE int hard_coplanar(const ps_hbem_triangle *a, const ps_hbem_triangle *b)
{
    int all = 1;
    for (int l = 0; l < 3; ++l) {
        double height = 0;
        for (int c = 0; c < 3; ++c) height += (a->corner[l][c] - b->corner[0][c]) * b->normal[c];
        all &= fabs(height) <= 1e-10 * b->diameter;
    }
    return all;
}

/* The largest error of an integral, 4 pi times: eps/5 of half the area of the lesser triangle for a
 * double layer, 2/5 eps of about the mean of both entries of a triangle with itself. */
INLINE double hard_tolerance(const ps_hbem_triangle *x, const ps_hbem_triangle *y, int layer,
                             double eps)
{
    if (layer) return .2 * eps * M_PI * fmin(x->jacobian, y->jacobian);
    return .8 * eps * x->jacobian * y->jacobian / sqrt(x->diameter * y->diameter);
}

/* moments[hat of x][hat of y] of the static part of the kernel, cos(kr)/r to its second term,
 * 1/(4 pi) included. */
CALLED void hard_static(const ps_hbem_hard_job *job, int kernel, hard_room *room, double moments[9])
{
    const int layer = kernel != PS_KERNEL_SLP;
    /* The triangle whose normal counts; a single layer has none. */
    const ps_hbem_triangle *source = kernel == PS_KERNEL_ADLP ? job->x : job->y;
    const ps_hbem_triangle *other = kernel == PS_KERNEL_ADLP ? job->y : job->x;
    hard_pair *p = &room->pair;
    double own[9];
    const int turned = other->jacobian > (layer ? 2 : 1) * source->jacobian;
    const ps_hbem_triangle *outer = turned ? source : other;
    HARD_MEET;
    const int maps = hard_open(outer, turned ? other : source, p);
    if (HARD_FIRST == 0) {
        p->kind = !layer ? CLOSED_VALUE : turned ? CLOSED_OUTER : CLOSED_INNER;
        p->rule = job->rule;
        p->half = job->wavenumber * job->wavenumber / 2;
        p->tolerance = hard_tolerance(job->x, job->y, layer, job->rule->tolerance);
    }
    HARD_MEET;
    hard_cells(room, maps, own);
    for (int e = 0; e < 9; ++e) {
        const int from = outer == job->x ? e : 3 * (e % 3) + e / 3;
        moments[e] = own[from] / (4 * M_PI);
    }
}

/* What is left of a wave's kernel at x and `WIDTH` points, 4 pi times: factor is 1, or the height
 * over the plane of the double layer. */
INLINE void hard_smooth(int kernel, double k, const lanes d[3], const double normal[3],
                        lanes value[2])
{
    const lanes r = ROOT_OF(between_closed(d, d)), phase = k * r, z = .5 * (phase * phase);
    lanes sine, cosine;
    SINE_COSINE(phase, sine, cosine);
    if (kernel == PS_KERNEL_SLP) {
        value[0] = (cosine - 1 + z) / r;
        value[1] = sine / r;
    } else {
        const lanes factor = along_closed(d, normal) / (r * r * r);
        value[0] = factor * (cosine + phase * sine - 1 - z);
        value[1] = factor * (sine - phase * cosine);
    }
}

INLINE void hard_left(const ps_hbem_hard_job *job, int kernel, const lanes d[3],
                      const double normal[3], lanes value[2]);

/* The same, integrated by a rule on each triangle; adds to both parts. */
CALLED void hard_rest(const ps_hbem_hard_job *job, int kernel, double *moments)
{
    const ps_hbem_smooth_rule *first = &job->rule->smooth[0], *second = &job->rule->smooth[1];
    const double scale = job->x->jacobian * job->y->jacobian / (4 * M_PI);
    double normal[3], x[3];
    lanes sums[18];
    for (int e = 0; e < 18; ++e) sums[e] = 0 * LOAD(second->weight);
    for (int c = 0; c < 3; ++c)
        normal[c] = kernel == PS_KERNEL_ADLP ? -job->x->normal[c] : job->y->normal[c];
    for (int a = 0; a < first->count; ++a) {
        lanes total[2][3], d[3], value[2];
        for (int e = 0; e < 6; ++e) total[e / 3][e % 3] = 0 * LOAD(second->weight);
        for (int c = 0; c < 3; ++c)
            x[c] = first->hat[0][a] * job->x->corner[0][c] +
                   first->hat[1][a] * job->x->corner[1][c] +
                   first->hat[2][a] * job->x->corner[2][c];
        for (int g = 0; g < second->padded; g += WIDTH) {
            const lanes hat[3] = {LOAD(second->hat[0] + g), LOAD(second->hat[1] + g),
                                  LOAD(second->hat[2] + g)};
            for (int c = 0; c < 3; ++c)
                d[c] = x[c] - (hat[0] * job->y->corner[0][c] + hat[1] * job->y->corner[1][c] +
                               hat[2] * job->y->corner[2][c]);
            hard_left(job, kernel, d, normal, value);
            for (int part = 0; part < 2; ++part)
                for (int m = 0; m < 3; ++m)
                    total[part][m] += LOAD(second->weight + g) * value[part] * hat[m];
        }
        for (int e = 0; e < 18; ++e)
            sums[e] += first->weight[a] * first->hat[e / 3 % 3][a] * total[e / 9][e % 3];
    }
    for (int e = 0; e < 18; ++e) moments[e] += scale * SUM_OF(sums[e]);
}

/* moments[part][hat of x][hat of y], J and 1/(4 pi) included. */
INLINE void hard_moments(const ps_hbem_hard_job *job, int kernel, hard_room *room, double *moments)
{
    const int layer = kernel != PS_KERNEL_SLP, wave = job->wavenumber != 0;
    const ps_hbem_triangle *source = kernel == PS_KERNEL_ADLP ? job->x : job->y;
    const ps_hbem_triangle *other = kernel == PS_KERNEL_ADLP ? job->y : job->x;
    for (int e = 0; e < 9 * (1 + wave); ++e) moments[e] = 0;
    if (layer && hard_coplanar(other, source)) return;
    hard_static(job, kernel, room, moments);
    if (wave) hard_rest(job, kernel, moments);
}
