/*
 * receivers: the places at which fields are taken, from the words of a command line.
 *
 *   "x,y,z"              a point, m
 *   a file of points     three numbers a line, separated by blanks or commas; # comments
 *   "o;u;v;n1xn2"        a plane: o + (i/(n1-1)) u + (j/(n2-1)) v, i < n1, j < n2, i slowest;
 *                        o, u, v are "x,y,z"
 *   "theta,phi"          a direction, degrees: (sin th cos ph, sin th sin ph, cos th)
 *   n on a great circle  directions of angle 2 pi i/n in the plane with a given normal,
 *                        counterclockwise from the axis (x, y or z) nearest to that plane,
 *                        z first, then x
 *   "n1xn2"              directions of a grid: polar angle (i + 1/2) pi/n1 from z, i slowest,
 *                        azimuth 2 pi j/n2 from x
 * Directions can be moved out to points at a distance. Coordinates are at most 1e100 m. Points and
 * directions do not mix. Functions are not thread-safe on one object.
 */
#ifndef PS_FORMATS_RECEIVERS_H
#define PS_FORMATS_RECEIVERS_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/trace.h"
#include "runtime/options.h"

typedef struct ps_receivers {
    int64_t count, capacity; /* capacity in doubles of places */
    double *places;          /* [count][3] m, or unit vectors */
    bool far_field;          /* places are directions         */
    int64_t grid[2];         /* of a single plane, else 0, 0  */
} ps_receivers;

/* All functions: PS_USAGE with a message that repeats the text and says what was expected;
 * PS_INVALID for a broken file (with its line); PS_EXHAUSTED without memory. A zeroed struct is
 * empty. */
ps_status ps_receivers_add(ps_receivers *receivers, bool far_field, const double place[3]);
ps_status ps_receivers_add_point(ps_receivers *receivers, const char *text);
ps_status ps_receivers_add_file(ps_receivers *receivers, const char *path);
ps_status ps_receivers_add_plane(ps_receivers *receivers, const char *text);
ps_status ps_receivers_add_direction(ps_receivers *receivers, const char *text);
ps_status ps_receivers_add_circle(ps_receivers *receivers, int64_t count, const char *normal);
ps_status ps_receivers_add_sphere(ps_receivers *receivers, const char *text);
/* Directions e become the points centre + distance e; PS_USAGE if there are points. */
ps_status ps_receivers_move_out(ps_receivers *receivers, double distance, const double centre[3]);
void ps_receivers_release(ps_receivers *receivers);

/* What a command line says of receivers, and the rows of its table of options. */
typedef struct ps_receiver_words {
    ps_text_list at, direction;
    const char *points, *plane, *normal;
    int64_t directions;
} ps_receiver_words;
#define PS_RECEIVER_WORDS                                                                          \
    {                                                                                              \
        .normal = "0,1,0"                                                                          \
    }
#define PS_RECEIVER_POINT_OPTIONS(words)                                                           \
    PS_LIST("at", &(words).at, "X,Y,Z", PS_IDENTITY, "a point, m (may be repeated)"),              \
        PS_TEXT("points", &(words).points, "FILE", 0, "points from a file, three numbers a line"), \
        PS_TEXT("plane", &(words).plane, "O;U;V;N1xN2", PS_IDENTITY,                               \
                "N1 x N2 points of the plane O + s U + t V, 0 <= s, t <= 1; O, U, V are X,Y,Z")
#define PS_RECEIVER_DIRECTION_OPTIONS(words)                                                       \
    PS_LIST("direction", &(words).direction, "THETA,PHI", PS_IDENTITY,                             \
            "far field in this direction, degrees (may be repeated)"),                             \
        PS_INT("directions", &(words).directions, "N", 0, 10000000, PS_IDENTITY,                   \
               "far field in N directions on a great circle"),                                     \
        PS_TEXT("plane-normal", &(words).normal, "X,Y,Z", PS_IDENTITY,                             \
                "normal of the great circle")
/* All of them, points first. */
ps_status ps_receivers_add_words(ps_receivers *receivers, const ps_receiver_words *words);

/* A hash of the places, which may be from a file: part of the identity of what is computed there.
 */
uint64_t ps_receivers_hash(const ps_receivers *receivers);

/* "x,y,z": three finite numbers. */
ps_status ps_parse_vector(const char *text, double out[3]);

/* Copies places, kind and grid to a trace with as many channels. */
void ps_receivers_put(const ps_receivers *receivers, ps_trace *trace);

#endif
