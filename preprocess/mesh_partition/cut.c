/* cut: which part each element belongs to. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "formats/dgtd_model.h"
#include "kernels/common/mesh_parts.h"
#include "partition.h"
#include "runtime/memory.h"
#include "runtime/partitioner.h"
#include "runtime/scope.h"

/* ---- weights ---- */

static ps_status weigh_tag(job *j, const char *text)
{
    long long tag, weight;
    int used = 0;
    int64_t found = 0;
    if (sscanf(text, "%lld:%lld%n", &tag, &weight, &used) < 2 || text[used] || weight < 1 ||
        weight > 1000000)
        return ps_fail(PS_USAGE, "--weight %s: expected TAG:WEIGHT, a weight from 1 to 1000000",
                       text);
    for (int64_t e = 0; e < j->mesh.elements; ++e) {
        if (j->mesh.tags[e] != tag) continue;
        j->weights[e] = (int32_t)weight;
        ++found;
    }
    return found ? PS_OK
                 : ps_fail(PS_USAGE, "--weight %s: no element of %s has tag %lld", text, j->input,
                           tag);
}

/* 2^p + 2^q half steps of the element that lies in the mesh's file where it does in the model's. */
static ps_status weigh_steps(job *j, const ps_dgtd_domain *d, int32_t *steps)
{
    int64_t known = 0;
    for (int64_t e = 0; e < d->elements; ++e) {
        uint8_t r = d->reach ? d->reach[e] : 0;
        if (d->source[e] < 0 || d->source[e] >= j->mesh.elements) continue; /* grown */
        steps[d->source[e]] = r == 255 ? 2 : (1 << r % 16) + (1 << r / 16);
        ++known;
    }
    for (int64_t e = 0; e < j->mesh.elements; ++e) j->weights[e] = steps[j->mesh.source[e]];
    return known == j->mesh.elements ? PS_OK
                                     : ps_fail(PS_USAGE,
                                               "--updates: the model is of %" PRId64
                                               " elements of a mesh, %s has %" PRId64,
                                               known, j->input, j->mesh.elements);
}

static ps_status weigh_model(job *j)
{
    PS_SCOPED(ps_dgtd_domain_release) ps_dgtd_domain whole = {0};
    PS_SCOPED(ps_dgtd_model_close) ps_dgtd_model_file *model = NULL;
    PS_SCOPED_MEMORY int32_t *steps = NULL;
    PS_TRY(ps_dgtd_model_open(ps_store_path(j->model), &model));
    const ps_dgtd_model_header *h = ps_dgtd_model_head(model);
    const int64_t parts[] = {0, h->parts};
    if (h->local_levels == 0)
        return ps_fail(PS_USAGE, "--updates %s: this model has one step for all elements",
                       ps_store_path(j->model));
    PS_TRY(ps_dgtd_model_load(model, parts, 1, 0, 16, &whole));
    PS_TRY(PS_ALLOC(&steps, j->mesh.elements, "weights"));
    return weigh_steps(j, &whole, steps);
}

static ps_status weigh(job *j)
{
    if (j->weight_texts->count == 0 && !j->model) return PS_OK;
    PS_TRY(PS_ALLOC(&j->weights, j->mesh.elements, "weights"));
    for (int64_t e = 0; e < j->mesh.elements; ++e) j->weights[e] = 1;
    if (j->model) PS_TRY(weigh_model(j));
    for (int i = 0; i < j->weight_texts->count; ++i)
        PS_TRY(weigh_tag(j, j->weight_texts->items[i]));
    int64_t total = 0;
    for (int64_t e = 0; e < j->mesh.elements; ++e) total += j->weights[e];
    return total <= INT32_MAX
               ? PS_OK
               : ps_fail(PS_USAGE,
                         "--weight: the weights add up to %" PRId64 ", beyond %d; use smaller ones",
                         total, INT32_MAX);
}

/* ---- methods ---- */

