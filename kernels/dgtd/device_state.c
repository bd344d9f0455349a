#include "kernels/dgtd/device_state.h"

#include <inttypes.h>
#include <string.h>

#include "kernels/common/reals.h"
#include "kernels/dgtd/device_kernels.h"
#include "runtime/sizes.h"

const double ps_dgtd_ghost_signs[2][PS_DGTD_FACES] = {{1, 1, -1, 0}, {1, -1, 1, 0}};

void ps_dgtd_list_face_nodes(int order, ps_dgtd_face_nodes *out)
{
    static const int opposite[4] = {3, 2, 0, 1};
    int count[4] = {0}, n = 0;
    for (int k = 0; k <= order; ++k)
        for (int j = 0; j + k <= order; ++j)
            for (int i = 0; i + j + k <= order; ++i, ++n) {
                const int index[4] = {order - i - j - k, i, j, k};
                for (int f = 0; f < 4; ++f)
                    if (index[opposite[f]] == 0) out->node[f][count[f]++] = (int8_t)n;
            }
}

static ps_status on_cuda(ps_stream *stream)
{
    if (ps_stream_handle(stream)) return PS_OK;
    return ps_fail(PS_FAILED, "the device kernels of dgtd need a CUDA device; the CPU has its own");
}

void ps_dgtd_device_tables_init(ps_dgtd_device_tables *tables, const ps_dgtd_reference *nodal)
{
    ps_dgtd_bernstein_init(&tables->bases, nodal);
    ps_dgtd_bernstein_reference(&tables->bases, nodal, &tables->reference);
}

void ps_dgtd_device_shape(ps_dgtd_device *device, const ps_dgtd_system *system,
                          ps_dgtd_device_mode mode)
{
    *device = (ps_dgtd_device){.order = system->order,
                               .precision = system->precision,
                               .mode = mode,
                               .elements = system->elements,
                               .groups = system->groups,
                               .materials = system->materials};
}

int64_t ps_dgtd_device_place(ps_dgtd_device *d, void *memory)
{
    int64_t used = 0, real = ps_real_bytes(d->precision),
            slots = d->groups * (PS_DGTD_ALIGN / real);
    int64_t p = d->order, nf = (p + 1) * (p + 2) / 2, n = nf * (p + 3) / 3, wide = sizeof(double);
    if (!d->windowed) {
        d->tangents = ps_device_part(memory, &used, slots * 9 * real);
        d->links = ps_device_part(memory, &used, slots * 4 * (int64_t)sizeof *d->links);
    }
    d->kinds = ps_device_part(memory, &used, slots * 4);
    d->bordered = ps_device_part(memory, &used, d->groups);
    d->material = ps_device_part(memory, &used, slots * (int64_t)sizeof *d->material);
    d->steps = ps_device_part(memory, &used, 4 * d->materials * real);
    d->to_nodes = ps_device_part(memory, &used, n * n * wide);
    d->from_nodes = ps_device_part(memory, &used, n * n * wide);
    d->mass = ps_device_part(memory, &used, n * n * wide);
    d->face_from_nodes = ps_device_part(memory, &used, nf * nf * wide);
    d->lift = ps_device_part(memory, &used, 4 * n * nf * wide);
    if (d->mode != PS_DGTD_PAPER) return used;
    d->dense = ps_device_part(memory, &used, (3 * n * n + 4 * n * nf) * real);
    d->flux = ps_device_part(memory, &used, d->groups * ps_dgtd_group_bytes(d->order));
    return used;
}

static ps_status copy_tables(const ps_dgtd_device *d, const ps_dgtd_device_tables *tables,
                             ps_stream *stream)
{
    const ps_dgtd_reference *x = &tables->reference;
    int64_t n = x->nodes, nf = x->face_nodes, wide = sizeof(double);
    PS_TRY(ps_copy_to_device(stream, d->to_nodes, tables->bases.to_nodes, n * n * wide));
    PS_TRY(ps_copy_to_device(stream, d->from_nodes, tables->bases.from_nodes, n * n * wide));
    PS_TRY(ps_copy_to_device(stream, d->mass, x->mass, n * n * wide));
    PS_TRY(ps_copy_to_device(stream, d->face_from_nodes, tables->bases.face_from_nodes,
                             nf * nf * wide));
    for (int f = 0; f < 4; ++f)
        PS_TRY(ps_copy_to_device(stream, d->lift + f * n * nf, x->lift[f], n * nf * wide));
    return PS_OK;
}

/* `count` numbers of the host as reals at an offset on the device. Waits. */
static ps_status copy_reals(const ps_dgtd_device *d, const double *from, int64_t offset,
                            int64_t count, ps_stream *stream)
{
    float single[PS_DGTD_MAX_NODES * PS_DGTD_MAX_NODES];
    char *to = (char *)d->dense + offset * ps_real_bytes(d->precision);
    for (int64_t i = 0; i < count; ++i) single[i] = (float)from[i];
    PS_TRY(ps_copy_to_device(stream, to, d->precision == PS_SINGLE ? (const void *)single : from,
                             count * ps_real_bytes(d->precision)));
    return ps_stream_wait(stream);
}

