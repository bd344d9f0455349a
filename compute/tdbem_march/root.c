#include "compute/tdbem_march/root.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/common/reals.h"
#include "kernels/tdbem/near_pack.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

enum { ITERATIONS_MAX = 2000 };

/* ---- memory of the device, taken piece by piece ---- */

static ps_status take(root *r, int64_t bytes, void *out)
{
    void *piece;
    if (r->piece_count == ROOT_PIECES) return ps_fail(PS_FAILED, "internal error: a root's pieces");
    PS_TRY(ps_device_alloc(r->device, bytes, &piece));
    r->pieces[r->piece_count++] = piece;
    r->bytes += bytes;
    *(void **)out = piece;
    return PS_OK;
}

/* Takes memory for `bytes` and fills it from the host. */
static ps_status take_copy(root *r, const void *host, int64_t bytes, void *out)
{
    PS_TRY(take(r, bytes, out));
    PS_TRY(ps_copy_to_device(r->stream, *(void **)out, host, bytes));
    return ps_stream_wait(r->stream);
}

/* ---- near matrices ---- */

static ps_status pack_near(root *r, ps_near_packing *packing, ps_packed_near *packed)
{
    PS_SCOPED_MEMORY void *host = NULL;
    void *device;
    PS_TRY(ps_near_packing_measure(packing, packed));
    int64_t bytes = ps_packed_near_bytes(packed);
    PS_TRY(ps_alloc_buffer(&host, bytes, "the packed near matrices"));
    ps_packed_near_attach(packed, host);
    ps_near_packing_fill(packing, packed);
    PS_TRY(take_copy(r, host, bytes, &device));
    ps_packed_near_attach(packed, device);
    return PS_OK;
}

static ps_status open_near(root *r, const ps_near *near, ps_packed_near *out)
{
    PS_SCOPED_MEMORY void *scratch = NULL;
    PS_SCOPED_MEMORY int64_t *tally = NULL;
    int threads = ps_processor_count();
    int64_t warps = (near->unknowns + PS_NEAR_ROWS - 1) / PS_NEAR_ROWS;
    PS_TRY(ps_alloc(&scratch, threads * ps_near_packing_scratch(near->unknowns), 1,
                    "packing near matrices"));
    PS_TRY(PS_ALLOC(&tally, 2 * (warps + 1), "packing near matrices"));
    ps_near_packing packing = {
        .near = near, .threads = threads, .scratch = scratch, .tally = tally};
    return pack_near(r, &packing, out);
}

/* ---- opening ---- */

static ps_status pack_m0(root *r, const ps_csr *m0, int32_t *scratch)
{
    PS_SCOPED_MEMORY void *host = NULL;
    ps_packed_m0 *packed = &r->solve.m0;
    void *device;
    PS_TRY(ps_packed_m0_measure(m0, scratch, packed));
    int64_t bytes = ps_packed_m0_bytes(packed);
    PS_TRY(ps_alloc_untouched(&host, bytes, "the packed M^0"));
    ps_packed_m0_attach(packed, host);
    ps_packed_m0_fill(m0, scratch, packed);
    PS_TRY(take_copy(r, host, bytes, &device));
    ps_packed_m0_attach(packed, device);
    return PS_OK;
}

static ps_status open_m0(root *r, const ps_csr *m0)
{
    PS_SCOPED_MEMORY double *scale = NULL;
    PS_SCOPED_MEMORY int32_t *scratch = NULL;
    r->solve.rows = m0;
    PS_TRY(PS_ALLOC(&scale, m0->rows, "the solver"));
    PS_TRY(PS_ALLOC(&scratch, m0->rows, "the solver"));
    PS_TRY(solver_diagonal(m0, scale));
    PS_TRY(take_copy(r, scale, m0->rows * 8, &r->solve.scale));
    return pack_m0(r, m0, scratch);
}

