/*
 * The adaptive tree on the cores or a device of each rank (specs/fmm_adaptive.md): whether it is
 * better than the tree of the file, its plan; adaptive_build.c makes it, adaptive_run.c evaluates
 * it.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compute/fmm/adaptive_stretch.h"
#include "formats/store_memory.h"
#include "runtime/comm.h"
#include "runtime/log.h"
#include "runtime/memory.h"
#include "runtime/sizes.h"

/* ---- whether ---- */

/* Whether sums are on a CUDA device, all at once. */
static bool is_for_device(const fmm_run *r)
{
    const char *device = r->run->device;
    if (strcmp(device, "cpu") == 0) return false;
    if (r->left == FMM_LEFT_ADAPTIVE && strcmp(device, "auto") == 0) return false;
    if (r->options->tree == FMM_TREE_AUTO && r->options->resident == FMM_RESIDENT_NO) return false;
    return strncmp(device, "cuda", 4) == 0 || ps_device_count() > 0;
}

/* Whether there is no other tree for the run. */
static bool must_be(const fmm_run *r)
{
    bool unsorted = !r->problem.header->sorted && r->options->tree == FMM_TREE_AUTO;
    return r->options->tree == FMM_TREE_ADAPTIVE || r->left == FMM_LEFT_ADAPTIVE ||
           r->problem.lattice.axes > 0 || !ps_fmm_sum_is_plain(&r->problem.sum) || unsorted;
}

/* Ordered pairs of particles that take as long as an M2L. */
static double m2l_pairs(const fmm_run *r)
{
    int order = r->problem.fmm.interpolation.order;
    return is_for_device(r) ? ps_adaptive_device_m2l_pairs(order) : 0.035 * pow(order, 5);
}

/* The work of the file's tree, in ordered pairs of particles. */
static double uniform_work(const fmm_run *r)
{
    const fmm_problem *p = &r->problem;
    double pairs = 0, far = 0;
    for (int64_t g = 0; g < ps_octree_groups(p->fmm.targets, p->leaf); ++g)
        pairs += (p->same ? 2 : 1) * (double)(p->lists.near_pairs[g] + p->lists.augmented_pairs[g]);
    for (int level = 2; level <= p->leaf; ++level)
        for (int64_t g = 0; g < ps_octree_groups(p->fmm.targets, level); ++g)
            far += (double)p->lists.far_pairs[level][g];
    return pairs + far * m2l_pairs(r);
}

ps_adaptive_costs fmm_adaptive_costs(const fmm_run *r)
{
    double others = is_for_device(r) ? PS_ADAPTIVE_DEVICE_OTHERS : 0;
    return (ps_adaptive_costs){.m2l = llround(m2l_pairs(r) + others),
                               .points = r->problem.fmm.interpolation.points};
}

double fmm_adaptive_forecast(const fmm_run *r)
{
    enum { FLOP = 23 };
    fmm_task pairs = {.kind = FMM_P2P, .flop = FLOP * r->problem.pairs};
    return ps_fmm_sum_passes(&r->problem.sum) * fmm_forecast(&r->problem, &pairs) /
           (r->run->threads * r->problem.ranks);
}

static double adaptive_work(const fmm_run *r)
{
    const ps_adaptive_work *w = &r->adaptive->work;
    double others = is_for_device(r) ? PS_ADAPTIVE_DEVICE_OTHERS : 0;
    return (double)w->direct + (double)w->m2l * (m2l_pairs(r) + others) +
           (double)(w->m2p + w->p2l) * r->problem.fmm.interpolation.points;
}

static int64_t leaf_size_of(const fmm_run *r)
{
    int order = r->problem.fmm.interpolation.order;
    return is_for_device(r) ? ps_adaptive_device_leaf_size(order) : ps_adaptive_leaf_size(order);
}

/* Whether the leaves of the file's tree are so unevenly filled, or its work so large, that an
 * adaptive tree may be better. */
static bool is_uneven(const fmm_run *r)
{
    const fmm_problem *p = &r->problem;
    static const double skew = 4, more = 1.25, much_more = 8;
    enum { FEWEST = 10000 };
    const ps_octree *tree = p->fmm.sources;
    double n = (double)p->header->count[0], squares = 0, leaves = (double)ps_octree_leaves(tree);
    /* pairs of particles for each one, where leaves are even */
    double ideal = 16 * (double)leaf_size_of(r);
    double work = uniform_work(r) / (double)p->header->count[1];
    if (n < FEWEST) return false;
    for (int64_t l = 0; l < ps_octree_leaves(tree); ++l) {
        double held = (double)(tree->particle_start[l + 1] - tree->particle_start[l]);
        squares += held * held;
    }
    return (squares / n > skew * (n / leaves) && work > more * ideal) || work > much_more * ideal;
}