static ps_status copy_dense(const ps_dgtd_device *d, const ps_dgtd_reference *x, ps_stream *stream)
{
    int64_t n = x->nodes, nf = x->face_nodes;
    for (int b = 0; b < 3; ++b) PS_TRY(copy_reals(d, x->derivative[b], b * n * n, n * n, stream));
    for (int f = 0; f < 4; ++f)
        PS_TRY(copy_reals(d, x->lift[f], 3 * n * n + f * n * nf, n * nf, stream));
    return PS_OK;
}

ps_status ps_dgtd_device_upload(const ps_dgtd_device *d, const ps_dgtd_system *system,
                                const ps_dgtd_device_tables *tables, ps_stream *stream)
{
    int64_t real = ps_real_bytes(d->precision), slots = d->groups * (PS_DGTD_ALIGN / real);
    PS_TRY(on_cuda(stream));
    if (!d->windowed) {
        int64_t links = slots * 4 * (int64_t)sizeof *d->links;
        PS_TRY(ps_copy_to_device(stream, d->tangents, system->tangents, slots * 9 * real));
        PS_TRY(ps_copy_to_device(stream, d->links, system->links, links));
    }
    PS_TRY(ps_copy_to_device(stream, d->kinds, system->kinds, slots * 4));
    PS_TRY(ps_copy_to_device(stream, d->bordered, system->bordered, d->groups));
    PS_TRY(ps_copy_to_device(stream, d->material, system->material,
                             slots * (int64_t)sizeof *d->material));
    PS_TRY(ps_copy_to_device(stream, d->steps, system->steps, 4 * d->materials * real));
    PS_TRY(copy_tables(d, tables, stream));
    if (d->mode == PS_DGTD_PAPER) PS_TRY(copy_dense(d, &tables->reference, stream));
    return ps_stream_wait(stream);
}

int64_t ps_dgtd_device_field_bytes(const ps_dgtd_device *d, int64_t halo_slots)
{
    int64_t lanes = PS_DGTD_ALIGN / ps_real_bytes(d->precision);
    return (d->groups + (halo_slots + lanes - 1) / lanes) * ps_dgtd_group_bytes(d->order);
}

ps_status ps_dgtd_device_put(const ps_dgtd_device *d, void *field, const void *host, int64_t begin,
                             int64_t end, ps_stream *stream)
{
    int64_t offset = begin * ps_dgtd_group_bytes(d->order);
    char *to = (char *)field + offset;
    PS_TRY(on_cuda(stream));
    if (end <= begin) return PS_OK;
    PS_TRY(ps_copy_to_device(stream, to, (const char *)host + offset,
                             (end - begin) * ps_dgtd_group_bytes(d->order)));
    return ps_dgtd_convert_cuda(d, d->from_nodes, to, to, end - begin, stream);
}

ps_status ps_dgtd_device_get(const ps_dgtd_device *d, const void *field, void *host, int64_t begin,
                             int64_t end, void *scratch, int64_t scratch_bytes, ps_stream *stream)
{
    int64_t step = scratch_bytes / ps_dgtd_group_bytes(d->order);
    PS_TRY(on_cuda(stream));
    if (step < 1)
        return ps_fail(PS_EXHAUSTED, "%" PRId64 " bytes of scratch cannot hold a group of %" PRId64,
                       scratch_bytes, ps_dgtd_group_bytes(d->order));
    for (int64_t g = begin; g < end; g += step) {
        int64_t count = end - g < step ? end - g : step, offset = g * ps_dgtd_group_bytes(d->order);
        PS_TRY(ps_dgtd_convert_cuda(d, d->to_nodes, (const char *)field + offset, scratch, count,
                                    stream));
        PS_TRY(ps_copy_to_host(stream, (char *)host + offset, scratch,
                               count * ps_dgtd_group_bytes(d->order)));
    }
    return PS_OK;
}

ps_status ps_dgtd_device_move(void *there, void *host, int64_t bytes, bool back, ps_stream *stream)
{
    return back ? ps_copy_to_host(stream, host, there, bytes)
                : ps_copy_to_device(stream, there, host, bytes);
}

ps_status ps_dgtd_device_convert(const ps_dgtd_device *d, const double *matrix, const void *from,
                                 void *to, int64_t begin, int64_t end, ps_stream *stream)
{
    int64_t offset = begin * ps_dgtd_group_bytes(d->order);
    PS_TRY(on_cuda(stream));
    if (end <= begin) return PS_OK;
    return ps_dgtd_convert_cuda(d, matrix, (const char *)from + offset, (char *)to + offset,
                                end - begin, stream);
}

