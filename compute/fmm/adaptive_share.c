/*
 * Targets of an adaptive tree in portions (kernels/fmm/adaptive_share.h): which a rank has, which
 * an earlier start has done, results to the first rank.
 */
#include <stdlib.h>
#include <string.h>

#include "compute/fmm/adaptive_stretch.h"
#include "runtime/balance.h"
#include "runtime/comm.h"
#include "runtime/memory.h"
#include "runtime/progress.h"
#include "runtime/scope.h"
#include "runtime/sizes.h"

static int rows_of(const fmm_run *r) { return ps_fmm_sum_rows(&r->problem.sum); }

static int64_t stride_of(const fmm_run *r)
{
    return fmm_adaptive_count(r->adaptive, fmm_adaptive_last(&r->problem));
}

static ps_fmm_range targets_of(const fmm_run *r, int64_t portion)
{
    return ps_adaptive_portion_targets(&r->adaptive->tree, portion, portion + 1);
}

/* ---- who has what ---- */

/* What is left to do of each portion. */
static void sum_portions(const fmm_run *r, const int64_t *leaves, int64_t *portions)
{
    int64_t passes = ps_fmm_sum_passes(&r->problem.sum);
    for (int64_t n = 0; n < ps_adaptive_portions(&r->adaptive->tree); ++n) {
        ps_fmm_range own = ps_adaptive_portion_leaves(&r->adaptive->tree, n, n + 1);
        portions[n] = 0;
        for (int64_t l = own.begin; l < own.end; ++l) portions[n] += leaves[l];
        if (r->done) portions[n] = portions[n] * (passes - r->done[n]) / passes;
    }
}

static ps_status weigh(const fmm_run *r, int64_t *portions)
{
    const fmm_adaptive *a = r->adaptive;
    PS_SCOPED_MEMORY int64_t *leaves = NULL;
    PS_TRY(PS_ALLOC(&leaves, a->tree.leaves, "work of leaves"));
    PS_TRY(ps_adaptive_leaf_work(&a->tree, &a->problem.rule, fmm_adaptive_costs(r), leaves));
    sum_portions(r, leaves, portions);
    return PS_OK;
}

ps_status fmm_adaptive_cut(const fmm_run *r, int ranks, fmm_adaptive_shares *out)
{
    int64_t portions = ps_adaptive_portions(&r->adaptive->tree);
    PS_SCOPED_MEMORY int64_t *work = NULL;
    PS_TRY(PS_ALLOC(&work, portions, "work of portions"));
    PS_TRY(PS_ALLOC(&out->first, ranks + 1, "portions of ranks"));
    PS_TRY(PS_ALLOC(&out->work, ranks, "work of ranks"));
    out->first[ranks] = portions;
    if (ranks == 1) return PS_OK;
    PS_TRY(weigh(r, work));
    ps_split_equal(work, portions, ranks, out->first);
    for (int k = 0; k < ranks; ++k)
        for (int64_t n = out->first[k]; n < out->first[k + 1]; ++n) out->work[k] += (double)work[n];
    return PS_OK;
}

void fmm_adaptive_shares_release(fmm_adaptive_shares *shares)
{
    PS_FREE(shares->first, shares->work);
    *shares = (fmm_adaptive_shares){0};
}

/* Sorted targets of a rank. */
static ps_fmm_range share_of(const fmm_run *r, const fmm_adaptive_shares *shares, int rank)
{
    const fmm_adaptive_gpu *g = r->adaptive->gpu;
    if (g) return (ps_fmm_range){g->share.first[rank], g->share.first[rank + 1]};
    return ps_adaptive_portion_targets(&r->adaptive->tree, shares->first[rank],
                                       shares->first[rank + 1]);
}

ps_status fmm_adaptive_traffic(const fmm_run *r, int ranks, ps_rank_traffic *out)
{
    PS_SCOPED(fmm_adaptive_shares_release) fmm_adaptive_shares shares = {0};
    if (r->adaptive->gpu)
        return ps_fail(PS_USAGE,
                       "--ranks: what ranks of an adaptive tree send is counted on cores: "
                       "give --device cpu as well");
    *out = (ps_rank_traffic){.unit = "run", .ranks = ranks, .sums = -1};
    PS_TRY(fmm_adaptive_cut(r, ranks, &shares));
    for (int k = 0; k < ranks; ++k) {
        int64_t targets = ps_adaptive_size(share_of(r, &shares, k));
        int rows = k > 0 && targets > 0 ? rows_of(r) : 0;
        ps_rank_traffic_add(out, rows, 8 * rows * targets, shares.work[k]);
    }
    return PS_OK;
}

