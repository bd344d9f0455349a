#include "formats/dgtd_ports.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/columns.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

static const double LIGHT = 299792458;

enum {
    VALUES = 12,
    MODES = 4,
    COLUMNS = 4,
    FACE_NODES_MAX = 15,
    NAMES = PS_DGTD_PORTS_MAX * PS_DGTD_PORT_NAME
};

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

/* Without the last where all are lumped. */
static void list_columns(const ps_dgtd_ports *x, double *values, double *modes,
                         ps_column out[COLUMNS])
{
    const ps_column columns[COLUMNS] = {
        {"/ports/values", "1",
         "parallel, R (ohm), L (H), C (F), reference (ohm), shape, amplitude (V), centre, width "
         "(m), omega (1/m), int |grad phi|^2, sides",
         PS_F64, x->count, VALUES, values},
        {"/ports/face", "1", "4 element + face", PS_I32, x->sides, 1, x->faces},
        {"/ports/gradient", "1/m", "grad phi, halved where there are two sides", PS_F64, x->sides,
         3 * x->nodes, x->gradients},
        {"/ports/mode", "1", "0 lumped, 1 TEM, 2 TE, 3 TM; k_c (1/m), eps_r, mu_r", PS_F64,
         x->count, MODES, modes}};
    memcpy(out, columns, sizeof columns);
}

ps_status ps_dgtd_ports_write(ps_store *store, const ps_dgtd_ports *x)
{
    PS_SCOPED_MEMORY double *values = NULL;
    double modes[PS_DGTD_PORTS_MAX * MODES];
    char names[NAMES] = "";
    ps_column columns[COLUMNS];
    bool modal = false;
    if (x->count == 0) return PS_OK;
    PS_TRY(PS_ALLOC(&values, x->count * VALUES, "ports"));
    for (int64_t k = 0; k < x->count; ++k) {
        const ps_dgtd_port_spec *p = x->spec + k;
        const double row[VALUES] = {p->parallel,  p->resistance, p->inductance, p->capacitance,
                                    p->reference, p->shape,      p->amplitude,  p->centre,
                                    p->width,     p->omega,      p->norm,       (double)p->sides};
        const double mode[MODES] = {p->mode.guide, p->mode.cutoff, p->mode.eps, p->mode.mu};
        memcpy(values + k * VALUES, row, sizeof row);
        memcpy(modes + k * MODES, mode, sizeof mode);
        modal |= p->mode.guide != 0;
        strcat(strcat(names, p->name), "\n");
    }
    list_columns(x, values, modes, columns);
    PS_TRY(ps_store_put_int(store, "/", "ports", x->count));
    PS_TRY(ps_store_put_int(store, "/", "port_sides", x->sides));
    if (modal) PS_TRY(ps_store_put_int(store, "/", "port_nodes", x->nodes));
    PS_TRY(ps_store_put_text(store, "/", "port_names", names));
    return ps_columns_write(store, columns, modal ? COLUMNS : COLUMNS - 1);
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

static ps_status take_values(const ps_store *store, const double *values, const double *modes,
                             ps_dgtd_ports *x)
{
    int64_t sides = 0;
    for (int64_t k = 0; k < x->count; ++k) {
        const double *v = values + k * VALUES;
        ps_dgtd_port_spec *p = x->spec + k;
        const double *m = modes + k * MODES;
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

static void cut_names(const char *names, ps_dgtd_ports *x)
{
    for (int64_t k = 0; k < x->count && *names; ++k) {
        size_t length = strcspn(names, "\n"), room = sizeof x->spec[k].name - 1;
        memcpy(x->spec[k].name, names, length < room ? length : room);
        names += length + (names[length] == '\n');
    }
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
    PS_SCOPED_MEMORY double *values = NULL;
    double modes[PS_DGTD_PORTS_MAX * MODES] = {0};
    char names[NAMES];
    ps_column columns[COLUMNS];
    int64_t count, sides, nodes = 1;
    bool modal = ps_store_has(store, "/", "port_nodes");
    *out = (ps_dgtd_ports){0};
    if (!ps_store_has(store, "/", "ports")) return PS_OK;
    PS_TRY(ps_store_get_int(store, "/", "ports", &count));
    PS_TRY(ps_store_get_int(store, "/", "port_sides", &sides));
    PS_TRY(ps_store_get_text(store, "/", "port_names", names, sizeof names));
    if (modal) PS_TRY(ps_store_get_int(store, "/", "port_nodes", &nodes));
    if (count < 1 || count > PS_DGTD_PORTS_MAX || sides < 0 || sides > 4 * elements || nodes < 1 ||
        nodes > FACE_NODES_MAX)
        return ps_fail(PS_INVALID, "%s: %lld ports of %lld sides, %lld nodes each",
                       ps_store_path(store), (long long)count, (long long)sides, (long long)nodes);
    if (sides > 0) PS_TRY(ps_store_expect(store, "/ports/face", PS_I32, sides, 1));
    PS_TRY(ps_dgtd_ports_allocate(out, count, sides, (int)nodes));
    PS_TRY(PS_ALLOC(&values, count * VALUES, "ports"));
    list_columns(out, values, modes, columns);
    PS_TRY(ps_columns_read(store, columns, modal ? COLUMNS : COLUMNS - 1));
    cut_names(names, out);
    PS_TRY(take_values(store, values, modes, out));
    return check_faces(store, elements, out);
}
