/* Directions of incident waves and boundary data, from the command line and files. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "compute/hbem_solve/solve.h"
#include "kernels/common/mesh_measure.h"
#include "kernels/common/vec3.h"
#include "runtime/memory.h"
#include "runtime/path.h"

/* One more load; grows the list. */
static ps_status add_load(solve_problem *p, ps_hbem_load load)
{
    PS_TRY(ps_grow((void **)&p->loads, &p->load_capacity, p->load_count + 1, sizeof *p->loads,
                   "right-hand sides"));
    p->loads[p->load_count++] = load;
    return PS_OK;
}

static ps_status add_direction(solve_problem *p, const double d[3], const char *where)
{
    double size = ps_norm3(d);
    if (!(size > 0) || !isfinite(size))
        return ps_fail(PS_USAGE, "%s: (%g, %g, %g) is no direction", where, d[0], d[1], d[2]);
    ps_hbem_load load = {.kind = PS_LOAD_PLANE, .vector = {d[0] / size, d[1] / size, d[2] / size}};
    PS_TRY(images_check_load(p, where, &load));
    return add_load(p, load);
}

static ps_status parse_vector(const char *option, const char *text, double out[3])
{
    int count;
    if (ps_parse_reals(text, ',', out, 3, &count) == PS_OK && count == 3) return PS_OK;
    return ps_fail(PS_USAGE, "%s: \"%s\" is not X,Y,Z", option, text);
}

/* Lines "x y z"; empty ones and # are passed over. */
static ps_status read_directions(solve_problem *p, const char *path)
{
    char line[512], where[600];
    FILE *file;
    ps_status status = ps_path_open_input(path, "a file of directions", &file);
    if (status != PS_OK) return ps_context(status, "--directions");
    for (int number = 1; status == PS_OK && fgets(line, sizeof line, file); ++number) {
        double d[3];
        char rest;
        line[strcspn(line, "#\r\n")] = 0;
        if (line[strspn(line, " \t")] == 0) continue;
        snprintf(where, sizeof where, "%.500s, line %d", path, number);
        if (sscanf(line, "%lf %lf %lf %c", &d[0], &d[1], &d[2], &rest) != 3)
            status = ps_fail(PS_INVALID, "%s: \"%.60s\" is not x y z", where, line);
        else
            status = add_direction(p, d, where);
    }
    fclose(file);
    return status;
}

/* FROM,TO,COUNT in degrees: waves that travel along (cos, sin, 0). */
static ps_status spread_azimuths(solve_problem *p, const char *text)
{
    double v[3];
    PS_TRY(parse_vector("--azimuths", text, v));
    if (!(v[2] >= 1 && v[2] <= 1e6 && v[2] == floor(v[2])))
        return ps_fail(PS_USAGE, "--azimuths: \"%s\" is not FROM,TO,COUNT", text);
    for (int64_t i = 0; i < (int64_t)v[2]; ++i) {
        double angle = v[0] + (v[2] > 1 ? (v[1] - v[0]) * (double)i / (v[2] - 1) : 0);
        double d[3] = {cos(angle * M_PI / 180), sin(angle * M_PI / 180), 0};
        PS_TRY(add_direction(p, d, "--azimuths"));
    }
    return PS_OK;
}

/* point:X,Y,Z or dipole:X,Y,Z,DX,DY,DZ */
static ps_status add_source(solve_problem *p, const char *text)
{
    double v[6];
    int count;
    ps_hbem_load load = {.kind = PS_LOAD_POINT};
    const char *numbers = strchr(text, ':');
    bool dipole = strncmp(text, "dipole:", 7) == 0;
    if ((!dipole && strncmp(text, "point:", 6) != 0) ||
        ps_parse_reals(numbers + 1, ',', v, 6, &count) != PS_OK || count != (dipole ? 6 : 3))
        return ps_fail(PS_USAGE,
                       "--source: \"%s\" is neither point:X,Y,Z nor dipole:X,Y,Z,DX,DY,DZ", text);
    memcpy(load.vector, v, sizeof load.vector);
    if (dipole) {
        load.kind = PS_LOAD_DIPOLE;
        memcpy(load.axis, v + 3, sizeof load.axis);
        if (!(ps_norm3(load.axis) > 0))
            return ps_fail(PS_USAGE, "--source: \"%s\" has no axis", text);
    }
    return add_load(p, load);
}

/* A source must be no nearer to the surface than half an edge: no function of the mesh follows what
 * changes within a triangle. One of waves must lie outside of closed bodies. */
static ps_status check_source(const solve_problem *p, const char *option, const ps_hbem_load *load)
{
    double distance, edge = 0;
    const double *x = load->vector;
    distance =
        ps_surface_distance(p->mesh.vertices, p->mesh.triangles, p->mesh.triangle_count, x, &edge);
    if (distance == 0)
        return ps_fail(PS_INVALID, "%s: (%g, %g, %g) lies on the surface", option, x[0], x[1],
                       x[2]);
    if (p->options.problem == PROBLEM_HARD && images_where(p, x) < 0)
        return ps_fail(PS_INVALID, "%s: (%g, %g, %g) lies inside of a body; the problem is outside",
                       option, x[0], x[1], x[2]);
    PS_TRY(images_check_load(p, option, load));
    if (distance < edge / 2)
        return ps_refuse(p->run, "close-source",
                         "%s: (%g, %g, %g) is %.3g m from the surface, less than half an edge of "
                         "the triangle there (%.3g m), within which no data can follow it: move it "
                         "away, or refine the mesh there",
                         option, x[0], x[1], x[2], distance, edge);
    return PS_OK;
}

