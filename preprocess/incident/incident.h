/*
 * incident: what the files of penstock-incident share: sources from text, recorded signals.
 */
#ifndef PS_PREPROCESS_INCIDENT_INCIDENT_H
#define PS_PREPROCESS_INCIDENT_INCIDENT_H

#include "formats/surface_mesh.h"
#include "kernels/tdbem/incident_check.h"
#include "kernels/tdbem/sound.h"
#include "stage/product.h"

enum { SOURCES_MAX = 16 };

/* What a recorded signal lost on its way. */
typedef struct recording {
    double *samples; /* [count][2], owned */
    double rate;     /* Hz, of the file   */
    double cut;      /* share of its energy above what mesh and step take */
} recording;

/* A source as text, e.g. "monopole:at=2,0,0:about=0,0,0:turns=5:frequency=0:ramp=.4". The wave it
 * names, if any, is left to be read. */
typedef struct source_text {
    const char *option, *text; /* "--source", "--velocity" */
    ps_sound sound;
    bool delayed; /* :delay was given */
    double delay;
    char wave[512];
    int column;  /* of a table, or channel, from 1 */
    double rate; /* of a table without times, Hz; 0: it has them */
    recording recording;
    char where[512]; /* of --velocity: "all", or a tag of the mesh; of --panels: their file */
    char fluid[512]; /* of --panels: the velocities' file; its pressures' is wave */
    double ambient;  /* of --panels in CGNS, Pa: taken from all pressures          */
    bool along;      /* of --velocity: a motion in direction sound.place, not along the normal */
} source_text;

/* PS_USAGE, naming source and part. */
ps_status source_parse(const char *text, source_text *out);

/* "all:width=1e-3:amplitude=.01", "skin:along=0,0,1:wave=shaker.wav": m/s. */
ps_status velocity_parse(const char *text, source_text *out);

/* "PANELS:pressure=FILE:fluid=FILE:turns=20:about=0,0,0:axis=0,0,1:velocity=X,Y,Z". */
ps_status panels_parse(const char *text, source_text *out);

/* Samples at equal steps: values[count] of this stride, the first at `start` (s), `rate` Hz. */
typedef struct even_samples {
    const double *values;
    int64_t count, stride;
    double start, rate;
} even_samples;

/* A sinc that cuts at 1.25 top under a Gaussian whose transform falls to 1e-4 within top / 4: flat
 * to 1e-4 below `top` (rad/s), 1e-4 above 1.5 top. */
typedef struct low_pass {
    double cut, sigma, reach;
} low_pass;
low_pass low_pass_of(double top, double rate);
double low_passed(const even_samples *samples, const low_pass *filter, double t);

/* Times of rows 0, 1, ... must go on by equal steps: one that is longer is a gap, which nothing
 * fills. PS_INVALID with file and line. */
typedef struct even_times {
    double start, step;
} even_times;
ps_status even_time(const char *path, int64_t row, int64_t line, double time, even_times *times);

/* Reads source->wave, WAV or table, filters it to what lies below `top` (rad/s) and makes it the
 * signal of the source, from where it begins. PS_INVALID for gaps, NaN and unknown files. */
ps_status recording_read(source_text *source, double top);

#endif
