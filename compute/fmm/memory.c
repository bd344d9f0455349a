/* What lies where within --host-memory, line by line. */

#include "compute/fmm/adaptive.h"
#include "formats/store_memory.h"
#include "runtime/sizes.h"

/* The queue's, with a few accesses and edges, and the record of a task. */
enum { TASK_BYTES = 1000, QUEUE_BYTES = 1 << 19, GAPS = 24 };

static bool has_tasks(const fmm_run *r) { return !r->resident && !r->adaptive; }
static bool has_stretches(const fmm_run *r) { return r->adaptive && !r->problem.header->sorted; }

/* Particles of a stretch: a chunk of the output. */
static int64_t stretch(const fmm_run *r)
{
    return ps_fmm_result_chunk_rows(r->problem.header->count[1]);
}

int64_t fmm_portions(const fmm_run *r)
{
    if (!has_stretches(r)) return ps_octree_groups(r->problem.fmm.targets, r->problem.leaf);
    return (r->problem.header->count[1] + stretch(r) - 1) / stretch(r);
}

void fmm_portion(const fmm_run *r, int64_t portion, int64_t *begin, int64_t *count)
{
    const ps_octree *tree = r->problem.fmm.targets;
    if (has_stretches(r)) {
        *begin = portion * stretch(r);
        *count = ps_smaller(r->problem.header->count[1] - *begin, stretch(r));
        return;
    }
    int64_t first, end;
    ps_octree_group(tree, r->problem.leaf, portion, &first, &end);
    *begin = tree->particle_start[first];
    *count = tree->particle_start[end] - *begin;
}

int64_t fmm_largest_portion(const fmm_run *r)
{
    int64_t most = 0, begin, count;
    for (int64_t i = 0; i < r->groups; ++i) {
        fmm_portion(r, i, &begin, &count);
        most = ps_larger(most, count);
    }
    return most;
}

static bool has_results(const fmm_run *r) { return r->problem.rank == 0; }

static int64_t results_bytes(const fmm_run *r)
{
    const fmm_problem *p = &r->problem;
    if (!has_results(r) || fmm_adaptive_is_straight(r)) return 0;
    return fmm_sink_bytes(p->header->count[1], &p->sum);
}

static fmm_sink_way way_of(const fmm_run *r, bool in_memory)
{
    return fmm_adaptive_is_straight(r) ? FMM_SINK_STRAIGHT
           : in_memory                 ? FMM_SINK_MEMORY
                                       : FMM_SINK_FILE;
}

static int64_t writer_bytes(const fmm_run *r, bool in_memory)
{
    const fmm_problem *p = &r->problem;
    return fmm_sink_writer_bytes(p->header->count[1], &p->sum, way_of(r, in_memory));
}

/* Of the samples that check and that tell the accuracy. */
static int64_t samples_bytes(const fmm_run *r,
                             int64_t (*bytes)(const fmm_problem *p, int64_t samples))
{
    const fmm_problem *p = &r->problem;
    return bytes(p, r->options->check) +
           bytes(p, p->accuracy > 0 ? fmm_samples_wanted(p) * 5 / 4 : 0);
}

/* What stays from the plan to the end. */
static void add_fixed(const fmm_run *r, int64_t staging, ps_ledger *l)
{
    const fmm_problem *p = &r->problem;
    ps_ledger_add(l, PS_ROOM_HOST, "unpacking",
                  r->run->threads * ps_store_reader_bytes(ps_octree_file_store(p->file)));
    ps_ledger_add(l, PS_ROOM_HOST, "samples", samples_bytes(r, fmm_check_bytes));
    if (!has_tasks(r))
        ps_ledger_add(l, PS_ROOM_HOST, "summing", samples_bytes(r, fmm_check_summing_bytes));
    ps_ledger_add(l, PS_ROOM_HOST, "sums",
                  r->groups * FMM_PARTS * p->fmm.sides * (int64_t)sizeof(fmm_sums));
    if (r->keeps)
        ps_ledger_add(l, PS_ROOM_HOST, "journal",
                      r->adaptive
                          ? fmm_adaptive_record_bytes(r)
                          : r->work.workers * fmm_largest_portion(r) * 8 * 4 * p->fmm.sides);
    ps_ledger_add(l, PS_ROOM_HOST, "staging", staging);
}

