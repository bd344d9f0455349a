/* resident_case: an evaluation on one device (kernels/fmm/device_evaluate.h) with its particles,
 * operators, memory, streams and events. */
#ifndef PS_TESTS_SUPPORT_RESIDENT_CASE_H
#define PS_TESTS_SUPPORT_RESIDENT_CASE_H

#include <stdlib.h>

#include "kernels/fmm/device_evaluate.h"
#include "tests/support/fmm_case.h"

/* Particles on the host, as the caller has them: columns x, y, z and charges of each side; targets
 * x, y, z. */
typedef struct resident_particles {
    int64_t count;
    const double *columns; /* [3 + sides][count] or [3][count] */
} resident_particles;

typedef struct resident_case {
    ps_fmm_resident resident;
    ps_device *device;
    ps_stream *streams[2];
    ps_event *forked, *met, *marks[PS_FMM_RESIDENT_MARKS];
    ps_fmm_device_table tables[PS_OCTREE_LEVELS_MAX];
    void *table_blocks[PS_OCTREE_LEVELS_MAX];
    double *columns[2], *results; /* on the device: as the caller has them */
    ps_fmm_particles sets[2];
    void *blocks[2];
    int64_t block_bytes[2];
    int sides;
    bool one; /* a table for all levels */
} resident_case;

static inline void resident_case_release(resident_case *c)
{
    if (!c->device) return;
    for (int l = 0; l < PS_OCTREE_LEVELS_MAX; ++l) ps_device_free(c->device, c->table_blocks[l]);
    void *memory[] = {c->columns[0], c->columns[1], c->results, c->blocks[0], c->blocks[1]};
    for (int i = 0; i < 5; ++i) ps_device_free(c->device, memory[i]);
    for (int e = 0; e < PS_FMM_RESIDENT_MARKS; ++e) ps_event_close(&c->marks[e]);
    ps_event_close(&c->forked);
    ps_event_close(&c->met);
    for (int s = 0; s < 2; ++s) ps_stream_close(&c->streams[s]);
    ps_device_close(&c->device);
}

static inline ps_status resident_case_table(resident_case *c, const ps_fmm_m2l_table *table,
                                            int level)
{
    int64_t bytes = ps_fmm_device_table_bytes(table);
    void *block;
    ps_device_free(c->device, c->table_blocks[level]);
    c->table_blocks[level] = NULL;
    PS_TRY(ps_alloc(&block, bytes, 1, "operators for the device"));
    ps_status status = ps_fmm_device_table_pack(table, block, &c->tables[level]);
    if (status == PS_OK) status = ps_device_alloc(c->device, bytes, &c->table_blocks[level]);
    if (status == PS_OK)
        status = ps_copy_to_device(c->streams[0], c->table_blocks[level], block, bytes);
    if (status == PS_OK) status = ps_stream_wait(c->streams[0]);
    c->tables[level].block = c->table_blocks[level];
    free(block);
    return status;
}

/* Operators of a method: of all levels of a box, or of all boxes if the kernel has a degree. */
static inline ps_status resident_case_operators(resident_case *c, const fmm_options *options,
                                                const ps_octree_box *box, int height)
{
    fmm_case host = {0};
    fmm_options o = *options;
    int degree;
    ps_fmm_resident *r = &c->resident;
    c->one = ps_fmm_kernel_degree(o.function.kernel, &degree);
    r->method = (ps_fmm_device_method){
        .sides = c->sides, .far = o.far, .near = o.near, .function = o.function};
    PS_TRY(ps_fmm_interpolation_init(&r->method.interpolation, o.order));
    o.far = PS_DOUBLE; /* operators of vectors in fp32, too */
    if (o.epsilon == 0) o.epsilon = pow(10, -o.order);
    ps_status status = fmm_case_tables(&host, &o, box, c->one ? 3 : height);
    for (int l = 2; l < (c->one ? 3 : height) && status == PS_OK; ++l)
        status = resident_case_table(c, &host.tables[l], l);
    for (int l = 0; l < PS_OCTREE_LEVELS_MAX; ++l) free(host.blocks[l]);
    return status;
}

