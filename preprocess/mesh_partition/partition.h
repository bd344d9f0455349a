/*
 * partition: what the files of penstock-mesh-partition share.
 *
 * The mesh is put along the Hilbert curve and linked, each element gets a part, and the elements
 * are put in their final order. At most two copies of one array are in memory at a time.
 */
#ifndef PS_PREPROCESS_MESH_PARTITION_PARTITION_H
#define PS_PREPROCESS_MESH_PARTITION_PARTITION_H

#include <stdbool.h>

#include "formats/partition.h"
#include "formats/volume_mesh.h"
#include "runtime/program.h"

typedef enum cut_method { CUT_SCOTCH, CUT_BOXES, CUT_HILBERT } cut_method;

typedef struct job {
    const ps_run *run;
    const char *input;
    ps_store *store; /* of the mesh */
    int64_t parts;
    cut_method method;
    bool layers, allow_pieces;
    double imbalance;
    const ps_text_list *weight_texts;
    ps_store *model; /* whose local steps count, or NULL */
    ps_partition mesh; /* what will be written                                    */
    int32_t *weights;  /* [elements] or NULL, in the order in which elements are now */
    int32_t *part;     /* [elements] likewise                                     */
    /* figures */
    int64_t outer_faces;
    double seconds[4]; /* reading, linking, cutting, ordering */
} job;

/* mesh.c: reads the mesh, sorts the vertices of elements, orders elements along the Hilbert curve,
 * links and checks them. */
ps_status read_mesh(job *j);
/* check.c: pieces; outer faces that overlap. ids: sorted faces (mesh_topology.h). */
ps_status check_mesh(job *j, const uint32_t *ids);

/* cut.c: fills j->part; every part has an element. */
ps_status cut_mesh(job *j);

/* order.c: elements part by part, interior first or in layers. */
ps_status order_mesh(job *j);
/* Rows of `bytes` of *array at order[0], order[1], ..: replaces *array. */
ps_status permute_rows(void *array, int64_t count, size_t bytes, const int32_t *order);

/* report.c */
void report_partition(const job *j);

#endif
