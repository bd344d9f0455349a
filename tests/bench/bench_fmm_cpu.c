/*
 * The method on one core: particles a second for 10^6 particles, tree included, potential and
 * gradient, cube and ellipsoid at Acc 3, 5, 7 (l = Acc, eps = 10^-Acc), at the best of some heights
 * and sizes of the root box; the rates of P2P and M2L. One JSON record a line; stages on stderr.
 *
 * The floor of a time counts the arithmetic alone at the rate of multiply-adds of this core: P2P in
 * instructions of 8 lanes (kernels/fmm/p2p.h), the rest in flops (kernels/fmm/cell.h, m2l.h).
 * The same in fp32 for Acc 3 and 5. M2L in a common basis cut at eps. Times are processor time, as
 * other work may share the machine. Operators are built beforehand. Arguments, all optional:
 * cube|ellipsoid Acc height stretch.
 */
#include <omp.h>
#include <stdio.h>

#include "runtime/program.h"
#include "tests/support/fmm_case.h"
#include "kernels/fmm/tree_lists.h"
#include "runtime/scope.h"
#include "tests/support/peak_flops.h"
#include "tests/support/record.h"

enum { COUNT = 1000000, REPEATS = 2 };

static const char *const stages[PS_FMM_STAGES] = {"P2M", "M2M", "encode", "M2L",
                                                  "L2L", "L2P", "P2P"};

/* What a run has to do. */
typedef struct work {
    double pairs, pairs_own; /* ordered pairs of particles; those within leaves of them   */
    double far_pairs, m2l;   /* pairs of cells; flop with the table as it is               */
    double nominal;          /* M2L flop as the seed counts: 4 l^3 r                       */
    double cells, leaves;
} work;

static work count_work(const ps_fmm_problem *p)
{
    enum { BLOCK = 64 };
    static int64_t start[BLOCK + 1], items[BLOCK * PS_TREE_FAR_MAX];
    static uint16_t codes[BLOCK * PS_TREE_FAR_MAX];
    ps_tree_list list = {start, items, codes};
    const ps_octree *tree = p->sources;
    const int64_t *place = tree->particle_start;
    work w = {0};
    for (int l = tree->height - 1; l >= 2; --l)
        for (int64_t first = 0; first < tree->cells[l]; first += BLOCK) {
            int64_t end = first + BLOCK < tree->cells[l] ? first + BLOCK : tree->cells[l];
            double coded = p->tables[l]->size ? p->tables[l]->size : p->interpolation.points;
            ps_tree_far(tree, tree, l, first, end, &list);
            w.far_pairs += (double)start[end - first];
            w.cells += (double)(end - first);
            for (int64_t i = 0; i < start[end - first]; ++i) {
                w.m2l += 4.0 * p->tables[l]->rank[codes[i]] * coded;
                w.nominal += 4.0 * p->tables[l]->rank[codes[i]] * p->interpolation.points;
            }
            if (l < tree->height - 1) continue;
            ps_tree_near(tree, tree, first, end, &list);
            for (int64_t c = first; c < end; ++c)
                for (int64_t i = start[c - first]; i < start[c - first + 1]; ++i) {
                    double n = (double)((place[c + 1] - place[c]) *
                                        (place[items[i] + 1] - place[items[i]]));
                    w.pairs += n;
                    if (items[i] == c) w.pairs_own += n;
                }
        }
    w.leaves = (double)tree->cells[tree->height - 1];
    return w;
}

/* Seconds of arithmetic at `peak`. */
static double floor_of(const ps_fmm_problem *p, const work *w, double peak)
{
    double l = p->interpolation.order, cube = l * l * l, size = p->tables[2]->size;
    double slots = p->near == PS_DOUBLE ? 8 : 16;
    double p2p = ((w->pairs - w->pairs_own) * 25 / 2 + w->pairs_own * 23) / slots * 16;
    double particle =
        2 * cube + 2 * l * l + 6 * l * (l - 1) + 4 * cube + 6 * l * l + 8 * l + 12 * l * (l - 1);
    double cell = 12 * l * cube + (size ? 4 * size * cube : 0) + 2 * cube;
    double rest = w->m2l + COUNT * particle + w->cells * cell;
    return (p2p + (p->far == PS_DOUBLE ? rest : rest / 2)) / peak;
}

/* One configuration. */
typedef struct trial {
    ps_distribution distribution;
    int accuracy, height;
    double stretch;         /* width of the root box */
    ps_precision precision; /* of far and near field; sums of P2P are fp64 */
} trial;

typedef struct outcome {
    trial of;
    double seconds, tree, stages[PS_FMM_STAGES], floor, errors[2];
    work work;
} outcome;

/* Keys, sort, levels, particles in order. */
static ps_status build_tree(tree_case *t, const ps_octree_box *box, int height)
{
    ps_octree_release(&t->tree);
    return tree_case_build(t, box, height, 128);
}

static ps_status measure(tree_case *t, const trial *of, double peak, outcome *out)
{
    const ps_octree_box box = {{0, 0, 0}, of->stretch};
    fmm_options o = {.order = of->accuracy,
                     .function = {PS_FMM_INVERSE, 0},
                     .basis = 1,
                     .far = of->precision,
                     .near = of->precision};
    PS_SCOPED(fmm_case_release) fmm_case c = {0};
    *out = (outcome){.of = *of, .seconds = INFINITY};
    PS_TRY(build_tree(t, &box, of->height));
    PS_TRY(fmm_case_init(&c, &o, t, 1));
    for (int r = 0; r < REPEATS; ++r) {
        double start = ps_processor_seconds();
        PS_TRY(build_tree(t, &box, of->height));
        PS_TRY(fmm_case_particles(&c, t, 1));
        double tree = ps_processor_seconds() - start;
        fmm_case_run(&c);
        double seconds = ps_processor_seconds() - start;
        if (seconds >= out->seconds) continue;
        out->seconds = seconds;
        out->tree = tree;
        memcpy(out->stages, c.problem.seconds, sizeof out->stages);
    }
    out->work = count_work(&c.problem);
    out->floor = floor_of(&c.problem, &out->work, peak);
    PS_TRY(fmm_case_errors(&c, 200, 0, out->errors));
    return PS_OK;
}

