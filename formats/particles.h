/*
 * particles: positions and charges in the caller's order, "penstock-particles"
 * (specs/particles.md).
 *
 * A structure of arrays: x, y, z and one array of charges for each right-hand side, all fp64.
 * Written and read by ranges, so that a file need not fit memory; counts may exceed 2^31. Wherever
 * columns are named, columns[0..2] are x, y, z and columns[3 + s] the charges of right-hand side
 * s.
 */
#ifndef PS_FORMATS_PARTICLES_H
#define PS_FORMATS_PARTICLES_H

#include <stdint.h>

#include "formats/store.h"

#define PS_PARTICLES_FORMAT "penstock-particles"
enum {
    PS_PARTICLES_VERSION = 1,
    PS_RIGHT_HAND_SIDES_MAX = 8,
    PS_PARTICLE_COLUMNS_MAX = 3 + PS_RIGHT_HAND_SIDES_MAX
};

typedef struct ps_particle_header {
    int64_t count;
    int right_hand_sides;                    /* 1 .. 8                                     */
    char length_units[32], charge_units[32]; /* "1" where the source does not say          */
    double lower[3], upper[3];               /* extent; set by opening, ignored by create  */
} ps_particle_header;

typedef struct ps_particle_file ps_particle_file;

/* Starts a file of header->count > 0 particles. PS_INVALID for counts out of range; otherwise as
 * ps_store_create. */
ps_status ps_particles_create(const char *path, const ps_store_identity *identity,
                              const ps_particle_header *header, ps_particle_file **out);
/* Chunk c holds particles [c rows, (c + 1) rows) with rows = ps_particles_chunk_rows; the last
 * chunk may be shorter. */
int64_t ps_particles_chunk_rows(const ps_particle_file *file);
int64_t ps_particles_chunk_count(const ps_particle_file *file);
int64_t ps_particles_chunk_size(const ps_particle_file *file, int64_t chunk); /* particles     */
/* Writes one chunk; every chunk once, in any order. Thread-safe for different chunks. */
ps_status ps_particles_write_chunk(ps_particle_file *file, int64_t chunk,
                                   const double *const *columns);
/* Commits and frees, on failure too. PS_INVALID if a written value was not finite. */
ps_status ps_particles_commit(ps_particle_file **file);

/* PS_INVALID as ps_store_open, and for sizes that do not fit or values that are not finite. */
ps_status ps_particles_open(const char *path, ps_particle_file **out);
void ps_particles_close(ps_particle_file **file); /* before commit: discards. NULL is fine */
const ps_particle_header *ps_particles_header(const ps_particle_file *file);
ps_store *ps_particles_store(const ps_particle_file *file); /* borrowed */

/* Reads particles [first, first + count) into column_count columns of `count` each: 3 for the
 * positions alone, 3 + right_hand_sides for all. Threads: OpenMP inside. */
ps_status ps_particles_read(ps_particle_file *file, int64_t first, int64_t count,
                            double *const *columns, int column_count);

#endif
