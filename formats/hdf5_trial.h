/*
 * hdf5_trial: what damaged files make libhdf5 do, done first by a child. libhdf5 1.10 frees what it
 * never set where a link of a "dense" group is damaged; in the child's heap what was never set is
 * no address, so that it is the child that ends.
 */
#ifndef PS_FORMATS_HDF5_TRIAL_H
#define PS_FORMATS_HDF5_TRIAL_H

#include "runtime/status.h"

/* The attempt was PS_OK, was not, or ended the process (or took a minute of its time). */
typedef enum ps_trial_end { PS_TRIAL_HELD, PS_TRIAL_REFUSED, PS_TRIAL_DIED } ps_trial_end;

/* The caller holds the lock of HDF5. `attempt` runs in a child that says nothing, heeds no stop and
 * changes nothing here. PS_EXHAUSTED if no child can be had. */
ps_status ps_hdf5_try(const char *path, ps_status (*attempt)(void *context), void *context,
                      ps_trial_end *out);

#endif
