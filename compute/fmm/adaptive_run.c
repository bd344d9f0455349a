/* The evaluation of an adaptive tree, and its results in the order of the file. */
#include <stdlib.h>
#include <string.h>

#include "compute/fmm/adaptive_stretch.h"
#include "runtime/comm.h"
#include "runtime/first_failure.h"
#include "runtime/memory.h"
#include "runtime/sizes.h"

/* Direct sums of the samples, over the sorted sources. */
static ps_status sum_checks(fmm_run *r)
{
    fmm_check *checks[] = {r->work.check, r->work.samples};
    const fmm_problem *p = &r->problem;
    int64_t count = p->header->count[0];
    double start = ps_clock();
    for (int i = 0; i < 2; ++i) {
        if (!checks[i] || checks[i]->summed) continue;
        PS_TRY(p->lattice.axes ? fmm_periodic_direct(r->adaptive, p, checks[i])
               : r->adaptive->stretches
                   ? fmm_stretches_check(r, checks[i])
                   : fmm_check_share(p, checks[i], r->adaptive->columns[0], count, count));
        checks[i]->summed = true;
    }
    r->sample_seconds += ps_clock() - start;
    return PS_OK;
}

/* A thread's. */
typedef struct piece_room {
    fmm_source source;
    double *values; /* [piece_rows][targets that are taken at a time] */
    int64_t *places;
} piece_room;

/* Results, and the charges of targets whose energy is summed. */
static int64_t piece_rows(const fmm_problem *p)
{
    bool summed = p->same && ps_fmm_sum_is_plain(&p->sum);
    return ps_fmm_sum_rows(&p->sum) + (summed ? p->fmm.sides : 0);
}

/* Of values and places of so many targets. */
static int64_t taker_bytes(const fmm_run *r, int64_t taken)
{
    if (r->adaptive->stretches) return fmm_stretches_taker_bytes(r) + 8 * taken;
    return 8 * (1 + piece_rows(&r->problem)) * taken;
}

int64_t fmm_adaptive_pieces_bytes(const fmm_run *r)
{
    int64_t all = r->problem.header->count[1], taken = fmm_adaptive_taken(r);
    if (r->adaptive->stretches) return fmm_takers(r) * taker_bytes(r, taken);
    return taker_bytes(r, ps_smaller(r->run->threads * taken, all));
}

/* Sums of `count` targets, sums[FMM_PARTS][S] of each piece of them. */
static void sum_pieces(const fmm_problem *p, const fmm_values *values, const double *charges,
                       fmm_sums *sums)
{
    int sides = p->fmm.sides;
    for (int64_t at = 0; at < values->count; at += FMM_ADAPTIVE_PIECE) {
        fmm_values piece = {values->rows + at, values->stride,
                            ps_smaller(values->count - at, FMM_ADAPTIVE_PIECE)};
        fmm_group_sums(charges + at, &piece, sides, sums);
        sums += FMM_PARTS * sides;
    }
}

/* Results of targets of the file from memory, and, behind them, the charges of those that have an
 * energy. */
static void gather_piece(const fmm_run *r, int64_t first, int64_t count, double *values)
{
    const fmm_adaptive *a = r->adaptive;
    int64_t all = fmm_adaptive_count(a, fmm_adaptive_last(&r->problem));
    int rows = ps_fmm_sum_rows(&r->problem.sum), more = (int)piece_rows(&r->problem) - rows;
    const int64_t *from = a->inverse + first;
    for (int row = 0; row < rows; ++row)
        for (int64_t i = 0; i < count; ++i)
            values[row * count + i] = a->results[row * all + from[i]];
    for (int row = 0; row < more; ++row)
        for (int64_t i = 0; i < count; ++i)
            values[(rows + row) * count + i] = a->columns[0][(3 + row) * all + from[i]];
}

/* Results of targets [first, first + count) of the file; sums[FMM_PARTS][S] of each piece of
 * theirs.
 */
