/* Who the workers are, and what they are given. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compute/tdbem_march/team_internal.h"
#include "runtime/balance.h"
#include "runtime/comm.h"
#include "runtime/log.h"
#include "runtime/sizes.h"

/* ---- who ---- */

/* The first file of the run that GPUs do not take; NULL: none. */
static const char *find_slices(const ps_run *run, const problem *p)
{
    if (!tiles_are_blocks(&p->tiles)) return run->operands[0];
    for (int q = 0; q < p->linings.count; ++q)
        if (!tiles_are_blocks(&p->linings.each[q].tiles)) return p->linings.each[q].path;
    return NULL;
}

ps_status team_devices(const ps_run *run, const problem *p, int *ordinals, int *count)
{
    const char *played = getenv("PENSTOCK_TEAM"), *slices = find_slices(run, p);
    if (played && !slices) {
        *count = (int)fmin(fmax(atoi(played), 0), TEAM_DEVICES);
        for (int d = 0; d < *count; ++d) ordinals[d] = -1;
        return PS_OK;
    }
    PS_TRY(ps_device_list(run->device, ps_comm_local_rank(), ps_comm_local_size(), ordinals,
                          TEAM_DEVICES, count));
    if (*count == 0 || !slices) return PS_OK;
    if (strcmp(run->device, "auto") != 0)
        return ps_fail(PS_USAGE,
                       "--device %s: GPUs take blocks, and %s is a slice matrix: make "
                       "blocks with penstock-slice-block --layout warp",
                       run->device, slices);
    ps_warning("the GPU is left alone: it takes blocks, and %s is a slice matrix "
               "(penstock-slice-block --layout warp makes blocks)",
               slices);
    *count = 0;
    return PS_OK;
}

/* ---- opening ---- */

static ps_status open_balance(team *t)
{
    const tiles *share = problem_swept(t->march->problem);
    bool moves = team_workers(t) > 1;
    ps_worker_balance_config config = {
        .workers = team_workers(t),
        .items = share->intervals,
        .iterations = moves ? t->march->options->balance : 0,
    };
    return ps_worker_balance_open(&config, &t->balance);
}

int64_t team_free_memory(const ps_device_info *info)
{
    return (int64_t)(0.94 * (double)info->memory_free);
}

ps_status team_device_memory(const ps_run *run, int ordinal, int64_t *out)
{
    ps_device *device;
    PS_TRY(ps_device_open_ordinal(ordinal, &device));
    ps_device_info info = ps_device_describe(device);
    ps_device_close(&device);
    *out = team_free_memory(&info);
    if (run->device_memory > 0 && (ordinal < 0 || run->device_memory < *out))
        *out = run->device_memory;
    return PS_OK;
}

static ps_status open_device(team *t, int d, int ordinal)
{
    team_device *at = &t->at[d];
    const march *m = t->march;
    PS_TRY(ps_device_open_ordinal(ordinal, &at->device));
    PS_TRY(ps_stream_open(at->device, &at->stream));
    PS_TRY(ps_event_open(at->device, &at->swept));
    ps_device_info info = ps_device_describe(at->device);
    int64_t free = team_free_memory(&info);
    const tiles *all = &m->problem->tiles;
    int64_t taken = held_capacity(all->held) + placed_device_bytes(all->placed);
    at->device_memory = m->run->device_memory > 0 ? m->run->device_memory - taken : free;
    if (at->device_memory > free && ordinal >= 0)
        return ps_fail(PS_EXHAUSTED, "--device-memory %.1f MB: device %d (%s) has %.1f MB to give",
                       (double)at->device_memory / 1e6, ordinal, info.name, (double)free / 1e6);
    at->window = m->window;
    at->window.data = NULL;
    PS_TRY(ps_device_alloc(at->device, ps_past_window_bytes(&at->window), &at->window.data));
    return ps_fill_zero(at->stream, at->window.data, ps_past_window_bytes(&at->window));
}

static ps_status read_load(const void *context, int64_t n, double *out)
{
    return problem_load(context, n, out, NULL); /* of a file, which needs no workspace */
}

/* The near matrices of all slices, and the root on the first device. */
static ps_status open_root(team *t, int64_t host_memory)
{
    const march *m = t->march;
    problem *p = m->problem;
    ps_near near;
    PS_TRY(near_collect(&p->near, host_memory, &near));
    if (p->assembling) assembling_forget_near(p->assembling, &p->tiles);
    root_config config = {.device = t->at[0].device,
                          .stream = t->at[0].stream,
                          .near = &near,
                          .m0 = &m->solver.m0,
                          .load = &p->load,
                          .read = p->recorded ? read_load : NULL,
                          .read_from = p,
                          .weights = p->weights,
                          .tolerance = p->tolerance,
                          .group = m->options->group,
                          .unsymmetric = p->solver == SOLVER_BICGSTAB};
    ps_status status = root_open(&config, &t->root);
    near_release(&near);
    for (int q = 0; q < p->linings.count && status == PS_OK; ++q) {
        lining *l = &p->linings.each[q];
        PS_TRY(near_collect(&l->near, host_memory, &near));
        status = root_add_lining(&t->root, l, &near);
        near_release(&near);
    }
    return status;
}

