/*
 * Whole evaluations of 30 million particles on the CUDA device, potential and gradient, from the
 * caller's order to the caller's order, sorting, tree and lists included: cube and ellipsoid at Acc
 * 3, 5, 7 (l = Acc, eps = 10^-Acc, a common basis), the best of some heights and widths of the root
 * box; Acc 3 with the near field in fp32 as well. JSON records; all trials on stderr.
 *
 * The time is the device's, from the first key to the last result; stages are those of a run of its
 * own, one after the other on one stream. The floor counts P2P in slots of multiply-adds (19 an
 * ordered pair in fp64, 14 in fp32; guide 7), M2L 4 r k flop a pair of cells and the other
 * operators in flops (kernels/fmm/cell.h, m2l.h) at the card's rates, and the bytes of sorting,
 * tree, lists and columns at its bandwidth. Arguments: number of particles, then cube or ellipsoid,
 * then Acc; all optional.
 */
#include <stdio.h>

#include "runtime/program.h"
#include "tests/support/device_tree_floor.h"
#include "tests/support/record.h"
#include "tests/support/resident_case.h"

static const double slots[2] = {55.9e12 / 2, 32.3e12 / 2}; /* multiply-adds/s, fp32, fp64 */
static const double bandwidth = 4.29e12;                   /* bytes/s, read and written   */
enum { ROUNDS = 2, SAMPLES = 1000, TRIALS_MAX = 8 };

typedef struct trial {
    int height;
    double width; /* of the root box, whose corner is the unit cube's */
    int blocks;   /* of P2P on a multiprocessor beside the far field; 0: no limit */
} trial;

typedef struct experiment {
    ps_distribution distribution;
    const char *name;
    int accuracy;
    ps_precision near;
    trial trials[TRIALS_MAX];
} experiment;

/* What all experiments on a distribution share. */
typedef struct ground {
    int64_t n;
    double *columns; /* x, y, z, charges */
    int64_t samples[SAMPLES];
    double *exact;   /* [4][SAMPLES] potential, gradient */
    double *results; /* [4][n] */
} ground;

typedef struct outcome {
    trial of;
    double seconds, host_seconds, stages[PS_FMM_RESIDENT_STAGES];
    double floors[PS_FMM_RESIDENT_STAGES], floor;
    double errors[2], pairs, far_pairs, m2l_flop;
    int64_t leaves, bytes;
} outcome;

/* ---- references ---- */

static ps_status prepare(ground *g, ps_distribution distribution)
{
    int64_t n = g->n;
    double *parts[3] = {g->columns, g->columns + n, g->columns + 2 * n};
    double *q = g->columns + 3 * n;
    ps_distribution_positions(distribution, 1, 0, n, parts);
    ps_distribution_charges(PS_CHARGES_UNIFORM, 1, 0, 0, n, q);
    ps_octree all = {.height = 1, .box = {{0, 0, 0}, 1}, .particles = n};
    ps_fmm_problem p = {
        .sources = &all,
        .targets = &all,
        .source_set = {.position = {parts[0], parts[1], parts[2]}, .charges = q, .stride = n},
        .function = {PS_FMM_INVERSE, 0},
        .sides = 1};
    for (int64_t i = 0; i < SAMPLES; ++i) g->samples[i] = i * (n / SAMPLES);
    ps_fmm_direct(&p, g->samples, SAMPLES, g->exact, g->exact + SAMPLES);
    return PS_OK;
}

static ps_status judge(const ground *g, resident_case *c, double errors[2])
{
    double sums[4] = {0};
    PS_TRY(resident_case_fetch(c, g->results));
    for (int column = 0; column < 4; ++column)
        for (int64_t i = 0; i < SAMPLES; ++i) {
            double want = g->exact[column * SAMPLES + i];
            double got = g->results[column * g->n + g->samples[i]];
            sums[column > 0] += (got - want) * (got - want);
            sums[2 + (column > 0)] += want * want;
        }
    errors[0] = sqrt(sums[0] / sums[2]);
    errors[1] = sqrt(sums[1] / sums[3]);
    return PS_OK;
}

/* ---- work ---- */

static ps_status fetch(resident_case *c, const void *there, int64_t bytes, void **here)
{
    PS_TRY(ps_alloc_untouched(here, bytes, "lists from the device"));
    PS_TRY(ps_copy_to_host(c->streams[0], *here, there, bytes));
    return ps_stream_wait(c->streams[0]);
}

