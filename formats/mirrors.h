/*
 * mirrors: planes in which a surface and its fields are mirrored: soft ones (pressure release: the
 * sea's surface), where the pressure vanishes, and rigid ones. One plane, or two that are
 * perpendicular, across axes; the fields of the copies (images) are summed with a sign each.
 *
 * Copies are numbered by bits: copy c is mirrored in plane i where bit i of c is set; 0 is the
 * original. Two planes have four copies; the sign of a copy is that of its planes multiplied.
 */
#ifndef PS_FORMATS_MIRRORS_H
#define PS_FORMATS_MIRRORS_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/status.h"

enum { PS_MIRRORS_MAX = 2, PS_MIRROR_COPIES = 1 << PS_MIRRORS_MAX, PS_MIRRORS_TEXT = 96 };

typedef struct ps_mirror_plane {
    int axis;     /* 0, 1, 2: x, y, z    */
    double place; /* on the axis, m      */
    bool soft;    /* the sign is -1      */
} ps_mirror_plane;

/* By rising axes. `side` is where the bodies and the waves are: 1, above a plane, or -1. */
typedef struct ps_mirrors {
    int count;
    ps_mirror_plane plane[PS_MIRRORS_MAX];
    int side[PS_MIRRORS_MAX];
} ps_mirrors;

/* Adds "x|y|z=PLACE:rigid|soft". PS_USAGE for other words, a third plane, or one that is parallel to
 * another. */
ps_status ps_mirrors_add(ps_mirrors *mirrors, const char *text);
/* "x=0:rigid,z=1.5:soft", by rising axes, exact; "" where there is none. */
void ps_mirrors_print(const ps_mirrors *mirrors, char out[PS_MIRRORS_TEXT]);
/* Reads that back; PS_INVALID where it is something else. */
ps_status ps_mirrors_scan(const char *text, ps_mirrors *out);

static inline int ps_mirror_copies(const ps_mirrors *mirrors) { return 1 << mirrors->count; }
/* 1 or -1. */
int ps_mirror_sign(const ps_mirrors *mirrors, int copy);
/* Whether a copy's triangles turn the other way round. */
static inline bool ps_mirror_turns(int copy) { return copy == 1 || copy == 2; }

/* The image of a place, m, and of a direction. `out` may be `x`. */
void ps_mirror_point(const ps_mirrors *mirrors, int copy, const double x[3], double out[3]);
void ps_mirror_vector(const ps_mirrors *mirrors, int copy, const double v[3], double out[3]);

/* Distance from plane i towards the side of the bodies, m. */
double ps_mirror_height(const ps_mirrors *mirrors, int plane, const double x[3]);
/* Places nearer than this to a plane lie on it: 1e-9 of the extent of vertices[count][3], m. */
double ps_mirror_touch(const double *vertices, int64_t count);
/* Finds the sides. PS_INVALID where vertices lie on both sides of a plane, or all on it. */
ps_status ps_mirrors_find_sides(ps_mirrors *mirrors, const double *vertices, int64_t count);

#endif
