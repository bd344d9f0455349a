/* Bisection of longest edges: an edge is cut in two, with all tetrahedra about it, where it is the
 * longest of each of them (Rivara, Int. J. Numer. Meth. Eng. 20 (1984) 745). The longest edge of
 * those that are to go always is, so that all of them go, and the mesh conforms after each pass. A
 * tetrahedron whose longest edge a neighbour waits for is cut there, too. */
#include <stdlib.h>
#include <string.h>

#include "kernels/common/mesh_topology.h"
#include "kernels/common/vec3.h"
#include "preprocess/mesh_import/import.h"
#include "runtime/memory.h"

/* The tetrahedra of a pass are those with an edge that is longer than asked, wherever it is: all
 * that may have to be cut. */
typedef struct bisection {
    import_mesh *mesh;
    const import_fineness *asked;
    int64_t count;   /* tetrahedra of the pass                                  */
    int32_t *number; /* [count] theirs in the mesh                              */
    int32_t *cells;  /* [count][4]                                              */
    int8_t *longest; /* [count] local number of the longest edge                */
    int32_t *middle; /* [count] the vertex on it; -1: it is not cut yet         */
    uint8_t
        *wanted; /* [count] it has an edge that is to go, or a neighbour waits for its longest */
    uint32_t *start, *ids; /* their edges, sorted                                    */
    int64_t wants, cut;    /* of them have an edge that is to go; are cut             */
} bisection;

static bool is_within(const import_fineness *f, const double *a, const double *b)
{
    double middle[3];
    ps_midpoint3(a, b, middle);
    return f->radius == 0 || ps_distance3(middle, f->centre) <= f->radius;
}

/* Local number of the longest edge; of equal ones that of the larger vertices, so that neighbours
 * agree. `wanted`: an edge is too long where it is. */
static int longest_edge(const bisection *s, const int32_t *cell, double *length, uint8_t *wanted)
{
    int best = -1;
    int32_t key[4], best_key[4] = {0};
    *length = 0, *wanted = 0;
    for (int e = 0; e < 6; ++e) {
        ps_facet_key(&ps_tetrahedron_edges, cell, (uint32_t)e, key);
        const double *a = s->mesh->vertices + 3 * (int64_t)key[0],
                     *b = s->mesh->vertices + 3 * (int64_t)key[1];
        double d = ps_distance3(a, b);
        *wanted |= d > s->asked->length && is_within(s->asked, a, b);
        bool larger = key[0] > best_key[0] || (key[0] == best_key[0] && key[1] > best_key[1]);
        if (best >= 0 && (d < *length || (d == *length && !larger))) continue;
        best = e, *length = d;
        memcpy(best_key, key, sizeof key);
    }
    return best;
}

static void find_long(bisection *b)
{
    const import_cells *cells = &b->mesh->tetrahedra;
    double length;
    uint8_t wanted;
    b->count = b->wants = 0;
    for (int64_t t = 0; t < cells->count; ++t) {
        int edge = longest_edge(b, cells->vertices + 4 * t, &length, &wanted);
        if (length <= b->asked->length) continue;
        b->number[b->count] = (int32_t)t, b->longest[b->count] = (int8_t)edge;
        b->middle[b->count] = -1, b->wanted[b->count] = wanted;
        b->wants += wanted;
        memcpy(b->cells + 4 * b->count++, cells->vertices + 4 * t, 4 * sizeof *cells->vertices);
    }
}

static bool is_longest(const bisection *b, uint32_t id)
{
    return b->longest[id / 6] == (int)(id % 6);
}

/* Who has the longest edge of a tetrahedron that is to be cut is to be cut as well. */
static void spread(bisection *b)
{
    const int64_t count = 6 * b->count;
    for (bool more = true; more;) {
        more = false;
        for (int64_t first = 0, end; first < count; first = end) {
            bool waits = false;
            end = ps_facets_run(&ps_tetrahedron_edges, b->cells, b->ids, count, first);
            for (int64_t i = first; i < end && !waits; ++i)
                waits = b->wanted[b->ids[i] / 6] && is_longest(b, b->ids[i]);
            for (int64_t i = first; i < end && waits; ++i) {
                uint8_t *wanted = b->wanted + b->ids[i] / 6;
                more = more || !*wanted;
                *wanted = 1;
            }
        }
    }
}

/* A vertex on each edge that all tetrahedra about it have as their longest. Those that are too long
 * have all of theirs in the pass. */
