#include "compute/fmm/adaptive_stretch.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/memory.h"
#include "runtime/scope.h"
#include "runtime/sizes.h"

static fmm_stretches *stretches_of(const fmm_run *r) { return r->adaptive->stretches; }

static const ps_adaptive_tree *whole_of(const fmm_run *r) { return &r->adaptive->tree; }

static int rows_of(const fmm_run *r) { return ps_fmm_sum_rows(&r->problem.sum); }

bool fmm_stretches_can(const fmm_run *r)
{
    const fmm_problem *p = &r->problem;
    return p->same && p->ranks == 1 && r->options->devices <= 1 && p->lattice.axes == 0 &&
           ps_fmm_sum_is_plain(&p->sum);
}

ps_status fmm_stretches_open(fmm_run *r, bool spill)
{
    fmm_adaptive *a = r->adaptive;
    double start = ps_clock();
    PS_TRY(PS_ALLOC(&a->stretches, 1, "stretches of a tree"));
    PS_TRY(fmm_store_open(r, &a->stretches->store));
    if (spill) return fmm_adaptive_spill(r, &a->stretches->store);
    PS_TRY(fmm_adaptive_sort_out(r, &a->stretches->store));
    a->problem.rule = fmm_adaptive_rule(a, &r->problem);
    a->stretches->building = 8 * a->stretches->store.count;
    ps_status status = ps_adaptive_count(&a->tree, &a->problem.rule, &a->work);
    a->building = ps_clock() - start;
    return status;
}

static void release_stretch(fmm_stretches *s)
{
    PS_FREE(s->columns, s->results, s->vectors);
    s->columns = s->results = NULL;
    s->vectors = NULL;
}

void fmm_stretches_empty(fmm_adaptive *a)
{
    fmm_stretches *s = a->stretches;
    if (!s) return;
    release_stretch(s);
    ps_essential_release(&s->essential);
    PS_FREE(s->workspace, s->need);
    s->workspace = NULL;
    s->need = NULL;
    fmm_sink_close(&s->store.found);
}

void fmm_stretches_close(fmm_adaptive *a)
{
    fmm_stretches_empty(a);
    if (a->stretches) fmm_store_close(&a->stretches->store);
    free(a->stretches);
    a->stretches = NULL;
}

/* ---- what a stretch takes ---- */

/* The problem of the essential tree, in arrays that are not there yet. */
static void set_problem(const fmm_run *r, fmm_stretches *s)
{
    s->problem = r->adaptive->problem;
    s->problem.tree = &s->essential.tree;
}

static int64_t stretch_bytes(const fmm_run *r, fmm_stretches *s)
{
    enum { LISTS = 1000 /* bytes a cell of a device's plan, and of what it is joined from */ };
    int64_t n = ps_essential_particles(&s->essential) + 1;
    set_problem(r, s);
    return ps_essential_bytes(&s->essential) + 8 * n * (s->store.columns + rows_of(r)) +
           ps_adaptive_vector_bytes(&s->problem) +
           (r->adaptive->gpu ? LISTS * s->essential.tree.cells : 0);
}

static int64_t needs_of(const fmm_stretches *s, int64_t first, int64_t end)
{
    int64_t sum = 0;
    for (int64_t n = first; n < end; ++n) sum += s->need[n];
    return sum;
}

void fmm_stretches_widen(fmm_run *r, int64_t bytes)
{
    fmm_stretches *s = stretches_of(r);
    int64_t all = needs_of(s, 0, ps_adaptive_portions(whole_of(r)));
    s->room = ps_smaller(s->room + ps_larger(bytes, 0), ps_larger(all, s->least));
}

int64_t fmm_stretches_bytes(const fmm_run *r)
{
    const fmm_stretches *s = stretches_of(r);
    const ps_adaptive_problem *q = &r->adaptive->problem;
    int64_t threads = r->run->threads, bytes = ps_essential_fixed_bytes(whole_of(r)) + s->room +
                                               ps_adaptive_workspace(q, (int)threads) +
                                               threads * fmm_store_thread_bytes(&s->store, q);
    return ps_larger(bytes, s->building);
}

int64_t fmm_stretches_device_bytes(const fmm_run *r)
{
    const fmm_adaptive_gpu *g = r->adaptive->gpu;
    return g ? ps_smaller(g->most, g->bytes + 2 * stretches_of(r)->room) : 0;
}

/* Portions from one on that certainly fit `room`, at least one. */
static int64_t end_within(const fmm_stretches *s, int64_t first, int64_t end, int64_t room)
{
    int64_t at = first, sum = 0;
    while (at < end && (at == first || sum + s->need[at] <= room)) sum += s->need[at++];
    return at;
}

