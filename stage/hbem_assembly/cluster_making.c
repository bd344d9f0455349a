#include "stage/hbem_assembly/cluster_making.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/hbem/block_tree.h"
#include "kernels/hbem/setup.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

ps_status ps_hbem_make_tree(const ps_hbem_space *space, const ps_cluster_method *method,
                            ps_cluster_tree *tree)
{
    int64_t nodes = ps_cluster_nodes(space->dofs, method->leaf_size);
    PS_SCOPED_MEMORY void *scratch = NULL;
    PS_TRY(ps_alloc_untouched((void **)&tree->nodes, nodes * (int64_t)sizeof *tree->nodes,
                              "clusters"));
    PS_TRY(ps_alloc_untouched((void **)&tree->order, 8 * space->dofs, "an order"));
    PS_TRY(ps_alloc_untouched(&scratch, ps_cluster_scratch(space->dofs), "building clusters"));
    ps_cluster_build(tree, space, method, scratch);
    return PS_OK;
}

ps_status ps_hbem_leaves_by(const ps_clusters *c, const ps_hbem_leaf_rule *rule,
                            ps_cluster_leaves *leaves)
{
    const ps_cluster_tree *columns = &c->tree[c->same ? 0 : 1];
    ps_block_tree blocks = {&c->tree[0], columns, rule->eta, rule->symmetric};
    int64_t count = ps_block_tree_cut(&blocks, rule->spread, NULL);
    PS_TRY(ps_cluster_leaves_init(leaves, count));
    ps_block_tree_cut(&blocks, rule->spread, leaves);
    return PS_OK;
}

ps_status ps_hbem_make_leaves(ps_clusters *c)
{
    ps_hbem_leaf_rule rule = {.eta = c->eta};
    if (c->same) c->tree[1] = c->tree[0];
    return ps_hbem_leaves_by(c, &rule, &c->leaves);
}

/* ---- of other spaces ---- */

static ps_status copy_of(const void *from, int64_t bytes, void **out)
{
    PS_TRY(ps_alloc_untouched(out, bytes, "clusters"));
    memcpy(*out, from, (size_t)bytes);
    return PS_OK;
}

static ps_status copy_tree(const ps_cluster_tree *from, ps_cluster_tree *out)
{
    int64_t bytes = from->node_count * (int64_t)sizeof *from->nodes;
    *out = (ps_cluster_tree){from->dofs, from->node_count, from->leaf_size, NULL, NULL};
    PS_TRY(copy_of(from->nodes, bytes, (void **)&out->nodes));
    return copy_of(from->order, 8 * from->dofs, (void **)&out->order);
}

static ps_status tree_of(const ps_clusters *base, const ps_hbem_space *space, ps_cluster_tree *out)
{
    ps_cluster_method method = {base->tree[0].leaf_size,
                                strcmp(base->order, "morton") == 0    ? PS_CUT_MORTON
                                : strcmp(base->order, "hilbert") == 0 ? PS_CUT_HILBERT
                                                                      : PS_CUT_MEDIAN};
    for (int side = 0; side < 2; ++side)
        if (base->space[side] == space->kind) return copy_tree(&base->tree[side], out);
    return ps_hbem_make_tree(space, &method, out);
}

static ps_status make_trees(const ps_clusters *base, ps_clusters *out)
{
    ps_hbem_outline outline = ps_hbem_outline_of(out);
    ps_hbem_setup setup;
    void *memory = NULL;
    PS_TRY(ps_alloc_untouched(&memory, ps_hbem_setup_bytes(&outline), "the surface"));
    ps_status status = ps_hbem_setup_init(&setup, &outline, memory);
    for (int side = 0; side < (out->same ? 1 : 2) && status == PS_OK; ++side)
        status = tree_of(base, &setup.space[side], &out->tree[side]);
    free(memory);
    return status == PS_OK ? ps_hbem_make_leaves(out) : status;
}

/* All but what clusters own. */
static void begin(const ps_clusters *base, ps_clusters *out)
{
    *out = *base;
    out->vertices = NULL;
    out->triangles = NULL;
    memset(out->tree, 0, sizeof out->tree);
    memset(&out->leaves, 0, sizeof out->leaves);
}

