/*
 * Particles of a box that repeats which are at one place but for whole periods: their distance is
 * what rounding has left of it, and 1/r of that is no number to go on with.
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "compute/fmm/adaptive_parts.h"
#include "runtime/memory.h"
#include "runtime/scope.h"
#include "runtime/search.h"

/* A particle of which some coordinate leaves [0, 1) of the unit box, or is at its border. */
typedef struct moved {
    uint64_t key;
    int64_t at; /* twice its row, and the set */
} moved;

typedef struct places {
    const fmm_problem *p;
    double *const *made; /* [sets][3][count] as they were read */
    double largest;      /* coordinate */
    double near, cell;   /* in box widths: rounding, and what is looked up together */
    moved *list;
    int64_t count;
} places;

static double coordinate(const places *s, int64_t at, int axis)
{
    return s->made[at % 2][axis * s->p->header->count[at % 2] + at / 2];
}

/* x[3] in the unit box, -near to 1 - near along axes that repeat; whether it was moved there. */
static bool locate(const places *s, int64_t at, double x[3])
{
    const fmm_lattice *box = &s->p->lattice;
    bool out = false;
    for (int d = 0; d < 3; ++d) {
        double own = (coordinate(s, at, d) - box->origin[d]) / box->period;
        x[d] = own;
        if (!box->along[d]) continue;
        x[d] -= floor(own);
        if (x[d] > 1 - s->near) x[d] -= 1;
        out = out || own < s->near || own > 1 - s->near;
    }
    return out;
}

static uint64_t key_of(const int64_t cell[3])
{
    uint64_t key = 0;
    for (int d = 0; d < 3; ++d) {
        key = (key ^ (uint64_t)cell[d]) * 0x9e3779b97f4a7c15u;
        key ^= key >> 29;
    }
    return key;
}

static int by_key(const void *a, const void *b)
{
    const moved *x = a, *y = b;
    return (x->key > y->key) - (x->key < y->key);
}

/* What was given twice at one place is kept or not by other rules, and targets may lie at sources.
 */
static bool is_double(const places *s, int64_t one, int64_t other)
{
    double a[3], b[3];
    bool same = true, given = true;
    if (one == other || (one % 2 && other % 2)) return false;
    locate(s, one, a);
    locate(s, other, b);
    for (int d = 0; d < 3; ++d) {
        if (fabs(a[d] - b[d]) > s->near) return false;
        same = same && a[d] == b[d];
        given = given && coordinate(s, one, d) == coordinate(s, other, d);
    }
    return !given && (!same || one % 2 == other % 2);
}

/* A moved particle at the place of `at`, or -1. */
static int64_t find_double(const places *s, int64_t at)
{
    double x[3];
    locate(s, at, x);
    for (int corner = 0; corner < 8; ++corner) {
        int64_t cell[3], first;
        bool new = true; /* cells that rounding reaches, each once */
        for (int d = 0; d < 3; ++d) {
            int64_t low = (int64_t)floor((x[d] - s->near) / s->cell),
                    high = (int64_t)floor((x[d] + s->near) / s->cell);
            cell[d] = corner >> d & 1 ? high : low;
            new = new && (!(corner >> d & 1) || high > low);
        }
        if (!new) continue;
        uint64_t key = key_of(cell);
        PS_LOWER_BOUND(first, 0, s->count, k, s->list[k].key < key);
        for (int64_t k = first; k < s->count && s->list[k].key == key; ++k)
            if (is_double(s, at, s->list[k].at)) return s->list[k].at;
    }
    return -1;
}

static const double coarsest = 1e-3; /* rounding that leaves places within a box */

/* Rounding of the coordinates, and the particles that were moved. */
static ps_status list_moved(places *s, int sets)
{
    const fmm_lattice *box = &s->p->lattice;
    double largest = 0;
    int64_t all = 0;
    for (int set = 0; set < sets; ++set)
        for (int64_t i = 0; i < 3 * s->p->header->count[set]; ++i)
            largest = fmax(largest, fabs(s->made[set][i]));
    s->largest = largest;
    s->near = 8 * DBL_EPSILON * fmax(largest / box->period, 1);
    s->cell = 64 * s->near;
    for (int pass = 0; pass < 2 && s->near <= coarsest; ++pass) {
        if (pass == 1) PS_TRY(PS_ALLOC(&s->list, all + 1, "particles of other boxes"));
        for (int set = 0; set < sets; ++set)
            for (int64_t at = set; at / 2 < s->p->header->count[set]; at += 2) {
                double x[3];
                int64_t cell[3];
                if (!locate(s, at, x)) continue;
                for (int d = 0; d < 3; ++d) cell[d] = (int64_t)floor(x[d] / s->cell);
                if (pass == 0)
                    ++all;
                else
                    s->list[s->count++] = (moved){key_of(cell), at};
            }
    }
    qsort(s->list, (size_t)s->count, sizeof *s->list, by_key);
    return PS_OK;
}

ps_status fmm_periodic_places(const fmm_problem *p, double *const made[2], int sets)
{
    PS_SCOPED_MEMORY moved *list = NULL;
    places s = {.p = p, .made = made};
    ps_status status = list_moved(&s, sets);
    list = s.list;
    PS_TRY(status);
    if (s.near > coarsest)
        return ps_fail(
            PS_INVALID,
            "coordinates up to %.6g are rounded to %.2g periods of %.9g, so where in the "
            "box a particle lies is lost: give them less whole periods, as they were "
            "before they were added",
            s.largest, s.near / 16, p->lattice.period);
    if (s.count == 0) return PS_OK;
    int64_t found = -1, of = -1;
    for (int set = 0; set < sets && found < 0; ++set) {
        int64_t count = p->header->count[set], least = count;
#pragma omp parallel for schedule(dynamic, 4096) reduction(min : least)
        for (int64_t i = 0; i < count; ++i)
            if (i < least && find_double(&s, 2 * i + set) >= 0) least = i;
        if (least == count) continue;
        found = 2 * least + set;
        of = find_double(&s, found);
    }
    if (found < 0) return PS_OK;
    return ps_fail(PS_INVALID,
                   "%s at (%.17g, %.17g, %.17g) and (%.17g, %.17g, %.17g) are at one place but for "
                   "whole periods of %.9g and rounding: a box that repeats has each once, so leave "
                   "one of them out%s",
                   found % 2 == of % 2 ? "particles" : "a target and a source",
                   coordinate(&s, found, 0), coordinate(&s, found, 1), coordinate(&s, found, 2),
                   coordinate(&s, of, 0), coordinate(&s, of, 1), coordinate(&s, of, 2),
                   p->lattice.period,
                   found % 2 == of % 2 ? "" : ", or give the target the place of the source");
}
