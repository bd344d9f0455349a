#include "compute/tdbem_march/lining.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/comm.h"
#include "runtime/memory.h"
#include "runtime/scope.h"
#include "runtime/sizes.h"

enum { THREADED = 65536 };

/* ---- the files ---- */

ps_status linings_refuse_matrix(const char *path, const ps_slice_header *header)
{
    if (!header->lining[0]) return PS_OK;
    return ps_fail(PS_INVALID,
                   "%s holds what the lining of \"%s\" adds to a matrix: give it with --lining, "
                   "and the matrix of the same mesh and step as MATRIX",
                   path, header->lining);
}

static ps_status check_belonging(const char *path, const char *matrix, const tiles *t,
                                 const ps_slice_header *m)
{
    const ps_slice_header *g = &t->header;
    if (!g->lining[0])
        return ps_fail(PS_INVALID, "%s is no lining: penstock-slice-assemble --lining writes one",
                       path);
    if (t->k_from > 0 || t->k_below < t->k_end)
        return ps_fail(PS_INVALID, "%s holds a part of the lags: linings are taken whole", path);
    if (m->formulation == PS_SOUND_HARD && g->unknowns == m->unknowns &&
        g->combined == m->combined && g->dt == m->dt && g->speed == m->speed &&
        g->precision == m->precision && strcmp(g->mesh_hash, m->mesh_hash) == 0 &&
        ps_reflectors_same(&g->mirrors, &m->mirrors, m->speed * m->dt))
        return PS_OK;
    return ps_fail(PS_INVALID,
                   "%s does not go with %s: a lining has the mesh, --dt or --courant, --speed, "
                   "--combined, --mirror and --precision of its matrix, which is sound-hard; "
                   "assemble it again",
                   path, matrix);
}

/* One past serves the matrix and its linings. */
static void reach_as_far(const tiles *t, tiles *whole)
{
    whole->header.k_max = ps_larger(whole->header.k_max, t->header.k_max);
    whole->columns = ps_larger(whole->columns, t->columns);
}

static ps_status open_one(const char *path, const char *matrix, tiles *whole, lining *out)
{
    tiles *t = &out->tiles;
    out->path = path;
    PS_TRY(tiles_open(path, ps_comm_rank(), ps_comm_size(), t));
    PS_TRY(check_belonging(path, matrix, t, &whole->header));
    PS_TRY(tiles_load_m0(t, &out->m0));
    if (out->m0.rows != t->header.unknowns)
        return ps_fail(PS_INVALID, "%s: M^0 has %lld rows, not %lld", path, (long long)out->m0.rows,
                       (long long)t->header.unknowns);
    reach_as_far(t, whole);
    return PS_OK;
}

static ps_status give_wall(const char *text, double dt, linings *all)
{
    char where[PS_WHERE_MAX];
    ps_admittance beta;
    PS_TRY(ps_admittance_parse(text, where, &beta));
    for (int q = 0; q < all->count; ++q) {
        lining *l = &all->each[q];
        if (strcmp(where, l->tiles.header.lining) != 0) continue;
        if (l->where[0]) return ps_fail(PS_USAGE, "--admittance: \"%s\" has two of them", where);
        strcpy(l->where, where);
        l->beta = beta;
        ps_admittance_filter_init(&beta, dt, &l->filter);
        return PS_OK;
    }
    return ps_fail(PS_USAGE,
                   "--admittance \"%s\": no --lining is of \"%s\"; say it as it was said when the "
                   "lining was assembled",
                   text, where);
}

ps_status linings_open(const ps_text_list *files, const ps_text_list *walls, const char *matrix,
                       tiles *whole, linings *out)
{
    if (files->count != walls->count || files->count > LININGS_MAX)
        return ps_fail(PS_USAGE,
                       "--lining FILE and --admittance WHERE:... belong together, one for one, at "
                       "most %d; there are %d and %d",
                       LININGS_MAX, files->count, walls->count);
    for (int q = 0; q < files->count; ++q) {
        ++out->count; /* from here linings_close closes it */
        PS_TRY(open_one(files->items[q], matrix, whole, &out->each[q]));
    }
    for (int q = 0; q < walls->count; ++q)
        PS_TRY(give_wall(walls->items[q], whole->header.dt, out));
    return PS_OK;
}

/* ---- of a mesh alone ---- */

