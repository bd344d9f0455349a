/*
 * bench_fmm_adaptive: adaptive trees on one device: times of the sums and of their stages, with the
 * errors of potential and gradient against direct sums of a sample. "sums": tree and lists are made
 * by the threads of the host, which is told beside, and particles lie on the device in the tree's
 * order. "whole": from particles in any order on the device to results in it, the device making
 * the tree and its lists.
 *
 *     bench_fmm_adaptive [plummer|cube|clusters COUNT LEAF_SIZES ORDERS [SAMPLES [PRECISIONS]]]
 *
 * e.g. bench_fmm_adaptive plummer 8000000 64,96,128 4,5 300 mixed,fp64; without arguments Plummer's
 * 8 and 30 million and 100 million in clusters, in fp64 and mixed. JSON records of "whole" and of
 * the gradient's error, the talk on stderr. Accuracy is measured, not promised. The floor counts
 * P2P in slots of multiply-adds (19 a pair in fp64, 14 in fp32), alone.
 */
#include <omp.h>
#include <stdio.h>

#include "runtime/program.h"
#include "tests/support/adaptive_device_case.h"
#include "tests/support/record.h"

enum { ROUNDS = 4 };
static const double slots[2] = {55.9e12 / 2, 32.3e12 / 2}; /* multiply-adds/s, fp32, fp64 */
static const char *const names_of[ADAPTIVE_PLACES] = {
    [ADAPTIVE_CUBE] = "cube", [ADAPTIVE_PLUMMER] = "plummer", [ADAPTIVE_CLUSTERS] = "clusters"};

static const struct {
    const char *name;
    ps_precision far, near;
} precisions[] = {{"fp64", PS_DOUBLE, PS_DOUBLE},
                  {"mixed", PS_DOUBLE, PS_SINGLE},
                  {"fp32", PS_SINGLE, PS_SINGLE}};
enum { PRECISIONS = sizeof precisions / sizeof *precisions };

typedef struct job {
    adaptive_places places;
    const char *precisions; /* a list */
    int64_t count, samples, leaf_size;
    int order;
    double pairs; /* of P2P */
} job;

static void describe(const job *j, const char *precision, const adaptive_device_case *d,
                     const double seconds[2], const double *stages, const double errors[3])
{
    fprintf(
        stderr,
        "RESULT %s %lld l %d %s leaf %lld: sums %.2f ms (one stream %.2f), gradient error %.2g, "
        "potential error %.2g, %.2f GB\n    ms of stages on one stream (meet: P2P):",
        names_of[j->places], (long long)j->count, j->order, precision, (long long)j->leaf_size,
        1e3 * seconds[1], 1e3 * seconds[0], errors[1], errors[0], 1e-9 * (double)d->bytes);
    for (int s = 0; s < PS_ADAPTIVE_DEVICE_STAGES; ++s)
        fprintf(stderr, " %s %.2f", ps_adaptive_device_stage_names[s], 1e3 * stages[s]);
    fprintf(stderr, "\n");
}

static void record(const job *j, const char *precision, const adaptive_device_case *d,
                   const char *quantity, double value, const char *unit)
{
    bool fp32 = strcmp(precision, "fp64") != 0, time = unit[0] == 's';
    double floor = time ? j->pairs * (fp32 ? 14 / slots[0] : 19 / slots[1]) : 0;
    bench_record(
        bench_device(d->device),
        text("fmm-%s-%lldm", names_of[j->places], (long long)(j->count / 1000000)),
        text("%s, %s, order %d", quantity, precision, j->order), value, unit, floor,
        text("%lld particles, leaves of %lld", (long long)j->count, (long long)j->leaf_size));
}

/* ---- where growing takes its time ---- */

/* An engine that waits after each step. */
typedef struct timed_growth {
    ps_growth_engine of;
    ps_stream *stream;
    double each[PS_GROWTH_STEPS], others; /* others: scans, sorts, copies */
} timed_growth;

static ps_status wait_for(timed_growth *t, double start, double *to)
{
    PS_TRY(ps_stream_wait(t->stream));
    *to += ps_clock() - start;
    return PS_OK;
}

static ps_status timed_each(void *self, ps_growth_step step, const ps_growth_arrays *arrays,
                            int64_t count)
{
    timed_growth *t = self;
    double start = ps_clock();
    PS_TRY(t->of.each(t->of.self, step, arrays, count));
    return wait_for(t, start, &t->each[step]);
}

static ps_status timed_scan(void *self, const int32_t *from, int32_t *to, int64_t count)
{
    timed_growth *t = self;
    double start = ps_clock();
    PS_TRY(t->of.scan(t->of.self, from, to, count));
    return wait_for(t, start, &t->others);
}

