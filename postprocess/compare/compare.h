/*
 * compare: what the files of penstock-compare share: measures of difference, and the two
 * ways to take them: dataset by dataset, or as signals in space and time.
 */
#ifndef PS_POSTPROCESS_COMPARE_H
#define PS_POSTPROCESS_COMPARE_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/store.h"
#include "runtime/options.h"
#include "runtime/report.h"

typedef enum measure { MEASURE_L2, MEASURE_MAX, MEASURE_DEVIATION } measure;

typedef struct compare_settings {
    double tolerance;      /* 0: bit for bit                                         */
    int measure;           /* of the above                                           */
    bool absolute;         /* not relative to the reference                          */
    ps_text_list datasets; /* only these; none: all                                  */
    ps_text_list excluded; /* not these; shell patterns                              */
    const char *weights;   /* a surface mesh for area weights, or NULL               */
    double from, to;       /* window of the axis, space-time                         */
    bool resample;         /* linear interpolation of the reference                  */
    bool per_channel;      /* print the error of every channel                       */
    bool attributes;       /* compare the root attributes that describe the data     */
    const int64_t *places; /* set by compare_datasets: [places_count] the reference's row of each
                              row, or NULL */
    int64_t places_count;
} compare_settings;

/* Sums over pairs (a, b), b the reference; weighted where weights are given. */
typedef struct difference {
    int64_t values, differing; /* compared; not equal bit for bit (or, across types, in value) */
    int64_t first;             /* linear index of the first that differs; -1: none       */
    int64_t non_finite;        /* pairs in which just one side is finite, or the kinds differ */
    double difference_squares, reference_squares; /* weighted sums                         */
    double weight;            /* sum of weights                                         */
    double largest;           /* max |a - b|                                            */
    double largest_reference; /* max |b|                                                */
    double deviations;        /* sum of ||a| - |b||/|b| over magnitudes of signals      */
    int64_t magnitudes;       /* how many                                               */
} difference;

void difference_clear(difference *d);
/* Takes in one pair whose bits may differ. */
void difference_add(difference *d, double a, double b, double weight);
/* Takes in one pair of magnitudes, for the mean deviation. */
void difference_add_magnitudes(difference *d, double a, double b);
/* sqrt(sum w |a-b|^2 / sum w |b|^2); 0/0 = 0. */
double difference_relative_l2(const difference *d);
/* True if the difference passes: bit for bit at tolerance 0, within tolerance otherwise. */
bool difference_passes(const difference *d, const compare_settings *settings);
void difference_report(ps_report *report, const difference *d);

/* What did not agree. */
typedef struct compare_result {
    int failures;
    char first[256]; /* describes the first */
} compare_result;
void compare_note(compare_result *result, const char *text);

/* Compares all datasets of two stores; notes what differs beyond the tolerance. Streams:
 * memory of two chunks. */
ps_status compare_datasets(ps_store *a, ps_store *b, const compare_settings *settings,
                           ps_report *report, compare_result *result);

/* Compares two slice matrices entry by entry if they are cut into different tiles or have different
 * numbers of parts; *done is false, and nothing compared, if they are alike. Memory of two tiles
 * and of M^0 twice. */
ps_status compare_slices(const char *path, const char *reference, const compare_settings *settings,
                         ps_report *report, compare_result *result, bool *done);

/* Compares two signals (traces or histories) in space and time. */
ps_status compare_signals(const char *path, const char *reference, const compare_settings *settings,
                          ps_report *report, compare_result *result);

#endif