/* Results in memory, or on their way to the scratch file. */
static void add_results(const fmm_run *r, bool in_memory, ps_ledger *l)
{
    int64_t records =
        r->work.workers * fmm_largest_portion(r) * 8 * (2 + ps_fmm_sum_rows(&r->problem.sum));
    if (has_results(r) && !fmm_adaptive_is_straight(r))
        ps_ledger_add(l, PS_ROOM_HOST, "results", in_memory ? results_bytes(r) : records);
}

/* Loading by all threads, or by the one that inserts; tasks; the writing of results, when what
 * tasks had is gone. */
static void add_phases(const fmm_run *r, bool in_memory, int64_t pieces, int64_t writers,
                       ps_ledger *l)
{
    bool whole = pieces >= r->whole_bytes;
    bool tasks = has_tasks(r);
    int64_t reader = fmm_source_bytes(&r->problem),
            workers = tasks ? r->work.workers * fmm_scratch_bytes(&r->problem) : 0;
    /* Pieces that come and go leave gaps in the heap. */
    ps_ledger_add(l, PS_ROOM_HOST, "pieces", whole ? pieces : pieces + pieces / GAPS);
    if (!r->adaptive) /* it has read all before, in less than its staging */
        ps_ledger_add(l, PS_ROOM_HOST, "reading", whole ? r->run->threads * reader : reader);
    if (whole) ps_ledger_drop(l, "reading");
    if (tasks) { /* samples are summed before the first of them */
        ps_ledger_add(l, PS_ROOM_HOST, "workers", workers);
        ps_ledger_add(l, PS_ROOM_HOST, "summing", samples_bytes(r, fmm_check_summing_bytes));
        ps_ledger_drop(l, "summing");
        ps_ledger_add(l, PS_ROOM_HOST, "tasks", QUEUE_BYTES + r->tasks * TASK_BYTES);
    }
    ps_ledger_drop(l, "reading");
    ps_ledger_drop(l, "pieces");
    ps_ledger_drop(l, "workers");
    ps_ledger_drop(l, "tasks");
    if (r->adaptive) { /* vectors are gone when results leave, for the file or the sink */
        ps_ledger_drop(l, "staging");
        ps_ledger_add(l, PS_ROOM_HOST, "leaving", fmm_adaptive_leaving_bytes(r));
        if (!fmm_adaptive_is_straight(r)) ps_ledger_drop(l, "leaving");
    }
    if (has_results(r))
        ps_ledger_add(l, PS_ROOM_HOST, "writing",
                      fmm_sink_writing_bytes(r->problem.header->count[1], &r->problem.sum,
                                             way_of(r, in_memory), writers));
}

static int64_t disk_bytes(const fmm_run *r, bool in_memory, bool in_core)
{
    const fmm_problem *p = &r->problem;
    int rows = r->options->gradient ? ps_fmm_sum_rows(&p->sum)
                                    : p->sum.sides * ps_fmm_sum_components(&p->sum);
    int64_t output = 8 * rows * p->header->count[1];
    return output + (in_memory ? 0 : results_bytes(r)) + (in_core ? 0 : r->whole_bytes) +
           (r->keeps ? fmm_sink_bytes(p->header->count[1], &p->sum) : 0);
}

/* What is for those that write: of stretches each takes its results as well. */
static int64_t for_writers(const fmm_run *r, bool in_memory)
{
    int64_t each = writer_bytes(r, in_memory), more = fmm_adaptive_taker_bytes(r);
    return more > 0 ? r->writing / (each + more) * each : r->writing;
}

