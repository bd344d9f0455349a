#include "kernels/hbem/entries.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/hbem/entries_internal.h"
#include "runtime/compare.h"

enum { ALIGNMENT = 64, POINTERS_SLACK = 4096 };

ps_status ps_hbem_operator_check(const ps_hbem_operator *op)
{
    if (!(op->wavenumber >= 0))
        return ps_fail(PS_USAGE, "the wavenumber is %g, but must be 0 or positive", op->wavenumber);
    if (!(op->absorption >= 0) || (op->absorption > 0 && (op->wavenumber == 0 || op->weak_far)))
        return ps_fail(PS_USAGE, "an absorption of %g Np/m: it is of waves, with HYPS by its direct form",
                       op->absorption);
    bool continuous = op->test->kind == PS_SPACE_P1 && op->trial->kind == PS_SPACE_P1;
    if (op->kernel == PS_KERNEL_HYPS && !continuous)
        return ps_fail(PS_USAGE, "the hypersingular operator needs continuous functions: "
                                 "choose P1");
    return PS_OK;
}

ps_status ps_hbem_take(ps_hbem_workspace *workspace, int64_t bytes, void *out)
{
    int64_t rounded = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (rounded > workspace->bytes - workspace->used)
        return ps_fail(PS_EXHAUSTED, "a block needs %lld bytes of workspace, %lld of %lld are left",
                       (long long)rounded, (long long)(workspace->bytes - workspace->used),
                       (long long)workspace->bytes);
    void *piece = workspace->base + workspace->used;
    memcpy(out, &piece, sizeof piece);
    workspace->used += rounded;
    return PS_OK;
}

static int64_t most_items(const ps_hbem_space *space, ps_hbem_range range)
{
    int64_t most = 0;
    for (int64_t i = range.begin; i < range.end; ++i) {
        int64_t items = space->start[i + 1] - space->start[i];
        most = items > most ? items : most;
    }
    return most;
}

static int64_t side_bytes(const ps_hbem_space *space, ps_hbem_range range)
{
    int64_t lanes = ps_hbem_items(space, range) + PS_HBEM_LANES_F32;
    /* The lanes twice: of all triangles, and of those of one rule. */
    return lanes * (2 * PS_HBEM_PANEL_ROWS + 6) * (int64_t)sizeof(double) + lanes * 20 +
           (range.end - range.begin) * ((int64_t)sizeof(ps_hbem_extent) + 1) +
           most_items(space, range) * PS_HBEM_POINTS_MAX * (int64_t)sizeof(ps_hbem_source_f64);
}

int64_t ps_hbem_entries_bytes(const ps_hbem_operator *op, ps_hbem_range rows, ps_hbem_range columns)
{
    return side_bytes(op->test, rows) + side_bytes(op->trial, columns) + POINTERS_SLACK;
}

int64_t ps_hbem_triangles_of(const ps_hbem_space *space, ps_hbem_range range, int32_t *list)
{
    int64_t items = ps_hbem_items(space, range), count = 0;
    for (int64_t e = 0; e < items; ++e) {
        int32_t t = (int32_t)(space->item[space->start[range.begin] + e] / 3);
        if (count == 0 || t != list[count - 1]) list[count++] = t;
    }
    if (space->kind == PS_SPACE_P0) return count; /* each has one */
    qsort(list, (size_t)count, sizeof *list, ps_compare_i32);
    int64_t kept = 0;
    for (int64_t e = 0; e < count; ++e)
        if (e == 0 || list[e] != list[e - 1]) list[kept++] = list[e];
    return kept;
}

uint8_t ps_hbem_normal_group(const ps_hbem_triangle *triangle)
{
    const double *n = triangle->normal;
    int axis = 0;
    for (int c = 1; c < 3; ++c)
        if (fabs(n[c]) > fabs(n[axis])) axis = c;
    return (uint8_t)(2 * axis + (n[axis] < 0));
}

ps_hbem_kernel ps_hbem_exchanged(ps_hbem_kernel kernel)
{
    return kernel == PS_KERNEL_DLP    ? PS_KERNEL_ADLP
           : kernel == PS_KERNEL_ADLP ? PS_KERNEL_DLP
                                      : kernel;
}