static int64_t staging_bytes(const team *t)
{
    int64_t group = t->march->options->group, far = t->march->problem->far.group;
    return t->march->window.unknowns * (far > group ? far : group) * team_item_size(t);
}

static ps_status open_exchange(team *t)
{
    int64_t bytes = t->march->window.unknowns * t->march->options->group * team_item_size(t);
    for (int d = 1; d < t->devices; ++d)
        PS_TRY(ps_device_alloc(t->at[d].device, bytes, &t->at[d].recent));
    t->at[0].recent = t->root.solve.recent;
    if (team_workers(t) > 1)
        PS_TRY(ps_device_alloc(t->at[0].device, staging_bytes(t), &t->staging));
    if (!t->with_cpu && ps_comm_size() == 1) return PS_OK;
    return ps_device_alloc_pinned(t->at[0].device, bytes, &t->partial);
}

/* What a device needs beside tiles. */
static int64_t fixed_bytes(const team *t, int d)
{
    const march *m = t->march;
    const problem *p = m->problem;
    int64_t exchange = m->window.unknowns * m->options->group * team_item_size(t);
    int64_t bytes = ps_past_window_bytes(&m->window) + exchange + staging_bytes(t);
    bytes += (1 + p->linings.count) * device_summation_fixed(&p->tiles.header, m->options->group);
    if (p->far.group > 0) bytes += device_summation_fixed(&p->tiles.header, p->far.group);
    return bytes + (d == 0 ? t->root.bytes : 0);
}

/* Of `left` bytes those for the near tiles of a device: all that they need, as far as a quarter is
 * left for the far ones. */
static int64_t share_of_near(const march *m, int64_t first, int64_t count, int64_t left)
{
    int64_t needed = 0;
    for (int64_t k = first; k < first + count; ++k)
        needed += ps_device_padded(problem_swept(m->problem)->unpacked_bytes[k]);
    needed += needed / 64 + ((int64_t)64 << 20);
    return needed < left - left / 4 ? needed : left - left / 4;
}

/* Of `left` bytes those for some tiles of a run with linings. */
static int64_t share_of(const march *m, const tiles *some, int64_t left)
{
    const problem *p = m->problem;
    double all = (double)tiles_unpacked(problem_swept(m->problem));
    for (int q = 0; q < p->linings.count; ++q)
        all += (double)tiles_unpacked(&p->linings.each[q].tiles);
    return (int64_t)((double)left * (double)tiles_unpacked(some) / all);
}

static ps_status open_sums(team *t, int d, int64_t host_memory)
{
    const march *m = t->march;
    team_device *at = &t->at[d];
    int64_t left = at->device_memory - fixed_bytes(t, d);
    if (left <= 0)
        return ps_fail(PS_EXHAUSTED,
                       "device memory: %.1f MB cannot do; past, near matrices, solver and sums "
                       "take %.1f MB: raise --device-memory or lower --group",
                       (double)at->device_memory / 1e6, (double)fixed_bytes(t, d) / 1e6);
    device_summation_config config = {.device = at->device,
                                      .stream = at->stream,
                                      .share = problem_swept(m->problem),
                                      .window = &at->window,
                                      .group = m->options->group,
                                      .host_memory = host_memory,
                                      .device_memory = left};
    team_interval(t, d, &config.first, &config.count);
    if (m->problem->far.group > 0) {
        int64_t near = share_of_near(m, config.first, config.count, left);
        at->far_memory = left - near;
        config.device_memory = near;
    }
    if (m->problem->linings.count > 0)
        config.device_memory = share_of(m, problem_swept(m->problem), left);
    return device_summation_open(&config, &at->sums);
}

/* Tiles in equal data, which stay where they are; `config` has what the devices have in common
 * with their sums of the matrix. */
static ps_status open_parts(team *t, tiles *share, int64_t group, int64_t host_memory,
                            const int64_t *device_memory,
                            device_summation *(*of)(team_device *, int), int which)
{
    int64_t first[TEAM_DEVICES + 1];
    ps_split_equal(share->unpacked_bytes, share->count, t->devices, first);
    for (int d = 0; d < t->devices; ++d) {
        device_summation_config config = t->at[d].sums.config;
        config.share = share;
        config.group = group;
        config.host_memory = host_memory;
        config.device_memory = device_memory[d];
        config.first = first[d];
        config.count = first[d + 1] - first[d];
        PS_TRY(device_summation_open(&config, of(&t->at[d], which)));
    }
    return PS_OK;
}

static device_summation *far_of(team_device *at, int which) { return &at->far; }
static device_summation *lining_of(team_device *at, int which) { return &at->linings[which]; }

