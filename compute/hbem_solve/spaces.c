/* Spaces of a problem: those of its matrices, and those that the data and the normal derivatives of
 * direct forms want. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compute/hbem_solve/solve.h"
#include "kernels/common/mesh_topology.h"
#include "kernels/common/vec3.h"
#include "runtime/log.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

/* Between two faces' normals, degrees: more than smooth bodies have that are meshed well enough to
 * be worth a solution (a sphere of 128 triangles: 17). */
static const double sharp = 20;

/* ---- of the matrices ---- */

static ps_status make_space(solve_problem *p, ps_hbem_space_kind kind, const int64_t *order)
{
    solve_space *s = &p->spaces[kind];
    int64_t dofs = ps_hbem_space_dofs(kind, &p->surface), items = 3 * p->surface.triangle_count;
    int64_t *start, *item;
    int32_t *dof_of, *scratch = NULL;
    s->there = true;
    s->order = order;
    PS_TRY(PS_ALLOC(&start, dofs + 1, "a space"));
    s->space.start = start;
    PS_TRY(PS_ALLOC(&item, items, "a space"));
    s->space.item = item;
    PS_TRY(PS_ALLOC(&dof_of, items, "a space"));
    s->space.dof_of = dof_of;
    ps_hbem_space_init(&s->space, kind, &p->surface, start, item, dof_of);
    PS_TRY(PS_ALLOC(&scratch, dofs, "a space"));
    ps_hbem_space_reorder(&s->space, order, scratch);
    free(scratch);
    PS_TRY(PS_ALLOC(&s->sparse.start, dofs + 1, "mass and stiffness"));
    PS_TRY(PS_ALLOC(&s->sparse.column, ps_hbem_sparse_bound(&s->space), "mass and stiffness"));
    PS_TRY(ps_hbem_sparse_pattern(&s->space, &s->sparse));
    PS_TRY(PS_ALLOC(&s->sparse.mass, s->sparse.nnz, "mass and stiffness"));
    PS_TRY(PS_ALLOC(&s->sparse.stiffness, s->sparse.nnz, "mass and stiffness"));
    ps_hbem_sparse_fill(&s->space, &s->sparse);
    return PS_OK;
}

ps_status take_spaces(solve_problem *p, const matrix *m)
{
    for (int side = 0; side < 2; ++side) {
        const ps_cluster_tree *tree = m->tree[side];
        ps_hbem_space_kind kind = m->header->space[side];
        solve_space *s = &p->spaces[kind];
        if (tree->dofs != ps_hbem_space_dofs(kind, &p->surface))
            return ps_fail(PS_INVALID, "%s: %lld functions of the space %s; the mesh has %lld",
                           m->name, (long long)tree->dofs, ps_hbem_space_name(kind),
                           (long long)ps_hbem_space_dofs(kind, &p->surface));
        if (!s->there)
            PS_TRY(make_space(p, kind, tree->order));
        else if (memcmp(s->order, tree->order, (size_t)tree->dofs * sizeof *s->order) != 0)
            return ps_fail(PS_INVALID,
                           "%s has another order of the space %s than %s: make both from one "
                           "cluster tree, or from trees of the same options",
                           m->name, ps_hbem_space_name(kind), p->matrices[0].name);
    }
    return PS_OK;
}

/* ---- edges ---- */

/* Whether the normal derivative on a triangle is sought or given: in waves, of soft and fluid
 * bodies. */
static bool has_derivative(const solve_problem *p, int64_t triangle)
{
    const boundary *b = &p->boundary;
    return p->options.problem != PROBLEM_HARD ||
           condition_table[b->condition[b->group_of[triangle]].kind].flux;
}

static int64_t count_sharp(const solve_problem *p, const uint32_t *mate)
{
    double least = cos(sharp * M_PI / 180);
    int64_t count = 0, sides = 3 * p->mesh.triangle_count;
#pragma omp parallel for schedule(static) reduction(+ : count)
    for (int64_t e = 0; e < sides; ++e) {
        if (mate[e] >= PS_MATE_MANY || mate[e] < e) continue;
        if (!has_derivative(p, e / 3) && !has_derivative(p, mate[e] / 3)) continue;
        const double *a = p->triangles[e / 3].normal, *b = p->triangles[mate[e] / 3].normal;
        count += ps_dot3(a, b) < least;
    }
    return count;
}

ps_status find_edges(solve_problem *p)
{
    PS_SCOPED_MEMORY uint32_t *start = NULL;
    PS_SCOPED_MEMORY uint32_t *ids = NULL, *mate = NULL;
    int64_t sides = 3 * p->mesh.triangle_count;
    bool hard = p->options.problem == PROBLEM_HARD;
    if (hard ? !boundary_has_flux(&p->boundary) : p->options.indirect) return PS_OK;
    PS_TRY(PS_ALLOC(&start, p->mesh.vertex_count + 1, "edges"));
    PS_TRY(PS_ALLOC(&ids, sides, "edges"));
    PS_TRY(PS_ALLOC(&mate, sides, "edges"));
    ps_facets_sort(&ps_triangle_edges, p->mesh.triangles, p->mesh.triangle_count,
                   p->mesh.vertex_count, start, ids);
    ps_edges_pair(p->mesh.triangles, p->mesh.triangle_count, ids, mate);
    p->edges = count_sharp(p, mate);
    return PS_OK;
}

