/* The sweep of one order and precision: ORDER, NP, NF and RB (rows at once) are the includer's,
 * `real`, `lanes` and the helpers those of half_step_real_body.h. */
#define group PASTE3(group, SUFFIX, ORDER)
#define open_group PASTE3(open_group, SUFFIX, ORDER)
#define prefetch_group PASTE3(prefetch_group, SUFFIX, ORDER)
#define jump_face PASTE3(jump_face, SUFFIX, ORDER)
#define jump_faces PASTE3(jump_faces, SUFFIX, ORDER)
#define add_curl PASTE3(add_curl, SUFFIX, ORDER)
#define turn_tangents PASTE3(turn_tangents, SUFFIX, ORDER)
#define add_lift PASTE3(add_lift, SUFFIX, ORDER)
#define sum_rows PASTE3(sum_rows, SUFFIX, ORDER)
#define VALUES PASTE2(o->value, SUFFIX)
#define LIFTS PASTE2(o->lift, SUFFIX)

/* What one part of a group of elements needs at hand. */
typedef struct group {
    lanes t[3][3];        /* tangents                                            */
    lanes keep, gain;     /* gain over det                                       */
    lanes h[3][NP];       /* covariant components of the source                  */
    lanes jump[4][2][NF]; /* by face, the two combinations that combine() makes  */
} group;

INLINE void open_group(group *w, const ps_dgtd_sweep_arguments *x, int64_t g, int part)
{
    const ps_dgtd_system *s = x->system;
    const lanes *t = (const lanes *)s->tangents + 9 * PARTS * g + part;
    const lanes *source = (const lanes *)x->source + 3 * NP * PARTS * g + part;
    const real *steps = (const real *)s->steps + 2 * s->materials * x->field;
    const uint16_t *material = s->material + g * LANES + part * WIDTH;
    for (int k = 0; k < 9; ++k) w->t[k / 3][k % 3] = t[k * PARTS];
    spread(&w->keep, steps, material);
    spread(&w->gain, steps + s->materials, material);
    const lanes *a = w->t[0], *b = w->t[1], *c = w->t[2];
    w->gain /= a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) +
               a[2] * (b[0] * c[1] - b[1] * c[0]);
    for (int i = 0; i < NP; ++i)
        for (int q = 0; q < 3; ++q)
            w->h[q][i] = w->t[q][0] * source[i * PARTS] + w->t[q][1] * source[(NP + i) * PARTS] +
                         w->t[q][2] * source[(2 * NP + i) * PARTS];
}

/* Jumps [h] = sign h_k - h_i at face f; sign is 1 but for ghosts. row: of links and kinds, by
 * group, face and part. pa, pb: which components the two are of, as combine() takes them. */
INLINE void jump_face(group *w, const ps_dgtd_sweep_arguments *x, int64_t row, int f, const int *pa,
                      const int *pb)
{
    static const real signs[2][PS_DGTD_FACES] = {{1, 1, -1, 0}, {1, -1, 1, 0}};
    const ps_dgtd_system *s = x->system;
    const int16_t(*face)[PS_DGTD_MAX_FACE_NODES] = s->reference->face;
    const slots link = ((const slots *)s->links)[row], other = link & 3, slot = link >> 2;
    const slots base = (slot / LANES) * (3 * NP * LANES) + (slot & (LANES - 1));
    const slots is1 = other == 1, is2 = other == 2, is3 = other == 3;
    lanes sign = (lanes){0} + 1, ta[3], tb[3];
    if (s->bordered[row / (4 * PARTS)])
        for (int l = 0; l < WIDTH; ++l)
            ((real *)&sign)[l] = signs[x->field][s->kinds[row * WIDTH + l]];
    for (int c = 0; c < 3; ++c) {
        combine(&ta[c], &w->t[0][c], 3, pa);
        combine(&tb[c], &w->t[0][c], 3, pb);
        ta[c] *= sign;
        tb[c] *= sign;
    }
    for (int m = 0; m < NF; ++m) {
        int32_t n0 = face[0][m] * LANES, n1 = face[1][m] * LANES, n2 = face[2][m] * LANES,
                n3 = face[3][m] * LANES;
        slots index = base + n0 + (is1 & (n1 - n0)) + (is2 & (n2 - n0)) + (is3 & (n3 - n0));
        lanes u[3], own[2];
        if (LANES == 16 && ORDER > 1) keep_slots(&index); /* P1, fp64: slower */
        for (int c = 0; c < 3; ++c) fetch(&u[c], (const real *)x->source + c * NP * LANES, &index);
        combine(&own[0], &w->h[0][face[f][m]], NP, pa);
        combine(&own[1], &w->h[0][face[f][m]], NP, pb);
        w->jump[f][0][m] = ta[0] * u[0] + ta[1] * u[1] + ta[2] * u[2] - own[0];
        w->jump[f][1][m] = tb[0] * u[0] + tb[1] * u[1] + tb[2] * u[2] - own[1];
    }
}

INLINE void jump_faces(group *w, const ps_dgtd_sweep_arguments *x, int64_t g, int part)
{
    const int64_t row = 4 * PARTS * g + part;
    jump_face(w, x, row, 0, (const int[]){1, -1}, (const int[]){-1, 0});
    jump_face(w, x, row + 1 * PARTS, 1, (const int[]){-1, 2}, (const int[]){0, -1});
    jump_face(w, x, row + 2 * PARTS, 2, (const int[]){2, 1}, (const int[]){0, 2});
    jump_face(w, x, row + 3 * PARTS, 3, (const int[]){2, -1}, (const int[]){-1, 1});
}

