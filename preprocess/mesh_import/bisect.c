/* Bisection of longest edges: an edge is cut in two, with all tetrahedra about it, where it is the
 * longest of each of them (Rivara, Int. J. Numer. Meth. Eng. 20 (1984) 745). A tetrahedron that is
 * to be cut at an edge that is not the longest of a neighbour waits for that one, which is then cut
 * first: the longest edge of those never waits, and the mesh conforms after each pass. */
#include <stdlib.h>
#include <string.h>

#include "kernels/common/mesh_topology.h"
#include "kernels/common/vec3.h"
#include "preprocess/mesh_import/import.h"
#include "runtime/memory.h"

/* State of a tetrahedron: the local number of its longest edge; that this is longer than asked;
 * that it has an edge that is to go, or a neighbour waits for it; that it has from the next pass
 * on, as not all tetrahedra about its edges need be in this one. */
enum { EDGE = 7, LONG = 8, WANTED = 16, NEXT = 32 };

/* The tetrahedra of a pass are those that may have the longest edge of one that is wanted. */
typedef struct bisection {
    import_mesh *mesh;
    const import_fineness *asked;
    uint8_t *state; /* [tetrahedra of the mesh]                       */
    int64_t state_room;
    int64_t count, cut;    /* tetrahedra of the pass, and of them cut        */
    int32_t *number;       /* [count] theirs in the mesh                     */
    int32_t *cells;        /* [count][4]                                     */
    int32_t *middle;       /* [count] the vertex on the longest edge, or -1  */
    uint32_t *start, *ids; /* their edges, sorted                            */
} bisection;

static bool is_within(const import_fineness *f, const double *a, const double *b)
{
    double middle[3];
    ps_midpoint3(a, b, middle);
    return f->radius == 0 || ps_distance3(middle, f->centre) <= f->radius;
}

/* Of equal edges that of the larger vertices is the longest, so that neighbours agree. */
static void set_state(bisection *s, int64_t t)
{
    int best = -1;
    int32_t key[4], best_key[4] = {0};
    double length = 0;
    uint8_t wanted = 0;
    for (int e = 0; e < 6; ++e) {
        ps_facet_key(&ps_tetrahedron_edges, s->mesh->tetrahedra.vertices, (uint32_t)(6 * t + e),
                     key);
        const double *a = s->mesh->vertices + 3 * (int64_t)key[0],
                     *b = s->mesh->vertices + 3 * (int64_t)key[1];
        double d = ps_distance3(a, b);
        if (d > s->asked->length && is_within(s->asked, a, b)) wanted = WANTED;
        bool larger = key[0] > best_key[0] || (key[0] == best_key[0] && key[1] > best_key[1]);
        if (best >= 0 && (d < length || (d == length && !larger))) continue;
        best = e, length = d;
        memcpy(best_key, key, sizeof key);
    }
    s->state[t] = (uint8_t)(best | wanted | (length > s->asked->length ? LONG : 0));
}

/* All tetrahedra about an edge between vertices of wanted ones that is longer than asked. */
static ps_status gather(bisection *b, uint8_t *marked)
{
    const import_cells *cells = &b->mesh->tetrahedra;
    int64_t most = 0;
    for (int64_t t = 0; t < cells->count; ++t) {
        if (b->state[t] & NEXT) b->state[t] = (uint8_t)((b->state[t] & ~NEXT) | WANTED);
        most += (b->state[t] & LONG) != 0;
        for (int k = 0; k < 4 && b->state[t] & WANTED; ++k) marked[cells->vertices[4 * t + k]] = 1;
    }
    PS_TRY(PS_ALLOC(&b->number, most, "tetrahedra to be cut"));
    PS_TRY(PS_ALLOC(&b->cells, 4 * most, "tetrahedra to be cut"));
    PS_TRY(PS_ALLOC(&b->middle, most, "tetrahedra to be cut"));
    for (int64_t t = 0; t < cells->count; ++t) {
        const int32_t *v = cells->vertices + 4 * t;
        if (!(b->state[t] & LONG) || marked[v[0]] + marked[v[1]] + marked[v[2]] + marked[v[3]] < 2)
            continue;
        memcpy(b->cells + 4 * b->count, v, 4 * sizeof *v);
        b->middle[b->count] = -1;
        b->number[b->count++] = (int32_t)t;
    }
    return PS_OK;
}

