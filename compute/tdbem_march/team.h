/*
 * team: the workers of a rank and what they share (Bramas, Coulaud, Sylvand 2014, 5.2): a worker a
 * GPU, and one of all other cores together where that helps. Each has a contiguous interval of the
 * rank's slices and makes partial sums of a group; they are added on the first GPU in the order of
 * the workers, there the group is solved (root.h), and everybody appends it to his past.
 *
 * While the intervals are being balanced the host waits for every group; then the next sweep is
 * enqueued before the host looks at the steps of the last.
 */
#ifndef PS_TDBEM_MARCH_TEAM_H
#define PS_TDBEM_MARCH_TEAM_H

#include "compute/tdbem_march/device_summation.h"
#include "compute/tdbem_march/far.h"
#include "compute/tdbem_march/root.h"
#include "runtime/program.h"
#include "runtime/report.h"
#include "runtime/worker_balance.h"

enum { TEAM_DEVICES = 16 };
struct march;
struct march_options;
struct march_plan;
struct problem;

/* A GPU of the team. */
typedef struct team_device {
    ps_device *device;
    ps_stream *stream;
    ps_event *swept;
    ps_past_window window;
    void *recent; /* [group][unknowns]: the steps to append; the root's own on the first */
    device_summation sums, far, linings[LININGS_MAX];
    int64_t device_memory; /* budget for all of it */
    int64_t far_memory;    /* of which for far tiles */
} team_device;

typedef struct team {
    struct march *march; /* borrowed */
    int devices;
    team_device at[TEAM_DEVICES];
    bool with_cpu;
    tiles cpu_tiles; /* the CPU worker's interval */
    summation cpu;   /* over the host's window */
    int64_t cpu_memory;
    double cpu_seconds; /* of its latest sweep */
    root root;
    void *staging; /* a partial sum of another worker, on the first device */
    void *partial; /* a partial sum in pinned host memory: of the CPU worker, and over ranks */
    ps_worker_balance *balance; /* in slice intervals of the rank's share */
    int64_t far_first;          /* steps done when the far sums were made; -1: never */
    int64_t noted;              /* sweeps whose times are noted */
    int even;                   /* of these the last ones whose times were nearly equal */
} team;

/* The CUDA devices that make this rank's run, out[TEAM_DEVICES] ordinals; none: the CPU does. With
 * PENSTOCK_TEAM=N in the environment the CPU device plays N GPUs (ordinal -1): for tests. */
ps_status team_devices(const ps_run *run, const struct problem *problem, int *out, int *count);

/* Opens everything within `host_memory` bytes for tiles. Collective over no one. */
ps_status team_open(struct march *march, int64_t host_memory, const int *ordinals, int devices,
                    team *out);
void team_close(team *team);

/* Brings all devices to the state that the host has: window, last answers and linings. */
ps_status team_restore(team *team);
/* The past of the first device into the host's window, and the states of linings, for checkpoints
 * and projections. */
ps_status team_save(team *team);

/* Enqueues the sweeps after `done` steps, and makes the CPU worker's. */
ps_status team_sweep(team *team, int64_t done);
/* Enqueues the addition of partial sums, the steps and their appending. Collective over ranks. */
ps_status team_solve(team *team, int64_t done, int64_t count);
/* Once the steps up to `step` have arrived: notes what the sweep before them took in the worker
 * log, and moves the intervals while they are being balanced. */
ps_status team_note_sweep(team *team, int64_t step);
/* The intervals will not move any more. */
bool team_is_settled(const team *team);

/* Of a device's free memory what a run takes: its context grows by itself. */
int64_t team_free_memory(const ps_device_info *info);
/* What the run may take of a device now (ordinal -1: the CPU device): --device-memory, or what it
 * has free. */
ps_status team_device_memory(const ps_run *run, int ordinal, int64_t *out);
/* Adds a section for the GPUs, if any take part. PS_EXHAUSTED if their memory cannot do. */
ps_status team_plan(const ps_run *run, const struct march_options *options, struct problem *problem,
                    const struct march_plan *plan, ps_report *report);
/* Adds a section for each GPU of the rank. */
void team_report(const team *team, ps_report *report);

/* march_run with a team (run_team.c). */
ps_status team_run(struct march *march);

#endif
