#include <inttypes.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/common/vec3.h"
#include "kernels/hbem/closed.h"
#include "postprocess/hbem_field/field.h"
#include "runtime/compare.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

bool field_is_wave(const field_source *source) { return source->header->parts == 2; }

bool field_is_scattered(const field_source *source)
{
    return strncmp(source->header->problem, "helmholtz", 9) == 0;
}

/* ---- files that belong together ---- */

static ps_status check_alike(const field_source *source, const char *path,
                             const ps_hbem_solution_header *h, const char *first)
{
    const ps_hbem_solution_header *a = source->header;
    const char *what = NULL;
    if (strcmp(a->mesh_hash, h->mesh_hash) != 0)
        what = "surface";
    else if (strcmp(a->problem, h->problem) != 0 || a->parts != h->parts)
        what = "problem";
    if (!what && !ps_reflectors_same(&a->mirrors, &h->mirrors, 1)) what = "list of mirror planes";
    for (int l = 0; !what && l < PS_LAYERS; ++l)
        if (a->layer[l].factor != h->layer[l].factor ||
            (h->layer[l].factor != 0 && strcmp(a->layer[l].space, h->layer[l].space) != 0))
            what = "kind of layers";
    return what ? ps_fail(PS_INVALID, "%s has another %s than %s", path, what, first) : PS_OK;
}

static ps_status open_files(field_source *source, int count, const char *const *paths)
{
    PS_TRY(PS_ALLOC(&source->files, count, "files"));
    for (; source->file_count < count; ++source->file_count) {
        const char *path = paths[source->file_count];
        PS_TRY(ps_hbem_solution_open(path, &source->files[source->file_count]));
        source->header = &source->files[0].header;
        ps_status status =
            check_alike(source, path, &source->files[source->file_count].header, paths[0]);
        if (status != PS_OK) {
            ps_hbem_solution_close(&source->files[source->file_count]);
            return status;
        }
    }
    return PS_OK;
}

/* ---- the table ---- */

static bool same_incident(const field_entry *a, const field_entry *b)
{
    double square = 0, most = 0;
    for (int c = 0; c < 3; ++c)
        square += (a->direction[c] - b->direction[c]) * (a->direction[c] - b->direction[c]);
    for (int c = 0; c < 6; ++c) most = fmax(most, fabs(a->source[c] - b->source[c]));
    return a->incident == b->incident && square < 1e-20 && most == 0;
}

static bool same_wavenumber(double a, double b) { return fabs(a - b) <= 1e-12 * fabs(b); }

/* Place of an entry's direction among those known, which it joins; right-hand sides without waves
 * all count. */
static int64_t incidence_of(field_source *source, field_entry *entry)
{
    int64_t i = entry->wavenumber > 0 ? 0 : source->incidences;
    while (i < source->incidences && !same_incident(source->incident[i], entry)) ++i;
    if (i == source->incidences) {
        source->incident[i] = entry;
        memcpy(source->directions[source->incidences++], entry->direction, sizeof entry->direction);
    }
    return i;
}

static int64_t frequency_of(const field_source *source, double wavenumber)
{
    int64_t f = 0;
    while (!same_wavenumber(source->wavenumbers[f], wavenumber)) ++f;
    return f;
}

static ps_status list_entries(field_source *source, int64_t *count)
{
    *count = 0;
    for (int f = 0; f < source->file_count; ++f) *count += source->files[f].header.count;
    PS_TRY(PS_ALLOC(&source->entries, *count, "solutions"));
    PS_TRY(PS_ALLOC(&source->directions, *count, "solutions"));
    PS_TRY(PS_ALLOC(&source->incident, *count, "solutions"));
    PS_TRY(PS_ALLOC(&source->wavenumbers, *count, "solutions"));
    field_entry *to = source->entries;
    for (int f = 0; f < source->file_count; ++f)
        for (int64_t i = 0; i < source->files[f].header.count; ++i, ++to) {
            const ps_hbem_solution_entry *from = &source->files[f].entries[i];
            *to = (field_entry){
                .file = f, .index = i, .wavenumber = from->wavenumber, .residual = from->residual};
            memcpy(to->direction, from->direction, sizeof to->direction);
            to->incident = from->incident;
            to->absorption = from->absorption;
            memcpy(to->source, from->source, sizeof to->source);
            source->wavenumbers[to - source->entries] = from->wavenumber;
        }
    qsort(source->wavenumbers, (size_t)*count, sizeof *source->wavenumbers, ps_compare_reals);
    for (int64_t i = 0; i < *count; ++i)
        if (!source->frequencies ||
            !same_wavenumber(source->wavenumbers[i], source->wavenumbers[source->frequencies - 1]))
            source->wavenumbers[source->frequencies++] = source->wavenumbers[i];
    return PS_OK;
}

