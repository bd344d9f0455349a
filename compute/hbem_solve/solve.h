/*
 * hbem-solve: what its files share.
 */
#ifndef PS_HBEM_SOLVE_SOLVE_H
#define PS_HBEM_SOLVE_SOLVE_H

#include "compute/hbem_solve/boundary.h"
#include "compute/hbem_solve/device_systems.h"
#include "compute/hbem_solve/factors.h"
#include "compute/hbem_solve/matrix.h"
#include "formats/hbem_solution.h"
#include "formats/reflectors.h"
#include "kernels/linear/lockstep.h"
#include "kernels/hbem/burton_miller.h"
#include "kernels/hbem/loads.h"
#include "runtime/background.h"
#include "runtime/ledger.h"
#include "runtime/program.h"
#include "runtime/progress.h"
#include "stage/product.h"
#include "stage/state.h"

typedef enum problem_kind { PROBLEM_HARD, PROBLEM_DIRICHLET, PROBLEM_NEUMANN } problem_kind;
typedef enum sparse_choice { SPARSE_AUTO, SPARSE_DIRECT, SPARSE_ITERATIVE } sparse_choice;
typedef enum scaling_choice { SCALING_AUTO, SCALING_MASS, SCALING_DIAGONAL } scaling_choice;
typedef enum solver_choice { SOLVER_AUTO, SOLVER_GMRES, SOLVER_BLOCK, SOLVER_CG } solver_choice;

enum { SWEEP_MAX = 4096 }; /* wave numbers */

typedef struct solve_options {
    problem_kind problem;
    bool indirect, interior;
    ps_coupling coupling;
    int64_t pade, batch;
    double radius, inner_tolerance, mean; /* m, -, of the data */
    ps_interval checkpoint_every;
    solver_choice solver;
    sparse_choice sparse;
    scaling_choice scaling;
    ps_lockstep_options krylov;
    const char *identity; /* of the run, for its checkpoints */
    /* of matrices that are assembled here */
    ps_hbem_matrix_options assembly;
    bool assembly_given; /* it is not the default */
    double wavenumbers[SWEEP_MAX], speed; /* speed: of sound; 0: not given */
    double absorption;                    /* of the medium, Np/m           */
    int wavenumber_count;
    ps_reflectors mirrors;
} solve_options;

/* Clusters: of at most two files, two derived ones, and images of those that are solved with and
 * that data have. */
enum { SCENES_OWN = 3, SCENES = SCENES_OWN + 2 * (PS_REFLECTOR_IMAGES_MAX - 1) };

/* A space in the order of the matrices, with its mass and stiffness. */
typedef struct solve_space {
    bool there;
    ps_hbem_space space;
    ps_pencil sparse;
    const int64_t *order; /* the function at a position; borrowed from a matrix */
} solve_space;

/* What matrices of a wave number are for: the operators on unknowns (by ps_hbem_kernel), then those
 * of the wave number inside of fluids, then those on given velocities, which are numbers of
 * triangles. */
enum {
    SLOT_INNER = PS_HBEM_KERNELS,
    SLOT_DATA_SLP = SLOT_INNER + PS_HBEM_KERNELS,
    SLOT_DATA_ADLP,
    SLOTS_OWN,
    /* The same of images, for each copy (formats/reflectors.h): the operators on unknowns, then those
     * on velocities. */
    SLOTS_IMAGE = PS_HBEM_KERNELS + 2,
    SLOTS = SLOTS_OWN + (PS_REFLECTOR_IMAGES_MAX - 1) * SLOTS_IMAGE
};
typedef struct slot {
    ps_hbem_kernel kernel;
    bool data, inner;
    int copy; /* of the trial functions: 0: the body */
} slot;
extern const slot slot_table[SLOTS];
/* The slot of a copy of an own one; -1 where there is none: fluids end at their surface. */
int slot_of_copy(int at, int copy);

/* A right-hand side whose residual stays above the one wanted for its wave number, and how many
 * do. */
