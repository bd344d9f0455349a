#include "preprocess/gravity_assemble/subdomains.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/subdomains.h"
#include "kernels/schwarz/element.h"
#include "runtime/compare.h"
#include "runtime/memory.h"
#include "runtime/partitioner.h"
#include "runtime/scope.h"

typedef struct face {
    int32_t sides[2], axis;
    int64_t nodes[4];
} face;

typedef struct cut {
    ps_element_parts parts;
    int64_t elements, count;
    int32_t *part;  /* [elements] */
    int64_t *start; /* [count + 1]: into order */
    int32_t *order; /* [elements], subdomain by subdomain */
    int32_t *local; /* [nodes]: place in the list at hand, -1 */
    face *faces;    /* between subdomains, by their sides */
    int64_t face_count, face_capacity;
    int64_t *first_face; /* [interfaces + 1] */
    int64_t interfaces;
} cut;

static void release(cut *c)
{
    PS_FREE(c->part, c->start, c->order, c->local, c->faces, c->first_face);
}

static int64_t elements_of(const ps_q1_grid *grid)
{
    return (grid->nodes[0] - 1) * (grid->nodes[1] - 1) * (grid->nodes[2] - 1);
}

int64_t subdomains_memory(const ps_q1_grid *grid)
{
    /* parts, order and Scotch's graph of 6 neighbours with costs; places of nodes */
    return elements_of(grid) * (4 + 4 + 4 * 14) + ps_q1_grid_size(grid) * 4;
}

/* ---- the partition ---- */

static void cut_slabs(cut *c)
{
    const int64_t *n = c->parts.grid.nodes;
    int64_t layer = (n[1] - 1) * (n[2] - 1), layers = n[0] - 1, more = layers % c->count;
    int64_t each = layers / c->count;
    for (int64_t e = 0; e < c->elements; ++e) {
        int64_t i = e / layer, long_end = more * (each + 1);
        c->part[e] = (int32_t)(i < long_end ? i / (each + 1) : more + (i - long_end) / each);
    }
}

/* What it costs to cut a face: how strongly it couples, 1 / h^2, so that flat elements stay in
 * columns. */
static void face_costs(const cut *c, int32_t out[3])
{
    const double *h = c->parts.grid.spacing;
    double widest = fmax(h[0], fmax(h[1], h[2]));
    for (int a = 0; a < 3; ++a) out[a] = (int32_t)fmin(round(widest * widest / (h[a] * h[a])), 100);
}

/* Neighbours of elements across their faces. */
static void fill_graph(const cut *c, int32_t *start, int32_t *neighbours, int32_t *edges)
{
    int32_t costs[3];
    const int64_t *n = c->parts.grid.nodes;
    int64_t step[3] = {(n[1] - 1) * (n[2] - 1), n[2] - 1, 1};
    int32_t count = 0;
    face_costs(c, costs);
    for (int64_t e = 0; e < c->elements; ++e) {
        start[e] = count;
        for (int a = 0; a < 3; ++a) {
            int64_t at = e / step[a] % (n[a] - 1);
            if (at > 0) edges[count] = costs[a], neighbours[count++] = (int32_t)(e - step[a]);
            if (at < n[a] - 2)
                edges[count] = costs[a], neighbours[count++] = (int32_t)(e + step[a]);
        }
    }
    start[c->elements] = count;
}

static ps_status cut_scotch(cut *c)
{
    PS_SCOPED_MEMORY int32_t *start = NULL;
    PS_SCOPED_MEMORY int32_t *neighbours = NULL, *edges = NULL;
    if (c->elements > INT32_MAX / 6)
        return ps_fail(PS_USAGE,
                       "%lld elements are too many for Scotch; --partition slabs does "
                       "without it",
                       (long long)c->elements);
    PS_TRY(PS_ALLOC(&start, c->elements + 1, "a graph"));
    PS_TRY(PS_ALLOC(&neighbours, 6 * c->elements, "a graph"));
    PS_TRY(PS_ALLOC(&edges, 6 * c->elements, "a graph"));
    fill_graph(c, start, neighbours, edges);
    ps_graph graph = {c->elements, start, neighbours, NULL, edges};
    return ps_partition_graph(&graph, c->count, .02, c->part);
}

static ps_status cut_elements(cut *c, const subdomains_request *r)
{
    int64_t layers = c->parts.grid.nodes[0] - 1;
    if (r->partition == PARTITION_SLABS && r->count > layers)
        return ps_fail(PS_USAGE, "--parts %lld: %lld layers of elements make at most as many slabs",
                       (long long)r->count, (long long)layers);
    if (r->partition == PARTITION_SCOTCH && !ps_partitioner_available())
        return ps_fail(PS_USAGE, "--partition scotch: built without Scotch; take slabs");
    PS_TRY(PS_ALLOC(&c->part, c->elements, "a partition"));
    c->parts.part = c->part;
    if (r->partition == PARTITION_SCOTCH) return cut_scotch(c);
    cut_slabs(c);
    return PS_OK;
}