/* Why the adaptive tree cannot be had; NULL: it can. */
static const char *obstacle(const fmm_run *r)
{
    const fmm_options *o = r->options;
    const char *device = r->run->device;
    bool plain = ps_fmm_sum_is_plain(&r->problem.sum);
    if (o->trace || o->mapping)
        return "the adaptive tree has no --trace and --mapping, which are of tasks";
    if (r->left == FMM_LEFT_UNIFORM && o->tree == FMM_TREE_AUTO)
        return "an unfinished run of the tree of the octree is there, and goes on";
    if (is_for_device(r) && (o->checkpoint_every.steps > 0 || r->left != FMM_LEFT_NONE))
        return "on a device an adaptive tree is evaluated at once and nothing of it is kept: "
               "--device cpu keeps what is done";
    if (plain && strcmp(device, "cpu") != 0 && o->resident == FMM_RESIDENT_NO &&
        o->tree == FMM_TREE_AUTO && ps_device_count() > 0)
        return "tasks on cores and GPUs, which --resident no asks for, have that of the octree";
    if (r->problem.header->clamped > 0) return "particles lie outside the box of the octree";
    return NULL;
}

/* ---- the choice ---- */

static void go_uniform(fmm_run *r, const char *why)
{
    r->uniform_because = why;
    ps_info("the uniform tree of the octree is used: %s", why);
    fmm_adaptive_close(r);
}

/* What the host takes for a tree that grows on a device. */
static int64_t traffic_bytes(const fmm_run *r)
{
    return fmm_traffic_staging(r) + r->run->threads * fmm_source_bytes(&r->problem);
}

/* PS_EXHAUSTED if --host-memory does not hold what sorting the particles takes. */
static ps_status check_memory(const fmm_run *r, int64_t bytes)
{
    ps_ledger ledger;
    ps_ledger_open(&ledger, r->run);
    ps_ledger_add(&ledger, PS_ROOM_HOST, "sorting", bytes);
    if (ledger.most[PS_ROOM_HOST] <= r->run->host_memory) return PS_OK;
    return ps_fail(PS_EXHAUSTED,
                   "--tree adaptive keeps all particles in memory: at least %.1f MB are "
                   "needed to sort them, --host-memory is %.1f MB",
                   1e-6 * (double)ledger.most[PS_ROOM_HOST], 1e-6 * (double)r->run->host_memory);
}

/* What several devices cannot do, one can. */
static ps_status refuse_devices(const fmm_run *r, ps_status why)
{
    char because[512];
    snprintf(because, sizeof because, "%s",
             why != PS_OK ? ps_message()
                          : "potentials of charges at their own places, in a box that does not "
                            "repeat, on CUDA devices");
    if (why != PS_OK && why != PS_INVALID && why != PS_EXHAUSTED) return why;
    return ps_fail(why == PS_EXHAUSTED ? PS_EXHAUSTED : PS_USAGE,
                   "--devices %d is for an adaptive tree that grows on each of them: %s; one "
                   "device, and the cores, do without",
                   (int)r->options->devices, because);
}

/* By the host, where the device cannot: because of room it does not help a tree that nobody asked
 * for and that stretches cannot evaluate. */
static ps_status build_on_host(fmm_run *r, ps_status why)
{
    if (r->options->devices > 1) return refuse_devices(r, why);
    bool must = r->options->tree != FMM_TREE_AUTO, can = fmm_stretches_can(r);
    if (why == PS_EXHAUSTED ? !must && !can : why != PS_OK && why != PS_INVALID) return why;
    if (why != PS_OK) ps_info("the host makes the adaptive tree: %s", ps_message());
    ps_status held = check_memory(r, fmm_adaptive_sorting_bytes(&r->problem));
    if (held == PS_OK) return fmm_adaptive_build(r);
    if (held != PS_EXHAUSTED || !can) return held;
    ps_info("the adaptive tree is made and evaluated by stretches: --host-memory does not hold its "
            "particles");
    return fmm_stretches_open(r, false);
}

