#include "postprocess/plot/scene.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/common/vec3.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

enum { CUTS_MAX = 8 };
static const double distance = 2.6;        /* of the eye, in radii of the body               */
static const double crease_cosine = 0.766; /* 40 degrees                                     */

typedef struct vector {
    double x[3];
} vector;

static vector cross(const vector *a, const vector *b)
{
    vector out;
    ps_cross3(a->x, b->x, out.x);
    return out;
}

static vector combine(double p, const vector *a, double q, const vector *b)
{
    return (vector){
        {p * a->x[0] + q * b->x[0], p * a->x[1] + q * b->x[1], p * a->x[2] + q * b->x[2]}};
}

static vector normalised(const vector *a)
{
    double length = sqrt(ps_dot3(a->x, a->x));
    return combine(length > 0 ? 1 / length : 0, a, 0, a);
}

typedef struct camera {
    vector middle, eye, right, up, towards; /* towards: from the middle to the eye, unit      */
    double radius;
} camera;

static vector vertex(const ps_surface_mesh *mesh, int64_t v)
{
    vector out;
    memcpy(out.x, mesh->vertices + 3 * v, sizeof out.x);
    return out;
}

static void aim(camera *c, const ps_surface_mesh *mesh, const scene_view *view)
{
    vector low = vertex(mesh, 0), high = low;
    for (int64_t v = 0; v < mesh->vertex_count; ++v)
        for (int k = 0; k < 3; ++k) {
            low.x[k] = fmin(low.x[k], mesh->vertices[3 * v + k]);
            high.x[k] = fmax(high.x[k], mesh->vertices[3 * v + k]);
        }
    vector diagonal = combine(1, &high, -1, &low);
    double a = view->azimuth * M_PI / 180, e = view->elevation * M_PI / 180;
    c->middle = combine(0.5, &low, 0.5, &high);
    c->radius = 0.5 * sqrt(ps_dot3(diagonal.x, diagonal.x));
    c->towards = (vector){{cos(e) * cos(a), cos(e) * sin(a), sin(e)}};
    c->right = (vector){{-sin(a), cos(a), 0}};
    c->up = cross(&c->towards, &c->right);
    c->eye = combine(1, &c->middle, distance * c->radius, &c->towards);
}

/* Face normals of length twice the area. */
static void face_normals(const ps_surface_mesh *mesh, vector *normals)
{
    for (int64_t t = 0; t < mesh->triangle_count; ++t) {
        const int32_t *v = mesh->triangles + 3 * t;
        vector a = vertex(mesh, v[0]), b = vertex(mesh, v[1]), c = vertex(mesh, v[2]);
        vector ab = combine(1, &b, -1, &a), ac = combine(1, &c, -1, &a);
        normals[t] = cross(&ab, &ac);
    }
}

/* The triangles at each vertex: faces[start[v] .. start[v + 1]). */
static void gather_faces(const ps_surface_mesh *mesh, int64_t *start, int32_t *faces)
{
    for (int64_t i = 0; i < 3 * mesh->triangle_count; ++i) ++start[mesh->triangles[i] + 1];
    for (int64_t v = 0; v < mesh->vertex_count; ++v) start[v + 1] += start[v];
    for (int64_t i = 0; i < 3 * mesh->triangle_count; ++i)
        faces[start[mesh->triangles[i]]++] = (int32_t)(i / 3);
    for (int64_t v = mesh->vertex_count; v > 0; --v) start[v] = start[v - 1];
    start[0] = 0;
}

static bool turned_away(const camera *c, const ps_surface_mesh *mesh, int64_t t,
                        const vector *normal)
{
    vector corner = vertex(mesh, mesh->triangles[3 * t]), gap = combine(1, &c->eye, -1, &corner);
    return mesh->oriented && ps_dot3(gap.x, normal->x) <= 0;
}

static void project(const camera *c, const vector *point, float *at)
{
    vector from = combine(1, point, -1, &c->middle);
    double depth = distance * c->radius - ps_dot3(from.x, c->towards.x);
    double scale = distance * c->radius / depth;
    at[0] = (float)(ps_dot3(from.x, c->right.x) * scale);
    at[1] = (float)(ps_dot3(from.x, c->up.x) * scale);
}

