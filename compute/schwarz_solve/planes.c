/* Writing a field plane by plane; the residual of the whole system by windows of planes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compute/schwarz_solve/solve.h"
#include "kernels/linear/krylov_team.h"
#include "runtime/memory.h"

ps_status plane_writer_open(ps_box_field *field, plane_writer *out)
{
    *out = (plane_writer){.field = field};
    return PS_ALLOC(&out->chunk, field->chunk_planes * field->plane, "planes of the solution");
}

ps_status plane_writer_add(plane_writer *w, const double *plane)
{
    ps_box_field *f = w->field;
    int64_t chunk = w->next / f->chunk_planes, first, end;
    ps_box_field_chunk(f, chunk, &first, &end);
    memcpy(w->chunk + (w->next - first) * f->plane, plane, (size_t)f->plane * sizeof *plane);
    if (++w->next < end) return PS_OK;
    return ps_box_field_write(f, chunk, w->chunk);
}

void plane_writer_close(plane_writer *writer)
{
    free(writer->chunk);
    writer->chunk = NULL;
}

enum { WINDOW = 16 };

/* Sums over planes [first, end) of the squares of b - A u and of b, rows that are not fixed. u:
 * planes first - 1 .. end, b: first .. end - 1; product: as u. */
static void window_sums(const solve_problem *p, int64_t first, int64_t end, const double *u,
                        const double *b, double *product, double sums[2])
{
    int64_t ny = p->grid.nodes[1], nz = p->grid.nodes[2], plane = ny * nz;
    ps_slab slab = {.grid = p->grid, .free = {true, true}};
    ps_slab_stencil stencil;
    slab.grid.nodes[0] = end - first + 2;
    ps_slab_stencil_make(&slab, &stencil);
    ps_stencil_multiply(&stencil, u, product);
    for (int64_t i = 0; i < end - first; ++i)
        for (int64_t j = 1; j < ny - 1; ++j)
            for (int64_t k = 1; k < nz - 1; ++k) {
                int64_t row = j * nz + k;
                double right = b[i * plane + row], r = right - product[(i + 1) * plane + row];
                sums[0] += r * r;
                sums[1] += right * right;
            }
}

/* The planes beside the first and last open ones hold fixed nodes, whose columns the lifted load
 * has taken: they count as zeros, as do the fixed nodes within a plane (the stencil's own). */
static void clear_fixed_planes(const solve_problem *p, int64_t first, int64_t count, double *u)
{
    int64_t plane = p->grid.nodes[1] * p->grid.nodes[2];
    if (first == 0) memset(u, 0, (size_t)plane * sizeof *u);
    if (first + count == p->grid.nodes[0])
        memset(u + (count - 1) * plane, 0, (size_t)plane * sizeof *u);
}

/* Sums of a window into sums[2]. */
static ps_status window(solve_problem *p, ps_box_field *solution, int64_t first, double *memory,
                        double sums[2])
{
    int64_t nx = p->grid.nodes[0], plane = p->grid.nodes[1] * p->grid.nodes[2];
    int64_t end = first + WINDOW < nx - 1 ? first + WINDOW : nx - 1;
    double *u = memory, *product = u + (WINDOW + 2) * plane, *b = product + (WINDOW + 2) * plane;
    PS_TRY(ps_box_field_read(solution, first - 1, end - first + 2, u));
    PS_TRY(ps_box_field_read(&p->load, first, end - first, b));
    clear_fixed_planes(p, first - 1, end - first + 2, u);
    window_sums(p, first, end, u, b, product, sums);
    return PS_OK;
}

/* Windows go round the ranks; their sums are added in order. */
ps_status check_residual(solve_problem *p, ps_box_field *solution, double *out)
{
    int64_t windows = (p->grid.nodes[0] - 2 + WINDOW - 1) / WINDOW;
    double *memory = NULL, *sums = NULL, all[2] = {0, 0};
    ps_status status = PS_ALLOC(&memory, (3 * WINDOW + 4) * p->grid.nodes[1] * p->grid.nodes[2],
                                "the residual of the whole system");
    if (status == PS_OK) status = PS_ALLOC(&sums, 2 * windows, "sums");
    for (int64_t w = ps_comm_rank(); w < windows && status == PS_OK; w += ps_comm_size())
        status = window(p, solution, 1 + w * WINDOW, memory, sums + 2 * w);
    status = ps_comm_agree(status);
    if (status == PS_OK) status = ps_comm_sum_f64(sums, 2 * windows);
    for (int64_t i = 0; i < 2 * windows && status == PS_OK; ++i) all[i % 2] += sums[i];
    free(memory);
    free(sums);
    *out = all[1] > 0 ? sqrt(all[0] / all[1]) : 0;
    return status;
}
