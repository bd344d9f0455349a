#include <string.h>

#include "assemble.h"

/* Buffers of a thread that writes, store and zstd included. */
enum { WRITE_BYTES = 8 << 20, LEAST_BYTES = 24 << 20 };

static int64_t held_bytes(const ps_hbem_problem *p) { return p->bytes + p->scene->bytes; }

static ps_status check_memory(const ps_hbem_problem *p, const assemble_plan *plan,
                              const ps_run *run)
{
    if (plan->memory <= run->host_memory) return PS_OK;
    return ps_fail(PS_EXHAUSTED,
                   "--host-memory: %.0f MB are needed, %.0f are given; a smaller --chunk-size (a "
                   "chunk is about %.1f MB) or fewer --threads need less, %.0f MB are held in any "
                   "case",
                   1e-6 * (double)plan->memory, 1e-6 * (double)run->host_memory,
                   1e-6 * (double)(plan->cut.largest * plan->cut.item_bytes),
                   1e-6 * (double)held_bytes(p));
}

ps_status assemble_plan_init(const ps_hbem_problem *problem, const assemble_options *options,
                             const ps_run *run, int cores, assemble_plan *out)
{
    memset(out, 0, sizeof *out);
    PS_TRY(ps_hbem_matrix_plan_init(problem, &options->matrix, &out->cut));
    int64_t chunk = ps_hbem_matrix_plan_chunk_bytes(&out->cut);
    out->disk = out->cut.numbers * out->cut.item_bytes;
    out->memory = LEAST_BYTES + held_bytes(problem);
    out->memory += cores > 0 ? 2 * chunk + cores * out->cut.touched
                             : ps_leaf_backend_bytes_cuda(&problem->assembly, chunk);
    out->memory += (run->threads + (cores > 0 ? 0 : PS_LEAF_CHUNKS_KEPT)) * WRITE_BYTES;
    ps_status status = check_memory(problem, out, run);
    if (status != PS_OK) assemble_plan_release(out);
    return status;
}

void assemble_plan_release(assemble_plan *plan)
{
    ps_hbem_matrix_plan_release(&plan->cut);
    memset(plan, 0, sizeof *plan);
}
