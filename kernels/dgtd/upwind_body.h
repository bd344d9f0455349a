/* The correction of one order and precision: ORDER, NP, NF and RB are the includer's, `real`,
 * `lanes` and the helpers those of lanes_body.h. */
#define face_terms PASTE3(face_terms, SUFFIX, ORDER)
#define add_jumps PASTE3(add_jumps, SUFFIX, ORDER)
#define add_terms PASTE3(add_terms, SUFFIX, ORDER)
#define LIFTS PASTE2(lift, SUFFIX)

/* weight sign(.) jumps of a field at a face: out[c][m] = sign u_k - u_i. */
INLINE void add_jumps(lanes out[3][NF], const ps_dgtd_upwind_arguments *x, const real *field,
                      int64_t row, int f, const real *signs)
{
    const ps_dgtd_system *s = x->system;
    const int16_t(*face)[PS_DGTD_MAX_FACE_NODES] = s->reference->face;
    const slots link = ((const slots *)s->links)[row], other = link & 3, slot = link >> 2;
    const slots base = (slot / LANES) * (3 * NP * LANES) + (slot & (LANES - 1));
    const slots is1 = other == 1, is2 = other == 2, is3 = other == 3;
    const lanes *own = (const lanes *)field + row / (4 * PARTS) * (3 * NP * PARTS) + row % PARTS;
    lanes sign;
    for (int l = 0; l < WIDTH; ++l) ((real *)&sign)[l] = signs[s->kinds[row * WIDTH + l]];
    for (int m = 0; m < NF; ++m) {
        int32_t n0 = face[0][m] * LANES, n1 = face[1][m] * LANES, n2 = face[2][m] * LANES,
                n3 = face[3][m] * LANES;
        slots index = base + n0 + (is1 & (n1 - n0)) + (is2 & (n2 - n0)) + (is3 & (n3 - n0));
        for (int c = 0; c < 3; ++c) {
            lanes u;
            fetch(&u, field + c * NP * LANES, &index);
            out[c][m] = sign * u - own[(c * NP + face[f][m]) * PARTS];
        }
    }
}

/* What is lifted from face f, out[c][m]: twice, since the stored LIFT is half of it. normal: n F.
 * 0: nothing in any lane. */
INLINE int face_terms(lanes out[3][NF], const ps_dgtd_upwind_arguments *x, int64_t row, int f,
                      const lanes normal[3], const lanes *own, const lanes *gain)
{
    static const real signs[2][PS_DGTD_FACES] = {{1, 1, -1, 0}, {1, -1, 1, 0}};
    const lanes other = ((const lanes *)x->upwind->other)[row];
    const lanes square = normal[0] * normal[0] + normal[1] * normal[1] + normal[2] * normal[2];
    lanes along, length, shift, penalty, jump[3][NF];
    int mixed = 0, any = 0;
    for (int l = 0; l < WIDTH; ++l) {
        real zi = ((const real *)own)[l], zk = ((const real *)&other)[l];
        real g = ((const real *)gain)[l], sum = zi + zk;
        ((real *)&length)[l] = (real)sqrt((double)((const real *)&square)[l]);
        ((real *)&penalty)[l] = zk > 0 ? 2 * (x->field == PS_DGTD_E ? g : -g * zi * zk) / sum : 0;
        ((real *)&shift)[l] = zk > 0 ? (x->field == PS_DGTD_E ? g : -g) * (zk - zi) / sum : 0;
        mixed |= zk > 0 && zk != zi;
        any |= zk > 0;
    }
    if (!any) return 0;
    add_jumps(jump, x, (const real *)x->upwind->former[x->field], row, f, signs[1 - x->field]);
    for (int m = 0; m < NF; ++m) {
        along = (normal[0] * jump[0][m] + normal[1] * jump[1][m] + normal[2] * jump[2][m]) / square;
        for (int c = 0; c < 3; ++c) out[c][m] = penalty * length * (jump[c][m] - along * normal[c]);
    }
    if (!mixed) return 1;
    add_jumps(jump, x, (const real *)x->source, row, f, signs[x->field]);
    for (int m = 0; m < NF; ++m)
        for (int c = 0; c < 3; ++c)
            out[c][m] += shift * (normal[(c + 1) % 3] * jump[(c + 2) % 3][m] -
                                  normal[(c + 2) % 3] * jump[(c + 1) % 3][m]);
    return 1;
}

/* target += LIFT_f out */
INLINE void add_terms(lanes *target, const lanes terms[3][NF], const ps_dgtd_operators *o, int f)
{
    for (int block = 0; block < NP / RB; ++block) {
        const real *matrix = o->LIFTS + (block * 4 + f) * NF * RB;
        for (int c = 0; c < 3; ++c) {
            lanes sum[RB];
            for (int i = 0; i < RB; ++i) sum[i] = target[(c * NP + block * RB + i) * PARTS];
            for (int m = 0; m < NF; ++m)
                for (int i = 0; i < RB; ++i) sum[i] += matrix[m * RB + i] * terms[c][m];
            for (int i = 0; i < RB; ++i) target[(c * NP + block * RB + i) * PARTS] = sum[i];
        }
    }
}

static void PASTE3(apply, SUFFIX, ORDER)(const ps_dgtd_upwind_arguments *x, int64_t begin,
                                         int64_t end)
{
    const ps_dgtd_system *s = x->system;
    const real *steps = (const real *)s->steps + 2 * s->materials * x->field;
    for (int64_t at = begin * PARTS; at < end * PARTS; ++at) {
        int64_t g = at / PARTS;
        int part = (int)(at % PARTS);
        const lanes *t = (const lanes *)s->tangents + 9 * PARTS * g + part;
        const uint16_t *material = s->material + g * LANES + part * WIDTH;
        lanes *target = (lanes *)x->target + 3 * NP * PARTS * g + part;
        lanes gain, own, normal[4][3], terms[3][NF];
        spread(&gain, steps + s->materials, material);
        spread(&own, (const real *)x->upwind->own, material);
        lanes det = {0};
        for (int c = 0; c < 3; ++c) { /* - det grad t, - det grad s, .., - det grad r */
            int a = (c + 1) % 3, b = (c + 2) % 3;
            lanes r =
                t[(3 + a) * PARTS] * t[(6 + b) * PARTS] - t[(3 + b) * PARTS] * t[(6 + a) * PARTS];
            lanes u = t[(6 + a) * PARTS] * t[b * PARTS] - t[(6 + b) * PARTS] * t[a * PARTS];
            lanes v = t[a * PARTS] * t[(3 + b) * PARTS] - t[b * PARTS] * t[(3 + a) * PARTS];
            det += t[c * PARTS] * r;
            normal[0][c] = -v;
            normal[1][c] = -u;
            normal[2][c] = r + u + v;
            normal[3][c] = -r;
        }
        for (int f = 0; f < 4; ++f) {
            for (int c = 0; c < 3; ++c) normal[f][c] /= det;
            if (!face_terms(terms, x, (4 * g + f) * PARTS + part, f, normal[f], &own, &gain))
                continue;
            add_terms(target, (const lanes(*)[NF])terms, s->operators, f);
        }
    }
}

#undef face_terms
#undef add_jumps
#undef add_terms
#undef LIFTS
#undef ORDER
#undef NP
#undef NF
#undef RB
