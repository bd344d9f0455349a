/*
 * system: a discretised body as the kernels read it, in arrays of the caller.
 *
 * Elements lie in groups of `lanes` (16 in fp32, 8 in fp64: 64 bytes a value), lane innermost, so
 * that all arithmetic runs over elements. A field (E or H) is real [groups][3][nodes][lanes]. The
 * last groups may be filled up by resting elements (linked to themselves, fields zero), and slots
 * behind `owned` may hold the halo: elements of other parts of which only face nodes are kept.
 *
 * Covariant components h_a = t_a . H with t_a = dx/dr_a the tangents [guide 4]:
 *
 *     det curl H   = sum_a t_a eps_abc D_b h_c
 *     det F n x [H] = sum_a t_a eps_abc nu_b [h]_c,   nu = -e_t, -e_s, (1,1,1), -e_r by face
 *
 * with det = t_0 . (t_1 x t_2) signed, F = 2 A_f / (3 V). Only tangents are stored.
 *
 * Units: lengths in m, time in m (c0 t), eps, mu relative, sigma times Z0, H and J times Z0.
 */
#ifndef PS_KERNELS_DGTD_SYSTEM_H
#define PS_KERNELS_DGTD_SYSTEM_H

#include <stddef.h>
#include <stdint.h>

#include "kernels/dgtd/reference.h"
#include "runtime/isa.h"
#include "runtime/status.h"

/* What a face is. Inner faces have a neighbour, the others ghost values in its place:
 * PEC E_k = -E_i, H_k = H_i; PMC the other way round; absorbing: absorb.h. */
typedef enum ps_dgtd_face {
    PS_DGTD_INNER,
    PS_DGTD_PEC,
    PS_DGTD_PMC,
    PS_DGTD_ABSORBING,
    PS_DGTD_FACES
} ps_dgtd_face;

typedef struct ps_dgtd_material {
    double eps, mu, sigma; /* relative, relative, S/m times Z0: 1/m */
} ps_dgtd_material;

typedef enum ps_dgtd_field { PS_DGTD_E, PS_DGTD_H } ps_dgtd_field;

enum { PS_DGTD_LANES_F32 = 16, PS_DGTD_LANES_F64 = 8, PS_DGTD_ALIGN = 64 };

/* The reference operators in the order in which the sweep reads them. */
typedef struct ps_dgtd_operators {
    /* Rows of D_r, D_s, D_t: row 3 i + b holds D_b(i, column) = value */
    int16_t row_start[3 * PS_DGTD_MAX_NODES + 1];
    int16_t column[3 * 376];
    float value_f32[3 * 376];
    double value_f64[3 * 376];
    /* LIFT_f / 2 as [rows / block][face][face node][block], block = ps_dgtd_row_block(order) */
    float lift_f32[4 * PS_DGTD_MAX_NODES * PS_DGTD_MAX_FACE_NODES];
    double lift_f64[4 * PS_DGTD_MAX_NODES * PS_DGTD_MAX_FACE_NODES];
} ps_dgtd_operators;

typedef struct ps_dgtd_system {
    int order;
    ps_precision precision;
    int64_t elements;  /* that the mesh has here                                    */
    int64_t groups;    /* of these; elements are slots 0 .. elements - 1            */
    int64_t materials; /* <= 65536                                                  */
    const ps_dgtd_reference *reference;
    const ps_dgtd_operators *operators;
    void *tangents;     /* real [groups][9][lanes], component 3 a + c = (t_a)_c     */
    int32_t *links;     /* [groups][4][lanes]: 4 * slot + face of the neighbour     */
    uint8_t *kinds;     /* [groups][4][lanes]: ps_dgtd_face                         */
    uint8_t *bordered;  /* [groups]: some face of the group is not inner            */
    uint16_t *material; /* [groups][lanes]                                          */
    /* What a half step multiplies by, by field and material, [2][2][materials]: field' = keep
     * field + gain det^-1 (..), keep first. See ps_dgtd_set_step. */
    void *steps;
    const struct ps_dgtd_dispersion *dispersion; /* NULL: eps is a number (dispersion.h)  */
} ps_dgtd_system;

