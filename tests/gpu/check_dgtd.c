/*
 * check_dgtd: half steps, borders, sources, halo, energy, probes and running sums of the CUDA
 * device against the CPU's in double, P1..P4, both precisions, both modes, on shaken cubes of
 * random materials with boundaries of all kinds. Ends with "N passed, N failed, N skipped".
 * Arguments: "quick" leaves out the long runs (for compute-sanitizer), "layer" all but layers,
 * "local" all but local steps, "poles" all but poles and ports.
 */
#include <stdbool.h>
#include <stdio.h>

#include "tests/support/dgtd_trial.h"
#include "tests/support/distance.h"
#include "tests/support/verdict.h"

enum { PROBES = 7, FREQUENCIES = 3 };
static const double limits[] = {1e-6, 1e-13};

static bool layers_only, local_only, poles_only;

static void report(const char *what, int order, ps_precision precision, double error, double limit,
                   ps_status status)
{
    bool good = status == PS_OK && error <= limit;
    printf("%s P%d %s %s: error %.2e%s%s\n", good ? "ok" : "FAILED", order,
           precision == PS_SINGLE ? "fp32" : "fp64", what, error, status == PS_OK ? "" : ": ",
           status == PS_OK ? "" : ps_message());
    verdict_count(good);
}

/* Distance after one step, and after ten within ten times the limit. */
static ps_status run_steps(trial *t, double *error)
{
    double at[2];
    for (int turn = 0; turn < 2; ++turn) {
        int64_t steps = turn ? 9 : 1;
        PS_TRY(dgtd_device_steps(&t->d, t->march.step, steps));
        ps_dgtd_march_steps(&t->march, steps);
        PS_TRY(dgtd_device_get(&t->d, t->x.field));
        at[turn] = distance(t);
    }
    *error = at[0] > at[1] / 10 ? at[0] : at[1] / 10;
    return isfinite(at[0]) && isfinite(at[1]) ? PS_OK : ps_fail(PS_FAILED, "not finite");
}

static void check_steps(ps_device *device, int order, ps_precision precision)
{
    for (int s = 0; s < (int)(sizeof settings / sizeof *settings); ++s)
        for (int mode = PS_DGTD_FUSED; mode <= PS_DGTD_PAPER; ++mode) {
            static trial t;
            char what[100];
            double error = NAN;
            if (layers_only && !settings[s].layer) continue;
            if (local_only && !settings[s].local) continue;
            if (poles_only && !settings[s].poles && !settings[s].ports) continue;
            if ((settings[s].local || settings[s].poles || settings[s].ports) &&
                mode == PS_DGTD_PAPER)
                continue;
            ps_status status =
                start(&t, device, order, precision, (ps_dgtd_device_mode)mode, &settings[s]);
            if (status == PS_OK) status = run_steps(&t, &error);
            snprintf(what, sizeof what, "%s%s", settings[s].name,
                     mode == PS_DGTD_PAPER ? ", in the paper's kernels" : "");
            report(what, order, precision, error, limits[precision], status);
            stop(&t);
        }
}

/* *error: how many fields differ. */
static ps_status compare_bits(trial *a, trial *b, double *error)
{
    char *bits[2];
    int64_t bytes = ps_dgtd_device_field_bytes(&a->d.system, 0);
    PS_TRY(ps_alloc((void **)&bits[0], bytes, 1, "bits"));
    PS_TRY(ps_alloc((void **)&bits[1], bytes, 1, "bits"));
    *error = 0;
    for (int f = 0; f < 2; ++f) {
        PS_TRY(ps_copy_to_host(a->d.stream, bits[0], a->d.field[f], bytes));
        PS_TRY(ps_copy_to_host(b->d.stream, bits[1], b->d.field[f], bytes));
        PS_TRY(ps_stream_wait(a->d.stream));
        PS_TRY(ps_stream_wait(b->d.stream));
        *error += memcmp(bits[0], bits[1], (size_t)bytes) != 0;
    }
    free(bits[0]);
    free(bits[1]);
    return PS_OK;
}

/* Half steps by ranges, backwards, leave the same bits as at once. */
static ps_status run_ranges(trial *a, trial *b, double *error)
{
    int64_t groups = a->d.system.groups;
    PS_TRY(dgtd_device_steps(&a->d, 0, 3));
    for (int64_t s = 0; s < 3; ++s)
        for (int f = 0; f < 2; ++f)
            for (int64_t g = groups; g > 0; g = g > 3 ? g - 3 : 0)
                PS_TRY(ps_dgtd_device_march_half(&b->d.march, (ps_dgtd_field)f, s,
                                                 g > 3 ? g - 3 : 0, g, b->d.stream));
    return compare_bits(a, b, error);
}

