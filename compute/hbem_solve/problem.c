/* Mesh, matrices and spaces of a problem, and whether they belong together. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compute/hbem_solve/solve.h"
#include "kernels/common/vec3.h"
#include "runtime/log.h"
#include "runtime/memory.h"

/* ---- which matrices ---- */

#define IMAGES_FIRST(copy) (SLOTS_OWN + ((copy)-1) * SLOTS_IMAGE)
#define IMAGES(number)                                                                             \
    [IMAGES_FIRST(number) + PS_KERNEL_SLP] = {PS_KERNEL_SLP, .copy = (number)},                    \
    [IMAGES_FIRST(number) + PS_KERNEL_DLP] = {PS_KERNEL_DLP, .copy = (number)},                    \
    [IMAGES_FIRST(number) + PS_KERNEL_ADLP] = {PS_KERNEL_ADLP, .copy = (number)},                  \
    [IMAGES_FIRST(number) + PS_KERNEL_HYPS] = {PS_KERNEL_HYPS, .copy = (number)},                  \
    [IMAGES_FIRST(number) + PS_HBEM_KERNELS] = {PS_KERNEL_SLP, .data = true, .copy = (number)},    \
    [IMAGES_FIRST(number) + PS_HBEM_KERNELS + 1] = {PS_KERNEL_ADLP, .data = true, .copy = (number)}

const slot slot_table[SLOTS] = {
    [PS_KERNEL_SLP] = {PS_KERNEL_SLP},
    [PS_KERNEL_DLP] = {PS_KERNEL_DLP},
    [PS_KERNEL_ADLP] = {PS_KERNEL_ADLP},
    [PS_KERNEL_HYPS] = {PS_KERNEL_HYPS},
    [SLOT_INNER + PS_KERNEL_SLP] = {PS_KERNEL_SLP, .inner = true},
    [SLOT_INNER + PS_KERNEL_DLP] = {PS_KERNEL_DLP, .inner = true},
    [SLOT_INNER + PS_KERNEL_ADLP] = {PS_KERNEL_ADLP, .inner = true},
    [SLOT_INNER + PS_KERNEL_HYPS] = {PS_KERNEL_HYPS, .inner = true},
    [SLOT_DATA_SLP] = {PS_KERNEL_SLP, .data = true},
    [SLOT_DATA_ADLP] = {PS_KERNEL_ADLP, .data = true},
    IMAGES(1),
    IMAGES(2),
    IMAGES(3),
};

int slot_of_copy(int at, int copy)
{
    int place = slot_table[at].data ? PS_HBEM_KERNELS + at - SLOT_DATA_SLP : at;
    if (copy == 0) return at;
    return slot_table[at].inner ? -1 : SLOTS_OWN + (copy - 1) * SLOTS_IMAGE + place;
}

bool problem_is_general(const solve_problem *p)
{
    bool plane = true;
    for (int64_t i = 0; i < p->load_count; ++i) plane = plane && p->loads[i].kind == PS_LOAD_PLANE;
    return boundary_is_general(&p->boundary) || !plane;
}

/* S and K' multiply q, K and W multiply p. */
static bool waves_need(const boundary *b, int at)
{
    bool of_flux =
        slot_table[at].kernel == PS_KERNEL_SLP || slot_table[at].kernel == PS_KERNEL_ADLP;
    if (slot_table[at].data) return b->vibrations > 0;
    if (slot_table[at].inner) return b->fluid != NULL;
    return of_flux ? boundary_has_flux(b) : boundary_unknown_pressure(b);
}

/* What a problem is solved with. */
static bool needs(const solve_problem *p, int at)
{
    const solve_options *o = &p->options;
    ps_hbem_kernel kernel = slot_table[at].kernel;
    if (slot_table[at].copy >= ps_reflectors_images(&o->mirrors)) return false;
    if (o->problem == PROBLEM_HARD) return waves_need(&p->boundary, at);
    if (slot_table[at].data || slot_table[at].inner) return false;
    switch (kernel) {
    case PS_KERNEL_SLP:
        return o->problem == PROBLEM_DIRICHLET;
    case PS_KERNEL_DLP:
        return o->problem == PROBLEM_DIRICHLET && !o->indirect;
    case PS_KERNEL_ADLP:
        return o->problem == PROBLEM_NEUMANN;
    default:
        return o->problem == PROBLEM_NEUMANN && !o->indirect;
    }
}

static bool same_wavenumber(double a, double b) { return fabs(a - b) <= 1e-9 * b; }

/* Says what a matrix of a file is for: with a fluid, one of k1 = k c/c1 where one of k is there too
 * is that of the inside. */