static ps_status timed_sort(void *self, uint64_t **labels, int32_t **numbers, int64_t count,
                            int bits)
{
    timed_growth *t = self;
    double start = ps_clock();
    PS_TRY(t->of.sort(t->of.self, labels, numbers, count, bits));
    return wait_for(t, start, &t->others);
}

static ps_status plain_zero(void *self, void *at, int64_t bytes)
{
    timed_growth *t = self;
    return t->of.zero(t->of.self, at, bytes);
}

static ps_status plain_take(void *self, void *host, const void *from, int64_t bytes)
{
    timed_growth *t = self;
    return t->of.take(t->of.self, host, from, bytes);
}

static ps_status plain_give(void *self, void *to, const void *host, int64_t bytes)
{
    timed_growth *t = self;
    return t->of.give(t->of.self, to, host, bytes);
}

static ps_status plain_room(void *self, int64_t bytes, void **out)
{
    timed_growth *t = self;
    return t->of.room(t->of.self, bytes, out);
}

/* After a whole run: the tree once more, step by step; the work that the device counts. */
static ps_status time_growth(const adaptive_case *h, ps_adaptive_rule rule, adaptive_device_case *d,
                             adaptive_whole *w)
{
    ps_device_growth growth = {
        .stream = d->streams[0], .block = w->memory, .bytes = w->memory_bytes};
    timed_growth t = {.of = ps_device_growth_engine(&growth), .stream = d->streams[0]};
    ps_growth_engine engine = {&t,         timed_each, timed_scan, timed_sort,
                               plain_zero, plain_take, plain_give, plain_room};
    ps_adaptive_work work;
    PS_TRY(
        ps_adaptive_grow(&engine, w->sort.keys, rule, NULL, &w->tree, &w->plan, w->parts, &work));
    fprintf(stderr, "    ms of steps of growth (adaptive_growth.h), each waited for:");
    for (int s = 0; s < PS_GROWTH_STEPS; ++s) fprintf(stderr, " %d: %.2f", s, 1e3 * t.each[s]);
    fprintf(stderr, ", others %.2f; a particle: pairs %.1f V %.2f M2P %.4f P2L %.4f\n",
            1e3 * t.others, (double)work.direct / (double)h->count[0],
            (double)work.m2l / (double)h->count[0], (double)work.m2p / (double)h->count[0],
            (double)work.p2l / (double)h->count[0]);
    return PS_OK;
}

/* All on the device: sort, tree, lists, sums, order. */
static ps_status time_whole(const job *j, const adaptive_case *h, ps_adaptive_rule rule,
                            adaptive_device_case *d, const char *precision, double error)
{
    static const char *const names[ADAPTIVE_WHOLE_STAGES] = {"sort", "gather", "tree and lists",
                                                             "sums", "scatter"};
    double best = INFINITY, seconds, stages[ADAPTIVE_WHOLE_STAGES], kept[ADAPTIVE_WHOLE_STAGES];
    adaptive_whole w;
    ps_status status;
    int64_t memory = ps_device_describe(d->device).memory_free;
    PS_GUARD(status, done,
             adaptive_whole_open(d, memory - memory / 8 - 150 * j->count - (int64_t)2e9, &w));
    for (int round = 0; round <= ROUNDS; ++round) {
        PS_GUARD(status, done, adaptive_whole_run(d, &w, rule, &seconds, stages));
        if (round == 0 || seconds >= best) continue;
        best = seconds;
        memcpy(kept, stages, sizeof kept);
    }
    fprintf(stderr, "RESULT %s %lld l %d %s leaf %lld: whole %.2f ms, gradient error %.2g:",
            names_of[j->places], (long long)j->count, j->order, precision, (long long)j->leaf_size,
            1e3 * best, error);
    for (int s = 0; s < ADAPTIVE_WHOLE_STAGES; ++s)
        fprintf(stderr, " %s %.2f", names[s], 1e3 * kept[s]);
    fprintf(stderr, "; tree's memory %.2f GB\n", 1e-9 * (double)w.used);
    if (strcmp(precision, "mixed") == 0) PS_GUARD(status, done, time_growth(h, rule, d, &w));
    record(j, precision, d, "whole", best, "s");
    record(j, precision, d, "error of the gradient", error, "1");
done:
    if (status != PS_OK) fprintf(stderr, "whole: FAILED: %s\n", ps_message());
    adaptive_whole_close(d, &w);
    return PS_OK; /* what follows is of its own */
}

