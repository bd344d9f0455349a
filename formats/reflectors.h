/*
 * reflectors: a rigid or soft plane at any angle (a ground, a sea surface), or two that are
 * perpendicular, beyond which there is no fluid. What is before them goes on as if its images were
 * there, too: the image of u in a plane is sign u(x mirrored), and the planes together have images
 * 1 .. images - 1, of which image m is mirrored in the planes whose bits m has
 * (specs/tdbem_assembly.md).
 *
 * As text, in options and files: "X,Y,Z:NX,NY,NZ:rigid|soft", a point of the plane (m) and a
 * normal; of planes across axes also "z=PLACE:rigid|soft".
 */
#ifndef PS_FORMATS_REFLECTORS_H
#define PS_FORMATS_REFLECTORS_H

#include <stdbool.h>
#include <stddef.h>

#include "formats/store.h"

enum { PS_REFLECTORS_MAX = 2, PS_REFLECTOR_IMAGES_MAX = 4 }; /* images: with the body itself */

typedef struct ps_reflector {
    double place[3], normal[3]; /* of length 1     */
    double sign;                /* +1 rigid, -1 soft */
} ps_reflector;

typedef struct ps_reflectors {
    int count; /* 0: there is none */
    ps_reflector planes[PS_REFLECTORS_MAX];
} ps_reflectors;

/* Planes from texts[count]. PS_USAGE, naming `option`, for what is no plane, and for planes that
 * are not perpendicular. The planes that ps_reflectors_put writes come back bit for bit. */
ps_status ps_reflectors_parse(const char *option, int count, const char *const *texts,
                              ps_reflectors *out);

/* Turns the normals so that they point to points[count][3], a body on one side of each plane. */
void ps_reflectors_face(ps_reflectors *mirrors, int64_t count, const double *points);

/* Places nearer than this to a plane lie on it: 1e-9 of the extent of vertices[count][3], m. */
double ps_reflectors_touch(const double *vertices, int64_t count);
/* The same as ps_reflectors_face; PS_INVALID where vertices lie on both sides of a plane, or all on
 * it. */
ps_status ps_reflectors_find_sides(ps_reflectors *mirrors, const double *vertices, int64_t count);

/* To and from the root attributes mirror_count, mirror_0, ...; files without have no planes. */
ps_status ps_reflectors_put(ps_store *store, const ps_reflectors *mirrors);
ps_status ps_reflectors_get(const ps_store *store, ps_reflectors *out);

/* The same planes, in the same order, whatever point and side they were given by, to 1e-9 of `size`
 * (m). */
bool ps_reflectors_same(const ps_reflectors *a, const ps_reflectors *b, double size);

/* The planes for messages, e.g. "0,0,0:0,0,1:rigid", or "no plane". */
void ps_reflectors_print(const ps_reflectors *mirrors, char *out, size_t size);

/* ---- images ---- */

static inline int ps_reflectors_images(const ps_reflectors *mirrors) { return 1 << mirrors->count; }

/* The vector a, mirrored; out may be a. */
static inline void ps_reflectors_vector(const ps_reflectors *mirrors, int image, const double a[3],
                                        double out[3])
{
    for (int k = 0; k < 3; ++k) out[k] = a[k];
    for (int p = 0; p < mirrors->count; ++p) {
        const double *n = mirrors->planes[p].normal;
        if (!(image >> p & 1)) continue;
        double along = 2 * (n[0] * out[0] + n[1] * out[1] + n[2] * out[2]);
        for (int k = 0; k < 3; ++k) out[k] -= along * n[k];
    }
}

/* The distance of x from plane p, m: positive on the side that the normal points to. */
static inline double ps_reflector_height(const ps_reflector *plane, const double x[3])
{
    double height = 0;
    for (int k = 0; k < 3; ++k) height += plane->normal[k] * (x[k] - plane->place[k]);
    return height;
}

/* The point x, mirrored; out may be x. */
static inline void ps_reflectors_point(const ps_reflectors *mirrors, int image, const double x[3],
                                       double out[3])
{
    for (int k = 0; k < 3; ++k) out[k] = x[k];
    for (int p = 0; p < mirrors->count; ++p) {
        const ps_reflector *plane = &mirrors->planes[p];
        if (!(image >> p & 1)) continue;
        double along = 2 * ps_reflector_height(plane, out);
        for (int k = 0; k < 3; ++k) out[k] -= along * plane->normal[k];
    }
}

/* What the image is multiplied by. */
static inline double ps_reflectors_sign(const ps_reflectors *mirrors, int image)
{
    double sign = 1;
    for (int p = 0; p < mirrors->count; ++p)
        if (image >> p & 1) sign *= mirrors->planes[p].sign;
    return sign;
}

/* -1 where an odd number of planes turns right-handed into left-handed. */
static inline double ps_reflectors_hand(const ps_reflectors *mirrors, int image)
{
    double hand = 1;
    for (int p = 0; p < mirrors->count; ++p)
        if (image >> p & 1) hand = -hand;
    return hand;
}

#endif