static void choose_slot(const solve_problem *p, matrix *m)
{
    const ps_hmatrix_header *h = m->header;
    slot of = {.kernel = h->kernel,
               .data = p->options.problem == PROBLEM_HARD && h->space[1] == PS_SPACE_P0};
    double contrast = boundary_contrast(&p->boundary);
    m->group = h->wavenumber;
    for (int i = 0; i < p->matrix_count && contrast != 1; ++i) {
        double outside = p->matrices[i].header->wavenumber;
        if (!same_wavenumber(contrast * outside, h->wavenumber)) continue;
        m->group = outside;
        of.inner = true;
    }
    if (contrast == 1 && p->boundary.fluid && p->options.absorption > 0)
        of.inner = h->absorption == 0;
    m->slot = (int)h->kernel;
    for (int at = 0; at < SLOTS; ++at)
        if (slot_table[at].kernel == of.kernel && slot_table[at].data == of.data &&
            slot_table[at].inner == of.inner && slot_table[at].copy == h->image)
            m->slot = at;
}

/* Whether a matrix of a file is of the medium and the planes of the problem. */
static ps_status check_medium(const solve_problem *p, const matrix *m)
{
    const ps_hmatrix_header *h = m->header;
    double absorption = slot_table[m->slot].inner ? 0 : p->options.absorption;
    char own[2][192];
    if (!(fabs(h->absorption - absorption) <= 1e-9 * absorption))
        return ps_fail(PS_INVALID, "%s: %g Np/m are absorbed, %g are needed (--absorption)", m->name,
                       h->absorption, absorption);
    if (h->image == 0 ||
        ps_reflectors_same(&h->mirrors, &p->options.mirrors, p->radius > 0 ? p->radius : 1))
        return PS_OK;
    ps_reflectors_print(&h->mirrors, own[0], sizeof own[0]);
    ps_reflectors_print(&p->options.mirrors, own[1], sizeof own[1]);
    return ps_fail(PS_INVALID, "%s: of an image in the planes %s; --mirror says %s", m->name, own[0],
                   own[1]);
}

static ps_status check_matrix(const solve_problem *p, const matrix *m)
{
    const ps_hmatrix_header *h = m->header;
    if (strcmp(h->mesh_hash, p->mesh.content_hash) != 0)
        return ps_fail(PS_INVALID, "%s belongs to another mesh (%s) than %s (%s)", m->name,
                       h->mesh_hash, ps_store_path(p->mesh_store), p->mesh.content_hash);
    bool waves = p->options.problem == PROBLEM_HARD;
    int at = m->slot;
    PS_TRY(check_medium(p, m));
    if (!needs(p, at))
        return ps_fail(PS_USAGE, "%s: this problem needs no matrix of the operator %s", m->name,
                       ps_hbem_kernel_name(h->kernel));
    if (!waves && h->wavenumber != 0)
        return ps_fail(PS_INVALID, "%s: k is %g; this problem is Laplace's, k = 0", m->name,
                       h->wavenumber);
    if (waves && !(h->wavenumber > 0))
        return ps_fail(PS_INVALID, "%s: k is %g; scattering needs k > 0", m->name, h->wavenumber);
    ps_hbem_space_kind trial = slot_table[at].data ? PS_SPACE_P0 : PS_SPACE_P1;
    if ((waves || h->kernel == PS_KERNEL_HYPS) &&
        !(h->space[0] == PS_SPACE_P1 && h->space[1] == trial &&
          h->same == (!slot_table[at].data && slot_table[at].copy == 0)))
        return ps_fail(PS_INVALID, "%s: the spaces are %s and %s; p1 and %s are needed", m->name,
                       ps_hbem_space_name(h->space[0]), ps_hbem_space_name(h->space[1]),
                       ps_hbem_space_name(trial));
    return PS_OK;
}

/* The group of a wave number; a new one where there is none. */
static solve_group *group_of(solve_problem *p, double wavenumber)
{
    for (int g = 0; g < p->group_count; ++g)
        if (p->groups[g].wavenumber == wavenumber) return &p->groups[g];
    solve_group *g = &p->groups[p->group_count++];
    g->wavenumber = wavenumber;
    for (int at = 0; at < SLOTS; ++at) g->matrix[at] = -1;
    return g;
}

static int by_wavenumber(const void *a, const void *b)
{
    double x = ((const solve_group *)a)->wavenumber, y = ((const solve_group *)b)->wavenumber;
    return (x > y) - (x < y);
}

/* Whether the matrices inside of a fluid are those outside: of the same speed, without absorption,
 * which is the medium's alone. */