static ps_status open_load(root *r, const ps_load *load)
{
    PS_SCOPED_MEMORY void *host = NULL;
    void *device;
    r->load = ps_device_load_shape(load);
    int64_t bytes = ps_device_load_bytes(&r->load);
    PS_TRY(ps_alloc_untouched(&host, bytes, "the geometry of loads"));
    ps_device_load_attach(&r->load, host);
    ps_device_load_fill(load, &r->load);
    PS_TRY(take_copy(r, host, bytes, &device));
    ps_device_load_attach(&r->load, device);
    PS_TRY(take(r, ps_device_load_workspace(&r->load, r->group), &r->load_work));
    return take(r, r->group * r->unknowns * 8, &r->loads);
}

static ps_status open_vectors(root *r, const double *weights)
{
    ps_group_solve *s = &r->solve;
    int64_t rows = r->unknowns, item = ps_real_bytes(r->precision);
    PS_TRY(take_copy(r, weights, rows * 8, &s->weights));
    for (int i = 0; i < 2; ++i) {
        PS_TRY(take(r, rows * 8, &s->last[i]));
        PS_TRY(ps_fill_zero(r->stream, s->last[i], rows * 8));
    }
    PS_TRY(take(r, r->group * rows * item, &s->recent));
    PS_TRY(take(r, ps_group_solve_workspace(rows, r->group, s->m0.halo_count), &s->workspace));
    PS_TRY(take(r, r->group * (int64_t)sizeof *s->steps, &s->steps));
    PS_TRY(ps_device_alloc_pinned(r->device, r->group * rows * item, &r->recent));
    return ps_device_alloc_pinned(r->device, r->group * (int64_t)sizeof *r->steps,
                                  (void **)&r->steps);
}

ps_status root_open(const root_config *config, root *out)
{
    memset(out, 0, sizeof *out);
    out->device = config->device;
    out->stream = config->stream;
    out->unknowns = config->near->unknowns;
    out->group = config->group;
    out->precision = config->near->precision;
    PS_TRY(ps_event_open(out->device, &out->done));
    for (int e = 0; e < 3; ++e) PS_TRY(ps_event_open(out->device, &out->laps[e]));
    PS_TRY(open_near(out, config->near, &out->solve.near));
    PS_TRY(open_m0(out, config->m0));
    PS_TRY(open_load(out, config->load));
    out->read = config->read;
    out->read_from = config->read_from;
    if (out->read)
        PS_TRY(
            ps_device_alloc_pinned(out->device, out->group * out->unknowns * 8, &out->host_loads));
    PS_TRY(open_vectors(out, config->weights));
    ps_group_solve *s = &out->solve;
    s->unknowns = out->unknowns;
    s->group = out->group;
    s->precision = out->precision;
    s->loads = out->loads;
    s->tolerance = config->tolerance;
    s->unsymmetric = config->unsymmetric;
    s->limit = ITERATIONS_MAX;
    return PS_OK;
}

void root_close(root *r)
{
    if (!r->device) return;
    for (int p = 0; p < r->piece_count; ++p) ps_device_free(r->device, r->pieces[p]);
    ps_device_free_pinned(r->device, r->recent);
    ps_device_free_pinned(r->device, r->steps);
    ps_device_free_pinned(r->device, r->host_loads);
    ps_event_close(&r->done);
    for (int e = 0; e < 3; ++e) ps_event_close(&r->laps[e]);
    memset(r, 0, sizeof *r);
}

/* ---- linings ---- */

static ps_status copy_csr(root *r, const ps_csr *from, ps_csr *out)
{
    *out = (ps_csr){.rows = from->rows, .nnz = from->nnz};
    PS_TRY(take_copy(r, from->row_start, (from->rows + 1) * (int64_t)sizeof *from->row_start,
                     &out->row_start));
    PS_TRY(take_copy(r, from->columns, from->nnz * (int64_t)sizeof *from->columns, &out->columns));
    return take_copy(r, from->values, from->nnz * (int64_t)sizeof *from->values, &out->values);
}

static int64_t state_bytes(const root *r, int q)
{
    return r->linings[q].filter.states * r->unknowns * (int64_t)sizeof(double);
}

