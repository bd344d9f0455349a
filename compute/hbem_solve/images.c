/* Mirror planes: where bodies and incident fields may be, and the clusters of images. A closed body
 * lies off all planes. An open one stands on planes: its rim is in them, and with its images it is
 * closed. On a soft plane p is 0, and so is what q continues to be of a soft body, which is odd:
 * functions of a rim there are taken out of the space. */

#include "compute/hbem_solve/solve.h"
#include "kernels/common/vec3.h"
#include "kernels/hbem/closed.h"
#include "runtime/memory.h"
#include "stage/hbem_assembly/standing.h"

static int planes_at(const solve_problem *p, int64_t v)
{
    return ps_hbem_planes_at(&p->options.mirrors, p->touch, p->mesh.vertices + 3 * v);
}

ps_status images_check_body(solve_problem *p)
{
    p->touch = ps_reflectors_touch(p->mesh.vertices, p->mesh.vertex_count);
    return ps_hbem_standing_check(&p->surface, p->mesh.triangles, &p->options.mirrors, &p->touches);
}

/* ---- places ---- */

/* An image sees of x what the body sees of the image of x. */
int images_where(const solve_problem *p, const double x[3])
{
    const ps_reflectors *m = &p->options.mirrors;
    double inner, share = 0;
    int where = ps_hbem_where(&p->surface, x, &inner);
    if (!p->touches || where == 0) return where;
    for (int copy = 0; copy < ps_reflectors_images(m); ++copy) {
        double place[3], own;
        ps_reflectors_point(m, copy, x, place);
        ps_hbem_where(&p->surface, place, &own);
        share += own;
    }
    return share > .5 ? -1 : 1;
}

/* How far a source is above a plane, or how much of a wave comes towards it. */
static double above(const ps_reflector *plane, const ps_hbem_load *load)
{
    return load->kind == PS_LOAD_PLANE ? -ps_dot3(plane->normal, load->vector)
                                       : ps_reflector_height(plane, load->vector);
}

ps_status images_check_load(const solve_problem *p, const char *option, const ps_hbem_load *load)
{
    const ps_reflectors *m = &p->options.mirrors;
    const double *x = load->vector;
    const char *what = load->kind == PS_LOAD_PLANE ? "the wave" : "the source";
    double grazing = load->kind == PS_LOAD_PLANE ? 1e-12 : p->touch;
    for (int i = 0; i < m->count; ++i) {
        double height = above(&m->planes[i], load);
        char text[128];
        ps_reflectors_print(&(ps_reflectors){1, {m->planes[i]}}, text, sizeof text);
        if (height < -grazing)
            return ps_fail(
                PS_USAGE,
                "%s: %s (%g, %g, %g) comes from behind the mirror plane %s, whose normal "
                "points to the body",
                option, what, x[0], x[1], x[2], text);
        if (height <= grazing && m->planes[i].sign < 0 && load->kind != PS_LOAD_DIPOLE)
            return ps_fail(
                PS_USAGE,
                "%s: %s (%g, %g, %g) lies in the soft mirror plane %s, which leaves nothing "
                "of it",
                option, what, x[0], x[1], x[2], text);
    }
    return PS_OK;
}

void images_project(const solve_problem *p, int64_t v, double vector[3])
{
    const ps_reflectors *m = &p->options.mirrors;
    if (!p->touches) return;
    int planes = planes_at(p, v);
    for (int i = 0; i < m->count; ++i) {
        const double *n = m->planes[i].normal;
        double along = planes >> i & 1 ? ps_dot3(n, vector) : 0;
        for (int c = 0; c < 3; ++c) vector[c] -= along * n[c];
    }
}

/* ---- functions of a rim on a soft plane ---- */

ps_status images_fix_rims(solve_problem *p)
{
    const ps_reflectors *m = &p->options.mirrors;
    solve_space *s = &p->spaces[PS_SPACE_P1];
    int64_t count = 0;
    if (!p->touches) return PS_OK;
    PS_TRY(PS_ALLOC(&p->fixed, s->space.dofs, "functions of rims"));
    for (int64_t i = 0; i < s->space.dofs; ++i) {
        int planes = planes_at(p, s->order[i]);
        for (int plane = 0; plane < m->count; ++plane)
            p->fixed[i] |= (planes >> plane & 1) && m->planes[plane].sign < 0;
        count += p->fixed[i];
    }
    if (count > 0) ps_hbem_sparse_fix(p->fixed, &s->sparse);
    return PS_OK;
}

void images_clear_rims(const solve_problem *p, int64_t vectors, double *v)
{
    int64_t n = problem_dofs(p);
    for (int64_t i = 0; i < vectors * n && p->fixed; ++i)
        if (p->fixed[i % n]) v[i] = 0;
}

/* ---- clusters ---- */

static ps_status derive(solve_problem *p, int base, int copy, int *place)
{
    PS_TRY(core_scene_mirror(&p->scenes[p->scene_count], &p->scenes[base], &p->options.mirrors,
                             copy, &p->options.assembly));
    *place = p->scene_count++;
    return PS_OK;
}

ps_status images_check_fluid(const solve_problem *p)
{
    if (!p->touches || !p->boundary.fluid) return PS_OK;
    return ps_fail(PS_USAGE,
                   "--boundary: a fluid body stands on a mirror plane: those are solved off "
                   "the planes only");
}

ps_status images_derive_scenes(solve_problem *p)
{
    int own = p->scene_count;
    PS_TRY(images_check_fluid(p));
    /* What is open here is closed with its images, which was checked. */
    for (int s = 0; s < own && p->touches; ++s) p->scenes[s].scene.clusters.closed = true;
    for (int copy = 1; copy < ps_reflectors_images(&p->options.mirrors); ++copy) {
        PS_TRY(derive(p, p->main_scene, copy, &p->image_scene[copy][0]));
        if (p->boundary.vibrations > 0)
            PS_TRY(derive(p, p->data_scene, copy, &p->image_scene[copy][1]));
    }
    return PS_OK;
}
