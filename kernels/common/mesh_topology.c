#include "kernels/common/mesh_topology.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { FEW = 48 };

const ps_facet_kind ps_triangle_edges = {3, 3, 2, {{0, 1}, {1, 2}, {2, 0}}};
const ps_facet_kind ps_triangle_itself = {3, 1, 3, {{0, 1, 2}}};
const ps_facet_kind ps_tetrahedron_edges = {
    4, 6, 2, {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}}};
const ps_facet_kind ps_tetrahedron_faces = {4, 4, 3, {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}}};
const ps_facet_kind ps_tetrahedron_itself = {4, 1, 4, {{0, 1, 2, 3}}};

void ps_facet_vertices(const ps_facet_kind *kind, const int32_t *cells, uint32_t id, int32_t *out)
{
    const int32_t *cell = cells + (int64_t)(id / (uint32_t)kind->facets) * kind->cell_size;
    const int8_t *local = kind->local[id % (uint32_t)kind->facets];
    for (int i = 0; i < kind->facet_size; ++i) out[i] = cell[local[i]];
}

void ps_facet_key(const ps_facet_kind *kind, const int32_t *cells, uint32_t id, int32_t *out)
{
    ps_facet_vertices(kind, cells, id, out);
    for (int i = 1; i < kind->facet_size; ++i)
        for (int j = i; j > 0 && out[j] < out[j - 1]; --j) {
            int32_t larger = out[j - 1];
            out[j - 1] = out[j];
            out[j] = larger;
        }
}

static int32_t smallest_vertex(const ps_facet_kind *kind, const int32_t *cells, uint32_t id)
{
    int32_t key[4];
    ps_facet_key(kind, cells, id, key);
    return key[0];
}

typedef struct context {
    const ps_facet_kind *kind;
    const int32_t *cells;
} context;

static int compare_keys(const int32_t *x, const int32_t *y, int size)
{
    for (int i = 0; i < size; ++i)
        if (x[i] != y[i]) return x[i] < y[i] ? -1 : 1;
    return 0;
}

static int by_key(const context *c, uint32_t a, uint32_t b)
{
    int32_t x[4], y[4];
    ps_facet_key(c->kind, c->cells, a, x);
    ps_facet_key(c->kind, c->cells, b, y);
    return compare_keys(x, y, c->kind->facet_size);
}

static int by_key_then_id(const void *a, const void *b, void *argument)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    int order = by_key(argument, x, y);
    return order ? order : (x > y) - (x < y);
}

/* Few facets have the same smallest vertex, save at the tips of large fans. Their vertices are
 * fetched once, from cells all over the memory. */
static void sort_group(context *c, uint32_t *ids, int64_t count)
{
    int32_t keys[FEW][4];
    const size_t size = (size_t)c->kind->facet_size;
    if (count > FEW) {
        qsort_r(ids, (size_t)count, sizeof *ids, by_key_then_id, c);
        return;
    }
    for (int64_t i = 0; i < count; ++i) {
        int32_t key[4];
        uint32_t id = ids[i];
        int64_t j = i;
        ps_facet_key(c->kind, c->cells, id, key);
        for (; j > 0 && compare_keys(key, keys[j - 1], (int)size) < 0; --j) {
            ids[j] = ids[j - 1];
            memcpy(keys[j], keys[j - 1], size * sizeof *key);
        }
        ids[j] = id;
        memcpy(keys[j], key, size * sizeof *key);
    }
}

void ps_facets_sort(const ps_facet_kind *kind, const int32_t *cells, int64_t cell_count,
                    int64_t vertex_count, uint32_t *start, uint32_t *ids)
{
    int64_t count = cell_count * kind->facets;
    context c = {kind, cells};
    memset(start, 0, (size_t)(vertex_count + 1) * sizeof *start);
    for (int64_t id = 0; id < count; ++id) ++start[smallest_vertex(kind, cells, (uint32_t)id)];
    uint32_t place = 0;
    for (int64_t v = 0; v <= vertex_count; ++v) {
        uint32_t here = start[v];
        start[v] = place;
        place += here;
    }
    for (int64_t id = 0; id < count; ++id)
        ids[start[smallest_vertex(kind, cells, (uint32_t)id)]++] = (uint32_t)id;
    for (int64_t v = vertex_count; v > 0; --v) start[v] = start[v - 1]; /* ends to beginnings */
    start[0] = 0;
#pragma omp parallel for schedule(dynamic, 4096)
    for (int64_t v = 0; v < vertex_count; ++v)
        sort_group(&c, ids + start[v], (int64_t)start[v + 1] - start[v]);
}

