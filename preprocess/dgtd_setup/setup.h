/*
 * setup: what the files of penstock-dgtd-setup share.
 *
 * A partition is read; media, conditions, the total-field region and sources are put on it and
 * checked; the time step is found; the model is written.
 */
#ifndef PS_PREPROCESS_DGTD_SETUP_SETUP_H
#define PS_PREPROCESS_DGTD_SETUP_SETUP_H

#include "formats/dgtd_model.h"
#include "kernels/dgtd/local_steps.h"
#include "kernels/dgtd/system.h"
#include "kernels/dgtd/time_step.h"
#include "runtime/program.h"

enum { SETUP_GAINS = 3, SETUP_KEYS_MAX = 32, SETUP_FREQUENCIES_MAX = 16, SETUP_TAGS_SHOWN = 8 };
enum { SETUP_FLUX_AUTO, SETUP_FLUX_CENTRED, SETUP_FLUX_UPWIND };

typedef struct setup_options {
    int64_t order, applications, scale;
    int absorbing, flux; /* 1 paper; 1 upwind */
    const char *local;   /* auto, off or a number of levels */
    ps_text_list media, boundaries, sources, ports, wires, frequencies, pml;
    const char *media_file, *total, *dt, *divide;
    double fraction;
} setup_options;

typedef struct setup {
    const ps_run *run;
    const setup_options *options;
    const char *input;
    ps_store *store; /* of the partition */
    ps_partition mesh;
    bool in_layers;       /* the partition's elements are */
    int64_t layers_begin; /* the element that was its first */
    uint8_t *kinds, *total;
    uint8_t *layer;       /* [elements] 1 in the matched layer, or NULL */
    int layer_flux;       /* SETUP_FLUX_: of the layer, where all else has the centred one */
    uint8_t *reach;       /* [elements] of the local steps, or NULL */
    uint8_t *least_class; /* [elements] that their stability asks for, or NULL */
    uint16_t *material;
    int64_t media_count, source_count, tissue_count;
    int16_t *tissues; /* [tissue_count] of the media given: row of the table, -1: none */
    int frequency_count;
    double frequencies[SETUP_FREQUENCIES_MAX]; /* Hz, at which permittivities are told */
    ps_dgtd_medium *media;                     /* [media_count] */
    ps_dgtd_material *materials;               /* likewise, as the kernels take them */
    ps_dgtd_source sources[PS_DGTD_SOURCES_MAX];
    ps_dgtd_ports ports;
    ps_dgtd_wires wires;
    double wire_rate;                    /* 1/m^2, of all wires (kernels/dgtd/wire.h) */
    double wire_lack[PS_DGTD_WIRES_MAX]; /* ohm: about what their reactance is low by (wires.c) */
    double
        next_cutoffs[PS_DGTD_PORTS_MAX]; /* 1/m, of the mode after that of a port; 0: not sought */
    ps_dgtd_model_header header;
    double lower[3], upper[3];
    /* figures */
    int64_t face_counts[PS_DGTD_FACES], total_elements, layer_elements;
    double *sizes;                  /* [elements] sqrt(eps_i min(mu_i, mu_k)) V_i/P_i, m */
    double *limits;                 /* [elements] with local steps: ps_dgtd_element_limit, m */
    int64_t limiting;               /* the element of the least one */
    double shape_min, shape_median; /* V/P, m */
    int64_t close;                  /* elements whose size is within 10 % of the least */
    double gains[SETUP_GAINS];      /* of the step without the worst 10, 100, 1000 */
    double seconds_power;
    double local_share; /* of the limit, up to which one step for all is stable          */
    int64_t class_counts[PS_DGTD_LOCAL_LEVELS + 1], reach_counts[PS_DGTD_LOCAL_LEVELS + 1];
    double local_gain; /* element updates of one step for all, over those with local steps */
    double local_bounds[PS_DGTD_LOCAL_LEVELS + 1]; /* by level, last of the step; stable below 1 */
    int local_applications;                        /* that found them                            */
    int levels_most, levels_chosen;                /* by --local-steps auto; most 0: any         */
    int64_t local_lowered;                         /* elements whose class is larger for it      */
    double local_cap;        /* m: the largest step that borders and layer leave            */
    double local_whole_most; /* m: and that a whole step was found to leave; 0: any      */
    int64_t scaled;          /* elements with raised eps and mu,       */
    double scaled_volume;    /* their part of the volume */
    double scaled_excess;    /* sum of their volumes times (factor - 1), of the whole   */
    double scaled_factor;    /* and the largest factor   */
} setup;

