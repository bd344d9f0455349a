/*
 * bench_fmm_adaptive: adaptive trees on one device: times of the sums and of their stages, with the
 * errors of potential and gradient against direct sums of a sample. "sums": tree and lists are made
 * by the threads of the host, which is told beside, and particles lie on the device in the tree's
 * order. "whole": from particles in any order on the device to results in it, the device making
 * the tree and its lists.
 *
 *     bench_fmm_adaptive plummer|cube COUNT LEAF_SIZES ORDERS [SAMPLES]
 *
 * e.g. bench_fmm_adaptive plummer 8000000 64,96,128 4,5. Accuracy is measured, not promised.
 */
#include <omp.h>
#include <stdio.h>

#include "tests/support/adaptive_device_case.h"

enum { ROUNDS = 4 };

typedef struct job {
    adaptive_places places;
    int64_t count, samples, leaf_size;
    int order;
} job;

static void describe(const job *j, const char *precision, const adaptive_device_case *d,
                     const double seconds[2], const double *stages, const double errors[3])
{
    printf("RESULT %s %lld l %d %s leaf %lld: sums %.2f ms (one stream %.2f), gradient error %.2g, "
           "potential error %.2g, %.2f GB\n    ms of stages on one stream (meet: P2P):",
           j->places == ADAPTIVE_CUBE ? "cube" : "plummer", (long long)j->count, j->order,
           precision, (long long)j->leaf_size, 1e3 * seconds[1], 1e3 * seconds[0], errors[1],
           errors[0], 1e-9 * (double)d->bytes);
    for (int s = 0; s < PS_ADAPTIVE_DEVICE_STAGES; ++s)
        printf(" %s %.2f", ps_adaptive_device_stage_names[s], 1e3 * stages[s]);
    printf("\n");
    fflush(stdout);
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
    printf("RESULT %s %lld l %d %s leaf %lld: whole %.2f ms, gradient error %.2g:",
           j->places == ADAPTIVE_CUBE ? "cube" : "plummer", (long long)j->count, j->order,
           precision, (long long)j->leaf_size, 1e3 * best, error);
    for (int s = 0; s < ADAPTIVE_WHOLE_STAGES; ++s) printf(" %s %.2f", names[s], 1e3 * kept[s]);
    printf("; tree's memory %.2f GB\n", 1e-9 * (double)w.used);
    fflush(stdout);
done:
    if (status != PS_OK) printf("whole: FAILED: %s\n", ps_message());
    adaptive_whole_close(d, &w);
    return PS_OK; /* what follows is of its own */
}

static ps_status time_precision(const job *j, adaptive_case *h, const ps_adaptive_plan *plan,
                                adaptive_device_case *d, bool mixed)
{
    double best[2] = {INFINITY, INFINITY}, stages[PS_ADAPTIVE_DEVICE_STAGES],
           kept[PS_ADAPTIVE_DEVICE_STAGES] = {0}, seconds, errors[3];
    PS_TRY(adaptive_device_take(d, h, plan, PS_DOUBLE, mixed ? PS_SINGLE : PS_DOUBLE));
    for (int round = 0; round < 2 * ROUNDS; ++round) {
        int apart = round % 2;
        PS_TRY(adaptive_device_run(d, !apart, &seconds, stages));
        if (round < 2 || seconds >= best[apart]) continue;
        best[apart] = seconds;
        if (!apart) memcpy(kept, stages, sizeof kept);
    }
    PS_TRY(adaptive_device_fetch(d, h->results));
    PS_TRY(adaptive_case_errors(h, j->samples, errors));
    describe(j, mixed ? "mixed" : "fp64", d, best, kept, errors);
    return time_whole(j, h, plan->rule, d, mixed ? "mixed" : "fp64", errors[1]);
}

/* A tree and its plan serve all orders and precisions. */
static ps_status bench(const job *first, char *orders, adaptive_device_case *d)
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
    PS_GUARD(status, done, ps_adaptive_plan_make(&h.tree, ps_adaptive_device_rule(5), &plan));
    seconds[1] = ps_clock() - start;
    PS_GUARD(status, done, ps_adaptive_count(&h.tree, &plan.rule, &work));
    double n = (double)j.count;
    printf(
        "leaf %lld: levels %d cells %lld leaves %lld; a particle: pairs %.0f V %.1f M2P %.3f P2L "
        "%.3f; host, %d threads: particles, sort and tree %.2f s, lists %.2f s\n",
        (long long)j.leaf_size, h.tree.levels, (long long)h.tree.cells, (long long)h.tree.leaves,
        (double)work.direct / n, (double)work.m2l / n, (double)work.m2p / n, (double)work.p2l / n,
        omp_get_max_threads(), seconds[0], seconds[1]);
    for (char *at = orders; *at && status == PS_OK; at += strcspn(at, ","), at += *at == ',') {
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
        for (int mixed = 0; mixed < 2 && status == PS_OK; ++mixed)
            status = time_precision(&j, &h, &plan, d, mixed);
    }
done:
    ps_adaptive_plan_release(&plan);
    adaptive_case_release(&h);
    return status;
}

int main(int argc, char **argv)
{
    if (argc < 5) {
        fprintf(stderr, "bench_fmm_adaptive plummer|cube COUNT LEAF_SIZES ORDERS [SAMPLES]\n");
        return 2;
    }
    job j = {.places = strcmp(argv[1], "cube") == 0 ? ADAPTIVE_CUBE : ADAPTIVE_PLUMMER,
             .count = atoll(argv[2]),
             .samples = argc > 5 ? atoll(argv[5]) : 300};
    adaptive_device_case d;
    ps_status status = adaptive_device_open(&d);
    for (char *at = argv[3]; *at && status == PS_OK; at += strcspn(at, ","), at += *at == ',') {
        j.leaf_size = atoll(at);
        status = bench(&j, argv[4], &d);
    }
    if (status != PS_OK) printf("FAILED: %s\n", ps_message());
    adaptive_device_release(&d);
    return status != PS_OK;
}
