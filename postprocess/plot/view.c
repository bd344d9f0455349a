/* A surface as a page that a browser turns: the viewer, view.html, with the data inside. */
#include "postprocess/plot/view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plot/view.html.h"
#include "runtime/base64.h"
#include "runtime/memory.h"
#include "runtime/output_file.h"
#include "runtime/scope.h"

enum { NO_VALUE = 0, LOWEST = 1, HIGHEST = 255, REGIONS_MAX = 255 };

typedef struct view_page {
    const plot_request *request;
    view v;
    colour_range ranges[VIEW_FIELDS_MAX];
    uint8_t *bytes; /* room for the largest array */
} view_page;

static void put_text(FILE *file, const char *text)
{
    fputc('"', file);
    for (const unsigned char *at = (const unsigned char *)text; *at; ++at)
        if (*at < 32 || *at == '"' || *at == '\\' || *at == '<' || *at == '&')
            fprintf(file, "\\u%04x", *at);
        else
            fputc(*at, file);
    fputc('"', file);
}

static void put_data(FILE *file, const char *name, const void *data, int64_t bytes)
{
    fprintf(file, "\"%s\": \"", name);
    ps_base64_write(file, data, bytes);
    fprintf(file, "\",\n");
}

/* Vertices in 65536 steps of each side of their box; numbers of vertices in 32 bits. */
static void put_mesh(FILE *file, const view_page *p)
{
    const ps_surface_mesh *m = &p->v.mesh;
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    uint16_t *steps = (uint16_t *)(void *)p->bytes;
    for (int64_t i = 0; i < 3 * m->vertex_count; ++i) {
        low[i % 3] = fmin(low[i % 3], m->vertices[i]);
        high[i % 3] = fmax(high[i % 3], m->vertices[i]);
    }
    for (int64_t i = 0; i < 3 * m->vertex_count; ++i) {
        double side = high[i % 3] - low[i % 3];
        steps[i] = (uint16_t)(side > 0 ? (m->vertices[i] - low[i % 3]) / side * 65535 + 0.5 : 0);
    }
    fprintf(file, "\"box\": [%.9g, %.9g, %.9g, %.9g, %.9g, %.9g],\n", low[0], low[1], low[2],
            high[0], high[1], high[2]);
    put_data(file, "points", steps, 6 * m->vertex_count);
    put_data(file, "triangles", m->triangles, 12 * m->triangle_count);
}

static int find_tag(const int32_t *tags, int count, int32_t tag)
{
    for (int i = 0; i < count; ++i)
        if (tags[i] == tag) return i;
    return count;
}

/* "7 wing\n" among the names of tags; "tag 7" without a name. */
static void put_tag_name(FILE *file, const ps_surface_mesh *m, int32_t tag)
{
    char text[sizeof m->tag_names];
    snprintf(text, sizeof text, "tag %d", tag);
    for (const char *line = m->tag_names; line && *line; line = strchr(line, '\n')) {
        line += *line == '\n';
        char *end;
        if (strtol(line, &end, 10) == tag && *end == ' ')
            snprintf(text, sizeof text, "%.*s", (int)strcspn(end + 1, "\n"), end + 1);
    }
    put_text(file, text);
}

/* Regions by number in the list of their names; tags beyond the 255th are the last one's. */
static void put_regions(FILE *file, const view_page *p)
{
    const ps_surface_mesh *m = &p->v.mesh;
    int32_t tags[REGIONS_MAX];
    int count = 0;
    for (int64_t t = 0; t < m->triangle_count; ++t) {
        int at = find_tag(tags, count, m->tags[t]);
        if (at == count && count < REGIONS_MAX) tags[count++] = m->tags[t];
        p->bytes[t] = (uint8_t)(at < REGIONS_MAX ? at : REGIONS_MAX - 1);
    }
    put_data(file, "regions", p->bytes, m->triangle_count);
    fprintf(file, "\"names\": [");
    for (int i = 0; i < count; ++i) {
        if (i) fputc(',', file);
        put_tag_name(file, m, tags[i]);
    }
    fprintf(file, "],\n");
}

