/*
 * penstock/integrals.h: matrix entries of boundary operators on a triangulated surface, of waves at
 * one frequency (specs/hbem.md) and of retarded potentials (specs/tdbem_assembly.md).
 *
 * A surface is vertices[vertex_count][3] in m and triangles[triangle_count][3] of vertex numbers,
 * counterclockwise seen from outside; both are copied. PENSTOCK_INVALID names the first vertex or
 * triangle that is wrong.
 */
#ifndef PENSTOCK_INTEGRALS_H
#define PENSTOCK_INTEGRALS_H

#include "status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct penstock_surface {
    int64_t vertex_count, triangle_count;
    const double *vertices;
    const int32_t *triangles;
} penstock_surface;

/* ---- at one frequency ---- */

typedef struct penstock_boundary penstock_boundary;

typedef struct penstock_boundary_operator {
    const char *kernel;                   /* "slp", "dlp", "adlp", "hyps"        */
    const char *test_space, *trial_space; /* "p0", "p1", "dp1"                   */
    double wavenumber;                    /* k, rad/m, 0 or more; 0: Laplace     */
    double tolerance;                     /* of the quadrature, 1e-6 .. 0.1      */
} penstock_boundary_operator;

/* Compares the entries that the rules take worst with closed forms first, and refuses errors above
 * ten times the tolerance; waves with fewer than four elements a wavelength; and of "dlp" and
 * "adlp" closed surfaces that are turned inside out. */
PENSTOCK_API penstock_status penstock_boundary_open(const penstock_surface *surface,
                                                    const penstock_boundary_operator *op,
                                                    penstock_boundary **out);
PENSTOCK_API void penstock_boundary_close(penstock_boundary **boundary);
/* Test functions, trial functions. */
PENSTOCK_API void penstock_boundary_size(const penstock_boundary *boundary, int64_t *rows,
                                         int64_t *columns);

/* values[row_end - row_begin][column_end - column_begin]: pairs of doubles where k > 0. m^3 of SLP
 * with p0 (specs/hbem.md has the others). Thread-safe. */
PENSTOCK_API penstock_status penstock_boundary_entries(const penstock_boundary *boundary,
                                                       int64_t row_begin, int64_t row_end,
                                                       int64_t column_begin, int64_t column_end,
                                                       double *values);

/* ---- retarded ---- */

typedef struct penstock_retarded penstock_retarded;

/* formulation: "sound-soft-s", "sound-soft-m" (an unknown a triangle), "sound-hard" (one a vertex;
 * a closed surface with normals outward). dt: s; speed: m/s; points: of the outer rule, 3, 6, 7 or
 * 12. */
PENSTOCK_API penstock_status penstock_retarded_open(const penstock_surface *surface,
                                                    const char *formulation, double dt,
                                                    double speed, int points,
                                                    penstock_retarded **out);
PENSTOCK_API void penstock_retarded_close(penstock_retarded **retarded);
/* Unknowns, and an upper bound of the last lag. */
PENSTOCK_API void penstock_retarded_size(const penstock_retarded *retarded, int64_t *unknowns,
                                         int64_t *lags);

/* The entries M^k(i, j) of rows i in [row_begin, row_end) and columns j, the sources, for all k. */
typedef struct penstock_retarded_block {
    int64_t row_begin, row_end, column_begin, column_end; /* the caller's                */
    double *zero;     /* [columns][rows] M^0(i, j), 0 where there is none                */
    int32_t *first;   /* [columns][rows] first lag k >= 1 of values; 0: none             */
    int32_t *lengths; /* [columns][rows] how many lags                                   */
    double *values;   /* [capacity] one pair after the other, in the order of `lengths`  */
    int64_t capacity; /* penstock_retarded_bound suffices                                */
    int64_t count;    /* set: of values                                                  */
} penstock_retarded_block;
PENSTOCK_API int64_t penstock_retarded_bound(const penstock_retarded *retarded,
                                             const penstock_retarded_block *block);
/* Arrays are the caller's. One thread works on a block; thread-safe for different blocks. */
PENSTOCK_API penstock_status penstock_retarded_entries(const penstock_retarded *retarded,
                                                       penstock_retarded_block *block);

#ifdef __cplusplus
}
#endif
#endif