/* Elements subdomain by subdomain. */
static ps_status order_elements(cut *c)
{
    PS_TRY(PS_ALLOC(&c->start, c->count + 2, "a partition"));
    PS_TRY(PS_ALLOC(&c->order, c->elements, "a partition"));
    for (int64_t e = 0; e < c->elements; ++e) ++c->start[c->part[e] + 2];
    for (int64_t s = 0; s < c->count; ++s) {
        if (c->start[s + 2] == 0)
            return ps_fail(PS_USAGE, "--parts %lld: subdomain %lld would be empty; fewer may do",
                           (long long)c->count, (long long)s);
        c->start[s + 2] += c->start[s + 1];
    }
    for (int64_t e = 0; e < c->elements; ++e) c->order[c->start[c->part[e] + 1]++] = (int32_t)e;
    return PS_OK;
}

/* ---- a subdomain ---- */

static void corners_of(const cut *c, int64_t element, int64_t nodes[8])
{
    const int64_t *n = c->parts.grid.nodes;
    int64_t i = element / ((n[1] - 1) * (n[2] - 1)), j = element / (n[2] - 1) % (n[1] - 1);
    int64_t k = element % (n[2] - 1);
    for (int corner = 0; corner < 8; ++corner)
        nodes[corner] =
            ((i + (corner >> 2)) * n[1] + j + (corner >> 1 & 1)) * n[2] + k + (corner & 1);
}

/* In ascending order, their places in c->local. */
static void place_nodes(cut *c, int64_t *nodes, int64_t count)
{
    qsort(nodes, (size_t)count, sizeof *nodes, ps_compare_i64);
    for (int64_t i = 0; i < count; ++i) c->local[nodes[i]] = (int32_t)i;
}

/* Nodes of a subdomain, ascending, and their places in c->local. *out: the caller's. */
static ps_status list_nodes(cut *c, int64_t s, int64_t **out, int64_t *count)
{
    *count = 0;
    PS_TRY(PS_ALLOC(out, 8 * (c->start[s + 1] - c->start[s]), "a subdomain"));
    for (int64_t e = c->start[s]; e < c->start[s + 1]; ++e) {
        int64_t corners[8];
        corners_of(c, c->order[e], corners);
        for (int i = 0; i < 8; ++i) {
            if (c->local[corners[i]] >= 0) continue;
            c->local[corners[i]] = 0;
            (*out)[(*count)++] = corners[i];
        }
    }
    place_nodes(c, *out, *count);
    return PS_OK;
}

static ps_status fill_matrix(cut *c, int64_t s, ps_subdomain *out, int64_t rows)
{
    int64_t columns[27], entries = 0;
    double values[27];
    for (int64_t r = 0; r < rows; ++r)
        entries += ps_part_row(&c->parts, (int32_t)s, out->nodes[r], columns, values);
    PS_TRY(ps_csr_init(&out->matrix, rows, entries));
    ps_csr *m = &out->matrix;
    for (int64_t r = 0; r < rows; ++r) {
        int count = ps_part_row(&c->parts, (int32_t)s, out->nodes[r], columns, values);
        for (int i = 0; i < count; ++i) {
            m->columns[m->row_start[r] + i] = c->local[columns[i]];
            m->values[m->row_start[r] + i] = values[i];
        }
        m->row_start[r + 1] = m->row_start[r] + count;
    }
    return PS_OK;
}

static ps_status make_subdomain(cut *c, int64_t s, ps_subdomain *out)
{
    int64_t rows;
    ps_status status = list_nodes(c, s, &out->nodes, &rows);
    if (status == PS_OK) status = fill_matrix(c, s, out, rows);
    for (int64_t i = 0; out->nodes && i < rows; ++i) c->local[out->nodes[i]] = -1;
    return status;
}

/* ---- interfaces ---- */

static int by_sides(const void *a, const void *b)
{
    const face *x = a, *y = b;
    for (int s = 0; s < 2; ++s)
        if (x->sides[s] != y->sides[s]) return x->sides[s] < y->sides[s] ? -1 : 1;
    return x->nodes[0] != y->nodes[0] ? (x->nodes[0] < y->nodes[0] ? -1 : 1) : x->axis - y->axis;
}