static ps_status build_somewhere(fmm_run *r)
{
    fmm_adaptive *a = r->adaptive;
    ps_status status = PS_OK;
    double start = ps_clock();
    a->tree.same = r->problem.same;
    a->tree.leaf_size = leaf_size_of(r);
    a->tree.room = ps_grow;
    if (!is_for_device(r)) return build_on_host(r, PS_OK);
    PS_TRY(check_memory(r, traffic_bytes(r)));
    PS_TRY(fmm_adaptive_gpu_open(r->run, fmm_adaptive_costs(r), (int)r->options->devices, &a->gpu));
    if (r->problem.lattice.axes || !ps_fmm_sum_is_plain(&r->problem.sum))
        return build_on_host(r, PS_OK);
    status =
        fmm_adaptive_gpu_grow(r, a->gpu, fmm_adaptive_rule(a, &r->problem), &a->tree, &a->work);
    a->building = ps_clock() - start;
    return status == PS_OK ? PS_OK : build_on_host(r, status);
}

/* Builds the adaptive tree and compares. */
static ps_status compare(fmm_run *r)
{
    static const double clearly = 0.9;
    fmm_problem *p = &r->problem;
    bool must = must_be(r);
    int64_t least = 0;
    /* Before there is another tree in memory. */
    if (r->run->plan && !must && !is_for_device(r) && fmm_run_least(r, &least) != PS_OK) least = 0;
    PS_TRY(PS_ALLOC(&r->adaptive, 1, "the adaptive tree"));
    r->groups = fmm_portions(r);
    r->adaptive->least = least;
    ps_status status = ps_comm_agree(build_somewhere(r));
    if (status == PS_EXHAUSTED && !must) {
        go_uniform(r, is_for_device(r)
                          ? "memory does not hold the particles of an adaptive one"
                          : "--host-memory does not hold the particles of an adaptive one");
        return PS_OK;
    }
    PS_TRY(status);
    double work = adaptive_work(r);
    if (!must && work > clearly * uniform_work(r)) {
        fmm_adaptive_close(r);
        return PS_OK;
    }
    p->pairs = work;
    p->far = r->adaptive->tree.levels > ps_adaptive_far_level(&r->adaptive->tree);
    return PS_OK;
}

/* What wants an adaptive tree. */
static const char *wanted_by(const fmm_run *r)
{
    if (r->problem.lattice.axes) return "--periodic";
    if (r->options->tree == FMM_TREE_ADAPTIVE) return "--tree adaptive";
    if (ps_fmm_sum_is_plain(&r->problem.sum))
        return "particles that no octree has sorted (penstock-octree-build)";
    return fmm_sum_name(r->options, &r->problem);
}

ps_status fmm_adaptive_choose(fmm_run *r)
{
    if (r->adaptive || r->chosen || r->options->tree == FMM_TREE_UNIFORM) return PS_OK;
    r->chosen = true;
    if (!must_be(r) && !is_uneven(r)) return PS_OK;
    const char *why = obstacle(r);
    if (!why) return compare(r);
    if (must_be(r)) return ps_fail(PS_USAGE, "%s: %s: %s", r->run->operands[0], wanted_by(r), why);
    go_uniform(r, why);
    return PS_OK;
}

/* ---- the plan ---- */

ps_status fmm_adaptive_operators(fmm_run *r)
{
    fmm_adaptive *a = r->adaptive;
    /* Of a device's vectors in fp32, too, operators are in fp64. */
    ps_precision precision = a->gpu ? PS_DOUBLE : r->problem.fmm.far;
    for (int i = 0; i < ps_fmm_sum_passes(&r->problem.sum); ++i) {
        fmm_pass_operators *own = &a->pass[i];
        ps_fmm_pass pass = ps_fmm_sum_pass(&r->problem.sum, i);
        ps_fmm_level_set set = {.last = r->problem.far ? a->tree.levels - 1 : 0,
                                .box = &a->tree.box,
                                .tables = own->tables,
                                .factors = own->factors,
                                .own = own->own,
                                .blocks = own->blocks,
                                .mean_rank = own->ranks};
        PS_TRY(fmm_operators_of(r->options, &pass, precision, &r->problem, &set));
    }
    return PS_OK;
}

/* The problem of the order and the precision that hold now; results where there are some. */
static void configure(fmm_adaptive *a, const fmm_problem *p)
{
    ps_adaptive_problem *q = &a->problem;
    q->tree = &a->tree;
    q->rule = fmm_adaptive_rule(a, p);
    q->far = p->fmm.far;
    q->near = p->fmm.near;
    q->interpolation = p->fmm.interpolation;
    fmm_pass_configure(a, p, 0);
}

int64_t fmm_adaptive_taken(const fmm_run *r)
{
    int64_t all = r->problem.header->count[1];
    if (!fmm_adaptive_is_straight(r) && !r->adaptive->stretches) return FMM_ADAPTIVE_PIECE;
    return ps_smaller(ps_fmm_result_chunk_rows(all), all);
}

/* Portions of the targets are kept as they come, on cores, where that was asked for and in runs
 * that will take long: a device is done before a checkpoint is due. */
