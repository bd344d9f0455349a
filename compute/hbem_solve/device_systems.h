/*
 * device_systems: the sparse systems of M and of the square-root operator on a CUDA device
 * (kernels/hbem/shifted_device.h), with their memory.
 */
#ifndef PS_HBEM_SOLVE_DEVICE_SYSTEMS_H
#define PS_HBEM_SOLVE_DEVICE_SYSTEMS_H

#include "kernels/hbem/shifted_device.h"

typedef struct device_systems device_systems;

/* Copies the matrix; the device stays borrowed. */
ps_status device_systems_open(ps_device *device, const ps_hbem_sparse *matrix,
                              const ps_shifted_options *options, device_systems **out);
void device_systems_close(device_systems **systems); /* NULL is fine */

/* The solver, and iterations so far. */
ps_shifted_solver device_systems_solver(device_systems *systems);
int64_t device_systems_iterations(const device_systems *systems);

#endif
