#include "compute/tdbem_march/far.h"

#include <string.h>

#include "runtime/comm.h"
#include "runtime/scope.h"
#include "runtime/sizes.h"

/* ---- the file ---- */

ps_status far_not_needed(const char *path, const tiles *near)
{
    if (near->k_from > 0)
        return ps_fail(PS_INVALID,
                       "%s holds the lags from %lld on alone, without M^0: it is a far matrix, for "
                       "--far",
                       path, (long long)near->k_from);
    if (near->k_below < near->k_end)
        return ps_fail(PS_INVALID,
                       "%s holds the lags below %lld of %lld alone: give the others with --far",
                       path, (long long)near->k_below, (long long)near->k_end);
    return PS_OK;
}

/* The content hash of the slice matrix that blocks were cut from; "" if they do not say. */
static ps_status slices_hash(const tiles *t, char out[17])
{
    PS_SCOPED_MEMORY ps_input *inputs = NULL;
    int count;
    out[0] = 0;
    PS_TRY(ps_store_list_inputs(tiles_store(t), &inputs, &count));
    for (int i = 0; i < count; ++i)
        if (strcmp(inputs[i].role, "slices") == 0) memcpy(out, inputs[i].content_hash, 17);
    return PS_OK;
}

static ps_status check_lags(const char *path, const char *near_path, const tiles *near,
                            const tiles *far)
{
    if (near->k_from > 0) return far_not_needed(near_path, near);
    if (near->k_below == near->k_end)
        return ps_fail(PS_USAGE, "--far: %s holds all lags by itself", near_path);
    if (far->k_from != near->k_below || far->k_below != far->k_end || far->k_end != near->k_end)
        return ps_fail(PS_INVALID,
                       "%s holds the lags %lld to below %lld, where %s lacks those from %lld to "
                       "below %lld",
                       path, (long long)far->k_from, (long long)far->k_below, near_path,
                       (long long)near->k_below, (long long)near->k_end);
    return PS_OK;
}

static ps_status check_belonging(const char *path, const char *near_path, const tiles *near,
                                 const tiles *far)
{
    char ours[17], theirs[17];
    const ps_slice_header *a = &near->header, *b = &far->header;
    PS_TRY(check_lags(path, near_path, near, far));
    PS_TRY(slices_hash(near, ours));
    PS_TRY(slices_hash(far, theirs));
    if (a->unknowns == b->unknowns && a->formulation == b->formulation &&
        a->combined == b->combined && a->dt == b->dt && a->speed == b->speed &&
        a->precision == b->precision &&
        ps_reflectors_same(&a->mirrors, &b->mirrors, a->speed * a->dt) && strcmp(ours, theirs) == 0)
        return PS_OK;
    return ps_fail(PS_INVALID,
                   "%s and %s were not cut from the same slice matrix (content %s and %s)", path,
                   near_path, theirs, ours);
}

static void join(tiles *near, const tiles *far)
{
    ps_slice_header *a = &near->header;
    const ps_slice_header *b = &far->header;
    a->k_max = ps_larger(a->k_max, b->k_max);
    a->d_max = ps_larger(a->d_max, b->d_max);
    a->nnz += b->nnz;
    near->columns = ps_larger(near->columns, far->columns);
}

ps_status far_open(const char *path, const char *near_path, tiles *near, far_matrix *out)
{
    PS_TRY(tiles_open(path, ps_comm_rank(), ps_comm_size(), &out->tiles));
    ps_status status = check_belonging(path, near_path, near, &out->tiles);
    if (status == PS_OK)
        join(near, &out->tiles);
    else
        far_close(out);
    return status;
}

ps_status far_set_group(far_matrix *far, int64_t wanted, int64_t group)
{
    int64_t most = far->tiles.k_from / group * group;
    if (most == 0)
        return ps_fail(PS_USAGE, "--group %lld: FAR begins with lag %lld, too near for such groups",
                       (long long)group, (long long)far->tiles.k_from);
    if (wanted > most || wanted % group != 0)
        return ps_fail(PS_USAGE,
                       "--far-group %lld: a multiple of the group, %lld, up to %lld expected, as "
                       "FAR begins with lag %lld",
                       (long long)wanted, (long long)group, (long long)most,
                       (long long)far->tiles.k_from);
    far->group = wanted > 0 ? wanted : most;
    return PS_OK;
}

void far_close(far_matrix *far)
{
    tiles_close(&far->tiles);
    far->group = 0;
}

/* ---- the sums ---- */

ps_status far_sums_open(far_matrix *far, const window *past, int64_t memory, far_sums *out)
{
    *out = (far_sums){.group = far->group, .first = -1};
    if (far->group == 0) return PS_OK;
    return summation_open(&far->tiles, past, far->group, memory, 0, &out->summation);
}

void far_sums_close(far_sums *f) { summation_close(&f->summation); }

bool far_sums_due(const far_sums *f, int64_t done)
{
    return f->group > 0 && (f->first < 0 || done % f->group == 0);
}

ps_status far_sums_make(far_sums *f, int64_t done, bool stoppable, bool *stopped)
{
    f->first = done;
    *stopped = false;
    if (done == 0) return PS_OK; /* the past is zero, and so are the sums as they were opened */
    f->summation.stoppable = stoppable;
    ps_status status = summation_sweep(&f->summation);
    *stopped = f->summation.stopped;
    return *stopped ? PS_OK : status;
}

void far_sums_add(const far_sums *f, int64_t step, double *sums)
{
    if (f->group > 0) summation_add(&f->summation, step - f->first - 1, sums);
}
