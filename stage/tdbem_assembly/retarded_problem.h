/*
 * retarded_problem: what the interaction kernels of the retarded potentials need
 * (kernels/tdbem/interaction.h) of a surface: its checks, the time step, the outer rule, triangles
 * at vertices, bounding spheres, and its images in planes that mirror.
 */
#ifndef PS_TDBEM_ASSEMBLY_RETARDED_PROBLEM_H
#define PS_TDBEM_ASSEMBLY_RETARDED_PROBLEM_H

#include <stdbool.h>

#include "formats/surface_mesh.h"
#include "kernels/tdbem/interaction.h"
#include "runtime/options.h"

typedef struct ps_retarded_options {
    int formulation; /* ps_formulation                    */
    double dt;       /* s; 0: from courant                */
    double courant;  /* h / D; 0: from dt                 */
    double speed;    /* m/s                               */
    int points;      /* of the outer rule: 3, 6, 7 or 12  */
    bool screen;     /* sound-hard on an open surface     */
    double combined; /* sound-hard: alpha of the combined field equation; 0: none,
                        PS_COMBINED_AUTO: chosen          */
    ps_text_list mirror; /* planes that mirror, as text   */
    const char *lining;  /* sound-hard: the part of the mesh whose lining it is, number, name or
                            "all"; NULL: none             */
} ps_retarded_options;
#define PS_COMBINED_AUTO (-1.0)
/* Reads 0, a positive number up to 2, or auto. PS_USAGE. */
ps_status ps_combined_parse(const char *text, double *out);

/* The interaction points into it: it stays where it is. */
typedef struct ps_retarded_problem {
    ps_interaction interaction;
    ps_surface_mesh mesh;
    ps_triangle *triangles;
    double *reach, *spread;
    int64_t *around_start;
    int32_t *around;
    uint8_t *fixed; /* NULL: none */
    uint8_t *lined; /* NULL: none */
    int64_t fixed_count;
    double mean_edge, dt;
    double touching; /* m: nearer than this to a plane that mirrors is on it             */
    bool cut_open;   /* the surface ends at such a plane, and its image closes it        */
} ps_retarded_problem;

/* Takes the mesh over, also on failure. PS_INVALID or PS_USAGE say what is wrong. */
ps_status ps_retarded_problem_init(ps_surface_mesh *mesh, const ps_retarded_options *options,
                                   ps_retarded_problem *out);
/* The same of a file, which is read and checked. */
ps_status ps_retarded_problem_load(const char *path, const ps_retarded_options *options,
                                   ps_retarded_problem *out);
void ps_retarded_problem_release(ps_retarded_problem *problem);

#endif