static bool shares_fluid(const solve_problem *p)
{
    return p->boundary.fluid && boundary_contrast(&p->boundary) == 1 && p->options.absorption == 0;
}

/* All that is needed must be there; a fluid with the speed of the medium shares its matrices. */
static ps_status complete_group(const solve_problem *p, solve_group *g)
{
    bool shared = shares_fluid(p);
    for (int k = 0; k < PS_HBEM_KERNELS && shared; ++k) g->matrix[SLOT_INNER + k] = g->matrix[k];
    for (int k = 0; k < SLOTS; ++k) {
        double inside = slot_table[k].inner ? boundary_contrast(&p->boundary) : 1;
        char how[64];
        snprintf(how, sizeof how, " (penstock-hmatrix-assemble --mirror .. --image %d)",
                 slot_table[k].copy);
        if (needs(p, k) && g->matrix[k] < 0)
            return ps_fail(PS_USAGE, "a matrix of the operator %s%s at k = %.9g is missing%s",
                           ps_hbem_kernel_name(slot_table[k].kernel),
                           slot_table[k].data    ? " (--test p1 --trial p0, of velocities)"
                           : slot_table[k].inner ? " (inside of the fluid)"
                                                 : "",
                           inside * g->wavenumber, slot_table[k].copy > 0 ? how : "");
    }
    return PS_OK;
}

static ps_status sort_matrices(solve_problem *p)
{
    PS_TRY(PS_ALLOC(&p->groups, p->matrix_count, "wave numbers"));
    for (int i = 0; i < p->matrix_count; ++i) {
        const ps_hmatrix_header *h = p->matrices[i].header;
        int *at = &group_of(p, p->matrices[i].group)->matrix[p->matrices[i].slot];
        if (*at >= 0)
            return ps_fail(PS_USAGE, "%s and %s are both the operator %s at k = %.9g: give one",
                           p->matrices[*at].name, p->matrices[i].name,
                           ps_hbem_kernel_name(h->kernel), h->wavenumber);
        *at = i;
    }
    qsort(p->groups, (size_t)p->group_count, sizeof *p->groups, by_wavenumber);
    for (int g = 0; g < p->group_count; ++g) PS_TRY(complete_group(p, &p->groups[g]));
    return PS_OK;
}

static ps_status open_files(solve_problem *p, int count, const char *const *paths)
{
    PS_TRY(PS_ALLOC(&p->matrices, count, "matrices"));
    for (int i = 0; i < count; ++i) {
        ps_status status = matrix_open(paths[i], &p->matrices[i]);
        ++p->matrix_count;
        PS_TRY(status);
    }
    for (int i = 0; i < count; ++i) {
        choose_slot(p, &p->matrices[i]);
        PS_TRY(check_matrix(p, &p->matrices[i]));
    }
    return sort_matrices(p);
}

/* ---- matrices to assemble ---- */

static bool is_clusters(const char *path)
{
    ps_store *store;
    if (ps_store_open(path, NULL, 0, &store) != PS_OK) return false;
    bool good = strcmp(ps_store_format(store), PS_CLUSTER_FORMAT) == 0;
    ps_store_close(&store);
    return good;
}

/* The operator that a problem of Laplace is solved with. */
static ps_hbem_kernel main_kernel(const solve_options *o)
{
    return o->problem == PROBLEM_DIRICHLET ? PS_KERNEL_SLP
           : o->indirect                   ? PS_KERNEL_ADLP
                                           : PS_KERNEL_HYPS;
}

static ps_status check_clusters(const solve_problem *p, int count)
{
    bool direct = p->options.problem != PROBLEM_HARD && !p->options.indirect;
    if (count > (direct ? 2 : 1))
        return ps_fail(PS_USAGE, "%d files of clusters: this problem takes %s", count,
                       direct ? "two, of the operator that is solved with and of the right-hand "
                                "side's, or one for both"
                              : "one");
    if (p->options.problem == PROBLEM_HARD && p->options.wavenumber_count == 0)
        return ps_fail(PS_USAGE, "no --wavenumber: what is assembled of clusters needs one");
    if (p->options.problem != PROBLEM_HARD && p->options.wavenumber_count > 0)
        return ps_fail(PS_USAGE, "--wavenumber goes with --problem hard, the others are Laplace's");
    return PS_OK;
}

