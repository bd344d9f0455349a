/*
 * core_matrix: an H-matrix that is assembled in memory, for its products: on the host by the cores,
 * or on the device that multiplies with it. Each rank assembles its own chunks of leaves.
 */
#ifndef PS_HBEM_SOLVE_CORE_MATRIX_H
#define PS_HBEM_SOLVE_CORE_MATRIX_H

#include "compute/hbem_solve/device_images.h"
#include "stage/hbem_assembly/leaf_tables.h"
#include "stage/hbem_assembly/matrix_plan.h"

/* Clusters, and what matrices on them share. */
typedef struct core_scene {
    const char *path;
    ps_store *store; /* NULL: derived from another one */
    ps_hbem_scene scene;
    ps_leaf_tables *tables; /* on a device; NULL: yet to be sent */
} core_scene;

/* Reads the file; stays where it is. Released on failure. */
ps_status core_scene_open(core_scene *scene, const char *path,
                          const ps_hbem_matrix_options *options);
/* Of other spaces on the surface of a scene; stays where it is. */
ps_status core_scene_derive(core_scene *scene, const core_scene *base,
                            const ps_hbem_space_kind space[2],
                            const ps_hbem_matrix_options *options);
/* Of the functions of a scene against their images; stays where it is. */
ps_status core_scene_mirror(core_scene *scene, const core_scene *base, const ps_reflectors *mirrors,
                            int copy, const ps_hbem_matrix_options *options);
void core_scene_close(core_scene *scene);

typedef struct core_matrix {
    core_scene *clusters;
    const ps_hbem_matrix_options *options;
    char name[256]; /* for messages */
    bool there;     /* leaves and plan are made */
    ps_hbem_problem problem;
    ps_hbem_matrix_plan plan;
    ps_hmatrix shape; /* of the whole; blocks where they are this rank's */
    device_images *images;
    int64_t bytes; /* of this rank's values: expected, then as they are */
    double seconds;
} core_matrix;

/* Checks that operator and clusters go together, and plans; stays where it is; borrows all. */
ps_status core_matrix_open(core_matrix *m, core_scene *clusters,
                           const ps_hbem_operator_choice *choice,
                           const ps_hbem_matrix_options *options);
void core_matrix_close(core_matrix *m);
/* Makes leaves and plan anew after core_matrix_drop. */
ps_status core_matrix_prepare(core_matrix *m);
/* Frees all but what is asked before assembling: header, expected bytes. */
void core_matrix_drop(core_matrix *m);

/* How much there is to assemble with. */
typedef struct core_means {
    ps_device *device;           /* that keeps the values; NULL: the host does              */
    const char *device_name;     /* as asked for: "auto" lets the cores do what it cannot    */
    int threads;                 /* of cores                                              */
    int64_t host_memory;         /* for values on the host, bytes                         */
    int64_t device_memory, work; /* for values there; to assemble in                      */
} core_means;

/* Assembles this rank's chunks. PS_EXHAUSTED where values take more than they may. Different
 * matrices may be assembled by different threads at once, on a device
 * once the scene's tables are there. */
ps_status core_matrix_assemble(core_matrix *m, const core_means *means);

/* Sends the tables of a scene to a device, unless they are there or the device cannot do the
 * matrix. */
ps_status core_scene_send(core_matrix *any, const core_means *means);

#endif
