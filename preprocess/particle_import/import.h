/*
 * import: what the files of penstock-particle-import share.
 *
 * A reader takes particles from a source one by one and gives them to the sink, which checks them,
 * collects chunks and writes them; nothing is held whole in memory.
 */
#ifndef PS_PREPROCESS_PARTICLE_IMPORT_IMPORT_H
#define PS_PREPROCESS_PARTICLE_IMPORT_IMPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/particles.h"
#include "kernels/fmm/distribution.h"
#include "stage/plan.h"

typedef enum import_format {
    IMPORT_AUTO,
    IMPORT_TEXT,
    IMPORT_HDF5,
    IMPORT_TIPSY,
    IMPORT_PQR,
    IMPORT_FMA
} import_format;

typedef struct import_options {
    const char *input, *output; /* output NULL: check only                                 */
    import_format format;
    const char *columns; /* --columns; NULL: by the header or in order               */
    const char *positions, *charge_names; /* HDF5 datasets; NULL: the usual names           */
    int pqr_columns;      /* 0 auto, 1 free, 2 fixed                                  */
    int components;       /* tipsy: 0 all, 1 gas, 2 dark, 3 star                      */
    int charges;          /* 0: from the file; else 1 + ps_charges                    */
    int right_hand_sides; /* made columns                                             */
    ps_moments moments;   /* what the columns are                                     */
    uint64_t seed;
    bool keep_coincident;
    const char *length_units, *charge_units;
    const ps_run *run;
} import_options;

/* ---- coincident.c: places that occur more than once ---- */

typedef struct coincidence {
    int file; /* an unlinked file of one hash a particle; -1: not counted */
    int64_t particles;
} coincidence;

ps_status coincidence_start(coincidence *c, const char *beside);
/* The places of `count` more particles. */
ps_status coincidence_add(coincidence *c, const double *const *columns, int64_t count);
/* *found: particles at a place that another had before; *first, *second: two of them, from 0. */
int64_t coincidence_bytes(int64_t particles, int64_t memory); /* what that takes */
ps_status coincidence_count(coincidence *c, int64_t memory, int64_t *found, int64_t *first,
                            int64_t *second);
void coincidence_release(coincidence *c);

/* ---- sink.c ---- */

enum { SINK_ROWS = 1 << 17 }; /* particles of a block */

typedef struct sink {
    const import_options *options;
    const ps_store_identity *identity;
    ps_particle_header header; /* count: so far */
    int file_charges;          /* charges a row that readers give */
    int columns;               /* 3 + right_hand_sides */
    int64_t filled;            /* of the block */
    double *block[PS_PARTICLE_COLUMNS_MAX];
    int spool; /* blocks so far, column after column */
    coincidence places;
} sink;

/* Readers give 3 + file_charges values a row; PS_INVALID if there are no charges at all, or too
 * many. */
ps_status sink_start(sink *s, const import_options *options, const ps_store_identity *identity,
                     int file_charges);
/* PS_INVALID for a value that is not finite; the caller adds the place. */
ps_status sink_add(sink *s, const double *row);
/* Writes what came, or only checks it where there is no output. */
ps_status sink_finish(sink *s, int64_t *coincident);
void sink_release(sink *s);
/* What writing so many particles takes. */
ps_need write_need(const ps_run *run, int64_t count, int columns);
/* Generated particles go to the file without a detour. */
ps_status write_generated(const import_options *options, const ps_store_identity *identity,
                          ps_distribution distribution, int64_t count);

/* ---- source.c: bytes and lines of a file, compressed or not ---- */

typedef struct source {
    const char *name;
    struct gzFile_s *stream; /* gzFile */
    char *buffer;
    int64_t begin, end; /* what is left in the buffer */
    int64_t line;       /* number of the last one, from 1 */
    bool done;
} source;

enum { SOURCE_LINE_MAX = 1 << 16 };

ps_status source_open(source *s, const char *name);
void source_close(source *s);
/* The next line, terminated, without its end; *line is NULL at the end of the file. */
ps_status source_line(source *s, char **line);
/* Exactly this many bytes, or *got less at the end of the file. */
ps_status source_bytes(source *s, void *out, int64_t bytes, int64_t *got);
/* Looks at the next bytes without taking them; fewer at the end of the file. */
ps_status source_peek(source *s, const char **bytes, int64_t wanted, int64_t *got);
/* PS_INVALID: "NAME: line 12: " and the text. */
ps_status source_fail(const source *s, const char *what);
/* Puts the line before the message of a failure. */
ps_status source_context(const source *s, ps_status status);

/* The number at *at, and behind it; false if there is none. */
bool parse_number(const char **at, double *out);
/* The numbers of a line, separated by blanks, tabs, commas, semicolons: PS_INVALID, without place,
 * for anything else. */
ps_status parse_numbers(const char *line, double *out, int capacity, int *count);

/* ---- readers ---- */

typedef ps_status (*import_reader)(const import_options *options, const ps_store_identity *identity,
                                   sink *s);
ps_status read_text(const import_options *o, const ps_store_identity *identity, sink *s);
ps_status read_pqr(const import_options *o, const ps_store_identity *identity, sink *s);
ps_status read_fma(const import_options *o, const ps_store_identity *identity, sink *s);
ps_status read_tipsy(const import_options *o, const ps_store_identity *identity, sink *s);
ps_status read_hdf5(const import_options *o, const ps_store_identity *identity, sink *s);

#endif