int64_t ps_facets_run(const ps_facet_kind *kind, const int32_t *cells, const uint32_t *ids,
                      int64_t count, int64_t first)
{
    context c = {kind, cells};
    int64_t end = first + 1;
    while (end < count && by_key(&c, ids[first], ids[end]) == 0) ++end;
    return end;
}

int ps_facets_direction(const ps_facet_kind *kind, const int32_t *cells, uint32_t a, uint32_t b)
{
    int32_t x[4], y[4];
    ps_facet_vertices(kind, cells, a, x);
    ps_facet_vertices(kind, cells, b, y);
    if (kind->facet_size == 2) return x[0] == y[0] ? 1 : -1;
    int turn = y[0] == x[0] ? 0 : y[1] == x[0] ? 1 : 2;
    return y[(turn + 1) % 3] == x[1] ? 1 : -1;
}

void ps_edges_pair(const int32_t *triangles, int64_t triangle_count, const uint32_t *ids,
                   uint32_t *mate)
{
    int64_t count = 3 * triangle_count;
    for (int64_t first = 0, end; first < count; first = end) {
        end = ps_facets_run(&ps_triangle_edges, triangles, ids, count, first);
        bool pair = end - first == 2;
        for (int64_t i = first; i < end; ++i)
            mate[ids[i]] = pair               ? ids[first + end - 1 - i]
                           : end - first == 1 ? PS_MATE_NONE
                                              : PS_MATE_MANY;
    }
}

/* Takes the neighbours of triangle t into its part; counts edges that cannot agree, once. */
static void take_neighbours(const int32_t *triangles, const uint32_t *mate, int64_t t,
                            int32_t *part, uint8_t *flip, uint32_t *queue, int64_t *tail,
                            int64_t *twists, uint32_t *twist)
{
    for (uint32_t h = (uint32_t)(3 * t); h < (uint32_t)(3 * t + 3); ++h) {
        if (mate[h] >= PS_MATE_MANY) continue;
        int64_t s = mate[h] / 3;
        bool same = ps_facets_direction(&ps_triangle_edges, triangles, h, mate[h]) > 0;
        uint8_t wanted = same ? !flip[t] : flip[t];
        if (part[s] < 0) {
            part[s] = part[t];
            flip[s] = wanted;
            queue[(*tail)++] = (uint32_t)s;
        } else if (flip[s] != wanted && h < mate[h] && (*twists)++ == 0) {
            *twist = h;
        }
    }
}

int64_t ps_surface_parts(const int32_t *triangles, int64_t triangle_count, const uint32_t *mate,
                         int32_t *part, uint8_t *flip, uint32_t *queue, int64_t *twists,
                         uint32_t *twist)
{
    int32_t parts = 0;
    *twists = 0;
    for (int64_t t = 0; t < triangle_count; ++t) part[t] = -1;
    for (int64_t seed = 0; seed < triangle_count; ++seed) {
        if (part[seed] >= 0) continue;
        int64_t head = 0, tail = 1;
        part[seed] = parts++;
        flip[seed] = 0;
        queue[0] = (uint32_t)seed;
        while (head < tail)
            take_neighbours(triangles, mate, queue[head++], part, flip, queue, &tail, twists,
                            twist);
    }
    return parts;
}

/* ---- union of sets: the root is the smallest member ---- */

static uint32_t find(uint32_t *root, uint32_t i)
{
    while (root[i] != i) {
        root[i] = root[root[i]];
        i = root[i];
    }
    return i;
}

/* True if they were two sets. */
static bool unite(uint32_t *root, uint32_t a, uint32_t b)
{
    a = find(root, a);
    b = find(root, b);
    if (a < b)
        root[b] = a;
    else
        root[a] = b;
    return a != b;
}

