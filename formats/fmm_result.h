/*
 * fmm_result: potentials and gradients at particles in the caller's order, "penstock-fmm-result"
 * (specs/fmm_result.md).
 */
#ifndef PS_FORMATS_FMM_RESULT_H
#define PS_FORMATS_FMM_RESULT_H

#include <stdbool.h>

#include "formats/particles.h"

#define PS_FMM_RESULT_FORMAT "penstock-fmm-result"
enum { PS_FMM_RESULT_VERSION = 2 /* 1: potentials and gradients of charges alone */ };

typedef struct ps_fmm_result_header {
    int64_t count; /* targets                                                                  */
    int right_hand_sides;
    bool gradient;                                /* gradients are there, too                   */
    bool hessian;                                 /* and second derivatives                     */
    int components;                               /* of a value: 1, complex 2, of a velocity 3  */
    char potential_units[72], gradient_units[80]; /* "1" where the particles do not say        */
    char hessian_units[80];
} ps_fmm_result_header;

typedef struct ps_fmm_result ps_fmm_result;

/* Starts a file. Errors as ps_store_create. */
ps_status ps_fmm_result_create(const char *path, const ps_store_identity *identity,
                               const ps_fmm_result_header *header, ps_fmm_result **out);
ps_store *ps_fmm_result_store(ps_fmm_result *file); /* for attributes and inputs; borrowed */
int64_t ps_fmm_result_chunk_rows(int64_t count);    /* targets of a chunk; the last has fewer */
/* Bytes that writing a chunk of `rows` takes, of each thread; with fewer targets the rest of it is
 * zeros, which are compressed to nothing. */
int64_t ps_fmm_result_write_bytes(const ps_fmm_result_header *header, int64_t rows,
                                  int64_t targets);
/* Version that a file with such results has. */
int ps_fmm_result_version(const ps_fmm_result_header *header);
/* Writes chunk c: values[rows][stride] as results of kernels/fmm lie: values of all components of
 * all sides, then their gradients [3], then, if the header has them, second derivatives [6]. Every
 * chunk once. Thread-safe for different chunks. PS_INVALID, naming
 * the target, for a value that is not finite. */
ps_status ps_fmm_result_write(ps_fmm_result *file, int64_t chunk, const double *values,
                              int64_t stride);
ps_status ps_fmm_result_commit(ps_fmm_result **file); /* frees, on failure too          */
void ps_fmm_result_close(ps_fmm_result **file);       /* before commit: discards. NULL is fine */

/* Units of K q: charge times length to the power `degree`; "1" where neither has units.
 * out[size]. */
void ps_fmm_result_units(const char *charge, const char *length, int degree, char *out,
                         size_t size);

#endif
