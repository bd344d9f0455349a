/* The backend on CPU cores: the fields of the host are the state. */
#include <stdlib.h>
#include <string.h>

#include "compute/dgtd_march/backend.h"
#include "kernels/dgtd/running_dft.h"
#include "runtime/memory.h"

typedef struct cpu_state {
    backend_setup setup;
    double *values; /* [rows][probe_count][2][3] */
} cpu_state;

static ps_status cpu_open(const backend_setup *setup, int ordinal, void **out)
{
    cpu_state *state;
    PS_TRY(PS_ALLOC(&state, 1, "the state"));
    state->setup = *setup;
    *out = state;
    return PS_ALLOC(&state->values, setup->rows * setup->probe_count * 6, "the probes");
}

static void cpu_close(void *opened)
{
    cpu_state *state = opened;
    if (state) free(state->values);
    free(state);
}

static ps_status cpu_nothing(void *opened) { return PS_OK; }

static ps_status cpu_halves(void *opened, ps_dgtd_field field, const backend_part *parts, int count)
{
    const backend_setup *x = &((cpu_state *)opened)->setup;
    ps_dgtd_march at = *x->march;
    for (const backend_part *part = parts; part < parts + count; ++part) {
        at.step = part->step;
        if (part->terms)
            ps_dgtd_energy_half(x->energy, &at, field, part->begin, part->end, part->terms);
        else
            ps_dgtd_march_half(&at, field, part->begin, part->end);
    }
    return PS_OK;
}

static void *field_of(const backend_setup *x, ps_dgtd_field field)
{
    return field == PS_DGTD_E ? x->march->electric : x->march->magnetic;
}

static ps_status cpu_transform(void *opened, ps_dgtd_field field, double scale, double t,
                               int64_t begin, int64_t end)
{
    const backend_setup *x = &((cpu_state *)opened)->setup;
    ps_dgtd_dft_add(x->march->system, field_of(x, field), x->omegas, x->frequencies, scale, t,
                    begin, end, x->sums[field]);
    return PS_OK;
}

static ps_status cpu_sample(void *opened, ps_dgtd_field field, int64_t row, int64_t first,
                            int64_t count)
{
    cpu_state *state = opened;
    const backend_setup *x = &state->setup;
    for (int64_t p = first; p < first + count; ++p)
        ps_dgtd_probe_value(x->probes + p, x->march->system, field_of(x, field),
                            state->values + (row * x->probe_count + p) * 6 + 3 * field);
    return PS_OK;
}

static ps_status cpu_take(void *opened, int64_t count, double *values)
{
    cpu_state *state = opened;
    memcpy(values, state->values, (size_t)(count * state->setup.probe_count * 6) * sizeof *values);
    return PS_OK;
}

static ps_status cpu_pack(void *opened, ps_dgtd_field field, int64_t first, int64_t count,
                          void *buffer)
{
    const backend_setup *x = &((cpu_state *)opened)->setup;
    ps_dgtd_halo_pack(x->march->system, field_of(x, field), x->send + first, count, buffer);
    return PS_OK;
}

static ps_status cpu_unpack(void *opened, ps_dgtd_field field, int64_t first, int64_t count,
                            const void *buffer)
{
    const backend_setup *x = &((cpu_state *)opened)->setup;
    ps_dgtd_halo_unpack(x->march->system, field_of(x, field), x->receive + first, count, buffer);
    return PS_OK;
}

const backend backend_cpu = {"memory",    cpu_open,    cpu_close, cpu_nothing,   cpu_nothing,
                             cpu_nothing, cpu_nothing, cpu_halves, cpu_transform, cpu_sample,
                             cpu_take,    cpu_pack,    cpu_unpack, NULL,          NULL};