/* All matrices of a wave number. */
static ps_status open_operators(solve_problem *p, double wavenumber)
{
    for (int k = 0; k < SLOTS; ++k) {
        double inside = slot_table[k].inner ? boundary_contrast(&p->boundary) : 1;
        if (!needs(p, k) || (slot_table[k].inner && shares_fluid(p))) continue;
        bool main = p->options.problem == PROBLEM_HARD ? !slot_table[k].data
                                                       : k == (int)main_kernel(&p->options);
        int place = slot_table[k].copy > 0 ? p->image_scene[slot_table[k].copy][slot_table[k].data]
                    : main                 ? p->main_scene
                                           : p->data_scene;
        core_scene *scene = &p->scenes[place];
        ps_hbem_operator_choice choice = {.kernel = slot_table[k].kernel,
                                          .wavenumber = inside * wavenumber,
                                          .absorption =
                                              slot_table[k].inner ? 0 : p->options.absorption};
        matrix *m = &p->matrices[p->matrix_count];
        ps_status status = matrix_open_core(scene, &choice, &p->options.assembly, m);
        ++p->matrix_count;
        m->slot = k;
        m->group = wavenumber;
        if (status != PS_OK && slot_table[k].inner)
            return ps_context(status, "inside of the fluid, k = %.6g", inside * wavenumber);
        PS_TRY(status);
        PS_TRY(check_matrix(p, m));
    }
    return PS_OK;
}

/* Where there are several wave numbers, leaves are made anew when it is their turn. */
static ps_status open_clusters(solve_problem *p, int count, const char *const *paths)
{
    int groups = p->options.wavenumber_count > 0 ? p->options.wavenumber_count : 1, needed = 0;
    PS_TRY(check_clusters(p, count));
    for (; p->scene_count < count; ++p->scene_count)
        PS_TRY(core_scene_open(&p->scenes[p->scene_count], paths[p->scene_count],
                               &p->options.assembly));
    p->scene_files = count;
    p->data_scene = count - 1;
    PS_TRY(derive_scenes(p));
    PS_TRY(images_derive_scenes(p));
    for (int k = 0; k < SLOTS; ++k) needed += needs(p, k);
    PS_TRY(PS_ALLOC(&p->matrices, needed * groups, "matrices"));
    for (int g = 0; g < groups; ++g) {
        int before = p->matrix_count;
        PS_TRY(open_operators(p, p->options.wavenumber_count > 0 ? p->options.wavenumbers[g] : 0));
        for (int i = before; groups > 1 && i < p->matrix_count; ++i)
            core_matrix_drop(p->matrices[i].core);
    }
    return sort_matrices(p);
}

static ps_status open_matrices(solve_problem *p, int count, const char *const *paths)
{
    if (is_clusters(paths[0])) return open_clusters(p, count, paths);
    if (p->options.wavenumber_count > 0 || p->options.assembly_given)
        return ps_fail(PS_USAGE, "--wavenumber, --epsilon, --precision and what else says how to "
                                 "assemble go with clusters; matrices in files have theirs");
    PS_TRY(images_check_fluid(p));
    return open_files(p, count, paths);
}

/* ---- spaces ---- */

/* Which spaces the unknown and the data have, and whether the matrices of a direct form fit. */
static ps_status choose_spaces(solve_problem *p)
{
    const solve_options *o = &p->options;
    const int *at = p->groups[0].matrix;
    p->parts = o->problem == PROBLEM_HARD ? 2 : 1;
    p->fields = p->boundary.fluid ? 2 : 1;
    if (o->problem == PROBLEM_HARD) {
        p->unknown = PS_SPACE_P1;
        p->data = p->boundary.vibrations > 0 ? PS_SPACE_P0 : PS_SPACE_P1;
        return PS_OK;
    }
    ps_hbem_kernel main = main_kernel(o);
    ps_hbem_kernel other = o->problem == PROBLEM_DIRICHLET ? PS_KERNEL_DLP : PS_KERNEL_ADLP;
    const matrix *m = &p->matrices[at[main]];
    p->unknown = p->data = m->header->space[1];
    if (!m->header->same)
        return ps_fail(PS_INVALID, "%s: test and trial space differ; the equation needs one space",
                       m->name);
    if (o->indirect) return PS_OK;
    const matrix *right = &p->matrices[at[other]];
    p->data = right->header->space[1];
    if (right->header->space[0] == p->unknown) return PS_OK;
    return ps_fail(PS_INVALID, "%s: its test space is %s, that of %s is %s", right->name,
                   ps_hbem_space_name(right->header->space[0]), m->name,
                   ps_hbem_space_name(p->unknown));
}

