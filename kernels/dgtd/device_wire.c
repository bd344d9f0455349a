#include "kernels/dgtd/device_wire.h"

#include <string.h>

#include "runtime/sizes.h"

void ps_dgtd_device_wire_shape(ps_dgtd_device_wires *out, int64_t k, const ps_dgtd_wire *x)
{
    out->host[k] = (ps_dgtd_device_wire){.network = x->network,
                                         .currents = x->currents,
                                         .segments = x->segments,
                                         .feed = x->feed,
                                         .port = x->port,
                                         .elements = x->elements,
                                         .pairs = x->pairs};
    if (x->currents > out->most) out->most = x->currents;
}

int64_t ps_dgtd_device_wires_place(ps_dgtd_device_wires *x, void *memory)
{
    int64_t used = 0, real = (int64_t)sizeof(double), wide = (int64_t)sizeof(int64_t);
    x->there = ps_device_part(memory, &used, x->count * (int64_t)sizeof *x->there);
    x->done = ps_device_part(memory, &used, x->count * (int64_t)sizeof *x->done);
    for (int64_t k = 0; k < x->count; ++k) {
        ps_dgtd_device_wire p = x->host[k];
        int64_t n = p.currents, m = p.segments, table = p.pairs * 2 * x->nodes * real;
        p.state = ps_device_part(memory, &used, (n + m + 2) * real);
        p.force = ps_device_part(memory, &used, (n + 1) * real);
        p.potentials = ps_device_part(memory, &used, n * m * real);
        p.inverse = ps_device_part(memory, &used, n * n * real);
        p.directions = ps_device_part(memory, &used, 3 * m * real);
        p.weights = ps_device_part(memory, &used, table);
        p.loads = ps_device_part(memory, &used, table);
        p.slots = ps_device_part(memory, &used, p.elements * wide);
        p.first = ps_device_part(memory, &used, (p.elements + 1) * wide);
        p.pair_slots = ps_device_part(memory, &used, p.pairs * wide);
        p.entry_first = ps_device_part(memory, &used, (n + 1) * wide);
        p.ends = ps_device_part(memory, &used, 2 * m * (int64_t)sizeof *p.ends);
        p.pair_segments = ps_device_part(memory, &used, p.pairs * (int64_t)sizeof *p.ends);
        p.entries = ps_device_part(memory, &used, 2 * p.pairs * (int64_t)sizeof *p.ends);
        x->host[k] = p;
    }
    return used;
}

/* ---- the copy ---- */

int64_t ps_dgtd_device_wire_work(const ps_dgtd_device_wires *out, int64_t k)
{
    const ps_dgtd_device_wire *x = out->host + k;
    int64_t n = x->currents, matrix = n * ps_larger(n, x->segments);
    int64_t table = x->pairs * 2 * out->nodes, lists = 3 * x->pairs + n + 1;
    return ps_larger(ps_larger(matrix, table), lists);
}

/* Hats of pairs by their current: first[currents + 1], entries[2 pairs]. */
static void sort_entries(const ps_dgtd_wire *x, int64_t *first, int32_t *entries)
{
    int64_t n = x->currents;
    memset(first, 0, (size_t)(n + 1) * sizeof *first);
    for (int64_t q = 0; q < 2 * x->pairs; ++q) {
        int32_t m = x->ends[x->pair[q / 2].segment][q % 2];
        if (m >= 0) ++first[m + 1];
    }
    for (int64_t m = 0; m < n; ++m) first[m + 1] += first[m];
    for (int64_t q = 0, rest = first[n]; q < 2 * x->pairs; ++q) {
        int32_t m = x->ends[x->pair[q / 2].segment][q % 2];
        entries[m >= 0 ? first[m]++ : rest++] = (int32_t)q;
    }
    for (int64_t m = n; m > 0; --m) first[m] = first[m - 1];
    first[0] = 0;
}

static ps_status copy_lists(const ps_dgtd_device_wire *to, const ps_dgtd_wire *x, double *work,
                            ps_stream *stream)
{
    int64_t *first = (int64_t *)work;
    int32_t *entries = (int32_t *)(first + x->currents + 1), *segments = entries + 2 * x->pairs;
    sort_entries(x, first, entries);
    for (int64_t p = 0; p < x->pairs; ++p) segments[p] = x->pair[p].segment;
    PS_TRY(ps_copy_to_device(stream, to->entry_first, first,
                             (x->currents + 1) * (int64_t)sizeof *first));
    PS_TRY(
        ps_copy_to_device(stream, to->entries, entries, 2 * x->pairs * (int64_t)sizeof *entries));
    PS_TRY(ps_copy_to_device(stream, to->pair_segments, segments,
                             x->pairs * (int64_t)sizeof *segments));
    PS_TRY(ps_stream_wait(stream));
    for (int64_t i = 0; i < x->elements; ++i)
        for (int64_t p = x->first[i]; p < x->first[i + 1]; ++p) first[p] = x->slots[i];
    PS_TRY(ps_copy_to_device(stream, to->pair_slots, first, x->pairs * (int64_t)sizeof *first));
    PS_TRY(ps_copy_to_device(stream, to->slots, x->slots, x->elements * (int64_t)sizeof *x->slots));
    PS_TRY(ps_copy_to_device(stream, to->first, x->first,
                             (x->elements + 1) * (int64_t)sizeof *x->first));
    PS_TRY(ps_copy_to_device(stream, to->ends, x->ends, x->segments * (int64_t)sizeof *x->ends));
    PS_TRY(ps_copy_to_device(stream, to->directions, x->directions,
                             x->segments * (int64_t)sizeof *x->directions));
    return ps_stream_wait(stream);
}