/* ---- which portions ---- */

typedef ps_status (*essential_maker)(const fmm_run *r, int64_t first, int64_t end);

static ps_status make_below(const fmm_run *r, int64_t first, int64_t end)
{
    ps_fmm_range targets = ps_adaptive_portion_targets(whole_of(r), first, end);
    return ps_essential_below(whole_of(r), targets, &stretches_of(r)->essential);
}

static ps_status make_around(const fmm_run *r, int64_t first, int64_t end)
{
    return ps_essential_around(whole_of(r), &r->adaptive->problem.rule, first, end,
                               &stretches_of(r)->essential);
}

/* Whether the device, where there is one, holds the essential tree that is there. */
static ps_status fits_device(const fmm_run *r, bool *fits, int64_t *bytes)
{
    fmm_stretches *s = stretches_of(r);
    fmm_adaptive_gpu *g = r->adaptive->gpu;
    *fits = true;
    if (!g) return PS_OK;
    PS_TRY(fmm_adaptive_gpu_stretch_plan(g, &s->essential.tree, s->problem.rule, bytes));
    *fits = *bytes <= fmm_stretches_device_bytes(r);
    if (*fits) s->device_largest = ps_larger(s->device_largest, *bytes);
    return PS_OK;
}

/* Half as many portions until the device holds them. */
static ps_status fit(const fmm_run *r, essential_maker make, int64_t first, int64_t *end)
{
    fmm_adaptive_gpu *g = r->adaptive->gpu;
    bool fits;
    int64_t bytes = 0;
    set_problem(r, stretches_of(r));
    PS_TRY(fits_device(r, &fits, &bytes));
    while (!fits && *end - first > 1) {
        *end = first + (*end - first) / 2;
        PS_TRY(make(r, first, *end));
        PS_TRY(fits_device(r, &fits, &bytes));
        stretches_of(r)->fitted = needs_of(stretches_of(r), first, *end);
    }
    if (fits) return PS_OK;
    return ps_fail(PS_EXHAUSTED,
                   "a portion of an adaptive tree takes %.1f MB of a device's memory, and %.1f MB "
                   "are free or allowed; --device cpu does without",
                   1e-6 * (double)bytes, 1e-6 * (double)g->most);
}

/* The essential tree of as many portions of [first, end) as fit: stretches share what is around
 * them, so that more fit than their sum. */
static ps_status next_around(const fmm_run *r, fmm_stretches *s, int64_t first, int64_t end,
                             int64_t *next)
{
    enum { SHARED = 2 };
    /* what a device has held of late, and some more: few are made in vain */
    int64_t most = s->fitted ? s->fitted + s->fitted / 4 : SHARED * s->room;
    *next = end_within(s, first, end, ps_smaller(most, SHARED * s->room));
    PS_TRY(make_around(r, first, *next));
    if (stretch_bytes(r, s) > s->room) {
        *next = end_within(s, first, end, s->room);
        PS_TRY(make_around(r, first, *next));
    }
    return fit(r, make_around, first, next);
}

/* ---- the plan ---- */

/* What each portion takes by itself; returns the one that takes most. */
static ps_status weigh_portions(const fmm_run *r, fmm_stretches *s, int64_t *heaviest)
{
    *heaviest = 0;
    for (int64_t n = 0; n < ps_adaptive_portions(whole_of(r)); ++n) {
        PS_TRY(make_around(r, n, n + 1));
        s->need[n] = stretch_bytes(r, s);
        if (s->need[n] > s->need[*heaviest]) *heaviest = n;
    }
    return PS_OK;
}

/* PS_EXHAUSTED where a device does not hold the portion that takes most. */
static ps_status plan_device(const fmm_run *r, fmm_stretches *s, int64_t heaviest)
{
    fmm_adaptive_gpu *g = r->adaptive->gpu;
    int64_t end = heaviest + 1;
    if (!g) return PS_OK;
    fmm_adaptive_gpu_begin(g);
    PS_TRY(fmm_adaptive_gpu_configure(g, &r->adaptive->problem));
    PS_TRY(make_around(r, heaviest, end));
    return fit(r, make_around, heaviest, &end);
}

ps_status fmm_stretches_plan(fmm_run *r)
{
    fmm_stretches *s = stretches_of(r);
    int64_t heaviest, portions = ps_adaptive_portions(whole_of(r));
    free(s->need);
    PS_TRY(PS_ALLOC(&s->need, portions + 1, "portions"));
    PS_TRY(weigh_portions(r, s, &heaviest));
    s->room = s->least = s->need[heaviest];
    s->fitted = 0;
    PS_TRY(plan_device(r, s, heaviest));
    ps_essential_release(&s->essential);
    ps_memory_trim();
    return PS_OK;
}

