#include "formats/reflectors.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "formats/store_texts.h"
#include "runtime/options.h"

enum { MIRROR_TEXT_MAX = 256 };

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* "z=PLACE:rigid" as "0,0,PLACE:0,0,1:rigid"; other texts as they are. */
static void spell_out(const char *text, char *out, size_t size)
{
    static const char axes[] = "xyz";
    const char *at = text[0] ? strchr(axes, text[0]) : NULL;
    const char *kind = strchr(text, ':');
    double place[3] = {0}, normal[3] = {0};
    snprintf(out, size, "%s", text);
    if (!at || text[1] != '=' || !kind || sscanf(text + 2, "%lf", &place[at - axes]) != 1) return;
    normal[at - axes] = 1;
    snprintf(out, size, "%.17g,%.17g,%.17g:%g,%g,%g%s", place[0], place[1], place[2], normal[0],
             normal[1], normal[2], kind);
}

static bool parse_plane(const char *given, ps_reflector *out)
{
    char copy[MIRROR_TEXT_MAX], text[MIRROR_TEXT_MAX + 64], *rest = NULL, *part[4] = {0};
    int count = 0, place = 0, normal = 0;
    if (strlen(given) >= sizeof copy) return false;
    spell_out(given, text, sizeof text);
    if (strlen(text) >= sizeof copy) return false;
    snprintf(copy, sizeof copy, "%s", text);
    for (char *w = strtok_r(copy, ":", &rest); w && count < 4; w = strtok_r(NULL, ":", &rest))
        part[count++] = w;
    if (count != 3 || ps_parse_reals(part[0], ',', out->place, 3, &place) != PS_OK ||
        ps_parse_reals(part[1], ',', out->normal, 3, &normal) != PS_OK || place != 3 || normal != 3)
        return false;
    double length = sqrt(dot(out->normal, out->normal));
    /* What was made a unit vector once stays as it is, bit for bit. */
    if (fabs(length - 1) > 1e-15)
        for (int k = 0; k < 3; ++k) out->normal[k] /= length;
    out->sign = !strcmp(part[2], "rigid") ? 1 : !strcmp(part[2], "soft") ? -1 : 0;
    return out->sign != 0 && length > 0 && isfinite(length) &&
           isfinite(dot(out->place, out->place));
}

ps_status ps_reflectors_parse(const char *option, int count, const char *const *texts,
                              ps_reflectors *out)
{
    *out = (ps_reflectors){.count = 0};
    if (count > PS_REFLECTORS_MAX)
        return ps_fail(PS_USAGE, "%s may be given %d times, not %d", option, PS_REFLECTORS_MAX,
                       count);
    for (int p = 0; p < count; ++p)
        if (!parse_plane(texts[p], &out->planes[p]))
            return ps_fail(PS_USAGE, "%s: \"%s\" is not X,Y,Z:NX,NY,NZ:rigid or :soft", option,
                           texts[p]);
    if (count == 2 && !(fabs(dot(out->planes[0].normal, out->planes[1].normal)) < 1e-9))
        return ps_fail(PS_USAGE,
                       "%s: the planes \"%s\" and \"%s\" are not perpendicular: at another angle a "
                       "finite number of images does not do",
                       option, texts[0], texts[1]);
    out->count = count;
    return PS_OK;
}

void ps_reflectors_face(ps_reflectors *mirrors, int64_t count, const double *points)
{
    for (int p = 0; p < mirrors->count; ++p) {
        ps_reflector *plane = &mirrors->planes[p];
        double sum = 0;
        for (int64_t i = 0; i < count; ++i) sum += ps_reflector_height(plane, points + 3 * i);
        for (int k = 0; sum < 0 && k < 3; ++k) plane->normal[k] = -plane->normal[k];
    }
}

static void print_plane(const ps_reflector *p, int digits, char *out, size_t size)
{
    const double *x = p->place, *n = p->normal;
    snprintf(out, size, "%.*g,%.*g,%.*g:%.*g,%.*g,%.*g:%s", digits, x[0], digits, x[1], digits,
             x[2], digits, n[0], digits, n[1], digits, n[2], p->sign > 0 ? "rigid" : "soft");
}

double ps_reflectors_touch(const double *vertices, int64_t count)
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

ps_status ps_reflectors_find_sides(ps_reflectors *mirrors, const double *vertices, int64_t count)
{
    double touch = ps_reflectors_touch(vertices, count);
    ps_reflectors_face(mirrors, count, vertices);
    for (int p = 0; p < mirrors->count; ++p) {
        double low = INFINITY, high = -INFINITY;
        char text[MIRROR_TEXT_MAX];
        for (int64_t v = 0; v < count; ++v) {
            double height = ps_reflector_height(&mirrors->planes[p], vertices + 3 * v);
            low = fmin(low, height);
            high = fmax(high, height);
        }
        print_plane(&mirrors->planes[p], 6, text, sizeof text);
        if (low < -touch && high > touch)
            return ps_fail(
                PS_INVALID,
                "the surface crosses the mirror plane %s: it reaches from %g to %g m beside "
                "it; what lies beyond the plane is its image, and must not be in the mesh",
                text, low, high);
        if (high <= touch)
            return ps_fail(PS_INVALID, "all of the surface lies in the mirror plane %s", text);
    }
    return PS_OK;
}

ps_status ps_reflectors_put(ps_store *store, const ps_reflectors *mirrors)
{
    char text[PS_REFLECTORS_MAX][MIRROR_TEXT_MAX];
    for (int p = 0; p < mirrors->count; ++p)
        print_plane(&mirrors->planes[p], 17, text[p], sizeof text[p]);
    return ps_store_put_list(store, "mirror", mirrors->count, text[0], sizeof text[0]);
}

ps_status ps_reflectors_get(const ps_store *store, ps_reflectors *out)
{
    char text[PS_REFLECTORS_MAX][MIRROR_TEXT_MAX];
    const char *texts[PS_REFLECTORS_MAX] = {text[0], text[1]};
    int count;
    *out = (ps_reflectors){.count = 0};
    PS_TRY(ps_store_get_list(store, "mirror", PS_REFLECTORS_MAX, &count, text[0], sizeof text[0]));
    if (count == 0) return PS_OK;
    ps_status status = ps_reflectors_parse("attribute mirror", count, texts, out);
    return status == PS_OK ? PS_OK : ps_context(PS_INVALID, "planes");
}

bool ps_reflectors_same(const ps_reflectors *a, const ps_reflectors *b, double size)
{
    if (a->count != b->count) return false;
    for (int p = 0; p < a->count; ++p) {
        const ps_reflector *s = &a->planes[p], *t = &b->planes[p];
        if (s->sign != t->sign || !(fabs(fabs(dot(s->normal, t->normal)) - 1) < 1e-12) ||
            !(fabs(ps_reflector_height(s, t->place)) <= 1e-9 * size))
            return false;
    }
    return true;
}

void ps_reflectors_print(const ps_reflectors *mirrors, char *out, size_t size)
{
    size_t used = 0;
    snprintf(out, size, "no plane");
    for (int p = 0; p < mirrors->count && used + 1 < size; ++p) {
        if (p > 0) used += (size_t)snprintf(out + used, size - used, " and ");
        if (used + 1 >= size) return;
        print_plane(&mirrors->planes[p], 6, out + used, size - used);
        used += strlen(out + used);
    }
}
