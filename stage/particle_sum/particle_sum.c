#include "stage/particle_sum/particle_sum.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "kernels/common/counter_random.h"
#include "kernels/fmm/adaptive_evaluate.h"
#include "kernels/fmm/order_choice.h"
#include "kernels/fmm/sample_errors.h"
#include "runtime/memory.h"
#include "runtime/scope.h"
#include "stage/particle_sum/level_tables.h"

/* An attempt at an order. */
typedef struct attempt {
    const ps_particle_sum *sum;
    int set;         /* the targets': 0 where they are the sources */
    int64_t targets; /* of it */
    ps_adaptive_tree tree;
    ps_adaptive_problem problem;
    double *columns[2]; /* sorted: [3 + S][sources], [3][targets] */
    double *results;    /* sorted: [4 S][targets]                 */
    ps_fmm_m2l_table own[PS_ADAPTIVE_LEVELS];
    void *blocks[PS_ADAPTIVE_LEVELS], *vectors, *workspace;
    double ranks[PS_ADAPTIVE_LEVELS];
} attempt;

/* ---- what is asked ---- */

static ps_status check_values(const double *values, int64_t count, const char *what)
{
    for (int64_t i = 0; i < count; ++i)
        if (!isfinite(values[i]))
            return ps_fail(PS_INVALID, "%s: number %lld is not finite", what, (long long)i);
    return PS_OK;
}

static ps_status check(const ps_particle_sum *s)
{
    static const double finest = 1e-12; /* sums in fp64 do not reach further */
    static const char *const axis[2][3] = {{"source x", "source y", "source z"},
                                           {"target x", "target y", "target z"}};
    bool decays = s->function.kernel == PS_FMM_EXPONENTIAL || s->function.kernel == PS_FMM_YUKAWA ||
                  s->function.kernel == PS_FMM_GAUSSIAN;
    if (s->sources < 1 || (s->target[0] && s->targets < 1))
        return ps_fail(PS_USAGE, "a sum needs a source and a target at least");
    if (s->sides < 1 || s->sides > PS_FMM_SIDES_MAX)
        return ps_fail(PS_USAGE, "%d sets of charges: 1 to %d are taken at once", s->sides,
                       PS_FMM_SIDES_MAX);
    if (!(s->accuracy >= finest && s->accuracy < 1))
        return ps_fail(PS_USAGE, "accuracy %g: a relative error from %g on, below 1, is expected",
                       s->accuracy, finest);
    if (decays && !(s->function.parameter > 0 && isfinite(s->function.parameter)))
        return ps_fail(PS_USAGE, "parameter %g: the kernel %s needs one above 0",
                       s->function.parameter, ps_fmm_kernel_name(s->function.kernel));
    for (int d = 0; d < 3; ++d) {
        PS_TRY(check_values(s->source[d], s->sources, axis[0][d]));
        if (s->target[0]) PS_TRY(check_values(s->target[d], s->targets, axis[1][d]));
    }
    return check_values(s->charges, s->sides * s->sources, "charges");
}

/* ---- the tree ---- */

static int64_t count_of(const ps_particle_sum *s, int set) { return set ? s->targets : s->sources; }

static void widen(const double *const place[3], int64_t count, double lower[3], double upper[3])
{
    for (int d = 0; d < 3; ++d)
        for (int64_t i = 0; i < count; ++i) {
            lower[d] = fmin(lower[d], place[d][i]);
            upper[d] = fmax(upper[d], place[d][i]);
        }
}

static ps_status sort_set(attempt *a, int set)
{
    ps_adaptive_set *to = &a->tree.sets[set];
    const double *const *x = set ? a->sum->target : a->sum->source;
    int64_t count = count_of(a->sum, set);
    PS_SCOPED_MEMORY uint64_t *workspace = NULL;
    to->points = (ps_tree_points){count, x[0], x[1], x[2]};
    PS_TRY(ps_alloc_buffer((void **)&to->keys, 8 * count, "keys"));
    PS_TRY(ps_alloc_buffer((void **)&to->order, 8 * count, "the order of particles"));
    PS_TRY(ps_alloc_buffer((void **)&workspace, 8 * ps_adaptive_sort_workspace(count), "sorting"));
    ps_adaptive_sort(&a->tree.box, workspace, to);
    return PS_OK;
}

static ps_status gather_set(attempt *a, int set)
{
    const ps_particle_sum *s = a->sum;
    const ps_adaptive_set *from = &a->tree.sets[set];
    int64_t count = count_of(s, set);
    int rows = set ? 3 : 3 + s->sides;
    PS_TRY(ps_alloc_buffer((void **)&a->columns[set], 8 * rows * count, "sorted particles"));
    const double *const *x = set ? s->target : s->source;
    for (int row = 0; row < rows; ++row)
        ps_tree_gather(row < 3 ? x[row] : s->charges + (row - 3) * count, from->order, count,
                       a->columns[set] + row * count);
    return PS_OK;
}

