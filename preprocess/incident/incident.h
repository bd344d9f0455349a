/*
 * incident: what the files of penstock-incident share (specs/incident_file.md).
 */
#ifndef PS_PREPROCESS_INCIDENT_INCIDENT_H
#define PS_PREPROCESS_INCIDENT_INCIDENT_H

#include "formats/incident_file.h"
#include "formats/surface_flow.h"
#include "formats/surface_mesh.h"
#include "formats/surface_velocity.h"
#include "kernels/tdbem/geometry.h"
#include "kernels/tdbem/incident_check.h"
#include "kernels/tdbem/radiated.h"
#include "kernels/tdbem/sound.h"
#include "runtime/program.h"
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

/* ---- what a user's files hold: places, and values over times, as text or in HDF5 ---- */

typedef struct table {
    int64_t rows, width;
    double *values; /* [rows][width], all finite */
} table;
void table_release(table *table);

/* A text file of numbers, a row a line, or the dataset `name` of an HDF5 file. PS_INVALID for rows
 * of different widths and what is not finite. */
ps_status table_read(const char *path, const char *name, table *out);
/* Values over times: of text a line is a time and its values; of HDF5 they are the datasets "time"
 * [rows] and `name` [rows][width]. PS_INVALID for gaps (even_time) and fewer than two rows. */
ps_status table_read_series(const char *path, const char *name, table *out, even_times *times);

/* place[rows] = for each of places[rows][stride] (their first three) the nearest of
 * points[count][3]: all must be met once, within `tolerance` (m). PS_INVALID, naming the file and
 * the first that is not. */
ps_status table_match(const char *path, const table *places, const double *points, int64_t count,
                      double tolerance, int64_t *place);

/* ---- a user's pressures, gradients or normal velocities at points of the mesh and times ---- */

typedef enum sampled_quantity {
    SAMPLED_PRESSURE, /* Pa */
    SAMPLED_SLOPE,    /* d_n p, Pa/m */
    SAMPLED_GRADIENT, /* Pa/m, three a point */
    SAMPLED_VELOCITY  /* v_n of the surface, m/s */
} sampled_quantity;

enum { SAMPLED_AROUND = 3 }; /* steps before 0 and after the last that are held, too */

typedef struct sampled {
    char file[512], points[512];
    sampled_quantity quantity;
    bool resample;
    const ps_surface_mesh *mesh; /* borrowed, as the triangles */
    const ps_triangle *triangles;
    ps_incident_header header;
    bool at_vertices;
    int64_t count;  /* triangles or vertices */
    double *values; /* [steps + 1 + 2 SAMPLED_AROUND][count], of t = -3 dt on: p, d_n p, or v_n, or,
                       of gradients at vertices, three a vertex */
    int64_t width;  /* of a row */
    double cut;     /* share of the energy above what mesh and step take */
} sampled;

/* "FILE:quantity=pressure|slope|gradient|velocity", and ":points=FILE" where FILE is text, and
 * ":resample". PS_USAGE. */
ps_status sampled_parse(const char *text, sampled *out);
void sampled_release(sampled *sampled);
/* Reads the files and takes them to the steps of the header, `top` (rad/s) up to which mesh and
 * step are accurate. Refuses gaps, other places, other rates without :resample, what is not quiet
 * at 0. */
ps_status sampled_read(const ps_run *run, const ps_incident_header *header,
                       const ps_surface_mesh *mesh, const ps_triangle *triangles, double top,
                       sampled *out);
/* Adds the load of step n; nothing of velocities. */
void sampled_add_load(const sampled *sampled, int64_t n, double *row);
/* v_n as a sum of patterns times signals, to 1e-6 of its largest. out is the caller's to release.
 */
ps_status sampled_velocity(const sampled *sampled, double density, ps_surface_velocity *out);

/* ---- surface data of a flow code, heard on the mesh by Ffowcs Williams' and Hawkings' equation ---- */

/* What hears them. */
typedef struct panels_of {
    const ps_run *run;
    const ps_incident_header *header;
    const ps_surface_mesh *mesh;
    const ps_triangle *triangles;
    double top, density; /* rad/s up to which mesh and step are accurate; kg/m^3 */
} panels_of;

/* Bytes that takes, at most, by the sizes of the files. */
int64_t panels_bytes(const panels_of *of, const source_text *text);
/* Reads the files of a text of panels_parse and makes samples at the mesh's vertices of what its
 * panels send: gradients or pressures, by the equation. Threaded. */
ps_status panels_sample(const panels_of *of, const source_text *text, sampled *out);

/* ---- a surface that moves by itself: patterns and signals of --velocity, and its loads ---- */

typedef struct moving {
    ps_surface_velocity velocity; /* modes 0: it rests */
    const ps_surface_mesh *mesh;  /* borrowed */
    const ps_triangle *triangles;
    ps_radiated radiated;
    int64_t lags;
    double *weights; /* [vertices][modes][2][lags] */
} moving;

/* What moves: a mode of each text, and those of `more`. Mesh and triangles must stay. */
typedef struct moving_parts {
    const ps_surface_mesh *mesh;
    const ps_triangle *triangles;
    const source_text *texts;
    int count;
    const ps_surface_velocity *more;
    double density;
} moving_parts;

/* PS_USAGE, with the tags there are, for a tag of no triangles. */
ps_status moving_init(const moving_parts *parts, const ps_incident_header *header, moving *out);
void moving_release(moving *moving);

/* What the weights will take: bytes, and pairs of points. */
int64_t moving_bytes(const moving *moving);
double moving_work(const moving *moving);
ps_status moving_make_weights(moving *moving);
/* Adds the load of step n to row[vertices]; nothing without modes. Threaded. */
void moving_add_load(const moving *moving, int64_t n, double *row);

/* ---- what is refused of sources ---- */

/* What sources are held against. */
typedef struct check_of {
    const ps_surface_mesh *mesh;
    double edge, dt, speed, duration; /* mean edge m, s, m/s, s */
    const ps_reflectors *mirrors;     /* their normals point to the body */
    const double *flow;               /* [3] m/s                         */
} check_of;

/* PS_INVALID, or a warning where --allow names it. The signal is settled. */
ps_status check_source(const ps_run *run, const check_of *c, const source_text *source);
ps_status check_velocity(const ps_run *run, const check_of *c, const source_text *source);
/* The body is before the planes, and does not reach through them. */
ps_status check_mirrors(const check_of *c);

/* ---- sources in a flow that the body turns: loads are those of fluid at rest, in the time of
 * Taylor's transformation ---- */

/* The header's flow from "X,Y,Z" (m/s). PS_USAGE if it is none, PS_INVALID if it is too fast or
 * goes through a plane. */
ps_status around_parse(const char *text, ps_incident_header *header);
/* The header's flow becomes the flow about the mesh, *out, which the caller releases; the header
 * says so. PS_USAGE for what does not go with it, PS_EXHAUSTED beyond the memory of the run. */
ps_status around_settle(const ps_run *run, const ps_surface_mesh *mesh, const source_text *sources,
                        int count, ps_incident_header *header, ps_surface_flow *out);
/* A source is heard in the time of the place where it is. Nothing without a flow. */
ps_status around_delay(const ps_surface_mesh *mesh, const ps_surface_flow *flow, double speed,
                       source_text *source);

#endif