static uint8_t *state_of(const bisection *b, uint32_t id) { return b->state + b->number[id / 6]; }

static bool is_longest(const bisection *b, uint32_t id)
{
    return (*state_of(b, id) & EDGE) == (int)(id % 6);
}

/* Whether the edge of ids[first .. end) is cut: a wanted tetrahedron has it as its longest, and so
 * have all others, which else are wanted from now on. */
static bool is_cut(bisection *b, int64_t first, int64_t end)
{
    bool waits = false, longest = true;
    for (int64_t i = first; i < end && !waits; ++i)
        waits = *state_of(b, b->ids[i]) & WANTED && is_longest(b, b->ids[i]);
    for (int64_t i = first; i < end && waits; ++i) {
        *state_of(b, b->ids[i]) |= NEXT;
        longest = longest && is_longest(b, b->ids[i]);
    }
    return waits && longest;
}

static ps_status set_middles(bisection *b)
{
    import_mesh *m = b->mesh;
    const int64_t count = 6 * b->count, before = m->vertex_count;
    int64_t all = before;
    ps_facets_sort(&ps_tetrahedron_edges, b->cells, b->count, before, b->start, b->ids);
    for (int64_t first = 0, end; first < count; first = end) {
        end = ps_facets_run(&ps_tetrahedron_edges, b->cells, b->ids, count, first);
        if (!is_cut(b, first, end)) continue;
        for (int64_t i = first; i < end; ++i) b->middle[b->ids[i] / 6] = (int32_t)all;
        b->cut += end - first, ++all;
    }
    if (all > INT32_MAX || 6 * (m->tetrahedra.count + b->cut) > UINT32_MAX - 2)
        return ps_fail(PS_EXHAUSTED, "edges as short as that make more vertices or tetrahedra than "
                                     "a mesh can have");
    PS_TRY(import_more_vertices(m, all));
    for (int64_t t = 0; t < b->count; ++t) {
        const int8_t *ends = ps_tetrahedron_edges.local[b->state[b->number[t]] & EDGE];
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
    PS_TRY(ps_grow((void **)&b->state, &b->state_room, cells->count + b->cut, 1, "tetrahedra"));
    for (int64_t t = 0; t < b->count; ++t) {
        const int8_t *ends = ps_tetrahedron_edges.local[b->state[b->number[t]] & EDGE];
        if (b->middle[t] < 0) continue;
        cut_cell(cells, b->number[t], ends[0], ends[1], b->middle[t]);
        set_state(b, b->number[t]);
        set_state(b, cells->count - 1);
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

static ps_status pass(bisection *b)
{
    uint8_t *marked = NULL;
    ps_status status = PS_ALLOC(&marked, b->mesh->vertex_count, "vertices");
    if (status == PS_OK) status = gather(b, marked);
    free(marked);
    if (status != PS_OK || b->count == 0) return status;
    PS_TRY(PS_ALLOC(&b->start, b->mesh->vertex_count + 1, "edges"));
    PS_TRY(PS_ALLOC(&b->ids, 6 * b->count, "edges"));
    PS_TRY(set_middles(b));
    PS_TRY(cut_triangles(b)); /* before the states change that say which edges are cut */
    return cut_tetrahedra(b);
}

static void end_pass(bisection *b)
{
    free(b->number), free(b->cells), free(b->middle), free(b->start), free(b->ids);
    b->number = b->cells = b->middle = NULL;
    b->start = b->ids = NULL;
}

ps_status import_bisect(import_mesh *mesh, const import_fineness *asked)
{
    bisection b = {.mesh = mesh, .asked = asked};
    ps_status status =
        ps_grow((void **)&b.state, &b.state_room, mesh->tetrahedra.count, 1, "tetrahedra");
    for (int64_t t = 0; t < mesh->tetrahedra.count && status == PS_OK; ++t) set_state(&b, t);
    do {
        b.count = b.cut = 0;
        if (status == PS_OK) status = pass(&b);
        end_pass(&b);
    } while (status == PS_OK && b.count > 0);
    free(b.state);
    return status;
}