/* ---- text.c: "kind:key=value:key=value" and names of physical groups ---- */

typedef struct setup_text {
    const char *option, *whole; /* for messages */
    char buffer[1024], *head;   /* what stands before the first ':' */
    int count;
    struct {
        char *key, *value;
        int used;
    } pairs[SETUP_KEYS_MAX];
} setup_text;

ps_status text_parse(const char *option, const char *whole, setup_text *out);
/* The value of a key or NULL; it counts as used. */
const char *text_find(setup_text *text, const char *key);
/* Numbers of a key: *given tells whether it is there; `count` of them are expected. PS_USAGE. */
ps_status text_reals(setup_text *text, const char *key, int count, double *out, int *given);
/* A time: "2e-9", "2ns", "0.25m" (metres of light), to metres (c0 t). */
ps_status text_time(setup_text *text, const char *key, double *metres, int *given);
ps_status parse_time(const char *option, const char *text, double *metres);
/* PS_USAGE if a key was not used. known: what to say instead. */
ps_status text_done(const setup_text *text, const char *known);

/* The number of a physical group given as number or name. PS_USAGE if it is neither. */
ps_status tag_number(const setup *s, ps_tag_cells of, const char *option, const char *text,
                     int32_t *out);
/* "3 (skull)". out[96] */
const char *tag_text(const setup *s, ps_tag_cells of, int32_t tag, char out[96]);
/* "1 (skin), 2, ..": the first few of tags[count], or "none". */
void tags_text(const setup *s, ps_tag_cells of, const int32_t *tags, int64_t count, char *out,
               size_t size);
/* Which tags are among values[count], ascending; at most `capacity` are kept. Returns how many
 * there are. */
int64_t distinct_tags(const int32_t *values, int64_t count, int32_t *out, int64_t capacity);
/* A region "box:..", "ball:..", "tag:..": marks[elements] is 1 where the centroid (or the tag) is
 * in it. */
ps_status mark_region(const setup *s, const char *option, const char *text, uint8_t *marks);

/* ---- poles.c: permittivities that are more than a number ---- */

/* eps, sigma, poles and tissue of a medium; *tissue: its row of the table, or -1. */
ps_status read_permittivity(setup_text *text, ps_dgtd_medium *medium, int *tissue);
/* --frequency; */
ps_status read_frequencies(setup *s);
/* What conditions, sources, flux and step have to be for media with poles or tensors. */
ps_status check_permittivities(setup *s);
/* By the Cole-Cole formula: real part, and minus the imaginary one. */
void tissue_permittivity(int tissue, double frequency, double out[2]);
void report_permittivity(const setup *s, int64_t medium, struct ps_report *r);

/* ---- media.c, faces.c, sources.c, step.c, report.c ---- */

ps_status set_media(setup *s);
ps_status set_faces(setup *s);
ps_status set_total(setup *s);
/* layer.c: the matched layer, once faces have conditions; checks and alpha, once there are sources.
 */
ps_status set_layer(setup *s);
ps_status finish_layer(setup *s);
/* The sphere that is nearest to points[count][3]: its largest distance, and how far they are apart
 * in it. PS_INVALID: in a plane. */
ps_status fit_sphere(const double *points, int64_t count, double centre[3], double *radius,
                     double *off);
/* layer_growth.c: a layer in which fields would grow with the centred flux has the upwind flux, or
 * is refused. */
ps_status check_layer_growth(setup *s);

/* grow.c: elements on the absorbing faces, in s->layer, in *rows of equal thickness. */
ps_status grow_layer(setup *s, setup_text *text, double *rows);
/* Rows of a grown layer of an order, unless others are asked for; the exponent of its profile and
 * what comes back through all of it, which for a layer that is a group of the mesh do not depend on
 * the order. */
double layer_defaults(int order, bool grown, double *grading, double *reflection);
ps_status set_sources(setup *s);

/* pulses.c */

/* Shape, width, delay and carrier of a source or port; a delay that is not given lets the pulse
 * begin at t = 0, and *fixed is 0. */
ps_status read_pulse(setup_text *text, ps_dgtd_source *x, int *fixed);
/* The march begins with no field, so a source has to be quiet at t = 0 where it acts first; `ahead`
 * (m of light) it is later there than at its origin. A delay that was not asked for is made longer,
 * another one refused. */
