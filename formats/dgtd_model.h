/*
 * dgtd_model: all that a run of the discontinuous Galerkin solver is given, "penstock-dgtd-model"
 * (specs/dgtd_setup.md): a partition with a condition on each face and a material in each element,
 * materials, sources, order and time step.
 *
 * Written whole by penstock-dgtd-setup. Read as domains: consecutive parts, which a rank owns, or
 * all of them.
 */
#ifndef PS_FORMATS_DGTD_MODEL_H
#define PS_FORMATS_DGTD_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/dgtd_pole.h"
#include "formats/dgtd_ports.h"
#include "formats/dgtd_wires.h"
#include "formats/partition.h"
#include "formats/tag_names.h"

#define PS_DGTD_MODEL_FORMAT "penstock-dgtd-model"
enum { PS_DGTD_MODEL_VERSION = 7, PS_DGTD_MEDIA_MAX = 65536, PS_DGTD_SOURCES_MAX = 64 };
enum { PS_DGTD_MODEL_LEVELS = 8 }; /* of local steps */

/* Speed of light (m/s), impedance (ohm) and permittivity (F/m) of vacuum. */
#define PS_DGTD_C0 299792458.0
#define PS_DGTD_Z0 376.730313668
#define PS_DGTD_EPS0 (1 / (PS_DGTD_Z0 * PS_DGTD_C0))

typedef struct ps_dgtd_medium {
    int32_t tag;    /* physical group of the elements made of it */
    double eps, mu; /* relative                                  */
    double sigma;   /* S/m; times PS_DGTD_Z0 for the kernels     */
    double density; /* kg/m3; 0: not given (no SAR there)        */
    char name[64];  /* of the physical group; "" if none         */
    int pole_count; /* eps is then that of infinite frequency    */
    ps_dgtd_pole poles[PS_DGTD_POLES_MAX];
    bool anisotropic; /* eps is then the least eigenvalue of    */
    double tensor[6]; /* xx, yy, zz, xy, xz, yz: relative       */
    double band[2];   /* Hz, in which poles stand for something else; 0, 0: anywhere */
} ps_dgtd_medium;

/* Are poles and tensor such that nothing gains energy? */
bool ps_dgtd_medium_is_passive(const ps_dgtd_medium *medium);

typedef enum ps_dgtd_source_kind {
    PS_DGTD_SOURCE_CURRENT,         /* dipole spread over a ball                               */
    PS_DGTD_SOURCE_PLANE_WAVE,      /* incident through absorbing faces or the total/scattered
                                       surface                                                 */
    PS_DGTD_SOURCE_INCIDENT_DIPOLE, /* likewise                                              */
    PS_DGTD_SOURCE_MODE             /* a mode of a box of metal, as initial field              */
} ps_dgtd_source_kind;

/* As the kernels take it (kernels/dgtd/source.h, mode.h): lengths and times c0 t in m. */
typedef struct ps_dgtd_source {
    ps_dgtd_source_kind kind;
    int shape;              /* of the pulse: ps_dgtd_shape                                   */
    double amplitude;       /* V/m; of dipoles p/eps0 in V m2                                */
    double centre, width;   /* m                                                             */
    double omega;           /* 1/m                                                           */
    double axis[3];         /* dipoles: z; plane wave: direction k; mode: A (not a unit)     */
    double polarisation[3]; /* plane wave: unit vector                                       */
    double origin[3];       /* m; mode: lower corner of the box                              */
    double radius;          /* m, current                                                    */
    double extent[3];       /* m, mode: sides of the box                                     */
    int32_t mode[3];        /* half waves along x, y, z                                      */
} ps_dgtd_source;

/* The perfectly matched layer (kernels/dgtd/pml.h), lengths in m. */
typedef struct ps_dgtd_layer {
    bool ball;              /* or box                                                         */
    double inner[2][3];     /* box: lower, upper corner of what it is about                   */
    double thickness[2][3]; /* by side, 0: none there; ball: [0][0]                           */
    double centre[3], radius;
    double sigma[2][3]; /* 1/m, at the outer end; ball: [0][0]                                */
    double grading, kappa, alpha;
    double rows[2][3]; /* of equal thickness and stretch, by side; ball: [0][0]; 0: none      */
} ps_dgtd_layer;

typedef struct ps_dgtd_model_header {
    int order;         /* p, 1..4                                                       */
    bool averaged;     /* absorbing term: averaged, or "paper"                          */
    bool upwind;       /* or centred flux                                               */
    bool upwind_layer; /* upwind only between elements of the layer, with `upwind`            */
    double dt_layer;   /* m: as dt_rule, of the layer's elements; 0: none                     */
    double dt;         /* m (c0 t)                                                      */
    double dt_rule;    /* m: C_p min sqrt(eps_i min(mu_i, mu_k)) V_i/P_i                */
    double dt_power;   /* m: by power iteration; 0: not asked for                       */
    bool has_total;    /* there is a total-field region; incident fields enter at its
                          surface, and at absorbing faces only inside it                */
    bool has_layer;    /* some elements are in a perfectly matched layer                    */
    ps_dgtd_layer layer;
    int local_levels;      /* of smaller steps inside of dt (kernels/dgtd/local_steps.h); 0: none */
    int64_t mesh_elements; /* of the mesh file; elements of a grown layer have later numbers */
    int64_t elements, vertex_count, parts, layer_count, media, sources;
    char tag_names[PS_TAG_NAMES_MAX];
    char mesh_uuid[40], mesh_hash[17]; /* of the volume mesh file                            */
    char uuid[40], content_hash[17];   /* of the file read                                   */
} ps_dgtd_model_header;

