#include "kernels/fmm/device_lists.h"

#include <string.h>

#include "kernels/fmm/device_lists_cuda.h"
#include "kernels/fmm/device_place.h"

int64_t ps_device_lists_attach(const ps_device_tree *t, ps_device_lists *lists, void *block)
{
    int64_t used = 0, cells = ps_device_lists_cells(t);
    for (int l = 0; l < t->height; ++l)
        lists->around[l] = ps_device_part(block, &used, t->cells[l] * PS_DEVICE_AROUND * 4);
    for (int l = PS_DEVICE_LISTED; l < t->height; ++l) {
        lists->far[l] = ps_device_part(block, &used, t->cells[l - 1] * PS_DEVICE_FAR * 4);
        lists->octant_start[l] = ps_device_part(block, &used, 9 * 4);
    }
    for (int i = 0; i < 2; ++i) {
        lists->labels[i] = ps_device_part(block, &used, cells * 8);
        lists->numbers[i] = ps_device_part(block, &used, cells * 4);
    }
    lists->workspace = ps_device_part(block, &used, lists->workspace_bytes);
    return used;
}

ps_status ps_device_lists_bytes(const ps_device_tree *targets, ps_device_lists *lists,
                                ps_stream *stream, int64_t *bytes)
{
    int64_t cells = ps_device_lists_cells(targets);
    if (cells > INT32_MAX)
        return ps_fail(PS_USAGE, "%lld cells on a device; there may be 2^31 - 1 at most",
                       (long long)cells);
    PS_TRY(ps_device_enter_cuda(stream));
    memset(lists, 0, sizeof *lists);
    if (cells > 0) PS_TRY(ps_device_lists_cuda_workspace(cells, &lists->workspace_bytes));
    *bytes = ps_device_lists_attach(targets, lists, NULL);
    return PS_OK;
}

ps_status ps_device_lists_fill(const ps_device_tree *targets, const ps_device_tree *sources,
                               ps_device_lists *lists, ps_stream *stream)
{
    if (targets->height != sources->height ||
        memcmp(&targets->box, &sources->box, sizeof targets->box))
        return ps_fail(PS_USAGE, "targets and sources are in trees of different boxes or heights");
    PS_TRY(ps_device_enter_cuda(stream));
    return ps_device_lists_cuda(targets, sources, lists, stream);
}
