#include "kernels/dgtd/system.h"

#include <inttypes.h>
#include <string.h>

#include "kernels/common/reals.h"
#include "kernels/dgtd/mesh.h"

int ps_dgtd_lanes(ps_precision precision)
{
    return precision == PS_SINGLE ? PS_DGTD_LANES_F32 : PS_DGTD_LANES_F64;
}

int ps_dgtd_row_block(int order) { return order == 1 ? 4 : 5; }

void ps_dgtd_system_count(ps_dgtd_system *system, int64_t elements, int64_t materials)
{
    int lanes = ps_dgtd_lanes(system->precision);
    system->elements = elements;
    system->groups = (elements + lanes - 1) / lanes;
    system->materials = materials;
}

void ps_dgtd_system_bytes(const ps_dgtd_system *system, ps_dgtd_bytes *bytes)
{
    size_t slots = (size_t)(system->groups * ps_dgtd_lanes(system->precision));
    size_t real = (size_t)ps_real_bytes(system->precision);
    bytes->tangents = slots * 9 * real;
    bytes->links = slots * 4 * sizeof *system->links;
    bytes->kinds = slots * 4;
    bytes->bordered = (size_t)system->groups;
    bytes->material = slots * sizeof *system->material;
    bytes->steps = 4 * (size_t)system->materials * real;
    bytes->field = slots * 3 * (size_t)system->reference->nodes * real;
}

static void list_rows(ps_dgtd_operators *o, const ps_dgtd_reference *reference)
{
    int n = reference->nodes, count = 0;
    for (int row = 0; row < 3 * n; ++row) {
        o->row_start[row] = (int16_t)count;
        for (int c = 0; c < n; ++c) {
            double value = reference->derivative[row % 3][row / 3 * n + c];
            if (value == 0) continue;
            o->column[count] = (int16_t)c;
            o->value_f32[count] = (float)value;
            o->value_f64[count++] = value;
        }
    }
    o->row_start[3 * n] = (int16_t)count;
}

void ps_dgtd_operators_init(ps_dgtd_operators *o, const ps_dgtd_reference *reference)
{
    int nf = reference->face_nodes, block = ps_dgtd_row_block(reference->order);
    memset(o, 0, sizeof *o);
    list_rows(o, reference);
    for (int f = 0; f < 4; ++f)
        for (int i = 0; i < reference->nodes; ++i)
            for (int m = 0; m < nf; ++m) {
                int at = ((i / block * 4 + f) * nf + m) * block + i % block;
                o->lift_f64[at] = reference->lift[f][i * nf + m] / 2;
                o->lift_f32[at] = (float)o->lift_f64[at];
            }
}

int64_t ps_dgtd_offset(const ps_dgtd_system *system, int64_t slot)
{
    int lanes = ps_dgtd_lanes(system->precision);
    return slot / lanes * 3 * system->reference->nodes * lanes + slot % lanes;
}

static int64_t node_index(const ps_dgtd_system *system, int64_t slot, int component, int node)
{
    int lanes = ps_dgtd_lanes(system->precision);
    return ps_dgtd_offset(system, slot) +
           (int64_t)(component * system->reference->nodes + node) * lanes;
}

double ps_dgtd_get(const ps_dgtd_system *system, const void *field, int64_t slot, int component,
                   int node)
{
    return ps_real_at(system->precision, field, node_index(system, slot, component, node));
}

void ps_dgtd_set_node(const ps_dgtd_system *system, void *field, int64_t slot, int component,
                      int node, double value)
{
    ps_real_put(system->precision, field, node_index(system, slot, component, node), value);
}

static int64_t tangent_index(const ps_dgtd_system *system, int64_t slot, int k)
{
    int lanes = ps_dgtd_lanes(system->precision);
    return (slot / lanes * 9 + k) * lanes + slot % lanes;
}

void ps_dgtd_slot_tangents(const ps_dgtd_system *system, int64_t slot, double tangents[3][3])
{
    for (int k = 0; k < 9; ++k)
        tangents[k / 3][k % 3] =
            ps_real_at(system->precision, system->tangents, tangent_index(system, slot, k));
}

double ps_dgtd_gain(const ps_dgtd_system *system, ps_dgtd_field field, int64_t slot)
{
    int64_t row = field == PS_DGTD_E ? 1 : 3;
    return ps_real_at(system->precision, system->steps,
                      row * system->materials + system->material[slot]);
}

double ps_dgtd_keep(const ps_dgtd_system *system, ps_dgtd_field field, int64_t slot)
{
    int64_t row = field == PS_DGTD_E ? 0 : 2;
    return ps_real_at(system->precision, system->steps,
                      row * system->materials + system->material[slot]);
}

