/*
 * canvas: a gnuplot script being written, and the picture made from it.
 *
 * The script is kept in an unnamed temporary file and fed to gnuplot at the end; the picture
 * appears under its name only when gnuplot has finished without error.
 */
#ifndef PS_PLOT_CANVAS_H
#define PS_PLOT_CANVAS_H

#include <stdint.h>
#include <stdio.h>

#include "runtime/output_file.h"
#include "runtime/status.h"

typedef struct canvas {
    FILE *script;
    const char *output;    /* ends in .png, .svg or .pdf                                        */
    ps_output *picture;    /* what gnuplot writes to                                          */
    int64_t width, height; /* pixels                                                          */
} canvas;

/* Checks the suffix of `output`, starts the script with terminal, font and style. height 0: the
 * kind of picture decides and calls canvas_resize. */
ps_status canvas_open(canvas *c, const char *output, int64_t width, int64_t height);
/* Sets the size, before anything is drawn. */
void canvas_resize(canvas *c, int64_t width, int64_t height);

/* Adds lines to the script, printf-style. */
void canvas_put(canvas *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* 'text' in gnuplot's quotes, whatever it contains. */
void canvas_put_quoted(canvas *c, const char *text);
/* What stands before it, the text in quotes, and what stands behind it. */
void canvas_put_text(canvas *c, const char *before, const char *text, const char *behind);
/* The data block $NAME of pixel[height][width], for "matrix with image"; NaN: nothing there. */
void canvas_put_pixels(canvas *c, const char *name, const float *pixel, int64_t height,
                       int64_t width);
/* set title 'text', plain (no markup). NULL or "": none. */
void canvas_title(canvas *c, const char *text);

/* Perceptually uniform colours for values of one sign; "set palette ..." */
void canvas_palette_sequential(canvas *c);
/* Blue - white - red for values of both signs. */
void canvas_palette_diverging(canvas *c);

/* A line colour that the colour-blind can tell apart from the others; "#rrggbb". index >= 0,
 * repeats after 8. */
const char *canvas_colour(int index);

/* The palettes again, for colours computed here: t in [0, 1] -> rgb[3] in [0, 1]. */
void canvas_sequential(double t, double *rgb);
void canvas_diverging(double t, double *rgb);

/* Runs gnuplot and commits the picture; keep_script (may be NULL) names a file that gets a copy
 * of the script. PS_FAILED: gnuplot is missing (and how to install it) or reports an error,
 * which the message repeats. Closes the canvas in any case. */
ps_status canvas_finish(canvas *c, const char *keep_script);
void canvas_discard(canvas *c);

/* The SI prefix that brings `largest` to 1 .. 1000: "m" and a factor of 1e3 for 0.02. The factor
 * multiplies values. "" and 1 where none is needed. */
double canvas_prefix(double largest, const char **prefix);

/* The largest of 1, 2, 5 times a power of ten that does not exceed x > 0. */
double canvas_round_step(double x);

#endif
