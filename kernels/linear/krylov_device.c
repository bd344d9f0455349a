#include "kernels/linear/krylov_device.h"

#include <math.h>
#include <string.h>

#include "kernels/linear/device_kernels.h"
#include "kernels/linear/krylov_mixed.h"
#include "runtime/device_graph.h"
#include "runtime/sizes.h"

enum { ALIGN = 256, SLOTS = 2 };

typedef struct solver {
    ps_krylov_method method;
    const ps_krylov_device_system *system;
    const ps_krylov_device_control *control;
    ps_krylov_device_pass pass; /* what all passes share */
    ps_krylov_state *copies;    /* [SLOTS], of the state after a graph */
    ps_stream *stream, *side;   /* side: where the host reads copies */
    ps_event *event[SLOTS];
    ps_graph *graph[SLOTS];
    char *vectors;
    int64_t vector_bytes;
} solver;

static int64_t rows_of(const ps_krylov_device_system *system)
{
    return system->stencil ? ps_stencil_rows(system->stencil) : system->matrix->rows;
}

static int64_t vector_bytes(const ps_krylov_device_system *system)
{
    return ps_device_padded(rows_of(system) * (system->precision == PS_SINGLE ? 4 : 8));
}

/* Partial sums of the launch with the most blocks: warps that march a plane each. */
static int64_t partial_bytes(const ps_krylov_device_system *system)
{
    return ps_device_padded(24 * ps_krylov_blocks_cuda(system, rows_of(system), 1));
}

int64_t ps_krylov_device_workspace(ps_krylov_method method, const ps_krylov_device_system *system)
{
    return ps_device_padded((1 + SLOTS) * (int64_t)sizeof(ps_krylov_state)) + ALIGN +
           partial_bytes(system) + ps_krylov_vector_count(method) * vector_bytes(system);
}

static void lay_out(solver *s, void *workspace)
{
    char *at = workspace;
    s->pass.state = (ps_krylov_state *)at;
    s->copies = s->pass.state + 1;
    at += ps_device_padded((1 + SLOTS) * (int64_t)sizeof(ps_krylov_state));
    s->pass.ticket = (unsigned *)at;
    s->pass.partial = (double *)(at + ALIGN);
    at += ALIGN + partial_bytes(s->system);
    s->vectors = at;
    s->vector_bytes = vector_bytes(s->system);
    ps_krylov_lay_out(s->method, at, s->vector_bytes, &s->pass.vectors);
}

/* ---- passes ---- */

static ps_status enqueue(const solver *s, ps_krylov_pass pass)
{
    ps_krylov_device_pass p = s->pass;
    p.pass = pass;
    ps_krylov_product_of(pass, &p.vectors, &p.in, &p.out);
    return ps_krylov_pass_cuda(&p, s->stream);
}

/* Conjugate gradients without a matrix: p and q take turns as the direction. */
static ps_status enqueue_fused(const solver *s, int turn)
{
    ps_krylov_device_pass p = s->pass;
    p.in = turn ? p.vectors.q : p.vectors.p;
    if (!turn) p.vectors.p = p.vectors.q;
    p.pass = PS_CG_DIRECTION;
    PS_TRY(ps_krylov_cg_cuda(&p, s->stream));
    p.pass = PS_CG_ADVANCE;
    return ps_krylov_cg_cuda(&p, s->stream);
}

static bool fused(const solver *s) { return s->method == PS_KRYLOV_CG && s->system->stencil; }

static ps_status enqueue_iteration(const solver *s, int number)
{
    if (fused(s)) return enqueue_fused(s, number % 2);
    ps_krylov_pass pass = ps_krylov_first_pass(s->method);
    while (++pass < PS_KRYLOV_PASSES && !ps_krylov_starts(pass)) PS_TRY(enqueue(s, pass));
    return PS_OK;
}

