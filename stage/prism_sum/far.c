/* Between prisms, or stations, and the vectors of cells. */

#include <omp.h>

#include "kernels/fmm/group_far.h"
#include "kernels/fmm/tree_lists.h"
#include "runtime/memory.h"
#include "runtime/scope.h"
#include "stage/prism_sum/internal.h"

/* Pieces of a cell. */
typedef struct pieces {
    double low[3][PRISM_PACK], high[3][PRISM_PACK], weight[3][PRISM_PACK];
} pieces;

/* Pieces [first, first + count) of a cell, cut to it, with their prisms' weights. */
static void cut_pieces(const ps_prism_sum *s, int level, const int64_t place[3], int64_t first,
                       int64_t count, pieces *p)
{
    for (int64_t i = 0; i < count; ++i) {
        int64_t prism = s->piece[first + i];
        prism_cells cells;
        double low[3], high[3];
        prism_cells_of(s, level, prism, &cells);
        prism_cut(s, level, prism, &cells, place, place, low, high);
        for (int d = 0; d < 3; ++d) {
            p->low[d][i] = low[d];
            p->high[d][i] = high[d];
        }
        for (int w = 0; w < s->weights; ++w) p->weight[w][i] = s->weight[w][prism];
    }
}

/* by_piece[weights][pieces]: sums of the transpose. */
static void moments_of_cell(const ps_prism_sum *s, int level, int64_t c, pieces *p,
                            double *by_piece)
{
    const struct ps_fmm_prism_functions *f = ps_fmm_prism_functions_here();
    const ps_fmm_interpolation *n = &s->forward.interpolation;
    ps_fmm_prism_cell cell = {.kind = s->bodies.kind};
    int64_t place[3];
    ps_fmm_cell_centre(&s->sources, level, c, cell.centre, &cell.width);
    ps_tree_cell(s->sources.keys[level][c], place);
    for (int d = 0; d < 3; ++d) {
        cell.low[d] = p->low[d];
        cell.high[d] = p->high[d];
    }
    for (int64_t at = s->start[level][c]; at < s->start[level][c + 1]; at += PRISM_PACK) {
        int64_t left = s->start[level][c + 1] - at;
        cell.count = left < PRISM_PACK ? left : PRISM_PACK;
        cut_pieces(s, level, place, at, cell.count, p);
        if (by_piece) {
            double *out[3];
            for (int w = 0; w < s->weights; ++w) out[w] = by_piece + w * s->pieces + at;
            f->p2m_transposed(n, &cell, (double *)s->backward.locals[level] + c * n->points, out);
        } else {
            const double *weight[3] = {p->weight[0], p->weight[1], p->weight[2]};
            f->p2m(n, &cell, weight, (double *)s->forward.multipoles[level] + c * n->points);
        }
    }
}

ps_status prism_moments(ps_prism_sum *s, bool transposed)
{
    PS_SCOPED_MEMORY pieces *room = NULL;
    PS_SCOPED_MEMORY double *by_piece = NULL;
    PS_TRY(
        ps_alloc_untouched((void **)&room, (int64_t)sizeof *room * s->threads, "pieces of a cell"));
    ps_status status = PS_OK;
    if (transposed) status = PS_ALLOC(&by_piece, s->weights * s->pieces, "sums of pieces");
    for (int l = 2; l < s->height && status == PS_OK; ++l) {
        if (!s->start[l]) continue;
#pragma omp parallel for schedule(dynamic, 16) num_threads(s->threads)
        for (int64_t c = 0; c < s->sources.cells[l]; ++c)
            moments_of_cell(s, l, c, room + omp_get_thread_num(), by_piece);
    }
    for (int w = 0; w < s->weights && by_piece; ++w)
        for (int64_t i = 0; i < s->pieces; ++i)
            s->weight[w][s->piece[i]] += by_piece[w * s->pieces + i];
    return status;
}

void prism_stations(ps_prism_sum *s, bool transposed)
{
    const struct ps_fmm_prism_functions *f = ps_fmm_prism_functions_here();
    const ps_fmm_interpolation *n = &s->forward.interpolation;
    const int leaves = s->height - 1;
#pragma omp parallel for schedule(dynamic, 16) num_threads(s->threads)
    for (int64_t c = 0; c < s->targets.cells[leaves]; ++c) {
        int64_t first = s->targets.particle_start[c], end = s->targets.particle_start[c + 1];
        ps_fmm_prism_cell cell = {.kind = s->bodies.kind, .count = end - first};
        double *rows[PS_PRISM_NUMBERS];
        const double *data[PS_PRISM_NUMBERS];
        ps_fmm_cell_centre(&s->targets, leaves, c, cell.centre, &cell.width);
        for (int d = 0; d < 3; ++d) cell.place[d] = s->place[d] + first;
        for (int k = 0; k < s->numbers; ++k) data[k] = rows[k] = s->result[k] + first;
        if (transposed)
            f->l2p_transposed(n, &cell, data,
                              (double *)s->backward.multipoles[leaves] + c * n->points);
        else
            f->l2p(n, &cell, (double *)s->forward.locals[leaves] + c * n->points, rows);
    }
}