/* Area, and half the diagonal of the box unless a radius is given: what a radius can be at most. */
static void measure(solve_problem *p)
{
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    double square = 0;
    for (int64_t t = 0; t < p->surface.triangle_count; ++t) p->area += p->triangles[t].jacobian / 2;
    for (int64_t i = 0; i < 3 * p->mesh.vertex_count; ++i) {
        low[i % 3] = fmin(low[i % 3], p->mesh.vertices[i]);
        high[i % 3] = fmax(high[i % 3], p->mesh.vertices[i]);
    }
    for (int c = 0; c < 3; ++c) square += (high[c] - low[c]) * (high[c] - low[c]);
    p->radius = p->options.radius > 0 ? p->options.radius : sqrt(square) / 2;
}

/* The radius of the surface's mean curvature: as L x = int 2 H n phi for its vertices x, the area
 * over half the sum of |L x|. */
static void measure_curvature(solve_problem *p)
{
    const solve_space *s = &p->spaces[PS_SPACE_P1];
    const ps_pencil *l = &s->sparse;
    double twice = 0;
    for (int64_t i = 0; i < l->dofs; ++i) {
        double vector[3] = {0};
        for (int64_t e = l->start[i]; e < l->start[i + 1]; ++e)
            for (int c = 0; c < 3; ++c)
                vector[c] += l->stiffness[e] * p->mesh.vertices[3 * s->order[l->column[e]] + c];
        images_project(p, s->order[i], vector);
        twice += ps_norm3(vector);
    }
    if (2 * p->area < p->radius * twice) p->radius = 2 * p->area / twice;
}

ps_status problem_open_mesh(solve_problem *p)
{
    double start = ps_clock();
    const char *path = p->run->operands[0];
    PS_TRY(ps_surface_mesh_load(path, &p->mesh));
    PS_TRY(ps_store_open(path, PS_SURFACE_MESH_FORMAT, PS_SURFACE_MESH_VERSION, &p->mesh_store));
    PS_TRY(PS_ALLOC(&p->triangles, p->mesh.triangle_count, "triangles"));
    ps_status status =
        ps_hbem_surface_init(&p->surface, p->mesh.vertices, p->mesh.vertex_count, p->mesh.triangles,
                             p->mesh.triangle_count, p->triangles);
    bool open_allowed = p->options.problem == PROBLEM_DIRICHLET && p->options.indirect;
    if (status == PS_OK && p->options.mirrors.count > 0)
        status = images_check_body(p);
    else if (status == PS_OK && !open_allowed)
        status = ps_hbem_surface_check_closed(&p->surface);
    if (status != PS_OK) return ps_context(status, "%s", path);
    measure(p);
    p->seconds[SECONDS_OPEN] = ps_clock() - start;
    ps_debug("mesh read in %.3f s", p->seconds[SECONDS_OPEN]);
    return PS_OK;
}

ps_status problem_open(solve_problem *p, int matrix_count, const char *const *paths)
{
    PS_TRY(find_edges(p));
    double start = ps_clock();
    PS_TRY(open_matrices(p, matrix_count, paths));
    double matrices = ps_clock();
    for (int i = 0; i < p->matrix_count; ++i) PS_TRY(take_spaces(p, &p->matrices[i]));
    PS_TRY(choose_spaces(p));
    PS_TRY(check_spaces(p));
    ps_debug("matrices or clusters in %.3f s, spaces made in %.3f s", matrices - start,
             ps_clock() - matrices);
    if (p->options.problem == PROBLEM_HARD && p->options.radius == 0) measure_curvature(p);
    PS_TRY(images_fix_rims(p));
    p->seconds[SECONDS_OPEN] += ps_clock() - start;
    return PS_OK;
}

void problem_close(solve_problem *p)
{
    for (int k = 0; k < 3; ++k) {
        solve_space *s = &p->spaces[k];
        PS_FREE(s->space.start, s->space.item, s->space.dof_of, s->sparse.start, s->sparse.column,
                s->sparse.mass, s->sparse.stiffness);
    }
    for (int i = 0; i < p->matrix_count; ++i) matrix_close(&p->matrices[i]);
    for (int i = 0; i < p->scene_count; ++i) core_scene_close(&p->scenes[i]);
    ps_device_close(&p->device);
    PS_FREE(p->matrices, p->groups, p->triangles, p->fixed, p->loads);
    ps_surface_field_release(&p->table);
    for (int i = 0; i < 2 * p->incident_count; ++i)
        ps_surface_field_release(&p->incidents[i / 2][i % 2]);
    free(p->incidents);
    boundary_close(&p->boundary);
    ps_hbem_solution_close(&p->out);
    ps_store_close(&p->mesh_store);
    ps_surface_mesh_release(&p->mesh);
}