static ps_status fill_table(field_source *source)
{
    int64_t count;
    PS_SCOPED_MEMORY int64_t *incidence = NULL;
    PS_TRY(list_entries(source, &count));
    PS_TRY(PS_ALLOC(&incidence, count, "solutions"));
    PS_TRY(PS_ALLOC(&source->absorption, source->frequencies, "solutions"));
    for (int64_t f = 0; f < source->frequencies; ++f) source->absorption[f] = -1; /* not known */
    for (int64_t i = 0; i < count; ++i) incidence[i] = incidence_of(source, &source->entries[i]);
    ps_status status =
        PS_ALLOC(&source->table, source->frequencies * source->incidences, "solutions");
    for (int64_t i = 0; status == PS_OK && i < count; ++i) {
        int64_t f = frequency_of(source, source->entries[i].wavenumber);
        field_entry **at = &source->table[f * source->incidences + incidence[i]];
        double *loss = &source->absorption[f];
        if (*loss >= 0 && *loss != source->entries[i].absorption)
            return ps_fail(PS_INVALID,
                           "solutions of k = %g are of media that absorb differently, %g "
                           "and %g Np/m",
                           source->entries[i].wavenumber, *loss, source->entries[i].absorption);
        *loss = source->entries[i].absorption;
        if (*at)
            status = ps_fail(PS_INVALID, "the wave of k = %g from (%g, %g, %g) is there twice",
                             source->entries[i].wavenumber, source->entries[i].direction[0],
                             source->entries[i].direction[1], source->entries[i].direction[2]);
        *at = &source->entries[i];
    }
    for (int64_t e = 0; status == PS_OK && e < source->frequencies * source->incidences; ++e)
        if (!source->table[e])
            status = ps_fail(PS_INVALID,
                             "there is no solution for incidence %" PRId64 " at k = %g: every "
                             "wavenumber needs the same incidences",
                             e % source->incidences, source->wavenumbers[e / source->incidences]);
    return status;
}

/* ---- the surface ---- */

static ps_status make_space(field_source *source, ps_layer layer)
{
    static const char *const names[] = {"p0", "p1", "dp1"};
    ps_hbem_space *space = &source->spaces[layer];
    int kind = 0;
    while (strcmp(names[kind], source->header->layer[layer].space) != 0) ++kind;
    int64_t dofs = ps_hbem_space_dofs((ps_hbem_space_kind)kind, &source->surface), *start, *item;
    int32_t *dof_of;
    PS_TRY(PS_ALLOC(&start, dofs + 1, "functions"));
    space->start = start;
    PS_TRY(PS_ALLOC(&item, 3 * source->surface.triangle_count, "functions"));
    space->item = item;
    PS_TRY(PS_ALLOC(&dof_of, 3 * source->surface.triangle_count, "functions"));
    ps_hbem_space_init(space, (ps_hbem_space_kind)kind, &source->surface, start, item, dof_of);
    return PS_OK;
}

static ps_status make_surface(field_source *source)
{
    ps_surface_mesh *mesh = &source->mesh;
    PS_TRY(ps_hbem_solution_mesh(&source->files[0], mesh));
    PS_TRY(PS_ALLOC(&source->triangles, mesh->triangle_count, "triangles"));
    PS_TRY(ps_hbem_surface_init(&source->surface, mesh->vertices, mesh->vertex_count,
                                mesh->triangles, mesh->triangle_count, source->triangles));
    for (int l = 0; l < PS_LAYERS; ++l)
        if (source->header->layer[l].factor != 0) PS_TRY(make_space(source, (ps_layer)l));
    source->mirrors = source->header->mirrors;
    return ps_reflectors_find_sides(&source->mirrors, mesh->vertices, mesh->vertex_count);
}

