#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/history.h"
#include "postprocess/plot/view.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

void view_release(view *v)
{
    ps_surface_mesh_release(&v->mesh);
    for (int f = 0; f < v->field_count; ++f) free(v->fields[f].values);
    v->field_count = 0;
}

static int64_t places(const view *v, const view_field *field)
{
    return field->at_vertices ? v->mesh.vertex_count : v->mesh.triangle_count;
}

/* Values at corners are those of triangles where each has three that are equal. */
static bool is_at_vertices(const double *corners, int64_t triangles)
{
    for (int64_t i = 0; i < 3 * triangles; ++i)
        if (memcmp(&corners[i], &corners[i / 3 * 3], sizeof *corners) != 0) return true;
    return false;
}

/* Frame `frame` of a field from the corners of a skin of this view's triangles. */
static void take_corners(view *v, view_field *field, int frame, const double *corners)
{
    double *to = field->values + frame * places(v, field);
    for (int64_t i = 0; i < 3 * v->mesh.triangle_count; ++i)
        to[field->at_vertices ? v->mesh.triangles[i] : i / 3] = corners[i];
}

/* The field `name` of every file, a frame each; the first file's triangles are the view's. */
static ps_status add_field(const plot_request *r, const char *name, view *v)
{
    view_field *field = &v->fields[v->field_count];
    for (int f = 0; f < r->file_count; ++f) {
        PS_SCOPED(skin_release) skin s = {0};
        PS_TRY(skin_load(r->files[f], name, &s));
        if (f == 0) {
            field->at_vertices = is_at_vertices(s.corners, s.mesh.triangle_count);
            field->frames = r->file_count;
            memcpy(field->name, s.name, sizeof field->name);
            memcpy(field->units, s.units, sizeof field->units);
            if (!v->mesh.vertices) {
                v->mesh = s.mesh;
                s.mesh = (ps_surface_mesh){0};
            }
            PS_TRY(PS_ALLOC(&field->values, field->frames * places(v, field), "values"));
            ++v->field_count;
        } else if (s.mesh.triangle_count != v->mesh.triangle_count ||
                   s.mesh.vertex_count != v->mesh.vertex_count)
            return ps_fail(PS_INVALID, "%s has not the triangles of %s", r->files[f], r->files[0]);
        take_corners(v, field, f, s.corners);
    }
    return PS_OK;
}

/* Whether a dataset is a field to show, of real numbers, one a place; its name. */
static const char *field_name(const ps_dataset_info *info, bool solid)
{
    static const char cells[] = "/VTKHDF/CellData/", points[] = "/VTKHDF/PointData/";
    const char *name = NULL;
    if (strncmp(info->name, cells, strlen(cells)) == 0) name = info->name + strlen(cells);
    if (!solid && strncmp(info->name, points, strlen(points)) == 0)
        name = info->name + strlen(points);
    bool real = info->type == PS_F32 || info->type == PS_F64;
    return name && real && info->rank == 1 && strlen(name) < 64 ? name : NULL;
}

/* Fields of triangles are all of one surface; of tetrahedra each has a skin of its own: the one
 * that is asked for, or SAR, else the surface of all with its tags. */
static ps_status add_fields(const plot_request *r, view *v)
{
    PS_SCOPED(ps_store_close) ps_store *store = NULL;
    int64_t sizes[2];
    PS_TRY(ps_store_open(r->files[0], NULL, 0, &store));
    bool solid = ps_vtkhdf_get_sizes(store, 3, &sizes[0], &sizes[1]) != PS_OK;
    if (r->field) return add_field(r, r->field, v);
    if (solid && ps_store_has(store, "/VTKHDF/CellData/SAR", NULL)) return add_field(r, "SAR", v);
    for (int id = 0; !solid && id < ps_store_dataset_count(store); ++id) {
        ps_dataset_info info;
        PS_TRY(ps_store_dataset(store, id, &info));
        const char *name = field_name(&info, solid);
        if (!name) continue;
        ++v->fields_there;
        if (v->field_count < VIEW_FIELDS_MAX) PS_TRY(add_field(r, name, v));
    }
    return PS_OK;
}