static ps_status capture(solver *s, int slot)
{
    ps_status status = PS_OK;
    PS_TRY(ps_graph_begin(s->stream));
    for (int i = 0; i < PS_KRYLOV_GRAPH && status == PS_OK; ++i) status = enqueue_iteration(s, i);
    if (status == PS_OK)
        status =
            ps_copy_on_device(s->stream, s->copies + slot, s->pass.state, sizeof *s->pass.state);
    ps_status ended = ps_graph_end(s->stream, &s->graph[slot]);
    return status != PS_OK ? status : ended;
}

/* ---- the solve ---- */

static ps_status start(const solver *s)
{
    ps_krylov_state state;
    ps_krylov_state_begin(s->method, s->control->tolerance, s->control->limit, &state);
    PS_TRY(ps_copy_to_device(s->stream, s->pass.state, &state, sizeof state));
    PS_TRY(ps_fill_zero(s->stream, s->pass.ticket, ALIGN));
    PS_TRY(
        ps_fill_zero(s->stream, s->vectors, ps_krylov_vector_count(s->method) * s->vector_bytes));
    if (s->system->stencil) PS_TRY(ps_krylov_fixed_cuda(s->system, s->stream));
    PS_TRY(enqueue(s, ps_krylov_first_pass(s->method)));
    if (fused(s)) PS_TRY(ps_fill_zero(s->stream, s->pass.vectors.q, s->vector_bytes));
    return PS_OK;
}

static ps_status launch(const solver *s, int slot)
{
    PS_TRY(ps_graph_launch(s->graph[slot], s->stream));
    return ps_event_record(s->event[slot], s->stream);
}

/* The state after the graph of a slot, while the next one runs. */
static ps_status read_state(const solver *s, int slot, ps_krylov_state *out)
{
    PS_TRY(ps_event_wait(s->event[slot], s->side));
    PS_TRY(ps_copy_to_host(s->side, out, s->copies + slot, sizeof *out));
    return ps_stream_wait(s->side);
}

/* Graph after graph until the verdict is there, which is in *state. */
static ps_status iterate(const solver *s, ps_krylov_state *state, ps_krylov_result *result)
{
    ps_status status = launch(s, 0);
    for (int64_t turn = 0; status == PS_OK; ++turn) {
        PS_TRY(launch(s, (turn + 1) % SLOTS));
        PS_TRY(read_state(s, turn % SLOTS, state));
        *result = (ps_krylov_result){state->iterations, state->residual,
                                     state->verdict == PS_KRYLOV_CONVERGED};
        if (s->control->watch)
            status = s->control->watch(s->control->context, state->iterations, state->residual);
        if (status == PS_OK && state->verdict != PS_KRYLOV_RUNNING)
            return ps_stream_wait(s->stream);
    }
    /* what is ahead still uses the vectors */
    ps_status ended = ps_stream_wait(s->stream);
    return status != PS_OK ? status : ended;
}

static ps_status check(const solver *s)
{
    const ps_krylov_device_system *system = s->system;
    if (!system->stencil == !system->matrix || (system->matrix && !system->inverse_diagonal))
        return ps_fail(PS_USAGE, "a system is a matrix with its diagonal, or a stencil");
    if (system->matrix && system->matrix->precision != system->precision)
        return ps_fail(PS_USAGE, "the matrix and the vectors are of two precisions");
    if (!ps_stream_handle(s->stream))
        return ps_fail(PS_FAILED, "the Krylov methods of devices need a CUDA device");
    return PS_OK;
}

static void set_up(solver *s, void *workspace)
{
    s->pass = (ps_krylov_device_pass){.system = s->system, .rows = rows_of(s->system)};
    s->pass.vectors.b = s->system->b;
    s->pass.vectors.x = s->system->x;
    s->pass.vectors.scale = s->system->inverse_diagonal;
    s->pass.planes = s->control->planes;
    if (s->system->stencil && s->pass.planes < 1) {
        ps_device_info info = ps_device_describe(ps_stream_device(s->stream));
        s->pass.planes = ps_stencil_device_planes(s->system->stencil, info.multiprocessors);
    }
    lay_out(s, workspace);
}

