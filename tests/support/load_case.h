/*
 * load_case: loads of all emitters, shapes and formulations on a sphere, made on any device,
 * against those of the host (kernels/tdbem/load_device.h, load.h).
 */
#ifndef PS_TESTS_LOAD_CASE_H
#define PS_TESTS_LOAD_CASE_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/tdbem/load_device.h"
#include "runtime/memory.h"
#include "runtime/scope.h"
#include "tests/support/distance.h"
#include "tests/support/icosphere.h"

enum { LOAD_CASE_STEPS = 7, LOAD_CASE_FIRST = 11 };

typedef struct load_case {
    ps_device *device;
    ps_stream *stream;
    ps_load load;
    ps_device_load there;
    void *staged, *memory, *work;
    double *out, *fetched, *expected, *workspace;
} load_case;

/* Three emitters of one shape, close enough to be heard at the steps asked for. */
static inline ps_status load_case_emitters(const char *shape, bool uniform, ps_incident *out)
{
    static const char *const places[] = {"plane:dir=1,2,3", "point:at=1.2,1,-1", "uniform"};
    char text[PS_EMITTER_TEXT_MAX];
    *out = (ps_incident){.count = uniform ? 3 : 2, .speed = 1.3};
    for (int i = 0; i < out->count; ++i) {
        snprintf(text, sizeof text, "%s:shape=%s:width=0.%d:delay=1.%d%s", places[i], shape, 7 + i,
                 i, strcmp(shape, "modulated") ? "" : ":frequency=0.8");
        PS_TRY(ps_emitter_parse(text, &out->emitters[i]));
    }
    return PS_OK;
}

static inline ps_status load_case_open(load_case *c, const char *device)
{
    int64_t n = ps_load_unknowns(&c->load), items = n * LOAD_CASE_STEPS;
    c->there = ps_device_load_shape(&c->load);
    int64_t bytes = ps_device_load_bytes(&c->there);
    PS_TRY(ps_device_open(device, 0, &c->device));
    PS_TRY(ps_stream_open(c->device, &c->stream));
    PS_TRY(ps_alloc(&c->staged, bytes, 1, "a test"));
    ps_device_load_attach(&c->there, c->staged);
    ps_device_load_fill(&c->load, &c->there);
    PS_TRY(ps_device_alloc(c->device, bytes, &c->memory));
    PS_TRY(ps_copy_to_device(c->stream, c->memory, c->staged, bytes));
    ps_device_load_attach(&c->there, c->memory);
    PS_TRY(
        ps_device_alloc(c->device, ps_device_load_workspace(&c->there, LOAD_CASE_STEPS), &c->work));
    PS_TRY(ps_device_alloc(c->device, items * 8, (void **)&c->out));
    PS_TRY(PS_ALLOC(&c->fetched, items, "a test"));
    PS_TRY(PS_ALLOC(&c->expected, items, "a test"));
    PS_TRY(PS_ALLOC(&c->workspace, ps_load_workspace(&c->load), "a test"));
    for (int64_t i = 0; i < items; ++i) c->fetched[i] = NAN;
    return ps_copy_to_device(c->stream, c->out, c->fetched, items * 8);
}

static inline void load_case_close(load_case *c)
{
    PS_FREE(c->staged, c->fetched, c->expected, c->workspace);
    ps_device_free(c->device, c->memory);
    ps_device_free(c->device, c->work);
    ps_device_free(c->device, c->out);
    ps_stream_close(&c->stream);
    ps_device_close(&c->device);
}

/* Every value within bound of the largest one. */
static inline ps_status load_case_compare(load_case *c, double bound)
{
    int64_t n = ps_load_unknowns(&c->load);
    for (int64_t g = 0; g < LOAD_CASE_STEPS; ++g)
        ps_load_evaluate(&c->load, LOAD_CASE_FIRST + g, c->expected + g * n, c->workspace);
    if (!(largest_of(c->expected, n * LOAD_CASE_STEPS) > 0))
        return ps_fail(PS_FAILED, "there is no load to compare");
    double apart = relative_most(c->fetched, c->expected, n * LOAD_CASE_STEPS);
    if (!(apart <= bound))
        return ps_fail(PS_FAILED, "%.3g of the largest load off, allowed %.3g", apart, bound);
    return PS_OK;
}

static inline ps_status load_case_one(const char *device, const ps_load *load, double bound)
{
    PS_SCOPED(load_case_close) load_case c = {.load = *load};
    int64_t items = ps_load_unknowns(load) * LOAD_CASE_STEPS;
    PS_TRY(load_case_open(&c, device));
    PS_TRY(ps_device_load_run(&c.there, LOAD_CASE_FIRST, LOAD_CASE_STEPS, c.out, c.work, c.stream));
    PS_TRY(ps_copy_to_host(c.stream, c.fetched, c.out, items * 8));
    PS_TRY(ps_stream_wait(c.stream));
    return load_case_compare(&c, bound);
}

/* All shapes and formulations, and the combined field equation, on a sphere of 20 * 4^levels
 * triangles. */
static inline ps_status load_case_check(const char *device, int levels, double bound)
{
    static const char *const shapes[] = {"gaussian", "derivative", "ricker", "modulated", "step"};
    static const ps_formulation forms[] = {PS_SOUND_SOFT_S, PS_SOUND_SOFT_M, PS_SOUND_HARD,
                                           PS_SOUND_HARD};
    PS_SCOPED(icosphere_release) icosphere sphere = {0};
    ps_status status = PS_OK;
    icosphere_init(&sphere, levels);
    ps_surface_mesh mesh = {.vertex_count = sphere.vertex_count,
                            .triangle_count = sphere.triangle_count,
                            .vertices = sphere.vertices,
                            .triangles = sphere.triangles};
    for (int k = 0; k < 20 && status == PS_OK; ++k) {
        ps_incident incident;
        status = load_case_emitters(shapes[k % 5], forms[k / 5] != PS_SOUND_HARD, &incident);
        ps_load load = {forms[k / 5], &mesh, &incident, 0.13, k < 15 ? 0 : .25};
        if (status == PS_OK) status = load_case_one(device, &load, bound);
        if (status != PS_OK) ps_context(status, "%s, formulation %d", shapes[k % 5], k / 5);
    }
    return status;
}

#endif