static void choose_journal(fmm_run *r)
{
    const fmm_options *o = r->options;
    double every = o->checkpoint_every.seconds;
    bool lasts = every > 0 && fmm_adaptive_forecast(r) > every / 2;
    r->keeps = !r->adaptive->gpu && ps_comm_any(o->journal || lasts);
    if (r->adaptive->gpu && r->run->restart && r->attempts == 0)
        ps_info("there is no %s to continue from: beginning", r->journal);
}

static int64_t results_bytes(const fmm_run *r)
{
    int set = fmm_adaptive_last(&r->problem);
    return 8 * ps_fmm_sum_rows(&r->problem.sum) * fmm_adaptive_count(r->adaptive, set);
}

/* All was read: nothing is unpacked any more. */
static int64_t unpacking_bytes(const fmm_run *r)
{
    return r->run->threads * ps_store_reader_bytes(ps_octree_file_store(r->problem.file));
}

/* What the evaluation takes beside what is there since the tree was built, or what building took.
 */
static int64_t evaluation_bytes(const fmm_run *r)
{
    fmm_adaptive *a = r->adaptive;
    const fmm_problem *p = &r->problem;
    int64_t bytes = results_bytes(r), built = ps_memory_peak() - ps_memory_resident();
    if (a->stretches) return fmm_stretches_bytes(r);
    if (a->gpu && a->gpu->grown) return traffic_bytes(r);
    if (a->gpu) /* made in pieces, then whole */
        bytes += 2 * fmm_adaptive_gpu_host_bytes(a->gpu) +
                 ps_larger(fmm_found_bytes(a, p), fmm_adaptive_pieces_bytes(r));
    else
        bytes += fmm_pass_bytes(a, p, r->run->threads) - unpacking_bytes(r);
    return ps_larger(bytes, built);
}

int64_t fmm_adaptive_leaving_bytes(const fmm_run *r)
{
    if (r->adaptive->stretches) return fmm_adaptive_pieces_bytes(r) - unpacking_bytes(r);
    if (r->adaptive->gpu) return evaluation_bytes(r);
    return results_bytes(r) + fmm_adaptive_pieces_bytes(r) - unpacking_bytes(r);
}

int64_t fmm_adaptive_taker_bytes(const fmm_run *r)
{
    bool come = fmm_adaptive_is_straight(r) && r->adaptive->stretches;
    return come ? fmm_stretches_taker_bytes(r) + 8 * fmm_adaptive_taken(r) : 0;
}

int fmm_adaptive_takers(const fmm_run *r)
{
    const fmm_stretches *s = r->adaptive->stretches;
    if (!s) return 0;
    int64_t most = fmm_adaptive_is_straight(r) ? ps_larger(r->writers, 1) : r->run->threads;
    int64_t held = ps_larger(s->room / fmm_stretches_taker_bytes(r), 1);
    return (int)ps_smaller(ps_smaller(most, held), r->run->threads);
}

/* Stretches take all that --host-memory leaves them. */
static ps_status share_with_stretches(fmm_run *r)
{
    enum { PART = 50, SLACK = 4 << 20 }; /* as fmm_share_memory keeps, and of the heap */
    int64_t memory = r->run->host_memory;
    PS_TRY(fmm_stretches_plan(r));
    PS_TRY(fmm_share_memory(r, evaluation_bytes(r), fmm_stretches_device_bytes(r)));
    int64_t least = r->ledger.least, taken = r->ledger.most[PS_ROOM_HOST];
    fmm_stretches_widen(r, memory - memory / PART - SLACK - taken);
    PS_TRY(fmm_share_memory(r, evaluation_bytes(r), fmm_stretches_device_bytes(r)));
    r->ledger.least = least;
    return PS_OK;
}

/* A tree that is in memory, as a whole, becomes one that is evaluated by stretches. */
static ps_status begin_stretches(fmm_run *r, const char *why)
{
    fmm_adaptive *a = r->adaptive;
    ps_info("the adaptive tree is evaluated by stretches: %s", why);
    if (a->gpu && a->gpu->grown) { /* there alone */
        fmm_adaptive_gpu_empty(a->gpu);
        a->gpu->grown = false;
        PS_TRY(build_on_host(r, PS_OK));
    }
    if (!a->stretches) PS_TRY(fmm_stretches_open(r, true));
    configure(a, &r->problem);
    return share_with_stretches(r);
}

