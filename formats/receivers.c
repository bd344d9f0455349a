#include "formats/receivers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/number_file.h"
#include "runtime/memory.h"
#include "runtime/path.h"

ps_status ps_parse_vector(const char *text, double out[3])
{
    int count;
    if (ps_parse_reals(text, ',', out, 3, &count) != PS_OK || count != 3)
        return ps_fail(PS_USAGE, "\"%s\" is not three numbers x,y,z", text);
    return PS_OK;
}

void ps_receivers_release(ps_receivers *receivers)
{
    free(receivers->places);
    memset(receivers, 0, sizeof *receivers);
}

/* Beyond it squares of distances overflow sooner or later. */
static const double farthest = 1e100;

ps_status ps_receivers_add(ps_receivers *receivers, bool far_field, const double place[3])
{
    for (int d = 0; d < 3; ++d)
        if (!(fabs(place[d]) <= farthest))
            return ps_fail(PS_USAGE, "a place at %g,%g,%g is beyond %g m", place[0], place[1],
                           place[2], farthest);
    if (receivers->count && receivers->far_field != far_field)
        return ps_fail(PS_USAGE, "points and far-field directions do not go into one file; run "
                                 "the program once for each");
    PS_TRY(ps_grow((void **)&receivers->places, &receivers->capacity, 3 * receivers->count + 3,
                   sizeof *receivers->places, "receivers"));
    memcpy(receivers->places + 3 * receivers->count, place, 3 * sizeof *place);
    receivers->far_field = far_field;
    receivers->grid[0] = receivers->grid[1] = 0;
    ++receivers->count;
    return PS_OK;
}

ps_status ps_receivers_add_point(ps_receivers *receivers, const char *text)
{
    double place[3];
    PS_TRY(ps_parse_vector(text, place));
    return ps_receivers_add(receivers, false, place);
}

/* ---- files ---- */

static ps_status add_line(ps_receivers *receivers, char *line)
{
    double place[3];
    char *at = line, *end;
    int kinds = 0;
    line[strcspn(line, "#\r\n")] = 0;
    if (line[strspn(line, " \t")] == 0) return PS_OK;
    for (int d = 0; d < 3; ++d) {
        place[d] = strtod(at, &end);
        if (end == at || !isfinite(place[d]))
            return ps_fail(PS_INVALID, "expected three numbers, found \"%s\"", line);
        const char *number = at + strspn(at, " \t");
        at = end + strspn(end, " \t,");
        PS_TRY(ps_text_separator(number, end, at, &kinds));
    }
    if (*at) return ps_fail(PS_INVALID, "more than three numbers in \"%s\"", line);
    return ps_receivers_add(receivers, false, place);
}

ps_status ps_receivers_add_file(ps_receivers *receivers, const char *path)
{
    char line[1024];
    ps_status status = PS_OK;
    int64_t before = receivers->count;
    FILE *file;
    PS_TRY(ps_path_open_input(path, "a file of points", &file));
    for (int number = 1; status == PS_OK && fgets(line, sizeof line, file); ++number) {
        status = add_line(receivers, line);
        if (status != PS_OK) ps_context(status, "%s: line %d", path, number);
    }
    fclose(file);
    if (status == PS_OK && receivers->count == before)
        return ps_fail(PS_INVALID, "%s: there are no points in it", path);
    return status;
}

/* ---- planes ---- */

typedef struct plane {
    double origin[3], u[3], v[3];
    int64_t n[2];
} plane;

static ps_status parse_counts(const char *text, int64_t n[2])
{
    char *end;
    n[0] = strtoll(text, &end, 10);
    bool good = end != text && *end == 'x';
    const char *second = end + 1;
    if (good) n[1] = strtoll(second, &end, 10);
    good = good && end != second && !*end && n[0] >= 1 && n[1] >= 1 && n[0] <= 1 << 20 &&
           n[1] <= 1 << 20;
    return good ? PS_OK : ps_fail(PS_USAGE, "\"%s\" is not a number of points as in 40x60", text);
}

static ps_status parse_plane(char *text, plane *out)
{
    char *parts[4], *rest = NULL;
    int count = 0;
    for (char *at = strtok_r(text, ";", &rest); at; at = strtok_r(NULL, ";", &rest)) {
        if (count == 4) return ps_fail(PS_USAGE, "too many parts");
        parts[count++] = at;
    }
    if (count != 4) return ps_fail(PS_USAGE, "%d parts instead of 4", count);
    double *vectors[] = {out->origin, out->u, out->v};
    for (int i = 0; i < 3; ++i) PS_TRY(ps_parse_vector(parts[i], vectors[i]));
    return parse_counts(parts[3], out->n);
}

static ps_status add_plane(ps_receivers *receivers, const plane *p)
{
    for (int64_t i = 0; i < p->n[0]; ++i)
        for (int64_t j = 0; j < p->n[1]; ++j) {
            double s = p->n[0] > 1 ? (double)i / (double)(p->n[0] - 1) : 0;
            double t = p->n[1] > 1 ? (double)j / (double)(p->n[1] - 1) : 0;
            double place[3];
            for (int d = 0; d < 3; ++d) place[d] = p->origin[d] + s * p->u[d] + t * p->v[d];
            PS_TRY(ps_receivers_add(receivers, false, place));
        }
    return PS_OK;
}