static ps_status take_piece(fmm_run *r, int64_t first, int64_t count, piece_room *room,
                            fmm_sums *sums)
{
    const fmm_adaptive *a = r->adaptive;
    const fmm_problem *p = &r->problem;
    int rows = ps_fmm_sum_rows(&p->sum);
    double *charges = room->values + rows * count;
    if (a->stretches)
        PS_TRY(fmm_stretches_take(r, first / fmm_adaptive_taken(r), &room->source, room->values,
                                  &charges));
    else
        gather_piece(r, first, count, room->values);
    fmm_periodic_scale(p, count, count, room->values);
    fmm_values values = {room->values, count, count};
    if (piece_rows(p) > rows) sum_pieces(p, &values, charges, sums);
    PS_TRY(fmm_source_read(&room->source, fmm_adaptive_side(fmm_adaptive_last(p)), first, count,
                           NULL, 0, room->places));
    return fmm_pass_results(&r->work, first, room->places, &values);
}

static ps_status piece_room_open(const fmm_run *r, piece_room *room)
{
    int64_t taken = fmm_adaptive_taken(r);
    memset(room, 0, sizeof *room);
    fmm_source_init(&room->source, &r->problem);
    PS_TRY(
        ps_alloc_untouched((void **)&room->values, taker_bytes(r, taken) - 8 * taken, "results"));
    return ps_alloc_untouched((void **)&room->places, 8 * taken, "places");
}

static void piece_room_close(piece_room *room)
{
    fmm_source_release(&room->source);
    PS_FREE(room->values, room->places);
}

/* All results, in the order of the file; their sums in the order of pieces. */
static ps_status take_all(fmm_run *r)
{
    const fmm_problem *p = &r->problem;
    int64_t all = p->header->count[fmm_adaptive_last(p)], taken = fmm_adaptive_taken(r),
            pieces = (all + FMM_ADAPTIVE_PIECE - 1) / FMM_ADAPTIVE_PIECE;
    int64_t each = FMM_PARTS * p->fmm.sides;
    ps_failure failure = {0};
    fmm_sums *sums;
    if (!r->adaptive->gpu) ps_memory_trim(); /* what vectors had, which the plan counts as gone */
    PS_TRY(PS_ALLOC(&sums, pieces * each, "sums"));
#pragma omp parallel num_threads(fmm_takers(r))
    {
        piece_room room;
        ps_note_failure(&failure, piece_room_open(r, &room));
#pragma omp for schedule(static)
        for (int64_t first = 0; first < all; first += taken)
            if (!ps_has_failed(&failure))
                ps_note_failure(&failure,
                                take_piece(r, first, ps_smaller(all - first, taken), &room,
                                           sums + first / FMM_ADAPTIVE_PIECE * each));
        piece_room_close(&room);
    }
    for (int64_t i = 0; i < pieces * each; ++i) {
        fmm_sums *to = &r->work.sums[i % p->fmm.sides];
        to->energy += sums[i].energy;
        to->magnitude += sums[i].magnitude;
        for (int d = 0; d < 3; ++d) to->force[d] += sums[i].force[d];
    }
    free(sums);
    return ps_first_failure(&failure);
}

/* What this rank has of the targets. */
static ps_status evaluate(fmm_run *r)
{
    fmm_adaptive *a = r->adaptive;
    ps_status status = a->stretches ? PS_OK : fmm_adaptive_room(r);
    fmm_adaptive_shares_release(&a->shares);
    if (status == PS_OK && (!a->gpu || a->stretches))
        status = fmm_adaptive_cut(r, r->problem.ranks, &a->shares);
    if (status == PS_OK) status = a->stretches ? fmm_stretches_run(r) : fmm_passes_run(r);
    return ps_comm_agree(status);
}

ps_status fmm_adaptive_run(fmm_run *r)
{
    fmm_adaptive *a = r->adaptive;
    bool grown = a->gpu && a->gpu->grown;
    double start = ps_clock();
    if (grown) {
        PS_TRY(fmm_adaptive_gpu_run_grown(r, a->gpu));
        r->seconds = ps_clock() - start;
        return PS_OK;
    }
    PS_TRY(sum_checks(r));
    start = ps_clock();
    PS_TRY(evaluate(r));
    PS_TRY(fmm_adaptive_gather(r));
    r->seconds = ps_clock() - start;
    return r->problem.rank ? PS_OK : take_all(r);
}
