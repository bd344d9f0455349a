#include "stage/dgtd_local.h"

#include <stdlib.h>
#include <string.h>

/* Zeroed pages that are not there until something is written to them. */
static ps_status take(ps_dgtd_local_steps *x, int64_t bytes, void **out)
{
    char *memory = calloc((size_t)bytes + 1024 + PS_DGTD_ALIGN, 1); /* sweeps look ahead */
    if (!memory) return ps_fail(PS_EXHAUSTED, "no memory for the local steps");
    x->memory[x->count++] = memory;
    *out = memory + (PS_DGTD_ALIGN - (uintptr_t)memory % PS_DGTD_ALIGN) % PS_DGTD_ALIGN;
    return PS_OK;
}

static ps_status take_level(ps_dgtd_local_steps *x, int l, int64_t field_bytes)
{
    ps_dgtd_local_level *level = x->local.level + l;
    const ps_dgtd_system *s = &level->system;
    int64_t slots = s->groups * ps_dgtd_lanes(s->precision);
    void *material = NULL, *runs = NULL;
    PS_TRY(take(x, field_bytes, &level->electric));
    if (l + 1 < x->local.levels) PS_TRY(take(x, field_bytes, &level->magnetic));
    PS_TRY(take(x, slots * (int64_t)sizeof(uint16_t), &material));
    PS_TRY(take(x, 4 * s->materials * (int64_t)sizeof(double), &level->system.steps));
    level->system.material = material;
    for (int k = 0; k < 2; ++k) {
        PS_TRY(take(x, 2 * level->run_count[k] * (int64_t)sizeof(int64_t), &runs));
        level->runs[k] = runs;
    }
    return PS_OK;
}

static ps_status open_all(ps_dgtd_local_steps *x, const ps_dgtd_system *system,
                          const ps_dgtd_material *materials, const uint8_t *reach, double dt,
                          int64_t field_bytes)
{
    void *inside = NULL, *links = NULL, *kinds = NULL, *bordered = NULL;
    int64_t faces = 4 * system->groups * ps_dgtd_lanes(system->precision);
    if (system->materials > UINT16_MAX / 3)
        return ps_fail(PS_EXHAUSTED, "%lld media: local steps can have %d",
                       (long long)system->materials, UINT16_MAX / 3);
    PS_TRY(take(x, field_bytes, &x->local.kept));
    PS_TRY(take(x, system->groups, &inside));
    PS_TRY(take(x, faces * (int64_t)sizeof *x->local.links, &links));
    PS_TRY(take(x, faces, &kinds));
    PS_TRY(take(x, system->groups, &bordered));
    x->local.inside = inside;
    x->local.links = links;
    x->local.kinds = kinds;
    x->local.bordered = bordered;
    for (int l = 0; l < x->local.levels; ++l) PS_TRY(take_level(x, l, field_bytes));
    ps_dgtd_local_fill(&x->local, system, materials, reach, dt);
    return PS_OK;
}

ps_status ps_dgtd_local_open(ps_dgtd_local_steps *x, const ps_dgtd_system *system,
                             const ps_dgtd_material *materials, const uint8_t *reach, int levels,
                             double dt, int64_t field_bytes)
{
    memset(x, 0, sizeof *x);
    ps_dgtd_local_count(&x->local, system, reach, levels);
    ps_status status = open_all(x, system, materials, reach, dt, field_bytes);
    if (status != PS_OK) ps_dgtd_local_close(x);
    return status;
}

void ps_dgtd_local_close(ps_dgtd_local_steps *x)
{
    for (int i = 0; i < x->count; ++i) free(x->memory[i]);
    memset(x, 0, sizeof *x);
}

int64_t ps_dgtd_local_bytes(const ps_dgtd_system *s, const uint8_t *reach, int levels)
{
    int64_t lanes = ps_dgtd_lanes(s->precision), fields = 0, slots = s->groups * lanes;
    for (int64_t e = 0; e < s->elements; ++e) {
        int p = ps_dgtd_reach_p(reach[e]), q = ps_dgtd_reach_q(reach[e]);
        fields += p + (q < levels ? q : levels - 1) + (q > 0);
    }
    return fields * 3 * s->reference->nodes * PS_DGTD_ALIGN / lanes + 2 * slots * (levels + 10) +
           2 * s->groups;
}