static ps_status time_precision(const job *j, adaptive_case *h, const ps_adaptive_plan *plan,
                                adaptive_device_case *d, int precision)
{
    double best[2] = {INFINITY, INFINITY}, stages[PS_ADAPTIVE_DEVICE_STAGES],
           kept[PS_ADAPTIVE_DEVICE_STAGES] = {0}, seconds, errors[3];
    const char *name = precisions[precision].name;
    PS_TRY(adaptive_device_take(d, h, plan, precisions[precision].far, precisions[precision].near));
    for (int round = 0; round < 2 * ROUNDS; ++round) {
        int apart = round % 2;
        PS_TRY(adaptive_device_run(d, !apart, &seconds, stages));
        if (round < 2 || seconds >= best[apart]) continue;
        best[apart] = seconds;
        if (!apart) memcpy(kept, stages, sizeof kept);
    }
    PS_TRY(adaptive_device_fetch(d, h->results));
    PS_TRY(adaptive_case_errors(h, j->samples, errors));
    describe(j, name, d, best, kept, errors);
    return time_whole(j, h, plan->rule, d, name, errors[1]);
}

/* What a list of names begins with. */
static int precision_at(const char *names)
{
    int p = 0;
    while (p < PRECISIONS - 1 && strncmp(names, precisions[p].name, strcspn(names, ","))) ++p;
    return p;
}

/* A tree and its plan serve all orders and precisions. */
static ps_status bench(const job *first, const char *orders, adaptive_device_case *d)
{
    adaptive_case h;
    ps_adaptive_plan plan = {0};
    ps_adaptive_work work;
    job j = *first;
    double start = ps_clock(), seconds[2];
    ps_status status;
    PS_GUARD(status, done, adaptive_case_tree(&h, j.places, j.count, 0, j.leaf_size));
    seconds[0] = ps_clock() - start;
    start = ps_clock();
    PS_GUARD(status, done, ps_adaptive_plan_make(&h.tree, ps_adaptive_device_rule(5), NULL, &plan));
    seconds[1] = ps_clock() - start;
    PS_GUARD(status, done, ps_adaptive_count(&h.tree, &plan.rule, &work));
    double n = (double)j.count;
    j.pairs = (double)work.direct;
    fprintf(
        stderr,
        "leaf %lld: levels %d cells %lld leaves %lld; a particle: pairs %.0f V %.1f M2P %.3f P2L "
        "%.3f; host, %d threads: particles, sort and tree %.2f s, lists %.2f s\n",
        (long long)j.leaf_size, h.tree.levels, (long long)h.tree.cells, (long long)h.tree.leaves,
        (double)work.direct / n, (double)work.m2l / n, (double)work.m2p / n, (double)work.p2l / n,
        omp_get_max_threads(), seconds[0], seconds[1]);
    for (const char *at = orders; *at && status == PS_OK;
         at += strcspn(at, ","), at += *at == ',') {
        j.order = atoi(at);
        for (int l = 0; l < PS_ADAPTIVE_LEVELS; ++l) {
            free(h.blocks[l]);
            h.blocks[l] = NULL;
        }
        free(h.results);
        free(h.vectors);
        free(h.workspace);
        h.results = NULL;
        h.vectors = h.workspace = NULL;
        PS_GUARD(status, done, adaptive_case_init(&h, j.order, 1));
        for (const char *p = j.precisions; *p && status == PS_OK;
             p += strcspn(p, ","), p += *p == ',')
            status = time_precision(&j, &h, &plan, d, precision_at(p));
    }
done:
    ps_adaptive_plan_release(&plan);
    adaptive_case_release(&h);
    return status;
}

static ps_status bench_leaves(job *j, const char *leaves, const char *orders,
                              adaptive_device_case *d)
{
    ps_status status = PS_OK;
    for (const char *at = leaves; *at && status == PS_OK;
         at += strcspn(at, ","), at += *at == ',') {
        j->leaf_size = atoll(at);
        status = bench(j, orders, d);
    }
    return status;
}

static ps_status bench_all(adaptive_device_case *d)
{
    job j = {
        .places = ADAPTIVE_PLUMMER, .precisions = "fp64,mixed", .count = 8000000, .samples = 300};
    PS_TRY(bench_leaves(&j, "96", "4,5", d));
    j.count = 30000000;
    PS_TRY(bench_leaves(&j, "96", "4,5", d));
    j.places = ADAPTIVE_CLUSTERS;
    j.count = 100000000;
    j.samples = 100;
    return bench_leaves(&j, "96", "4", d);
}

int main(int argc, char **argv)
{
    adaptive_device_case d;
    ps_status status = adaptive_device_open(&d);
    if (status == PS_OK && argc < 5) status = bench_all(&d);
    if (status == PS_OK && argc >= 5) {
        job j = {.precisions = argc > 6 ? argv[6] : "fp64,mixed",
                 .count = atoll(argv[2]),
                 .samples = argc > 5 ? atoll(argv[5]) : 300};
        for (int p = 0; p < ADAPTIVE_PLACES; ++p)
            if (names_of[p] && strcmp(argv[1], names_of[p]) == 0) j.places = (adaptive_places)p;
        status = bench_leaves(&j, argv[3], argv[4], &d);
    }
    if (status != PS_OK) fprintf(stderr, "FAILED: %s\n", ps_message());
    adaptive_device_release(&d);
    return status != PS_OK;
}
