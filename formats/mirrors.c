#include "formats/mirrors.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char axes[] = "xyz";

/* ---- words ---- */

/* "x=PLACE:rigid" */
static bool read_plane(const char *text, ps_mirror_plane *out)
{
    const char *axis = text[0] ? strchr(axes, text[0]) : NULL;
    char *rest;
    if (!axis || text[1] != '=') return false;
    out->axis = (int)(axis - axes);
    out->place = strtod(text + 2, &rest);
    if (rest == text + 2 || !isfinite(out->place) || *rest != ':') return false;
    out->soft = strcmp(rest + 1, "soft") == 0;
    return out->soft || strcmp(rest + 1, "rigid") == 0;
}

ps_status ps_mirrors_add(ps_mirrors *m, const char *text)
{
    ps_mirror_plane plane;
    int at = m->count;
    if (!read_plane(text, &plane))
        return ps_fail(PS_USAGE, "\"%s\" is not x=PLACE:rigid or :soft, with x, y or z (m)", text);
    if (m->count == PS_MIRRORS_MAX)
        return ps_fail(PS_USAGE, "\"%s\" is a third plane: one, or two that are perpendicular, are "
                                 "possible", text);
    for (int i = 0; i < m->count; ++i)
        if (m->plane[i].axis == plane.axis)
            return ps_fail(PS_USAGE, "\"%s\" is parallel to another plane: the images between two "
                                     "parallel ones have no end", text);
    for (; at > 0 && m->plane[at - 1].axis > plane.axis; --at) m->plane[at] = m->plane[at - 1];
    m->plane[at] = plane;
    m->side[m->count++] = 1;
    return PS_OK;
}

void ps_mirrors_print(const ps_mirrors *m, char out[PS_MIRRORS_TEXT])
{
    int length = 0;
    out[0] = 0;
    for (int i = 0; i < m->count; ++i)
        length += snprintf(out + length, (size_t)(PS_MIRRORS_TEXT - length), "%s%c=%.17g:%s",
                           i ? "," : "", axes[m->plane[i].axis], m->plane[i].place,
                           m->plane[i].soft ? "soft" : "rigid");
}

ps_status ps_mirrors_scan(const char *text, ps_mirrors *out)
{
    char copy[PS_MIRRORS_TEXT], *rest = copy;
    *out = (ps_mirrors){0};
    if (strlen(text) >= sizeof copy)
        return ps_fail(PS_INVALID, "mirror planes: \"%.100s\" is too long", text);
    strcpy(copy, text);
    for (char *part = strtok_r(copy, ",", &rest); part; part = strtok_r(NULL, ",", &rest)) {
        ps_status status = ps_mirrors_add(out, part);
        if (status != PS_OK) return ps_fail(PS_INVALID, "mirror planes: %s", ps_message());
    }
    return PS_OK;
}

/* ---- images ---- */

int ps_mirror_sign(const ps_mirrors *m, int copy)
{
    int sign = 1;
    for (int i = 0; i < m->count; ++i)
        if ((copy >> i & 1) && m->plane[i].soft) sign = -sign;
    return sign;
}

void ps_mirror_point(const ps_mirrors *m, int copy, const double x[3], double out[3])
{
    if (out != x) memcpy(out, x, 3 * sizeof *out);
    for (int i = 0; i < m->count; ++i)
        if (copy >> i & 1) out[m->plane[i].axis] = 2 * m->plane[i].place - out[m->plane[i].axis];
}

void ps_mirror_vector(const ps_mirrors *m, int copy, const double v[3], double out[3])
{
    if (out != v) memcpy(out, v, 3 * sizeof *out);
    for (int i = 0; i < m->count; ++i)
        if (copy >> i & 1) out[m->plane[i].axis] = -out[m->plane[i].axis];
}

/* ---- sides ---- */

double ps_mirror_height(const ps_mirrors *m, int plane, const double x[3])
{
    const ps_mirror_plane *at = &m->plane[plane];
    return m->side[plane] * (x[at->axis] - at->place);
}

double ps_mirror_touch(const double *vertices, int64_t count)
{
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    double extent = 0;
    for (int64_t i = 0; i < 3 * count; ++i) {
        low[i % 3] = fmin(low[i % 3], vertices[i]);
        high[i % 3] = fmax(high[i % 3], vertices[i]);
    }
    for (int c = 0; c < 3; ++c) extent = fmax(extent, high[c] - low[c]);
    return 1e-9 * extent;
}

ps_status ps_mirrors_find_sides(ps_mirrors *m, const double *vertices, int64_t count)
{
    double touch = ps_mirror_touch(vertices, count);
    for (int i = 0; i < m->count; ++i) {
        const ps_mirror_plane *at = &m->plane[i];
        double low = INFINITY, high = -INFINITY;
        for (int64_t v = 0; v < count; ++v) {
            low = fmin(low, vertices[3 * v + at->axis] - at->place);
            high = fmax(high, vertices[3 * v + at->axis] - at->place);
        }
        if (low < -touch && high > touch)
            return ps_fail(PS_INVALID,
                           "the surface crosses the mirror plane %c = %g: it reaches from %g to %g m "
                           "beside it; what lies beyond the plane is its image, and must not be in "
                           "the mesh",
                           axes[at->axis], at->place, low, high);
        if (high <= touch && low >= -touch)
            return ps_fail(PS_INVALID, "all of the surface lies in the mirror plane %c = %g",
                           axes[at->axis], at->place);
        m->side[i] = high > touch ? 1 : -1;
    }
    return PS_OK;
}
