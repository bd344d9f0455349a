#include "formats/port_signals.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/columns.h"
#include "runtime/memory.h"

enum { COLUMNS = 5, MODES = 4, NAMES = PS_DGTD_PORTS_MAX * PS_DGTD_PORT_NAME };

ps_status ps_port_signals_init(ps_port_signals *x, int64_t ports, int64_t samples)
{
    *x = (ps_port_signals){.ports = ports, .samples = samples};
    PS_TRY(PS_ALLOC(&x->voltage, ports * samples, "signals of ports"));
    PS_TRY(PS_ALLOC(&x->current, ports * samples, "signals of ports"));
    PS_TRY(PS_ALLOC(&x->reference, ports, "signals of ports"));
    PS_TRY(PS_ALLOC(&x->mode, ports, "signals of ports"));
    PS_TRY(PS_ALLOC(&x->driven, ports, "signals of ports"));
    return PS_ALLOC(&x->name, ports, "signals of ports");
}

void ps_port_signals_release(ps_port_signals *x)
{
    free(x->voltage), free(x->current), free(x->reference), free(x->driven), free(x->name);
    free(x->mode);
    memset(x, 0, sizeof *x);
}

/* The last is not in files of version 1. */
static void list_columns(const ps_port_signals *x, double *modes, ps_column out[COLUMNS])
{
    const ps_column columns[COLUMNS] = {
        {"/signals/voltage", "V", "of the + terminal against the -, at (row + 1/2) dt", PS_F64,
         x->samples, x->ports, x->voltage},
        {"/signals/current", "A", "out of the + terminal into the field", PS_F64, x->samples,
         x->ports, x->current},
        {"/ports/reference", "ohm", "of S-parameters", PS_F64, x->ports, 1, x->reference},
        {"/ports/driven", "1", "1: its network has a source", PS_U8, x->ports, 1, x->driven},
        {"/ports/mode", "1", "0 lumped, 1 TEM, 2 TE, 3 TM; k_c (1/m), eps_r, mu_r", PS_F64, x->ports,
         MODES, modes}};
    memcpy(out, columns, sizeof columns);
}

ps_status ps_port_signals_write(ps_store *store, const ps_port_signals *x)
{
    char names[NAMES] = "";
    double modes[PS_DGTD_PORTS_MAX * MODES];
    ps_column columns[COLUMNS];
    for (int64_t k = 0; k < x->ports; ++k) {
        const double mode[MODES] = {x->mode[k].guide, x->mode[k].cutoff, x->mode[k].eps, x->mode[k].mu};
        memcpy(modes + k * MODES, mode, sizeof mode);
        strcat(strcat(names, x->name[k]), "\n");
    }
    PS_TRY(ps_store_put_int(store, "/", "ports", x->ports));
    PS_TRY(ps_store_put_int(store, "/", "samples", x->samples));
    PS_TRY(ps_store_put_real(store, "/", "time_step_seconds", x->dt));
    PS_TRY(ps_store_put_real(store, "/", "left", x->left));
    PS_TRY(ps_store_put_text(store, "/", "port_names", names));
    PS_TRY(ps_store_put_text(store, "/", "mesh_hash", x->mesh_hash));
    PS_TRY(ps_store_put_text(store, "/", "body_hash", x->body_hash));
    list_columns(x, modes, columns);
    return ps_columns_write(store, columns, COLUMNS);
}

static void cut_names(const char *names, ps_port_signals *x)
{
    for (int64_t k = 0; k < x->ports && *names; ++k) {
        size_t length = strcspn(names, "\n"), room = sizeof x->name[k] - 1;
        memcpy(x->name[k], names, length < room ? length : room);
        names += length + (names[length] == '\n');
    }
}

ps_status ps_port_signals_read(ps_store *store, ps_port_signals *out)
{
    char names[NAMES];
    double modes[PS_DGTD_PORTS_MAX * MODES] = {0};
    bool old = ps_store_version(store) < 2;
    int64_t ports, samples;
    ps_column columns[COLUMNS];
    *out = (ps_port_signals){0};
    PS_TRY(ps_store_get_int(store, "/", "ports", &ports));
    PS_TRY(ps_store_get_int(store, "/", "samples", &samples));
    if (ports < 1 || ports > PS_DGTD_PORTS_MAX || samples < 1 || samples > (int64_t)1 << 40)
        return ps_fail(PS_INVALID, "%s: %lld samples of %lld ports", ps_store_path(store),
                       (long long)samples, (long long)ports);
    PS_TRY(ps_store_expect(store, "/signals/voltage", PS_F64, samples, ports));
    PS_TRY(ps_store_expect(store, "/signals/current", PS_F64, samples, ports));
    PS_TRY(ps_port_signals_init(out, ports, samples));
    PS_TRY(ps_store_get_real(store, "/", "time_step_seconds", &out->dt));
    PS_TRY(ps_store_get_real(store, "/", "left", &out->left));
    PS_TRY(ps_store_get_text(store, "/", "mesh_hash", out->mesh_hash, sizeof out->mesh_hash));
    if (ps_store_has(store, "/", "body_hash"))
        PS_TRY(ps_store_get_text(store, "/", "body_hash", out->body_hash, sizeof out->body_hash));
    PS_TRY(ps_store_get_text(store, "/", "port_names", names, sizeof names));
    cut_names(names, out);
    list_columns(out, modes, columns);
    PS_TRY(ps_columns_read(store, columns, old ? COLUMNS - 1 : COLUMNS));
    for (int64_t k = 0; k < ports; ++k) {
        const double *m = modes + k * MODES;
        out->mode[k] = (ps_dgtd_port_mode){m[0] >= 0 && m[0] <= 3 ? (int)m[0] : -1, m[1], m[2], m[3]};
        PS_TRY(ps_dgtd_port_mode_check(store, out->name[k], out->mode + k));
        if (!(out->reference[k] > 0) || !isfinite(out->reference[k]) || !(out->dt > 0))
            return ps_fail(PS_INVALID, "%s: port %lld has a reference of %g ohm, steps of %g s",
                           ps_store_path(store), (long long)k, out->reference[k], out->dt);
    }
    return PS_OK;
}
