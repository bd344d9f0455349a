#include "kernels/dgtd/dispersion.h"

#include <math.h>
#include <string.h>

void ps_dgtd_susceptibility(const ps_dgtd_pole *poles, int count, double omega, double out[2])
{
    out[0] = out[1] = 0;
    for (int k = 0; k < count; ++k) {
        const ps_dgtd_pole *p = poles + k;
        double top = p->strength, real = 1, loss = omega / p->rate; /* top/(real + i loss) */
        if (p->kind != PS_DGTD_DEBYE) {
            double square = p->frequency * p->frequency;
            top *= square;
            real = (p->kind == PS_DGTD_LORENTZ ? square : 0) - omega * omega;
            loss = omega * p->rate;
        }
        out[0] += top * real / (real * real + loss * loss);
        out[1] += top * loss / (real * real + loss * loss);
    }
}

bool ps_dgtd_is_plain(const ps_dgtd_constitution *x) { return x->pole_count == 0 && !x->tensor; }

/* Roots of the characteristic polynomial by its trigonometric solution. */
void ps_dgtd_tensor_bounds(const double t[6], double bounds[2])
{
    double mean = (t[0] + t[1] + t[2]) / 3, d[3] = {t[0] - mean, t[1] - mean, t[2] - mean};
    double off = t[3] * t[3] + t[4] * t[4] + t[5] * t[5];
    double size = sqrt((d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + 2 * off) / 6);
    bounds[0] = bounds[1] = mean;
    if (!(size > 0)) return;
    double det = d[0] * (d[1] * d[2] - t[5] * t[5]) - t[3] * (t[3] * d[2] - t[5] * t[4]) +
                 t[4] * (t[3] * t[5] - d[1] * t[4]);
    double angle = acos(fmax(-1, fmin(1, det / (2 * size * size * size)))) / 3;
    bounds[1] = mean + 2 * size * cos(angle);
    bounds[0] = mean + 2 * size * cos(angle + 2 * M_PI / 3);
}

/* ---- laws ---- */

/* A pole in a step: what it adds to the factors of E' (weight) and E (fold - weight) and its
 * states' factors, add not yet divided. */
typedef struct discrete {
    double weight, fold, factor[2][4];
    int states;
} discrete;

static void debye(const ps_dgtd_pole *p, double dt, discrete *out)
{
    double b = dt * p->rate / 2, q = b / (1 + b), d = p->strength;
    *out = (discrete){.weight = d * q,
                      .fold = 2 * d * q * q,
                      .factor = {{1, -2 * q, 0, 4 * d * q * q * (1 - q)}},
                      .states = 1};
}

static void drude(const ps_dgtd_pole *p, double dt, discrete *out)
{
    double a = 1 + p->rate * dt / 2, kappa = p->frequency * p->frequency * dt / (2 * a);
    *out = (discrete){.weight = dt * kappa / 2,
                      .fold = -dt * kappa / a,
                      .factor = {{1, -p->rate * dt / a, 0, -2 * dt * kappa / (a * a)}},
                      .states = 1};
}

static void lorentz(const ps_dgtd_pole *p, double dt, discrete *out)
{
    double square = p->frequency * p->frequency, quarter = square * dt * dt / 4;
    double a = 1 + p->rate * dt / 2 + quarter, kappa = p->strength * square * dt / (2 * a);
    double drive = kappa * (2 - 2 * quarter) / a;
    *out = (discrete){
        .weight = dt * kappa / 2,
        .fold = dt * kappa * (quarter - 1) / a,
        .factor = {{-dt / a, (2 - 2 * a) / a, -square * dt / a, drive},
                   {2 * quarter / a, -2 * quarter / a, dt / a, dt * drive / 2 + dt * kappa}},
        .states = 2};
}

static void make_discrete(const ps_dgtd_pole *p, double dt, discrete *out)
{
    static void (*const make[])(const ps_dgtd_pole *, double, discrete *) = {debye, lorentz, drude};
    make[p->kind](p, dt, out);
}

double ps_dgtd_poles_weight(const ps_dgtd_pole *poles, int count, double dt)
{
    double sum = 0;
    for (int k = 0; k < count; ++k) {
        discrete x;
        make_discrete(poles + k, dt, &x);
        sum += x.weight;
    }
    return sum;
}

/* The inverse of t + add, symmetric. */
static void invert(const double t[6], double add, double out[6])
{
    double x = t[0] + add, y = t[1] + add, z = t[2] + add;
    out[0] = y * z - t[5] * t[5];
    out[1] = x * z - t[4] * t[4];
    out[2] = x * y - t[3] * t[3];
    out[3] = t[4] * t[5] - t[3] * z;
    out[4] = t[3] * t[5] - t[4] * y;
    out[5] = t[3] * t[4] - t[5] * x;
    double det = x * out[0] + t[3] * out[3] + t[4] * out[4];
    for (int k = 0; k < 6; ++k) out[k] /= det;
}