static ps_status cut_by_scotch(job *j)
{
    const ps_partition *p = &j->mesh;
    PS_SCOPED_MEMORY int32_t *start = NULL, *neighbours = NULL, *edges = NULL;
    int32_t at = 0;
    int64_t arcs = 4 * p->elements - j->outer_faces;
    if (arcs > INT32_MAX)
        return ps_fail(PS_EXHAUSTED,
                       "%" PRId64 " links are more than Scotch counts; use --method "
                       "boxes",
                       arcs);
    PS_TRY(PS_ALLOC(&start, p->elements + 1, "the dual graph"));
    PS_TRY(PS_ALLOC(&neighbours, arcs, "the dual graph"));
    if (j->model) PS_TRY(PS_ALLOC(&edges, arcs, "the dual graph"));
    for (int64_t f = 0; f < 4 * p->elements; ++f) {
        if (f % 4 == 0) start[f / 4] = at;
        if (p->links[f] < 0) continue;
        int32_t a = j->weights ? j->weights[f / 4] : 1,
                b = j->weights ? j->weights[p->links[f] / 4] : 1;
        if (edges) edges[at] = a < b ? b : a;
        neighbours[at++] = p->links[f] / 4;
    }
    start[p->elements] = at;
    ps_graph graph = {p->elements, start, neighbours, j->weights, edges};
    return ps_partition_graph(&graph, j->parts, j->imbalance, j->part);
}

static ps_status cut_by_boxes(job *j)
{
    const ps_partition *p = &j->mesh;
    PS_SCOPED_MEMORY double *centroids = NULL;
    PS_SCOPED_MEMORY void *workspace = NULL;
    PS_TRY(PS_ALLOC(&centroids, 3 * p->elements, "centroids"));
    PS_TRY(ps_alloc(&workspace, (int64_t)ps_parts_boxes_workspace(p->elements), 1, "sorting"));
    for (int64_t i = 0; i < 4 * p->elements; ++i)
        for (int c = 0; c < 3; ++c)
            centroids[i / 4 * 3 + c] += p->vertices[3 * (int64_t)p->tetrahedra[i] + c] / 4;
    ps_parts_of_boxes(centroids, j->weights, p->elements, j->parts, workspace, j->part);
    return PS_OK;
}

static ps_status check_none_empty(const job *j)
{
    PS_SCOPED_MEMORY int64_t *sizes = NULL;
    int64_t empty = 0;
    PS_TRY(PS_ALLOC(&sizes, j->parts, "parts"));
    for (int64_t e = 0; e < j->mesh.elements; ++e) ++sizes[j->part[e]];
    for (int64_t q = 0; q < j->parts; ++q) empty += sizes[q] == 0;
    return empty == 0 ? PS_OK
                      : ps_fail(PS_USAGE,
                                "--parts %" PRId64 ": %" PRId64 " parts would be empty "
                                "(%s has %" PRId64 " tetrahedra); use fewer parts or "
                                "another --method",
                                j->parts, empty, j->input, j->mesh.elements);
}

ps_status cut_mesh(job *j)
{
    double start = ps_clock();
    ps_status status = PS_OK;
    if (j->parts > j->mesh.elements)
        return ps_fail(PS_USAGE, "--parts %" PRId64 ": %s has %" PRId64 " tetrahedra", j->parts,
                       j->input, j->mesh.elements);
    PS_TRY(PS_ALLOC(&j->part, j->mesh.elements, "parts"));
    PS_TRY(weigh(j));
    if (j->parts > 1 && j->method == CUT_SCOTCH) status = cut_by_scotch(j);
    if (j->parts > 1 && j->method == CUT_BOXES) status = cut_by_boxes(j);
    if (j->parts > 1 && j->method == CUT_HILBERT)
        ps_parts_of_runs(j->weights, j->mesh.elements, j->parts, j->part);
    if (status == PS_OK) status = check_none_empty(j);
    j->seconds[2] = ps_clock() - start;
    return status;
}
