/* Writing a field plane by plane; the residual of the whole system as the planes come by. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compute/schwarz_solve/solve.h"
#include "kernels/linear/krylov_team.h"
#include "runtime/memory.h"

/* Planes before those of a chunk, with which their rows are complete; those at an end, between
 * ranks: the one before it and two of its own. */
enum { BEFORE = 2, AT_END = 3 };

/* Doubles of the planes, their products and loads, of an end, and of the sums. */
static int64_t doubles_of(const solve_problem *p, int64_t chunk)
{
    return (3 * (chunk + BEFORE) + AT_END) * p->load.plane + 2 * p->grid.nodes[0];
}

int64_t plane_writer_bytes(const solve_problem *p)
{
    return 8 * doubles_of(p, p->load.chunk_planes);
}

ps_status plane_writer_open(solve_problem *p, plane_writer *out)
{
    int64_t some = (p->out.chunk_planes + BEFORE) * p->out.plane;
    *out = (plane_writer){.p = p};
    PS_TRY(PS_ALLOC(&out->planes, doubles_of(p, p->out.chunk_planes), "planes of the solution"));
    out->product = out->planes + some;
    out->load = out->product + some;
    out->end = out->load + some;
    out->sums = out->end + AT_END * p->out.plane;
    return PS_OK;
}

void plane_writer_close(plane_writer *writer)
{
    free(writer->planes);
    writer->planes = NULL;
}

/* ---- the residual ---- */

/* The planes beside the first and last open ones hold fixed nodes, whose columns the lifted load
 * has taken: they count as zeros, as do the fixed nodes within a plane (the stencil's own). */
static void clear_fixed_planes(const solve_problem *p, int64_t first, int64_t count, double *u)
{
    size_t plane = (size_t)p->out.plane;
    if (first == 0) memset(u, 0, plane * sizeof *u);
    if (first + count == p->grid.nodes[0])
        memset(u + (size_t)(count - 1) * plane, 0, plane * sizeof *u);
}

/* Squares of b - A u and of b in the rows of a plane that are not fixed. */
static void add_squares(const solve_problem *p, const double *b, const double *product,
                        double sums[2])
{
    int64_t ny = p->grid.nodes[1], nz = p->grid.nodes[2];
    for (int64_t j = 1; j < ny - 1; ++j)
        for (int64_t row = j * nz + 1; row < (j + 1) * nz - 1; ++row) {
            double r = b[row] - product[row];
            sums[0] += r * r;
            sums[1] += b[row] * b[row];
        }
}

/* Rows of planes [first, first + count) of the box, none of them fixed. u: one plane before them to
 * one behind, b: their loads. */
static void take_rows(plane_writer *w, int64_t first, int64_t count, double *u, const double *b)
{
    const solve_problem *p = w->p;
    int64_t plane = p->out.plane;
    ps_slab slab = {.grid = p->grid, .free = {true, true}};
    ps_slab_stencil stencil;
    slab.grid.nodes[0] = count + 2;
    ps_slab_stencil_make(&slab, &stencil);
    clear_fixed_planes(p, first - 1, count + 2, u);
    ps_stencil_multiply(&stencil, u, w->product);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < count; ++i)
        add_squares(p, b + i * plane, w->product + (i + 1) * plane, w->sums + 2 * (first + i));
}

/* What is held now, `count` planes from `first` of the box on being new: all rows between two
 * planes that are there. The last two stay. */
static ps_status take_chunk(plane_writer *w, int64_t first, int64_t count)
{
    solve_problem *p = w->p;
    int64_t plane = p->out.plane, all = w->held + count, left = all < BEFORE ? all : BEFORE;
    double start = ps_clock();
    PS_TRY(ps_box_field_read(&p->load, first, count, w->load + plane));
    if (all > 2)
        take_rows(w, first - w->held + 1, all - 2, w->planes, w->load + (2 - w->held) * plane);
    memmove(w->planes, w->planes + (all - left) * plane, (size_t)(left * plane) * sizeof(double));
    memmove(w->load, w->load + count * plane, (size_t)plane * sizeof(double));
    w->held = left;
    p->seconds[SECONDS_CHECK] += ps_clock() - start;
    return PS_OK;
}

/* The row of one plane. */
static ps_status take_row(plane_writer *w, int64_t row, double *u)
{
    if (row < 1 || row > w->p->grid.nodes[0] - 2) return PS_OK;
    PS_TRY(ps_box_field_read(&w->p->load, row, 1, w->load));
    take_rows(w, row, 1, u, w->load);
    return PS_OK;
}

/* Rows of the outermost planes of a rank, whose neighbours are those of the ranks beside. */
static ps_status take_ends(plane_writer *w)
{
    const solve_problem *p = w->p;
    int64_t plane = p->out.plane, planes = p->end_plane - p->first_plane;
    double *last = w->planes + (w->held - 1) * plane;
    const bool beside[2] = {p->first_plane > 0, p->end_plane < p->grid.nodes[0]};
    rank_links links;
    const ps_slab_links *l = rank_links_open(&links);
    if (beside[0]) PS_TRY(l->pass(l->context, 0, plane, w->end + plane, w->end));
    if (beside[1]) PS_TRY(l->pass(l->context, 1, plane, last, last + plane));
    for (int side = 0; side < 2; ++side)
        if (beside[side]) PS_TRY(l->wait(l->context, side));
    if (planes == 1) memcpy(w->end + 2 * plane, last + plane, (size_t)plane * sizeof *last);
    if (beside[0]) PS_TRY(take_row(w, p->first_plane, w->end));
    return beside[1] && planes > 1 ? take_row(w, p->end_plane - 1, w->planes) : PS_OK;
}

ps_status plane_writer_residual(plane_writer *w, double *out)
{
    double start = ps_clock(), all[2] = {0, 0};
    PS_TRY(ps_comm_agree(take_ends(w)));
    PS_TRY(ps_comm_sum_f64(w->sums, 2 * w->p->grid.nodes[0]));
    for (int64_t i = 0; i < 2 * w->p->grid.nodes[0]; ++i) all[i % 2] += w->sums[i];
    *out = all[1] > 0 ? sqrt(all[0] / all[1]) : 0;
    w->p->seconds[SECONDS_CHECK] += ps_clock() - start;
    return PS_OK;
}

/* ---- planes ---- */

ps_status plane_writer_add(plane_writer *w, const double *plane)
{
    ps_box_field *f = &w->p->out;
    int64_t chunk = w->next / f->chunk_planes, first, end;
    size_t bytes = (size_t)f->plane * sizeof *plane;
    ps_box_field_chunk(f, chunk, &first, &end);
    memcpy(w->planes + (w->held + w->next - first) * f->plane, plane, bytes);
    if (w->next < AT_END - 1) memcpy(w->end + (1 + w->next) * f->plane, plane, bytes);
    if (++w->next < end) return PS_OK;
    PS_TRY(ps_box_field_write(f, chunk, w->planes + w->held * f->plane));
    return take_chunk(w, w->p->first_plane + first, end - first);
}