/* ---- writing: penstock-dgtd-setup ---- */

/* What a model adds to a partition; links are -1 at both sides of inner faces that got a
 * condition (thin sheets). Arrays are the caller's. */
typedef struct ps_dgtd_model {
    ps_dgtd_model_header header; /* sizes are taken from below                           */
    const ps_partition *partition;
    const uint8_t *kinds;     /* [elements][4] ps_dgtd_face                           */
    const uint16_t *material; /* [elements] index of the medium                       */
    const uint8_t *total;     /* [elements] 1 in the total-field region; or NULL      */
    const uint8_t *layer;     /* [elements] 1 in the perfectly matched layer; or NULL */
    const uint8_t *reach;     /* [elements] of the local steps; NULL: none            */
    const ps_dgtd_medium *media;
    const ps_dgtd_source *sources;
    const ps_dgtd_ports *ports; /* NULL: none */
    const ps_dgtd_wires *wires; /* likewise   */
} ps_dgtd_model;

/* Creates, writes and commits; mesh: the partition's store, recorded as input. */
ps_status ps_dgtd_model_save(const char *path, const ps_dgtd_model *model,
                             const ps_store_identity *identity, const ps_store *mesh);

/* ---- reading ---- */

typedef struct ps_dgtd_model_file ps_dgtd_model_file;

ps_status ps_dgtd_model_open(const char *path, ps_dgtd_model_file **out);
void ps_dgtd_model_close(ps_dgtd_model_file **file); /* NULL is fine */
const ps_dgtd_model_header *ps_dgtd_model_head(const ps_dgtd_model_file *file);
const ps_dgtd_medium *ps_dgtd_model_media(const ps_dgtd_model_file *file);   /* borrowed */
const ps_dgtd_source *ps_dgtd_model_sources(const ps_dgtd_model_file *file); /* borrowed */
const ps_dgtd_ports *ps_dgtd_model_ports(const ps_dgtd_model_file *file);    /* borrowed */
const ps_dgtd_wires *ps_dgtd_model_wires(const ps_dgtd_model_file *file);    /* borrowed */
const int64_t *ps_dgtd_model_part_start(const ps_dgtd_model_file *file);     /* [parts + 1]  */
const int64_t *ps_dgtd_model_interior(const ps_dgtd_model_file *file);       /* [parts]      */
ps_store *ps_dgtd_model_store(const ps_dgtd_model_file *file);               /* borrowed     */
/* 16 hex digits over order, flux, media, conditions and matched layer: what runs of one body have
 * in common, whatever drives them. */
ps_status ps_dgtd_model_body_hash(const ps_dgtd_model_file *file, char out[17]);

/* What a rank exchanges with another: send[i] is a face of an own slot, receive[i] the face of a
 * halo slot at the same place of the surface; the other rank has them the other way round in the
 * same order. Both are 4 * slot + face, as ps_dgtd_halo_pack and _unpack take them. */
typedef struct ps_dgtd_neighbour {
    int rank;
    int64_t count;
    int32_t *send, *receive;
} ps_dgtd_neighbour;

/* Parts [first_part, end_part) as ps_dgtd_body wants them. Slot of an own element = its number
 * minus `first`; halo slots follow from `halo_base` on, ascending by element. */
typedef struct ps_dgtd_domain {
    int64_t first_part, end_part;
    int64_t first, elements; /* own elements are first .. first + elements - 1             */
    int64_t halo_base, halo_count;
    int64_t vertex_count;
    double *vertices;        /* [vertex_count][3] those of own elements, in the mesh's order */
    int32_t *vertex_numbers; /* [vertex_count] in the mesh                                 */
    int32_t *tetrahedra;     /* [elements][4] local vertices, ascending                    */
    int32_t *links;          /* [elements][4] 4 * slot + face; -1: none                    */
    uint8_t *kinds;          /* [elements][4]                                              */
    uint16_t *material;      /* [halo_base + halo_count] of the medium                     */
    uint8_t *total;          /* [halo_base + halo_count] or NULL                           */
    uint8_t *layer;          /* [halo_base + halo_count] 1 in the matched layer; or NULL   */
    uint8_t *reach;          /* [halo_base + halo_count] of the local steps; or NULL       */
    int32_t *source;         /* [elements] place in the mesh file                          */
    int32_t *halo;           /* [halo_count] element of each halo slot                     */
    int neighbour_count;
    ps_dgtd_neighbour *neighbours; /* ascending ranks                                        */
} ps_dgtd_domain;

/* Reads the parts of one rank of several: rank r has parts [rank_parts[r], rank_parts[r + 1]).
 * Halo slots begin at the next multiple of `lanes` (ps_dgtd_lanes of the precision). Local. */
ps_status ps_dgtd_model_load(ps_dgtd_model_file *file, const int64_t *rank_parts, int ranks,
                             int rank, int lanes, ps_dgtd_domain *out);
void ps_dgtd_domain_release(ps_dgtd_domain *domain);

/* Cuts parts into `ranks` consecutive runs of about equally many elements: rank_parts[ranks + 1].
 * PS_USAGE if there are fewer parts than ranks. */
ps_status ps_dgtd_model_share(const ps_dgtd_model_file *file, int ranks, int64_t *rank_parts);

#endif
