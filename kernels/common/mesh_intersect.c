#include "kernels/common/mesh_intersect.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "kernels/common/vec3.h"

typedef struct box_tree {
    const double *vertices;
    const int32_t *triangles;
    const int32_t *order;
    const float *boxes;
    int64_t count, leaves;
} box_tree;

static int64_t leaf_count(int64_t count)
{
    int64_t leaves = 1;
    while (leaves * PS_BOX_LEAF < count) leaves *= 2;
    return leaves;
}

int64_t ps_box_tree_size(int64_t count) { return 2 * leaf_count(count); }

static void box_clear(float *box)
{
    for (int c = 0; c < 3; ++c) {
        box[c] = FLT_MAX;
        box[3 + c] = -FLT_MAX;
    }
}

static void box_add_triangle(float *box, const double *vertices, const int32_t *v)
{
    for (int k = 0; k < 3; ++k)
        for (int c = 0; c < 3; ++c) {
            float x = (float)vertices[3 * (int64_t)v[k] + c];
            box[c] = fminf(box[c], nextafterf(x, -INFINITY));
            box[3 + c] = fmaxf(box[3 + c], nextafterf(x, INFINITY));
        }
}

void ps_box_tree_build(const double *vertices, const int32_t *triangles, int64_t count,
                       const int32_t *order, float *boxes)
{
    int64_t leaves = leaf_count(count);
#pragma omp parallel for schedule(static)
    for (int64_t leaf = 0; leaf < leaves; ++leaf) {
        float *box = boxes + 6 * (leaves + leaf);
        box_clear(box);
        for (int64_t i = leaf * PS_BOX_LEAF; i < count && i < (leaf + 1) * PS_BOX_LEAF; ++i)
            box_add_triangle(box, vertices, triangles + 3 * (int64_t)order[i]);
    }
    for (int64_t node = leaves - 1; node > 0; --node)
        for (int c = 0; c < 3; ++c) {
            const float *left = boxes + 12 * node, *right = left + 6;
            boxes[6 * node + c] = fminf(left[c], right[c]);
            boxes[6 * node + 3 + c] = fmaxf(left[3 + c], right[3 + c]);
        }
}

/* Sign of det(b-a, c-a, d-a); 0 within its rounding error. The error of the 3 x 3 determinant
 * is below 8 units of the sum of the absolute products. */
static int side(const double *a, const double *b, const double *c, const double *d)
{
    double u[3], v[3], w[3], det = 0, bound = 0;
    for (int i = 0; i < 3; ++i) {
        u[i] = b[i] - a[i];
        v[i] = c[i] - a[i];
        w[i] = d[i] - a[i];
    }
    for (int i = 0; i < 3; ++i) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        double first = v[j] * w[k], second = v[k] * w[j];
        det += u[i] * (first - second);
        bound += fabs(u[i]) * (fabs(first) + fabs(second));
    }
    bound *= 8 * DBL_EPSILON;
    return det > bound ? 1 : det < -bound ? -1 : 0;
}

int ps_segment_pierces(const double *p, const double *q, const double *a, const double *b,
                       const double *c)
{
    int above = side(a, b, c, p);
    if (above == 0 || side(a, b, c, q) != -above) return 0;
    int turn = side(p, q, a, b);
    return turn != 0 && side(p, q, b, c) == turn && side(p, q, c, a) == turn;
}

/* ---- overlaps within one plane ---- */

static const double touching = 1e-6; /* of the smaller triangle's longest edge */

/* The normal, twice the area long; returns the longest edge. */
static double measure(const double *const v[3], double *normal)
{
    double edge[3][3], longest = 0;
    for (int k = 0; k < 3; ++k) {
        ps_subtract3(v[(k + 1) % 3], v[k], edge[k]);
        longest = fmax(longest, sqrt(ps_dot3(edge[k], edge[k])));
    }
    ps_cross3(edge[0], edge[1], normal);
    return longest;
}

/* An edge of `from`, whose normal is +-n, has all of `other` on its outer side, or less than
 * `depth` of it on the inner. */
static bool edge_separates(const double *const from[3], const double *const other[3],
                           const double *n, double depth)
{
    for (int k = 0; k < 3; ++k) {
        double along[3], outward[3], u[3], least = INFINITY;
        ps_subtract3(from[(k + 1) % 3], from[k], along);
        ps_cross3(along, n, outward);
        for (int v = 0; v < 3; ++v) {
            ps_subtract3(other[v], from[k], u);
            least = fmin(least, ps_dot3(u, outward));
        }
        if (least >= -depth * sqrt(ps_dot3(outward, outward))) return true;
    }
    return false;
}