/* A slot that holds no element: a unit shape that touches only itself. */
static void fill_resting(ps_dgtd_system *system, int64_t slot)
{
    int lanes = ps_dgtd_lanes(system->precision);
    for (int k = 0; k < 9; ++k)
        ps_real_put(system->precision, system->tangents, tangent_index(system, slot, k),
                    k % 4 == 0);
    for (int f = 0; f < 4; ++f) {
        int64_t at = (slot / lanes * 4 + f) * lanes + slot % lanes;
        system->links[at] = (int32_t)(4 * slot + f);
        system->kinds[at] = PS_DGTD_INNER;
    }
    system->material[slot] = 0;
}

static ps_status fill_faces(ps_dgtd_system *system, const ps_dgtd_body *body, int64_t e)
{
    int lanes = ps_dgtd_lanes(system->precision);
    for (int f = 0; f < 4; ++f) {
        int32_t link = body->links[4 * e + f];
        int kind = body->kinds[4 * e + f];
        int64_t at = (e / lanes * 4 + f) * lanes + e % lanes;
        if (kind >= PS_DGTD_FACES)
            return ps_fail(PS_INVALID, "face %d of element %" PRId64 " is of unknown kind %d", f, e,
                           kind);
        if ((link < 0) != (kind != PS_DGTD_INNER))
            return ps_fail(PS_INVALID,
                           link < 0 ? "face %d of element %" PRId64
                                      " is on the boundary and has no condition"
                                    : "face %d of element %" PRId64
                                      " has a boundary condition and a neighbour",
                           f, e);
        system->links[at] = link < 0 ? (int32_t)(4 * e + f) : link;
        system->kinds[at] = (uint8_t)kind;
        if (kind != PS_DGTD_INNER) system->bordered[e / lanes] = 1;
    }
    return PS_OK;
}

static ps_status fill_element(ps_dgtd_system *system, const ps_dgtd_body *body, int64_t e)
{
    double tangents[3][3];
    uint16_t tag = body->tags ? body->tags[e] : 0;
    if (tag >= body->materials)
        return ps_fail(PS_INVALID, "element %" PRId64 " has material %d of %" PRId64, e, tag,
                       body->materials);
    ps_dgtd_tangents(body->vertices, body->tetrahedra + 4 * e, tangents);
    for (int k = 0; k < 9; ++k)
        ps_real_put(system->precision, system->tangents, tangent_index(system, e, k),
                    tangents[k / 3][k % 3]);
    system->material[e] = tag;
    return fill_faces(system, body, e);
}

static ps_status check_materials(const ps_dgtd_body *body)
{
    for (int64_t m = 0; m < body->materials; ++m) {
        const ps_dgtd_material *x = body->material + m;
        if (!(x->eps > 0) || !(x->mu > 0) || !(x->sigma >= 0))
            return ps_fail(PS_INVALID,
                           "material %" PRId64 " has eps %g, mu %g, sigma %g; eps and mu must be "
                           "positive, sigma not negative",
                           m, x->eps, x->mu, x->sigma);
    }
    return PS_OK;
}

ps_status ps_dgtd_system_fill(ps_dgtd_system *system, const ps_dgtd_body *body)
{
    int lanes = ps_dgtd_lanes(system->precision);
    if (system->groups * lanes * 3 * system->reference->nodes > INT32_MAX)
        return ps_fail(PS_EXHAUSTED,
                       "%" PRId64 " elements of order %d pass 2^31 values a field; split the mesh",
                       system->elements, system->order);
    PS_TRY(check_materials(body));
    memset(system->bordered, 0, (size_t)system->groups);
    for (int64_t e = 0; e < system->elements; ++e) PS_TRY(fill_element(system, body, e));
    for (int64_t e = system->elements; e < system->groups * lanes; ++e) fill_resting(system, e);
    return PS_OK;
}

void ps_dgtd_set_factors(ps_dgtd_system *system, ps_dgtd_field field, int64_t material, double keep,
                         double gain)
{
    int64_t row = field == PS_DGTD_E ? 0 : 2, count = system->materials;
    ps_real_put(system->precision, system->steps, row * count + material, keep);
    ps_real_put(system->precision, system->steps, (row + 1) * count + material, gain);
}

void ps_dgtd_set_step(ps_dgtd_system *system, const ps_dgtd_material *materials, double dt)
{
    for (int64_t m = 0; m < system->materials; ++m) {
        double a = materials[m].sigma * dt / (2 * materials[m].eps);
        ps_dgtd_set_factors(system, PS_DGTD_E, m, (1 - a) / (1 + a),
                            dt / materials[m].eps / (1 + a));
        ps_dgtd_set_factors(system, PS_DGTD_H, m, 1, -dt / materials[m].mu);
    }
}