static ps_status prepare(solver *s, void *workspace)
{
    ps_device *device = ps_stream_device(s->stream);
    PS_TRY(check(s));
    set_up(s, workspace);
    PS_TRY(ps_stream_open(device, &s->side));
    for (int slot = 0; slot < SLOTS; ++slot) {
        PS_TRY(ps_event_open(device, &s->event[slot]));
        PS_TRY(capture(s, slot));
    }
    return PS_OK;
}

/* Ends with the status; what was enqueued has been waited for. */
static ps_status finish(solver *s, ps_status status)
{
    if (status != PS_OK) (void)ps_stream_wait(s->stream);
    for (int slot = 0; slot < SLOTS; ++slot) {
        ps_graph_close(&s->graph[slot]);
        ps_event_close(&s->event[slot]);
    }
    ps_stream_close(&s->side);
    return status;
}

ps_status ps_krylov_device_solve(ps_krylov_method method, const ps_krylov_device_system *system,
                                 const ps_krylov_device_control *control, void *workspace,
                                 ps_stream *stream, ps_krylov_result *result)
{
    solver s = {.method = method, .system = system, .control = control, .stream = stream};
    ps_krylov_state state;
    *result = (ps_krylov_result){0};
    ps_status status = prepare(&s, workspace);
    if (status == PS_OK) status = start(&s);
    if (status == PS_OK) status = iterate(&s, &state, result);
    if (status == PS_OK) status = ps_krylov_state_judge(&state);
    return finish(&s, status);
}

/* ---- fp32 with residuals in fp64 ---- */

typedef struct mixed {
    const ps_krylov_device_system *wide;
    const ps_krylov_device_control *control;
    ps_krylov_mixed *shared;
    ps_krylov_device_system narrow;
    ps_krylov_device_control inner; /* of the solver in fp32 */
    solver *solver;
    double *product, *sums;     /* device memory */
    int64_t rows, planes, done; /* done: iterations when r was made anew, -1 before the first */
    ps_stream *stream;
} mixed;

static int64_t narrow_bytes(const ps_krylov_device_system *system)
{
    ps_krylov_device_system narrow = *system;
    narrow.precision = PS_SINGLE;
    return ps_krylov_device_workspace(PS_KRYLOV_CG, &narrow);
}

int64_t ps_krylov_device_mixed_workspace(const ps_krylov_device_system *system)
{
    int64_t rows = rows_of(system);
    return ps_device_padded(PS_DOT_BYTES) + ps_device_padded(8 * rows) +
           2 * ps_device_padded(4 * rows) + narrow_bytes(system);
}

/* Residuals of the solver in fp32 are relative to that which it began with. */
static ps_status watch_narrow(void *context, int64_t iteration, double residual)
{
    const mixed *m = context;
    return m->control->watch(m->control->context, iteration,
                             residual * m->shared->first / m->shared->size);
}

static ps_status norm_of(const mixed *m, const void *a, const void *b, double *out)
{
    PS_TRY(b ? ps_vector_device_difference(PS_DOUBLE, m->rows, a, b, m->sums, m->stream)
             : ps_vector_device_dot(PS_DOUBLE, m->rows, a, a, m->sums, m->stream));
    PS_TRY(ps_copy_to_host(m->stream, out, m->sums, sizeof *out));
    PS_TRY(ps_stream_wait(m->stream));
    *out = sqrt(*out);
    return PS_OK;
}

/* r = b - A x, *norm its norm in fp64. */
static ps_status residual_to(const mixed *m, void *r, double *norm)
{
    const ps_krylov_device_system *w = m->wide;
    PS_TRY(
        ps_stencil_device_multiply(PS_DOUBLE, w->stencil, w->x, m->product, m->planes, m->stream));
    PS_TRY(ps_vector_narrow_difference_cuda(m->rows, w->b, m->product, r, m->stream));
    return norm_of(m, w->b, m->product, norm);
}