/* ---- results of an earlier start ---- */

ps_status fmm_adaptive_room(fmm_run *r)
{
    if (r->adaptive->results) return PS_OK;
    return ps_alloc_buffer((void **)&r->adaptive->results, 8 * rows_of(r) * stride_of(r),
                           "results");
}

/* An item of the journal: a portion after a pass. */
static int64_t item_of(int64_t portion, int pass) { return portion * PS_FMM_PASSES_MAX + pass; }

ps_status fmm_adaptive_restore(void *context, int64_t item, const fmm_sums *sums,
                               const double *values, int64_t count)
{
    fmm_run *r = context;
    int64_t portion = item / PS_FMM_PASSES_MAX;
    int pass = (int)(item % PS_FMM_PASSES_MAX);
    if (item < 0 || portion >= ps_adaptive_portions(&r->adaptive->tree) ||
        pass >= ps_fmm_sum_passes(&r->problem.sum))
        return ps_fail(PS_INVALID, "the journal has results of a portion that is not there");
    ps_fmm_range targets = targets_of(r, portion);
    int64_t some = ps_adaptive_size(targets);
    if (count != rows_of(r) * some)
        return ps_fail(PS_INVALID, "the journal has results of another size");
    if (r->done[portion] > pass) return PS_OK;
    if (r->adaptive->stretches)
        PS_TRY(fmm_stretches_restore(r, targets, values));
    else
        PS_TRY(fmm_adaptive_room(r));
    for (int row = 0; r->adaptive->results && row < rows_of(r) && some > 0; ++row)
        memcpy(r->adaptive->results + row * stride_of(r) + targets.begin, values + row * some,
               8 * (size_t)some);
    r->done[portion] = (uint8_t)(pass + 1);
    return PS_OK;
}

int64_t fmm_adaptive_items(const fmm_run *r) { return ps_adaptive_portions(&r->adaptive->tree); }

ps_status fmm_adaptive_restored(fmm_run *r)
{
    if (r->problem.ranks == 1) return PS_OK;
    PS_TRY(ps_comm_agree(fmm_adaptive_room(r)));
    for (int64_t n = 0; n < ps_adaptive_portions(&r->adaptive->tree); ++n) {
        ps_fmm_range targets = targets_of(r, n);
        for (int row = 0; r->done[n] && row < rows_of(r); ++row)
            PS_TRY(ps_comm_broadcast(r->adaptive->results + row * stride_of(r) + targets.begin,
                                     8 * ps_adaptive_size(targets), 0));
    }
    return PS_OK;
}

/* ---- evaluating ---- */

int64_t fmm_adaptive_record_bytes(const fmm_run *r)
{
    int64_t most = 0;
    for (int64_t n = 0; n < ps_adaptive_portions(&r->adaptive->tree); ++n)
        most = ps_larger(most, ps_adaptive_size(targets_of(r, n)));
    return 2 * 8 * rows_of(r) * most;
}

/* Keeps the results of a portion. */
static ps_status keep(fmm_run *r, int64_t item, const fmm_values *results)
{
    static const fmm_sums none[FMM_PARTS * PS_RIGHT_HAND_SIDES_MAX];
    int64_t some = results->count, count = rows_of(r) * some;
    PS_SCOPED_MEMORY double *values = NULL;
    if (!ps_journal_wants(r->work.journal, 8 * count)) return PS_OK;
    PS_TRY(PS_ALLOC(&values, count + 1, "results of a portion"));
    for (int row = 0; row < rows_of(r) && some > 0; ++row)
        memcpy(values + row * some, results->rows + row * results->stride, 8 * (size_t)some);
    return fmm_journal_add(r->work.journal, item, none, r->problem.fmm.sides, values, count);
}

