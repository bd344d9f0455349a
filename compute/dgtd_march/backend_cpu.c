/* The backend on CPU cores: the fields of the host are the state. */
#include <stdlib.h>
#include <string.h>

#include "compute/dgtd_march/backend.h"
#include "kernels/dgtd/running_dft.h"
#include "runtime/memory.h"

typedef struct cpu_state {
    backend_setup setup;
    double *values; /* [rows][probe_count][2][3] */
    void *halo[2];  /* traces that come in, that go out */
} cpu_state;

static ps_status cpu_open(const backend_setup *setup, int ordinal, void **out)
{
    cpu_state *state;
    PS_TRY(PS_ALLOC(&state, 1, "the state"));
    state->setup = *setup;
    *out = state;
    int64_t bytes = ps_dgtd_face_bytes(setup->march->system);
    for (int k = 0; k < 2; ++k)
        PS_TRY(ps_alloc(&state->halo[k], setup->faces, (size_t)bytes, "the halo"));
    return PS_ALLOC(&state->values, setup->rows * setup->probe_count * 6, "the probes");
}

static void cpu_close(void *opened)
{
    cpu_state *state = opened;
    if (!state) return;
    PS_FREE(state->values, state->halo[0], state->halo[1], state);
}

static ps_status cpu_nothing(void *opened) { return PS_OK; }

static ps_status cpu_halves(void *opened, ps_dgtd_field field, const backend_part *parts, int count)
{
    const backend_setup *x = &((cpu_state *)opened)->setup;
    ps_dgtd_march at = *x->march;
    for (const backend_part *part = parts; part < parts + count; ++part) {
        at.step = part->step;
        if (part->restore)
            ps_dgtd_local_swap(at.local, at.system, at.magnetic, part->begin, part->end);
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

static ps_status cpu_take(void *opened, int64_t count, double *values, const backend_sums *sums)
{
    cpu_state *state = opened;
    int64_t groups = state->setup.march->system->groups;
    for (int field = 0; field < 2; ++field)
        for (int64_t r = 0; r < sums->rows[field]; ++r) {
            const double *terms = state->setup.terms[field] + r * groups;
            sums->of[field][r] = 0;
            for (int64_t g = 0; g < groups; ++g) sums->of[field][r] += terms[g];
        }
    memcpy(values, state->values, (size_t)(count * state->setup.probe_count * 6) * sizeof *values);
    return PS_OK;
}

static void *cpu_halo(void *opened, bool out) { return ((cpu_state *)opened)->halo[out]; }

static ps_status cpu_pack_array(void *opened, const void *array)
{
    const backend_setup *x = &((cpu_state *)opened)->setup;
    ps_dgtd_halo_pack(x->march->system, array, x->send, x->faces, cpu_halo(opened, true));
    return PS_OK;
}

static ps_status cpu_unpack_array(void *opened, void *array)
{
    const backend_setup *x = &((cpu_state *)opened)->setup;
    ps_dgtd_halo_unpack(x->march->system, array, x->receive, x->faces, cpu_halo(opened, false));
    return PS_OK;
}

static ps_status cpu_pack(void *opened, ps_dgtd_field field)
{
    return cpu_pack_array(opened, field_of(&((cpu_state *)opened)->setup, field));
}

static ps_status cpu_unpack(void *opened, ps_dgtd_field field)
{
    return cpu_unpack_array(opened, field_of(&((cpu_state *)opened)->setup, field));
}

static ps_status cpu_local_part(void *opened, int from, int to, int64_t begin, int64_t end)
{
    const ps_dgtd_march *m = ((cpu_state *)opened)->setup.march;
    if (from == 0) ps_dgtd_local_keep(m->local, m->system, m->magnetic, begin, end);
    for (int i = from; i < to; ++i)
        ps_dgtd_local_op_run(m->local, m->local->ops + i, m->magnetic, begin, end);
    return PS_OK;
}

static ps_status cpu_local_keep(void *opened, bool inner) /* all at once, and first */
{
    const ps_dgtd_march *m = ((cpu_state *)opened)->setup.march;
    return inner ? cpu_local_part(opened, 0, 0, 0, m->system->groups) : PS_OK;
}

static ps_status cpu_local_op(void *opened, int op)
{
    const ps_dgtd_march *m = ((cpu_state *)opened)->setup.march;
    ps_dgtd_local_op_run(m->local, m->local->ops + op, m->magnetic, 0, m->system->groups);
    return PS_OK;
}

static ps_status cpu_local_restore(void *opened)
{
    const ps_dgtd_march *m = ((cpu_state *)opened)->setup.march;
    ps_dgtd_local_swap(m->local, m->system, m->magnetic, 0, m->system->groups);
    return PS_OK;
}

static void *cpu_local_source(void *opened, int op)
{
    const ps_dgtd_march *m = ((cpu_state *)opened)->setup.march;
    return op < 0 ? m->magnetic
                  : ps_dgtd_local_op_source(m->local, m->local->ops + op, m->magnetic);
}

const backend backend_cpu = {.name = "memory",
                             .open = cpu_open,
                             .close = cpu_close,
                             .put = cpu_nothing,
                             .load = cpu_nothing,
                             .get = cpu_nothing,
                             .save = cpu_nothing,
                             .halves = cpu_halves,
                             .transform = cpu_transform,
                             .sample = cpu_sample,
                             .take = cpu_take,
                             .pack = cpu_pack,
                             .packed = cpu_nothing,
                             .unpack = cpu_unpack,
                             .halo = cpu_halo,
                             .pack_array = cpu_pack_array,
                             .unpack_array = cpu_unpack_array,
                             .local_keep = cpu_local_keep,
                             .local_op = cpu_local_op,
                             .local_part = cpu_local_part,
                             .local_restore = cpu_local_restore,
                             .local_source = cpu_local_source};
