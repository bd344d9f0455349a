/*
 * suspects: the pairs of triangles of a surface that fixed rules take worst: triangles alone, and
 * pairs with a common edge or vertex, by aspect and by the angle between the faces; pairs with a
 * narrow gap; and a sample. A bounded number, whatever the surface.
 */
#ifndef PS_HBEM_ASSEMBLY_SUSPECTS_H
#define PS_HBEM_ASSEMBLY_SUSPECTS_H

#include "kernels/hbem/surface.h"

typedef struct ps_hbem_suspect {
    int32_t pair[2];   /* ascending */
    double score, gap; /* gap: about the distance over the larger longest edge; touching: 0 */
} ps_hbem_suspect;

typedef struct ps_hbem_suspects {
    ps_hbem_suspect *suspect; /* no pair twice */
    int64_t count;
} ps_hbem_suspects;

/* By all threads; the list does not depend on their number. PS_EXHAUSTED. */
ps_status ps_hbem_suspects_find(const ps_hbem_surface *surface, ps_hbem_suspects *out);
void ps_hbem_suspects_release(ps_hbem_suspects *suspects);

/* Longest edge over the height above it. */
double ps_hbem_aspect(const ps_hbem_triangle *triangle);
/* Between two faces, as a wedge has it: 180 degrees where they go straight on. */
double ps_hbem_face_angle(const ps_hbem_triangle *a, const ps_hbem_triangle *b);

#endif