static void put_field(FILE *file, const view_page *p, int index)
{
    const view_field *f = &p->v.fields[index];
    const colour_range *range = &p->ranges[index];
    int64_t count = f->at_vertices ? p->v.mesh.vertex_count : p->v.mesh.triangle_count;
    fprintf(file, "%s{\"name\": ", index ? ",\n" : "");
    put_text(file, f->name);
    fprintf(file, ", \"units\": ");
    put_text(file, strcmp(f->units, "1") == 0 ? "" : f->units);
    fprintf(file,
            ", \"vertices\": %s, \"ends\": [%.9g, %.9g], \"reach\": [%.9g, %.9g], \"frames\": [",
            f->at_vertices ? "true" : "false", range->ends[0], range->ends[1],
            isfinite(range->reach[0]) ? range->reach[0] : 0,
            isfinite(range->reach[1]) ? range->reach[1] : 0);
    for (int frame = 0; frame < f->frames; ++frame) {
        const double *values = f->values + frame * count;
        for (int64_t i = 0; i < count; ++i) {
            double t = (values[i] - range->ends[0]) / (range->ends[1] - range->ends[0]);
            p->bytes[i] =
                (uint8_t)(!isfinite(t) ? NO_VALUE
                                       : LOWEST + (HIGHEST - LOWEST) * fmax(0, fmin(1, t)) + 0.5);
        }
        fprintf(file, "%s{", frame ? ",\n" : "");
        put_data(file, "values", p->bytes, count);
        if (isfinite(f->times[frame]))
            fprintf(file, "\"time\": %.9g}", f->times[frame]);
        else
            fprintf(file, "\"time\": null}");
    }
    fprintf(file, "]}");
}

static void put_palette(FILE *file, const char *name, void (*colour)(double, double *))
{
    fprintf(file, "\"%s\": [", name);
    for (int i = 0; i < 255; ++i) {
        double rgb[3];
        colour(i / 254., rgb);
        for (int k = 0; k < 3; ++k)
            fprintf(file, "%s%d", i + k ? "," : "", (int)(255 * rgb[k] + 0.5));
    }
    fprintf(file, "],\n");
}

static void print_page(FILE *file, const void *context)
{
    static const char mark[] = "/*DATA*/null";
    const view_page *p = context;
    const char *at = strstr(plot_view_html, mark);
    char title[256];
    plot_label(p->request, 0, title, sizeof title);
    fwrite(plot_view_html, 1, (size_t)(at - plot_view_html), file);
    fprintf(file, "{\"title\": ");
    put_text(file, p->request->title ? p->request->title : title);
    fprintf(file, ",\n\"there\": %lld, \"merged\": %.3g, \"left_out\": %d,\n",
            (long long)p->v.triangles_there, p->v.merged,
            p->v.fields_there > p->v.field_count ? p->v.fields_there - p->v.field_count : 0);
    put_mesh(file, p);
    put_regions(file, p);
    put_palette(file, "sequential", canvas_sequential);
    put_palette(file, "diverging", canvas_diverging);
    fprintf(file, "\"lines\": [");
    for (int i = 0; i < 8; ++i) fprintf(file, "%s\"%s\"", i ? "," : "", canvas_colour(i));
    fprintf(file, "],\n\"fields\": [");
    for (int f = 0; f < p->v.field_count; ++f) put_field(file, p, f);
    fprintf(file, "]}%s", at + strlen(mark));
}

static ps_status choose_ranges(view_page *p)
{
    for (int f = 0; f < p->v.field_count; ++f) {
        const view_field *field = &p->v.fields[f];
        int64_t count = field->frames *
                        (field->at_vertices ? p->v.mesh.vertex_count : p->v.mesh.triangle_count);
        PS_TRY(colour_range_choose(p->request, field->values, count, &p->ranges[f]));
    }
    return PS_OK;
}

static void release(view_page *p)
{
    view_release(&p->v);
    free(p->bytes);
}

ps_status plot_view(const plot_request *request, const char *output)
{
    PS_SCOPED(release) view_page p = {.request = request};
    size_t length = strlen(output);
    if (length < 5 || strcmp(output + length - 5, ".html") != 0)
        return ps_fail(PS_USAGE, "--output: %s does not end in .html, which a view is", output);
    PS_TRY(view_load(request, &p.v));
    PS_TRY(view_thin(&p.v));
    PS_TRY(choose_ranges(&p));
    PS_TRY(PS_ALLOC(&p.bytes, 6 * p.v.mesh.vertex_count + p.v.mesh.triangle_count, "a page"));
    return ps_output_print(output, print_page, &p);
}