/* ---- evaluating ---- */

/* Its particles, and the multipoles that are given. */
static ps_status take(const fmm_run *r, fmm_stretches *s)
{
    int64_t n = ps_essential_particles(&s->essential), sides = r->problem.fmm.sides;
    release_stretch(s);
    s->largest = ps_larger(s->largest, stretch_bytes(r, s));
    PS_TRY(ps_alloc_buffer((void **)&s->columns, 8 * s->store.columns * n + 64, "particles"));
    PS_TRY(ps_alloc_buffer((void **)&s->results, 8 * rows_of(r) * n + 64, "results"));
    PS_TRY(ps_alloc_buffer((void **)&s->vectors, ps_adaptive_vector_bytes(&s->problem) + 64,
                           "multipoles and locals"));
    PS_TRY(fmm_store_gather(&s->store, &s->essential, s->columns));
    s->problem.sources =
        (ps_fmm_particles){.position = {s->columns, s->columns + n, s->columns + 2 * n},
                           .charges = s->columns + 3 * n,
                           .potential = s->results,
                           .gradient = s->results + sides * n,
                           .stride = n};
    return fmm_store_take(&s->store, &s->essential, &s->problem, s->vectors);
}

static void add_seconds(fmm_run *r, const fmm_stretches *s)
{
    for (int stage = 0; stage < PS_ADAPTIVE_STAGES; ++stage)
        r->adaptive->problem.seconds[stage] += s->problem.seconds[stage];
}

/* P2M and M2M of the essential tree that is there. */
static ps_status lift(fmm_run *r, fmm_stretches *s)
{
    fmm_adaptive_gpu *g = r->adaptive->gpu;
    PS_TRY(take(r, s));
    memset(s->problem.seconds, 0, sizeof s->problem.seconds);
    PS_TRY(g ? fmm_adaptive_gpu_stretch(g, s->columns, s->vectors, s->essential.own, NULL)
             : ps_adaptive_multipoles(&s->problem, r->run->threads, s->vectors, s->workspace));
    add_seconds(r, s);
    return fmm_store_keep(&s->store, &s->essential, &s->problem, s->vectors);
}

static ps_status upward(fmm_run *r, fmm_stretches *s)
{
    const ps_adaptive_tree *t = whole_of(r);
    int64_t portions = ps_adaptive_portions(t), count = 0;
    PS_SCOPED_MEMORY int64_t *borders = NULL;
    if (t->levels <= ps_adaptive_far_level(t)) return PS_OK;
    PS_TRY(PS_ALLOC(&borders, portions, "borders of stretches"));
    for (int64_t at = 0, next; at < portions; at = next) {
        next = end_within(s, at, portions, s->room);
        PS_TRY(make_below(r, at, next));
        PS_TRY(fit(r, make_below, at, &next));
        PS_TRY(lift(r, s));
        if (next < portions) borders[count++] = ps_adaptive_portion_targets(t, at, next).end;
    }
    if (count == 0) return PS_OK;
    PS_TRY(ps_essential_above(t, borders, count, &s->essential));
    int64_t one = 1;
    PS_TRY(fit(r, make_below, 0, &one));
    return lift(r, s);
}

/* Results of the stretch's own targets, which are sorted ones from `first` on. */
static ps_status put_found(fmm_stretches *s, int64_t first, const fmm_values *values)
{
    PS_SCOPED_MEMORY int64_t *places = NULL;
    int64_t count = values->count;
    if (count == 0) return PS_OK;
    PS_TRY(ps_alloc_untouched((void **)&places, 8 * count, "places"));
    PS_TRY(fmm_store_places(&s->store, first, count, places));
    return fmm_sink_put(s->store.found, places, values);
}

static ps_status sum_on_cores(fmm_run *r, fmm_stretches *s)
{
    ps_adaptive_evaluation e;
    ps_adaptive_begin(&s->problem, r->run->threads, s->vectors, s->workspace, &e);
    e.given = true;
    PS_TRY(ps_adaptive_evaluate_portions(&e, 0, ps_adaptive_portions(&s->essential.tree)));
    add_seconds(r, s);
    return PS_OK;
}

