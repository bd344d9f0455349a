#include "formats/dgtd_wires.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/columns.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

enum { VALUES = 15, SPREAD = 2 };

ps_status ps_dgtd_wires_allocate(ps_dgtd_wires *x, int64_t count, int64_t nodes)
{
    *x = (ps_dgtd_wires){.count = count, .nodes = nodes};
    PS_TRY(PS_ALLOC(&x->spec, count, "wires"));
    return PS_ALLOC(&x->points, nodes, "wires");
}

void ps_dgtd_wires_release(ps_dgtd_wires *x)
{
    free(x->spec), free(x->points);
    memset(x, 0, sizeof *x);
}

static ps_status pass(ps_store *store, const ps_dgtd_wires *x, double (*const *values)[VALUES],
                      ps_columns_pass *each)
{
    const ps_column columns[] = {
        {"/wires/values", "1",
         "radius, width (m), eps_r, mu_r, nodes, node of the network, its port, and of the first "
         "and the last "
         "end: on metal, its normal",
         PS_F64, x->count, VALUES, .at = values},
        {"/wires/points", "m", "nodes of the paths", PS_F64, x->nodes, 3, .at = &x->points}};
    return each(store, columns, PS_COLUMNS(columns));
}

ps_status ps_dgtd_wires_write(ps_store *store, const ps_dgtd_wires *x)
{
    PS_SCOPED_MEMORY double(*values)[VALUES] = NULL;
    if (x->count == 0) return PS_OK;
    PS_TRY(PS_ALLOC(&values, x->count, "wires"));
    for (int64_t k = 0; k < x->count; ++k) {
        const ps_dgtd_wire_spec *w = x->spec + k;
        const double row[VALUES] = {w->radius,       w->width,        w->eps,
                                    w->mu,           (double)w->nodes, (double)w->feed,
                                    (double)w->port, w->ground[0],    w->normal[0][0],
                                    w->normal[0][1], w->normal[0][2], w->ground[1],
                                    w->normal[1][0], w->normal[1][1], w->normal[1][2]};
        memcpy(values[k], row, sizeof row);
    }
    PS_TRY(ps_store_put_int(store, "/", "wires", x->count));
    PS_TRY(ps_store_put_int(store, "/", "wire_nodes", x->nodes));
    PS_TRY(ps_store_put_int(store, "/", "wire_spread", SPREAD));
    return pass(store, x, &values, ps_columns_write);
}

/* A wire of these values has: a whole number of nodes, a port without faces, ends that are on metal or not. */
static bool take_wire(const double *v, const ps_dgtd_ports *ports, ps_dgtd_wire_spec *x)
{
    for (int k = 0; k < VALUES; ++k)
        if (!isfinite(v[k])) return false;
    if (!(v[0] > 0 && v[1] > v[0] && v[2] > 0 && v[3] > 0 && v[4] >= 2 && v[4] <= PS_DGTD_WIRE_NODES_MAX &&
          v[5] >= -1 && v[5] < v[4] && v[6] >= -1 && v[6] < (double)ports->count && (v[5] < 0) == (v[6] < 0)))
        return false;
    *x = (ps_dgtd_wire_spec){v[0], v[1], v[2], v[3], (int64_t)v[4], (int64_t)v[5], (int64_t)v[6],
                             {v[7] != 0, v[11] != 0}, {{v[8], v[9], v[10]}, {v[12], v[13], v[14]}}};
    return x->port < 0 || ports->spec[x->port].sides == 0;
}

/* Every port without faces is of one wire; nodes add up, and none is where the one before is. */
static ps_status check_wires(const ps_store *store, const ps_dgtd_ports *ports, const ps_dgtd_wires *x)
{
    int64_t nodes = 0;
    int of_port[PS_DGTD_PORTS_MAX] = {0};
    bool good = true;
    for (int64_t k = 0; k < x->count; nodes += x->spec[k++].nodes)
        if (x->spec[k].port >= 0) ++of_port[x->spec[k].port];
    for (int64_t k = 0; k < ports->count; ++k) good &= of_port[k] == (ports->spec[k].sides == 0);
    good &= nodes == x->nodes;
    for (int64_t k = 0, n = 0; k < x->count && good; n += x->spec[k++].nodes)
        for (int64_t i = n; i < n + x->spec[k].nodes; ++i)
            for (int c = 0; c < 3; ++c)
                good &= isfinite(x->points[i][c]) &&
                        (i == n || memcmp(x->points[i], x->points[i - 1], sizeof *x->points) != 0);
    return good ? PS_OK
                : ps_fail(PS_INVALID, "%s: %lld wires of %lld nodes do not fit one another or their ports",
                          ps_store_path(store), (long long)x->count, (long long)x->nodes);
}

/* The step of a model was bounded for the spread of current that its setup knew. */
static ps_status check_spread(ps_store *store)
{
    int64_t spread = 0;
    if (ps_store_has(store, "/", "wire_spread")) PS_TRY(ps_store_get_int(store, "/", "wire_spread", &spread));
    return spread == SPREAD ? PS_OK
                            : ps_fail(PS_INVALID,
                                      "%s: its wires spread their current in another way than this penstock does: "
                                      "make the model anew with penstock-dgtd-setup",
                                      ps_store_path(store));
}

ps_status ps_dgtd_wires_read(ps_store *store, const ps_dgtd_ports *ports, ps_dgtd_wires *out)
{
    PS_SCOPED_MEMORY double(*values)[VALUES] = NULL;
    int64_t count = 0, nodes = 0;
    *out = (ps_dgtd_wires){0};
    if (!ps_store_has(store, "/", "wires")) return check_wires(store, ports, out);
    PS_TRY(ps_store_get_int(store, "/", "wires", &count));
    PS_TRY(ps_store_get_int(store, "/", "wire_nodes", &nodes));
    PS_TRY(check_spread(store));
    if (count < 1 || count > PS_DGTD_WIRES_MAX || nodes < 2 * count || nodes > count * PS_DGTD_WIRE_NODES_MAX)
        return ps_fail(PS_INVALID, "%s: %lld wires of %lld nodes", ps_store_path(store), (long long)count,
                       (long long)nodes);
    *out = (ps_dgtd_wires){.count = count, .nodes = nodes};
    PS_TRY(PS_ALLOC(&out->spec, count, "wires"));
    PS_TRY(pass(store, out, &values, ps_columns_load));
    for (int64_t k = 0; k < count; ++k)
        if (!take_wire(values[k], ports, out->spec + k))
            return ps_fail(PS_INVALID, "%s: wire %lld has values that no wire has", ps_store_path(store),
                           (long long)k);
    return check_wires(store, ports, out);
}
