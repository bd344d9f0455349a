#include "kernels/hbem/factor_device.h"

#include <stddef.h>

#include "runtime/sizes.h"

ps_status ps_factor_device_measure(const ps_dissection *d, int count, int64_t *firsts,
                                   ps_factor_device *out)
{
    *out = (ps_factor_device){.d = *d, .count = count};
    if (count > PS_FACTOR_SHIFTS)
        return ps_fail(PS_USAGE, "%d shifts: at most %d on a device", count, PS_FACTOR_SHIFTS);
    for (int64_t depth = 0; depth < d->depth; ++depth) {
        int64_t square = 0, scratch = 0;
        for (int64_t at = d->depth_first[depth]; at < d->depth_first[depth + 1]; ++at) {
            int64_t node = d->by_depth[at], rows = ps_dissection_rows(d, node);
            firsts[node] = square;
            firsts[d->nodes + node] = scratch;
            square += rows * rows;
            scratch += (rows + 2 * PS_FACTOR_BAND) * ps_dissection_pivots(d, node);
        }
        if (square > out->square) out->square = square;
        if (scratch > out->scratch) out->scratch = scratch;
    }
    return PS_OK;
}

/* ---- memory ---- */

static int64_t lay_out(ps_factor_device *f, char *memory)
{
    const ps_dissection *d = &f->d;
    int64_t used = 0, vector = 16 * PS_FACTOR_SIDES * d->dofs;
    f->there = *d;
    f->there.dof = ps_device_part(memory, &used, 4 * d->dofs);
    f->there.first = ps_device_part(memory, &used, 4 * (d->nodes + 1));
    f->there.child = ps_device_part(memory, &used, 8 * d->nodes);
    f->there.by_depth = ps_device_part(memory, &used, 4 * d->nodes);
    f->there.row_first = ps_device_part(memory, &used, 8 * (d->nodes + 1));
    f->there.number_first = ps_device_part(memory, &used, 8 * (d->nodes + 1));
    f->there.row = ps_device_part(memory, &used, 4 * d->rows);
    f->there.gather = ps_device_part(memory, &used, 8 * (d->dofs + d->rows));
    f->there.entry = ps_device_part(memory, &used, 4 * d->nnz);
    f->square_first = ps_device_part(memory, &used, 8 * d->nodes);
    f->scratch_first = ps_device_part(memory, &used, 8 * d->nodes);
    f->matrix.start = ps_device_part(memory, &used, 8 * (d->dofs + 1));
    f->matrix.mass = ps_device_part(memory, &used, 8 * d->nnz);
    f->matrix.stiffness = ps_device_part(memory, &used, 8 * d->nnz);
    f->bad = ps_device_part(memory, &used, 4);
    f->b = ps_device_part(memory, &used, vector);
    f->y = ps_device_part(memory, &used, vector);
    f->in = ps_device_part(memory, &used, vector);
    f->pivots = ps_device_part(memory, &used, f->count * vector);
    f->x = ps_device_part(memory, &used, f->count * vector);
    f->left = ps_device_part(memory, &used, f->count * 16 * PS_FACTOR_SIDES * d->rows);
    f->numbers = ps_device_part(memory, &used, f->count * 16 * d->numbers);
    return used;
}

static int64_t place_scratch(ps_factor_device *f, char *memory)
{
    int64_t used = 0;
    for (int i = 0; i < 2; ++i)
        f->squares[i] = ps_device_part(memory, &used, f->count * 16 * f->square);
    f->scratches = ps_device_part(memory, &used, f->count * 16 * f->scratch);
    return used;
}

int64_t ps_factor_device_bytes(const ps_factor_device *device)
{
    ps_factor_device copy = *device;
    return lay_out(&copy, NULL);
}

int64_t ps_factor_device_scratch(const ps_factor_device *device)
{
    ps_factor_device copy = *device;
    return place_scratch(&copy, NULL);
}

/* ---- factors ---- */

static ps_status upload(const ps_factor_device *f, const ps_pencil *m, const int64_t *firsts)
{
    const ps_dissection *d = &f->d, *to = &f->there;
    const struct {
        void *to;
        const void *from;
        int64_t bytes;
    } copies[] = {{to->dof, d->dof, 4 * d->dofs},
                  {to->first, d->first, 4 * (d->nodes + 1)},
                  {to->child, d->child, 8 * d->nodes},
                  {to->by_depth, d->by_depth, 4 * d->nodes},
                  {to->row_first, d->row_first, 8 * (d->nodes + 1)},
                  {to->number_first, d->number_first, 8 * (d->nodes + 1)},
                  {to->row, d->row, 4 * d->rows},
                  {to->gather, d->gather, 8 * (d->dofs + d->rows)},
                  {to->entry, d->entry, 4 * d->nnz},
                  {f->square_first, firsts, 8 * d->nodes},
                  {f->scratch_first, firsts + d->nodes, 8 * d->nodes},
                  {f->matrix.start, m->start, 8 * (d->dofs + 1)},
                  {f->matrix.mass, m->mass, 8 * d->nnz},
                  {f->matrix.stiffness, m->stiffness, 8 * d->nnz}};
    for (size_t i = 0; i < sizeof copies / sizeof *copies; ++i)
        if (copies[i].bytes > 0)
            PS_TRY(ps_copy_to_device(f->stream, copies[i].to, copies[i].from, copies[i].bytes));
    return ps_fill_zero(f->stream, f->bad, 4);
}

ps_status ps_factor_device_make(ps_factor_device *f, const ps_pencil *matrix, const int64_t *firsts,
                                void *memory, void *scratch)
{
    int32_t bad = 0;
    lay_out(f, memory);
    place_scratch(f, scratch);
    PS_TRY(upload(f, matrix, firsts));
    PS_TRY(ps_factor_device_factorise(f));
    PS_TRY(ps_copy_to_host(f->stream, &bad, f->bad, 4));
    PS_TRY(ps_stream_wait(f->stream));
    f->squares[0] = f->squares[1] = f->scratches = NULL;
    return bad == 0 ? PS_OK
                    : ps_fail(PS_FAILED,
                              "%d blocks of mass and stiffness are singular or not "
                              "finite: are there triangles without area?",
                              (int)bad);
}

ps_status ps_factor_device_apply(const ps_factor_device *f, int64_t sides,
                                 const double (*weight)[2], const double *b, double *y)
{
    int64_t size = 2 * f->d.dofs;
    for (int64_t first = 0; first < sides; first += PS_FACTOR_SIDES) {
        int64_t count = sides - first < PS_FACTOR_SIDES ? sides - first : PS_FACTOR_SIDES;
        PS_TRY(ps_copy_to_device(f->stream, f->b, b + first * size, count * size * 8));
        PS_TRY(ps_factor_device_solve(f, (int)count, weight));
        PS_TRY(ps_copy_to_host(f->stream, y + first * size, f->y, count * size * 8));
    }
    return ps_stream_wait(f->stream);
}
