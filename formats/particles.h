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
    PS_PARTICLES_VERSION = 2, /* 1: charges alone */
    PS_RIGHT_HAND_SIDES_MAX = 8,
    PS_PARTICLE_COLUMNS_MAX = 3 + PS_RIGHT_HAND_SIDES_MAX
};

/* What the columns of charges are, of each side one after the other (specs/particles.md). */
typedef enum ps_moments {
    PS_MOMENTS_CHARGES,             /* q: a column a side                                      */
    PS_MOMENTS_DIPOLES,             /* px, py, pz                                              */
    PS_MOMENTS_CHARGES_AND_DIPOLES, /* q of all sides, then px, py, pz of each                 */
    PS_MOMENTS_FORCES,              /* fx, fy, fz                                              */
    PS_MOMENTS_COMPLEX,             /* real, imaginary part                                    */
    PS_MOMENTS_COUNT
} ps_moments;
extern const char *const ps_moments_names[PS_MOMENTS_COUNT];
int ps_moments_columns(ps_moments moments); /* of a side: 1, 3, 4, 3, 2 */
/* Version of a file of particles, or of an octree, with such columns. */
int ps_moments_version(ps_moments moments);
/* The attribute `moments`: not there for charges. PS_INVALID for unknown ones, or if `columns` are
 * not those of whole sides. */
ps_status ps_moments_put(ps_store *store, ps_moments moments);
ps_status ps_moments_get(const ps_store *store, int columns, ps_moments *moments);

typedef struct ps_particle_header {
    int64_t count;
    int right_hand_sides;                    /* 1 .. 8: columns of charges or moments      */
    ps_moments moments;                      /* what they are                              */
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
