#include "stage/hbem_assembly/leaf_tables.h"

#include <stdlib.h>

#include "runtime/memory.h"

struct ps_leaf_tables {
    ps_device *device;
    ps_stream *stream;
    ps_hbem_device_operator op;
    void *sides[2], *triangles, *rules; /* on the device */
};

static ps_status send_side(ps_leaf_tables *t, const ps_hbem_space *space,
                           const ps_cluster_tree *tree, const int32_t *stratum,
                           ps_hbem_device_side *side, void **to)
{
    void *host;
    PS_TRY(ps_hbem_device_side_count(space, tree, stratum, side));
    int64_t bytes = ps_hbem_device_side_bytes(side);
    PS_TRY(ps_alloc_untouched(&host, bytes, "tables of clusters"));
    ps_hbem_device_side_place(side, host);
    ps_hbem_device_side_fill(space, tree, stratum, side);
    ps_status status = ps_copy_to_new(t->stream, host, bytes, to);
    free(host);
    ps_hbem_device_side_place(side, *to);
    return status;
}

static ps_status send_rules(ps_leaf_tables *t, const ps_hbem_quadrature *quadrature)
{
    void *host;
    int64_t bytes = ps_hbem_device_rules_bytes(quadrature);
    PS_TRY(ps_alloc_untouched(&host, bytes, "rules"));
    ps_hbem_device_rules_place(&t->op.rules, quadrature, host);
    ps_hbem_device_rules_fill(&t->op.rules, quadrature);
    ps_status status = ps_copy_to_new(t->stream, host, bytes, &t->rules);
    free(host);
    ps_hbem_device_rules_place(&t->op.rules, quadrature, t->rules);
    return status;
}

static ps_status send_all(ps_leaf_tables *t, const ps_hbem_assembly *assembly,
                          const ps_cluster_tree *test, const ps_cluster_tree *trial)
{
    const ps_hbem_operator *op = assembly->op;
    const ps_hbem_surface *surface = op->test->surface;
    PS_TRY(ps_stream_open(t->device, &t->stream));
    PS_TRY(send_side(t, op->test, test, assembly->stratum, &t->op.test, &t->sides[0]));
    t->op.trial = t->op.test;
    if (trial != test) PS_TRY(send_side(t, op->trial, trial, NULL, &t->op.trial, &t->sides[1]));
    PS_TRY(send_rules(t, op->quadrature));
    PS_TRY(ps_copy_to_new(t->stream, surface->triangles,
                          surface->triangle_count * (int64_t)sizeof *surface->triangles,
                          &t->triangles));
    t->op.triangles = t->triangles;
    return PS_OK;
}

ps_status ps_leaf_tables_open(ps_device *device, const ps_hbem_assembly *assembly,
                              const ps_cluster_tree *test, const ps_cluster_tree *trial,
                              ps_leaf_tables **out)
{
    PS_TRY(PS_ALLOC(out, 1, "tables on a device"));
    (*out)->device = device;
    ps_status status = send_all(*out, assembly, test, trial);
    if (status != PS_OK) ps_leaf_tables_close(out);
    return status;
}

void ps_leaf_tables_close(ps_leaf_tables **tables)
{
    ps_leaf_tables *t = *tables;
    *tables = NULL;
    if (!t) return;
    for (int s = 0; s < 2; ++s) ps_device_free(t->device, t->sides[s]);
    ps_device_free(t->device, t->triangles);
    ps_device_free(t->device, t->rules);
    ps_stream_close(&t->stream);
    free(t);
}

ps_hbem_device_operator ps_leaf_tables_operator(const ps_leaf_tables *tables) { return tables->op; }
