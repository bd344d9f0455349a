#include "kernels/linear/shifted_device.h"

#include <stddef.h>

#include "runtime/sizes.h"

enum { SYSTEMS = PS_SHIFTED_DEVICE_SYSTEMS };

static int64_t lay_out(ps_shifted_device *d, char *memory)
{
    int64_t used = 0, n = d->matrix.dofs, nnz = d->matrix.nnz;
    d->matrix.start = ps_device_part(memory, &used, 8 * (n + 1));
    d->matrix.column = ps_device_part(memory, &used, 4 * nnz);
    d->matrix.mass = ps_device_part(memory, &used, 8 * nnz);
    d->matrix.stiffness = ps_device_part(memory, &used, 8 * nnz);
    d->diagonal = ps_device_part(memory, &used, 16 * n);
    d->b = ps_device_part(memory, &used, 16 * n * SYSTEMS);
    d->x = ps_device_part(memory, &used, 16 * n * SYSTEMS);
    d->vectors = ps_device_part(memory, &used, 16 * n * SYSTEMS * PS_SHIFTED_VECTORS);
    d->sums =
        ps_device_part(memory, &used, 8 * (int64_t)(2 * PS_SHIFTED_DEVICE_BLOCKS * SYSTEMS * 3));
    d->outcomes = ps_device_part(memory, &used, SYSTEMS * (int64_t)sizeof *d->outcomes);
    return used;
}

int64_t ps_shifted_device_bytes(const ps_pencil *matrix)
{
    ps_shifted_device d = {.matrix = *matrix};
    return lay_out(&d, NULL);
}

ps_status ps_shifted_device_upload(const ps_pencil *m, double *diagonal, void *memory,
                                   ps_stream *stream, ps_shifted_device *out)
{
    *out = (ps_shifted_device){.matrix = *m, .stream = stream};
    lay_out(out, memory);
    ps_shifted_diagonal(m, diagonal);
    PS_TRY(ps_copy_to_device(stream, out->matrix.start, m->start, 8 * (m->dofs + 1)));
    PS_TRY(ps_copy_to_device(stream, out->matrix.column, m->column, 4 * m->nnz));
    PS_TRY(ps_copy_to_device(stream, out->matrix.mass, m->mass, 8 * m->nnz));
    PS_TRY(ps_copy_to_device(stream, out->matrix.stiffness, m->stiffness, 8 * m->nnz));
    PS_TRY(ps_copy_to_device(stream, out->diagonal, diagonal, 16 * m->dofs));
    return ps_stream_wait(stream);
}

/* Copies right-hand sides, each once; from[s]: which one is system s's. */
static ps_status upload_sides(const ps_shifted_device *d, int count,
                              const ps_shifted_system *systems, int *from)
{
    int64_t n = d->matrix.dofs;
    int sides = 0;
    for (int s = 0; s < count; ++s) {
        int other = 0;
        while (other < s && systems[other].b != systems[s].b) ++other;
        from[s] = other < s ? from[other] : sides++;
        if (other == s)
            PS_TRY(ps_copy_to_device(d->stream, d->b + from[s] * 2 * n, systems[s].b, 16 * n));
    }
    return PS_OK;
}

static ps_status solve_some(ps_shifted_device *d, int count, const ps_shifted_system *systems)
{
    ps_shifted_outcome outcomes[SYSTEMS];
    double shift[SYSTEMS][2];
    int64_t n = d->matrix.dofs, most = 0;
    int from[SYSTEMS] = {0};
    PS_TRY(upload_sides(d, count, systems, from));
    for (int s = 0; s < count; ++s)
        for (int part = 0; part < 2; ++part) shift[s][part] = systems[s].shift[part];
    PS_TRY(ps_shifted_device_run(d, count, from, shift));
    for (int s = 0; s < count; ++s)
        PS_TRY(ps_copy_to_host(d->stream, systems[s].x, d->x + s * 2 * n, 16 * n));
    PS_TRY(ps_copy_to_host(d->stream, outcomes, d->outcomes, count * (int64_t)sizeof *outcomes));
    PS_TRY(ps_stream_wait(d->stream));
    for (int s = 0; s < count; ++s) {
        PS_TRY(ps_shifted_judge(outcomes[s].residual, d->tolerance, outcomes[s].iterations));
        most = outcomes[s].iterations > most ? outcomes[s].iterations : most;
    }
    d->iterations += most;
    return PS_OK;
}

ps_status ps_shifted_device_solve(void *context, int64_t count, const ps_shifted_system *systems)
{
    ps_shifted_device *d = context;
    for (int64_t first = 0; first < count; first += SYSTEMS)
        PS_TRY(solve_some(d, count - first < SYSTEMS ? (int)(count - first) : SYSTEMS,
                          systems + first));
    return PS_OK;
}
