#include "kernels/hbem/pair_rows.h"

#include <string.h>

#include "kernels/hbem/entries_internal.h"

int64_t ps_hbem_pair_rows_bytes(const ps_hbem_operator *op, int64_t chunk)
{
    return 9 * ps_hbem_parts(op) * chunk * (op->far_precision == PS_SINGLE ? 4 : 8);
}

/* A function's triangles and which of their hats are its own. */
typedef struct support {
    int count;
    int32_t triangle[PS_HBEM_PAIR_FIXED];
    uint8_t hats[PS_HBEM_PAIR_FIXED];
} support;

/* False where there are too many. */
static bool list_support(const ps_hbem_space *space, int64_t dof, support *out)
{
    out->count = 0;
    for (int64_t e = space->start[dof]; e < space->start[dof + 1]; ++e) {
        int32_t t = (int32_t)(space->item[e] / 3);
        if (out->count == 0 || out->triangle[out->count - 1] != t) {
            if (out->count == PS_HBEM_PAIR_FIXED) return false;
            out->triangle[out->count] = t;
            out->hats[out->count++] = 0;
        }
        out->hats[out->count - 1] |= (uint8_t)(1 << space->item[e] % 3);
    }
    return true;
}

static double moment_at(const void *moments, ps_precision precision, int64_t index)
{
    return precision == PS_SINGLE ? (double)((const float *)moments)[index]
                                  : ((const double *)moments)[index];
}

/* Adds the moments of one chunk to the functions of the panel: values[part][stride]. */
static void add_chunk(const ps_hbem_pair_launch *chunk, const support *of,
                      const ps_hbem_panel *panel, int parts, double *values)
{
    int64_t stride = panel->range.end - panel->range.begin;
    for (int64_t p = 0; p < chunk->pairs; ++p) {
        int64_t pair = chunk->first + p;
        const int32_t *target = panel->target + 3 * (pair % chunk->count);
        int hats = of->hats[pair / chunk->count];
        for (int e = 0; e < 9 * parts; ++e) {
            int32_t to = target[e % 3];
            if (to >= 0 && hats >> e % 9 / 3 & 1)
                values[e / 9 * stride + to] +=
                    moment_at(chunk->moments, chunk->precision, e * chunk->pairs + p);
        }
    }
}

/* Chunk after chunk: one is integrated while the one before is added. */
static ps_status run_chunks(ps_hbem_pair_rows *rows, ps_hbem_pair_launch *launch, const support *of,
                            const ps_hbem_panel *panel, double *values)
{
    int64_t all = launch->count * of->count, chunks = (all + rows->chunk - 1) / rows->chunk;
    int parts = launch->wavenumber != 0 ? 2 : 1;
    ps_hbem_pair_launch before = *launch;
    for (int64_t c = 0; c <= chunks; ++c) {
        if (c < chunks) {
            launch->first = c * rows->chunk;
            launch->pairs = all - launch->first < rows->chunk ? all - launch->first : rows->chunk;
            launch->moments = rows->moments[c % 2];
            PS_TRY(ps_hbem_pair_moments_cuda(launch, rows->stream));
            PS_TRY(ps_event_record(rows->done[c % 2], rows->stream));
        }
        if (c > 0) {
            PS_TRY(ps_event_sync(rows->done[(c - 1) % 2]));
            add_chunk(&before, of, panel, parts, values);
        }
        before = *launch;
    }
    rows->there += all;
    return PS_OK;
}

ps_status ps_hbem_pair_rows_get(ps_hbem_pair_rows *rows, const ps_hbem_far *far, bool column,
                                int64_t index, double *values)
{
    const ps_hbem_panel *own = column ? &far->column : &far->row;
    const ps_hbem_panel *other = column ? &far->row : &far->column;
    const ps_hbem_operator *op = far->op;
    support of;
    if (other->triangle_count > rows->list_room ||
        !list_support(own->space, own->range.begin + index, &of) ||
        of.count * other->triangle_count < rows->least ||
        (op->kernel == PS_KERNEL_HYPS && op->weak_far)) {
        ps_hbem_far_line(far, column, index, values);
        return PS_OK;
    }
    int64_t rule = far->rule - op->quadrature->rule;
    ps_hbem_pair_launch launch = {.kernel = column ? ps_hbem_exchanged(op->kernel) : op->kernel,
                                  .wavenumber = op->wavenumber,
                                  .absorption = op->absorption,
                                  .precision = op->far_precision,
                                  .triangles = rows->triangles,
                                  .rule = rows->rules.point[op->far_precision][rule],
                                  .points = rows->rules.count[rule],
                                  .list = rows->list,
                                  .count = other->triangle_count};
    memcpy(launch.origin, far->origin, sizeof launch.origin);
    memcpy(launch.fixed, of.triangle, (size_t)of.count * sizeof *of.triangle);
    memset(values, 0,
           (size_t)((other->range.end - other->range.begin) * ps_hbem_parts(op)) * sizeof *values);
    PS_TRY(ps_copy_to_device(rows->stream, rows->list, other->triangles,
                             other->triangle_count * (int64_t)sizeof *rows->list));
    return run_chunks(rows, &launch, &of, other, values);
}