int ps_triangles_overlap(const double *const a[3], const double *const b[3])
{
    double normal_a[3], normal_b[3];
    double longest_a = measure(a, normal_a), longest_b = measure(b, normal_b);
    bool first = longest_a >= longest_b; /* the larger one's plane is that of both */
    const double *const *large = first ? a : b, *const *small = first ? b : a;
    double *n = first ? normal_a : normal_b, *own = first ? normal_b : normal_a;
    double longest = fmin(longest_a, longest_b), depth = touching * longest;
    double twice = sqrt(ps_dot3(n, n)), least = 1e-14 * longest * longest;
    if (!(twice > least) || !(sqrt(ps_dot3(own, own)) > least)) return 0; /* no area */
    for (int v = 0; v < 3; ++v) {
        double u[3];
        ps_subtract3(small[v], large[0], u);
        if (fabs(ps_dot3(u, n)) > depth * twice) return 0;
    }
    double turned[3] = {-n[0], -n[1], -n[2]};
    return !edge_separates(large, small, n, depth) &&
           !edge_separates(small, large, ps_dot3(own, n) > 0 ? n : turned, depth);
}

/* ---- pairs ---- */

static const double *vertex(const box_tree *t, int32_t v) { return t->vertices + 3 * (int64_t)v; }

static bool has(const int32_t *triangle, int32_t v)
{
    return triangle[0] == v || triangle[1] == v || triangle[2] == v;
}

static bool edges_pierce(const box_tree *t, const int32_t *from, const int32_t *into)
{
    for (int k = 0; k < 3; ++k) {
        int32_t p = from[k], q = from[(k + 1) % 3];
        if (has(into, p) || has(into, q)) continue;
        if (ps_segment_pierces(vertex(t, p), vertex(t, q), vertex(t, into[0]), vertex(t, into[1]),
                               vertex(t, into[2])))
            return true;
    }
    return false;
}

/* Neighbours along an edge overlap only where they fold, which is found with the edges. */
static bool overlap(const box_tree *t, const int32_t *one, const int32_t *other)
{
    const double *a[3], *b[3];
    int common = 0;
    for (int k = 0; k < 3; ++k) {
        a[k] = vertex(t, one[k]);
        b[k] = vertex(t, other[k]);
        common += has(one, other[k]);
    }
    return common < 2 && ps_triangles_overlap(a, b);
}

static bool boxes_meet(const float *a, const float *b)
{
    for (int c = 0; c < 3; ++c)
        if (a[c] > b[3 + c] || b[c] > a[3 + c]) return false;
    return true;
}

/* Pairs of the triangle at place `at` with those of a leaf behind it. */
static int64_t visit_leaf(const box_tree *t, int64_t at, const float *own, int64_t leaf,
                          int32_t *least)
{
    int64_t pairs = 0, first = leaf * PS_BOX_LEAF, end = first + PS_BOX_LEAF;
    const int32_t *mine = t->triangles + 3 * (int64_t)t->order[at];
    for (int64_t i = first > at ? first : at + 1; i < end && i < t->count; ++i) {
        const int32_t *other = t->triangles + 3 * (int64_t)t->order[i];
        float box[6];
        box_clear(box);
        box_add_triangle(box, t->vertices, other);
        if (!boxes_meet(own, box)) continue;
        if (!edges_pierce(t, mine, other) && !edges_pierce(t, other, mine) &&
            !overlap(t, mine, other))
            continue;
        ++pairs;
        if (*least < 0 || t->order[i] < *least) *least = t->order[i];
    }
    return pairs;
}

/* Down the tree, left first; nodes whose last place is not behind `at` are passed over. */
static int64_t visit_tree(const box_tree *t, int64_t at, int32_t *least)
{
    int64_t stack[64], pairs = 0;
    int depth = 0;
    float own[6];
    box_clear(own);
    box_add_triangle(own, t->vertices, t->triangles + 3 * (int64_t)t->order[at]);
    stack[depth++] = 1;
    while (depth > 0) {
        int64_t node = stack[--depth], last = node;
        while (last < t->leaves) last = 2 * last + 1;
        if ((last - t->leaves + 1) * PS_BOX_LEAF <= at + 1) continue;
        if (!boxes_meet(own, t->boxes + 6 * node)) continue;
        if (node >= t->leaves) {
            pairs += visit_leaf(t, at, own, node - t->leaves, least);
        } else {
            stack[depth++] = 2 * node + 1;
            stack[depth++] = 2 * node;
        }
    }
    return pairs;
}

int64_t ps_surface_intersections(const double *vertices, const int32_t *triangles, int64_t count,
                                 const int32_t *order, const float *boxes, int32_t *hit)
{
    box_tree t = {vertices, triangles, order, boxes, count, leaf_count(count)};
    int64_t pairs = 0;
#pragma omp parallel for schedule(dynamic, 1024) reduction(+ : pairs)
    for (int64_t at = 0; at < count; ++at) {
        int32_t least = -1;
        pairs += visit_tree(&t, at, &least);
        hit[order[at]] = least;
    }
    return pairs;
}