/* The mesh and what is on it, as handed over: sorted, ordered and linked (mesh.h). */
typedef struct ps_dgtd_body {
    int64_t elements, materials;
    const double *vertices;    /* [vertex count][3], m                              */
    const int32_t *tetrahedra; /* [elements][4], ascending                          */
    const int32_t *links;      /* [elements][4]: 4 * slot + face; -1: none          */
    const uint8_t *kinds;      /* [elements][4]: ps_dgtd_face                       */
    const uint16_t *tags;      /* [elements]: index of the material; NULL: all 0    */
    const ps_dgtd_material *material;
} ps_dgtd_body;

int ps_dgtd_lanes(ps_precision precision);
int ps_dgtd_row_block(int order); /* rows taken at once: 4, 5, 5, 5 */

/* Bytes of each array, so that one can be asked for at a time. All 64-byte aligned. */
typedef struct ps_dgtd_bytes {
    size_t tangents, links, kinds, bordered, material, steps;
    size_t field; /* E or H of these elements; add ps_dgtd_slot_bytes per halo slot */
} ps_dgtd_bytes;
void ps_dgtd_system_bytes(const ps_dgtd_system *system, ps_dgtd_bytes *bytes);

void ps_dgtd_operators_init(ps_dgtd_operators *operators, const ps_dgtd_reference *reference);

/* Fills the arrays of a system whose order, precision, reference, operators and pointers are set;
 * elements, groups and materials with ps_dgtd_system_count before. Links to slots >= elements (the
 * halo) are taken as they are. PS_INVALID: a face without neighbour and without a condition, or a
 * condition on a face that has a neighbour; a tag without material; eps, mu <= 0 or sigma < 0. */
void ps_dgtd_system_count(ps_dgtd_system *system, int64_t elements, int64_t materials);
ps_status ps_dgtd_system_fill(ps_dgtd_system *system, const ps_dgtd_body *body);

/* keep and gain of both half steps for time step dt, a = sigma dt / (2 eps):
 * E: (1-a)/(1+a), dt/eps/(1+a); H: 1, -dt/mu. */
void ps_dgtd_set_step(ps_dgtd_system *system, const ps_dgtd_material *materials, double dt);

/* keep and gain of one material in the half step of a field. */
void ps_dgtd_set_factors(ps_dgtd_system *system, ps_dgtd_field field, int64_t material, double keep,
                         double gain);

/* Bytes of a field in a group, of any precision: 64 a value. */
static inline int64_t ps_dgtd_group_bytes(int order)
{
    return (int64_t)3 * ((order + 1) * (order + 2) * (order + 3) / 6) * PS_DGTD_ALIGN;
}

/* Offset, in reals, of component 0 of node 0 of a slot; nodes are `lanes` apart, components
 * nodes * lanes. */
int64_t ps_dgtd_offset(const ps_dgtd_system *system, int64_t slot);

/* One value of a field, whatever its precision. */
double ps_dgtd_get(const ps_dgtd_system *system, const void *field, int64_t slot, int component,
                   int node);
void ps_dgtd_set_node(const ps_dgtd_system *system, void *field, int64_t slot, int component,
                      int node, double value);

/* gain of a slot in the half step of a field: dt/eps/(1+a) or -dt/mu; and keep. */
double ps_dgtd_gain(const ps_dgtd_system *system, ps_dgtd_field field, int64_t slot);
double ps_dgtd_keep(const ps_dgtd_system *system, ps_dgtd_field field, int64_t slot);

/* Tangents of a slot in double. */
void ps_dgtd_slot_tangents(const ps_dgtd_system *system, int64_t slot, double tangents[3][3]);

#endif