typedef struct face {
    vector at[3];
    double value[3];
} face;

static vector blend3(const vector *v, const double *w)
{
    vector out = combine(w[0], &v[0], w[1], &v[1]);
    return combine(1, &out, w[2], &v[2]);
}

/* The piece with barycentric corners w[3][3] of a face. */
static scene_piece make_piece(const camera *c, const face *f, double w[3][3])
{
    scene_piece piece = {0};
    double middle[3];
    for (int k = 0; k < 3; ++k) {
        vector point = blend3(f->at, w[k]);
        project(c, &point, piece.at[k]);
        middle[k] = (w[0][k] + w[1][k] + w[2][k]) / 3;
    }
    vector point = blend3(f->at, middle);
    vector gap = combine(1, &c->eye, -1, &point);
    piece.depth = (float)sqrt(ps_dot3(gap.x, gap.x));
    for (int k = 0; k < 3; ++k) piece.value += (float)(middle[k] * f->value[k]);
    return piece;
}

/* Cuts a face into n x n pieces. */
static void cut_face(const camera *c, const face *f, int n, scene_piece *out)
{
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < 2 * i + 1; ++j) {
            int r = j / 2, odd = j % 2; /* rows of triangles, every other one turned over */
            int corner[3][2] = {{i + 1 - odd, r + odd}, {i + 1, r + 1}, {i, r}};
            double w[3][3];
            for (int k = 0; k < 3; ++k) {
                double down = (double)corner[k][0] / n, across = (double)corner[k][1] / n;
                w[k][0] = 1 - down;
                w[k][1] = down - across;
                w[k][2] = across;
            }
            *out++ = make_piece(c, f, w);
        }
}

static int cuts_for(double length, double resolution)
{
    int n = (int)ceil(length / resolution);
    return n < 1 ? 1 : n > CUTS_MAX ? CUTS_MAX : n;
}

static int cuts_of(const face *f, double resolution)
{
    double longest = 0;
    for (int k = 0; k < 3; ++k) {
        vector edge = combine(1, &f->at[(k + 1) % 3], -1, &f->at[k]);
        longest = fmax(longest, sqrt(ps_dot3(edge.x, edge.x)));
    }
    return cuts_for(longest, resolution);
}

static ps_status add_faces(scene *s, const ps_surface_mesh *mesh, const double *values,
                           const vector *normals, const camera *c, double resolution)
{
    for (int64_t t = 0; t < mesh->triangle_count; ++t) {
        face f;
        for (int k = 0; k < 3; ++k) {
            f.at[k] = vertex(mesh, mesh->triangles[3 * t + k]);
            f.value[k] = values[3 * t + k];
        }
        if (turned_away(c, mesh, t, &normals[t])) continue;
        int n = cuts_of(&f, resolution);
        PS_TRY(ps_grow((void **)&s->pieces, &s->capacity, s->count + n * n, sizeof *s->pieces,
                       "picture of a surface"));
        cut_face(c, &f, n, s->pieces + s->count);
        s->count += n * n;
    }
    return PS_OK;
}

/* ---- outlines ---- */

/* The triangle beyond edge a-b of triangle t; -1 at a rim. */
static int64_t neighbour(const ps_surface_mesh *mesh, const int64_t *start, const int32_t *faces,
                         int64_t t, int32_t a, int32_t b)
{
    for (int64_t f = start[a]; f < start[a + 1]; ++f) {
        const int32_t *v = mesh->triangles + 3 * (int64_t)faces[f];
        if (faces[f] != t && (v[0] == b || v[1] == b || v[2] == b)) return faces[f];
    }
    return -1;
}

/* A rim, an edge sharper than 40 degrees, or the border of what is seen. */
static bool is_outline(const ps_surface_mesh *mesh, const vector *normals, const camera *c,
                       int64_t t, int64_t other)
{
    bool hidden = turned_away(c, mesh, t, &normals[t]);
    if (other < 0) return !hidden;
    bool beyond = turned_away(c, mesh, other, &normals[other]);
    vector m = normalised(&normals[t]), n = normalised(&normals[other]);
    return hidden != beyond || (!hidden && ps_dot3(m.x, n.x) < crease_cosine);
}