static ps_status copy_matrices(const ps_dgtd_device_wire *to, const ps_dgtd_wire *x, double *work,
                               ps_stream *stream)
{
    int64_t real = (int64_t)sizeof *work;
    ps_dgtd_wire_potentials(x, work);
    PS_TRY(ps_copy_to_device(stream, to->potentials, work, x->currents * x->segments * real));
    PS_TRY(ps_stream_wait(stream));
    ps_dgtd_wire_inverse(x, work);
    PS_TRY(ps_copy_to_device(stream, to->inverse, work, x->currents * x->currents * real));
    return ps_stream_wait(stream);
}

/* What sums take of values at nodes becomes what they take of coefficients; loads become
 * coefficients. */
static ps_status copy_tables(const ps_dgtd_device_wire *to, const ps_dgtd_wire *x,
                             const ps_dgtd_system *system, const ps_dgtd_device_tables *tables,
                             double *work, ps_stream *stream)
{
    int nodes = tables->reference.nodes;
    int64_t bytes = x->pairs * 2 * nodes * (int64_t)sizeof *work;
    for (int64_t q = 0; q < 2 * x->pairs; ++q)
        ps_dgtd_device_probe_weights(tables, x->pair[q / 2].weights + q % 2 * nodes,
                                     work + q * nodes);
    PS_TRY(ps_copy_to_device(stream, to->weights, work, bytes));
    PS_TRY(ps_stream_wait(stream));
    for (int64_t i = 0; i < x->elements; ++i) {
        double gain = ps_dgtd_gain(system, PS_DGTD_E, x->slots[i]);
        for (int64_t q = 2 * x->first[i]; q < 2 * x->first[i + 1]; ++q) {
            ps_dgtd_device_coefficients(tables, x->pair[q / 2].loads + q % 2 * nodes, 1,
                                        work + q * nodes);
            for (int j = 0; j < nodes; ++j) work[q * nodes + j] *= gain;
        }
    }
    PS_TRY(ps_copy_to_device(stream, to->loads, work, bytes));
    return ps_stream_wait(stream);
}

ps_status ps_dgtd_device_wire_upload(const ps_dgtd_device_wires *out, int64_t k,
                                     const ps_dgtd_wire *x, const ps_dgtd_system *system,
                                     const ps_dgtd_device_tables *tables, double *work,
                                     ps_stream *stream)
{
    const ps_dgtd_device_wire *to = out->host + k;
    PS_TRY(copy_lists(to, x, work, stream));
    PS_TRY(copy_matrices(to, x, work, stream));
    return copy_tables(to, x, system, tables, work, stream);
}

/* ---- states ---- */

static int64_t state_bytes(const ps_dgtd_device_wire *x)
{
    return (x->currents + x->segments + 2) * (int64_t)sizeof *x->state;
}

ps_status ps_dgtd_device_wires_states(const ps_dgtd_device_wires *x, const ps_dgtd_wire *wires,
                                      bool back, ps_stream *stream)
{
    for (int64_t k = 0; k < x->count; ++k)
        PS_TRY(ps_dgtd_device_move(x->host[k].state, wires[k].state, state_bytes(x->host + k), back,
                                   stream));
    if (!back) {
        PS_TRY(ps_copy_to_device(stream, x->there, x->host, x->count * (int64_t)sizeof *x->there));
        PS_TRY(ps_fill_zero(stream, x->done, x->count * (int64_t)sizeof *x->done));
    }
    return ps_stream_wait(stream);
}

/* ---- steps ---- */

ps_status ps_dgtd_device_wires_advance(const ps_dgtd_device_wires *x,
                                       const ps_dgtd_device_wires_step *step, ps_stream *stream)
{
    if (!ps_stream_handle(stream))
        return ps_fail(PS_FAILED, "wires of a device need CUDA; the CPU has its own");
    return x->most > 0 ? ps_dgtd_wires_advance_cuda(x, step, stream) : PS_OK;
}

ps_status ps_dgtd_device_wires_apply(const ps_dgtd_device_wires *x,
                                     const ps_dgtd_device_wires_step *step, ps_stream *stream)
{
    return x->most > 0 ? ps_dgtd_wires_apply_cuda(x, step, stream) : PS_OK;
}
