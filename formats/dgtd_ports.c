#include "formats/dgtd_ports.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/columns.h"
#include "formats/store_texts.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

static const double LIGHT = 299792458;

enum { VALUES = 12, MODES = 4, FACE_NODES_MAX = 15 };

/* What ports are told by, a row each in the file; without modes all are lumped. */
typedef struct rows {
    double (*values)[VALUES], (*modes)[MODES];
} rows;

static void release_rows(rows *r) { PS_FREE(r->values, r->modes); }

ps_status ps_dgtd_ports_allocate(ps_dgtd_ports *x, int64_t count, int64_t sides, int nodes)
{
    *x = (ps_dgtd_ports){.count = count, .sides = sides, .nodes = nodes};
    PS_TRY(PS_ALLOC(&x->spec, count, "ports"));
    PS_TRY(PS_ALLOC(&x->faces, sides, "ports"));
    return PS_ALLOC(&x->gradients, sides * nodes, "ports");
}

void ps_dgtd_ports_release(ps_dgtd_ports *x)
{
    free(x->spec), free(x->faces), free(x->gradients);
    memset(x, 0, sizeof *x);
}

static ps_status pass(ps_store *store, const ps_dgtd_ports *x, const rows *r, bool modal,
                      ps_columns_pass *each)
{
    const ps_column columns[] = {
        {"/ports/values", "1",
         "parallel, R (ohm), L (H), C (F), reference (ohm), shape, amplitude (V), centre, width "
         "(m), omega (1/m), int |grad phi|^2, sides",
         PS_F64, x->count, VALUES, .at = &r->values},
        {"/ports/face", "1", "4 element + face", PS_I32, x->sides, 1, .at = &x->faces},
        {"/ports/gradient", "1/m", "grad phi, halved where there are two sides", PS_F64, x->sides,
         3 * x->nodes, .at = &x->gradients},
        {"/ports/mode", "1", "0 lumped, 1 TEM, 2 TE, 3 TM; k_c (1/m), eps_r, mu_r", PS_F64,
         x->count, MODES, .at = &r->modes}};
    return each(store, columns, PS_COLUMNS(columns) - !modal);
}

ps_status ps_dgtd_ports_write(ps_store *store, const ps_dgtd_ports *x)
{
    PS_SCOPED(release_rows) rows r = {0};
    bool modal = false;
    if (x->count == 0) return PS_OK;
    PS_TRY(PS_ALLOC(&r.values, x->count, "ports"));
    PS_TRY(PS_ALLOC(&r.modes, x->count, "ports"));
    for (int64_t k = 0; k < x->count; ++k) {
        const ps_dgtd_port_spec *p = x->spec + k;
        const double row[VALUES] = {p->parallel,  p->resistance, p->inductance, p->capacitance,
                                    p->reference, p->shape,      p->amplitude,  p->centre,
                                    p->width,     p->omega,      p->norm,       (double)p->sides};
        const double mode[MODES] = {p->mode.guide, p->mode.cutoff, p->mode.eps, p->mode.mu};
        memcpy(r.values[k], row, sizeof row);
        memcpy(r.modes[k], mode, sizeof mode);
        modal |= p->mode.guide != 0;
    }
    PS_TRY(ps_store_put_int(store, "/", "ports", x->count));
    PS_TRY(ps_store_put_int(store, "/", "port_sides", x->sides));
    if (modal) PS_TRY(ps_store_put_int(store, "/", "port_nodes", x->nodes));
    PS_TRY(ps_store_put_lines(store, "port_names", x->count, x->spec->name, sizeof *x->spec));
    return pass(store, x, &r, modal, ps_columns_write);
}

double ps_dgtd_port_cutoff(const ps_dgtd_port_mode *x)
{
    return x->guide ? x->cutoff * LIGHT / (2 * M_PI * sqrt(x->eps * x->mu)) : 0;
}

bool ps_dgtd_port_impedance(const ps_dgtd_port_mode *x, double reference, double frequency,
                            double *impedance, double *beta)
{
    enum { TE = 2, TM };
    double part = ps_dgtd_port_cutoff(x) / frequency;
    *impedance = reference;
    *beta = 0;
    if (part >= 1 - 1e-6) return false;
    double root = sqrt(1 - part * part);
    if (x->guide) *beta = 2 * M_PI * frequency / LIGHT * sqrt(x->eps * x->mu) * root;
    if (x->guide == TE) *impedance /= root;
    if (x->guide == TM) *impedance *= root;
    return true;
}

ps_status ps_dgtd_port_mode_check(const ps_store *store, const char *name,
                                  const ps_dgtd_port_mode *x)
{
    bool lumped = x->guide == 0 && x->cutoff == 0;
    if (isfinite(x->cutoff + x->eps + x->mu) && x->guide >= 0 && x->guide <= 3 &&
        (lumped || (x->eps > 0 && x->mu > 0 && (x->guide == 1 ? x->cutoff == 0 : x->cutoff > 0))))
        return PS_OK;
    return ps_fail(PS_INVALID, "%s: port \"%s\" has a mode that no guide has", ps_store_path(store),
                   name);
}