ps_status parse_sources(solve_problem *p, const ps_text_list *list)
{
    for (int i = 0; i < list->count; ++i) {
        PS_TRY(add_source(p, list->items[i]));
        PS_TRY(check_source(p, "--source", &p->loads[p->load_count - 1]));
    }
    return PS_OK;
}

/* PATH:P:Q, the pressure and its normal derivative or gradient. */
static ps_status read_incident(solve_problem *p, const char *text, ps_surface_field field[2])
{
    static const char *const names[2] = {"the pressure", "its normal derivative (or gradient)"};
    char what[400];
    ps_hbem_load load = {.kind = PS_LOAD_TABLE, .vector = {(double)p->incident_count}};
    snprintf(what, sizeof what, "--incident %.250s", text);
    PS_TRY(ps_surface_fields_read(what, text, &p->mesh, 2, field));
    for (int i = 0; i < 2; ++i) {
        bool gradient = i == 1 && field[i].components % 3 == 0;
        snprintf(what, sizeof what, "--incident %.250s: %s", text, names[i]);
        PS_TRY(ps_surface_field_expect(what, &field[i], gradient ? 3 : 1));
        load.sampled[i] =
            (ps_hbem_sampled){field[i].values, field[i].components, field[i].on_points};
    }
    return add_load(p, load);
}

ps_status parse_incidents(solve_problem *p, const ps_text_list *list)
{
    PS_TRY(PS_ALLOC(&p->incidents, list->count, "incident data"));
    for (int i = 0; i < list->count; ++i) {
        ps_status status = read_incident(p, list->items[i], p->incidents[i]);
        ++p->incident_count;
        PS_TRY(status);
    }
    return PS_OK;
}

ps_status end_of_waves(solve_problem *p)
{
    /* What vibrates is a side of its own: fields add up. */
    for (int s = 0; s < p->boundary.sides; ++s)
        PS_TRY(add_load(p, (ps_hbem_load){.kind = PS_LOAD_NONE, .vector = {s}}));
    return p->load_count > 0 ? PS_OK
                             : ps_fail(PS_USAGE,
                                       "no incident wave: give --direction X,Y,Z, --azimuths, "
                                       "--directions, --source, --incident or --boundary "
                                       "TAG:velocity:..");
}

ps_status parse_directions(solve_problem *p, const ps_text_list *list, const char *file,
                           const char *azimuths)
{
    for (int i = 0; i < list->count; ++i) {
        double d[3];
        PS_TRY(parse_vector("--direction", list->items[i], d));
        PS_TRY(add_direction(p, d, "--direction"));
    }
    if (file) PS_TRY(read_directions(p, file));
    return azimuths ? spread_azimuths(p, azimuths) : PS_OK;
}

/* PATH:NAME, which is given and is its own derivative. */
static ps_status read_table(solve_problem *p, const char *text, ps_hbem_load *load)
{
    char what[300];
    ps_surface_field *f = &p->table;
    if (f->values) return ps_fail(PS_USAGE, "--data file: give one of them");
    snprintf(what, sizeof what, "--data file:%.250s", text);
    PS_TRY(ps_surface_fields_read(what, text, &p->mesh, 1, f));
    if (f->components != 1 || !f->on_points)
        return ps_fail(PS_INVALID, "%s: one number a vertex is expected", what);
    load->sampled[0] = load->sampled[1] = (ps_hbem_sampled){f->values, 1, true};
    return PS_OK;
}

static ps_status parse_one(solve_problem *p, const char *text, ps_hbem_load *load)
{
    const char *colon = strchr(text, ':');
    size_t length = colon ? (size_t)(colon - text) : 0;
    *load = (ps_hbem_load){.kind = PS_LOAD_TABLE};
    if (length == 5 && strncmp(text, "point", length) == 0) {
        load->kind = PS_LOAD_POINT;
        return parse_vector("--data point", colon + 1, load->vector);
    }
    if (length == 6 && strncmp(text, "linear", length) == 0) {
        load->kind = PS_LOAD_LINEAR;
        return parse_vector("--data linear", colon + 1, load->vector);
    }
    if (length == 5 && strncmp(text, "value", length) == 0) {
        load->kind = PS_LOAD_VALUE;
        return ps_parse_real(colon + 1, &load->vector[0]);
    }
    if (length == 4 && strncmp(text, "file", length) == 0) return read_table(p, colon + 1, load);
    return ps_fail(PS_USAGE,
                   "--data: \"%s\" is none of point:X,Y,Z, linear:X,Y,Z, value:C, file:PATH:NAME",
                   text);
}

ps_status parse_data(solve_problem *p, const ps_text_list *list)
{
    for (int i = 0; i < list->count; ++i) {
        ps_hbem_load load;
        PS_TRY(parse_one(p, list->items[i], &load));
        if (load.kind == PS_LOAD_POINT) PS_TRY(check_source(p, "--data point", &load));
        PS_TRY(add_load(p, load));
    }
    return p->load_count > 0 ? PS_OK
                             : ps_fail(PS_USAGE, "no boundary data: give --data, e.g. point:2,0,0");
}