/* r_a += eps_abc D_b h_c of row i. */
INLINE void add_curl(lanes *r0, lanes *r1, lanes *r2, const group *w, const ps_dgtd_operators *o,
                     int i)
{
    const int16_t *start = o->row_start + 3 * i;
    lanes a = *r0, b = *r1, c = *r2;
    for (int e = start[0]; e < start[1]; ++e) {
        c += VALUES[e] * w->h[1][o->column[e]];
        b -= VALUES[e] * w->h[2][o->column[e]];
    }
    for (int e = start[1]; e < start[2]; ++e) {
        a += VALUES[e] * w->h[2][o->column[e]];
        c -= VALUES[e] * w->h[0][o->column[e]];
    }
    for (int e = start[2]; e < start[3]; ++e) {
        b += VALUES[e] * w->h[0][o->column[e]];
        a -= VALUES[e] * w->h[1][o->column[e]];
    }
    *r0 = a;
    *r1 = b;
    *r2 = c;
}

/* RB rows of two lifts: p += L ja, q += L jb. */
INLINE void add_lift(lanes *p, lanes *q, const lanes *ja, const lanes *jb, const real *lift)
{
    for (int m = 0; m < NF; ++m)
        for (int i = 0; i < RB; ++i) {
            p[i] += lift[m * RB + i] * ja[m];
            q[i] += lift[m * RB + i] * jb[m];
        }
}

/* Rows block RB .. of all three contravariant components, and their update. */
INLINE void sum_rows(const group *w, const ps_dgtd_operators *o, int block, lanes *target)
{
    const real *lift = LIFTS + block * 4 * NF * RB;
    lanes r0[RB], r1[RB], r2[RB];
    for (int i = 0; i < RB; ++i) r0[i] = r1[i] = r2[i] = (lanes){0};
    /* The jumps of face 2 add up to zero over the components. */
    add_lift(r0, r1, w->jump[2][0], w->jump[2][1], lift + 2 * NF * RB);
    for (int i = 0; i < RB; ++i) r2[i] = -r0[i] - r1[i];
    add_lift(r0, r1, w->jump[0][0], w->jump[0][1], lift);
    add_lift(r0, r2, w->jump[1][0], w->jump[1][1], lift + NF * RB);
    add_lift(r1, r2, w->jump[3][0], w->jump[3][1], lift + 3 * NF * RB);
    for (int i = 0; i < RB; ++i) {
        add_curl(&r0[i], &r1[i], &r2[i], w, o, block * RB + i);
        for (int c = 0; c < 3; ++c) {
            lanes *out = target + (c * NP + block * RB + i) * PARTS;
            *out = w->keep * *out +
                   w->gain * (w->t[0][c] * r0[i] + w->t[1][c] * r1[i] + w->t[2][c] * r2[i]);
        }
    }
}

/* What the curl is told by, t_a, becomes M t_a where a medium has a tensor. */
static void turn_tangents(group *w, const ps_dgtd_system *s, int64_t g, int part)
{
    const int64_t row = s->dispersion->row_of[g];
    law_lanes law;
    if (row < 0 || !s->dispersion->row_states[3 * row + 2]) return;
    gather_laws(&law, s, g * LANES + part * WIDTH, 0, 1);
    for (int a = 0; a < 3; ++a) {
        const lanes t[3] = {w->t[a][0], w->t[a][1], w->t[a][2]};
        NAME(turn)(law.m, t, w->t[a]);
    }
}

/* Calls a group's own values and geometry into cache; reading past the end is harmless. */
INLINE void prefetch_group(const ps_dgtd_sweep_arguments *x, int64_t g)
{
    const real *source = (const real *)x->source + 3 * NP * LANES * g;
    const real *target = (const real *)x->target + 3 * NP * LANES * g;
    const real *tangents = (const real *)x->system->tangents + 9 * LANES * g;
    for (int i = 0; i < 3 * NP; ++i) {
        __builtin_prefetch(source + i * LANES);
        __builtin_prefetch(target + i * LANES, 1);
    }
    for (int i = 0; i < 9; ++i) __builtin_prefetch(tangents + i * LANES);
}

static void PASTE3(sweep, SUFFIX, ORDER)(const ps_dgtd_sweep_arguments *x, int64_t begin,
                                         int64_t end)
{
    group w;
    for (int64_t at = begin * PARTS; at < end * PARTS; ++at) {
        int64_t g = at / PARTS;
        int part = (int)(at % PARTS);
        lanes *target = (lanes *)x->target + 3 * NP * PARTS * g + part;
        if (part == 0) prefetch_group(x, g + 1);
        open_group(&w, x, g, part);
        jump_faces(&w, x, g, part);
        if (x->field == PS_DGTD_E && x->system->dispersion && x->system->dispersion->tensors)
            turn_tangents(&w, x->system, g, part);
        for (int block = 0; block < NP / RB; ++block)
            sum_rows(&w, x->system->operators, block, target);
    }
}

#undef group
#undef open_group
#undef prefetch_group
#undef jump_face
#undef jump_faces
#undef add_curl
#undef turn_tangents
#undef add_lift
#undef sum_rows
#undef VALUES
#undef LIFTS
#undef ORDER
#undef NP
#undef NF
#undef RB
