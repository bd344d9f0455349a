#include "kernels/hbem/skeleton.h"

#include <string.h>

#include "kernels/hbem/entries_internal.h"

/* Points see less than entries do: their crosses go on to a third of the tolerance. */
static const double share = 1. / 3;

int64_t ps_skeleton_bytes(const ps_hbem_operator *op, ps_hbem_range rows, ps_hbem_range columns,
                          int64_t crosses)
{
    int64_t limit = crosses < PS_SKELETON_RANK ? crosses : PS_SKELETON_RANK;
    int64_t m = rows.end - rows.begin + ps_hbem_items(op->test, rows);
    int64_t n = columns.end - columns.begin + ps_hbem_items(op->trial, columns);
    return ps_aca_bytes(m, n, ps_hbem_parts(op), limit) + 5 * m + 128;
}

static void point_line(const void *context, bool column, int64_t t, double *values)
{
    column ? ps_hbem_far_point_column(context, t, values)
           : ps_hbem_far_point_row(context, t, values);
}

/* Keeps, of vectors [count][length], what comes after the first `points` numbers. */
static void drop_points(double *vectors, int64_t count, int64_t length, int64_t points)
{
    int64_t kept = length - points;
    for (int64_t l = 0; l < count; ++l)
        memmove(vectors + l * kept, vectors + l * length + points, (size_t)kept * sizeof *vectors);
}

ps_status ps_skeleton(const ps_hbem_far *far, const ps_aca_options *options, double scale,
                      const int32_t *plane, ps_hbem_workspace *workspace, ps_aca_result *result)
{
    const ps_hbem_panel *row = &far->row, *column = &far->column;
    const ps_hbem_triangle *all = row->space->surface->triangles;
    int32_t *stratum = NULL;
    uint8_t *group;
    ps_aca_options own = *options;
    own.tolerance *= share;
    if (own.max_rank > PS_SKELETON_RANK) own.max_rank = PS_SKELETON_RANK;
    PS_TRY(ps_hbem_take(workspace, row->triangle_count, &group));
    for (int64_t t = 0; t < row->triangle_count; ++t)
        group[t] = ps_hbem_normal_group(&all[row->triangles[t]]);
    if (plane) PS_TRY(ps_hbem_take(workspace, 4 * row->triangle_count, &stratum));
    for (int64_t t = 0; plane && t < row->triangle_count; ++t)
        stratum[t] = plane[row->triangles[t]];
    ps_aca_block block = {.rows = row->triangle_count + row->range.end - row->range.begin,
                          .columns =
                              column->triangle_count + column->range.end - column->range.begin,
                          .parts = ps_hbem_parts(far->op),
                          .context = far,
                          .line = point_line,
                          .group = group,
                          .stratum = stratum,
                          .scale = scale,
                          .pivot_rows = row->triangle_count,
                          .pivot_columns = column->triangle_count};
    PS_TRY(ps_aca(&block, &own, workspace, result));
    int64_t vectors = result->rank * block.parts;
    drop_points(result->u, vectors, block.rows, block.pivot_rows);
    drop_points(result->v, vectors, block.columns, block.pivot_columns);
    return PS_OK;
}