static ps_status count_near(resident_case *c, outcome *out)
{
    const ps_device_tree *tree = &c->resident.tree[0];
    int64_t leaves = tree->cells[tree->height - 1];
    int32_t *start, *around;
    double pairs = 0;
    PS_TRY(fetch(c, tree->particle_start, (leaves + 1) * 4, (void **)&start));
    PS_TRY(fetch(c, c->resident.lists.around[tree->height - 1], leaves * 27 * 4, (void **)&around));
#pragma omp parallel for reduction(+ : pairs)
    for (int64_t t = 0; t < leaves; ++t)
        for (int n = 0; n < 27; ++n) {
            int32_t s = around[27 * t + n];
            if (s >= 0) pairs += (double)(start[t + 1] - start[t]) * (start[s + 1] - start[s]);
        }
    out->pairs = pairs;
    out->leaves = leaves;
    free(start);
    free(around);
    return PS_OK;
}

/* Pairs of cells on a level, by the rank of their offset. */
static ps_status count_far(resident_case *c, int level, outcome *out)
{
    const ps_device_tree *tree = &c->resident.tree[0];
    const ps_fmm_device_table *table = c->resident.tables[level];
    int64_t parents = tree->cells[level - 1];
    int32_t *far, *children;
    double pairs = 0, ranks = 0;
    PS_TRY(fetch(c, c->resident.lists.far[level], parents * 216 * 4, (void **)&far));
    PS_TRY(fetch(c, tree->children[level - 1], parents * 8 * 4, (void **)&children));
#pragma omp parallel for reduction(+ : pairs, ranks)
    for (int64_t i = 0; i < parents * 8; ++i) {
        if (children[i] < 0) continue;
        int target = (int)(i % 8);
        for (int s = 0; s < 216; ++s) {
            if (far[i / 8 * 216 + s] < 0) continue;
            int t[3], n = s / 8, place[3] = {n / 9 - 1, n / 3 % 3 - 1, n % 3 - 1};
            for (int d = 0; d < 3; ++d)
                t[d] = 2 * place[d] + (s >> (2 - d) & 1) - (target >> (2 - d) & 1);
            if (abs(t[0]) < 2 && abs(t[1]) < 2 && abs(t[2]) < 2) continue;
            ranks += table->rank[ps_fmm_offset_number(t)];
            ++pairs;
        }
    }
    out->far_pairs += pairs;
    out->m2l_flop += 4 * ranks * table->size;
    free(far);
    free(children);
    return PS_OK;
}

/* Seconds that each stage takes at least; M2L with decoding. */
static void set_floors(const resident_case *c, const experiment *e, outcome *out)
{
    const ps_fmm_resident *r = &c->resident;
    const ps_device_tree *tree = &r->tree[0];
    device_tree_bytes bytes = device_tree_floor(&r->sort[0], tree);
    double l = e->accuracy, cube = l * l * l, k = r->tables[2]->size, cells = 0, *f = out->floors;
    double n = (double)tree->particles, flops = 2 * slots[PS_DOUBLE];
    for (int level = 2; level < tree->height; ++level) cells += (double)tree->cells[level];
    memset(f, 0, sizeof out->floors);
    f[PS_FMM_RESIDENT_SORT] = bytes.sort / bandwidth;
    f[PS_FMM_RESIDENT_GATHER] = f[PS_FMM_RESIDENT_SCATTER] = bytes.columns / bandwidth;
    f[PS_FMM_RESIDENT_INVERT] = bytes.invert / bandwidth;
    f[PS_FMM_RESIDENT_TREE] = bytes.cells / bandwidth;
    f[PS_FMM_RESIDENT_LISTS] = bytes.lists / bandwidth;
    f[PS_FMM_RESIDENT_P2M] = n * (2 * cube + 2 * l * l + 6 * l * (l - 1)) / flops;
    f[PS_FMM_RESIDENT_M2M] = f[PS_FMM_RESIDENT_L2L] = cells * 6 * l * cube / flops;
    f[PS_FMM_RESIDENT_ENCODE] = cells * 2 * k * cube / flops;
    f[PS_FMM_RESIDENT_M2L] = (out->m2l_flop + cells * 2 * (k + 1) * cube) / flops;
    f[PS_FMM_RESIDENT_L2P] = n * (4 * cube + 6 * l * l + 8 * l + 12 * l * (l - 1)) / flops;
    f[PS_FMM_RESIDENT_P2P] = out->pairs * (e->near == PS_DOUBLE ? 19 : 14) / slots[e->near];
    out->floor = 0;
    for (int s = 0; s < PS_FMM_RESIDENT_STAGES; ++s) out->floor += f[s];
}

/* ---- times ---- */

static ps_status time_once(resident_case *c, double *seconds, double *host_seconds)
{
    double start = ps_clock();
    PS_TRY(resident_case_run(c));
    PS_TRY(ps_stream_wait(c->streams[0]));
    *host_seconds = ps_clock() - start;
    return ps_event_seconds(c->marks[0], c->marks[PS_FMM_RESIDENT_SCATTER + 1], seconds);
}

