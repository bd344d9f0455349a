#include "compute/hbem_solve/solve.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/tag_names.h"
#include "kernels/hbem/rules.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

const condition_row condition_table[CONDITIONS] = {
    [CONDITION_RIGID] = {"rigid", .pressure = true, .vibrates = true},
    [CONDITION_IMPEDANCE] = {"impedance", .pressure = true, .follows = true, .vibrates = true},
    [CONDITION_SOFT] = {"soft", .flux = true, .flux_equation = true},
    [CONDITION_FLUID] = {"fluid", .pressure = true, .flux = true},
};

/* ---- groups ---- */

static int group_of_tag(const boundary *b, int32_t tag)
{
    int g = 0;
    while (g < b->count && b->tag[g] != tag) ++g;
    return g;
}

static ps_status list_groups(const ps_surface_mesh *mesh, boundary *b)
{
    int64_t capacity = 0;
    PS_TRY(PS_ALLOC(&b->group_of, mesh->triangle_count, "groups of triangles"));
    for (int64_t t = 0; t < mesh->triangle_count; ++t) {
        int g = t > 0 && mesh->tags[t] == mesh->tags[t - 1] ? b->group_of[t - 1]
                                                            : group_of_tag(b, mesh->tags[t]);
        if (g == b->count) {
            PS_TRY(ps_grow((void **)&b->tag, &capacity, g + 1, sizeof *b->tag, "groups"));
            b->tag[b->count++] = mesh->tags[t];
        }
        b->group_of[t] = g;
    }
    return PS_ALLOC(&b->condition, b->count, "groups");
}

/* ---- conditions ---- */

/* "density=..,speed=.." */
static ps_status parse_fluid(const char *text, condition *c)
{
    char buffer[256], *rest = buffer;
    snprintf(buffer, sizeof buffer, "%s", text);
    for (char *part = strtok_r(buffer, ",", &rest); part; part = strtok_r(NULL, ",", &rest)) {
        char *value = strchr(part, '=');
        double *to = strncmp(part, "density=", 8) == 0 ? &c->density
                     : strncmp(part, "speed=", 6) == 0 ? &c->speed
                                                       : NULL;
        if (!value || !to)
            return ps_fail(PS_USAGE, "--boundary: \"fluid:%s\" is not fluid:density=..,speed=..",
                           text);
        PS_TRY(ps_parse_real(value + 1, to));
    }
    if (c->density > 0 && c->speed > 0 && isfinite(c->density + c->speed)) return PS_OK;
    return ps_fail(PS_USAGE,
                   "--boundary: \"fluid:%s\": density (kg/m^3) and speed (m/s) are needed, both "
                   "above 0",
                   text);
}

/* "RE" or "RE,IM": Z over rho c. */
static ps_status parse_impedance(const char *text, condition *c)
{
    double z[2] = {0, 0};
    int count;
    if (ps_parse_reals(text, ',', z, 2, &count) != PS_OK || count < 1 || !isfinite(z[0] + z[1]))
        return ps_fail(PS_USAGE, "--boundary: \"impedance:%s\" is not impedance:RE or RE,IM", text);
    double square = z[0] * z[0] + z[1] * z[1];
    if (square == 0)
        return ps_fail(PS_USAGE, "--boundary: an impedance of 0 is a soft surface: say soft");
    if (z[0] < 0)
        return ps_fail(PS_USAGE,
                       "--boundary: \"impedance:%s\": the real part is negative, so the surface "
                       "would give energy off without end; passive ones have 0 and more",
                       text);
    c->admittance[0] = z[0] / square;
    c->admittance[1] = -z[1] / square;
    return PS_OK;
}

static ps_status parse_condition(const char *text, condition *c)
{
    *c = (condition){.given = true};
    if (strcmp(text, "rigid") == 0) return PS_OK;
    if (strcmp(text, "soft") == 0) {
        c->kind = CONDITION_SOFT;
        return PS_OK;
    }
    if (strncmp(text, "impedance:", 10) == 0) {
        c->kind = CONDITION_IMPEDANCE;
        return parse_impedance(text + 10, c);
    }
    if (strncmp(text, "fluid:", 6) == 0) {
        c->kind = CONDITION_FLUID;
        return parse_fluid(text + 6, c);
    }
    return ps_fail(PS_USAGE,
                   "--boundary: \"%s\" is none of rigid, soft, impedance:RE[,IM], "
                   "fluid:density=..,speed=.., velocity:..",
                   text);
}

/* ---- vibrations ---- */