static const char *name_of(ps_distribution distribution)
{
    return distribution == PS_DISTRIBUTION_CUBE ? "cube" : "ellipsoid";
}

static void describe(const outcome *o)
{
    fprintf(stderr, "%s acc %d h %d box %.3g %s: %.3f Mp/s, %.3f s = tree %.3f",
            name_of(o->of.distribution), o->of.accuracy, o->of.height, o->of.stretch,
            o->of.precision == PS_DOUBLE ? "double" : "single", COUNT / o->seconds / 1e6,
            o->seconds, o->tree);
    for (int s = 0; s < PS_FMM_STAGES; ++s) fprintf(stderr, " %s %.3f", stages[s], o->stages[s]);
    fprintf(
        stderr,
        "; %.3g leaves, M2L %.3g pairs %.1f GF/s (%.1f nominal), P2P %.3g at %.2e/s; floor %.3f s; "
        "errors %.2e %.2e\n",
        o->work.leaves, o->work.far_pairs, o->work.m2l / o->stages[PS_FMM_M2L] / 1e9,
        o->work.nominal / o->stages[PS_FMM_M2L] / 1e9, o->work.pairs,
        o->work.pairs / o->stages[PS_FMM_P2P], o->floor, o->errors[0], o->errors[1]);
}

static void report(const outcome *o)
{
    char name[64], size[96];
    snprintf(name, sizeof name, "fmm-cpu-%s-acc%d%s", name_of(o->of.distribution), o->of.accuracy,
             o->of.precision == PS_DOUBLE ? "" : "-fp32");
    snprintf(size, sizeof size, "1e6 particles, h = %d, box %.3g", o->of.height, o->of.stretch);
    bench_record_core(name, "particles a second and core, tree included", COUNT / o->seconds, "1/s",
                      COUNT / o->floor, size);
    bench_record_core(name, "P2P, ordered pairs", o->work.pairs / o->stages[PS_FMM_P2P], "1/s", 0,
                      size);
    bench_record_core(name, "M2L, 4 l^3 r a pair", o->work.nominal / o->stages[PS_FMM_M2L] / 1e9,
                      "GF/s", 0, size);
    bench_record_core(name, "relative L2 error of the potential, charges in (0, 1)", o->errors[0],
                      "1", 0, size);
}

/* The best of some heights and boxes. */
static ps_status best_of(tree_case *t, trial of, int heights, double peak)
{
    static const double stretches[] = {1, 1.2, 1.4};
    outcome best = {.seconds = INFINITY};
    int least = of.height;
    for (of.height = least; of.height < least + heights; ++of.height)
        for (size_t s = 0; s < sizeof stretches / sizeof *stretches; ++s) {
            outcome now;
            of.stretch = stretches[s];
            PS_TRY(measure(t, &of, peak, &now));
            describe(&now);
            if (now.seconds < best.seconds) best = now;
        }
    report(&best);
    return PS_OK;
}

static ps_status particles(ps_distribution distribution, tree_case *t)
{
    PS_TRY(tree_case_alloc(t, COUNT, 12));
    double *columns[3] = {t->x, t->y, t->z};
    ps_distribution_positions(distribution, 1, 0, COUNT, columns);
    ps_distribution_charges(PS_CHARGES_UNIFORM, 1, 0, 0, COUNT, t->q);
    return PS_OK;
}

static ps_status bench(double peak)
{
    for (int d = 0; d < 2; ++d) {
        PS_SCOPED(tree_case_release) tree_case t = {0};
        ps_distribution distribution = d ? PS_DISTRIBUTION_ELLIPSOID : PS_DISTRIBUTION_CUBE;
        PS_TRY(particles(distribution, &t));
        for (int accuracy = 3; accuracy <= 7; accuracy += 2)
            PS_TRY(best_of(&t, (trial){distribution, accuracy, d ? 8 : 6, 1, PS_DOUBLE}, d ? 2 : 1,
                           peak));
        for (int accuracy = 3; accuracy <= 5; accuracy += 2)
            PS_TRY(best_of(&t, (trial){distribution, accuracy, d ? 8 : 6, 1, PS_SINGLE}, d ? 2 : 1,
                           peak));
    }
    return PS_OK;
}

int main(int argc, char **argv)
{
    omp_set_num_threads(1);
    double peak = peak_flops();
    fprintf(stderr, "peak %.1f GF/s\n", peak / 1e9);
    ps_status status;
    if (argc > 4) {
        tree_case t;
        outcome o;
        trial of = {argv[1][0] == 'c' ? PS_DISTRIBUTION_CUBE : PS_DISTRIBUTION_ELLIPSOID,
                    atoi(argv[2]), atoi(argv[3]), atof(argv[4]), argc > 5 ? PS_SINGLE : PS_DOUBLE};
        status = particles(of.distribution, &t);
        if (status == PS_OK) status = measure(&t, &of, peak, &o);
        if (status == PS_OK) describe(&o);
    } else
        status = bench(peak);
    if (status != PS_OK) fprintf(stderr, "bench_fmm_cpu: %s\n", ps_message());
    return status;
}