/* States of Lorentz poles first. */
static void make_law(const ps_dgtd_constitution *x, double dt, ps_dgtd_law *law)
{
    double loss = x->sigma * dt / 2, fold = 0;
    *law = (ps_dgtd_law){.keep = 1, .k = {1, 1, 1}, .m = {1, 1, 1}, .tensor = x->tensor != NULL};
    for (int pairs = 1; pairs >= 0; --pairs)
        for (int k = 0; k < x->pole_count; ++k) {
            discrete d;
            if ((x->poles[k].kind == PS_DGTD_LORENTZ) != pairs) continue;
            make_discrete(x->poles + k, dt, &d);
            memcpy(law->factor[law->states], d.factor, sizeof d.factor[0] * (size_t)d.states);
            law->states += d.states;
            law->pairs += pairs;
            loss += d.weight;
            fold += d.fold;
        }
    /* keep = (eps - loss + fold)/(eps + loss) = 1 - (2 loss - fold)/(eps + loss) */
    double divisor = x->eps + loss;
    law->keep = 1 - (2 * loss - fold) / divisor;
    law->gain = x->tensor ? dt : dt / divisor;
    if (x->tensor) {
        invert(x->tensor, loss, law->m);
        for (int k = 0; k < 6; ++k) law->k[k] = (k < 3) - (2 * loss - fold) * law->m[k];
        return;
    }
    for (int k = 0; k < 3; ++k) law->k[k] = law->keep;
    for (int v = 0; v < law->states; ++v) {
        law->factor[v][0] /= divisor;
        if (v < 2 * law->pairs) continue;
        law->factor[v][3] *= law->factor[v][0]; /* u is what it adds */
        law->factor[v][0] = 1;
    }
}

/* ---- rows ---- */

static int states_of(const ps_dgtd_constitution *x, int *pairs)
{
    *pairs = 0;
    for (int k = 0; k < x->pole_count; ++k) *pairs += x->poles[k].kind == PS_DGTD_LORENTZ;
    return x->pole_count + *pairs;
}

/* What a group needs: states, pairs, whether there is a tensor; false: nothing. */
static bool group_needs(const ps_dgtd_system *s, const ps_dgtd_constitution *media,
                        const uint16_t *tags, int64_t group, int32_t needs[3])
{
    int lanes = ps_dgtd_lanes(s->precision);
    bool any = false;
    needs[0] = needs[1] = needs[2] = 0;
    for (int64_t e = group * lanes; e < (group + 1) * lanes && e < s->elements; ++e) {
        const ps_dgtd_constitution *x = media + (tags ? tags[e] : 0);
        int pairs, states = states_of(x, &pairs);
        any |= !ps_dgtd_is_plain(x);
        if (states > needs[0]) needs[0] = states;
        if (pairs > needs[1]) needs[1] = pairs;
        needs[2] |= x->tensor != NULL;
    }
    if (needs[0] < 2 * needs[1]) needs[0] = 2 * needs[1];
    return any;
}

void ps_dgtd_dispersion_count(ps_dgtd_dispersion *x, const ps_dgtd_system *s,
                              const ps_dgtd_constitution *media, const uint16_t *tags)
{
    *x = (ps_dgtd_dispersion){.law_count = 1};
    for (int64_t m = 0; m < s->materials; ++m) {
        x->law_count += !ps_dgtd_is_plain(media + m);
        x->tensors |= media[m].tensor != NULL;
    }
    if (x->law_count == 1) return;
    for (int64_t g = 0; g < s->groups; ++g) {
        int32_t needs[3];
        if (!group_needs(s, media, tags, g, needs)) continue;
        ++x->rows;
        x->vectors += needs[0];
    }
}

void ps_dgtd_dispersion_size(const ps_dgtd_dispersion *x, const ps_dgtd_system *s,
                             ps_dgtd_dispersion_bytes *bytes)
{
    bytes->laws = (size_t)x->law_count * sizeof *x->laws;
    bytes->law_of = (size_t)s->materials * sizeof *x->law_of;
    bytes->row_of = (size_t)s->groups * sizeof *x->row_of;
    bytes->first = (size_t)(x->rows + 1) * sizeof *x->first;
    bytes->row_states = (size_t)x->rows * 3 * sizeof *x->row_states;
    bytes->state = (size_t)(x->vectors * ps_dgtd_group_bytes(s->order));
}

void ps_dgtd_dispersion_fill(ps_dgtd_dispersion *x, const ps_dgtd_system *s,
                             const ps_dgtd_constitution *media, const uint16_t *tags, double dt)
{
    int64_t law = 1, row = 0;
    x->laws[0] = (ps_dgtd_law){.keep = 1, .k = {1, 1, 1}, .m = {1, 1, 1}};
    for (int64_t m = 0; m < s->materials; ++m) {
        x->law_of[m] = 0;
        if (ps_dgtd_is_plain(media + m)) continue;
        make_law(media + m, dt, x->laws + law);
        x->law_of[m] = (int32_t)law++;
    }
    x->first[0] = 0;
    for (int64_t g = 0; g < s->groups; ++g) {
        int32_t needs[3];
        x->row_of[g] = -1;
        if (!group_needs(s, media, tags, g, needs)) continue;
        x->row_of[g] = (int32_t)row;
        memcpy(x->row_states + 3 * row, needs, sizeof needs);
        x->first[row + 1] = x->first[row] + needs[0];
        ++row;
    }
}

void ps_dgtd_dispersion_attach(const ps_dgtd_dispersion *x, ps_dgtd_system *s)
{
    s->dispersion = x;
    for (int64_t m = 0; m < s->materials; ++m)
        if (x->law_of[m] > 0) ps_dgtd_set_factors(s, PS_DGTD_E, m, 1, x->laws[x->law_of[m]].gain);
}