static ps_status plan_one(const ps_run *run, const assembling_options *how, const char *wall,
                          lining *out)
{
    assembling_options own = *how;
    PS_TRY(ps_admittance_parse(wall, out->where, &out->beta));
    PS_TRY(PS_ALLOC(&out->assembling, 1, "the assembly of a lining"));
    own.assembly.scene.lining = out->where;
    own.symmetric = SYMMETRIC_OFF;
    PS_TRY(assembling_open(run, &own, out->assembling, &out->tiles));
    assembling_rest(out->assembling);
    ps_admittance_filter_init(&out->beta, out->tiles.header.dt, &out->filter);
    return PS_OK;
}

ps_status linings_plan(const ps_run *run, const assembling_options *how, const ps_text_list *walls,
                       linings *out)
{
    if (walls->count > LININGS_MAX)
        return ps_fail(PS_USAGE, "--admittance may be given %d times, not %d", LININGS_MAX,
                       walls->count);
    for (int q = 0; q < walls->count; ++q) {
        ++out->count; /* from here linings_close closes it */
        PS_TRY(plan_one(run, how, walls->items[q], &out->each[q]));
    }
    return PS_OK;
}

ps_status linings_assemble(const ps_run *run, tiles *whole, linings *all)
{
    const assembling_target nobody = {.alone = false};
    for (int q = 0; q < all->count; ++q) {
        lining *l = &all->each[q];
        PS_TRY(assembling_plan_again(run, l->assembling));
        PS_TRY(assembling_run(run, l->assembling, &nobody, &l->tiles, &l->m0));
        reach_as_far(&l->tiles, whole);
    }
    return PS_OK;
}

void linings_close(linings *all)
{
    for (int q = 0; q < all->count; ++q) {
        if (all->each[q].assembling) assembling_close(all->each[q].assembling);
        free(all->each[q].assembling);
        near_forget(&all->each[q].near);
        tiles_close(&all->each[q].tiles);
        ps_csr_release(&all->each[q].m0);
    }
    all->count = 0;
}

ps_status linings_check_mesh(const linings *all, const ps_surface_mesh *mesh)
{
    int64_t tags[LININGS_MAX];
    for (int q = 0; q < all->count; ++q) {
        PS_TRY(ps_surface_mesh_find_tag(mesh, all->each[q].where, &tags[q]));
        for (int p = 0; p < q; ++p)
            if (tags[p] < 0 || tags[q] < 0 || tags[p] == tags[q])
                return ps_fail(PS_INVALID, "\"%s\" and \"%s\" are linings of the same triangles",
                               all->each[p].where, all->each[q].where);
    }
    return PS_OK;
}

ps_status linings_inputs(const linings *all, ps_product *product)
{
    static const char *const roles[LININGS_MAX] = {"lining", "lining_1", "lining_2", "lining_3"};
    for (int q = 0; q < all->count && !all->each[q].assembling; ++q)
        PS_TRY(ps_product_input(product, roles[q], tiles_store(&all->each[q].tiles)));
    return PS_OK;
}

void linings_describe(const linings *all, ps_history_header *out)
{
    out->lining_count = all->count;
    for (int q = 0; q < all->count; ++q)
        ps_admittance_print(all->each[q].where, &all->each[q].beta, out->linings[q],
                            sizeof out->linings[q]);
}

int64_t linings_states(const linings *all)
{
    int64_t states = 0;
    for (int q = 0; q < all->count; ++q)
        states += all->each[q].filter.states * all->each[q].tiles.header.unknowns;
    return states;
}

int64_t linings_bytes(const linings *all, int64_t group)
{
    int64_t bytes = 8 * linings_states(all);
    for (int q = 0; q < all->count; ++q) {
        const ps_slice_header *header = &all->each[q].tiles.header;
        bytes += summation_sums_bytes(header, group) + 8 * header->unknowns;
    }
    return bytes;
}

/* ---- M^0 ---- */

