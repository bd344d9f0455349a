/* What a solve takes of --host-memory, line by line. */

#include "compute/hbem_solve/solve.h"
#include "formats/store_memory.h"

/* Of a leaf that is kept in memory: tables of products, headers of the allocator. */
enum { BYTES_A_LEAF = 256 };

/* Of a thread that unpacks a matrix from its parts, whose datasets have chunks of so many bytes. */
static int64_t unpacker_bytes(const matrix *m)
{
    enum { CHUNK = 1 << 20, CONTEXT = 100 << 10 };
    int64_t most = matrix_least_bytes(m);
    return (most < CHUNK ? most : CHUNK) + CONTEXT;
}

/* Readers of files that stay open, and a writer. */
static void add_files(const solve_problem *p, ps_ledger *l)
{
    enum { UNPACKERS = 2 };
    int64_t readers = 0, solution = 8 * 2 * problem_size(p) * p->load_count * p->group_count;
    int64_t chunk = solution < 1 << 20 ? solution : 1 << 20;
    for (int i = 0; i < p->matrix_count; ++i)
        if (p->matrices[i].file) readers += UNPACKERS * unpacker_bytes(&p->matrices[i]);
    ps_ledger_add(l, PS_ROOM_HOST, "reading", readers);
    ps_ledger_add(l, PS_ROOM_HOST, "writing", chunk + ps_store_writer_bytes(chunk));
    ps_ledger_add(l, PS_ROOM_DISK, "files", 2 * solution);
    /* Those that a batch keeps, and the one that is being written. */
    ps_ledger_add(l, PS_ROOM_DISK, "checkpoints", (p->run->keep + 1) * state_bytes(p, p->batch));
}

/* Matrices of a group in memory, and what assembling them takes beside. */
static void add_assembled(const solve_problem *p, int count, matrix *const *m, ps_ledger *l)
{
    int64_t touched = 0;
    for (int i = 0; i < count; ++i) {
        const core_matrix *c = m[i]->core;
        int64_t workspace = ps_hbem_matrix_plan_workspaces(&c->plan, p->run->threads);
        ps_ledger_add(l, PS_ROOM_HOST, "matrices",
                      m[i]->bytes + BYTES_A_LEAF * m[i]->shape->leaf_count);
        touched = workspace > touched ? workspace : touched;
    }
    ps_ledger_add(l, PS_ROOM_HOST, "assembling", touched);
    ps_ledger_drop(l, "assembling");
}

/* Matrices of a group that are streamed, from what is left, by their sizes. With a ledger `least`
 * also what they need at least. */
static ps_status add_streamed(const solve_problem *p, int count, matrix *const *m, ps_ledger *l,
                              ps_ledger *least)
{
    int64_t all = 0, room = ps_ledger_left(l, p->run->host_memory);
    for (int i = 0; i < count; ++i) {
        int64_t fixed = matrix_fixed_bytes(m[i], p->batch);
        all += m[i]->bytes;
        room -= fixed;
        ps_ledger_add(l, PS_ROOM_HOST, "tables", fixed);
        ps_ledger_add(least, PS_ROOM_HOST, "tables", fixed);
        ps_ledger_add(least, PS_ROOM_HOST, "matrices", matrix_least_bytes(m[i]));
    }
    for (int i = 0; i < count && all > 0; ++i) {
        int64_t bytes, share = (int64_t)((double)room * (double)m[i]->bytes / (double)all);
        if (matrix_stream_bytes(m[i], share, &bytes) != PS_OK) bytes = matrix_least_bytes(m[i]);
        ps_ledger_add(l, PS_ROOM_HOST, "matrices", bytes);
    }
    return PS_OK;
}

static ps_status add_group(const solve_problem *p, const solve_group *group, ps_ledger *l,
                           ps_ledger *least)
{
    matrix *m[SLOTS];
    int count = group_matrices(p, group, m);
    if (p->scene_count == 0) return add_streamed(p, count, m, l, least);
    for (int i = 0; i < count; ++i) PS_TRY(core_matrix_prepare(m[i]->core));
    if (!p->device) add_assembled(p, count, m, l);
    if (!p->device) add_assembled(p, count, m, least);
    for (int i = 0; i < count && p->group_count > 1; ++i) core_matrix_drop(m[i]->core);
    return PS_OK;
}

/* What is left for vectors and matrices. Streams take all of it, and leave what a process varies
 * by; assembled matrices take what they take, and may come that near. */
static int64_t room_left(const solve_problem *p)
{
    if (p->scene_count == 0) return ps_ledger_left(&p->ledger, p->run->host_memory);
    return p->run->host_memory - p->ledger.now[PS_ROOM_HOST];
}

/* The group that takes the most counts: one after the other is solved. */
ps_status plan_memory(solve_problem *p)
{
    ps_ledger most = {0}, least_most = {0};
    ps_ledger_open(&p->ledger, p->run);
    p->room = room_left(p);
    p->batch = choose_batch(p);
    add_files(p, &p->ledger);
    p->room = room_left(p);
    ps_ledger_add(&p->ledger, PS_ROOM_HOST, "vectors", batch_bytes(p, p->batch));
    for (int g = 0; g < p->group_count; ++g) {
        ps_ledger l = p->ledger, least = p->ledger;
        PS_TRY(add_group(p, &p->groups[g], &l, &least));
        if (l.most[PS_ROOM_HOST] > most.most[PS_ROOM_HOST]) most = l;
        if (least.most[PS_ROOM_HOST] > least_most.most[PS_ROOM_HOST]) least_most = least;
    }
    if (p->group_count > 0) p->ledger = most;
    p->ledger.least = least_most.most[PS_ROOM_HOST];
    return ps_ledger_check(&p->ledger, p->run->host_memory,
                           p->scene_count > 0
                               ? "matrices written to files by penstock-hmatrix-assemble are "
                                 "streamed; a smaller --cycle or --batch takes fewer vectors"
                               : "a smaller --cycle or --batch, or --sparse iterative, needs less");
}