bool field_absorbs(const field_source *source)
{
    for (int64_t f = 0; f < source->frequencies; ++f)
        if (source->absorption[f] > 0) return true;
    return false;
}

int64_t field_behind(const field_source *source, const ps_receivers *r)
{
    const ps_reflectors *m = &source->mirrors;
    double touch = ps_reflectors_touch(source->mesh.vertices, source->mesh.vertex_count);
    int64_t behind = 0;
    for (int64_t i = 0; i < r->count; ++i) {
        const double *x = r->places + 3 * i;
        bool wrong = false;
        for (int p = 0; p < m->count; ++p)
            wrong |= r->far_field ? ps_dot3(m->planes[p].normal, x) < -1e-12
                                  : ps_reflector_height(&m->planes[p], x) < -touch;
        behind += wrong;
    }
    return behind;
}

/* What a phase k r of a point may lose by the rounding of r, rad. */
static const double phase_lost = 1e-6;

ps_status field_check_distances(const field_source *source, const ps_receivers *r)
{
    double k = source->wavenumbers[source->frequencies - 1], farthest = 0;
    if (r->far_field || !field_is_wave(source)) return PS_OK;
    for (int64_t i = 0; i < r->count; ++i)
        farthest = fmax(farthest, ps_norm3(r->places + 3 * i));
    if (k * farthest * DBL_EPSILON <= phase_lost) return PS_OK;
    return ps_fail(PS_USAGE,
                   "points %.3g m from the origin are %.3g wavelengths away, more than the phases "
                   "of double numbers can tell: ask for the far field (--direction, --directions), "
                   "or for points within %.3g m",
                   farthest, k * farthest / (2 * M_PI), phase_lost / (k * DBL_EPSILON));
}

int field_where(const field_source *source, const double x[3])
{
    double share, sum = 0;
    int where = ps_hbem_where(&source->surface, x, &share);
    for (int copy = 0; copy < ps_reflectors_images(&source->mirrors); ++copy) {
        double place[3];
        ps_reflectors_point(&source->mirrors, copy, x, place);
        if (copy > 0) ps_hbem_where(&source->surface, place, &share);
        sum += share;
    }
    return where == 0 ? 0 : sum > .5 ? -1 : 1;
}

/* Solutions of a spectrum are of one medium and one fluid, where they tell it. */
static ps_status find_media(field_source *source)
{
    for (int e = 0; e < PS_HBEM_MEDIUM * source->file_count; ++e) {
        const int what = e % PS_HBEM_MEDIUM;
        double own = source->files[e / PS_HBEM_MEDIUM].header.medium[what];
        double *told = &source->medium[what];
        if (own > 0 && *told > 0 && own != *told)
            return ps_fail(
                PS_INVALID,
                "the solutions are of media with a %s of %g and %g: they make no spectrum",
                ps_hbem_medium_names[what], *told, own);
        if (own > 0) *told = own;
    }
    return PS_OK;
}

ps_status field_source_open(field_source *source, int count, const char *const *paths)
{
    memset(source, 0, sizeof *source);
    PS_TRY(open_files(source, count, paths));
    PS_TRY(find_media(source));
    PS_TRY(fill_table(source));
    return make_surface(source);
}

void field_source_close(field_source *source)
{
    for (int l = 0; l < PS_LAYERS; ++l) {
        PS_FREE(source->spaces[l].start, source->spaces[l].item, source->spaces[l].dof_of);
    }
    for (int f = 0; f < source->file_count; ++f) ps_hbem_solution_close(&source->files[f]);
    ps_surface_mesh_release(&source->mesh);
    PS_FREE(source->files, source->triangles, source->directions, source->incident,
            source->wavenumbers, source->table, source->absorption, source->entries);
    memset(source, 0, sizeof *source);
}

int field_side(const field_source *source)
{
    double factor = source->header->layer[PS_LAYER_DOUBLE].factor;
    return (factor > 0) - (factor < 0);
}
