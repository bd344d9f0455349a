/* iteration: the system of a setup with fields, for what is found by applying it. */
#ifndef PS_DGTD_SETUP_ITERATION_H
#define PS_DGTD_SETUP_ITERATION_H

#include "kernels/dgtd/time_step.h"
#include "setup.h"

enum { ITERATION_VECTORS = 3 };
typedef struct iteration {
    ps_dgtd_reference reference;
    ps_dgtd_operators operators;
    ps_dgtd_system system;
    ps_dgtd_power_scratch scratch;
    void *vectors[ITERATION_VECTORS]; /* fields; zero */
} iteration;

/* With `vectors` fields more. Released by the caller in either case. */
ps_status iteration_open(const setup *s, ps_precision precision, int vectors, iteration *out);
void iteration_release(iteration *iteration);

#endif
