#include "formats/surface_velocity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/columns.h"

static ps_status pass(ps_store *store, const ps_surface_velocity *v, ps_columns_pass *each)
{
    const ps_column columns[] = {{"/velocity_patterns", "1", "of every triangle, a row a mode",
                                  PS_F64, v->modes, v->triangle_count, .at = &v->patterns},
                                 {"/velocity_signals", "m/s, m/s^2",
                                  "s and ds/dt at t_n = n dt, n = 0.., mode by mode", PS_F64,
                                  v->modes * (v->steps + 1), 2, .at = &v->signals}};
    return each(store, columns, PS_COLUMNS(columns));
}

ps_status ps_surface_velocity_init(ps_surface_velocity *v)
{
    return pass(NULL, v, ps_columns_allocate);
}

void ps_surface_velocity_release(ps_surface_velocity *v)
{
    free(v->patterns);
    free(v->signals);
    memset(v, 0, sizeof *v);
}

void ps_surface_velocity_shorten(ps_surface_velocity *v, int64_t steps)
{
    int64_t before = 2 * (v->steps + 1), after = 2 * (steps + 1);
    for (int64_t m = 0; m < v->modes && after < before; ++m)
        memmove(v->signals + m * after, v->signals + m * before,
                (size_t)after * sizeof *v->signals);
    if (after < before) v->steps = steps;
}

int64_t ps_surface_velocity_bytes(const ps_surface_velocity *v)
{
    return 8 * v->modes * (v->triangle_count + 2 * (v->steps + 1));
}

ps_status ps_surface_velocity_put(const ps_surface_velocity *v, ps_store *store)
{
    if (v->modes == 0) return PS_OK;
    PS_TRY(ps_store_put_int(store, "/", "velocity_modes", v->modes));
    PS_TRY(ps_store_put_int(store, "/", "velocity_triangles", v->triangle_count));
    PS_TRY(ps_store_put_real(store, "/", "density", v->density));
    return pass(store, v, ps_columns_write);
}

static ps_status read_all(ps_store *store, ps_surface_velocity *v)
{
    PS_TRY(ps_store_get_int(store, "/", "velocity_modes", &v->modes));
    PS_TRY(ps_store_get_int(store, "/", "velocity_triangles", &v->triangle_count));
    PS_TRY(ps_store_get_real(store, "/", "density", &v->density));
    if (v->modes < 1 || v->steps > 1000000000 || v->triangle_count < 1 || v->modes > INT32_MAX ||
        v->triangle_count > INT32_MAX || !(v->density > 0) || !isfinite(v->density))
        return ps_fail(PS_INVALID, "%s: a velocity of %lld modes on %lld triangles, density %g",
                       ps_store_path(store), (long long)v->modes, (long long)v->triangle_count,
                       v->density);
    return pass(store, v, ps_columns_load);
}

ps_status ps_surface_velocity_get(ps_store *store, int64_t steps, ps_surface_velocity *v)
{
    *v = (ps_surface_velocity){.steps = steps};
    if (!ps_store_has(store, "/", "velocity_modes")) return PS_OK;
    ps_status status = read_all(store, v);
    if (status != PS_OK) ps_surface_velocity_release(v);
    return status;
}
