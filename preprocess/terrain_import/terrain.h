/* What the files of penstock-terrain-import share. */
#ifndef PS_PREPROCESS_TERRAIN_IMPORT_TERRAIN_H
#define PS_PREPROCESS_TERRAIN_IMPORT_TERRAIN_H

#include <stdbool.h>

#include "runtime/program.h"
#include "stage/product.h"

enum { REFERENCE_MAX = 4000, LAYERS_MAX = 32, PRISM_WIDTH = 7 };

typedef enum coordinates {
    COORDINATES_UNKNOWN,
    COORDINATES_PROJECTED, /* m          */
    COORDINATES_GEOGRAPHIC /* degrees, geodetic */
} coordinates;

/* What heights count: upwards, or downwards as depths. */
typedef enum positive { POSITIVE_AUTO, POSITIVE_UP, POSITIVE_DOWN } positive;

/* Heights at points of an even grid, each of which stands for the cell around it. */
typedef struct elevation {
    const char *path;
    int64_t count[2];         /* along x, y                                                    */
    double first[2], step[2]; /* of the south-western point; above 0                           */
    double *height;           /* [count[1]][count[0]], m up, from south and west; NaN: a gap   */
    int64_t gaps;
    coordinates coordinates;
    double height_unit;            /* m; 0: the file does not say            */
    double scale, offset;          /* of numbers as they are stored, to heights in that unit */
    positive positive;             /* as the file says                       */
    bool depths_named;             /* its names speak of depths, without saying which way    */
    char reference[REFERENCE_MAX]; /* the reference system, as the file names it; "": none */
} elevation;

typedef struct reading {
    const ps_run *run;
    const char *variable; /* of NetCDF; NULL: the only one */
    coordinates coordinates;
    double height_unit; /* m; 0: what the file says     */
    positive positive;
    bool has_no_data; /* of numbers as they are stored */
    double no_data;
} reading;

/* By suffix and signature. Everything is filled, rows turned to begin in the south. PS_INVALID,
 * naming file and reason; to be released in any case. */
ps_status elevation_read(const char *path, const reading *how, elevation *out);
void elevation_release(elevation *e);
/* The same cells, or PS_INVALID. */
ps_status elevation_same_grid(const elevation *a, const elevation *b);

/* ---- readers: grid, places, heights as they are stored in `height`, gaps NaN ---- */

/* The room of heights, checked against --host-memory. */
ps_status elevation_allocate(const ps_run *run, elevation *e);
/* An even axis from its first coordinate, and the step to the next: negative where it descends. */
ps_status elevation_axis(elevation *e, int axis, double first, double step);
ps_status read_netcdf(const char *path, const reading *how, elevation *out);
ps_status read_geotiff(const char *path, const reading *how, elevation *out);
ps_status read_ascii(const char *path, const reading *how, elevation *out);

/* ---- heights.c ---- */

/* A unit by its name: m; 0: not known. */
double length_of_unit(const char *name);
/* That of heights, as the file names it; "" and "1" name none. PS_INVALID, unless the user says it:
 * not known, or another than was named before. */
ps_status elevation_height_unit(const reading *how, const char *unit, elevation *e);
/* A number, as it is stored, that stands for gaps: they become NaN. */
void elevation_drop(elevation *e, double flag);
/* From numbers as they are stored to heights in m. PS_INVALID: flags, heights of no Earth, depths
 * or heights. */
ps_status settle_heights(const reading *how, elevation *e);

/* ---- layers.c ---- */

typedef enum gap_rule { GAPS_REFUSE, GAPS_OMIT, GAPS_LEVEL } gap_rule;

/* A boundary: a grid, or a level. */
typedef struct surface {
    elevation grid; /* height NULL: the level */
    double level;
    double density; /* of what lies above it, up to the boundary before, kg/m3 */
} surface;

typedef struct terrain {
    const ps_run *run;
    elevation top;
    gap_rule gaps;
    double density, water, level; /* without layers; water NaN: none was named */
    int layers;
    surface layer[LAYERS_MAX];
    /* Of cells, in the frame of the prisms, m. */
    double origin[2], width[2]; /* south-western corner and widths       */
    double place[2];            /* geographic: the origin's longitude and latitude, degrees */
    /* What is made. */
    int64_t prisms, omitted, wet;
    double *prism; /* [prisms][7] */
    int64_t *cell; /* [prisms]    */
    double mass;   /* kg          */
    int64_t stations;
    double *station; /* [stations][3] */
    double above;    /* m            */
    /* Geographic. */
    double accuracy, error; /* mGal */
    int64_t samples;
} terrain;

/* Frame and checks: gaps, surfaces that cross; how many prisms there will be. */
ps_status terrain_check(terrain *t);
ps_status terrain_make(terrain *t);
/* The middle of a cell, in the frame. */
void terrain_centre(const terrain *t, int64_t cell, double out[2]);
/* The ground, or the water's surface, of a cell; NaN where there is none. */
double terrain_ground(const terrain *t, int64_t cell);

/* ---- stations.c ---- */

/* Every `every`-th cell's centre along both axes, or the rows x y of a file. */
ps_status stations_make(terrain *t, const char *where, int64_t every, const char *places);

/* ---- curvature.c ---- */

/* What flat prisms of one frame are off by, against ones that stand on the ellipsoid: the largest
 * difference of the attraction along the vertical at samples. PS_INACCURATE above the accuracy. */
ps_status curvature_check(terrain *t);
/* Radii of curvature along east and north at a latitude (degrees), m. */
void ellipsoid_radii(double latitude, double out[2]);

#endif
