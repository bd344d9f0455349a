/*
 * trial: what damaged files make libraries of others do, done first by a child. libhdf5 1.10 frees
 * what it never set where a link of a "dense" group is damaged, libnetcdf writes through the NULL
 * that it got for a count that no file holds; in the child's heap what was never set is no address,
 * so that it is the child that ends.
 */
#ifndef PS_RUNTIME_TRIAL_H
#define PS_RUNTIME_TRIAL_H

#include <stdint.h>

#include "runtime/status.h"

/* The attempt was PS_OK, was not, or ended the process (or was ended at a limit). */
typedef enum ps_trial_end { PS_TRIAL_HELD, PS_TRIAL_REFUSED, PS_TRIAL_DIED } ps_trial_end;

typedef struct ps_trial {
    const char *path; /* of the file, for messages */
    ps_status (*attempt)(void *context);
    void *context;
    int64_t memory; /* bytes of data the child may take; 0: any */
    int seconds;    /* of processor time                        */
} ps_trial;

/* `attempt` runs in a child that says nothing, heeds no stop and changes nothing here. PS_EXHAUSTED
 * if no child can be had. */
ps_status ps_trial_run(const ps_trial *trial, ps_trial_end *out);

#endif
