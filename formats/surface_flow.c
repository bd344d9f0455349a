#include "formats/surface_flow.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/columns.h"
#include "runtime/memory.h"

static const char *const names[] = {"body_flow_x", "body_flow_y", "body_flow_z"};

static ps_column column_of(const ps_surface_flow *f)
{
    return (ps_column){"/flow_potential",
                       "m^2/s",
                       "of the flow about the body, at every vertex",
                       PS_F64,
                       f->vertices,
                       1,
                       f->potential};
}

ps_status ps_surface_flow_init(ps_surface_flow *f, const double velocity[3], int64_t vertices)
{
    *f = (ps_surface_flow){.vertices = vertices};
    memcpy(f->velocity, velocity, sizeof f->velocity);
    return PS_ALLOC(&f->potential, vertices, "the flow about the body");
}

void ps_surface_flow_release(ps_surface_flow *f)
{
    free(f->potential);
    memset(f, 0, sizeof *f);
}

ps_status ps_surface_flow_put(const ps_surface_flow *f, ps_store *store)
{
    if (f->vertices == 0) return PS_OK;
    ps_column column = column_of(f);
    for (int k = 0; k < 3; ++k) PS_TRY(ps_store_put_real(store, "/", names[k], f->velocity[k]));
    return ps_columns_write(store, &column, 1);
}

static ps_status read_all(ps_store *store, ps_surface_flow *f)
{
    ps_column column = column_of(f);
    for (int k = 0; k < 3; ++k) {
        PS_TRY(ps_store_get_real(store, "/", names[k], &f->velocity[k]));
        if (!isfinite(f->velocity[k]))
            return ps_fail(PS_INVALID, "attribute %s is not finite", names[k]);
    }
    PS_TRY(ps_store_expect(store, column.name, PS_F64, column.rows, column.width));
    PS_TRY(PS_ALLOC(&f->potential, f->vertices, "the flow about the body"));
    column = column_of(f);
    return ps_columns_read(store, &column, 1);
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