static ps_status set_middles(bisection *b)
{
    import_mesh *m = b->mesh;
    const int64_t count = 6 * b->count, before = m->vertex_count;
    int64_t all = before;
    b->cut = 0;
    ps_facets_sort(&ps_tetrahedron_edges, b->cells, b->count, before, b->start, b->ids);
    if (b->asked->radius > 0) spread(b);
    for (int64_t first = 0, end; first < count; first = end) {
        int64_t i = first;
        end = ps_facets_run(&ps_tetrahedron_edges, b->cells, b->ids, count, first);
        while (i < end && b->wanted[b->ids[i] / 6] && is_longest(b, b->ids[i])) ++i;
        if (i < end) continue;
        for (i = first; i < end; ++i) b->middle[b->ids[i] / 6] = (int32_t)all;
        b->cut += end - first, ++all;
    }
    if (all > INT32_MAX || 6 * (m->tetrahedra.count + b->cut) > UINT32_MAX - 2)
        return ps_fail(
            PS_EXHAUSTED,
            "edges as short as that make more vertices or tetrahedra than a mesh can have");
    PS_TRY(import_more_vertices(m, all));
    for (int64_t t = 0; t < b->count; ++t) {
        const int8_t *ends = ps_tetrahedron_edges.local[b->longest[t]];
        if (b->middle[t] < 0) continue;
        ps_midpoint3(m->vertices + 3 * (int64_t)b->cells[4 * t + ends[0]],
                     m->vertices + 3 * (int64_t)b->cells[4 * t + ends[1]],
                     m->vertices + 3 * (int64_t)b->middle[t]);
    }
    return PS_OK;
}

/* Cell `i`, with `middle` between its vertices at `a` and `b`, becomes two; tag and source are its
 * own. */
static void cut_cell(import_cells *cells, int64_t i, int a, int b, int32_t middle)
{
    const int64_t n = cells->count++;
    memcpy(cells->vertices + cells->size * n, cells->vertices + cells->size * i,
           (size_t)cells->size * sizeof *cells->vertices);
    cells->tags[n] = cells->tags[i], cells->source[n] = cells->source[i];
    cells->vertices[cells->size * i + b] = middle, cells->vertices[cells->size * n + a] = middle;
}

static ps_status cut_tetrahedra(bisection *b)
{
    import_cells *cells = &b->mesh->tetrahedra;
    PS_TRY(import_more_cells(cells, b->cut));
    for (int64_t t = 0; t < b->count; ++t) {
        const int8_t *ends = ps_tetrahedron_edges.local[b->longest[t]];
        if (b->middle[t] >= 0) cut_cell(cells, b->number[t], ends[0], ends[1], b->middle[t]);
    }
    return PS_OK;
}

/* The vertex on the edge between two vertices; -1: it is not cut. */
static int32_t middle_of(const bisection *b, int32_t p, int32_t q)
{
    const int32_t low = p < q ? p : q, high = p < q ? q : p;
    int32_t key[4];
    for (uint32_t i = b->start[low]; i < b->start[low + 1]; ++i) {
        ps_facet_key(&ps_tetrahedron_edges, b->cells, b->ids[i], key);
        if (key[1] == high) return is_longest(b, b->ids[i]) ? b->middle[b->ids[i] / 6] : -1;
    }
    return -1;
}

/* Of a triangle one edge is cut at most, as it is a face of a tetrahedron. */
static ps_status cut_triangles(bisection *b)
{
    import_cells *cells = &b->mesh->triangles;
    PS_TRY(import_more_cells(cells, cells->count));
    for (int64_t t = 0, count = cells->count; t < count; ++t) {
        const int32_t *v = cells->vertices + 3 * t;
        for (int k = 0; k < 3; ++k) {
            int32_t middle = middle_of(b, v[k], v[(k + 1) % 3]);
            if (middle < 0) continue;
            cut_cell(cells, t, k, (k + 1) % 3, middle);
            break;
        }
    }
    return PS_OK;
}

static void release(bisection *b)
{
    free(b->number), free(b->cells), free(b->longest), free(b->middle), free(b->wanted),
        free(b->start), free(b->ids);
    memset(b, 0, sizeof *b);
}

static ps_status pass(bisection *b)
{
    const int64_t count = b->mesh->tetrahedra.count;
    PS_TRY(PS_ALLOC(&b->number, count, "tetrahedra to be cut"));
    PS_TRY(PS_ALLOC(&b->cells, 4 * count, "tetrahedra to be cut"));
    PS_TRY(PS_ALLOC(&b->longest, count, "tetrahedra to be cut"));
    PS_TRY(PS_ALLOC(&b->middle, count, "tetrahedra to be cut"));
    PS_TRY(PS_ALLOC(&b->wanted, count, "tetrahedra to be cut"));
    find_long(b);
    if (b->wants == 0) return PS_OK;
    PS_TRY(PS_ALLOC(&b->start, b->mesh->vertex_count + 1, "edges"));
    PS_TRY(PS_ALLOC(&b->ids, 6 * b->count, "edges"));
    PS_TRY(set_middles(b));
    PS_TRY(cut_triangles(b));
    return cut_tetrahedra(b);
}

ps_status import_bisect(import_mesh *mesh, const import_fineness *asked)
{
    int64_t left;
    do {
        bisection b = {.mesh = mesh, .asked = asked};
        ps_status status = pass(&b);
        left = b.wants;
        release(&b);
        if (status != PS_OK) return status;
    } while (left > 0);
    return PS_OK;
}