static bool is_fixed(const ps_q1_grid *grid, int64_t node)
{
    const int64_t *n = grid->nodes;
    int64_t at[3] = {node / (n[1] * n[2]), node / n[2] % n[1], node % n[2]};
    for (int a = 0; a < 3; ++a)
        if (at[a] == 0 || at[a] == n[a] - 1) return true;
    return false;
}

static ps_status find_faces(cut *c)
{
    for (int64_t e = 0; e < c->elements; ++e)
        for (int axis = 0; axis < 3; ++axis) {
            face f = {.axis = axis};
            bool open = false;
            if (!ps_part_face(&c->parts, e, axis, f.nodes, f.sides)) continue;
            for (int i = 0; i < 4; ++i) open |= !is_fixed(&c->parts.grid, f.nodes[i]);
            if (!open) continue;
            if (f.sides[0] > f.sides[1]) {
                int32_t other = f.sides[0];
                f.sides[0] = f.sides[1];
                f.sides[1] = other;
            }
            PS_TRY(ps_grow((void **)&c->faces, &c->face_capacity, c->face_count + 1, sizeof f,
                           "faces between subdomains"));
            c->faces[c->face_count++] = f;
        }
    if (c->face_count) qsort(c->faces, (size_t)c->face_count, sizeof *c->faces, by_sides);
    PS_TRY(PS_ALLOC(&c->first_face, c->face_count + 1, "interfaces"));
    for (int64_t f = 0; f < c->face_count; ++f)
        if (f == 0 || memcmp(c->faces[f].sides, c->faces[f - 1].sides, sizeof c->faces->sides) != 0)
            c->first_face[c->interfaces++] = f;
    c->first_face[c->interfaces] = c->face_count;
    return PS_OK;
}

typedef struct entry {
    int32_t row, column;
    double mass, stiffness;
} entry;

static int by_place(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    return x->row != y->row ? (x->row < y->row ? -1 : 1)
                            : (x->column > y->column) - (x->column < y->column);
}

/* Sums the matrices of faces in c->local's numbering into entries; their number. */
static int64_t gather_entries(const cut *c, int64_t interface, entry *out)
{
    int64_t count = 0, merged = 0;
    for (int64_t f = c->first_face[interface]; f < c->first_face[interface + 1]; ++f) {
        double mass[4][4], stiffness[4][4];
        ps_face_element(&c->parts.grid, c->faces[f].axis, mass, stiffness);
        for (int i = 0; i < 16; ++i) {
            int32_t row = c->local[c->faces[f].nodes[i / 4]];
            int32_t column = c->local[c->faces[f].nodes[i % 4]];
            if (row >= 0 && column >= 0)
                out[count++] = (entry){row, column, mass[i / 4][i % 4], stiffness[i / 4][i % 4]};
        }
    }
    qsort(out, (size_t)count, sizeof *out, by_place);
    for (int64_t i = 0; i < count; ++i) {
        if (i && out[i].row == out[merged - 1].row && out[i].column == out[merged - 1].column) {
            out[merged - 1].mass += out[i].mass;
            out[merged - 1].stiffness += out[i].stiffness;
        } else
            out[merged++] = out[i];
    }
    return merged;
}

static ps_status list_face_nodes(cut *c, int64_t interface, int64_t **out, int64_t *count)
{
    int64_t first = c->first_face[interface], end = c->first_face[interface + 1];
    *count = 0;
    PS_TRY(PS_ALLOC(out, 4 * (end - first), "an interface"));
    for (int64_t i = 4 * first; i < 4 * end; ++i) {
        int64_t node = c->faces[i / 4].nodes[i % 4];
        if (c->local[node] >= 0 || is_fixed(&c->parts.grid, node)) continue;
        c->local[node] = 0;
        (*out)[(*count)++] = node;
    }
    place_nodes(c, *out, *count);
    return PS_OK;
}

static ps_status fill_face(const cut *c, int64_t interface, int64_t rows, ps_subdomain_face *out)
{
    PS_SCOPED_MEMORY entry *entries = NULL;
    PS_TRY(PS_ALLOC(&entries, 16 * (c->first_face[interface + 1] - c->first_face[interface]),
                    "an interface"));
    int64_t count = gather_entries(c, interface, entries);
    PS_TRY(ps_csr_init(&out->mass, rows, count));
    PS_TRY(PS_ALLOC(&out->stiffness, count, "an interface"));
    for (int64_t e = 0; e < count; ++e) {
        ++out->mass.row_start[entries[e].row + 1];
        out->mass.columns[e] = entries[e].column;
        out->mass.values[e] = entries[e].mass;
        out->stiffness[e] = entries[e].stiffness;
    }
    for (int64_t r = 0; r < rows; ++r) out->mass.row_start[r + 1] += out->mass.row_start[r];
    return PS_OK;
}

