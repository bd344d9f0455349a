/*
 * device_name: what --device takes: "auto", "cpu", "cuda", "cuda:N".
 */
#ifndef PS_RUNTIME_DEVICE_NAME_H
#define PS_RUNTIME_DEVICE_NAME_H

#include <stdbool.h>

#include "runtime/status.h"

/* True for "cuda" and "cuda:N"; *ordinal is N, -1 without a number. */
bool ps_device_name_is_cuda(const char *name, int *ordinal);
/* PS_USAGE, with the names there are, if it is none of them. */
ps_status ps_device_name_check(const char *name);

#endif
