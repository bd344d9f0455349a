/*
 * device_systems: the sparse systems of M and of the square-root operator on a CUDA device, with
 * their memory: by iterations (kernels/linear/shifted_device.h), those of the operator also by
 * factors that are made there (kernels/hbem/factor_device.h).
 */
#ifndef PS_HBEM_SOLVE_DEVICE_SYSTEMS_H
#define PS_HBEM_SOLVE_DEVICE_SYSTEMS_H

#include "kernels/linear/shifted_device.h"

typedef struct device_systems device_systems;

/* Copies the matrix; the device stays borrowed. */
ps_status device_systems_open(ps_device *device, const ps_pencil *matrix,
                              const ps_shifted_options *options, device_systems **out);
void device_systems_close(device_systems **systems); /* NULL is fine */

/* Makes factors for these shifts. PS_EXHAUSTED where the device has no room; errors as
 * ps_factor_device_make. */
ps_status device_systems_factorise(device_systems *systems, int count, const double (*shifts)[2]);

/* Bytes on the device that stay, and those of the factors among them. */
int64_t device_systems_bytes(const device_systems *systems);
int64_t device_systems_factor_bytes(const device_systems *systems);

/* The iterative solver, the one that has factors (it combines only), and iterations so far. */
ps_shifted_solver device_systems_solver(device_systems *systems);
ps_shifted_solver device_systems_factors(device_systems *systems);
int64_t device_systems_iterations(const device_systems *systems);

#endif