/* Row i of a + factor b; the columns of both ascend. Returns the entries. */
static int64_t add_row(const ps_csr *a, double factor, const ps_csr *b, int64_t i, int32_t *columns,
                       double *values)
{
    int64_t p = a->row_start[i], q = b->row_start[i], count = 0;
    while (p < a->row_start[i + 1] || q < b->row_start[i + 1]) {
        int32_t ja = p < a->row_start[i + 1] ? a->columns[p] : INT32_MAX;
        int32_t jb = q < b->row_start[i + 1] ? b->columns[q] : INT32_MAX;
        columns[count] = ja < jb ? ja : jb;
        values[count] = ja <= jb ? a->values[p++] : 0;
        if (jb <= ja) values[count] += factor * b->values[q++];
        ++count;
    }
    return count;
}

static ps_status add_m0(double factor, const ps_csr *g0, ps_csr *m0)
{
    ps_csr sum;
    int64_t at = 0;
    PS_TRY(ps_csr_init(&sum, m0->rows, m0->nnz + g0->nnz));
    for (int64_t i = 0; i < m0->rows; ++i) {
        at += add_row(m0, factor, g0, i, sum.columns + at, sum.values + at);
        sum.row_start[i + 1] = at;
    }
    sum.nnz = at;
    ps_csr_release(m0);
    *m0 = sum;
    return PS_OK;
}

ps_status linings_add_m0(const linings *all, ps_csr *m0)
{
    for (int q = 0; q < all->count; ++q)
        PS_TRY(add_m0(all->each[q].filter.direct, &all->each[q].m0, m0));
    return PS_OK;
}

/* ---- the sums ---- */

ps_status lining_states_open(const linings *all, lining_sums *out)
{
    out->states = linings_states(all);
    return out->states > 0 ? PS_ALLOC(&out->state, out->states, "the linings") : PS_OK;
}

ps_status lining_sums_open(linings *all, const window *past, int64_t group, const void *recent,
                           int64_t memory, const int64_t *streams, lining_sums *out)
{
    out->of = all;
    for (int q = 0; q < all->count; ++q) {
        lining *l = &all->each[q];
        lining_sum *s = &out->each[q];
        PS_TRY(PS_ALLOC(&s->w, past->unknowns, "the linings"));
        PS_TRY(near_open(&l->near, memory, recent, &s->near));
        memory -= s->near.bytes;
        PS_TRY(summation_open(&l->tiles, past, group, streams[q], 0, &s->summation));
    }
    return PS_OK;
}

void lining_sums_close(lining_sums *sums)
{
    for (int q = 0; q < LININGS_MAX; ++q) {
        summation_close(&sums->each[q].summation);
        near_close(&sums->each[q].near);
        free(sums->each[q].w);
    }
    free(sums->state);
    memset(sums, 0, sizeof *sums);
}

ps_status lining_sums_sweep(lining_sums *sums)
{
    for (int q = 0; sums->of && q < sums->of->count; ++q)
        PS_TRY(summation_sweep(&sums->each[q].summation));
    return PS_OK;
}

ps_status lining_sums_add(lining_sums *sums, int64_t g, double *right)
{
    const double *state = sums->state;
    for (int q = 0; q < sums->of->count; ++q) {
        const ps_admittance_filter *filter = &sums->of->each[q].filter;
        lining_sum *s = &sums->each[q];
        int64_t rows = s->summation.window->unknowns;
        summation_get(&s->summation, g, s->w);
        ps_radiation_step(&s->near.radiation, g, s->w);
        PS_TRY(ps_comm_sum_f64(s->w, rows));
        for (int64_t i = 0; i < rows; ++i) right[i] += filter->direct * s->w[i];
        ps_admittance_past(filter, rows, state, right);
        state += filter->states * rows;
    }
    return PS_OK;
}

/* w += G^0 a, which completes it. */
static void add_own(const ps_csr *g0, const double *answer, double *w)
{
#pragma omp parallel for schedule(static) if (g0->nnz > THREADED)
    for (int64_t i = 0; i < g0->rows; ++i) {
        double sum = 0;
        for (int64_t e = g0->row_start[i]; e < g0->row_start[i + 1]; ++e)
            sum += g0->values[e] * answer[g0->columns[e]];
        w[i] += sum;
    }
}

void lining_sums_advance(lining_sums *sums, const double *answer)
{
    double *state = sums->state;
    for (int q = 0; q < sums->of->count; ++q) {
        const lining *l = &sums->of->each[q];
        int64_t rows = l->m0.rows;
        add_own(&l->m0, answer, sums->each[q].w);
        ps_admittance_advance(&l->filter, rows, sums->each[q].w, state);
        state += l->filter.states * rows;
    }
}
