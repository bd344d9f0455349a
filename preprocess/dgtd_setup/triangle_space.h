/*
 * triangle_space: Lagrange polynomials on the triangles of a port, their eigenfunctions and potentials.
 */
#ifndef PS_PREPROCESS_DGTD_SETUP_TRIANGLE_SPACE_H
#define PS_PREPROCESS_DGTD_SETUP_TRIANGLE_SPACE_H

#include "port_patch.h"

enum { TRIANGLE_ORDER_MAX = 5, TRIANGLE_NODES = 21, TRIANGLE_MODES_MAX = 64 };

/* Functions that are 0 at magnetic walls, at metal ones. */
typedef enum triangle_kind { TRIANGLE_TE, TRIANGLE_TM } triangle_kind;

typedef struct triangle_space {
    const port_patch *p;
    int order, per;            /* nodes of a triangle */
    int64_t nodes;
    int32_t *node;             /* [triangles][per]                                              */
    int32_t *sorted;           /* [nodes] along the port's longest extent: narrow bands         */
    double (*points)[3];       /* [nodes] m                                                     */
    uint8_t *metal, *magnetic; /* [nodes] at a wall; metal: 1 conductor[0], 2 conductor[1], 3 another */
    int8_t index[TRIANGLE_NODES][3];
    double mass[TRIANGLE_NODES * TRIANGLE_NODES]; /* of a triangle of area 1 */
    double slopes[3][3][TRIANGLE_NODES * TRIANGLE_NODES]; /* int d/dl_a d/dl_b, likewise */
} triangle_space;

/* Eigenfunctions of -lap with |u| = 1 in L2, ascending, that of 0 left out. */
typedef struct triangle_modes {
    int count;
    double *squares, *vectors; /* [count], [count][nodes] */
} triangle_modes;

ps_status triangle_space_open(const port_patch *p, const guide_walls *walls, int order, triangle_space *out);
void triangle_space_release(triangle_space *space);

/* int u v. */
double triangle_space_product(const triangle_space *space, const double *u, const double *v);
/* grad u in a triangle at barycentric coordinates l. */
void triangle_space_gradient(const triangle_space *space, const double *u, int64_t triangle, const double l[3],
                             double out[3]);
/* int grad u, and int (x - middle).across grad u. */
void triangle_space_mean(const triangle_space *space, const double *u, double out[3]);
void triangle_space_moment(const triangle_space *space, const double *u, const double across[3], double out[3]);

/* The first `wanted`, or all that there are. text: the port, for messages. */
ps_status triangle_modes_find(const triangle_space *space, const char *text, triangle_kind kind, int wanted,
                              triangle_modes *out);
void triangle_modes_release(triangle_modes *modes);

/* u = 0 on conductor[0], 1 on conductor[1], harmonic; *energy = int |grad u|^2. */
ps_status triangle_space_potential(const triangle_space *space, const char *text, double *u, double *energy);

#endif