static void check_ranges(ps_device *device, int order, ps_precision precision)
{
    static const struct {
        ps_dgtd_device_mode mode;
        int setting;
    } cases[] = {{PS_DGTD_FUSED, 3}, {PS_DGTD_PAPER, 3},  {PS_DGTD_FUSED, 5},
                 {PS_DGTD_FUSED, 6}, {PS_DGTD_FUSED, 13}, {PS_DGTD_FUSED, 15}};
    for (int i = 0; i < 6; ++i) {
        static trial a, b;
        const setting *s = &settings[cases[i].setting];
        double error = NAN;
        if ((layers_only && !s->layer) || (poles_only && !s->poles)) continue;
        ps_status status = start(&a, device, order, precision, cases[i].mode, s);
        if (status == PS_OK) status = start(&b, device, order, precision, cases[i].mode, s);
        if (status == PS_OK) status = run_ranges(&a, &b, &error);
        report(s->layer   ? "ranges do not change bits of a layer"
               : s->poles ? "ranges do not change bits of poles"
                          : "ranges do not change bits",
               order, precision, error, 0, status);
        stop(&a);
        stop(&b);
    }
}

/* Traces of random faces, in the order of the list, into the halo slots and back out of them. */
static ps_status run_halo(trial *t, double *error)
{
    enum { FACES = 5 };
    int32_t faces[FACES], slots[FACES];
    uint64_t seed = 5;
    const ps_dgtd_reference *r = &t->x.reference;
    int64_t real = t->x.system.precision == PS_SINGLE ? 4 : 8, width = 3 * r->face_nodes;
    int64_t lanes = ps_dgtd_lanes(t->x.system.precision);
    char *host, *raw;
    void *list, *buffer[2];
    for (int i = 0; i < FACES; ++i) {
        faces[i] = (int32_t)(4 * (double)t->x.mesh.elements * check_random(&seed));
        slots[i] = (int32_t)(4 * (t->d.system.groups * lanes + i) + faces[i] % 4);
    }
    PS_TRY(ps_alloc((void **)&host, FACES * width, (size_t)real, "traces"));
    PS_TRY(ps_alloc((void **)&raw, t->d.field_bytes, 1, "bits"));
    PS_TRY(ps_device_alloc(t->d.device, (int64_t)sizeof faces, &list));
    for (int k = 0; k < 2; ++k)
        PS_TRY(ps_device_alloc(t->d.device, FACES * width * real, &buffer[k]));
    PS_TRY(ps_copy_to_device(t->d.stream, list, faces, (int64_t)sizeof faces));
    PS_TRY(
        ps_dgtd_device_halo_pack(&t->d.system, t->d.field[0], list, FACES, buffer[0], t->d.stream));
    PS_TRY(ps_stream_wait(t->d.stream));
    PS_TRY(ps_copy_to_device(t->d.stream, list, slots, (int64_t)sizeof slots));
    PS_TRY(ps_dgtd_device_halo_unpack(&t->d.system, t->d.field[0], list, FACES, buffer[0],
                                      t->d.stream));
    PS_TRY(
        ps_dgtd_device_halo_pack(&t->d.system, t->d.field[0], list, FACES, buffer[1], t->d.stream));
    PS_TRY(ps_copy_to_host(t->d.stream, host, buffer[1], FACES * width * real));
    PS_TRY(ps_copy_to_host(t->d.stream, raw, t->d.field[0], t->d.field_bytes));
    PS_TRY(ps_stream_wait(t->d.stream));
    *error = 0;
    for (int64_t i = 0; i < FACES * width; ++i) {
        int64_t face = faces[i / width], c = i % width / r->face_nodes, m = i % r->face_nodes;
        int64_t at =
            ps_dgtd_offset(&t->x.system, face / 4) + (c * r->nodes + r->face[face % 4][m]) * lanes;
        *error += memcmp(host + i * real, raw + at * real, (size_t)real) != 0;
    }
    free(host);
    free(raw);
    ps_device_free(t->d.device, list);
    ps_device_free(t->d.device, buffer[0]);
    ps_device_free(t->d.device, buffer[1]);
    return PS_OK;
}