static ps_status share_memory(fmm_run *r)
{
    fmm_adaptive *a = r->adaptive;
    int64_t device = 0;
    if (a->stretches) return share_with_stretches(r);
    ps_status status = a->gpu ? fmm_passes_plan(a, &r->problem, &device) : PS_OK;
    if (status == PS_USAGE && !must_be(r))
        status = PS_EXHAUSTED; /* vectors too long for a device */
    if (status == PS_EXHAUSTED && fmm_stretches_can(r))
        return begin_stretches(r, "a device's memory does not hold it as a whole");
    if (status == PS_OK) status = fmm_share_memory(r, evaluation_bytes(r), device);
    if (status != PS_EXHAUSTED || (a->gpu && a->gpu->grown) || !fmm_stretches_can(r)) return status;
    if (r->ledger.most[PS_ROOM_HOST] <= r->run->host_memory) return status; /* it is the disk */
    return begin_stretches(r, "--host-memory does not hold its expansions");
}

ps_status fmm_adaptive_prepare(fmm_run *r)
{
    bool first = r->attempts == 0, must = must_be(r);
    r->groups = fmm_portions(r);
    r->work.problem = &r->problem;
    configure(r->adaptive, &r->problem);
    choose_journal(r);
    bool gpu = r->adaptive->gpu != NULL;
    ps_status status = ps_comm_agree(share_memory(r));
    /* With less --tree auto takes the octree's tree. */
    if (status == PS_OK && r->adaptive->least > 0)
        r->ledger.least = ps_smaller(r->ledger.least, r->adaptive->least);
    if (status != PS_EXHAUSTED || !first || must) return status;
    r->keeps = false;
    go_uniform(r, gpu ? "memory does not hold what an adaptive one takes"
                      : "--host-memory does not hold what an adaptive one takes");
    r->problem.pairs = 0;
    r->problem.far = r->problem.leaf >= 2;
    return PS_OK;
}

bool fmm_adaptive_is_straight(const fmm_run *r)
{
    return r->adaptive && !r->problem.header->sorted;
}

/* ---- after ---- */

void fmm_adaptive_report(const fmm_run *r, ps_report *report)
{
    const fmm_adaptive *a = r->adaptive;
    ps_report_section(report, "adaptive");
    ps_report_int(report, "levels", a->tree.levels);
    ps_report_int(report, "leaf_size", a->tree.leaf_size);
    ps_report_int(report, "leaves", a->tree.leaves);
    ps_report_int(report, "cells", a->tree.cells);
    ps_report_int(report, "ordered_pairs", a->work.direct);
    ps_report_int(report, "m2l_pairs", a->work.m2l);
    ps_report_int(report, "m2p", a->work.m2p);
    ps_report_int(report, "p2l", a->work.p2l);
    if (r->problem.lattice.axes) ps_report_int(report, "images", a->images);
    ps_report_real(report, "work_of_uniform", uniform_work(r) / r->problem.pairs);
    ps_report_real(report, "building", a->building);
    if (a->stretches) fmm_stretches_report(r, report);
    if (a->gpu) fmm_adaptive_gpu_report(a->gpu, r->seconds > 0, report);
    if (a->gpu || r->seconds <= 0) return; /* a plan */
    ps_report_section(report, "stages");
    for (int s = 0; s < PS_ADAPTIVE_STAGES; ++s)
        ps_report_real(report, ps_adaptive_stage_names[s], a->problem.seconds[s]);
}

void fmm_adaptive_leave(fmm_run *r)
{
    fmm_adaptive_empty(r);
    if (r->adaptive && r->adaptive->gpu) fmm_adaptive_gpu_empty(r->adaptive->gpu);
}

/* What is of one attempt. */
void fmm_adaptive_empty(fmm_run *r)
{
    fmm_adaptive *a = r->adaptive;
    if (!a) return;
    fmm_adaptive_shares_release(&a->shares);
    fmm_stretches_empty(a);
    free(a->results);
    a->results = NULL;
}

void fmm_adaptive_close(fmm_run *r)
{
    fmm_adaptive *a = r->adaptive;
    if (!a) return;
    fmm_adaptive_empty(r);
    fmm_stretches_close(a);
    fmm_adaptive_gpu_close(&a->gpu);
    for (int set = 0; set < 2; ++set)
        PS_FREE(a->columns[set], a->tree.sets[set].keys, a->tree.sets[set].order);
    for (int i = 0; i < PS_FMM_PASSES_MAX; ++i) {
        for (int l = 0; l < PS_ADAPTIVE_LEVELS; ++l) free(a->pass[i].blocks[l]);
        free(a->pass[i].periodic);
    }
    PS_FREE(a->inverse, a->tree.twin, a->tree.cell, a->tree.around, a->tree.leaf, a);
    r->adaptive = NULL;
    ps_memory_trim();
}
