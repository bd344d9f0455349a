#include "preprocess/mesh_box/box.h"

#include "kernels/common/counter_random.h"

int64_t box_vertices(const box *b)
{
    return (b->cells[0] + 1) * (b->cells[1] + 1) * (b->cells[2] + 1);
}

int64_t box_tetrahedra(const box *b) { return 6 * b->cells[0] * b->cells[1] * b->cells[2]; }

/* Triangles of one of the two sides across axis a. */
static int64_t side_triangles(const box *b, int a)
{
    return 2 * b->cells[(a + 1) % 3] * b->cells[(a + 2) % 3];
}

int64_t box_triangles(const box *b)
{
    return 2 * (side_triangles(b, 0) + side_triangles(b, 1) + side_triangles(b, 2));
}

static int32_t vertex_at(const box *b, const int64_t at[3])
{
    return (int32_t)((at[2] * (b->cells[1] + 1) + at[1]) * (b->cells[0] + 1) + at[0]);
}

static void place_of(const int64_t sides[3], int64_t index, int64_t at[3])
{
    at[0] = index % sides[0];
    at[1] = index / sides[0] % sides[1];
    at[2] = index / sides[0] / sides[1];
}

/* Vertices on a side stay in its plane. */
void box_make_vertices(const void *context, int64_t first, int64_t count, void *rows)
{
    const box *b = context;
    const int64_t sides[3] = {b->cells[0] + 1, b->cells[1] + 1, b->cells[2] + 1};
    double(*out)[3] = rows;
    for (int64_t i = 0; i < count; ++i) {
        int64_t at[3], v = first + i;
        place_of(sides, v, at);
        for (int c = 0; c < 3; ++c) {
            double move = ps_counter_uniform((uint64_t)b->seed, (uint64_t)v, (uint64_t)c) - .5;
            double place = (double)at[c] + (at[c] % b->cells[c] ? b->shake * move : 0);
            out[i][c] = b->corner[c] + b->size[c] * (place / (double)b->cells[c]);
        }
    }
}

/* Grid places of the corners of a tetrahedron; the odd orders of the axes turn the last two. */
static void corners_of(const box *b, int64_t tetrahedron, int64_t at[4][3])
{
    static const int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                     {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    static const int odd[6] = {0, 1, 1, 0, 0, 1};
    const int *order = orders[tetrahedron % 6];
    int last = odd[tetrahedron % 6] ? 2 : 3, third = 5 - last;
    const int to[4] = {0, 1, third, last};
    int64_t place[3];
    place_of(b->cells, tetrahedron / 6, place);
    for (int v = 0; v < 4; ++v) {
        for (int c = 0; c < 3; ++c) at[to[v]][c] = place[c];
        if (v < 3) ++place[order[v]];
    }
}

void box_make_connectivity(const void *context, int64_t first, int64_t count, void *rows)
{
    const box *b = context;
    int32_t *out = rows;
    for (int64_t i = 0; i < count; i += 4) {
        int64_t at[4][3];
        corners_of(b, (first + i) / 4, at);
        for (int v = 0; v < 4; ++v) out[i + v] = vertex_at(b, at[v]);
    }
}

static bool region_has(const box_region *r, const double x[3])
{
    double square = 0;
    bool inside = true;
    for (int c = 0; c < 3; ++c) {
        inside &= x[c] >= r->lower[c] && x[c] <= r->upper[c];
        square += (x[c] - r->lower[c]) * (x[c] - r->lower[c]);
    }
    return r->ball ? square <= r->upper[0] * r->upper[0] : inside;
}

/* By the centroid before vertices are moved. */
void box_make_tags(const void *context, int64_t first, int64_t count, void *rows)
{
    const box *b = context;
    int32_t *out = rows;
    for (int64_t i = 0; i < count; ++i) {
        int64_t at[4][3];
        double x[3];
        corners_of(b, first + i, at);
        for (int c = 0; c < 3; ++c)
            x[c] = b->corner[c] + b->size[c] * (double)(at[0][c] + at[1][c] + at[2][c] + at[3][c]) /
                                      (4 * (double)b->cells[c]);
        out[i] = b->tag;
        for (int r = 0; r < b->region_count; ++r)
            if (region_has(b->regions + r, x)) out[i] = b->regions[r].tag;
    }
}

/* Which of the sides x-, x+, y-, .. a triangle is on, and its place there. */
static int side_of(const box *b, int64_t *triangle)
{
    for (int side = 0;; ++side) {
        int64_t count = side_triangles(b, side / 2);
        if (*triangle < count) return side;
        *triangle -= count;
    }
}

/* Both triangles of a cell's face have its diagonal v, v+e_b+e_c; they look outwards. */
static void make_triangle(const box *b, int64_t index, int32_t out[3])
{
    int side = side_of(b, &index), a = side / 2, u = (a + 1) % 3, w = (a + 2) % 3;
    int64_t at[3], cell = index / 2;
    int first = index % 2 ? w : u;
    bool turn = (index % 2) == (side % 2);
    at[a] = side % 2 ? b->cells[a] : 0;
    at[u] = cell % b->cells[u];
    at[w] = cell / b->cells[u];
    out[0] = vertex_at(b, at);
    ++at[first];
    out[turn ? 2 : 1] = vertex_at(b, at);
    ++at[u + w - first];
    out[turn ? 1 : 2] = vertex_at(b, at);
}

void box_make_triangles(const void *context, int64_t first, int64_t count, void *rows)
{
    for (int64_t i = 0; i < count; ++i) make_triangle(context, first + i, (int32_t *)rows + 3 * i);
}

void box_make_triangle_tags(const void *context, int64_t first, int64_t count, void *rows)
{
    const box *b = context;
    for (int64_t i = 0; i < count; ++i) {
        int64_t index = first + i;
        ((int32_t *)rows)[i] = b->sides + side_of(b, &index);
    }
}
