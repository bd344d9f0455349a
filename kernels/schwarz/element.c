#include "kernels/schwarz/element.h"

static double line_stiffness(double h, int a, int b) { return (a == b ? 1 : -1) / h; }
static double line_mass(double h, double lumped, int a, int b)
{
    return a == b ? ps_mass_here(h, lumped) / 2 : ps_mass_beside(h, lumped);
}

/* Corner along an axis. */
static int end_of(int corner, int axis) { return corner >> (2 - axis) & 1; }

void ps_element_stiffness(const ps_q1_grid *grid, double stiffness[8][8])
{
    const double *h = grid->spacing;
    for (int r = 0; r < 8; ++r)
        for (int c = 0; c < 8; ++c) {
            double sum = 0;
            for (int across = 0; across < 3; ++across) {
                double product = 1;
                for (int a = 0; a < 3; ++a)
                    product *= a == across
                                   ? line_stiffness(h[a], end_of(r, a), end_of(c, a))
                                   : line_mass(h[a], grid->lumped, end_of(r, a), end_of(c, a));
                sum += product;
            }
            stiffness[r][c] = sum;
        }
}

void ps_face_element(const ps_q1_grid *grid, int axis, double mass[4][4], double stiffness[4][4])
{
    double h[2] = {grid->spacing[axis == 0 ? 1 : 0], grid->spacing[axis == 2 ? 1 : 2]};
    double m[2][2], s = grid->lumped; /* masses along the two axes, by distance */
    for (int i = 0; i < 2; ++i)
        for (int d = 0; d < 2; ++d) m[i][d] = line_mass(h[i], s, 0, d);
    for (int r = 0; r < 4; ++r)
        for (int c = 0; c < 4; ++c) {
            int a = r >> 1, b = c >> 1, d = r & 1, e = c & 1;
            mass[r][c] = m[0][a != b] * m[1][d != e];
            stiffness[r][c] = line_stiffness(h[0], a, b) * m[1][d != e] +
                              m[0][a != b] * line_stiffness(h[1], d, e);
        }
}

/* ---- pieces of a grid ---- */

static void place_of(const ps_q1_grid *grid, int64_t node, int64_t at[3])
{
    const int64_t *n = grid->nodes;
    at[0] = node / (n[1] * n[2]);
    at[1] = node / n[2] % n[1];
    at[2] = node % n[2];
}

static int64_t node_at(const ps_q1_grid *grid, const int64_t at[3])
{
    return (at[0] * grid->nodes[1] + at[1]) * grid->nodes[2] + at[2];
}

static bool is_fixed(const ps_q1_grid *grid, const int64_t at[3])
{
    for (int a = 0; a < 3; ++a)
        if (at[a] == 0 || at[a] == grid->nodes[a] - 1) return true;
    return false;
}

/* The element whose corner `corner` is the node; -1: outside. */
static int64_t element_at(const ps_q1_grid *grid, const int64_t at[3], int corner)
{
    int64_t e[3];
    for (int a = 0; a < 3; ++a) {
        e[a] = at[a] - end_of(corner, a);
        if (e[a] < 0 || e[a] >= grid->nodes[a] - 1) return -1;
    }
    return (e[0] * (grid->nodes[1] - 1) + e[1]) * (grid->nodes[2] - 1) + e[2];
}

int ps_part_row(const ps_element_parts *p, int32_t subdomain, int64_t node, int64_t *columns,
                double *values)
{
    double stiffness[8][8], sums[27] = {0};
    bool touched[27] = {false};
    int64_t at[3];
    int count = 0, elements = 0;
    ps_element_stiffness(&p->grid, stiffness);
    place_of(&p->grid, node, at);
    for (int corner = 0; corner < 8; ++corner) {
        int64_t element = element_at(&p->grid, at, corner);
        if (element < 0 || p->part[element] != subdomain) continue;
        ++elements;
        for (int other = 0; other < 8; ++other) {
            int slot = 0;
            for (int a = 0; a < 3; ++a) slot = 3 * slot + 1 + end_of(other, a) - end_of(corner, a);
            sums[slot] += stiffness[corner][other];
            touched[slot] = true;
        }
    }
    if (elements && is_fixed(&p->grid, at)) {
        columns[0] = node;
        values[0] = 1;
        return 1;
    }
    for (int slot = 0; slot < 27; ++slot) {
        int64_t beside[3] = {at[0] + slot / 9 - 1, at[1] + slot / 3 % 3 - 1, at[2] + slot % 3 - 1};
        if (!touched[slot] || is_fixed(&p->grid, beside)) continue;
        columns[count] = node_at(&p->grid, beside);
        values[count++] = sums[slot];
    }
    return count;
}

int ps_parts_at(const ps_element_parts *p, int64_t node, int32_t *out)
{
    int64_t at[3];
    int count = 0;
    place_of(&p->grid, node, at);
    for (int corner = 0; corner < 8; ++corner) {
        int64_t element = element_at(&p->grid, at, corner);
        if (element < 0) continue;
        int32_t part = p->part[element];
        int to = count;
        while (to > 0 && out[to - 1] > part) --to;
        if (to > 0 && out[to - 1] == part) continue;
        for (int i = count; i > to; --i) out[i] = out[i - 1];
        out[to] = part;
        ++count;
    }
    return count;
}

bool ps_part_face(const ps_element_parts *p, int64_t element, int axis, int64_t nodes[4],
                  int32_t sides[2])
{
    const int64_t *n = p->grid.nodes;
    int64_t e[3] = {element / ((n[1] - 1) * (n[2] - 1)), element / (n[2] - 1) % (n[1] - 1),
                    element % (n[2] - 1)};
    int64_t step = axis == 0 ? (n[1] - 1) * (n[2] - 1) : axis == 1 ? n[2] - 1 : 1;
    if (e[axis] == 0 || p->part[element - step] == p->part[element]) return false;
    sides[0] = p->part[element - step];
    sides[1] = p->part[element];
    for (int c = 0; c < 4; ++c) {
        int64_t at[3] = {e[0], e[1], e[2]};
        at[axis == 0 ? 1 : 0] += c >> 1;
        at[axis == 2 ? 1 : 2] += c & 1;
        nodes[c] = node_at(&p->grid, at);
    }
    return true;
}
