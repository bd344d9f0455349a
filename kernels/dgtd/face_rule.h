/*
 * face_rule: points on the faces of an element, for integrals of traces over them.
 */
#ifndef PS_KERNELS_DGTD_FACE_RULE_H
#define PS_KERNELS_DGTD_FACE_RULE_H

#include "kernels/dgtd/reference.h"

enum {
    PS_DGTD_FACE_SIDE = PS_DGTD_MAX_ORDER + 3,
    PS_DGTD_FACE_POINTS = PS_DGTD_FACE_SIDE * PS_DGTD_FACE_SIDE
};

/* Collapsed Gauss points of a triangle, `side` by `side` of them: barycentric coordinates, weights
 * that add up to 1, and the values of the element's polynomials there, by face. */
typedef struct ps_dgtd_face_rule {
    int count;
    double l[PS_DGTD_FACE_POINTS][3], weight[PS_DGTD_FACE_POINTS];
    double shape[4][PS_DGTD_FACE_POINTS][PS_DGTD_MAX_NODES];
} ps_dgtd_face_rule;

/* side: 1 .. PS_DGTD_FACE_SIDE; exact for polynomials of degree 2 side - 2. */
void ps_dgtd_face_rule_init(ps_dgtd_face_rule *rule, const ps_dgtd_reference *reference, int side);

/* Point q of a face of the element with these vertices. */
void ps_dgtd_face_rule_point(const ps_dgtd_face_rule *rule, const double *vertices,
                             const int32_t element[4], int face, int q, double out[3]);

#endif
