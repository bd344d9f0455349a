#include <stdio.h>
#include <string.h>

#include "assemble.h"
#include "formats/store_memory.h"

/* Of the datasets that hold values: as the store cuts them (choose_rows). */
static int64_t dataset_chunk(int64_t bytes)
{
    int64_t wanted = bytes > 256 << 20 ? 4 << 20 : 1 << 20;
    return bytes < wanted ? bytes : wanted;
}

/* A chunk that is computed and one that is written, by all threads. */
static void plan_memory(const ps_hbem_problem *problem, const ps_run *run, int cores,
                        assemble_plan *out)
{
    int64_t chunk = ps_hbem_matrix_plan_chunk_bytes(&out->cut), kept = out->cut.chunks.count;
    int64_t part = dataset_chunk(out->cut.largest * out->cut.item_bytes);
    if (kept > (cores > 0 ? 2 : PS_LEAF_CHUNKS_KEPT)) kept = cores > 0 ? 2 : PS_LEAF_CHUNKS_KEPT;
    ps_ledger_open(&out->ledger, run);
    if (cores > 0) {
        ps_ledger_add(&out->ledger, PS_ROOM_HOST, "chunks", kept * chunk);
        ps_ledger_add(&out->ledger, PS_ROOM_HOST, "workspaces",
                      ps_hbem_matrix_plan_workspaces(&out->cut, cores));
    } else {
        ps_ledger_add(&out->ledger, PS_ROOM_HOST, "chunks",
                      ps_leaf_backend_bytes_cuda(&problem->assembly, chunk));
    }
    ps_ledger_add(&out->ledger, PS_ROOM_HOST, "writing",
                  (run->threads + (cores > 0 ? 0 : PS_LEAF_CHUNKS_KEPT)) *
                      (part + ps_store_writer_bytes(part)));
    ps_ledger_add(&out->ledger, PS_ROOM_DISK, "files", out->cut.numbers * out->cut.item_bytes);
}

ps_status assemble_plan_init(const ps_hbem_problem *problem, const assemble_options *options,
                             const ps_run *run, int cores, assemble_plan *out)
{
    char advice[160];
    memset(out, 0, sizeof *out);
    PS_TRY(ps_hbem_matrix_plan_init(problem, &options->matrix, &out->cut));
    plan_memory(problem, run, cores, out);
    snprintf(advice, sizeof advice,
             "a smaller --chunk-size (a chunk is about %.1f MB) or fewer --threads need less",
             1e-6 * (double)(out->cut.largest * out->cut.item_bytes));
    ps_status status = ps_ledger_check(&out->ledger, run->host_memory, advice);
    if (status != PS_OK) assemble_plan_release(out);
    return status;
}

void assemble_plan_release(assemble_plan *plan)
{
    ps_hbem_matrix_plan_release(&plan->cut);
    memset(plan, 0, sizeof *plan);
}