/* Spread over all steps, the last one included. */
static ps_status add_history(ps_history *history, const char *path, view *v)
{
    const ps_history_header *h = ps_history_header_of(history);
    view_field *field = &v->fields[v->field_count];
    field->at_vertices = h->slices.formulation == PS_SOUND_HARD;
    if (h->slices.unknowns != places(v, field) ||
        strcmp(h->slices.mesh_hash, v->mesh.content_hash) != 0)
        return ps_fail(PS_INVALID,
                       "%s was not computed on the mesh (its mesh has content %s, this one %s)",
                       path, h->slices.mesh_hash, v->mesh.content_hash);
    bool hard = field->at_vertices;
    snprintf(field->name, sizeof field->name, "%s", hard ? "total pressure" : "density -du/dn");
    snprintf(field->units, sizeof field->units, "%s", hard ? "Pa" : "Pa/m");
    field->frames = h->steps < VIEW_FRAMES_MAX ? (int)h->steps : VIEW_FRAMES_MAX;
    PS_TRY(PS_ALLOC(&field->values, field->frames * h->slices.unknowns, "densities"));
    ++v->field_count;
    for (int i = 0; i < field->frames; ++i) {
        int64_t n = 1 + (field->frames > 1 ? (h->steps - 1) * i / (field->frames - 1) : 0);
        field->times[i] = ((double)n - (hard ? 0 : 0.5)) * h->slices.dt;
        PS_TRY(ps_history_read(history, n, 1, field->values + i * h->slices.unknowns));
    }
    return PS_OK;
}

/* The times of frames, where the files tell them. */
static ps_status read_times(const plot_request *r, view *v)
{
    for (int f = 0; f < r->file_count; ++f) {
        double time = NAN;
        PS_SCOPED(ps_store_close) ps_store *store = NULL;
        PS_TRY(ps_store_open(r->files[f], NULL, 0, &store));
        if (ps_store_has(store, "/", "time")) PS_TRY(ps_store_get_real(store, "/", "time", &time));
        for (int i = 0; i < v->field_count; ++i) v->fields[i].times[f] = time;
    }
    return PS_OK;
}

static bool is_history(const char *path)
{
    PS_SCOPED(ps_store_close) ps_store *store = NULL;
    return ps_store_open(path, NULL, 0, &store) == PS_OK &&
           strcmp(ps_store_format(store), PS_HISTORY_FORMAT) == 0;
}

static ps_status load(const plot_request *r, view *v)
{
    if (r->file_count == 2 && is_history(r->files[1])) {
        PS_SCOPED(ps_history_close) ps_history *history = NULL;
        PS_TRY(ps_surface_mesh_load(r->files[0], &v->mesh));
        PS_TRY(ps_history_open(r->files[1], &history));
        return add_history(history, r->files[1], v);
    }
    PS_TRY(add_fields(r, v));
    PS_TRY(read_times(r, v));
    if (v->mesh.vertices) return PS_OK;
    PS_SCOPED(skin_release) skin s = {0};
    PS_TRY(plot_need_files(r, 1, 1, "a mesh without fields"));
    PS_TRY(skin_load(r->files[0], "", &s));
    v->mesh = s.mesh;
    s.mesh = (ps_surface_mesh){0};
    return PS_OK;
}

ps_status view_load(const plot_request *r, view *out)
{
    PS_TRY(plot_need_files(r, 1, VIEW_FRAMES_MAX, "a mesh, a mesh and a history, or fields"));
    PS_TRY(load(r, out));
    out->triangles_there = out->mesh.triangle_count;
    return PS_OK;
}

/* ---- thinning ---- */

typedef struct keyed {
    int64_t key;
    int32_t vertex;
} keyed;

static int by_key(const void *a, const void *b)
{
    const keyed *x = a, *y = b;
    return x->key != y->key ? (x->key > y->key) - (x->key < y->key)
                            : (x->vertex > y->vertex) - (x->vertex < y->vertex);
}

static double extent(const ps_surface_mesh *m, double low[3])
{
    double size = 0;
    for (int k = 0; k < 3; ++k) {
        double high = -INFINITY;
        low[k] = INFINITY;
        for (int64_t i = 0; i < m->vertex_count; ++i) {
            low[k] = fmin(low[k], m->vertices[3 * i + k]);
            high = fmax(high, m->vertices[3 * i + k]);
        }
        size = fmax(size, high - low[k]);
    }
    return size;
}