static void each_alone(uint32_t *root, int64_t count)
{
    for (int64_t i = 0; i < count; ++i) root[i] = (uint32_t)i;
}

/* The corner of half-edge g's triangle that sits at vertex v of its edge. */
static uint32_t corner_at(const int32_t *triangles, uint32_t g, int32_t v)
{
    return triangles[g] == v ? g : g / 3 * 3 + (g % 3 + 1) % 3;
}

void ps_vertex_fans(const int32_t *triangles, int64_t triangle_count, const uint32_t *mate,
                    int64_t vertex_count, uint8_t *fans, uint32_t *root)
{
    int64_t corners = 3 * triangle_count;
    each_alone(root, corners);
    for (uint32_t h = 0; h < corners; ++h) {
        if (mate[h] >= PS_MATE_MANY) continue;
        uint32_t next = h / 3 * 3 + (h % 3 + 1) % 3;
        unite(root, h, corner_at(triangles, mate[h], triangles[h]));
        unite(root, next, corner_at(triangles, mate[h], triangles[next]));
    }
    memset(fans, 0, (size_t)vertex_count);
    for (uint32_t h = 0; h < corners; ++h)
        if (root[h] == h && fans[triangles[h]] < 255) ++fans[triangles[h]];
    for (uint32_t h = 0; h < corners; ++h)
        if (mate[h] == PS_MATE_MANY)
            fans[triangles[h]] = fans[triangles[h / 3 * 3 + (h % 3 + 1) % 3]] = 1;
}

int64_t ps_open_loops(const int32_t *triangles, int64_t triangle_count, const uint32_t *mate,
                      int64_t vertex_count, uint32_t *root)
{
    int64_t vertices = 0, joins = 0; /* each join of two sets leaves one set less */
    for (int64_t v = 0; v < vertex_count; ++v) root[v] = UINT32_MAX;
    for (uint32_t h = 0; h < 3 * triangle_count; ++h) {
        if (mate[h] != PS_MATE_NONE) continue;
        int32_t ends[2];
        ps_facet_vertices(&ps_triangle_edges, triangles, h, ends);
        for (int i = 0; i < 2; ++i)
            if (root[ends[i]] == UINT32_MAX) {
                root[ends[i]] = (uint32_t)ends[i];
                ++vertices;
            }
        joins += unite(root, (uint32_t)ends[0], (uint32_t)ends[1]);
    }
    return vertices - joins;
}

int64_t ps_volume_parts(const int32_t *tetrahedra, int64_t cell_count, const uint32_t *ids,
                        int32_t *part, uint32_t *root)
{
    int64_t count = 4 * cell_count, parts = 0;
    each_alone(root, cell_count);
    for (int64_t first = 0, end; first < count; first = end) {
        end = ps_facets_run(&ps_tetrahedron_faces, tetrahedra, ids, count, first);
        for (int64_t i = first + 1; i < end; ++i) unite(root, ids[first] / 4, ids[i] / 4);
    }
    for (int64_t cell = 0; cell < cell_count; ++cell) {
        uint32_t top = find(root, (uint32_t)cell);
        part[cell] = top == cell ? (int32_t)parts++ : part[top];
    }
    return parts;
}

int64_t ps_touching_parts(const int32_t *triangles, int64_t triangle_count, int64_t vertex_count,
                          int32_t *part, uint32_t *root, uint32_t *first)
{
    int64_t parts = 0;
    each_alone(root, triangle_count);
    for (int64_t v = 0; v < vertex_count; ++v) first[v] = UINT32_MAX;
    for (int64_t corner = 0; corner < 3 * triangle_count; ++corner) {
        uint32_t *at = &first[triangles[corner]], own = (uint32_t)(corner / 3);
        if (*at == UINT32_MAX)
            *at = own;
        else
            unite(root, *at, own);
    }
    for (int64_t t = 0; t < triangle_count; ++t) {
        uint32_t top = find(root, (uint32_t)t);
        part[t] = top == t ? (int32_t)parts++ : part[top];
    }
    return parts;
}
