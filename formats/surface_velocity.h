/*
 * surface_velocity: a prescribed normal velocity of a mesh, outward, in an incident file and in the
 * history of its march (specs/incident_file.md):
 *
 *     v_n(x, t) = sum_r pattern_r(triangle of x) s_r(t)
 */
#ifndef PS_FORMATS_SURFACE_VELOCITY_H
#define PS_FORMATS_SURFACE_VELOCITY_H

#include "formats/store.h"

/* A surface that moves by itself. The arrays are the owner's; modes 0: it does not. */
typedef struct ps_surface_velocity {
    int64_t modes, triangle_count, steps;
    double density;   /* of the fluid, kg/m^3 */
    double *patterns; /* [modes][triangle_count] */
    double *signals;  /* [modes][steps + 1][2]: s (m/s) and ds/dt (m/s^2) at t_n = n dt, n >= 0;
                         before, 0 */
} ps_surface_velocity;

/* Allocates the arrays, zeroed. */
ps_status ps_surface_velocity_init(ps_surface_velocity *velocity);
void ps_surface_velocity_release(ps_surface_velocity *velocity);
/* Forgets what comes after so many steps. */
void ps_surface_velocity_shorten(ps_surface_velocity *velocity, int64_t steps);
int64_t ps_surface_velocity_bytes(const ps_surface_velocity *velocity);
/* Writes it into a file that is being made; nothing if there are no modes. */
ps_status ps_surface_velocity_put(const ps_surface_velocity *velocity, ps_store *store);
/* Reads what is there, modes 0 if nothing is; triangles and steps are the file's. PS_INVALID. */
ps_status ps_surface_velocity_get(ps_store *store, int64_t steps, ps_surface_velocity *out);

#endif