/* Whether given normal derivatives jump at edges: those of a field do, numbers of vertices and
 * constants are continuous functions themselves. */
static bool data_jump(const solve_problem *p)
{
    bool of_field = false;
    for (int64_t i = 0; i < p->load_count; ++i)
        of_field |= p->loads[i].kind == PS_LOAD_POINT || p->loads[i].kind == PS_LOAD_LINEAR;
    return p->edges > 0 && p->options.problem == PROBLEM_NEUMANN && of_field;
}

/* ---- one file of clusters ---- */

static ps_status derive(solve_problem *p, ps_hbem_space_kind test, ps_hbem_space_kind trial,
                        int *place)
{
    const ps_hbem_space_kind space[2] = {test, trial};
    PS_TRY(
        core_scene_derive(&p->scenes[p->scene_count], &p->scenes[0], space, &p->options.assembly));
    *place = p->scene_count++;
    return PS_OK;
}

/* Potentials are continuous, normal derivatives jump at edges. */
static ps_status derive_dirichlet(solve_problem *p)
{
    ps_hbem_space_kind own = p->scenes[0].scene.clusters.space[0], unknown = own;
    if (own == PS_SPACE_P1 && p->edges > 0) {
        unknown = PS_SPACE_P0;
        ps_info("%lld edges are sharper than %g degrees, where the normal derivative jumps: it is "
                "solved for in p0, a number a triangle, instead of p1",
                (long long)p->edges, sharp);
    }
    if (unknown != PS_SPACE_P0) return PS_OK;
    if (own != PS_SPACE_P0) PS_TRY(derive(p, PS_SPACE_P0, PS_SPACE_P0, &p->main_scene));
    if (own == PS_SPACE_P0) ps_info("the potential is given in p1, as it is continuous");
    return derive(p, PS_SPACE_P0, PS_SPACE_P1, &p->data_scene);
}

ps_status derive_scenes(solve_problem *p)
{
    if (p->boundary.vibrations > 0) return derive(p, PS_SPACE_P1, PS_SPACE_P0, &p->data_scene);
    bool direct = p->options.problem != PROBLEM_HARD && !p->options.indirect;
    const ps_clusters *c = &p->scenes[0].scene.clusters;
    if (!direct || p->scene_count != 1 || !c->same || !c->closed) return PS_OK;
    if (p->options.problem == PROBLEM_DIRICHLET) return derive_dirichlet(p);
    if (!data_jump(p) || c->space[0] != PS_SPACE_P1) return PS_OK;
    ps_info(
        "%lld edges are sharper than %g degrees, where the normal derivative jumps: it is given "
        "in p0, a number a triangle, instead of p1",
        (long long)p->edges, sharp);
    return derive(p, PS_SPACE_P1, PS_SPACE_P0, &p->data_scene);
}

/* ---- what is there in the end ---- */

ps_status check_spaces(const solve_problem *p)
{
    const solve_options *o = &p->options;
    if (o->problem == PROBLEM_HARD && p->edges > 0)
        ps_warning("the normal derivative of soft and fluid bodies is solved for in p1, but jumps "
                   "at %lld edges of theirs sharper than %g degrees: beside them it is wrong, "
                   "fields away from the surface are not",
                   (long long)p->edges, sharp);
    if (o->problem == PROBLEM_HARD || o->indirect) return PS_OK;
    if (data_jump(p) && p->data == PS_SPACE_P1)
        return ps_refuse(
            p->run, "spaces",
            "the trial space of K' is p1, but the normal derivative jumps at %lld edges "
            "sharper than %g degrees: make the clusters of K' by --test p1 --trial p0, "
            "or give clusters of p1 alone, with which this program does so itself",
            (long long)p->edges, sharp);
    if (o->problem == PROBLEM_DIRICHLET && p->data == PS_SPACE_P0)
        return ps_refuse(p->run, "spaces",
                         "the trial space of K is p0, but the potential is continuous, and its "
                         "derivative is as wrong as the steps of p0: make the clusters of K by "
                         "--test %s --trial p1, or give one file of clusters, with which this "
                         "program does so itself",
                         ps_hbem_space_name(p->unknown));
    if (o->problem == PROBLEM_DIRICHLET && p->unknown == PS_SPACE_P1 && p->edges > 0)
        ps_warning(
            "the normal derivative is solved for in p1, but jumps at %lld edges sharper than "
            "%g degrees: beside them it is wrong, fields away from the surface are not; "
            "clusters of --test p0, and --test p0 --trial p1 for K, hold the jumps",
            (long long)p->edges, sharp);
    return PS_OK;
}
