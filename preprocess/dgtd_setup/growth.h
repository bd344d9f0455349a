/* growth: a layer in the making. Private to grow.c and join.c. */
#ifndef PS_PREPROCESS_DGTD_SETUP_GROWTH_H
#define PS_PREPROCESS_DGTD_SETUP_GROWTH_H

#include "setup.h"

/* An outer face of what has been made so far; vertices ascend. */
typedef struct outer {
    int32_t v[3], face, parent; /* 4 * element + face; the element that it grew from */
    uint8_t kind;
    bool grows;
} outer;

typedef struct growth {
    setup *s;
    const char *text;
    int64_t layers;
    double thickness, centre[3], radius, box[2][3];
    outer *faces;
    int64_t count, room;
    int32_t *tetrahedra, *parents, *links; /* [made], of the new elements */
    uint8_t *kinds;
    int64_t made, tetrahedra_room, parents_room;
    int64_t vertices, vertices_room;
    int64_t grown; /* faces of the region */
} growth;

/* What was made becomes part of the mesh. */
ps_status join_grown(growth *g);

#endif