/* place[v]: which merged vertex takes v, on a grid of spacing h; returns how many there are. */
static int64_t merge(const ps_surface_mesh *m, const double low[3], double h, keyed *keys,
                     int32_t *place)
{
    int64_t count = 0;
    for (int64_t i = 0; i < m->vertex_count; ++i) {
        int64_t key = 0;
        for (int k = 0; k < 3; ++k)
            key = key << 20 | (int64_t)((m->vertices[3 * i + k] - low[k]) / h);
        keys[i] = (keyed){key, (int32_t)i};
    }
    qsort(keys, (size_t)m->vertex_count, sizeof *keys, by_key);
    for (int64_t i = 0; i < m->vertex_count; ++i) {
        count += i == 0 || keys[i].key != keys[i - 1].key;
        place[keys[i].vertex] = (int32_t)(count - 1);
    }
    return count;
}

static bool survives(const ps_surface_mesh *m, const int32_t *place, int64_t t)
{
    const int32_t *v = m->triangles + 3 * t;
    return place[v[0]] != place[v[1]] && place[v[1]] != place[v[2]] && place[v[2]] != place[v[0]];
}

/* The means of what is finite among the values of merged places, to the front of the values. */
static ps_status mean_values(const int32_t *place, int64_t from, int64_t to, int width,
                             double *values)
{
    PS_SCOPED_MEMORY double *sums = NULL;
    PS_SCOPED_MEMORY int32_t *counts = NULL;
    PS_TRY(PS_ALLOC(&sums, width * to, "merged values"));
    PS_TRY(PS_ALLOC(&counts, width * to, "merged values"));
    for (int64_t i = 0; i < width * from; ++i) {
        int64_t at = width * (int64_t)place[i / width] + i % width;
        if (!isfinite(values[i])) continue;
        sums[at] += values[i];
        ++counts[at];
    }
    for (int64_t i = 0; i < width * to; ++i) values[i] = counts[i] ? sums[i] / counts[i] : NAN;
    return PS_OK;
}

static ps_status thin_fields(view *v, const int32_t *place, int64_t merged, int64_t kept)
{
    for (int f = 0; f < v->field_count; ++f) {
        view_field *field = &v->fields[f];
        int64_t from = places(v, field), to = field->at_vertices ? merged : kept;
        for (int frame = 0; frame < field->frames; ++frame) {
            double *values = field->values + frame * from;
            int64_t at = 0;
            if (field->at_vertices)
                PS_TRY(mean_values(place, from, to, 1, values));
            else
                for (int64_t t = 0; t < from; ++t)
                    if (survives(&v->mesh, place, t)) values[at++] = values[t];
            memmove(field->values + frame * to, values, (size_t)to * sizeof *values);
        }
    }
    return PS_OK;
}

static ps_status thin_mesh(ps_surface_mesh *m, const int32_t *place, int64_t merged)
{
    int64_t kept = 0;
    for (int64_t t = 0; t < m->triangle_count; ++t) {
        if (!survives(m, place, t)) continue;
        m->tags[kept] = m->tags[t];
        for (int k = 0; k < 3; ++k) m->triangles[3 * kept + k] = m->triangles[3 * t + k];
        ++kept;
    }
    for (int64_t i = 0; i < 3 * kept; ++i) m->triangles[i] = place[m->triangles[i]];
    PS_TRY(mean_values(place, m->vertex_count, merged, 3, m->vertices));
    m->vertex_count = merged;
    m->triangle_count = kept;
    return PS_OK;
}

ps_status view_thin(view *v)
{
    ps_surface_mesh *m = &v->mesh;
    PS_SCOPED_MEMORY keyed *keys = NULL;
    PS_SCOPED_MEMORY int32_t *place = NULL;
    double low[3], size = extent(m, low);
    int64_t kept = m->triangle_count, merged = m->vertex_count;
    if (kept <= VIEW_TRIANGLES_MAX) return PS_OK;
    PS_TRY(PS_ALLOC(&keys, m->vertex_count, "vertices by cell"));
    PS_TRY(PS_ALLOC(&place, m->vertex_count, "merged vertices"));
    for (double cells = 600; kept > VIEW_TRIANGLES_MAX && cells > 4; cells *= 0.8) {
        v->merged = size / cells;
        merged = merge(m, low, v->merged, keys, place);
        kept = 0;
        for (int64_t t = 0; t < m->triangle_count; ++t) kept += survives(m, place, t);
    }
    PS_TRY(thin_fields(v, place, merged, kept));
    return thin_mesh(m, place, merged);
}
