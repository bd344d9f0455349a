#include "kernels/tdbem/load_device.h"

#include <string.h>

#include "runtime/sizes.h"

ps_device_load ps_device_load_shape(const ps_load *load)
{
    return (ps_device_load){.formulation = load->formulation,
                            .dt = load->dt,
                            .combined = load->combined,
                            .incident = *load->incident,
                            .vertex_count = load->mesh->vertex_count,
                            .triangle_count = load->mesh->triangle_count};
}

int64_t ps_device_load_attach(ps_device_load *l, void *memory)
{
    int64_t used = 0, index = sizeof(int32_t);
    l->vertices = ps_host_part(memory, &used, 3 * l->vertex_count * (int64_t)sizeof *l->vertices);
    l->triangles = ps_host_part(memory, &used, 3 * l->triangle_count * index);
    l->corner_start = ps_host_part(memory, &used, (l->vertex_count + 1) * index);
    l->corners = ps_host_part(memory, &used, 3 * l->triangle_count * index);
    return used;
}

int64_t ps_device_load_bytes(const ps_device_load *load)
{
    ps_device_load copy = *load;
    return ps_device_load_attach(&copy, NULL);
}

void ps_device_load_fill(const ps_load *load, ps_device_load *out)
{
    int64_t corners = 3 * out->triangle_count;
    const ps_surface_mesh *mesh = load->mesh;
    memcpy(out->vertices, mesh->vertices, (size_t)(3 * out->vertex_count) * sizeof *out->vertices);
    memcpy(out->triangles, mesh->triangles, (size_t)corners * sizeof *out->triangles);
    int32_t *start = out->corner_start;
    memset(start, 0, (size_t)(out->vertex_count + 1) * sizeof *start);
    for (int64_t c = 0; c < corners; ++c) ++start[mesh->triangles[c] + 1];
    for (int64_t v = 0; v < out->vertex_count; ++v) start[v + 1] += start[v];
    /* While filling, start[v + 1] is where the next corner of v goes; in the end, its end. */
    for (int64_t v = out->vertex_count; v > 0; --v) start[v] = start[v - 1];
    for (int64_t c = 0; c < corners; ++c)
        out->corners[start[mesh->triangles[c] + 1]++] = (int32_t)c;
}

int64_t ps_device_load_workspace(const ps_device_load *load, int64_t count)
{
    if (load->formulation != PS_SOUND_HARD) return 0;
    return 3 * load->triangle_count * count * (int64_t)sizeof(double);
}

ps_status ps_device_load_run(const ps_device_load *l, int64_t n, int64_t count, double *out,
                             double *workspace, ps_stream *stream)
{
    if (ps_stream_handle(stream)) return ps_device_load_cuda(l, n, count, out, workspace, stream);
    ps_surface_mesh mesh = {.vertex_count = l->vertex_count,
                            .triangle_count = l->triangle_count,
                            .vertices = l->vertices,
                            .triangles = l->triangles};
    ps_load load = {l->formulation, &mesh, &l->incident, l->dt, l->combined};
    for (int64_t g = 0; g < count; ++g)
        ps_load_evaluate(&load, n + g, out + g * ps_load_unknowns(&load), workspace);
    return PS_OK;
}