/* Copies particles to the device; sets[1].count 0: targets are the sources. */
static inline ps_status resident_case_particles(resident_case *c, const resident_particles *sets,
                                                int sides)
{
    ps_fmm_resident *r = &c->resident;
    int last = sets[1].count > 0;
    c->sides = sides;
    for (int s = 0; s <= last; ++s) {
        int64_t n = sets[s].count, bytes = (s ? 3 : 3 + sides) * n * 8;
        PS_TRY(ps_device_alloc(c->device, bytes, (void **)&c->columns[s]));
        PS_TRY(ps_copy_to_device(c->streams[0], c->columns[s], sets[s].columns, bytes));
        double *x = c->columns[s];
        c->sets[s] = (ps_fmm_particles){
            .position = {x, x + n, x + 2 * n}, .charges = s ? NULL : x + 3 * n, .stride = n};
        r->count[s] = n;
    }
    PS_TRY(ps_device_alloc(c->device, 4 * sides * r->count[last] * 8, (void **)&c->results));
    c->sets[last].potential = c->results;
    c->sets[last].gradient = c->results + sides * r->count[last];
    return ps_stream_wait(c->streams[0]);
}

static inline ps_status resident_case_open(resident_case *c)
{
    *c = (resident_case){.resident = {.gradient = true}};
    PS_TRY(ps_device_open("cuda:0", 0, &c->device));
    PS_TRY(ps_stream_open_ahead(c->device, &c->streams[0]));
    PS_TRY(ps_stream_open(c->device, &c->streams[1]));
    PS_TRY(ps_event_open(c->device, &c->forked));
    PS_TRY(ps_event_open(c->device, &c->met));
    for (int e = 0; e < PS_FMM_RESIDENT_MARKS; ++e) PS_TRY(ps_event_open(c->device, &c->marks[e]));
    return PS_OK;
}

static inline ps_status resident_case_room(resident_case *c, int which, int64_t bytes)
{
    if (bytes <= c->block_bytes[which]) return PS_OK;
    PS_TRY(ps_stream_wait(c->streams[0]));
    ps_device_free(c->device, c->blocks[which]);
    c->blocks[which] = NULL;
    c->block_bytes[which] = bytes;
    return ps_device_alloc(c->device, bytes, &c->blocks[which]);
}

/* serial: all on one stream. After operators and particles; may be called again. */
static inline ps_status resident_case_shape(resident_case *c, const ps_octree_box *box, int height,
                                            bool serial)
{
    int64_t bytes;
    ps_fmm_resident *r = &c->resident;
    r->box = *box;
    r->height = height;
    for (int l = 2; l < height; ++l) r->tables[l] = &c->tables[c->one ? 2 : l];
    r->lanes = (ps_fmm_resident_lanes){.far = c->streams[0],
                                       .near = c->streams[serial ? 0 : 1],
                                       .forked = c->forked,
                                       .met = c->met,
                                       .marks = c->marks};
    PS_TRY(ps_fmm_resident_init(r, &bytes));
    return resident_case_room(c, 0, bytes);
}

/* Enqueues an evaluation; more memory is taken where it is needed. */
static inline ps_status resident_case_run(resident_case *c)
{
    ps_fmm_resident *r = &c->resident;
    PS_TRY(ps_fmm_resident_sort(r, &c->sets[0], &c->sets[1], c->blocks[0]));
    PS_TRY(resident_case_room(c, 1, r->plan.second));
    return ps_fmm_resident_run(r, &c->sets[r->sets - 1], c->blocks[1]);
}

/* Results in the caller's order: [sides][count], [sides][3][count]. Waits. */
static inline ps_status resident_case_fetch(resident_case *c, double *results)
{
    const ps_fmm_resident *r = &c->resident;
    int64_t n = r->count[r->sets - 1];
    PS_TRY(ps_copy_to_host(r->lanes.far, results, c->results, 4 * r->method.sides * n * 8));
    return ps_stream_wait(r->lanes.far);
}

#endif