typedef struct solve_miss {
    double wavenumber, residual, wanted;
    int64_t sides;
} solve_miss;

/* Matrices of one wave number: positions in problem.matrices, -1 where there is none. */
typedef struct solve_group {
    double wavenumber;
    int matrix[SLOTS];
} solve_group;

enum {
    SECONDS_OPEN,
    SECONDS_ASSEMBLY,
    SECONDS_LOADING,
    SECONDS_FACTORS,
    SECONDS_PRODUCTS,
    SECONDS_SPARSE,
    SECONDS_REST,
    SECONDS_COUNT
};

typedef struct solve_problem {
    const ps_run *run;
    ps_device *device;     /* that computes products; NULL: cores */
    int local_rank;        /* on this machine                     */
    int64_t systems_bytes; /* of sparse systems on it          */
    solve_options options;
    ps_surface_mesh mesh;
    ps_store *mesh_store;
    ps_hbem_surface surface;
    ps_hbem_triangle *triangles;
    matrix *matrices;
    int matrix_count;
    core_scene scenes[SCENES]; /* clusters: of files, then those derived from them, then images   */
    int scene_count;      /* 0: matrices are in files                                             */
    int scene_files;      /* of them: read                                                        */
    int main_scene, data_scene; /* of the operator that is solved with, of the right-hand side's */
    int image_scene[PS_REFLECTOR_IMAGES_MAX][2]; /* of both, by copy                                      */
    bool touches;                         /* the body has a rim on a mirror plane,                 */
    double touch;                         /* which is nearer than this to it, m                    */
    bool *fixed; /* [functions of p1] on a rim on a soft plane: 0; NULL: no rim                    */
    solve_group *groups;        /* by rising wave number */
    int group_count;
    solve_space spaces[3];      /* by ps_hbem_space_kind                            */
    ps_hbem_space_kind unknown; /* space of what is solved for                      */
    ps_hbem_space_kind data;    /* of given data, in direct forms                   */
    int parts, fields;          /* fields: numbers of a function, 2 where fluids have both traces */
    boundary boundary;          /* of waves                                         */
    ps_hbem_load *loads;        /* [load_count]: incident waves, or data            */
    int64_t load_count, load_capacity;
    ps_surface_field table;        /* of data from a file                              */
    ps_surface_field (*incidents)[2]; /* [incident_count]: pressures, derivatives         */
    int incident_count;
    double area, radius;           /* m^2, m: of mean curvature                        */
    int64_t edges;                 /* that are sharp; in direct forms, soft and fluid  */
    int64_t open_constants, holes; /* of the surface of an interior Neumann problem       */
    ps_hbem_solution out;          /* rank 0                                           */
    /* figures */
    bool direct; /* V by factors                                                        */
    int64_t batch, products, inner_iterations, factor_bytes, steps_least, steps_most;
    int64_t resident, sweep_bytes; /* bytes of matrices kept, of a sweep               */
    double residual, row_sum_error, entry_error; /* the latter NaN where there is none to check */
    bool converged;
    solve_miss miss; /* of the side that misses its tolerance by the largest factor */
    ps_progress progress;
    ps_ledger ledger; /* the plan of memory                                    */
    int64_t room;     /* of --host-memory, for vectors and matrices, bytes     */
    double seconds[SECONDS_COUNT];
} solve_problem;

/* ---- problem.c ---- */

/* Reads the mesh. */
ps_status problem_open_mesh(solve_problem *p);
/* Opens matrices, checks that they belong together, makes spaces, mass and stiffness; mesh and
 * loads are there. */
ps_status problem_open(solve_problem *p, int matrix_count, const char *const *paths);
void problem_close(solve_problem *p);
static inline int64_t problem_dofs(const solve_problem *p)
{
    return p->spaces[p->unknown].space.dofs;
}
/* Numbers of a vector of unknowns. */
static inline int64_t problem_size(const solve_problem *p)
{
    return p->parts * p->fields * problem_dofs(p);
}

/* Whether a problem of waves is more than a rigid body in plane waves. */
bool problem_is_general(const solve_problem *p);