ps_status begin_quietly(const setup *s, ps_dgtd_source *x, double ahead, int fixed,
                        const char *option, const char *text);
/* 1/m: the carrier or, of a pulse without one, where its spectrum has fallen to a half; 0 of a ramp
 * to a constant, which is as good as its slow part. */
double pulse_band(const ps_dgtd_source *x);
/* A pulse of which most lies where half of some medium or more has fewer than two nodes a
 * wavelength is refused (short-pulse). */
ps_status resolve_pulse(const setup *s, const ps_dgtd_source *x, const char *option,
                        const char *text);

/* ports.c: lumped ports, once faces have conditions and the layer and sources are there. */
ps_status set_ports(setup *s);
/* Name, network and source of a port of --port or --wire; a port without faces after the others. */
ps_status port_read_name(const setup *s, const setup_text *text, ps_dgtd_port_spec *x);
ps_status port_read_network(setup_text *text, ps_dgtd_port_spec *x);
ps_status port_read_drive(const setup *s, setup_text *text, ps_dgtd_port_spec *x);
ps_status ports_append(setup *s, const ps_dgtd_port_spec *port);
/* wires.c: thin wires, once there are ports; their elements and rate, once media are what they
 * stay. */
ps_status set_wires(setup *s);
ps_status finish_wires(setup *s);
ps_status set_step(setup *s);
/* scale.c: raises eps and mu of all elements smaller than `target` (in sqrt(eps mu) V/P, m). */
ps_status scale_slivers(setup *s, double target);
/* Element i of the new order is order[i] of the old one; parts stay as they are, layers do not. */
ps_status reorder_elements(setup *s, const int32_t *order);

/* local.c: classes of steps (--local-steps). */
bool local_wanted(const setup *s);
/* A step of all of which smaller ones are made, `fraction` of the limit each; false where they are
 * of no use. */
ps_status local_step(setup *s, double fraction, double *dt, bool *useful);
/* Classes for header.dt, and the elements in their order. */
ps_status local_classes(setup *s, double fraction);
/* local_check.c: classes of a step that is stable, if lowering that of some elements makes it so.
 */
ps_status local_check(setup *s, double fraction, bool power, bool *stable);
/* Was it the whole step alone that is too large? Then local_step() takes smaller ones. */
bool local_whole_alone(setup *s);
void report_local(const setup *s, struct ps_report *r);

/* Bytes of the model. */
int64_t setup_disk(const setup *s);
/* What it takes, once all is in memory but what is written; PS_EXHAUSTED as of stage/plan.h. */
ps_status setup_plan(const setup *s, ps_report *report);
ps_status report_setup(const setup *s);

/* The body of the whole mesh, borrowed. */
ps_dgtd_body setup_body(const setup *s);
/* The element's row of the mesh file and its centroid, in words. out[160] */
const char *element_text(const setup *s, int64_t element, char out[160]);

/* ---- the system of a setup with fields, for what is found by applying it ---- */

enum { ITERATION_VECTORS = 3 };
typedef struct iteration {
    ps_dgtd_reference reference;
    ps_dgtd_operators operators;
    ps_dgtd_system system;
    ps_dgtd_power_scratch scratch;
    void *vectors[ITERATION_VECTORS]; /* fields; zero */
} iteration;

/* With `vectors` fields more. Released by the caller in either case. */
ps_status iteration_open(const setup *s, ps_precision precision, int vectors, iteration *out);
void iteration_release(iteration *iteration);

/* ---- a layer in the making (grow.c, join.c) ---- */

/* An outer face of what has been made so far; vertices ascend. */
typedef struct outer_face {
    int32_t v[3], face, parent; /* 4 * element + face; the element that it grew from */
    uint8_t kind;
    bool grows;
} outer_face;

typedef struct growth {
    setup *s;
    const char *text;
    int64_t layers;
    double thickness, centre[3], radius, box[2][3];
    outer_face *faces;
    int64_t count, room;
    int32_t *tetrahedra, *parents, *links; /* [made], of the new elements */
    uint8_t *kinds;
    int64_t made, tetrahedra_room, parents_room;
    int64_t vertices, vertices_room;
    int64_t grown; /* faces of the region */
} growth;

/* What was made becomes part of the mesh. */
ps_status join_grown(growth *g);

/* ---- a port while it is made: the sides of its faces and their vertices ---- */

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

/* ---- Lagrange polynomials on the triangles of a port, their eigenfunctions and potentials ---- */

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