/* The near lags have the memory first. */
static ps_status open_far(team *t, int64_t host_memory)
{
    far_matrix *far = &t->march->problem->far;
    int64_t memory[TEAM_DEVICES];
    if (far->group == 0) return PS_OK;
    for (int d = 0; d < t->devices; ++d) memory[d] = t->at[d].far_memory;
    return open_parts(t, &far->tiles, far->group, host_memory, memory, far_of, 0);
}

/* Matrix and linings share the memory by their sizes, as all are swept equally often. */
static ps_status open_linings(team *t, int64_t host_memory)
{
    const march *m = t->march;
    const void *sums[LININGS_MAX];
    int64_t memory[TEAM_DEVICES];
    for (int q = 0; q < m->problem->linings.count; ++q) {
        tiles *share = &m->problem->linings.each[q].tiles;
        for (int d = 0; d < t->devices; ++d)
            memory[d] = share_of(m, share, t->at[d].device_memory - fixed_bytes(t, d));
        PS_TRY(open_parts(t, share, m->options->group, host_memory, memory, lining_of, q));
        sums[q] = t->at[0].linings[q].sums;
    }
    return root_place_linings(&t->root, sums);
}

static ps_status open_cpu(team *t, int64_t host_memory)
{
    const march *m = t->march;
    int64_t begin, end;
    ps_worker_balance_interval(t->balance, t->devices, &begin, &end);
    t->cpu_tiles = tiles_part(problem_swept(m->problem), begin, end);
    t->cpu_memory = host_memory;
    return summation_open(&t->cpu_tiles, &m->window, m->options->group, host_memory, t->devices,
                          &t->cpu);
}

/* A CPU worker helps where the tiles exceed what the devices hold: then it takes the place of a
 * part of the link. */
static bool wants_cpu(const team *t)
{
    const march *m = t->march;
    const tiles *share = problem_swept(m->problem);
    int64_t held = 0, unpacked = tiles_unpacked(share);
    for (int d = 0; d < t->devices; ++d) held += t->at[d].device_memory - fixed_bytes(t, d);
    switch (m->options->cpu_worker) {
    case CPU_WORKER_ON:
        return true;
    case CPU_WORKER_OFF:
        return false;
    default:
        if (share->held || m->problem->linings.count > 0) return false;
        return unpacked > held;
    }
}

static ps_status open_log(team *t)
{
    char names[TEAM_DEVICES + 1][PS_WORKER_NAME_MAX];
    const char *pointers[TEAM_DEVICES + 1];
    for (int w = 0; w < team_workers(t); ++w) {
        snprintf(names[w], sizeof names[w], w < t->devices ? "gpu%d" : "cpu", w);
        pointers[w] = names[w];
    }
    return ps_worker_log_init(&t->march->workers, team_workers(t), pointers, "tiles");
}

ps_status team_open(march *m, int64_t host_memory, const int *ordinals, int devices, team *t)
{
    memset(t, 0, sizeof *t);
    t->march = m;
    if (m->options->cpu_worker == CPU_WORKER_ON && m->problem->linings.count > 0)
        return ps_fail(PS_USAGE, "--cpu-worker on: the sums of linings are made by devices or by "
                                 "cores, not by both: leave it out, or give --device cpu");
    for (int d = 0; d < devices; ++d) {
        PS_TRY(open_device(t, d, ordinals[d]));
        t->devices = d + 1;
    }
    t->with_cpu = wants_cpu(t);
    t->far_first = -1;
    PS_TRY(open_balance(t));
    PS_TRY(open_root(t, host_memory));
    PS_TRY(open_exchange(t));
    int more = (m->problem->far.group > 0) + m->problem->linings.count;
    int64_t each = host_memory / (team_workers(t) + more * t->devices);
    for (int d = 0; d < devices; ++d) PS_TRY(open_sums(t, d, each));
    PS_TRY(open_far(t, each));
    PS_TRY(open_linings(t, each));
    PS_TRY(open_log(t));
    return t->with_cpu ? open_cpu(t, each) : PS_OK;
}

void team_close(team *t)
{
    for (int d = 0; d < t->devices; ++d) {
        team_device *at = &t->at[d];
        if (at->stream) ps_stream_wait(at->stream);
        device_summation_close(&at->sums);
        device_summation_close(&at->far);
        for (int q = 0; q < LININGS_MAX; ++q) device_summation_close(&at->linings[q]);
        if (d > 0) ps_device_free(at->device, at->recent);
        ps_device_free(at->device, at->window.data);
        ps_event_close(&at->swept);
    }
    if (t->devices > 0) {
        ps_device_free(t->at[0].device, t->staging);
        ps_device_free_pinned(t->at[0].device, t->partial);
    }
    root_close(&t->root);
    summation_close(&t->cpu);
    for (int d = 0; d < t->devices; ++d) {
        ps_stream_close(&t->at[d].stream);
        ps_device_close(&t->at[d].device);
    }
    ps_worker_balance_close(&t->balance);
    memset(t, 0, sizeof *t);
}
