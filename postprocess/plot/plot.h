/*
 * plot: what the kinds of picture share. A kind is one file with one function that reads its
 * files and writes a gnuplot script, data inline, to a canvas.
 */
#ifndef PS_PLOT_PLOT_H
#define PS_PLOT_PLOT_H

#include <stdbool.h>
#include <stdint.h>

#include "postprocess/plot/canvas.h"
#include "runtime/status.h"

/* The options, as given. Lists are text: "0,3,5". */
typedef struct plot_request {
    const char *const *files;
    int file_count;
    const char *title, *labels, *channels, *times, *frequencies, *range;
    const char *field;   /* surface: which field of cells                                     */
    const char *x_range; /* "A,B"                                                            */
    int64_t slice, first_row, row_count; /* of slices, blocks, matrices; slice -1: the middle */
    bool log;        /* logarithmic values                                                   */
    bool difference; /* trace: a second panel with the differences to the first file         */
    double azimuth, elevation; /* surface: where the eye is, degrees                          */
    double dynamic; /* polar, spectrum: decibels shown below the largest                    */
} plot_request;

typedef ps_status (*plot_function)(const plot_request *request, canvas *c);

ps_status plot_slice(const plot_request *request, canvas *c);
ps_status plot_blocks(const plot_request *request, canvas *c);
ps_status plot_hmatrix(const plot_request *request, canvas *c);
ps_status plot_classes(const plot_request *request, canvas *c);
ps_status plot_lengths(const plot_request *request, canvas *c);
ps_status plot_trace(const plot_request *request, canvas *c);
ps_status plot_spectrum(const plot_request *request, canvas *c);
ps_status plot_polar(const plot_request *request, canvas *c);
ps_status plot_workers(const plot_request *request, canvas *c);
ps_status plot_surface(const plot_request *request, canvas *c);
ps_status plot_plane(const plot_request *request, canvas *c);
ps_status plot_stages(const plot_request *request, canvas *c);
ps_status plot_gantt(const plot_request *request, canvas *c);
ps_status plot_rates(const plot_request *request, canvas *c);
ps_status plot_intensity(const plot_request *request, canvas *c);
ps_status plot_convergence(const plot_request *request, canvas *c);
ps_status plot_isolines(const plot_request *request, canvas *c);
ps_status plot_sparsity(const plot_request *request, canvas *c);
ps_status plot_gravity_map(const plot_request *request, canvas *c);
ps_status plot_gravity_profile(const plot_request *request, canvas *c);
ps_status plot_prism_model(const plot_request *request, canvas *c);
ps_status plot_residuals(const plot_request *request, canvas *c);
/* A page, not a drawing: no canvas. */
ps_status plot_view(const plot_request *request, const char *output);

/* The label of a file: entry `index` of --labels, or its name without folder and suffix. */
void plot_label(const plot_request *request, int index, char *out, size_t size);

/* The ends of --x-range; both 0 without it. PS_USAGE for what is no range. */
ps_status plot_x_range(const plot_request *request, double *low, double *high);

/* PS_USAGE unless there are between `least` and `most` files. */
ps_status plot_need_files(const plot_request *request, int least, int most, const char *what);

/* ---- which values get which colours, for fields ---- */

typedef struct colour_range {
    double ends[2];  /* the values that have the first and the last colour                     */
    double reach[2]; /* the least and the largest value; beyond the ends all have an end's colour */
} colour_range;

/* The colours: --range if given ("LARGEST": symmetric; "FROM,TO"), else
 * symmetric about zero at the 99.5th percentile of |values|, so that a few points do not decide
 * it, and from zero on where no value is negative. NaN are left out. */
ps_status colour_range_choose(const plot_request *request, const double *values, int64_t count,
                              colour_range *out);

/* set cbrange, palette, tics and the label of the colour box: quantity and units, with the prefix
 * that suits the range; returns the factor that values are to be multiplied by. Where values lie
 * beyond an end its tic is a sign of that, and the label tells how far they reach. */
double colour_range_put(const colour_range *range, const char *quantity, const char *units,
                        canvas *c);

/* ---- the numbers of a JSON text, each with the path of names that leads to it: enough for the reports
 * of our own programs ---- */

typedef struct json_number {
    char path[160]; /* names joined by '/': "seconds/summation"; items of arrays by index     */
    double value;
} json_number;

/* All numbers of `text` in order, in *out (the caller frees it). PS_INVALID, with the position, if
 * it is no JSON. true, false and null are left out. */
ps_status json_numbers(const char *text, json_number **out, int *count);

/* The numbers of a file, as json_numbers; failures name it. */
ps_status json_numbers_of(const char *path, json_number **out, int *count);
double json_value(const json_number *numbers, int count, const char *path); /* 0: not there */
int json_small(const json_number *numbers, int count, const char *path);    /* within 0 .. 9999 */

/* ---- one slice as a raster of row x k, for plot_slice and plot_blocks ---- */

/* |M^k(i,j)| of one slice j: rows first .. first + count - 1 and k = 1 .. columns, gathered into
 * `bins` x columns pixels, the largest of a pixel; 0 where nothing is stored. */
typedef struct structure {
    int64_t first, count, columns, bins;
    float *pixels;           /* [bins][columns] */
    float largest, smallest; /* of the values that are not 0 */
} structure;

/* Allocates for rows [first, first + count) of `unknowns` (count 0: all) in at most `bins_max`
 * rows of pixels. PS_USAGE if the rows do not exist. */
ps_status structure_init(structure *s, int64_t unknowns, int64_t first, int64_t count,
                         int64_t columns, int64_t bins_max);
void structure_release(structure *s);

/* Adds value |v| of row i and k (both global; ignored outside). */
void structure_add(structure *s, int64_t row, int64_t k, double v);

/* The slice to show: `wanted`, or the middle one for -1. PS_USAGE outside 0 .. unknowns-1. */
ps_status structure_slice(int64_t unknowns, int64_t wanted, int64_t *out);

/* Data block $S: log10 of the pixels relative to the largest, NaN where nothing is; axes, range,
 * palette. */
void structure_put(const structure *s, canvas *c);
/* The plot element that draws it: "$S matrix using ... with image". */
void structure_put_plot(const structure *s, canvas *c);

#endif
