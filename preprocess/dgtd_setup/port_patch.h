/*
 * port_patch: a port while it is made: the sides of its faces and their vertices.
 */
#ifndef PS_PREPROCESS_DGTD_SETUP_PORT_PATCH_H
#define PS_PREPROCESS_DGTD_SETUP_PORT_PATCH_H

#include "setup.h"

/* A face of a port, from one of its sides. */
typedef struct port_side {
    int32_t face, corner[3]; /* corners ascend; numbers of the mesh, then of the port */
    bool alone;
} port_side;

typedef struct port_patch {
    const setup *s;
    const char *text;
    int32_t tag, plus; /* of metal of the + conductor; 0: by axis */
    double axis[3];    /* from - to +; 0: by the longest way      */
    const char *mode;  /* of a guide, or NULL: a lumped network   */
    char mode_text[16];
    int64_t count, vertices;
    port_side *sides;
    int32_t *vertex; /* [vertices] numbers of the mesh, ascending           */
    int32_t *root;   /* [vertices] a conductor's least vertex, -1: no metal */
    uint8_t *marked; /* [vertices] on a face of the group `plus`            */
    int conductors;
    int32_t conductor[2];      /* the first two: -, + */
    double *potential, *work;  /* [vertices], [3][vertices] */
    double (*fields)[3];       /* [count][face nodes] grad phi or -e of a mode */
} port_patch;

static inline const double *patch_point(const port_patch *p, int32_t vertex)
{
    return p->s->mesh.vertices + 3 * (int64_t)p->vertex[vertex];
}

/* The number of a vertex of the mesh in the port, or -1. */
int32_t patch_vertex(const port_patch *p, int32_t number);
void patch_corners(const setup *s, int32_t face, int32_t out[3]);
int32_t patch_root(const port_patch *p, int32_t vertex);

/* Order of sides by their faces, for qsort and bsearch. */
int patch_by_face(const void *a, const void *b);

/* port_potential.c: grad l_a of the barycentric coordinates of a triangle; its area. */
double triangle_hats(const port_patch *p, int64_t triangle, double gradient[3][3]);
/* p->potential between the conductors, and its gradients by side, ascending. */
ps_status port_potential_find(port_patch *p);
void port_gradients(port_patch *p, ps_dgtd_port_spec *x, int32_t *faces, double (*gradients)[3]);

/* guide_walls.c: the edges of a port's triangles, the walls at them, and that the port is the flat end of a straight guide
 * of one medium without losses. */
typedef struct guide_edge {
    int32_t vertex[2]; /* ascending, of the port */
    int triangles;
    bool metal, magnetic;
} guide_edge;

typedef struct guide_walls {
    int64_t count;
    guide_edge *edges; /* ascending by vertices */
    double normal[3], eps, mu, area;
    double longest; /* edge, m */
    bool metal;     /* all walls are */
} guide_walls;

ps_status guide_walls_find(const port_patch *p, guide_walls *out);
int64_t guide_edge_find(const guide_walls *walls, int32_t a, int32_t b);

/* guide_modes.c: the mode that p->mode asks for: p->fields in the order of the sides, and in the port its kind, cut-off,
 * norm and reference; *next: the next cut-off above it, 1/m, or 0. The sides ascend by face. */
ps_status guide_mode_find(port_patch *p, ps_dgtd_port_spec *port, double *next);

#endif