ps_status ps_hbem_derive_clusters(const ps_clusters *base, ps_hbem_space_kind test,
                                  ps_hbem_space_kind trial, ps_clusters *out)
{
    begin(base, out);
    out->space[0] = test;
    out->space[1] = trial;
    out->same = test == trial;
    ps_status status = copy_of(base->vertices, 24 * base->vertex_count, (void **)&out->vertices);
    if (status == PS_OK)
        status = copy_of(base->triangles, 12 * base->triangle_count, (void **)&out->triangles);
    if (status == PS_OK) status = make_trees(base, out);
    if (status != PS_OK) ps_clusters_release(out);
    return status;
}

/* ---- of a body and its image ---- */

/* Vertices of both into out->vertices; image[vertices]: where the image of each one is. */
static void mirror_vertices(const ps_clusters *base, const ps_reflectors *m, int copy, int32_t *image,
                            ps_clusters *out)
{
    double touch = ps_reflectors_touch(base->vertices, base->vertex_count);
    out->vertex_count = base->vertex_count;
    memcpy(out->vertices, base->vertices, (size_t)base->vertex_count * 3 * sizeof(double));
    for (int64_t v = 0; v < base->vertex_count; ++v) {
        const double *x = base->vertices + 3 * v;
        bool common = true;
        for (int i = 0; i < m->count; ++i)
            common = common && (!(copy >> i & 1) || ps_reflector_height(&m->planes[i], x) <= touch);
        image[v] = (int32_t)(common ? v : out->vertex_count++);
        if (!common) ps_reflectors_point(m, copy, x, out->vertices + 3 * (int64_t)image[v]);
    }
}

static void mirror_triangles(const ps_clusters *base, const int32_t *image, ps_clusters *out)
{
    int64_t n = base->triangle_count;
    out->triangle_count = 2 * n;
    memcpy(out->triangles, base->triangles, (size_t)n * 3 * sizeof *out->triangles);
    for (int64_t t = 0; t < n; ++t)
        for (int l = 0; l < 3; ++l)
            out->triangles[3 * (n + t) + (out->turned ? (3 - l) % 3 : l)] =
                image[base->triangles[3 * t + l]];
}

/* Boxes around those of the body, mirrored. */
static void mirror_boxes(const ps_reflectors *m, int copy, ps_cluster_tree *tree)
{
    for (int64_t i = 0; i < tree->node_count; ++i) {
        double box[2][3], low[3], high[3];
        memcpy(box[0], tree->nodes[i].low, sizeof box[0]);
        memcpy(box[1], tree->nodes[i].high, sizeof box[1]);
        for (int corner = 0; corner < 8; ++corner) {
            double x[3];
            for (int c = 0; c < 3; ++c) x[c] = box[corner >> c & 1][c];
            ps_reflectors_point(m, copy, x, x);
            for (int c = 0; c < 3; ++c) {
                low[c] = corner == 0 || x[c] < low[c] ? x[c] : low[c];
                high[c] = corner == 0 || x[c] > high[c] ? x[c] : high[c];
            }
        }
        memcpy(tree->nodes[i].low, low, sizeof low);
        memcpy(tree->nodes[i].high, high, sizeof high);
    }
}

static ps_status fill_mirrored(const ps_clusters *base, const ps_reflectors *m, int copy,
                               ps_clusters *out)
{
    PS_SCOPED_MEMORY int32_t *image = NULL;
    PS_TRY(PS_ALLOC(&out->vertices, 6 * base->vertex_count, "the image of a body"));
    PS_TRY(PS_ALLOC(&out->triangles, 6 * base->triangle_count, "the image of a body"));
    PS_TRY(PS_ALLOC(&image, base->vertex_count, "the image of a body"));
    mirror_vertices(base, m, copy, image, out);
    mirror_triangles(base, image, out);
    PS_TRY(copy_tree(&base->tree[0], &out->tree[0]));
    PS_TRY(copy_tree(&base->tree[base->same ? 0 : 1], &out->tree[1]));
    mirror_boxes(m, copy, &out->tree[1]);
    return ps_hbem_make_leaves(out);
}

ps_status ps_hbem_mirror_clusters(const ps_clusters *base, const ps_reflectors *mirrors, int copy,
                                  ps_clusters *out)
{
    begin(base, out);
    out->same = false;
    out->body = base->vertex_count;
    out->turned = ps_reflectors_hand(mirrors, copy) < 0;
    ps_status status = fill_mirrored(base, mirrors, copy, out);
    if (status != PS_OK) ps_clusters_release(out);
    return status;
}