ps_status root_add_lining(root *r, const lining *from, const ps_near *near)
{
    int q = r->solve.lining_count;
    ps_group_lining *l = &r->linings[q];
    l->filter = from->filter;
    PS_TRY(open_near(r, near, &l->near));
    PS_TRY(copy_csr(r, &from->m0, &l->m0));
    PS_TRY(take(r, ps_group_lining_workspace(r->unknowns), &l->w));
    if (l->filter.states > 0) PS_TRY(take(r, state_bytes(r, q), &l->state));
    PS_TRY(ps_fill_zero(r->stream, l->state, state_bytes(r, q)));
    ++r->solve.lining_count;
    return PS_OK;
}

ps_status root_place_linings(root *r, const void *const *sums)
{
    int count = r->solve.lining_count;
    for (int q = 0; q < count; ++q) r->linings[q].sums = sums[q];
    if (count == 0) return PS_OK;
    return take_copy(r, r->linings, count * (int64_t)sizeof *r->linings, (void *)&r->solve.linings);
}

ps_status root_get_states(const root *r, double *states)
{
    for (int q = 0; q < r->solve.lining_count; ++q) {
        PS_TRY(ps_copy_to_host(r->stream, states, r->linings[q].state, state_bytes(r, q)));
        states += r->linings[q].filter.states * r->unknowns;
    }
    return ps_stream_wait(r->stream);
}

ps_status root_set_states(root *r, const double *states)
{
    for (int q = 0; q < r->solve.lining_count; ++q) {
        PS_TRY(ps_copy_to_device(r->stream, r->linings[q].state, states, state_bytes(r, q)));
        states += r->linings[q].filter.states * r->unknowns;
    }
    return ps_stream_wait(r->stream);
}

/* ---- groups ---- */

/* What was read for the group before has been copied: its steps were waited for. */
static ps_status make_loads(root *r, int64_t n0, int64_t count)
{
    if (!r->read) return ps_device_load_run(&r->load, n0, count, r->loads, r->load_work, r->stream);
    double *rows = r->host_loads;
    for (int64_t g = 0; g < count; ++g)
        PS_TRY(r->read(r->read_from, n0 + g, rows + g * r->unknowns));
    return ps_copy_to_device(r->stream, r->loads, rows, count * r->unknowns * 8);
}

ps_status root_solve(root *r, const void *sums, int64_t stride, int64_t n0, int64_t count)
{
    ps_group_solve *s = &r->solve;
    s->sums = sums;
    s->sums_stride = stride;
    s->count = count;
    PS_TRY(ps_event_record(r->laps[0], r->stream));
    PS_TRY(make_loads(r, n0, count));
    PS_TRY(ps_event_record(r->laps[1], r->stream));
    PS_TRY(ps_group_solve_run(s, r->stream));
    PS_TRY(ps_event_record(r->laps[2], r->stream));
    PS_TRY(ps_copy_to_host(r->stream, r->recent, s->recent,
                           count * r->unknowns * ps_real_bytes(r->precision)));
    PS_TRY(ps_copy_to_host(r->stream, r->steps, s->steps, count * (int64_t)sizeof *s->steps));
    return ps_event_record(r->done, r->stream);
}

ps_status root_wait(root *r) { return ps_event_sync(r->done); }

ps_status root_seconds(const root *r, double *load, double *solve)
{
    PS_TRY(ps_event_seconds(r->laps[0], r->laps[1], load));
    return ps_event_seconds(r->laps[1], r->laps[2], solve);
}

ps_status root_set_last(root *r, const double *newest, const double *before)
{
    PS_TRY(ps_copy_to_device(r->stream, r->solve.last[0], newest, r->unknowns * 8));
    PS_TRY(ps_copy_to_device(r->stream, r->solve.last[1], before, r->unknowns * 8));
    return ps_stream_wait(r->stream);
}

/* ---- figures ---- */

ps_status root_note(const ps_group_step *step, int64_t n, double tolerance, figures *f)
{
    PS_TRY(solver_note_load(n, step->load, step->response, step->right, f));
    if (step->state == PS_GROUP_NOT_CONVERGED)
        return solver_not_converged(n, step->residual, (int64_t)step->iterations, tolerance);
    f->iterations += step->iterations;
    f->iterations_max = fmax(f->iterations_max, step->iterations);
    ++f->solves;
    f->mean = step->mean;
    f->mean_largest = fmax(f->mean_largest, fabs(step->mean));
    return solver_note_answer(n, step->largest, f);
}