/* Whether all pairs take less than the operators of one level would (m2l_operators.h). */
static bool is_direct(const ps_particle_sum *s, int order)
{
    int64_t targets = s->target[0] ? s->targets : s->sources;
    double pairs = (double)s->sources * (double)targets;
    return 0.5 * PS_FMM_P2P_FLOPS * pairs < 16 * 9 * pow(order, 9);
}

static ps_status build_tree(attempt *a, int order)
{
    const ps_particle_sum *s = a->sum;
    double lower[3] = {INFINITY, INFINITY, INFINITY}, upper[3] = {-INFINITY, -INFINITY, -INFINITY};
    a->tree.same = a->set == 0;
    a->tree.leaf_size =
        is_direct(s, order) ? s->sources + s->targets : ps_adaptive_leaf_size(order);
    a->tree.room = ps_grow;
    widen(s->source, s->sources, lower, upper);
    if (a->set) widen(s->target, s->targets, lower, upper);
    PS_TRY(ps_tree_check_span(lower, upper));
    PS_TRY(ps_adaptive_root(lower, upper, &a->tree.box, &a->tree.deepest));
    for (int set = 0; set <= a->set; ++set) PS_TRY(sort_set(a, set));
    PS_TRY(ps_adaptive_divide(&a->tree));
    for (int set = 0; set <= a->set; ++set) PS_TRY(gather_set(a, set));
    return PS_OK;
}

/* ---- the evaluation ---- */

static ps_fmm_particles particles_of(const attempt *a, int set)
{
    int64_t n = count_of(a->sum, set);
    double *x = a->columns[set];
    return (ps_fmm_particles){
        .position = {x, x + n, x + 2 * n}, .charges = set ? NULL : x + 3 * n, .stride = n};
}

static ps_status make_operators(attempt *a, double epsilon)
{
    ps_adaptive_problem *p = &a->problem;
    ps_fmm_table_spec spec = {.function = p->function,
                              .order = p->interpolation.order,
                              .epsilon = epsilon,
                              .basis_epsilon = ps_fmm_basis_epsilon(p->function.kernel, epsilon),
                              .precision = PS_DOUBLE};
    ps_fmm_level_set set = {.last = a->tree.levels - 1,
                            .box = &a->tree.box,
                            .tables = p->tables,
                            .factors = p->factors,
                            .mean_rank = a->ranks,
                            .own = a->own,
                            .blocks = a->blocks};
    return ps_fmm_level_tables(&spec, &set);
}

static ps_status evaluate(attempt *a, int order, double epsilon)
{
    const ps_particle_sum *s = a->sum;
    ps_adaptive_problem *p = &a->problem;
    PS_TRY(build_tree(a, order));
    p->tree = &a->tree;
    p->rule = ps_adaptive_rule_of(order);
    p->function = s->function;
    p->sides = s->sides;
    p->far = p->near = PS_DOUBLE;
    PS_TRY(ps_fmm_interpolation_init(&p->interpolation, order));
    PS_TRY(make_operators(a, epsilon));
    PS_TRY(ps_alloc_buffer((void **)&a->results, 8 * 4 * s->sides * a->targets, "results"));
    p->sources = particles_of(a, 0);
    if (a->set) p->targets = particles_of(a, 1);
    ps_fmm_particles *to = a->set ? &p->targets : &p->sources;
    to->potential = a->results;
    to->gradient = a->results + s->sides * a->targets;
    PS_TRY(ps_alloc_buffer(&a->vectors, ps_adaptive_vector_bytes(p) + 64, "multipoles, locals"));
    PS_TRY(ps_alloc_buffer(&a->workspace, ps_adaptive_workspace(p, s->threads), "threads"));
    return ps_adaptive_evaluate(p, s->threads, a->vectors, a->workspace);
}

static void release(attempt *a)
{
    for (int l = 0; l < PS_ADAPTIVE_LEVELS; ++l) free(a->blocks[l]);
    for (int set = 0; set < 2; ++set) {
        free(a->columns[set]);
        free(a->tree.sets[set].keys);
        free(a->tree.sets[set].order);
    }
    free(a->tree.cell);
    free(a->tree.around);
    free(a->tree.leaf);
    free(a->results);
    free(a->vectors);
    free(a->workspace);
}

/* ---- the samples ---- */

/* One at random of each of equal stretches of the sorted targets: about a fiftieth of the work. */
static int64_t sample_count(const attempt *a)
{
    enum { FEWEST = 16, MOST = 1000, SHARE = 20 };
    int64_t leaf = ps_adaptive_leaf_size(5),
            wanted = SHARE * leaf * a->targets / a->sum->sources / 2;
    int64_t least = 4000000 / a->sum->sources;
    wanted = wanted < least ? least : wanted;
    wanted = wanted < FEWEST ? FEWEST : wanted > MOST ? MOST : wanted;
    return wanted < a->targets ? wanted : a->targets;
}