/* In lines as short as the pieces, so that they are hidden where those are. */
static ps_status add_line(scene *s, const camera *c, const vector *a, const vector *b,
                          double resolution)
{
    vector along = combine(1, b, -1, a);
    int n = cuts_for(sqrt(ps_dot3(along.x, along.x)), resolution);
    PS_TRY(ps_grow((void **)&s->pieces, &s->capacity, s->count + n, sizeof *s->pieces,
                   "picture of a surface"));
    for (int i = 0; i < n; ++i) {
        scene_piece *piece = &s->pieces[s->count++];
        vector from = combine(1, a, (double)i / n, &along),
               to = combine(1, a, (i + 1.0) / n, &along);
        vector middle = combine(0.5, &from, 0.5, &to), gap = combine(1, &c->eye, -1, &middle);
        *piece = (scene_piece){.line = true};
        project(c, &from, piece->at[0]);
        project(c, &to, piece->at[1]);
        memcpy(piece->at[2], piece->at[1], sizeof piece->at[2]);
        /* In front of the pieces on both sides of it, whose middles may be nearer. */
        piece->depth = (float)(sqrt(ps_dot3(gap.x, gap.x)) - 2.5 * resolution);
    }
    return PS_OK;
}

static ps_status add_outlines(scene *s, const ps_surface_mesh *mesh, const vector *normals,
                              const camera *c, double resolution)
{
    PS_SCOPED_MEMORY int64_t *start = NULL;
    PS_SCOPED_MEMORY int32_t *faces = NULL;
    PS_TRY(PS_ALLOC(&start, mesh->vertex_count + 1, "picture of a surface"));
    PS_TRY(PS_ALLOC(&faces, 3 * mesh->triangle_count, "picture of a surface"));
    gather_faces(mesh, start, faces);
    for (int64_t i = 0; i < 3 * mesh->triangle_count; ++i) {
        int64_t t = i / 3;
        int32_t a = mesh->triangles[i], b = mesh->triangles[3 * t + (i + 1) % 3];
        int64_t other = neighbour(mesh, start, faces, t, a, b);
        if ((other >= 0 && other < t) || !is_outline(mesh, normals, c, t, other)) continue;
        vector from = vertex(mesh, a), to = vertex(mesh, b);
        PS_TRY(add_line(s, c, &from, &to, resolution));
    }
    return PS_OK;
}

static int farther_first(const void *a, const void *b)
{
    float x = ((const scene_piece *)a)->depth, y = ((const scene_piece *)b)->depth;
    return (x < y) - (x > y);
}

static void measure(scene *s)
{
    for (int64_t i = 0; i < s->count; ++i)
        for (int k = 0; k < 3; ++k)
            for (int axis = 0; axis < 2; ++axis) {
                double x = s->pieces[i].at[k][axis];
                if ((i == 0 && k == 0) || x < s->low[axis]) s->low[axis] = x;
                if ((i == 0 && k == 0) || x > s->high[axis]) s->high[axis] = x;
            }
}

ps_status scene_init(scene *s, const ps_surface_mesh *mesh, const double *corners,
                     const scene_view *view)
{
    memset(s, 0, sizeof *s);
    camera c;
    aim(&c, mesh, view);
    PS_SCOPED_MEMORY vector *normals = NULL;
    PS_TRY(PS_ALLOC(&normals, mesh->triangle_count, "picture of a surface"));
    face_normals(mesh, normals);
    ps_status status = add_faces(s, mesh, corners, normals, &c, view->resolution);
    if (status == PS_OK) status = add_outlines(s, mesh, normals, &c, view->resolution);
    if (status != PS_OK) {
        scene_release(s);
        return status;
    }
    qsort(s->pieces, (size_t)s->count, sizeof *s->pieces, farther_first);
    measure(s);
    return PS_OK;
}

void scene_release(scene *s)
{
    free(s->pieces);
    memset(s, 0, sizeof *s);
}