static ps_status renew(void *context, double *norm)
{
    const mixed *m = context;
    PS_TRY(ps_vector_add_wide_cuda(m->rows, m->narrow.x, m->wide->x, m->stream));
    return residual_to(m, m->solver->pass.vectors.r, norm);
}

/* Two vectors take turns as the direction: graphs begin with it in p. */
static ps_status run(void *context, ps_krylov_state *state)
{
    mixed *m = context;
    const solver *s = m->solver;
    const ps_krylov_vectors *v = &s->pass.vectors;
    ps_krylov_result ignored;
    if (m->done < 0) {
        PS_TRY(start(s));
    } else {
        if ((state->iterations - m->done) % 2)
            PS_TRY(ps_copy_on_device(s->stream, v->p, v->q, 4 * m->rows));
        PS_TRY(ps_copy_to_device(s->stream, s->pass.state, state, sizeof *state));
    }
    m->done = state->iterations;
    return iterate(s, state, &ignored);
}

static ps_status mixed_open(mixed *m, char *memory)
{
    ps_device_info info = ps_device_describe(ps_stream_device(m->stream));
    m->planes = ps_stencil_device_planes(m->wide->stencil, info.multiprocessors);
    m->sums = (double *)memory;
    m->product = (double *)(memory + ps_device_padded(PS_DOT_BYTES));
    m->narrow = *m->wide;
    m->narrow.precision = PS_SINGLE;
    m->narrow.b = (char *)m->product + ps_device_padded(8 * m->rows);
    m->narrow.x = (char *)m->narrow.b + ps_device_padded(4 * m->rows);
    m->inner = *m->control;
    if (m->control->watch) m->inner.watch = watch_narrow, m->inner.context = m;
    PS_TRY(ps_fill_zero(m->stream, m->sums, PS_DOT_BYTES));
    PS_TRY(ps_fill_zero(m->stream, m->narrow.x, 4 * m->rows));
    PS_TRY(ps_krylov_fixed_cuda(m->wide, m->stream));
    PS_TRY(norm_of(m, m->wide->b, NULL, &m->shared->size));
    return residual_to(m, (void *)m->narrow.b, &m->shared->first);
}

ps_status ps_krylov_device_mixed(const ps_krylov_device_system *system,
                                 const ps_krylov_device_control *control, void *workspace,
                                 ps_stream *stream, ps_krylov_result *result)
{
    ps_krylov_mixed shared = {.tolerance = control->tolerance, .run = run, .renew = renew};
    mixed m = {.wide = system, .control = control, .shared = &shared, .done = -1, .stream = stream};
    solver s = {.method = PS_KRYLOV_CG, .system = &m.narrow, .control = &m.inner, .stream = stream};
    ps_krylov_state state;
    *result = (ps_krylov_result){0};
    if (!system->stencil || system->stencil->free[0] || system->stencil->free[1] ||
        system->precision != PS_DOUBLE)
        return ps_fail(PS_USAGE, "P-CG in fp32 with residuals in fp64 is for a stencil without "
                                 "free faces, whose vectors are in fp64");
    if (!ps_stream_handle(stream))
        return ps_fail(PS_FAILED, "the Krylov methods of devices need a CUDA device");
    m.rows = rows_of(system);
    m.solver = &s;
    shared.context = &m;
    shared.diagonal = system->stencil->plane[0][0][0];
    PS_TRY(mixed_open(&m, (char *)workspace + narrow_bytes(system)));
    if (ps_krylov_mixed_begin(&shared, control->limit, &state, result)) return PS_OK;
    m.inner.tolerance = state.tolerance;
    ps_status status = prepare(&s, workspace);
    if (status == PS_OK) status = ps_krylov_mixed_solve(&shared, &state, result);
    return finish(&s, status);
}