/* ---- images.c: mirror planes ---- */

/* Which side the body is on, and whether it touches a plane as it may. PS_INVALID where it crosses
 * one, touches one otherwise, or is not closed with its images. */
ps_status images_check_body(solve_problem *p);
/* Whether a place is inside of a body, on it, or outside: ps_hbem_where, of a body with images. */
int images_where(const solve_problem *p, const double x[3]);
/* Whether what comes in is on the side of the body, and there at all. */
ps_status images_check_load(const solve_problem *p, const char *option, const ps_hbem_load *load);
/* PS_USAGE where a fluid body stands on a plane. */
ps_status images_check_fluid(const solve_problem *p);
/* Scenes of the images, once the others are there. */
ps_status images_derive_scenes(solve_problem *p);
/* Takes the functions of rims on soft planes out of mass and stiffness, and what they are tested
 * with out of vectors [vectors][dofs]. */
ps_status images_fix_rims(solve_problem *p);
void images_clear_rims(const solve_problem *p, int64_t vectors, double *v);
/* Leaves of v, at vertex `vertex`, what the image of the surface about it does not cancel. */
void images_project(const solve_problem *p, int64_t vertex, double v[3]);

/* ---- constants.c ---- */

/* Which closed part of the surface each function is of: part[dofs]; 0 for a vertex without
 * triangles. */
ps_status function_parts(const solve_problem *p, const ps_hbem_space *space, int32_t *part,
                         int64_t *count);
/* Of an interior Neumann problem: counts bodies, whose constants the data leave open, and holes;
 * warns of more than one. PS_INVALID where a part's normals point inward and it is no hole. */
ps_status constants_find_open(solve_problem *p);
/* Whether the equation leaves constants open that the problem does not: u by W outside, or inside
 * of bodies with holes. */
static inline bool finds_constants(const solve_problem *p)
{
    const solve_options *o = &p->options;
    return o->problem == PROBLEM_NEUMANN && !o->indirect && (!o->interior || p->holes > 0);
}
/* Adds them to u, one for each closed part of the surface; t: the data. Both in the order of the
 * matrices. OpenMP inside. */
ps_status constants_add(const solve_problem *p, double *u, const double *t);

/* ---- spaces.c: of matrices, and those that given data and normal derivatives want ---- */

/* Makes the spaces of a matrix; PS_INVALID where one that is there has another order. */
ps_status take_spaces(solve_problem *p, const matrix *m);
/* Counts sharp edges; after the conditions of the boundary are known. */
ps_status find_edges(solve_problem *p);
/* For one file of clusters: those of other spaces that a direct form wants, made and said. */
ps_status derive_scenes(solve_problem *p);
/* Refuses data in a space that cannot hold them (--allow spaces), and warns of unknowns in one. */
ps_status check_spaces(const solve_problem *p);

/* ---- equation.c: A x = b of one batch ---- */

typedef struct equation {
    solve_problem *p;
    const solve_group *group;
    ps_osrc osrc;
    ps_burton_miller miller;
    ps_shifted_iterative iterative; /* of M, and of V unless there are factors  */
    factors *factors;               /* of V, on cores                           */
    device_systems *on_device;      /* of M^-1 and V; NULL: on cores            */
    double *groups;                 /* workspace of V                           */
    double *products;               /* of a step: one vector, or those of waves.c         */
    double *image;                  /* a product with an image; NULL: there are none        */
    double *velocity;               /* [2][triangles] of what vibrates, m/s: scratch      */
    double *admittance;             /* [2][triangles] b                                   */
    ps_osrc_reaction *reaction;     /* of each admittance                                 */
    int8_t *reaction_of;            /* [dofs] which of them; -1: none                     */
    int reaction_count;
    bool *of_flux;                  /* [dofs] q is unknown, not p                         */
    int32_t *body;                  /* [dofs] of a fluid body, from 0; -1: of none        */
    int64_t bodies;
    double *integral; /* [dofs] m_i = int phi_i, where constants are open   */
    int32_t *part;    /* [dofs] closed parts, each with a constant          */
    int64_t parts;    /* how many                                           */
    double *sums;     /* [3][parts]: scratch                                  */
    double *scale;    /* [dofs] of `--preconditioner diagonal`; NULL: M^-1  */
    double bordering; /* a of a m m^T of each part; 0: none                 */
    double half;      /* factor of M beside the matrix                      */
    int main;         /* slot that is solved with, but for `hard`           */
} equation;

