#include "formats/surface_flow.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/columns.h"

static const char *const names[] = {"body_flow_x", "body_flow_y", "body_flow_z"};

static ps_status pass(ps_store *store, const ps_surface_flow *f, ps_columns_pass *each)
{
    const ps_column column = {"/flow_potential",
                              "m^2/s",
                              "of the flow about the body, at every vertex",
                              PS_F64,
                              f->vertices,
                              1,
                              .at = &f->potential};
    return each(store, &column, 1);
}

ps_status ps_surface_flow_init(ps_surface_flow *f, const double velocity[3], int64_t vertices)
{
    *f = (ps_surface_flow){.vertices = vertices};
    memcpy(f->velocity, velocity, sizeof f->velocity);
    return pass(NULL, f, ps_columns_allocate);
}

void ps_surface_flow_release(ps_surface_flow *f)
{
    free(f->potential);
    memset(f, 0, sizeof *f);
}

ps_status ps_surface_flow_put(const ps_surface_flow *f, ps_store *store)
{
    if (f->vertices == 0) return PS_OK;
    for (int k = 0; k < 3; ++k) PS_TRY(ps_store_put_real(store, "/", names[k], f->velocity[k]));
    return pass(store, f, ps_columns_write);
}

static ps_status read_all(ps_store *store, ps_surface_flow *f)
{
    for (int k = 0; k < 3; ++k) {
        PS_TRY(ps_store_get_real(store, "/", names[k], &f->velocity[k]));
        if (!isfinite(f->velocity[k]))
            return ps_fail(PS_INVALID, "attribute %s is not finite", names[k]);
    }
    return pass(store, f, ps_columns_load);
}

ps_status ps_surface_flow_get(ps_store *store, int64_t vertices, ps_surface_flow *f)
{
    *f = (ps_surface_flow){.vertices = 0};
    if (!ps_store_has(store, "/", names[0])) return PS_OK;
    f->vertices = vertices;
    ps_status status = read_all(store, f);
    if (status != PS_OK) ps_surface_flow_release(f);
    return status == PS_OK ? PS_OK : ps_context(status, "%s", ps_store_path(store));
}
