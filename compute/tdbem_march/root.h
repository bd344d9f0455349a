/*
 * root: the device that makes the steps of a group from its sums: loads, radiation and the solves
 * with M^0, for all ranks alike. Everything of a run lies on the device; a group goes through
 * without the host (kernels/tdbem/group_solve.h), which gets the steps afterwards.
 *
 * Every rank's root holds all near matrices, whoever owns their slices, so that a group needs one
 * sum over ranks.
 */
#ifndef PS_TDBEM_MARCH_ROOT_H
#define PS_TDBEM_MARCH_ROOT_H

#include "compute/tdbem_march/lining.h"
#include "compute/tdbem_march/solve.h"
#include "kernels/tdbem/group_solve.h"
#include "kernels/tdbem/load.h"
#include "kernels/tdbem/load_device.h"

/* Loads of step n; out[unknowns] in host memory. */
typedef ps_status ps_load_reader(const void *context, int64_t n, double *out);

typedef struct root_config {
    ps_device *device;
    ps_stream *stream;
    const ps_near *near; /* of all slices; not needed after opening */
    const ps_csr *m0;    /* borrowed for as long as the root lives */
    const ps_load *load;
    ps_load_reader *read; /* loads that come from the host instead; NULL: none */
    const void *read_from;
    const double *weights; /* [unknowns] for the mean */
    double tolerance;
    int64_t group;
    bool unsymmetric; /* M^0 is, of the combined field equation or with linings */
} root_config;

enum { ROOT_PIECES = 16 + 6 * LININGS_MAX };

typedef struct root {
    ps_device *device;
    ps_stream *stream;
    int64_t unknowns, group;
    ps_precision precision;
    ps_group_solve solve;                 /* device pointers */
    ps_group_lining linings[LININGS_MAX]; /* device pointers, to be placed there themselves */
    ps_device_load load;
    double *load_work;
    ps_load_reader *read;
    const void *read_from;
    void *host_loads;          /* [group][unknowns], pinned, where they are read */
    double *loads;             /* [group][unknowns] on the device */
    void *pieces[ROOT_PIECES]; /* all device memory */
    int piece_count;
    int64_t bytes;            /* their sum */
    void *recent;             /* [group][unknowns], pinned host memory: steps of the latest group */
    ps_group_step *steps;     /* [group], pinned */
    ps_event *done, *laps[3]; /* copied to the host; before loads, radiation with solves, after   */
} root;

ps_status root_open(const root_config *config, root *out);
void root_close(root *root);

/* Adds a part that gives way, at rest; near: of all its slices, not needed afterwards. */
ps_status root_add_lining(root *root, const lining *lining, const ps_near *near);
/* Once all are there: sums[linings], on the device, laid out as those of M. */
ps_status root_place_linings(root *root, const void *const *sums);
/* The states of all of them, in host memory, one after the other. */
ps_status root_get_states(const root *root, double *states);
ps_status root_set_states(root *root, const double *states);

/* Enqueues the steps n0 .. n0+count-1 from sums[unknowns][stride] on the device, and their copy to
 * `recent` and `steps` in host memory. */
ps_status root_solve(root *root, const void *sums, int64_t stride, int64_t n0, int64_t count);
/* Waits until those are in host memory. */
ps_status root_wait(root *root);
/* Of the latest group, once waited for: seconds of loads, and of radiation with solves. */
ps_status root_seconds(const root *root, double *load, double *solve);
/* The two answers before the next group, newest first, as fp64 in host memory. */
ps_status root_set_last(root *root, const double *newest, const double *before);
/* Notes a step in the figures of the run; PS_FAILED, with advice, as solver_step. */
ps_status root_note(const ps_group_step *step, int64_t n, double tolerance, figures *figures);

#endif
