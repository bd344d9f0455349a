/*
 * thin_bodies: closed bodies on which outer rules have failed; outward normals, in the mesh
 * structure of icosphere.h, whose icosphere_release frees them.
 *
 * wedge: a wing with a sharp trailing edge. The chord runs along x from a blunt leading edge at 0
 * to the trailing edge at 1, the span along y, and the two sheets z = +-(1 - x) height/2 close
 * at the trailing edge. Rows of vertices may be crowded towards it, so that triangles become
 * slivers, and the lower sheet has its inner vertices shifted along the span and its diagonals the
 * other way: no triangle lies on its mirror image.
 *
 * spindle: two fans of slivers over an ellipse, whose tips lie aslant.
 */
#ifndef PS_TESTS_SUPPORT_THIN_BODIES_H
#define PS_TESTS_SUPPORT_THIN_BODIES_H

#include "tests/support/icosphere.h"

typedef struct wedge_shape {
    int chord, span; /* squares along each                                              */
    double height;   /* thickness at the leading edge                                   */
    double width;    /* extent of the span                                              */
    double crowding; /* ratio of consecutive chord steps: 1 even, below 1 crowded       */
    double shift;    /* of the lower sheet's inner vertices, in squares of the span     */
} wedge_shape;

/* Vertex (i, j) of the upper (0) or lower (1) sheet; they share the trailing edge. */
static inline int32_t wedge_vertex(const wedge_shape *w, int sheet, int i, int j)
{
    int across = w->span + 1;
    if (sheet == 0 || i == w->chord) return (int32_t)(i * across + j);
    return (int32_t)((w->chord + 1 + i) * across + j);
}

static inline void wedge_place(icosphere *mesh, const wedge_shape *w, int sheet, int i, int j)
{
    double sum = 0, all = 0, step = 1;
    for (int q = 0; q < w->chord; ++q, step *= w->crowding) {
        all += step;
        if (q < i) sum += step;
    }
    double x = sum / all;
    int inner = sheet == 1 && j > 0 && j < w->span && i < w->chord;
    double *p = mesh->vertices + 3 * wedge_vertex(w, sheet, i, j);
    p[0] = x;
    p[1] = w->width * (j + (inner ? w->shift : 0)) / w->span;
    p[2] = (sheet ? -.5 : .5) * w->height * (1 - x);
}

/* The square of corners a, b, c, d, counterclockwise from outside, cut from a to c. */
static inline void wedge_square(icosphere *mesh, int32_t a, int32_t b, int32_t c, int32_t d)
{
    const int32_t two[6] = {a, b, c, a, c, d};
    for (int t = 0; t < 2; ++t) {
        const int32_t *v = two + 3 * t;
        if (v[0] == v[1] || v[1] == v[2] || v[2] == v[0]) continue; /* at the trailing edge */
        memcpy(mesh->triangles + 3 * mesh->triangle_count++, v, 3 * sizeof *v);
    }
}

static inline void wedge_sides(icosphere *mesh, const wedge_shape *w)
{
    for (int i = 0; i < w->chord; ++i)
        for (int end = 0; end < 2; ++end) {
            int j = end ? w->span : 0, here = end ? i + 1 : i, there = end ? i : i + 1;
            wedge_square(mesh, wedge_vertex(w, 1, here, j), wedge_vertex(w, 1, there, j),
                         wedge_vertex(w, 0, there, j), wedge_vertex(w, 0, here, j));
        }
    for (int j = 0; j < w->span; ++j)
        wedge_square(mesh, wedge_vertex(w, 1, 0, j + 1), wedge_vertex(w, 1, 0, j),
                     wedge_vertex(w, 0, 0, j), wedge_vertex(w, 0, 0, j + 1));
}

static inline void wedge_init(icosphere *mesh, const wedge_shape *w)
{
    memset(mesh, 0, sizeof *mesh);
    mesh->vertex_count = (2 * w->chord + 1) * (w->span + 1);
    mesh->vertices = malloc((size_t)mesh->vertex_count * 3 * sizeof *mesh->vertices);
    mesh->triangles = malloc((size_t)mesh->vertex_count * 6 * sizeof *mesh->triangles);
    for (int sheet = 0; sheet < 2; ++sheet)
        for (int i = 0; i <= w->chord; ++i)
            for (int j = 0; j <= w->span; ++j) wedge_place(mesh, w, sheet, i, j);
    for (int i = 0; i < w->chord; ++i)
        for (int j = 0; j < w->span; ++j) {
            wedge_square(mesh, wedge_vertex(w, 0, i, j), wedge_vertex(w, 0, i + 1, j),
                         wedge_vertex(w, 0, i + 1, j + 1), wedge_vertex(w, 0, i, j + 1));
            wedge_square(mesh, wedge_vertex(w, 1, i + 1, j), wedge_vertex(w, 1, i, j),
                         wedge_vertex(w, 1, i, j + 1), wedge_vertex(w, 1, i + 1, j + 1));
        }
    wedge_sides(mesh, w);
}

/* Semi-axes 1 and `minor` of the ellipse of `count` vertices, tips at +-(aslant, 0, height). */
static inline void spindle_init(icosphere *mesh, int count, double minor, double height,
                                double aslant)
{
    const double tips[6] = {aslant, 0, height, -aslant, 0, -height};
    memset(mesh, 0, sizeof *mesh);
    mesh->vertex_count = count + 2;
    mesh->vertices = calloc((size_t)mesh->vertex_count * 3, sizeof *mesh->vertices);
    mesh->triangles = malloc((size_t)count * 6 * sizeof *mesh->triangles);
    for (int32_t v = 0; v < count; ++v) {
        double angle = 2 * acos(-1) * v / count;
        int32_t next = (v + 1) % count;
        const int32_t two[6] = {v, next, count, next, v, count + 1};
        mesh->vertices[3 * v] = cos(angle);
        mesh->vertices[3 * v + 1] = minor * sin(angle);
        memcpy(mesh->triangles + 3 * mesh->triangle_count, two, sizeof two);
        mesh->triangle_count += 2;
    }
    memcpy(mesh->vertices + 3 * count, tips, sizeof tips);
}

#endif
