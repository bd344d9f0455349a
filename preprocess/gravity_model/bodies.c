/* Bodies: from options, from tables, the built-in crater. */
#include <math.h>
#include <string.h>

#include "formats/number_file.h"
#include "preprocess/gravity_model/model.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

ps_status body_list_add(body_list *list, const ps_body *body)
{
    PS_TRY(ps_body_check(body));
    PS_TRY(ps_grow((void **)&list->bodies, &list->capacity, list->count + 1, sizeof *list->bodies,
                   "bodies"));
    list->bodies[list->count++] = *body;
    return PS_OK;
}

ps_status parse_body(const char *text, double unit, ps_body *out)
{
    static const struct {
        const char *name;
        ps_body_kind kind;
        int lengths;
        const char *form;
    } kinds[] = {{"brick:", PS_BODY_BRICK, 6, "brick:X0,X1,Y0,Y1,Z0,Z1,DENSITY"},
                 {"ring:", PS_BODY_RING, 6, "ring:X,Y,R0,R1,Z0,Z1,DENSITY"},
                 {"ball:", PS_BODY_BALL, 4, "ball:X,Y,Z,R,DENSITY"}};
    double numbers[8];
    int count = 0;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; ++k) {
        size_t length = strlen(kinds[k].name);
        if (strncmp(text, kinds[k].name, length) != 0) continue;
        PS_TRY_IN(ps_parse_reals(text + length, ',', numbers, 8, &count), "--body %s", text);
        if (count != kinds[k].lengths + 1)
            return ps_fail(PS_USAGE, "--body %s: %d numbers; expected is %s", text, count,
                           kinds[k].form);
        *out = (ps_body){.kind = kinds[k].kind, .density = numbers[count - 1]};
        for (int i = 0; i < count - 1; ++i) out->size[i] = numbers[i] * unit;
        return PS_OK;
    }
    return ps_fail(PS_USAGE, "--body %s: expected is brick:..., ring:... or ball:...", text);
}

ps_status read_bricks(const char *path, double unit, body_list *out)
{
    static const char *const names[2][7] = {
        {PS_COLUMNS_BRICK(PS_METRES, "top", "bottom"), PS_COLUMN_DENSITY},
        {PS_COLUMNS_BRICK("km", "top", "bottom"), PS_COLUMN_DENSITY}};
    const ps_columns columns = {names[unit != 1], 7};
    PS_SCOPED(ps_number_file_close) ps_number_file *file = NULL;
    double row[8];
    int count;
    PS_TRY(ps_number_file_open(path, &file));
    ps_number_file_expect(file, &columns);
    ps_status status = PS_OK;
    while (status == PS_OK) {
        status = ps_number_file_line(file, row, 8, &count);
        if (status != PS_OK || count == 0) break;
        ps_body body = {.kind = PS_BODY_BRICK, .density = row[6]};
        for (int i = 0; i < 6; ++i) body.size[i] = row[i] * unit;
        status = count == 7 ? body_list_add(out, &body)
                            : ps_fail(PS_INVALID,
                                      "%d numbers; x0 x1 y0 y1 z0 z1 density are "
                                      "expected",
                                      count);
        if (status != PS_OK)
            status =
                ps_context(status, "%s line %lld", path, (long long)ps_number_file_where(file));
    }
    return status;
}

ps_status add_chx1(body_list *out)
{
    static const double rings[][5] = {/* r0 r1 z0 z1 in km, kg/m3 */
                                      {0, 90, 0, 1, -70},     {0, 75, 1, 2, -150},
                                      {45, 85, 2, 4.5, -110}, {0, 45, 2, 4.5, -90},
                                      {40, 50, 1, 3, -60},    {0, 22, 4.5, 12, 140}};
    for (size_t i = 0; i < sizeof rings / sizeof *rings; ++i) {
        const double *r = rings[i];
        ps_body body = {PS_BODY_RING, {0, 0, 1e3 * r[0], 1e3 * r[1], 1e3 * r[2], 1e3 * r[3]}, r[4]};
        PS_TRY(body_list_add(out, &body));
    }
    return PS_OK;
}

/* Where a body begins and ends along an axis, m. */
static void body_ends(const ps_body *body, int axis, double ends[2])
{
    bool round = body->kind == PS_BODY_BALL || (body->kind == PS_BODY_RING && axis < 2);
    double reach = body->size[3];
    for (int side = 0; side < 2; ++side)
        ends[side] =
            round ? body->size[axis] + (side ? reach : -reach) : body->size[2 * axis + side];
}

double body_spread(const ps_body *body, const ps_cells *cells, int *along)
{
    double worst = 0;
    for (int a = 0; a < 3; ++a) {
        double ends[2], h = cells->grid.spacing[a];
        body_ends(body, a, ends);
        for (int side = 0; side < 2; ++side) { /* in cells, within the box */
            double at = (ends[side] - cells->origin[a]) / h;
            ends[side] = fmin(fmax(at, 0), (double)(cells->grid.nodes[a] - 1));
        }
        double taken = ceil(ends[1] - 1e-6) - floor(ends[0] + 1e-6);
        double spread = ends[1] > ends[0] ? taken / (ends[1] - ends[0]) : 0;
        if (!(spread > worst)) continue;
        worst = spread;
        *along = a;
    }
    return worst;
}