/* Doubles of memory of an equation for batches of `sides`. */
int64_t equation_doubles(const solve_problem *p, int64_t sides);
ps_status equation_open(solve_problem *p, const solve_group *group, int64_t sides, equation *out);
void equation_close(equation *e);
/* b[sides] of loads [first, first + sides); data[sides], in direct forms: given data, in the order
 * of the matrices. */
ps_status equation_right_side(equation *e, int64_t first, int64_t sides, double *b, double *data);
/* ---- waves.c: the equation of waves ---- */

/* Vectors [2][dofs] a side that it works with. */
int64_t waves_vectors(const solve_problem *p);
/* Before anything is assembled: PS_INVALID where fluid bodies touch, or lie in, other ones. */
ps_status waves_check(solve_problem *p);
ps_status waves_open(equation *e);
ps_status waves_apply(equation *e, int64_t count, const double *x, double *y);
ps_status waves_right_side(equation *e, int64_t first, int64_t sides, double *b);
/* The space of q in the output, and both traces of a solution in the order of the mesh: pressure
 * [2][vertices], flux [2][functions]; each may be NULL. */
ps_hbem_space_kind waves_flux_space(const solve_problem *p);
ps_status waves_traces(equation *e, int64_t load, const double *x, double *pressure, double *flux);

/* ---- impedance.c: what waves.c takes of it ---- */

/* Admittances and their preconditioners, after the coupling of e; freed by the other one. */
ps_status impedance_open(equation *e);
void impedance_close(equation *e);
/* q += the projection of -ik b p, [sides][2][dofs]. */
ps_status impedance_add_flux(equation *e, int64_t sides, const double *p, double *q);
/* y of functions with an impedance, in place; load, own: scratch, as large. */
ps_status impedance_precondition(equation *e, int64_t sides, double *y, double *load, double *own);

/* ---- equation.c again: what waves.c takes of it ---- */

/* A product y = A x over all ranks, A the matrix of a slot and, times their signs, of its images;
 * all of a list at once. */
typedef struct multiplication {
    int slot;
    const double *x;
    double *y;
} multiplication;
ps_status equation_multiply(equation *e, int count, const multiplication *list, int64_t sides);
void equation_own_sides(int64_t count, int64_t *first, int64_t *end);
ps_status equation_join_sides(int64_t count, int64_t size, double *y);
ps_status equation_load(equation *e, const solve_space *s, int64_t load, bool derivative,
                        double *out);

/* The callbacks of lockstep; context is an equation. */
ps_status equation_apply(void *context, int64_t count, const double *x, double *y);
ps_status equation_precondition(void *context, int64_t count, const double *r, double *z);
ps_status equation_reduce(void *context, double *sums, int64_t count);
/* Which method suits. PS_USAGE where the one asked for cannot be. */
ps_status equation_method(const solve_problem *p, ps_lockstep_method *out);
/* Numbers of given data of a side; 0: none are kept. */
int64_t equation_data_size(const solve_problem *p);

/* ---- assembling.c: matrices of a wave number in memory ---- */

/* In threads of their own on a device, one after the other on cores; until it is waited for, the
 * caller may do something else. */
typedef struct assembling {
    solve_problem *p;
    core_means means;
    int64_t sides;
    struct assembling_matrix {
        const struct assembling *all;
        matrix *m;
        core_means means;
        ps_background work;
    } each[SLOTS];
    int count, started;
    double start;
} assembling;

/* Starts, within the budgets, with products of so many sides; PS_EXHAUSTED where these do not hold
 * what is expected. Stays where it is. Does nothing where matrices are in files. */
