#include "kernels/hbem/potentials_device.h"

#include <string.h>

enum { ALIGN = 64, SPLITS_MAX = 256, SPLIT_TRIANGLES = 84 };

ps_status ps_device_potential_shape(const ps_hbem_potential_task *task, ps_precision precision,
                                    ps_device_potential *out)
{
    if (task->columns < 1 || task->columns > PS_DEVICE_POTENTIAL_COLUMNS)
        return ps_fail(PS_USAGE, "a device sums 1 to %d densities at a time, not %d",
                       PS_DEVICE_POTENTIAL_COLUMNS, task->columns);
    int64_t triangles = task->space->surface->triangle_count;
    int64_t splits = (triangles + SPLIT_TRIANGLES - 1) / SPLIT_TRIANGLES;
    *out = (ps_device_potential){.kind = task->kind,
                                 .precision = precision,
                                 .wavenumber = task->wavenumber,
                                 .absorption = task->absorption,
                                 .columns = task->columns,
                                 .numbers = task->columns *
                                            ps_hbem_potential_parts(task->kind, task->wavenumber),
                                 .triangle_count = triangles,
                                 .target_count = task->target_count,
                                 .splits = splits < SPLITS_MAX ? splits : SPLITS_MAX};
    return PS_OK;
}

/* Where the next piece goes; NULL while only sizes are asked. */
static double *piece(char *memory, int64_t *used, int64_t doubles)
{
    char *at = memory ? memory + *used : NULL;
    *used += (8 * doubles + ALIGN - 1) / ALIGN * ALIGN;
    return (double *)at;
}

int64_t ps_device_potential_attach(ps_device_potential *p, bool device, void *memory)
{
    int64_t used = 0, values = p->target_count * p->numbers;
    p->triangles = piece(memory, &used, PS_DEVICE_POTENTIAL_ROW * p->triangle_count);
    p->densities = piece(memory, &used, 3 * p->triangle_count * p->numbers);
    p->targets = piece(memory, &used, 3 * p->target_count);
    p->sums = piece(memory, &used, values);
    p->partial = device ? piece(memory, &used, p->splits * values) : NULL;
    return used;
}

int64_t ps_device_potential_bytes(const ps_device_potential *potential, bool device)
{
    ps_device_potential copy = *potential;
    return ps_device_potential_attach(&copy, device, NULL);
}

void ps_device_potential_fill_surface(const ps_hbem_potential_task *task, ps_device_potential *out)
{
#pragma omp parallel for
    for (int64_t t = 0; t < out->triangle_count; ++t) {
        const ps_hbem_triangle *from = &task->space->surface->triangles[t];
        double *to = out->triangles + PS_DEVICE_POTENTIAL_ROW * t;
        memcpy(to, from->corner, sizeof from->corner);
        memcpy(to + 9, from->normal, sizeof from->normal);
        to[12] = from->jacobian;
    }
}

void ps_device_potential_fill(const ps_hbem_potential_task *task, ps_device_potential *out)
{
    int64_t dofs = task->space->dofs;
#pragma omp parallel for
    for (int64_t i = 0; i < 3 * out->triangle_count; ++i)
        for (int e = 0; e < out->numbers; ++e)
            out->densities[i * out->numbers + e] =
                task->densities[e * dofs + task->space->dof_of[i]];
    memcpy(out->targets, task->targets, (size_t)(3 * task->target_count) * sizeof *out->targets);
}

void ps_device_potential_add(const ps_hbem_potential_task *task, const double *sums)
{
    for (int64_t i = 0; i < task->target_count; ++i)
        ps_hbem_potential_scale(
            task, i,
            sums + i * task->columns * ps_hbem_potential_parts(task->kind, task->wavenumber), 1);
}