int fmm_takers(const fmm_run *r)
{
    if (r->adaptive && fmm_adaptive_takers(r) > 0) return fmm_adaptive_takers(r);
    return fmm_adaptive_is_straight(r) && r->writers < r->run->threads ? r->writers
                                                                       : r->run->threads;
}

/* What is shared out of --host-memory: pieces of all sizes come and go, and by how much the heap is
 * larger than they are differs from run to run by a percent. */
static int64_t shared_budget(const fmm_run *r)
{
    return r->run->host_memory - r->run->host_memory / 50;
}

/* What pieces may take beside the lines of `l`: all, where that fits. */
static int64_t room_for_pieces(const fmm_run *r, const ps_ledger *l)
{
    ps_ledger all = *l, least = *l;
    int64_t budget = shared_budget(r);
    add_phases(r, false, r->whole_bytes, 0, &all);
    if (all.most[PS_ROOM_HOST] <= budget) return r->whole_bytes;
    add_phases(r, false, 0, 0, &least);
    int64_t left = budget - least.now[PS_ROOM_HOST] - ps_ledger_most(&least, "reading") -
                   ps_ledger_most(&least, "workers") -
                   ps_larger(ps_ledger_most(&least, "tasks"), ps_ledger_most(&least, "summing"));
    left -= left / (GAPS + 1) + 1; /* rounded, gaps and all must not be a byte more */
    if (left >= r->whole_bytes) left = r->whole_bytes - 1;
    return left > r->largest_bytes ? left : r->largest_bytes;
}

/* What a run takes at least with results in memory, or in a scratch file: one writer, the pieces of
 * one task. */
static int64_t least_with(const fmm_run *r, const ps_ledger *fixed, bool in_memory)
{
    ps_ledger l = *fixed;
    add_results(r, in_memory, &l);
    add_phases(r, in_memory, r->largest_bytes, 1, &l);
    return l.most[PS_ROOM_HOST];
}

/* What is left of --host-memory goes to the results, if they and half of the rest fit, or if the
 * records of few targets would take more; and to the pieces. */
ps_status fmm_share_memory(fmm_run *r, int64_t staging, int64_t device)
{
    int64_t budget = shared_budget(r), results = results_bytes(r);
    int64_t targets = r->problem.header->count[1];
    ps_ledger fixed;
    ps_ledger_open(&fixed, r->run);
    add_fixed(r, staging, &fixed);
    r->ledger = fixed;
    int64_t in_file = least_with(r, &fixed, false), beside_all = least_with(r, &fixed, true);

    int64_t left = budget - fixed.now[PS_ROOM_HOST];
    int64_t writer = writer_bytes(r, true);
    int64_t beside = r->whole_bytes > writer ? r->whole_bytes : writer;
    bool in_memory = results + beside <= left || 4 * results <= left || beside_all <= in_file;
    add_results(r, in_memory, &r->ledger);
    r->sink_budget = in_memory ? results : 0;
    r->pool_budget = room_for_pieces(r, &r->ledger);
    r->writing = budget - r->ledger.now[PS_ROOM_HOST];
    r->writers =
        fmm_sink_writers(targets, &r->problem.sum, way_of(r, in_memory), for_writers(r, in_memory));
    add_phases(r, in_memory, r->pool_budget, r->writers, &r->ledger);
    r->ledger.least = ps_smaller(in_file, beside_all);
    ps_ledger_add(&r->ledger, PS_ROOM_DEVICE, "device", device);
    ps_ledger_add(&r->ledger, PS_ROOM_DISK, "files",
                  disk_bytes(r, in_memory, r->pool_budget >= r->whole_bytes));
    return ps_ledger_check(&r->ledger, r->run->host_memory,
                           "smaller groups (penstock-octree-build --group) or fewer --workers need "
                           "less");
}
