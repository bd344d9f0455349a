/*
 * transmission: transmission conditions of optimised Schwarz methods with the curves and the map
 * that belong to their search, "penstock-transmission" (specs/transmission.md).
 */
#ifndef PS_FORMATS_TRANSMISSION_H
#define PS_FORMATS_TRANSMISSION_H

#include <stdbool.h>

#include "formats/store.h"

#define PS_TRANSMISSION_FORMAT "penstock-transmission"
enum { PS_TRANSMISSION_VERSION = 2 }; /* 1: one map, of oo2 */
enum { PS_CONDITIONS_MAX = 8, PS_CONDITION_NAME_MAX = 24 };

/* What the maps are over, in the order of the paper's figure 7. */
typedef enum ps_map_kind {
    PS_MAP_OO0,           /* p, wave number k: the factor there                              */
    PS_MAP_OO0_TWO_SIDED, /* p1, p2: the largest over k, as below                            */
    PS_MAP_OO2,           /* p, q                                                            */
    PS_MAP_OO2_TWO_SIDED, /* p1, q1; p2 and q2 are those of the condition                    */
    PS_MAPS
} ps_map_kind;

typedef struct ps_transmission_map {
    double *x, *y, *rate; /* [n], [n], [n][n], row x; NULL: not there                        */
} ps_transmission_map;

typedef struct ps_map_axes {
    const char *kind, *x, *y; /* "oo0-two-sided", "p1", "p2"                                 */
    bool y_is_length;         /* in the unit of length, else in its inverse                  */
} ps_map_axes;
extern const ps_map_axes ps_map_table[PS_MAPS];

typedef struct ps_transmission_file {
    int conditions;
    char kinds[PS_CONDITIONS_MAX][PS_CONDITION_NAME_MAX]; /* "oo0", "oo2-two-sided", ...      */
    double coefficients[PS_CONDITIONS_MAX][4];            /* p1, q1, p2, q2                   */
    double factor[PS_CONDITIONS_MAX];
    int64_t evaluations[PS_CONDITIONS_MAX];
    bool discrete;
    double k_min, k_max, overlap, hx;
    int64_t seed;
    char length_unit[16];
    int64_t samples;
    double *k, *rate; /* [samples], [conditions][samples]                                      */
    int64_t map;      /* n; 0: no maps                                                         */
    ps_transmission_map maps[PS_MAPS];
} ps_transmission_file;

/* Allocates the arrays for the sizes given, zeroed; no maps. */
ps_status ps_transmission_file_init(ps_transmission_file *file, int conditions, int64_t samples);
/* Allocates a map of file->map x file->map values, zeroed. */
ps_status ps_transmission_add_map(ps_transmission_file *file, ps_map_kind which);
void ps_transmission_file_release(ps_transmission_file *file);

/* Writes and commits. */
ps_status ps_transmission_save(const char *path, const ps_transmission_file *file,
                               const ps_store_identity *identity);
/* PS_INVALID, naming file and reason, for what is no sound file; nothing to release then. */
ps_status ps_transmission_load(const char *path, ps_transmission_file *out);

/* The number of a kind among the conditions, -1: not there. */
int ps_transmission_find(const ps_transmission_file *file, const char *kind);

#endif