ps_status ps_dgtd_device_half_step(const ps_dgtd_device *device, ps_dgtd_field field, void *target,
                                   const void *source, const ps_dgtd_device_part *parts, int count,
                                   ps_stream *stream)
{
    ps_dgtd_device_sweep sweep = {device, field, target, source, .parts = parts, .count = count};
    int64_t groups = 0;
    if (count > PS_DGTD_DEVICE_PARTS)
        return ps_fail(PS_FAILED, "%d parts of a half step; %d go at once", count,
                       PS_DGTD_DEVICE_PARTS);
    for (int k = 0; k < count; ++k) groups += parts[k].end - parts[k].begin;
    PS_TRY(on_cuda(stream));
    if (groups <= 0) return PS_OK;
    if (device->mode == PS_DGTD_PAPER && device->media)
        return ps_fail(PS_FAILED, "the paper's kernels know no media with poles or tensors");
    if (device->mode == PS_DGTD_PAPER && device->ports)
        return ps_fail(PS_FAILED, "the paper's kernels know no ports");
    return device->mode == PS_DGTD_PAPER ? ps_dgtd_paper_step_cuda(&sweep, stream)
                                         : ps_dgtd_half_step_cuda(&sweep, stream);
}

ps_status ps_dgtd_device_half_units(const ps_dgtd_device *device, ps_dgtd_field field, void *target,
                                    const void *source, const ps_dgtd_device_units *units,
                                    void *kept, ps_stream *stream)
{
    const ps_dgtd_device_sweep sweep = {device, field,          target,
                                        source, .units = units, .increments = kept};
    if (device->mode == PS_DGTD_PAPER)
        return ps_fail(PS_FAILED, "the paper's kernels make half steps of whole groups");
    PS_TRY(on_cuda(stream));
    return units->count <= 0 ? PS_OK : ps_dgtd_half_step_cuda(&sweep, stream);
}

ps_status ps_dgtd_device_halo_pack(const ps_dgtd_device *device, const void *field,
                                   const int32_t *faces, int64_t count, void *buffer,
                                   ps_stream *stream)
{
    PS_TRY(on_cuda(stream));
    if (count <= 0) return PS_OK;
    return ps_dgtd_halo_cuda(device, (void *)field, faces, count, buffer, 1, stream);
}

ps_status ps_dgtd_device_halo_unpack(const ps_dgtd_device *device, void *field,
                                     const int32_t *faces, int64_t count, const void *buffer,
                                     ps_stream *stream)
{
    PS_TRY(on_cuda(stream));
    if (count <= 0) return PS_OK;
    return ps_dgtd_halo_cuda(device, field, faces, count, (void *)buffer, 0, stream);
}

ps_status ps_dgtd_device_inner(const ps_dgtd_device *device, const double *weights, const void *a,
                               const void *b, int64_t begin, int64_t end, double *partial,
                               ps_stream *stream)
{
    PS_TRY(on_cuda(stream));
    if (end <= begin) return PS_OK;
    return ps_dgtd_inner_cuda(device, weights, a, b, begin, end, partial, stream);
}

ps_status ps_dgtd_device_add_groups(const double *terms, int64_t groups, int64_t rows, double *out,
                                    ps_stream *stream)
{
    PS_TRY(on_cuda(stream));
    if (rows <= 0) return PS_OK;
    return ps_dgtd_add_groups_cuda(terms, groups, rows, out, stream);
}

void ps_dgtd_device_probe_weights(const ps_dgtd_device_tables *tables, const double *nodal,
                                  double *out)
{
    int n = tables->reference.nodes;
    for (int j = 0; j < n; ++j) {
        out[j] = 0;
        for (int i = 0; i < n; ++i) out[j] += nodal[i] * tables->bases.to_nodes[i * n + j];
    }
}

void ps_dgtd_device_coefficients(const ps_dgtd_device_tables *tables, const double *nodal,
                                 int64_t count, double *out)
{
    int64_t n = tables->reference.nodes;
    for (int64_t i = 0; i < count * n; ++i) {
        const double *row = tables->bases.from_nodes + i % n * n;
        out[i] = 0;
        for (int64_t j = 0; j < n; ++j) out[i] += row[j] * nodal[i / n * n + j];
    }
}

ps_status ps_dgtd_device_probe(const ps_dgtd_device *device, const void *field,
                               const int64_t *slots, const double *weights, int64_t count,
                               double *out, ps_stream *stream)
{
    PS_TRY(on_cuda(stream));
    if (count <= 0) return PS_OK;
    return ps_dgtd_probe_cuda(device, field, slots, weights, count, out, stream);
}

ps_status ps_dgtd_device_dft_add(const ps_dgtd_device *device, const void *field,
                                 const double *factors, int frequencies, int64_t begin, int64_t end,
                                 void *sums, ps_stream *stream)
{
    if (frequencies > PS_DGTD_DEVICE_FREQUENCIES)
        return ps_fail(PS_USAGE, "%d frequencies; a device takes %d at a time", frequencies,
                       PS_DGTD_DEVICE_FREQUENCIES);
    PS_TRY(on_cuda(stream));
    if (frequencies <= 0 || end <= begin) return PS_OK;
    return ps_dgtd_dft_cuda(device, field, factors, frequencies, begin, end, sums, stream);
}
