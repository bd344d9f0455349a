/* Row sums of a double layer of Laplace: what says that its entries are right. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "assemble.h"
#include "stage/hbem_assembly/row_sums.h"
#include "runtime/comm.h"
#include "runtime/memory.h"

bool assemble_has_sums(const ps_hbem_problem *problem)
{
    ps_hbem_kernel kernel = problem->op.kernel;
    return problem->op.wavenumber == 0 && problem->scene->clusters.closed &&
           (kernel == PS_KERNEL_DLP || kernel == PS_KERNEL_ADLP);
}

static const ps_hbem_space *space_of(const ps_hbem_problem *p)
{
    return p->op.kernel == PS_KERNEL_ADLP ? p->op.trial : p->op.test;
}

ps_status assemble_sums_open(const ps_hbem_problem *problem, assemble_result *result)
{
    result->columns = problem->op.kernel == PS_KERNEL_ADLP;
    if (!assemble_has_sums(problem)) return PS_OK;
    return PS_ALLOC(&result->sums, space_of(problem)->dofs, "row sums");
}

typedef struct sweep {
    ps_hmatrix_file *file;
    ps_hmatrix_block *blocks;
    assemble_result *result;
} sweep;

static ps_status read_chunk(void *context, int64_t chunk, void *raw)
{
    return ps_hmatrix_read_raw(((sweep *)context)->file, chunk, raw);
}

static ps_status unpack_chunk(void *context, int64_t chunk, const void *raw, void *unpacked)
{
    return ps_hmatrix_unpack(((sweep *)context)->file, chunk, raw, unpacked);
}

static ps_status add_chunk(void *context, int64_t chunk, const void *unpacked)
{
    sweep *s = context;
    ps_hmatrix run;
    ps_hmatrix_view(s->file, chunk, unpacked, s->blocks, &run);
    ps_hbem_row_sums_add(&run, s->result->columns, s->result->sums);
    return PS_OK;
}

static ps_status sweep_chunks(sweep *s, int64_t host_memory)
{
    ps_chunk_stream_config config;
    ps_chunk_stream *stream;
    PS_TRY(PS_ALLOC(&s->blocks, ps_hmatrix_most_leaves(s->file), "leaves of a chunk"));
    ps_hmatrix_stream_config(s->file, host_memory / 2, &config);
    config.context = s;
    config.read = read_chunk;
    config.unpack = unpack_chunk;
    PS_TRY(ps_chunk_stream_open(&config, &stream));
    ps_status status = ps_chunk_stream_sweep(stream, add_chunk, s);
    ps_chunk_stream_close(&stream);
    return status;
}

ps_status assemble_sums_of_file(const char *path, const ps_hbem_problem *problem,
                                int64_t host_memory, assemble_result *result)
{
    sweep s = {.result = result};
    for (int64_t i = 0; i < space_of(problem)->dofs; ++i) result->sums[i] = 0;
    PS_TRY(ps_hmatrix_open(path, &s.file));
    ps_status status = sweep_chunks(&s, host_memory);
    free(s.blocks);
    ps_hmatrix_close(&s.file);
    return status;
}

ps_status assemble_check_sums(ps_hbem_problem *problem, const assemble_result *result,
                              const ps_run *run)
{
    ps_hmatrix_header *h = &problem->tables.header;
    const ps_hbem_space *space = space_of(problem);
    double limit = ps_hbem_row_sums_limit(h->tolerance, h->rules, h->precision), *integrals;
    ps_hbem_row_check check;
    PS_TRY(PS_ALLOC(&integrals, space->dofs, "integrals of functions"));
    ps_hbem_row_sums_check(space, result->sums, limit, integrals, &check);
    free(integrals);
    h->row_sum_error = check.error;
    if (check.error <= limit) return PS_OK;
    return ps_refuse(run, "row-sums", PS_HBEM_ROW_SUMS_REFUSED,
                     PS_HBEM_ROW_SUMS_FIGURES(check, limit));
}