static ps_status time_rounds(resident_case *c, outcome *out)
{
    double seconds, host_seconds;
    out->seconds = INFINITY;
    for (int round = -1; round < ROUNDS; ++round) {
        PS_TRY(time_once(c, &seconds, &host_seconds));
        if (round < 0 || seconds >= out->seconds) continue;
        out->seconds = seconds;
        out->host_seconds = host_seconds;
    }
    return PS_OK;
}

static void describe(const experiment *e, const outcome *o)
{
    fprintf(stderr, "%s acc %d %s h %d box %.3g blocks %d: %.2f ms (host %.2f)\n", e->name,
            e->accuracy, e->near == PS_DOUBLE ? "fp64" : "mixed", o->of.height, o->of.width,
            o->of.blocks, 1e3 * o->seconds, 1e3 * o->host_seconds);
}

static void describe_stages(const outcome *o)
{
    for (int s = 0; s < PS_FMM_RESIDENT_STAGES; ++s)
        fprintf(stderr, "  %s %.2f/%.2f", ps_fmm_resident_stage_names[s], 1e3 * o->stages[s],
                1e3 * o->floors[s]);
    fprintf(stderr,
            "\n  floor %.2f ms; P2P %.3g pairs/s, M2L %.3g TF/s; errors %.2g %.2g; %.3g GB\n",
            1e3 * o->floor, o->pairs / o->stages[PS_FMM_RESIDENT_P2P],
            o->m2l_flop / o->stages[PS_FMM_RESIDENT_M2L] / 1e12, o->errors[0], o->errors[1],
            1e-9 * (double)o->bytes);
}

/* The best trial once more: stages on one stream, work, errors. */
static ps_status look_closer(ground *g, resident_case *c, const experiment *e, outcome *o)
{
    const ps_octree_box box = {{0, 0, 0}, o->of.width};
    double seconds, host_seconds;
    PS_TRY(resident_case_shape(c, &box, o->of.height, false));
    c->resident.near_blocks = o->of.blocks;
    PS_TRY(time_once(c, &seconds, &host_seconds));
    PS_TRY(judge(g, c, o->errors));
    PS_TRY(resident_case_shape(c, &box, o->of.height, true));
    PS_TRY(time_once(c, &seconds, &host_seconds));
    PS_TRY(time_once(c, &seconds, &host_seconds));
    PS_TRY(ps_fmm_resident_seconds(&c->resident, o->stages));
    o->bytes = c->resident.plan.first + c->resident.plan.second;
    PS_TRY(count_near(c, o));
    for (int l = 2; l < o->of.height; ++l) PS_TRY(count_far(c, l, o));
    set_floors(c, e, o);
    return PS_OK;
}

static void report(ps_device *device, const ground *g, const experiment *e, const outcome *o)
{
    char name[64], size[192];
    snprintf(name, sizeof name, "fmm-%s-acc%d%s", e->name, e->accuracy,
             e->near == PS_DOUBLE ? "" : "-mixed");
    snprintf(size, sizeof size, "%lld particles, h = %d, box %.3g", (long long)g->n, o->of.height,
             o->of.width);
    const struct {
        const char *of, *quantity, *unit;
        double value, floor;
    } whole[] = {{"", "time, sort, tree and lists included", "s", o->seconds, o->floor},
                 {"", "relative L2 error of the potential, 1000 targets, charges in (0, 1)", "1",
                  o->errors[0], 0},
                 {"", "relative L2 error of the gradient", "1", o->errors[1], 0},
                 {"", "device memory", "B", (double)o->bytes, 0},
                 {"/P2P", "ordered pairs", "1/s", o->pairs / o->stages[PS_FMM_RESIDENT_P2P], 0},
                 {"/M2L", "rate, 4 r k flop a pair", "TF/s",
                  o->m2l_flop / o->stages[PS_FMM_RESIDENT_M2L] / 1e12, 0}};
    for (size_t i = 0; i < sizeof whole / sizeof *whole; ++i)
        bench_record(bench_device(device), text("%s%s", name, whole[i].of), whole[i].quantity,
                     whole[i].value, whole[i].unit, whole[i].floor, size);
    for (int s = 0; s < PS_FMM_RESIDENT_STAGES; ++s)
        if (s != PS_FMM_RESIDENT_MEET)
            bench_record(bench_device(device), text("%s/%s", name, ps_fmm_resident_stage_names[s]),
                         "time", 1e3 * o->stages[s], "ms", 1e3 * o->floors[s], size);
}