ps_status fmm_stretches_evaluate(fmm_run *r, int64_t first, int64_t *end)
{
    fmm_stretches *s = stretches_of(r);
    fmm_adaptive_gpu *g = r->adaptive->gpu;
    PS_TRY(next_around(r, s, first, *end, end));
    PS_TRY(take(r, s));
    PS_TRY(g ? fmm_adaptive_gpu_stretch(g, s->columns, s->vectors, s->essential.own, s->results)
             : sum_on_cores(r, s));
    ++s->count;
    ps_fmm_range targets = ps_adaptive_portion_targets(whole_of(r), first, *end);
    int64_t n = ps_essential_particles(&s->essential);
    const fmm_values own = {s->results + s->essential.own.begin, n, ps_adaptive_size(targets)};
    PS_TRY(put_found(s, targets.begin, &own));
    return fmm_adaptive_keep(r, 0, first, *end, &own);
}

static ps_status open_found(fmm_run *r, fmm_stretches *s)
{
    const fmm_problem *p = &r->problem;
    if (s->store.found) return PS_OK;
    return fmm_sink_open(p->header->count[0], &p->sum, 0, r->run->output, &s->store.found);
}

ps_status fmm_stretches_restore(fmm_run *r, ps_fmm_range targets, const double *values)
{
    fmm_stretches *s = stretches_of(r);
    int64_t some = ps_adaptive_size(targets);
    PS_TRY(open_found(r, s));
    return put_found(s, targets.begin, &(fmm_values){values, some, some});
}

ps_status fmm_stretches_run(fmm_run *r)
{
    fmm_stretches *s = stretches_of(r);
    ps_adaptive_problem *q = &r->adaptive->problem;
    PS_TRY(open_found(r, s));
    s->count = 0;
    memset(q->seconds, 0, sizeof q->seconds);
    PS_TRY(ps_alloc_buffer(&s->workspace, ps_adaptive_workspace(q, r->run->threads) + 64,
                           "room for threads"));
    PS_TRY(upward(r, s));
    PS_TRY(fmm_adaptive_batches(r, 0, NULL));
    release_stretch(s);
    ps_essential_release(&s->essential);
    ps_memory_trim();
    return fmm_sink_check(s->store.found);
}

/* ---- direct sums ---- */

static ps_status read_span(void *context, int64_t first, int64_t count, double *columns)
{
    fmm_store *store = context;
    int64_t words = store->columns + 1;
    PS_SCOPED_MEMORY double *records = NULL;
    PS_TRY(ps_alloc_untouched((void **)&records, count * fmm_store_record(store), "sources"));
    PS_TRY(fmm_store_get(store, first, count, records));
    for (int c = 0; c < store->columns; ++c)
        for (int64_t i = 0; i < count; ++i) columns[c * count + i] = records[i * words + c];
    return PS_OK;
}

ps_status fmm_stretches_check(fmm_run *r, fmm_check *check)
{
    const fmm_problem *p = &r->problem;
    return fmm_check_share_from(p, check, p->header->count[0], read_span, &stretches_of(r)->store);
}

/* ---- results in the order of the file ---- */

int64_t fmm_stretches_taker_bytes(const fmm_run *r)
{
    int64_t words = 2 * rows_of(r) + 1 + stretches_of(r)->store.columns;
    return 8 * words * fmm_adaptive_taken(r);
}

ps_status fmm_stretches_take(fmm_run *r, int64_t chunk, fmm_source *source, double *room,
                             double **charges)
{
    const fmm_stretches *s = stretches_of(r);
    int64_t taken = fmm_adaptive_taken(r), first = chunk * taken, rows = rows_of(r);
    int64_t count = ps_smaller(r->problem.header->count[0] - first, taken);
    double *read = room + rows * taken, *columns[PS_PARTICLE_COLUMNS_MAX];
    PS_TRY(fmm_sink_read(s->store.found, chunk, read, room));
    for (int c = 0; c < s->store.columns; ++c) columns[c] = read + c * count;
    *charges = columns[3];
    return fmm_source_read(source, PS_OCTREE_SOURCES, first, count, columns, s->store.columns,
                           NULL);
}

void fmm_stretches_report(const fmm_run *r, ps_report *report)
{
    const fmm_stretches *s = stretches_of(r);
    ps_report_section(report, "stretches");
    ps_report_int(report, "portions", ps_adaptive_portions(whole_of(r)));
    ps_report_int(report, "least", s->least);
    ps_report_int(report, "room", s->room);
    if (r->seconds <= 0) return; /* a plan */
    ps_report_int(report, "evaluated", s->count);
    ps_report_int(report, "largest", s->largest);
    if (s->device_largest) ps_report_int(report, "device_largest", s->device_largest);
    ps_report_int(report, "read", s->store.read);
    ps_report_int(report, "written", s->store.written);
}