ps_status assembling_start(assembling *a, solve_problem *p, const solve_group *group,
                           int64_t sides);
/* Waits; also after a failure of the above. */
ps_status assembling_wait(assembling *a);

/* ---- sums.c ---- */

/* Refuses a double layer of Laplace whose row sums are off by more than 10 eps (--allow row-sums);
 * its products are ready. Collective. */
ps_status matrix_check_sums(solve_problem *p, matrix *m);

/* ---- weak_scattering.c: bodies that scatter little ---- */

/* The residual for a wave number, of one asked: smaller where less than a hundredth of a wave is
 * scattered, so that what is has the accuracy asked as long as fp64 has it. */
double weak_tolerance(const solve_problem *p, double wavenumber, double asked);
/* Refuses waves so long that errors of the matrices hide what a rigid body scatters (--allow
 * long-waves); their products are ready. Collective. */
ps_status long_wave_check(equation *e);

/* ---- memory.c ---- */

/* Chooses the batch; the plan of memory: PS_EXHAUSTED with the least where that is too little. */
ps_status plan_memory(solve_problem *p);

/* ---- batches.c ---- */

/* The matrices of a group; their number. */
int group_matrices(const solve_problem *p, const solve_group *group, matrix **out);
/* This rank's share of what its device has free. */
int64_t free_on_device(const solve_problem *p);
/* Bytes of vectors of a batch, and how many sides are solved together. */
ps_lockstep_system batch_system(const solve_problem *p, int64_t sides);
int64_t batch_bytes(const solve_problem *p, int64_t sides);
/* Of a checkpoint of such a batch, at most. */
int64_t state_bytes(const solve_problem *p, int64_t sides);
int64_t choose_batch(const solve_problem *p);
/* Solves everything into p->out; PS_STOPPED: checkpoints are written, there is no output. */
ps_status solve_batches(solve_problem *p);
/* Removes the checkpoints. */
ps_status remove_checkpoints(const solve_problem *p);

/* ---- state.c: checkpoints of a batch ---- */

typedef struct batch_state {
    ps_state state; /* on rank 0 */
    char name[4096];
    int64_t small_bytes;
    ps_lockstep *solver; /* borrowed */
} batch_state;
/* All are collective. The newest good state into the memory of the solver; *found false: there is
 * none. */
ps_status state_open(const solve_problem *p, int64_t batch, ps_lockstep *solver, batch_state *s,
                     bool *found);
ps_status state_save(batch_state *s);
bool state_is_due(const batch_state *s);
/* Whether what an earlier run left is of this run, before there is much to do. */
ps_status check_states(const solve_problem *p);

/* ---- output.c: the file that is made ---- */

/* Adds mesh, matrices or clusters, and a hash of the numbers that came from files. */
ps_status output_inputs(const solve_problem *p, ps_product *product);
/* Creates it on rank 0, with the header that all get. */
ps_status output_create(solve_problem *p, const ps_product *product);

/* ---- sweep.c: wave numbers asked for ---- */

typedef struct sweep_words {
    const ps_text_list *wavenumber;         /* one each                     */
    const char *wavenumbers, *frequencies; /* lists or ranges, or NULL     */
    const char *absorption;                 /* with a unit, or NULL         */
} sweep_words;
/* All of them, ascending; frequencies by out->speed. PS_USAGE for one that is not above 0 or is
 * there twice. */
ps_status sweep_parse(const sweep_words *words, solve_options *out);

/* ---- data.c: right-hand sides asked for ---- */

ps_status parse_directions(solve_problem *p, const ps_text_list *list, const char *file,
                           const char *azimuths);
/* After the directions: sources, data of files, and at the end the sides of what vibrates. */
ps_status parse_sources(solve_problem *p, const ps_text_list *list);
ps_status parse_incidents(solve_problem *p, const ps_text_list *list);
ps_status end_of_waves(solve_problem *p);
ps_status parse_data(solve_problem *p, const ps_text_list *list);

#endif
