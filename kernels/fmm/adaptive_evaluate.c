#include "kernels/fmm/adaptive_evaluate.h"

#include <omp.h>
#include <string.h>

#include "kernels/fmm/adaptive_operators.h"
#include "runtime/first_failure.h"
#include "runtime/memory.h"
#include "runtime/sizes.h"

const char *const ps_adaptive_stage_names[PS_ADAPTIVE_STAGES] = {"P2M", "encode", "M2L", "P2L",
                                                                 "L2L", "L2P",    "P2P"};

enum { RANGE = 64 /* cells a thread takes at a time */ };

typedef ps_adaptive_scene scene;

typedef struct step {
    ps_adaptive_stage stage;
    ps_adaptive_operator *work;
    int level;
    int64_t first, end, range;
} step;

static ps_status run(const ps_adaptive_evaluation *e, const scene *s, const step *what)
{
    double start = ps_processor_seconds();
    ps_failure failure = {0};
    int64_t ranges = (what->end - what->first + what->range - 1) / what->range;
#pragma omp parallel num_threads(e->threads)
    {
        ps_adaptive_thread r = ps_adaptive_thread_of(s->p, e->workspace, omp_get_thread_num());
#pragma omp for schedule(dynamic, 1)
        for (int64_t i = 0; i < ranges; ++i) {
            int64_t first = what->first + i * what->range,
                    end = first + what->range < what->end ? first + what->range : what->end;
            if (!ps_has_failed(&failure))
                ps_note_failure(&failure, what->work(s, what->level, first, end, &r));
        }
        ps_adaptive_thread_release(&r);
    }
    s->p->seconds[what->stage] += ps_processor_seconds() - start;
    return ps_first_failure(&failure);
}

/* ---- upward, once ---- */

static ps_status lift(const ps_adaptive_evaluation *e, const scene *s)
{
    const ps_adaptive_tree *t = s->t;
    for (int l = t->levels - 1; l >= ps_adaptive_far_level(t); --l)
        PS_TRY(run(e, s,
                   &(step){PS_ADAPTIVE_P2M, ps_adaptive_lift, l, t->level_start[l],
                           t->level_start[l + 1], RANGE}));
    return PS_OK;
}

ps_status ps_adaptive_multipoles(ps_adaptive_problem *p, int threads, void *vectors,
                                 void *workspace)
{
    scene s = ps_adaptive_scene_of(p, vectors);
    ps_adaptive_evaluation e = {.problem = p, .threads = threads, .workspace = workspace};
    return lift(&e, &s);
}

static ps_status upward(ps_adaptive_evaluation *e, const scene *s)
{
    const ps_adaptive_tree *t = s->t;
    int top = ps_adaptive_far_level(t);
    ps_adaptive_clear(s, e->given);
    if (!e->given) PS_TRY(lift(e, s));
    for (int l = top; l < t->levels; ++l) {
        PS_TRY(run(e, s,
                   &(step){PS_ADAPTIVE_ENCODE, ps_adaptive_encode, l, t->level_start[l],
                           t->level_start[l + 1], RANGE}));
        e->done[l] = t->level_start[l];
    }
    return PS_OK;
}

static void beyond(const ps_adaptive_evaluation *e, const scene *s, ps_fmm_range targets)
{
    double start = ps_processor_seconds();
    ps_adaptive_beyond(s, !e->lifted, targets);
    s->p->seconds[PS_ADAPTIVE_M2L] += ps_processor_seconds() - start;
}

/* ---- across and down: cells that have targets of a stretch ---- */

/* Cells of a level that have no locals yet. Stretches come along the Morton order, so that only the
 * first one is shared with the last one. */
static ps_status level_down(ps_adaptive_evaluation *e, const scene *s, int level,
                            ps_fmm_range targets)
{
    ps_fmm_range own = ps_adaptive_cells_of(s->t, level, targets);
    int64_t first = ps_larger(own.begin, e->done[level]), end = own.end;
    if (first >= end) return PS_OK;
    step far = {PS_ADAPTIVE_M2L, ps_adaptive_m2l, level, first, end, PS_FMM_BLOCK},
         near = {PS_ADAPTIVE_P2L, ps_adaptive_p2l, level, first, end, RANGE},
         down = {PS_ADAPTIVE_L2L, ps_adaptive_lower, level, first, end, RANGE};
    PS_TRY(run(e, s, &far));
    PS_TRY(run(e, s, &near));
    if (level > ps_adaptive_far_level(s->t)) PS_TRY(run(e, s, &down));
    e->done[level] = end;
    return PS_OK;
}

/* ---- all of it ---- */

static void clear_results(const scene *s, ps_fmm_range targets)
{
    const ps_fmm_particles *to = s->targets;
    double *rows[] = {to->potential, to->gradient, to->hessian};
    static const int each[] = {1, 3, 6};
    size_t bytes = (size_t)ps_adaptive_size(targets) * sizeof(double);
    for (int kind = 0; kind < 3; ++kind)
        for (int row = 0; rows[kind] && row < each[kind] * s->p->sides; ++row)
            memset(rows[kind] + row * to->stride + targets.begin, 0, bytes);
}

void ps_adaptive_begin(ps_adaptive_problem *p, int threads, void *vectors, void *workspace,
                       ps_adaptive_evaluation *out)
{
    *out = (ps_adaptive_evaluation){
        .problem = p, .threads = threads, .vectors = vectors, .workspace = workspace};
    memset(p->seconds, 0, sizeof p->seconds);
}

ps_status ps_adaptive_evaluate_portions(ps_adaptive_evaluation *e, int64_t first, int64_t end)
{
    scene s = ps_adaptive_scene_of(e->problem, e->vectors);
    const ps_adaptive_tree *t = s.t;
    ps_fmm_range targets = ps_adaptive_portion_targets(t, first, end),
                 leaves = ps_adaptive_portion_leaves(t, first, end);
    bool far = t->levels > ps_adaptive_far_level(t);
    clear_results(&s, targets);
    PS_TRY(run(e, &s, &(step){PS_ADAPTIVE_P2P, ps_adaptive_p2p, 0, first, end, 1}));
    if (far && !e->lifted) PS_TRY(upward(e, &s));
    if (e->problem->periodic) beyond(e, &s, targets);
    e->lifted = true;
    if (!far) return PS_OK;
    for (int l = ps_adaptive_far_level(t); l < t->levels; ++l)
        PS_TRY(level_down(e, &s, l, targets));
    return run(e, &s,
               &(step){PS_ADAPTIVE_L2P, ps_adaptive_l2p, 0, leaves.begin, leaves.end, RANGE});
}

ps_status ps_adaptive_evaluate(ps_adaptive_problem *p, int threads, void *vectors, void *workspace)
{
    ps_adaptive_evaluation e;
    ps_adaptive_begin(p, threads, vectors, workspace, &e);
    return ps_adaptive_evaluate_portions(&e, 0, ps_adaptive_portions(p->tree));
}
