#include "stage/prism_sum/prism_sum.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/fmm/m2l_table.h"
#include "kernels/fmm/tree.h"
#include "runtime/memory.h"
#include "runtime/scope.h"
#include "runtime/sizes.h"
#include "stage/prism_sum/internal.h"

/* ---- opening ---- */

static ps_status make(const ps_prism_sum_options *options, ps_prism_sum *s)
{
    PS_TRY(prism_tree_make(s, options->height));
    for (int w = 0; w < s->weights; ++w)
        PS_TRY(ps_alloc_buffer((void **)&s->weight[w], 8 * s->bodies.prisms, "weights"));
    for (int k = 0; k < s->numbers; ++k) {
        PS_TRY(ps_alloc_buffer((void **)&s->result[k], 8 * s->bodies.stations, "results"));
        PS_TRY(ps_alloc_buffer((void **)&s->near[k], 8 * s->bodies.stations, "results"));
    }
    s->figures.height = s->height;
    s->figures.pieces = s->pieces;
    if (s->height > 2) {
        s->figures.source_cells = ps_octree_leaves(&s->sources);
        s->figures.target_cells = ps_octree_leaves(&s->targets);
    }
    return PS_OK;
}

ps_status ps_prism_sum_open(const ps_prism_bodies *bodies, const ps_prism_sum_options *options,
                            ps_prism_sum **out)
{
    *out = NULL;
    if (options->height < 0 || options->height > PS_OCTREE_LEVELS_MAX)
        return ps_fail(PS_USAGE, "a tree of height %d; heights are 1 to %d", options->height,
                       PS_OCTREE_LEVELS_MAX);
    PS_TRY(PS_ALLOC(out, 1, "fields of prisms"));
    (*out)->bodies = *bodies;
    (*out)->threads = options->threads > 0 ? options->threads : 1;
    (*out)->numbers = ps_prism_kind_numbers(bodies->kind);
    (*out)->weights = ps_prism_kind_weights(bodies->kind);
    ps_status status = make(options, *out);
    bool cuda = options->device && ps_device_describe(options->device).kind == PS_DEVICE_CUDA;
    if (status == PS_OK && cuda) status = prism_device_open(*out, options->device);
    if (status != PS_OK) ps_prism_sum_close(out);
    return status;
}

static void release_operators(ps_prism_sum *s)
{
    PS_FREE(s->table_block, s->vectors, s->workspace);
    s->table_block = s->vectors = s->workspace = NULL;
}

void ps_prism_sum_close(ps_prism_sum **sum)
{
    ps_prism_sum *s = *sum;
    if (!s) return;
    prism_device_close(s);
    release_operators(s);
    for (int d = 0; d < 3; ++d) {
        PS_FREE(s->low[d], s->high[d], s->place[d], s->weight[d]);
    }
    for (int k = 0; k < PS_PRISM_NUMBERS; ++k) {
        free(s->result[k]);
        free(s->near[k]);
    }
    for (int l = 0; l < PS_OCTREE_LEVELS_MAX; ++l) free(s->start[l]);
    PS_FREE(s->piece, s->level, s->prism_order, s->station_order);
    ps_octree_release(&s->sources);
    ps_octree_release(&s->targets);
    free(s);
    *sum = NULL;
}

void ps_prism_sum_figures_of(const ps_prism_sum *sum, ps_prism_sum_figures *out)
{
    *out = sum->figures;
}

/* ---- operators ---- */

static ps_status make_table(ps_prism_sum *s, int order, double epsilon)
{
    ps_fmm_table_spec spec = {.function = {PS_FMM_INVERSE, 0},
                              .order = order,
                              .epsilon = epsilon,
                              .rho = 1,
                              .basis_epsilon = ps_fmm_basis_epsilon(PS_FMM_INVERSE, epsilon),
                              .precision = PS_DOUBLE};
    PS_SCOPED_MEMORY void *workspace = NULL;
    PS_TRY(ps_alloc_untouched(&workspace, ps_fmm_table_workspace(&spec), "operators"));
    PS_TRY(ps_fmm_table_make(&spec, workspace, &s->table));
    PS_TRY(ps_alloc_untouched(&s->table_block, ps_fmm_m2l_bytes(&s->table), "operators"));
    ps_fmm_m2l_attach(&s->table, s->table_block);
    ps_fmm_table_fill(&spec, workspace, &s->table);
    return PS_OK;
}

static ps_status make_problem(ps_prism_sum *s, int order, const ps_octree *sources,
                              const ps_octree *targets, ps_fmm_problem *p)
{
    *p = (ps_fmm_problem){.sources = sources,
                          .targets = targets,
                          .function = {PS_FMM_INVERSE, 0},
                          .sides = 1,
                          .far = PS_DOUBLE,
                          .near = PS_DOUBLE};
    for (int l = 2; l < s->height; ++l) {
        p->tables[l] = &s->table;
        p->factors[l] = ps_fmm_level_factor(&s->box, l, PS_FMM_INVERSE);
    }
    return ps_fmm_interpolation_init(&p->interpolation, order);
}

ps_status ps_prism_sum_operators(ps_prism_sum *s, int order, double epsilon)
{
    release_operators(s);
    s->figures.order = order;
    if (s->height < 3) return PS_OK;
    PS_TRY(make_table(s, order, epsilon));
    PS_TRY(make_problem(s, order, &s->sources, &s->targets, &s->forward));
    PS_TRY(make_problem(s, order, &s->targets, &s->sources, &s->backward));
    if (s->device) return prism_device_operators(s);
    PS_TRY(ps_alloc_buffer(
        &s->vectors,
        ps_larger(ps_fmm_problem_bytes(&s->forward), ps_fmm_problem_bytes(&s->backward)),
        "vectors of cells"));
    return ps_alloc_untouched(&s->workspace,
                              ps_larger(ps_fmm_evaluate_workspace(&s->forward, s->threads),
                                        ps_fmm_evaluate_workspace(&s->backward, s->threads)),
                              "workspace");
}