ps_status fmm_adaptive_keep(fmm_run *r, int pass, int64_t first, int64_t end,
                            const fmm_values *results)
{
    int64_t begin = targets_of(r, first).begin;
    for (int64_t n = first; n < end; ++n) {
        ps_fmm_range t = targets_of(r, n);
        const fmm_values own = {results->rows + t.begin - begin, results->stride,
                                ps_adaptive_size(t)};
        PS_TRY(keep(r, item_of(n, pass), &own));
    }
    return PS_OK;
}

/* What a pass has found for portions [first, end) becomes part of the results, and is kept. */
static ps_status finish(fmm_run *r, int pass, int64_t first, int64_t end)
{
    fmm_adaptive *a = r->adaptive;
    ps_fmm_range t = ps_adaptive_portion_targets(&a->tree, first, end);
    int64_t some = ps_adaptive_size(t), all = stride_of(r);
    const ps_fmm_rows results = {a->results + t.begin, all, some};
    for (int row = 0; a->found && pass == 0 && row < rows_of(r); ++row)
        memset(results.at + row * all, 0, 8 * (size_t)some);
    if (a->found)
        ps_fmm_sum_add(&r->problem.sum, pass, &(ps_fmm_rows){a->found + t.begin, all, some},
                       &results);
    return fmm_adaptive_keep(r, pass, first, end, &(fmm_values){results.at, all, some});
}

/* Portions at a time: all where nothing is kept; else what takes some seconds, and work for all
 * threads. */
static int64_t batch_of(const fmm_run *r, int64_t own)
{
    enum { SECONDS = 2, MANY = 4 };
    int64_t few = ps_larger(r->run->threads, 1);
    if (!r->keeps || own == 0) return own;
    if (r->options->checkpoint_every.steps > 0) return few;
    double each = fmm_adaptive_forecast(r) / (double)ps_adaptive_portions(&r->adaptive->tree);
    return ps_larger(MANY * few, (int64_t)ps_smaller((int64_t)(SECONDS / (each + 1e-9)), own));
}

static bool is_done(const fmm_run *r, int pass, int64_t portion)
{
    return r->done && r->done[portion] > pass;
}

ps_status fmm_adaptive_batches(fmm_run *r, int pass, ps_adaptive_evaluation *e)
{
    const fmm_adaptive *a = r->adaptive;
    int64_t first = a->shares.first[r->problem.rank], end = a->shares.first[r->problem.rank + 1];
    int64_t batch = batch_of(r, end - first);
    ps_progress progress;
    ps_progress_start(&progress, "computing", "portions", 0, end - first);
    for (int64_t at = first, next; at < end; at = next) {
        next = at + 1;
        if (is_done(r, pass, at)) continue;
        while (next < end && next - at < batch && !is_done(r, pass, next)) ++next;
        if (e) PS_TRY(ps_adaptive_evaluate_portions(e, at, next));
        PS_TRY(e ? finish(r, pass, at, next) : fmm_stretches_evaluate(r, at, &next));
        ps_progress_update(&progress, next - first);
    }
    ps_progress_end(&progress);
    return PS_OK;
}

/* ---- results to the first rank ---- */

ps_status fmm_adaptive_gather(fmm_run *r)
{
    int rank = r->problem.rank, ranks = r->problem.ranks, rows = rows_of(r), count = 0;
    PS_SCOPED_MEMORY ps_comm_exchange *list = NULL;
    ps_comm_pending *pending = NULL;
    if (ranks == 1) return PS_OK;
    PS_TRY(ps_comm_agree(PS_ALLOC(&list, rows * ranks, "exchange of results")));
    for (int k = 1; k < ranks; ++k) {
        ps_fmm_range t = share_of(r, &r->adaptive->shares, k);
        int64_t bytes = 8 * ps_adaptive_size(t);
        if (bytes == 0 || (rank && rank != k)) continue;
        for (int row = 0; row < rows; ++row) {
            double *at = r->adaptive->results + row * stride_of(r) + t.begin;
            list[count++] = rank ? (ps_comm_exchange){0, at, NULL, bytes, 0}
                                 : (ps_comm_exchange){k, NULL, at, 0, bytes};
            *(rank ? &r->sent_bytes : &r->received_bytes) += bytes;
        }
    }
    PS_TRY(ps_comm_exchange_start(list, count, &pending));
    return ps_comm_exchange_wait(&pending);
}
