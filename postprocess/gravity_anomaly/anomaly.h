/*
 * gravity-anomaly: what its files share.
 */
#ifndef PS_GRAVITY_ANOMALY_ANOMALY_H
#define PS_GRAVITY_ANOMALY_ANOMALY_H

#include "formats/box_field.h"
#include "formats/gravity_map.h"
#include "runtime/program.h"

typedef struct anomaly {
    const ps_run *run;
    ps_box_field potential, model; /* model.store NULL: only the elements' values are wanted */
    double gravity;                /* G of the potential, m3 kg-1 s-2 */
    ps_gravity_map map;
    int64_t memory;  /* bytes, at the least */
    int64_t outside; /* stations that are not in the box  */
    int64_t buried;  /* stations within cells of density  */
    double slab;     /* the largest 2 pi G density thickness of such a cell, mGal */
} anomaly;

/* ---- stations.c ---- */

typedef struct station_list {
    int64_t count, capacity;
    double *rows; /* [count][4]: x y z observed (NaN: none) */
    bool observed;
    bool given; /* by a file, in units that nobody has checked; else on a line of m */
} station_list;

/* Lines of x y elevation [observed [error]]; numbers that are not finite are refused. */
ps_status stations_read(const char *path, bool elevations, station_list *out);
/* "X0,Y0,X1,Y1,Z,N" */
ps_status stations_on_line(const char *text, station_list *out);
/* Refuses stations whose coordinates look like degrees or km ("station-units") and, without a model
 * always, with it by the name "stations-outside", those that are not in the box. */
ps_status stations_check(anomaly *a, const station_list *list);
/* Whether a place lies in the box, its faces included. */
bool in_box(const ps_box_field_header *box, const double place[3]);

/* ---- bind.c ---- */

/* Opens the model that the potential belongs to: `path`, or NULL: the file of the name that its
 * load recorded, beside the potential; without one it refuses by the name "elements-only", and if
 * that is allowed leaves model.store NULL. PS_INVALID for another model, by its contents, and for
 * potentials that are not of gravity; PS_USAGE for a G other than theirs (`gravity`; 0: not given).
 */
ps_status bind_model(anomaly *a, const char *path, double gravity);

/* ---- exact.c ---- */

/* Sums over the cells of the model: map.map by convolutions within --host-memory, map.exact cell by
 * cell; counts what is buried. */
ps_status exact_map(anomaly *a);
ps_status exact_stations(anomaly *a);
int64_t exact_memory(const anomaly *a); /* bytes, at the least */

/* ---- elements.c ---- */

/* map.map_elements and map.elements, from the potential; with the model's densities beside. */
ps_status elements_values(anomaly *a);

/* ---- report.c ---- */

/* Says how far the elements are off, and what else a user should know. */
void warn_of_doubts(const anomaly *a);
void report_figures(const anomaly *a);
ps_status write_table(const char *path, const ps_gravity_map *map);

/* ---- gradient.c: dV/dz at the nodes of two neighbouring planes of a potential, with the densities
 * beside them where the model is known (kernels/schwarz/load.h) ---- */

typedef struct gradient {
    ps_box_field *potential;
    ps_box_field *model; /* NULL: unknown */
    int64_t refine[3];   /* cells of the model an element of the potential */
    double gravity;
    int64_t first;  /* the lower of the two planes */
    double *u;      /* [2][ny][nz] */
    double *source; /* [3][ny][nz-1], 4 pi G times the density about the line, of one plane
                       more, where that is not complete; NULL */
    double *cells;  /* a plane of the model */
} gradient;

/* Both borrowed; model may be NULL. Reads planes 0 and 1. PS_INVALID where the cells of the model
 * do not divide the elements of the potential. */
ps_status gradient_open(ps_box_field *potential, ps_box_field *model, double gravity,
                        gradient *out);
/* Goes on to planes first + 1 and first + 2. */
ps_status gradient_next(gradient *g);
/* m/s2, at node (first + plane, j, k). */
double gradient_node(const gradient *g, int plane, int64_t j, int64_t k);
void gradient_close(gradient *g);

#endif