/* ---- sums ---- */

static void scatter(const double *from, const int64_t *order, int64_t count, double *out)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < count; ++i) out[order[i]] = from[i];
}

/* The far field between what is sorted. */
static ps_status far_field(ps_prism_sum *s, bool transposed)
{
    ps_fmm_problem *p = transposed ? &s->backward : &s->forward;
    double start = ps_clock();
    if (s->height < 3) return PS_OK;
    ps_fmm_problem_attach(p, s->vectors);
    if (transposed)
        prism_stations(s, true);
    else
        PS_TRY(prism_moments(s, false));
    s->figures.moments = ps_clock() - start;
    ps_fmm_transfer(p, s->threads, s->workspace);
    s->figures.transfer = ps_clock() - start - s->figures.moments;
    if (transposed) return prism_moments(s, true);
    prism_stations(s, false);
    return PS_OK;
}

static ps_status near_field(ps_prism_sum *s, bool transposed)
{
    double start = ps_clock();
    PS_TRY(prism_near(s, transposed));
    s->figures.near = ps_clock() - start;
    return PS_OK;
}

static void clear(const ps_prism_sum *s, double *const *rows)
{
    for (int k = 0; k < s->numbers; ++k)
        memset(rows[k], 0, (size_t)s->bodies.stations * sizeof(double));
}

/* The near field of new weights, kept. */
static ps_status apply_near(ps_prism_sum *s)
{
    clear(s, s->result);
    PS_TRY(near_field(s, false));
    for (int k = 0; k < s->numbers; ++k)
        memcpy(s->near[k], s->result[k], (size_t)s->bodies.stations * sizeof(double));
    return PS_OK;
}

static ps_status apply_on_cores(ps_prism_sum *s, bool again)
{
    if (!again) PS_TRY(apply_near(s));
    clear(s, s->result);
    PS_TRY(far_field(s, false));
    for (int k = 0; k < s->numbers; ++k)
        for (int64_t i = 0; i < s->bodies.stations; ++i) s->result[k][i] += s->near[k][i];
    return PS_OK;
}

static ps_status no_weights(void)
{
    return ps_fail(PS_USAGE, "no weights of prisms are there since the last transposed sum");
}

ps_status ps_prism_sum_apply(ps_prism_sum *s, const double *const *weight, double *const *out)
{
    if (!weight && !s->weighted) return no_weights();
    for (int w = 0; w < s->weights && weight; ++w)
        ps_tree_gather(weight[w], s->prism_order, s->bodies.prisms, s->weight[w]);
    s->weighted = true;
    PS_TRY(s->device ? prism_device_apply(s, weight == NULL) : apply_on_cores(s, weight == NULL));
    for (int k = 0; k < s->numbers; ++k)
        scatter(s->result[k], s->station_order, s->bodies.stations, out[k]);
    return PS_OK;
}

static ps_status transposed_on_cores(ps_prism_sum *s)
{
    for (int w = 0; w < s->weights; ++w)
        memset(s->weight[w], 0, (size_t)s->bodies.prisms * sizeof(double));
    PS_TRY(far_field(s, true));
    return near_field(s, true);
}

ps_status ps_prism_sum_transposed(ps_prism_sum *s, const double *const *data, double *const *out)
{
    for (int k = 0; k < s->numbers; ++k)
        ps_tree_gather(data[k], s->station_order, s->bodies.stations, s->result[k]);
    s->weighted = false;
    PS_TRY(s->device ? prism_device_transposed(s) : transposed_on_cores(s));
    for (int w = 0; w < s->weights; ++w)
        scatter(s->weight[w], s->prism_order, s->bodies.prisms, out[w]);
    return PS_OK;
}

ps_status ps_prism_sum_samples(ps_prism_sum *s, const int64_t *places, int64_t count,
                               double *const *out)
{
    ps_prism_bodies sorted = s->bodies;
    if (!s->weighted) return no_weights();
    if (s->device) return prism_device_direct(s, places, count, out);
    for (int d = 0; d < 3; ++d) {
        sorted.low[d] = s->low[d];
        sorted.high[d] = s->high[d];
        sorted.place[d] = s->place[d];
    }
    const double *weight[3] = {s->weight[0], s->weight[1], s->weight[2]};
    ps_prism_sum_direct(&sorted, weight, places, count, s->threads, out);
    return PS_OK;
}

void ps_prism_sum_direct(const ps_prism_bodies *b, const double *const *weight,
                         const int64_t *indices, int64_t count, int threads, double *const *out)
{
    const struct ps_prism_field_functions *f = ps_prism_field_functions_here();
    ps_prism_set set = {.count = b->prisms};
    for (int d = 0; d < 3; ++d) {
        set.low[d] = b->low[d];
        set.high[d] = b->high[d];
        if (d < ps_prism_kind_weights(b->kind)) set.weight[d] = weight[d];
    }
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
    for (int64_t i = 0; i < count; ++i) {
        double numbers[PS_PRISM_NUMBERS] = {0}, station[3];
        for (int d = 0; d < 3; ++d) station[d] = b->place[d][indices[i]];
        f->add(b->kind, &set, 0, b->prisms, station, numbers);
        for (int k = 0; k < ps_prism_kind_numbers(b->kind); ++k) out[k][i] = numbers[k];
    }
}
