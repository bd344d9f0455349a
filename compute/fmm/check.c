/* Results at some targets against direct sums. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compute/fmm/fmm.h"
#include "runtime/memory.h"

enum { PIECE = 1 << 16 /* sources at a time */ };

struct fmm_check {
    int64_t count, stride; /* samples; every stride-th sorted target */
    int sides;
    double *positions, *direct, *taken; /* [3][count], [4 S][count] both */
};

int64_t fmm_check_samples(const fmm_check *check) { return check->count; }

static ps_status read_targets(const fmm_problem *p, fmm_source *source, fmm_check *c)
{
    ps_octree_side side = p->same ? PS_OCTREE_SOURCES : PS_OCTREE_TARGETS;
    for (int64_t i = 0; i < c->count; ++i) {
        double *const columns[3] = {c->positions + i, c->positions + c->count + i,
                                    c->positions + 2 * c->count + i};
        PS_TRY(fmm_source_read(source, side, i * c->stride, 1, columns, 3, NULL));
    }
    return PS_OK;
}

static ps_status add_sources(const fmm_problem *p, fmm_source *source, fmm_check *c, double *room)
{
    int columns = 3 + c->sides;
    int64_t all = p->header->count[0];
    double *column[PS_PARTICLE_COLUMNS_MAX];
    ps_fmm_particles targets = ps_fmm_group_particles(c->positions, c->direct, c->count, c->sides);
    targets.charges = NULL;
    for (int64_t first = 0; first < all; first += PIECE) {
        int64_t some = all - first < PIECE ? all - first : PIECE;
        for (int k = 0; k < columns; ++k) column[k] = room + k * some;
        PS_TRY(fmm_source_read(source, PS_OCTREE_SOURCES, first, some, column, columns, NULL));
        ps_fmm_particles sources = ps_fmm_group_particles(room, NULL, some, c->sides);
        ps_fmm_direct_add(&p->fmm.function, c->sides, p->header->box.width, &targets, c->count,
                          &sources, some);
    }
    return PS_OK;
}

ps_status fmm_check_open(const fmm_problem *p, fmm_source *source, int64_t samples, fmm_check **out)
{
    int64_t targets = p->header->count[1];
    PS_TRY(PS_ALLOC(out, 1, "the check"));
    fmm_check *c = *out;
    c->sides = p->fmm.sides;
    c->stride = samples < targets ? targets / samples : 1;
    c->count = samples < targets ? samples : targets;
    double *room;
    PS_TRY(PS_ALLOC(&c->positions, (3 + 8 * c->sides) * c->count, "the check"));
    c->direct = c->positions + 3 * c->count;
    c->taken = c->direct + 4 * c->sides * c->count;
    PS_TRY(ps_alloc_untouched((void **)&room, 8 * (3 + c->sides) * PIECE, "the check"));
    ps_status status = read_targets(p, source, c);
    if (status == PS_OK) status = add_sources(p, source, c, room);
    free(room);
    return status;
}

void fmm_check_close(fmm_check **check)
{
    if (!*check) return;
    free((*check)->positions);
    free(*check);
    *check = NULL;
}

void fmm_check_take(fmm_check *c, int64_t first, const fmm_values *values)
{
    for (int64_t i = (first + c->stride - 1) / c->stride;
         i < c->count && i * c->stride < first + values->count; ++i)
        for (int v = 0; v < 4 * c->sides; ++v)
            c->taken[v * c->count + i] = values->rows[v * values->stride + i * c->stride - first];
}

/* Relative over rows [first, first + rows). 0 where both are 0. */
static double relative(const fmm_check *c, int first, int rows)
{
    double error = 0, square = 0;
    for (int64_t i = first * c->count; i < (first + rows) * c->count; ++i) {
        error += (c->taken[i] - c->direct[i]) * (c->taken[i] - c->direct[i]);
        square += c->direct[i] * c->direct[i];
    }
    return error > 0 ? sqrt(error / square) : 0;
}

void fmm_check_errors(const fmm_check *c, double *potential, double *gradient)
{
    for (int s = 0; s < c->sides; ++s) {
        potential[s] = relative(c, s, 1);
        gradient[s] = relative(c, c->sides + 3 * s, 3);
    }
}
