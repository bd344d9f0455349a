/*
 * dgtd_local: local steps (kernels/dgtd/local_steps.h) with their memory.
 *
 * Fields of increments are as long as those of the march, as links say where neighbours lie; only
 * pages of elements that take part are touched.
 */
#ifndef PS_STAGE_DGTD_LOCAL_H
#define PS_STAGE_DGTD_LOCAL_H

#include "kernels/dgtd/local_steps.h"

enum { PS_DGTD_LOCAL_ARRAYS = 5 + 6 * PS_DGTD_LOCAL_LEVELS };

typedef struct ps_dgtd_local_steps {
    ps_dgtd_local local;
    void *memory[PS_DGTD_LOCAL_ARRAYS];
    int count;
} ps_dgtd_local_steps;

/* Allocates and fills; field_bytes of a field with its halo. system stays the caller's, and has to
 * be filled; reach of its slots, halo included. PS_EXHAUSTED: no memory, or more media than three
 * states of each can be told apart. */
ps_status ps_dgtd_local_open(ps_dgtd_local_steps *out, const ps_dgtd_system *system,
                             const ps_dgtd_material *materials, const uint8_t *reach, int levels,
                             double dt, int64_t field_bytes);
void ps_dgtd_local_close(ps_dgtd_local_steps *steps);
/* Bytes that these take. */
int64_t ps_dgtd_local_bytes(const ps_dgtd_system *system, const uint8_t *reach, int levels);

#endif