static ps_status check_port(const ps_store *store, const ps_dgtd_port_spec *x)
{
    double sum = x->resistance + x->inductance + x->capacitance + x->amplitude + x->centre +
                 x->width + x->omega + x->norm;
    if (isfinite(sum) && x->resistance >= 0 && x->inductance >= 0 && x->capacitance >= 0 &&
        (x->resistance + x->inductance + x->capacitance > 0) == (x->mode.guide == 0) &&
        x->reference > 0 && x->norm > 0 && x->sides >= 0 && x->shape >= 0 && x->shape <= 1 &&
        (x->amplitude == 0 || x->width > 0) &&
        (x->amplitude == 0 || !x->parallel || x->resistance > 0))
        return PS_OK;
    return ps_fail(PS_INVALID, "%s: port \"%s\" has values that no port has", ps_store_path(store),
                   x->name);
}

static ps_status take_values(const ps_store *store, const rows *r, ps_dgtd_ports *x)
{
    static const double lumped[MODES] = {0};
    int64_t sides = 0;
    for (int64_t k = 0; k < x->count; ++k) {
        const double *v = r->values[k], *m = r->modes ? r->modes[k] : lumped;
        ps_dgtd_port_spec *p = x->spec + k;
        bool good = v[5] >= 0 && v[5] <= 1 && v[11] >= 0 && v[11] <= (double)x->sides &&
                    m[0] >= 0 && m[0] <= 3;
        if (good) {
            p->parallel = v[0] != 0;
            p->resistance = v[1], p->inductance = v[2], p->capacitance = v[3], p->reference = v[4];
            p->shape = (int)v[5], p->amplitude = v[6], p->centre = v[7], p->width = v[8];
            p->omega = v[9], p->norm = v[10], p->sides = (int64_t)v[11];
            p->mode = (ps_dgtd_port_mode){(int)m[0], m[1], m[2], m[3]};
        }
        PS_TRY(ps_dgtd_port_mode_check(store, p->name, &p->mode));
        PS_TRY(check_port(store, p));
        sides += p->sides;
    }
    return sides == x->sides ? PS_OK
                             : ps_fail(PS_INVALID, "%s: ports of %lld sides, expected %lld",
                                       ps_store_path(store), (long long)sides, (long long)x->sides);
}

static bool finite_side(const ps_dgtd_ports *x, int64_t i)
{
    bool finite = true;
    for (int64_t k = i * x->nodes; k < (i + 1) * x->nodes; ++k)
        for (int c = 0; c < 3; ++c) finite &= isfinite(x->gradients[k][c]) != 0;
    return finite;
}

static ps_status check_faces(const ps_store *store, int64_t elements, const ps_dgtd_ports *x)
{
    for (int64_t k = 0, i = 0; k < x->count; ++k)
        for (int64_t end = i + x->spec[k].sides, first = i; i < end; ++i)
            if (x->faces[i] < 0 || x->faces[i] >= 4 * elements ||
                (i > first && x->faces[i] <= x->faces[i - 1]) || !finite_side(x, i))
                return ps_fail(PS_INVALID, "%s: side %lld of a port is face %d of %lld elements",
                               ps_store_path(store), (long long)i, x->faces[i],
                               (long long)elements);
    return PS_OK;
}

ps_status ps_dgtd_ports_read(ps_store *store, int64_t elements, ps_dgtd_ports *out)
{
    PS_SCOPED(release_rows) rows r = {0};
    int64_t count, sides, nodes = 1;
    bool modal = ps_store_has(store, "/", "port_nodes");
    *out = (ps_dgtd_ports){0};
    if (!ps_store_has(store, "/", "ports")) return PS_OK;
    PS_TRY(ps_store_get_int(store, "/", "ports", &count));
    PS_TRY(ps_store_get_int(store, "/", "port_sides", &sides));
    if (modal) PS_TRY(ps_store_get_int(store, "/", "port_nodes", &nodes));
    if (count < 1 || count > PS_DGTD_PORTS_MAX || sides < 0 || sides > 4 * elements || nodes < 1 ||
        nodes > FACE_NODES_MAX)
        return ps_fail(PS_INVALID, "%s: %lld ports of %lld sides, %lld nodes each",
                       ps_store_path(store), (long long)count, (long long)sides, (long long)nodes);
    *out = (ps_dgtd_ports){.count = count, .sides = sides, .nodes = (int)nodes};
    PS_TRY(PS_ALLOC(&out->spec, count, "ports"));
    PS_TRY(pass(store, out, &r, modal, ps_columns_load));
    PS_TRY(ps_store_get_lines(store, "port_names", count, out->spec->name, sizeof *out->spec,
                              sizeof out->spec->name));
    PS_TRY(take_values(store, &r, out));
    return check_faces(store, elements, out);
}