static ps_status measure(ground *g, resident_case *c, const experiment *e)
{
    fmm_options o = {.order = e->accuracy,
                     .basis = 1, /* cut at eps, as penstock-fmm does for kernels with a pole */
                     .function = {PS_FMM_INVERSE, 0},
                     .far = PS_DOUBLE,
                     .near = e->near};
    const ps_octree_box unit = {{0, 0, 0}, 1};
    outcome best = {.seconds = INFINITY};
    PS_TRY(resident_case_operators(c, &o, &unit, 3));
    for (int t = 0; t < TRIALS_MAX && e->trials[t].height; ++t) {
        outcome now = {.of = e->trials[t]};
        const ps_octree_box box = {{0, 0, 0}, now.of.width};
        PS_TRY(resident_case_shape(c, &box, now.of.height, false));
        c->resident.near_blocks = now.of.blocks;
        PS_TRY(time_rounds(c, &now));
        describe(e, &now);
        if (now.seconds < best.seconds) best = now;
    }
    PS_TRY(look_closer(g, c, e, &best));
    describe_stages(&best);
    report(c->device, g, e, &best);
    return PS_OK;
}

#define CUBE PS_DISTRIBUTION_CUBE, "cube"
#define ELLIPSOID PS_DISTRIBUTION_ELLIPSOID, "ellipsoid"

static const experiment experiments[] = {
    {CUBE, 7, PS_DOUBLE, {{7, 1, 0}, {8, 1.4, 0}, {8, 1.5, 0}, {8, 1.6, 0}}},
    {CUBE, 5, PS_DOUBLE, {{8, 1.1, 0}, {8, 1.2, 0}, {8, 1.3, 0}, {8, 1.2, 12}}},
    {CUBE, 3, PS_DOUBLE, {{8, 1, 0}, {8, 1.1, 0}, {8, 1, 8}, {8, 1, 12}}},
    {CUBE, 3, PS_SINGLE, {{8, 1, 0}, {8, 1.2, 0}, {8, 1.2, 8}}},
    {ELLIPSOID, 7, PS_DOUBLE, {{11, 1, 0}, {11, 1.1, 0}, {11, 1.2, 0}, {11, 1.3, 0}}},
    {ELLIPSOID, 5, PS_DOUBLE, {{12, 1.5, 0}, {12, 1.6, 0}, {11, 1, 0}, {11, 1, 12}}},
    {ELLIPSOID, 3, PS_DOUBLE, {{12, 1.2, 0}, {12, 1.4, 0}, {12, 1.2, 10}}},
    {ELLIPSOID, 3, PS_SINGLE, {{11, 1, 0}, {12, 1.4, 0}, {11, 1, 10}}},
};

static ps_status measure_distribution(ground *g, ps_distribution distribution, const char *name,
                                      int accuracy)
{
    resident_case c = {0};
    ps_status status;
    resident_particles sets[2] = {{g->n, g->columns}, {0, NULL}};
    PS_GUARD(status, done, prepare(g, distribution));
    PS_GUARD(status, done, resident_case_open(&c));
    PS_GUARD(status, done, resident_case_particles(&c, sets, 1));
    for (size_t i = 0; i < sizeof experiments / sizeof *experiments; ++i) {
        const experiment *e = &experiments[i];
        if (strcmp(e->name, name) || (accuracy && e->accuracy != accuracy)) continue;
        PS_GUARD(status, done, measure(g, &c, e));
    }
done:
    resident_case_release(&c);
    return status;
}

int main(int argc, char **argv)
{
    static const char *const names[] = {"cube", "ellipsoid"};
    static const ps_distribution kinds[] = {PS_DISTRIBUTION_CUBE, PS_DISTRIBUTION_ELLIPSOID};
    ground g = {.n = argc > 1 ? atoll(argv[1]) : 30000000};
    ps_status status;
    PS_GUARD(status, done, PS_ALLOC(&g.columns, 4 * g.n, "particles"));
    PS_GUARD(status, done, PS_ALLOC(&g.results, 4 * g.n, "results"));
    PS_GUARD(status, done, PS_ALLOC(&g.exact, 4 * SAMPLES, "direct sums"));
    for (int d = 0; d < 2; ++d)
        if (argc < 3 || !strcmp(argv[2], names[d]))
            PS_GUARD(status, done,
                     measure_distribution(&g, kinds[d], names[d], argc > 3 ? atoi(argv[3]) : 0));
done:
    free(g.columns);
    free(g.results);
    free(g.exact);
    if (status == PS_OK) return 0;
    fprintf(stderr, "bench_fmm_evaluate: %s\n", ps_message());
    return 1;
}