static int64_t sample_at(const attempt *a, int64_t k, int64_t count)
{
    int64_t begin = a->targets * k / count, end = a->targets * (k + 1) / count;
    return begin + (int64_t)(ps_counter_uniform(23, (uint64_t)k, 0) * (double)(end - begin));
}

static double mean_charge(const double *charges, int64_t count)
{
    double sum = 0;
    for (int64_t i = 0; i < count; ++i) sum += fabs(charges[i]);
    return sum / (double)count;
}

/* Errors at samples against direct sums. */
static ps_status measure(const attempt *a, bool gradient, int64_t count, ps_fmm_reached *out)
{
    const ps_particle_sum *s = a->sum;
    int rows = 4 * s->sides;
    PS_SCOPED_MEMORY double *room = NULL;
    PS_TRY(PS_ALLOC(&room, (2 * rows + 6) * count, "samples"));
    double *direct = room, *taken = room + rows * count, *x = taken + rows * count;
    double charge[PS_FMM_SIDES_MAX];
    for (int side = 0; side < s->sides; ++side)
        charge[side] = mean_charge(s->charges + side * s->sources, s->sources);
    for (int64_t k = 0; k < count; ++k) {
        int64_t at = sample_at(a, k, count);
        for (int d = 0; d < 3; ++d) x[d * count + k] = a->columns[a->set][d * a->targets + at];
        for (int row = 0; row < rows; ++row)
            taken[row * count + k] = a->results[row * a->targets + at];
    }
    ps_fmm_particles targets = {.position = {x, x + count, x + 2 * count},
                                .potential = direct,
                                .gradient = direct + s->sides * count,
                                .stride = count};
    ps_fmm_direct_add(&s->function, s->sides, a->tree.box.width, &targets, count,
                      &a->problem.sources, s->sources);
    ps_fmm_samples samples = {.count = count,
                              .even = count,
                              .all = count == a->targets,
                              .sides = s->sides,
                              .direct = direct,
                              .taken = taken,
                              .charge = charge,
                              .function = s->function,
                              .width = a->tree.box.width};
    *out = ps_fmm_sample_errors(&samples, gradient, x + 3 * count);
    return PS_OK;
}

/* ---- all ---- */

/* Results in the caller's order. PS_FAILED where one is not finite. */
static ps_status hand_over(const attempt *a, double *potential, double *gradient)
{
    const int64_t *order = a->tree.sets[a->set].order;
    int sides = a->sum->sides;
    for (int row = 0; row < (gradient ? 4 * sides : sides); ++row) {
        const double *from = a->results + row * a->targets;
        double *to =
            row < sides ? potential + row * a->targets : gradient + (row - sides) * a->targets;
        for (int64_t i = 0; i < a->targets; ++i) {
            if (!isfinite(from[i]))
                return ps_fail(PS_FAILED, "the result at target %lld is not finite",
                               (long long)order[i]);
            to[order[i]] = from[i];
        }
    }
    return PS_OK;
}

static ps_status one(const ps_particle_sum *s, double epsilon, double *potential, double *gradient,
                     ps_particle_sum_figures *f, ps_fmm_reached *reached)
{
    PS_SCOPED(release) attempt a = {.sum = s, .set = s->target[0] ? 1 : 0};
    a.targets = count_of(s, a.set);
    PS_TRY(evaluate(&a, f->order, epsilon));
    PS_TRY(hand_over(&a, potential, gradient));
    f->samples = sample_count(&a);
    f->levels = a.tree.levels;
    if (f->levels <= 2) f->order = 0; /* all directly */
    return measure(&a, gradient != NULL, f->samples, reached);
}

ps_status ps_particle_sum_run(const ps_particle_sum *sum, double *potential, double *gradient,
                              ps_particle_sum_figures *figures)
{
    ps_particle_sum_figures f = {0};
    double epsilon, before = 0;
    PS_TRY(check(sum));
    ps_fmm_order_for(sum->function.kernel, sum->accuracy, gradient != NULL, &f.order, &epsilon);
    for (;;) {
        ps_fmm_reached reached;
        PS_TRY(one(sum, epsilon, potential, gradient, &f, &reached));
        ++f.attempts;
        f.potential = reached.potential;
        f.gradient = reached.gradient;
        if (figures) *figures = f;
        double excess = ps_fmm_excess(&reached, sum->accuracy);
        if (excess <= 1) return PS_OK;
        int more =
            f.levels > 2 && isfinite(excess) ? ps_fmm_more_order(f.order, excess, before) : -1;
        if (!(more > 0))
            return ps_fail(
                PS_INACCURATE,
                "an accuracy of %.3g is not reached: at order %d errors are up to %.3g "
                "of potentials, %.3g of gradients, %.3g of a single sample; what is left "
                "is rounding, as where charges cancel, or a higher order is not possible",
                sum->accuracy, f.order, reached.potential, reached.gradient, reached.largest);
        before = excess;
        f.order += more;
        epsilon *= pow(10, -more);
    }
}