/* Probes: relative distance of values; sums: of those after two additions; inner: of (E, H). */
static ps_status run_probes(trial *t, double *error)
{
    int64_t slots[PROBES], n = t->x.reference.nodes;
    double nodal[PROBES][PS_DGTD_MAX_NODES], turned[PROBES * PS_DGTD_MAX_NODES], out[3 * PROBES];
    uint64_t seed = 9;
    void *there;
    double *weights, *values, difference = 0, size = 0;
    for (int64_t k = 0; k < PROBES; ++k) {
        double l[4] = {.1, .2, .3, .4};
        slots[k] = (int64_t)((double)t->x.mesh.elements * check_random(&seed));
        ps_dgtd_reference_values(&t->x.reference, l, nodal[k]);
        ps_dgtd_device_probe_weights(t->d.tables, nodal[k], turned + k * n);
    }
    PS_TRY(ps_device_alloc(t->d.device, 65536, &there));
    weights = (double *)((char *)there + 4096);
    values = (double *)((char *)there + 32768);
    PS_TRY(ps_copy_to_device(t->d.stream, there, slots, (int64_t)sizeof slots));
    PS_TRY(ps_copy_to_device(t->d.stream, weights, turned, PROBES * n * 8));
    PS_TRY(ps_dgtd_device_probe(&t->d.system, t->d.field[1], there, weights, PROBES, values,
                                t->d.stream));
    PS_TRY(ps_copy_to_host(t->d.stream, out, values, (int64_t)sizeof out));
    PS_TRY(ps_stream_wait(t->d.stream));
    for (int i = 0; i < 3 * PROBES; ++i) {
        double sum = 0;
        for (int j = 0; j < n; ++j)
            sum += nodal[i / 3][j] *
                   ps_dgtd_get(&t->exact.system, t->exact.field[1], slots[i / 3], i % 3, j);
        difference += (sum - out[i]) * (sum - out[i]);
        size += sum * sum;
    }
    *error = sqrt(difference / size);
    ps_device_free(t->d.device, there);
    return PS_OK;
}

static ps_status run_sums(trial *t, double *error)
{
    static const double factors[2][FREQUENCIES][2] = {{{1, -.5}, {.25, 2}, {-1, .125}},
                                                      {{.5, .5}, {3, -.25}, {1, 1}}};
    int64_t groups = t->d.system.groups, field = ps_dgtd_device_field_bytes(&t->d.system, 0);
    int64_t bytes = 2 * FREQUENCIES * field, values = groups * 2 * FREQUENCIES;
    int n = t->x.reference.nodes, L = ps_dgtd_lanes(t->x.system.precision);
    void *sums, *host;
    ps_dgtd_device wide = t->d.system; /* to convert the sums: groups of the same size, but more */
    PS_TRY(ps_device_alloc(t->d.device, bytes, &sums));
    PS_TRY(ps_alloc(&host, bytes, 1, "sums"));
    PS_TRY(ps_fill_zero(t->d.stream, sums, bytes));
    PS_TRY(ps_dgtd_device_dft_add(&t->d.system, t->d.field[0], factors[0][0], FREQUENCIES, 0,
                                  groups, sums, t->d.stream));
    PS_TRY(ps_dgtd_device_dft_add(&t->d.system, t->d.field[1], factors[1][0], FREQUENCIES, 0,
                                  groups / 2, sums, t->d.stream));
    PS_TRY(ps_dgtd_device_dft_add(&t->d.system, t->d.field[1], factors[1][0], FREQUENCIES,
                                  groups / 2, groups, sums, t->d.stream));
    PS_TRY(ps_dgtd_device_convert(&wide, wide.to_nodes, sums, sums, 0, values, t->d.stream));
    PS_TRY(ps_copy_to_host(t->d.stream, host, sums, bytes));
    PS_TRY(ps_stream_wait(t->d.stream));
    double difference = 0, size = 0;
    for (int64_t i = 0; i < t->x.mesh.elements * 2 * FREQUENCIES * 3 * n; ++i) {
        int64_t e = i / (2 * FREQUENCIES * 3 * n), f = i / (3 * n) % (2 * FREQUENCIES);
        int64_t c = i / n % 3, k = i % n;
        int64_t at = (((e / L * 2 * FREQUENCIES + f) * 3 + c) * n + k) * L + e % L;
        double got = L == 16 ? (double)((float *)host)[at] : ((double *)host)[at], sum = 0;
        for (int u = 0; u < 2; ++u)
            sum += factors[u][f / 2][f % 2] *
                   ps_dgtd_get(&t->exact.system, t->exact.field[u], e, (int)c, (int)k);
        difference += (got - sum) * (got - sum);
        size += sum * sum;
    }
    *error = sqrt(difference / size);
    free(host);
    ps_device_free(t->d.device, sums);
    return PS_OK;
}

/* Sum over groups of weight (a, b) on the device. */
static ps_status device_inner(trial *t, const double *weights, const void *a, const void *b,
                              double *sum)
{
    int64_t groups = t->d.system.groups;
    double *host;
    void *there;
    PS_TRY(PS_ALLOC(&host, groups, "energies"));
    PS_TRY(ps_device_alloc(t->d.device, (groups + MATERIALS) * 8, &there));
    PS_TRY(ps_copy_to_device(t->d.stream, there, weights, MATERIALS * 8));
    PS_TRY(ps_dgtd_device_inner(&t->d.system, there, a, b, 0, groups, (double *)there + MATERIALS,
                                t->d.stream));
    PS_TRY(ps_copy_to_host(t->d.stream, host, (double *)there + MATERIALS, groups * 8));
    PS_TRY(ps_stream_wait(t->d.stream));
    *sum = 0;
    for (int64_t g = 0; g < groups; ++g) *sum += host[g];
    free(host);
    ps_device_free(t->d.device, there);
    return PS_OK;
}