ps_status ps_receivers_add_plane(ps_receivers *receivers, const char *text)
{
    plane p;
    char copy[512];
    bool alone = receivers->count == 0;
    snprintf(copy, sizeof copy, "%s", text);
    ps_status status =
        strlen(text) < sizeof copy ? parse_plane(copy, &p) : ps_fail(PS_USAGE, "too long");
    if (status != PS_OK)
        return ps_context(status, "plane \"%s\": expected ox,oy,oz;ux,uy,uz;vx,vy,vz;n1xn2", text);
    PS_TRY(add_plane(receivers, &p));
    for (int d = 0; d < 2; ++d) receivers->grid[d] = alone ? p.n[d] : 0;
    return PS_OK;
}

/* ---- directions ---- */

ps_status ps_receivers_add_direction(ps_receivers *receivers, const char *text)
{
    double angles[2];
    int count;
    if (ps_parse_reals(text, ',', angles, 2, &count) != PS_OK || count != 2 ||
        fabs(angles[0]) > 360 || fabs(angles[1]) > 360)
        return ps_fail(PS_USAGE, "\"%s\" is not a direction theta,phi in degrees", text);
    double theta = angles[0] * M_PI / 180, phi = angles[1] * M_PI / 180;
    double place[3] = {sin(theta) * cos(phi), sin(theta) * sin(phi), cos(theta)};
    return ps_receivers_add(receivers, true, place);
}

/* The unit vector across `normal` that lies nearest to the z axis, or to x where z is the
 * normal itself. */
static void first_of_circle(const double normal[3], double out[3])
{
    double length = 0;
    for (int axis = 2; length < 1e-3; axis = 0) {
        for (int d = 0; d < 3; ++d) out[d] = (d == axis) - normal[axis] * normal[d];
        length = sqrt(out[0] * out[0] + out[1] * out[1] + out[2] * out[2]);
    }
    for (int d = 0; d < 3; ++d) out[d] /= length;
}

ps_status ps_receivers_add_circle(ps_receivers *receivers, int64_t count, const char *normal)
{
    double n[3], u[3], v[3];
    PS_TRY(ps_parse_vector(normal, n));
    double length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    if (!(length > 0) || count < 1)
        return ps_fail(PS_USAGE, "a great circle needs a normal that is not 0 and directions");
    for (int d = 0; d < 3; ++d) n[d] /= length;
    first_of_circle(n, u);
    for (int d = 0; d < 3; ++d)
        v[d] = n[(d + 1) % 3] * u[(d + 2) % 3] - n[(d + 2) % 3] * u[(d + 1) % 3];
    for (int64_t i = 0; i < count; ++i) {
        double angle = 2 * M_PI * (double)i / (double)count, place[3];
        for (int d = 0; d < 3; ++d) place[d] = cos(angle) * u[d] + sin(angle) * v[d];
        PS_TRY(ps_receivers_add(receivers, true, place));
    }
    return PS_OK;
}

ps_status ps_receivers_add_sphere(ps_receivers *receivers, const char *text)
{
    int64_t n[2];
    PS_TRY_IN(parse_counts(text, n), "a sphere of directions");
    for (int64_t i = 0; i < n[0]; ++i)
        for (int64_t j = 0; j < n[1]; ++j) {
            double theta = M_PI * ((double)i + .5) / (double)n[0];
            double phi = 2 * M_PI * (double)j / (double)n[1];
            const double place[3] = {sin(theta) * cos(phi), sin(theta) * sin(phi), cos(theta)};
            PS_TRY(ps_receivers_add(receivers, true, place));
        }
    return PS_OK;
}

ps_status ps_receivers_move_out(ps_receivers *receivers, double distance, const double centre[3])
{
    if (!receivers->far_field || !(distance > 0))
        return ps_fail(PS_USAGE, "directions and a positive distance are needed to place points");
    for (int64_t i = 0; i < 3 * receivers->count; ++i)
        receivers->places[i] = centre[i % 3] + distance * receivers->places[i];
    receivers->far_field = false;
    return PS_OK;
}

void ps_receivers_put(const ps_receivers *receivers, ps_trace *trace)
{
    memcpy(trace->places, receivers->places, (size_t)(3 * receivers->count) * sizeof(double));
    trace->far_field = receivers->far_field;
    memcpy(trace->grid, receivers->grid, sizeof trace->grid);
}

ps_status ps_receivers_add_words(ps_receivers *receivers, const ps_receiver_words *words)
{
    for (int i = 0; i < words->at.count; ++i)
        PS_TRY(ps_receivers_add_point(receivers, words->at.items[i]));
    if (words->points) PS_TRY(ps_receivers_add_file(receivers, words->points));
    if (words->plane) PS_TRY(ps_receivers_add_plane(receivers, words->plane));
    for (int i = 0; i < words->direction.count; ++i)
        PS_TRY(ps_receivers_add_direction(receivers, words->direction.items[i]));
    if (words->directions)
        PS_TRY(ps_receivers_add_circle(receivers, words->directions, words->normal));
    return PS_OK;
}

uint64_t ps_receivers_hash(const ps_receivers *receivers)
{
    uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a */
    const unsigned char *bytes = (const unsigned char *)receivers->places;
    for (int64_t i = 0; i < 24 * receivers->count; ++i) hash = (hash ^ bytes[i]) * 0x100000001b3u;
    return hash;
}
