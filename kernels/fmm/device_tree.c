#include "kernels/fmm/device_tree.h"

#include "kernels/fmm/device_place.h"
#include "kernels/fmm/device_tree_cuda.h"

enum { NARROW_LEVEL = 10 /* the last whose keys fit 32 bits */ };

/* ---- order ---- */

int64_t ps_device_sort_attach(ps_device_sort *s, void *block)
{
    int64_t used = 0, key = s->wide ? 8 : 4;
    for (int i = 0; i < 2; ++i) {
        s->key_space[i] = ps_device_part(block, &used, s->count * key);
        s->order_space[i] = ps_device_part(block, &used, s->count * 4);
    }
    s->inverse = ps_device_part(block, &used, s->count * 4);
    s->records = ps_device_part(block, &used, s->count * 32);
    s->census = ps_device_part(block, &used, (PS_OCTREE_LEVELS_MAX + 2) * 8);
    s->workspace = ps_device_part(block, &used, s->workspace_bytes);
    return used;
}

ps_status ps_device_sort_bytes(ps_device_sort *s, ps_stream *stream, int64_t *bytes)
{
    if (s->count < 1 || s->count > INT32_MAX)
        return ps_fail(PS_USAGE, "%lld particles on a device; there may be 1 to 2^31 - 1",
                       (long long)s->count);
    if (s->level < 0 || s->level >= PS_OCTREE_LEVELS_MAX)
        return ps_fail(PS_USAGE, "leaves on level %d; it must be 0 .. %d", s->level,
                       PS_OCTREE_LEVELS_MAX - 1);
    PS_TRY(ps_device_enter_cuda(stream));
    s->wide = s->level > NARROW_LEVEL;
    PS_TRY(ps_device_sort_cuda_workspace(s, &s->workspace_bytes));
    *bytes = ps_device_sort_attach(s, NULL);
    return PS_OK;
}

ps_status ps_device_sort_run(ps_device_sort *sort, const ps_tree_points *points, ps_stream *stream)
{
    PS_TRY(ps_device_enter_cuda(stream));
    return ps_device_sort_cuda(sort, points, stream);
}

ps_status ps_device_sort_refine(const ps_device_sort *sort, const ps_tree_points *points,
                                int64_t most, ps_stream *stream)
{
    PS_TRY(ps_device_enter_cuda(stream));
    return ps_device_refine_cuda(sort, points, most, stream);
}

ps_status ps_device_sort_cells(const ps_device_sort *sort, ps_stream *stream, int64_t *cells,
                               int64_t *outside)
{
    int64_t census[PS_OCTREE_LEVELS_MAX + 1];
    PS_TRY(ps_copy_to_host(stream, census, sort->census, sizeof census));
    PS_TRY(ps_stream_wait(stream));
    *outside = census[0];
    cells[0] = 1;
    for (int l = 1; l <= sort->level; ++l) cells[l] = cells[l - 1] + census[sort->level - l + 1];
    return PS_OK;
}

ps_status ps_device_sort_invert(const ps_device_sort *sort, ps_stream *stream)
{
    PS_TRY(ps_device_enter_cuda(stream));
    return ps_device_invert_cuda(sort, stream);
}

static ps_status move_columns(const ps_device_sort *sort, const ps_device_columns *columns,
                              const int32_t *index, ps_stream *stream)
{
    if (columns->count < 1 || columns->count > PS_DEVICE_COLUMNS_MAX)
        return ps_fail(PS_USAGE, "%d columns at a time; there may be 1 to %d", columns->count,
                       PS_DEVICE_COLUMNS_MAX);
    PS_TRY(ps_device_enter_cuda(stream));
    return ps_device_columns_cuda(sort, columns, index, stream);
}

ps_status ps_device_gather(const ps_device_sort *sort, const ps_device_columns *columns,
                           ps_stream *stream)
{
    return move_columns(sort, columns, sort->order, stream);
}

ps_status ps_device_scatter(const ps_device_sort *sort, const ps_device_columns *columns,
                            ps_stream *stream)
{
    return move_columns(sort, columns, sort->inverse, stream);
}

/* ---- cells ---- */

int64_t ps_device_tree_attach(ps_device_tree *t, void *block)
{
    int64_t used = 0;
    for (int l = 0; l < t->height; ++l) {
        bool inner = l < t->height - 1;
        t->keys[l] = ps_device_part(block, &used, t->cells[l] * 8);
        t->parent[l] = ps_device_part(block, &used, l > 0 ? t->cells[l] * 4 : 0);
        t->child_start[l] = ps_device_part(block, &used, inner ? (t->cells[l] + 1) * 4 : 0);
        t->children[l] = ps_device_part(block, &used, inner ? t->cells[l] * 8 * 4 : 0);
    }
    t->particle_start = ps_device_part(block, &used, (t->cells[t->height - 1] + 1) * 4);
    return used;
}

int64_t ps_device_tree_bytes(const ps_device_tree *tree)
{
    ps_device_tree copy = *tree;
    return ps_device_tree_attach(&copy, NULL);
}

ps_status ps_device_tree_fill(const ps_device_sort *sort, ps_device_tree *tree, ps_stream *stream)
{
    if (tree->height != sort->level + 1)
        return ps_fail(PS_USAGE, "a tree of height %d from keys on level %d", tree->height,
                       sort->level);
    PS_TRY(ps_device_enter_cuda(stream));
    tree->box = sort->box;
    tree->particles = sort->count;
    return ps_device_tree_cuda(sort, tree, stream);
}