/* PATH:NAME: a normal velocity, or a velocity, of vertices or triangles. */
static ps_status read_velocity(const char *text, const ps_surface_mesh *mesh, vibration *v)
{
    char what[300];
    snprintf(what, sizeof what, "--boundary velocity:file:%.250s", text);
    PS_TRY(ps_surface_fields_read(what, text, mesh, 1, &v->field));
    if (v->field.components % 3 != 0) PS_TRY(ps_surface_field_expect(what, &v->field, 1));
    if (v->field.components % 3 == 0) PS_TRY(ps_surface_field_expect(what, &v->field, 3));
    v->load.kind = PS_LOAD_TABLE;
    v->load.derivative = true;
    v->load.sampled[1] =
        (ps_hbem_sampled){v->field.values, v->field.components, v->field.on_points};
    return PS_OK;
}

static ps_status parse_velocity(const char *text, const ps_surface_mesh *mesh, vibration *v)
{
    int count;
    double *to = v->load.vector;
    if (strncmp(text, "file:", 5) == 0) return read_velocity(text + 5, mesh, v);
    if (ps_parse_reals(text, ',', to, 3, &count) != PS_OK || count == 2 || count == 0 ||
        !isfinite(to[0] + to[1] + to[2]))
        return ps_fail(PS_USAGE,
                       "--boundary: \"velocity:%s\" is none of velocity:V (along the normal, m/s), "
                       "velocity:X,Y,Z, velocity:file:PATH:NAME",
                       text);
    v->load.kind = count == 1 ? PS_LOAD_VALUE : PS_LOAD_LINEAR;
    v->load.derivative = true;
    return PS_OK;
}

/* The right-hand side of a label; a new one where there is none. */
static ps_status side_of(boundary *b, const char *label, int *out)
{
    for (*out = 0; *out < b->sides; ++*out)
        if (strcmp(b->label[*out], label) == 0) return PS_OK;
    if (b->sides == VIBRATION_SIDES || strlen(label) >= sizeof b->label[0])
        return ps_fail(PS_USAGE, "--boundary velocity@%.40s: at most %d names, of at most %d letters",
                       label, VIBRATION_SIDES, (int)sizeof b->label[0] - 1);
    strcpy(b->label[b->sides++], label);
    return PS_OK;
}

/* "velocity:V" or "velocity@NAME:V", the latter of a right-hand side of its own. */
static ps_status add_vibration(boundary *b, const char *item, const ps_surface_mesh *mesh,
                               const bool *where)
{
    vibration *v = &b->vibration[b->vibrations];
    const char *text = strchr(item, ':') + 1;
    char label[64] = "";
    if (item[8] == '@') snprintf(label, sizeof label, "%.*s", (int)(text - item) - 10, item + 9);
    PS_TRY(side_of(b, label, &v->side));
    if (b->density <= 0 || b->speed <= 0)
        return ps_fail(PS_USAGE,
                       "--boundary velocity:%s: --density and --speed of the medium are "
                       "needed, to know the pressure of a velocity",
                       text);
    memcpy(b->vibrates + (int64_t)b->vibrations * b->count, where,
           (size_t)b->count * sizeof *where);
    ++b->vibrations;
    return parse_velocity(text, mesh, v);
}

void boundary_velocity(const boundary *b, const ps_hbem_surface *surface, int side,
                       double *velocity)
{
    int64_t n = surface->triangle_count;
    ps_hbem_rule rule;
    ps_hbem_rule_six(&rule);
#pragma omp parallel for schedule(static)
    for (int64_t t = 0; t < n; ++t) {
        velocity[t] = velocity[n + t] = 0;
        for (int i = 0; i < b->vibrations; ++i) {
            if (b->vibration[i].side != side || !b->vibrates[(int64_t)i * b->count + b->group_of[t]]) continue;
            for (int q = 0; q < rule.count; ++q) { /* weights add up to 1/2 */
                double value[2];
                ps_hbem_load_value(&b->vibration[i].load, surface, t, rule.hat[q], value);
                for (int part = 0; part < 2; ++part)
                    velocity[part * n + t] += 2 * rule.weight[q] * value[part];
            }
        }
    }
}

/* ---- the list ---- */

/* Which groups an item means: others are those that no item names. */
static ps_status choose_groups(const boundary *b, const ps_surface_mesh *mesh, const char *name,
                               const bool *named, bool *where)
{
    int32_t tag = 0;
    bool others = strcmp(name, "others") == 0;
    int found = 0;
    if (!others)
        PS_TRY(ps_tag_names_find(mesh->tag_names, PS_TAGS_OF_SURFACES, "--boundary", name, &tag));
    for (int g = 0; g < b->count; ++g) {
        where[g] = others ? !named[g] : b->tag[g] == tag;
        found += where[g];
    }
    if (found > 0 || others) return PS_OK;
    return ps_fail(PS_USAGE, "--boundary %s: no triangle of the mesh is in this group", name);
}

