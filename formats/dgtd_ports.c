#include "formats/dgtd_ports.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/columns.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

enum { VALUES = 12, COLUMNS = 3, NAMES = PS_DGTD_PORTS_MAX * PS_DGTD_PORT_NAME };

ps_status ps_dgtd_ports_allocate(ps_dgtd_ports *x, int64_t count, int64_t sides)
{
    *x = (ps_dgtd_ports){.count = count, .sides = sides};
    PS_TRY(PS_ALLOC(&x->spec, count, "ports"));
    PS_TRY(PS_ALLOC(&x->faces, sides, "ports"));
    return PS_ALLOC(&x->gradients, sides, "ports");
}

void ps_dgtd_ports_release(ps_dgtd_ports *x)
{
    free(x->spec), free(x->faces), free(x->gradients);
    memset(x, 0, sizeof *x);
}

static void list_columns(const ps_dgtd_ports *x, double *values, ps_column out[COLUMNS])
{
    const ps_column columns[COLUMNS] = {
        {"/ports/values", "1",
         "parallel, R (ohm), L (H), C (F), reference (ohm), shape, amplitude (V), centre, width "
         "(m), omega (1/m), int |grad phi|^2, sides",
         PS_F64, x->count, VALUES, values},
        {"/ports/face", "1", "4 element + face", PS_I32, x->sides, 1, x->faces},
        {"/ports/gradient", "1/m", "grad phi, halved where there are two sides", PS_F64, x->sides,
         3, x->gradients}};
    memcpy(out, columns, sizeof columns);
}

ps_status ps_dgtd_ports_write(ps_store *store, const ps_dgtd_ports *x)
{
    PS_SCOPED_MEMORY double *values = NULL;
    char names[NAMES] = "";
    ps_column columns[COLUMNS];
    if (x->count == 0) return PS_OK;
    PS_TRY(PS_ALLOC(&values, x->count * VALUES, "ports"));
    for (int64_t k = 0; k < x->count; ++k) {
        const ps_dgtd_port_spec *p = x->spec + k;
        const double row[VALUES] = {p->parallel,  p->resistance, p->inductance, p->capacitance,
                                    p->reference, p->shape,      p->amplitude,  p->centre,
                                    p->width,     p->omega,      p->norm,       (double)p->sides};
        memcpy(values + k * VALUES, row, sizeof row);
        strcat(strcat(names, p->name), "\n");
    }
    list_columns(x, values, columns);
    PS_TRY(ps_store_put_int(store, "/", "ports", x->count));
    PS_TRY(ps_store_put_int(store, "/", "port_sides", x->sides));
    PS_TRY(ps_store_put_text(store, "/", "port_names", names));
    return ps_columns_write(store, columns, COLUMNS);
}

static ps_status check_port(const ps_store *store, const ps_dgtd_port_spec *x)
{
    double sum = x->resistance + x->inductance + x->capacitance + x->amplitude + x->centre +
                 x->width + x->omega + x->norm;
    if (isfinite(sum) && x->resistance >= 0 && x->inductance >= 0 && x->capacitance >= 0 &&
        x->resistance + x->inductance + x->capacitance > 0 && x->reference > 0 && x->norm > 0 &&
        x->sides > 0 && x->shape >= 0 && x->shape <= 1 && (x->amplitude == 0 || x->width > 0) &&
        (x->amplitude == 0 || !x->parallel || x->resistance > 0))
        return PS_OK;
    return ps_fail(PS_INVALID, "%s: port \"%s\" has values that no port has", ps_store_path(store),
                   x->name);
}

static ps_status take_values(const ps_store *store, const double *values, ps_dgtd_ports *x)
{
    int64_t sides = 0;
    for (int64_t k = 0; k < x->count; ++k) {
        const double *v = values + k * VALUES;
        ps_dgtd_port_spec *p = x->spec + k;
        bool good = v[5] >= 0 && v[5] <= 1 && v[11] >= 1 && v[11] <= (double)x->sides;
        if (good) {
            p->parallel = v[0] != 0;
            p->resistance = v[1], p->inductance = v[2], p->capacitance = v[3], p->reference = v[4];
            p->shape = (int)v[5], p->amplitude = v[6], p->centre = v[7], p->width = v[8];
            p->omega = v[9], p->norm = v[10], p->sides = (int64_t)v[11];
        }
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

static ps_status check_faces(const ps_store *store, int64_t elements, const ps_dgtd_ports *x)
{
    for (int64_t k = 0, i = 0; k < x->count; ++k)
        for (int64_t end = i + x->spec[k].sides, first = i; i < end; ++i)
            if (x->faces[i] < 0 || x->faces[i] >= 4 * elements ||
                (i > first && x->faces[i] <= x->faces[i - 1]) ||
                !isfinite(x->gradients[i][0] + x->gradients[i][1] + x->gradients[i][2]))
                return ps_fail(PS_INVALID, "%s: side %lld of a port is face %d of %lld elements",
                               ps_store_path(store), (long long)i, x->faces[i],
                               (long long)elements);
    return PS_OK;
}

ps_status ps_dgtd_ports_read(ps_store *store, int64_t elements, ps_dgtd_ports *out)
{
    PS_SCOPED_MEMORY double *values = NULL;
    char names[NAMES];
    ps_column columns[COLUMNS];
    int64_t count, sides;
    *out = (ps_dgtd_ports){0};
    if (!ps_store_has(store, "/", "ports")) return PS_OK;
    PS_TRY(ps_store_get_int(store, "/", "ports", &count));
    PS_TRY(ps_store_get_int(store, "/", "port_sides", &sides));
    PS_TRY(ps_store_get_text(store, "/", "port_names", names, sizeof names));
    if (count < 1 || count > PS_DGTD_PORTS_MAX || sides < count || sides > 4 * elements)
        return ps_fail(PS_INVALID, "%s: %lld ports of %lld sides", ps_store_path(store),
                       (long long)count, (long long)sides);
    PS_TRY(ps_store_expect(store, "/ports/face", PS_I32, sides, 1));
    PS_TRY(ps_dgtd_ports_allocate(out, count, sides));
    PS_TRY(PS_ALLOC(&values, count * VALUES, "ports"));
    list_columns(out, values, columns);
    PS_TRY(ps_columns_read(store, columns, COLUMNS));
    cut_names(names, out);
    PS_TRY(take_values(store, values, out));
    return check_faces(store, elements, out);
}
