#include "formats/port_signals.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/columns.h"
#include "formats/entries.h"
#include "formats/store_texts.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

enum { MODES = 4 };
static const char signals_of[] = "signals of ports";

/* The last is not in files of version 1. */
static ps_status pass_arrays(ps_store *store, const ps_port_signals *x,
                             double (*const *modes)[MODES], ps_columns_pass *each)
{
    const ps_column columns[] = {
        {"/signals/voltage", "V", "of the + terminal against the -, at (row + 1/2) dt", PS_F64,
         x->samples, x->ports, .at = &x->voltage},
        {"/signals/current", "A", "out of the + terminal into the field", PS_F64, x->samples,
         x->ports, .at = &x->current},
        {"/ports/reference", "ohm", "of S-parameters", PS_F64, x->ports, 1, .at = &x->reference},
        {"/ports/driven", "1", "1: its network has a source", PS_U8, x->ports, 1, .at = &x->driven},
        {"/ports/mode", "1", "0 lumped, 1 TEM, 2 TE, 3 TM; k_c (1/m), eps_r, mu_r", PS_F64,
         x->ports, MODES, .at = modes}};
    return each(store, columns, PS_COLUMNS(columns) - (modes == NULL));
}

static ps_status pass_numbers(ps_store *store, const ps_port_signals *x, ps_entries_pass *each)
{
    const ps_entry entries[] = {
        PS_ENTRY("ports", x->ports),          PS_ENTRY("samples", x->samples),
        PS_ENTRY("time_step_seconds", x->dt), PS_ENTRY("left", x->left),
        PS_ENTRY("mesh_hash", x->mesh_hash),  PS_ENTRY_OPTIONAL("body_hash", x->body_hash)};
    return each(store, "/", entries, PS_ENTRIES(entries));
}

ps_status ps_port_signals_init(ps_port_signals *x, int64_t ports, int64_t samples)
{
    *x = (ps_port_signals){.ports = ports, .samples = samples};
    PS_TRY(pass_arrays(NULL, x, NULL, ps_columns_allocate));
    PS_TRY(PS_ALLOC(&x->mode, ports, signals_of));
    return PS_ALLOC(&x->name, ports, signals_of);
}

void ps_port_signals_release(ps_port_signals *x)
{
    free(x->voltage), free(x->current), free(x->reference), free(x->driven), free(x->name);
    free(x->mode);
    memset(x, 0, sizeof *x);
}

ps_status ps_port_signals_write(ps_store *store, const ps_port_signals *x)
{
    PS_SCOPED_MEMORY double(*modes)[MODES] = NULL;
    PS_TRY(PS_ALLOC(&modes, x->ports, signals_of));
    for (int64_t k = 0; k < x->ports; ++k) {
        const double mode[MODES] = {x->mode[k].guide, x->mode[k].cutoff, x->mode[k].eps,
                                    x->mode[k].mu};
        memcpy(modes[k], mode, sizeof mode);
    }
    PS_TRY(pass_numbers(store, x, ps_entries_put));
    PS_TRY(ps_store_put_lines(store, "port_names", x->ports, x->name[0], sizeof *x->name));
    return pass_arrays(store, x, &modes, ps_columns_write);
}

ps_status ps_port_signals_read(ps_store *store, ps_port_signals *out)
{
    static const double lumped[MODES] = {0};
    PS_SCOPED_MEMORY double(*modes)[MODES] = NULL;
    bool old = ps_store_version(store) < 2;
    *out = (ps_port_signals){0};
    PS_TRY(pass_numbers(store, out, ps_entries_get));
    if (out->ports < 1 || out->ports > PS_DGTD_PORTS_MAX || out->samples < 1 ||
        out->samples > (int64_t)1 << 40)
        return ps_fail(PS_INVALID, "%s: %lld samples of %lld ports", ps_store_path(store),
                       (long long)out->samples, (long long)out->ports);
    PS_TRY(pass_arrays(store, out, old ? NULL : &modes, ps_columns_load));
    PS_TRY(PS_ALLOC(&out->mode, out->ports, signals_of));
    PS_TRY(PS_ALLOC(&out->name, out->ports, signals_of));
    PS_TRY(ps_store_get_lines(store, "port_names", out->ports, out->name[0], sizeof *out->name,
                              sizeof *out->name));
    for (int64_t k = 0; k < out->ports; ++k) {
        const double *m = modes ? modes[k] : lumped;
        out->mode[k] =
            (ps_dgtd_port_mode){m[0] >= 0 && m[0] <= 3 ? (int)m[0] : -1, m[1], m[2], m[3]};
        PS_TRY(ps_dgtd_port_mode_check(store, out->name[k], out->mode + k));
        if (!(out->reference[k] > 0) || !isfinite(out->reference[k]) || !(out->dt > 0))
            return ps_fail(PS_INVALID, "%s: port %lld has a reference of %g ohm, steps of %g s",
                           ps_store_path(store), (long long)k, out->reference[k], out->dt);
    }
    return PS_OK;
}