static bool is_velocity(const char *text)
{
    return strncmp(text, "velocity:", 9) == 0 ||
           (strncmp(text, "velocity@", 9) == 0 && strchr(text, ':'));
}

static ps_status take_item(boundary *b, const char *item, const ps_surface_mesh *mesh,
                           const bool *named, bool *where)
{
    char name[128];
    const char *colon = strchr(item, ':');
    if (!colon || colon == item || colon - item >= (long)sizeof name)
        return ps_fail(PS_USAGE, "--boundary: \"%s\" is not TAG:CONDITION", item);
    snprintf(name, sizeof name, "%.*s", (int)(colon - item), item);
    PS_TRY(choose_groups(b, mesh, name, named, where));
    if (is_velocity(colon + 1)) return add_vibration(b, colon + 1, mesh, where);
    condition c;
    PS_TRY(parse_condition(colon + 1, &c));
    for (int g = 0; g < b->count; ++g) {
        if (!where[g]) continue;
        if (b->condition[g].given)
            return ps_fail(PS_USAGE, "--boundary %s: the group %d has a condition already", item,
                           b->tag[g]);
        b->condition[g] = c;
    }
    return PS_OK;
}

/* named[]: groups that an item names. */
static ps_status find_named(const boundary *b, const ps_text_list *list,
                            const ps_surface_mesh *mesh, bool *named)
{
    for (int i = 0; i < list->count; ++i) {
        char name[128];
        int32_t tag;
        const char *item = list->items[i], *colon = strchr(item, ':');
        if (!colon || colon - item >= (long)sizeof name) continue; /* refused later */
        snprintf(name, sizeof name, "%.*s", (int)(colon - item), item);
        if (strcmp(name, "others") == 0) continue;
        PS_TRY(ps_tag_names_find(mesh->tag_names, PS_TAGS_OF_SURFACES, "--boundary", name, &tag));
        int g = group_of_tag(b, tag);
        if (g < b->count) named[g] = true;
    }
    return PS_OK;
}

/* One fluid, in one body or several. */
static ps_status take_fluid(boundary *b, const condition *c)
{
    if (b->density <= 0 || b->speed <= 0)
        return ps_fail(PS_USAGE, "--boundary: a fluid body needs --density and --speed of the "
                                 "medium around it");
    if (b->fluid && (b->fluid->density != c->density || b->fluid->speed != c->speed))
        return ps_fail(PS_USAGE, "--boundary: two fluids; bodies of one may be solved together");
    b->fluid = c;
    return PS_OK;
}

/* Conditions for all groups or for none, and velocities where they can be. */
static ps_status check(boundary *b)
{
    bool any = false;
    for (int g = 0; g < b->count; ++g) any = any || b->condition[g].given;
    for (int g = 0; g < b->count; ++g) {
        const condition *c = &b->condition[g];
        b->has[c->kind] = true;
        bool moves = false;
        for (int i = 0; i < b->vibrations; ++i)
            moves = moves || b->vibrates[(int64_t)i * b->count + g];
        if (any && !c->given && !moves)
            return ps_fail(PS_USAGE,
                           "--boundary: the physical group %d has no condition, others have one: "
                           "say %d:rigid, or others:rigid",
                           b->tag[g], b->tag[g]);
        if (moves && !condition_table[c->kind].vibrates)
            return ps_fail(PS_USAGE,
                           "--boundary: the group %d is %s, whose velocity is not given but found; "
                           "rigid and impedance vibrate",
                           b->tag[g], condition_table[c->kind].name);
        if (c->kind == CONDITION_FLUID) PS_TRY(take_fluid(b, c));
    }
    return PS_OK;
}

ps_status boundary_parse(const ps_text_list *list, const ps_surface_mesh *mesh, double density,
                         double speed, boundary *out)
{
    boundary *b = out;
    PS_SCOPED_MEMORY bool *named = NULL, *where = NULL;
    *b = (boundary){.density = density, .speed = speed};
    PS_TRY(list_groups(mesh, b));
    PS_TRY(PS_ALLOC(&b->vibration, list->count, "velocities"));
    PS_TRY(PS_ALLOC(&b->vibrates, (int64_t)list->count * b->count, "velocities"));
    PS_TRY(PS_ALLOC(&named, b->count, "groups"));
    PS_TRY(PS_ALLOC(&where, b->count, "groups"));
    PS_TRY(find_named(b, list, mesh, named));
    for (int i = 0; i < list->count; ++i) PS_TRY(take_item(b, list->items[i], mesh, named, where));
    return check(b);
}

void boundary_close(boundary *b)
{
    for (int i = 0; i < b->vibrations; ++i) ps_surface_field_release(&b->vibration[i].field);
    PS_FREE(b->vibration, b->vibrates, b->tag, b->condition, b->group_of);
    *b = (boundary){0};
}