static ps_status run_inner(trial *t, double *error)
{
    double eps[MATERIALS], got;
    for (int m = 0; m < MATERIALS; ++m) eps[m] = t->materials[m].eps;
    double expected = ps_dgtd_inner(&t->exact.system, eps, t->exact.field[0], t->exact.field[0],
                                    t->exact.partial);
    PS_TRY(device_inner(t, eps, t->d.field[0], t->d.field[0], &got));
    *error = fabs(got / expected - 1);
    return PS_OK;
}

static void check_rest(ps_device *device, int order, ps_precision precision)
{
    static const struct {
        const char *name;
        ps_status (*run)(trial *t, double *error);
        bool exactly;
    } parts[] = {{"halo", run_halo, true},
                 {"probes", run_probes, false},
                 {"running sums", run_sums, false},
                 {"inner product", run_inner, false}};
    for (int i = 0; i < 4; ++i) {
        static trial t;
        double error = NAN;
        ps_status status = start(&t, device, order, precision, PS_DGTD_FUSED, &settings[0]);
        if (status == PS_OK) status = parts[i].run(&t, &error);
        report(parts[i].name, order, precision, error, parts[i].exactly ? 0 : limits[precision],
               status);
        stop(&t);
    }
}

/* W^n = 1/2 (E^n' M E^n + H^{n-1/2}' M H^{n+1/2}); inner has the 1/2. */
static ps_status energy(trial *t, void *former, const double *eps, const double *mu, int64_t n,
                        double *w)
{
    double electric, magnetic;
    PS_TRY(ps_copy_on_device(t->d.stream, former, t->d.field[1], t->d.field_bytes));
    PS_TRY(dgtd_device_steps(&t->d, n, 1));
    PS_TRY(device_inner(t, eps, t->d.field[0], t->d.field[0], &electric));
    PS_TRY(device_inner(t, mu, former, t->d.field[1], &magnetic));
    *w = electric + magnetic;
    return PS_OK;
}

/* 720 steps without loss: 1e-13 in double, 1e-6 in single. */
static ps_status run_energy(trial *t, double *drift)
{
    double eps[MATERIALS], mu[MATERIALS], start = 0, now;
    void *former;
    int64_t n = 0;
    for (int m = 0; m < MATERIALS; ++m) {
        eps[m] = t->materials[m].eps;
        mu[m] = t->materials[m].mu;
    }
    PS_TRY(ps_device_alloc(t->d.device, t->d.field_bytes, &former));
    PS_TRY(energy(t, former, eps, mu, n++, &start));
    *drift = 0;
    for (int turn = 0; turn < 10; ++turn) {
        PS_TRY(dgtd_device_steps(&t->d, n, 71));
        n += 71;
        PS_TRY(energy(t, former, eps, mu, n++, &now));
        *drift = worse_of(*drift, fabs(now / start - 1));
    }
    ps_device_free(t->d.device, former);
    return PS_OK;
}

static void check_energy(ps_device *device, int order, ps_precision precision)
{
    static trial t;
    double drift = NAN;
    ps_status status = start(&t, device, order, precision, PS_DGTD_FUSED, &settings[0]);
    if (status == PS_OK) status = run_energy(&t, &drift);
    report("energy over 720 steps", order, precision, drift, limits[precision], status);
    stop(&t);
}

int main(int argc, char **argv)
{
    bool quick = argc > 1 && strcmp(argv[1], "quick") == 0;
    layers_only = argc > 1 && strcmp(argv[1], "layer") == 0;
    local_only = argc > 1 && strcmp(argv[1], "local") == 0;
    poles_only = argc > 1 && strcmp(argv[1], "poles") == 0;
    for (int d = 0; verdict_open(d); ++d)
        for (int i = 0; i < 2 * PS_DGTD_MAX_ORDER; ++i) {
            int order = i / 2 + 1;
            ps_precision precision = (ps_precision)(i % 2);
            check_steps(verdict.device, order, precision);
            if (local_only) continue;
            check_ranges(verdict.device, order, precision);
            if (!layers_only && !poles_only) check_rest(verdict.device, order, precision);
            if (!quick && !layers_only && !poles_only)
                check_energy(verdict.device, order, precision);
        }
    return verdict_end();
}
