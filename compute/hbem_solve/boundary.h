/*
 * boundary: what kind each physical group of a surface in waves is, and how it vibrates.
 *
 * With the trace p of the total pressure and its normal derivative q on the outside, e^{-iwt}:
 *
 *   rigid      q = s                       s = i k rho c v where the group vibrates, else 0
 *   impedance  q = -ik b p + s             b = rho c / Z
 *   soft       p = 0
 *   fluid      p and rho1/rho q go on inside
 */
#ifndef PS_HBEM_SOLVE_BOUNDARY_H
#define PS_HBEM_SOLVE_BOUNDARY_H

#include "formats/surface_field.h"
#include "kernels/hbem/loads.h"
#include "runtime/options.h"

enum { VIBRATION_SIDES = 64 };

typedef enum condition_kind {
    CONDITION_RIGID,
    CONDITION_IMPEDANCE,
    CONDITION_SOFT,
    CONDITION_FLUID,
    CONDITIONS
} condition_kind;

/* The table of conditions: which traces are unknown, which of the operators multiply something, and
 * which combined equation its functions are tested with (kernels/hbem/burton_miller.h). */
typedef struct condition_row {
    const char *name;
    bool pressure, flux; /* unknown                                                  */
    bool follows;        /* the flux is a multiple of the pressure                   */
    bool flux_equation;  /* (B) - V^-1 (A); else (A) - V (B)                         */
    bool vibrates;       /* may be given a velocity                                  */
} condition_row;
extern const condition_row condition_table[CONDITIONS];

typedef struct condition {
    condition_kind kind;
    bool given;            /* not by default                      */
    double admittance[2];  /* b                                   */
    double density, speed; /* of a fluid, kg/m^3, m/s            */
} condition;

/* A normal velocity: a number, v.n of a vector, or those of a field, m/s. */
typedef struct vibration {
    ps_hbem_load load;      /* VALUE, LINEAR (its derivative), TABLE */
    ps_surface_field field; /* of a table, owned                     */
    int side;               /* which right-hand side it is of        */
} vibration;

typedef struct boundary {
    int count; /* groups of the mesh */
    int32_t *tag;
    condition *condition; /* [count]                              */
    int32_t *group_of;    /* [triangles]                          */
    int vibrations;
    vibration *vibration;
    bool *vibrates; /* [vibrations][count]: where which does  */
    int sides;      /* right-hand sides of vibrations         */
    char label[VIBRATION_SIDES][24]; /* of each; the first has none where none is given */
    bool has[CONDITIONS];
    const condition *fluid; /* the one there is, or NULL              */
    double density, speed;  /* of the medium; 0: not given          */
} boundary;

/* Reads "TAG:CONDITION" of a list; TAG is a number, a name, or "others". All rigid where the list
 * has no condition; PS_USAGE where some groups have one and others none. Close it on failure too.
 */
ps_status boundary_parse(const ps_text_list *list, const ps_surface_mesh *mesh, double density,
                         double speed, boundary *out);
void boundary_close(boundary *b);

static inline bool boundary_unknown_pressure(const boundary *b)
{
    return b->has[CONDITION_RIGID] || b->has[CONDITION_IMPEDANCE] || b->has[CONDITION_FLUID];
}
/* Whether q is more than what is given: unknown, or a multiple of p. */
static inline bool boundary_has_flux(const boundary *b)
{
    return b->has[CONDITION_IMPEDANCE] || b->has[CONDITION_SOFT] || b->has[CONDITION_FLUID];
}
/* Whether it is not all rigid and at rest. */
static inline bool boundary_is_general(const boundary *b)
{
    return boundary_has_flux(b) || b->vibrations > 0;
}

/* Wave number inside of the fluid, if there is one, over that outside. */
static inline double boundary_contrast(const boundary *b)
{
    return b->fluid ? b->speed / b->fluid->speed : 1;
}

/* velocity[2][triangles]: the normal velocity of all that vibrates in a right-hand side, means of
 * triangles, m/s: real, imaginary. */
void boundary_velocity(const boundary *b, const ps_hbem_surface *surface, int side,
                       double *velocity);

#endif