static ps_status make_face(cut *c, int64_t interface, ps_subdomain_face *out)
{
    int64_t rows;
    memcpy(out->sides, c->faces[c->first_face[interface]].sides, sizeof out->sides);
    ps_status status = list_face_nodes(c, interface, &out->nodes, &rows);
    if (status == PS_OK) status = fill_face(c, interface, rows, out);
    for (int64_t i = 0; out->nodes && i < rows; ++i) c->local[out->nodes[i]] = -1;
    return status;
}

/* ---- the file ---- */

/* Sizes first, which the file's datasets want to know. */
static ps_status measure(cut *c, ps_subdomains_header *h, subdomains_figures *figures)
{
    int64_t largest = 0;
    for (int64_t s = 0; s < c->count; ++s) {
        PS_SCOPED(ps_subdomain_release) ps_subdomain one = {0};
        PS_TRY(make_subdomain(c, s, &one));
        if (one.matrix.rows > h->rows_max) h->rows_max = one.matrix.rows;
        if (one.matrix.nnz > h->entries_max) h->entries_max = one.matrix.nnz;
        if (c->start[s + 1] - c->start[s] > largest) largest = c->start[s + 1] - c->start[s];
    }
    for (int64_t i = 0; i < c->interfaces; ++i) {
        PS_SCOPED(ps_subdomain_face_release) ps_subdomain_face one = {0};
        PS_TRY(make_face(c, i, &one));
        figures->interface_nodes += one.mass.rows;
        if (one.mass.rows > h->face_rows_max) h->face_rows_max = one.mass.rows;
        if (one.mass.nnz > h->face_entries_max) h->face_entries_max = one.mass.nnz;
    }
    for (int64_t node = 0; node < ps_q1_grid_size(&c->parts.grid); ++node) {
        int32_t at[8];
        figures->cross_points +=
            !is_fixed(&c->parts.grid, node) && ps_parts_at(&c->parts, node, at) > 2;
    }
    figures->interfaces = c->interfaces;
    figures->imbalance = (double)(largest * c->count) / (double)c->elements;
    return PS_OK;
}

static ps_status write_pieces(cut *c, ps_subdomains *file)
{
    for (int64_t s = 0; s < c->count; ++s) {
        PS_SCOPED(ps_subdomain_release) ps_subdomain one = {0};
        PS_TRY(make_subdomain(c, s, &one));
        PS_TRY(ps_subdomains_write(file, s, &one));
    }
    for (int64_t i = 0; i < c->interfaces; ++i) {
        PS_SCOPED(ps_subdomain_face_release) ps_subdomain_face one = {0};
        PS_TRY(make_face(c, i, &one));
        PS_TRY(ps_subdomains_write_face(file, i, &one));
    }
    return PS_OK;
}

static ps_status write_file(cut *c, const ps_product *product, const subdomains_request *r,
                            subdomains_figures *figures)
{
    ps_subdomains_header header = {.subdomains = c->count, .interfaces = c->interfaces};
    PS_SCOPED(ps_subdomains_close) ps_subdomains file = {0};
    memcpy(header.nodes, c->parts.grid.nodes, sizeof header.nodes);
    memcpy(header.spacing, c->parts.grid.spacing, sizeof header.spacing);
    header.lumped = c->parts.grid.lumped;
    strcpy(header.partition, r->partition == PARTITION_SLABS ? "slabs" : "scotch");
    PS_TRY(measure(c, &header, figures));
    PS_TRY(ps_subdomains_create(r->path, &product->identity, &header, &file));
    PS_TRY(ps_product_record(product, file.store));
    PS_TRY(write_pieces(c, &file));
    return ps_subdomains_commit(&file);
}

ps_status subdomains_write(const ps_product *product, const ps_q1_grid *grid,
                           const subdomains_request *request, subdomains_figures *out)
{
    PS_SCOPED(release)
    cut c = {.parts = {.grid = *grid}, .elements = elements_of(grid), .count = request->count};
    int64_t nodes = ps_q1_grid_size(grid);
    *out = (subdomains_figures){0};
    if (nodes > INT32_MAX)
        return ps_fail(PS_USAGE, "--subdomains: %lld nodes are too many", (long long)nodes);
    PS_TRY(cut_elements(&c, request));
    PS_TRY(order_elements(&c));
    PS_TRY(PS_ALLOC(&c.local, nodes, "places of nodes"));
    memset(c.local, 0xff, (size_t)nodes * sizeof *c.local);
    PS_TRY(find_faces(&c));
    return write_file(&c, product, request, out);
}
