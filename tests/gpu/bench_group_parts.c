/*
 * What groups of steps on the CUDA device need beside their solver: sound-hard loads of a plane
 * wave on a sphere of 40,962 vertices, and steps appended to the window of the past (K = 341,
 * slides included). Floor: bytes, at the card's measured bandwidth. Prints JSON records.
 */
#include <stdio.h>

#include "runtime/program.h"
#include "tests/support/load_case.h"
#include "tests/support/past_case.h"

static const double bandwidth = 4.58e12; /* bytes/s */
enum { GROUP = 16, ROUNDS = 60, WARM = 3 };

static void record(ps_device *device, const char *what, double seconds, double bytes, int64_t size,
                   int group)
{
    double floor = bytes / bandwidth;
    printf("{\"case\": \"group-solve/%s\", \"quantity\": \"time-per-step\", \"value\": %.4g, "
           "\"unit\": \"us\", \"floor\": %.3g, \"fraction\": %.3f, \"size\": \"%lld unknowns, "
           "groups of %d\", \"device\": \"%s\", \"revision\": \"%s\"}\n",
           what, 1e6 * seconds, 1e6 * floor, floor / seconds, (long long)size, group,
           ps_device_describe(device).name, ps_revision());
}

static ps_status bench_window(int64_t unknowns)
{
    ps_slice_header header = {.unknowns = unknowns, .k_max = 341, .precision = PS_SINGLE};
    ps_past_window w = ps_past_window_shape(&header, 13, GROUP);
    ps_device *device;
    ps_stream *stream;
    ps_event *start, *end;
    void *recent;
    double seconds;
    PS_TRY(ps_device_open("cuda:0", 0, &device));
    PS_TRY(ps_stream_open(device, &stream));
    PS_TRY(ps_event_open(device, &start));
    PS_TRY(ps_event_open(device, &end));
    PS_TRY(ps_device_alloc(device, ps_past_window_bytes(&w), &w.data));
    PS_TRY(ps_device_alloc(device, unknowns * GROUP * 4, &recent));
    PS_TRY(ps_fill_zero(stream, w.data, ps_past_window_bytes(&w)));
    PS_TRY(ps_fill_zero(stream, recent, unknowns * GROUP * 4));
    for (int round = -WARM; round < ROUNDS; ++round) {
        if (round == 0) PS_TRY(ps_event_record(start, stream));
        PS_TRY(ps_past_window_append_on(&w, recent, GROUP, stream));
    }
    PS_TRY(ps_event_record(end, stream));
    PS_TRY(ps_event_seconds(start, end, &seconds));
    double room = (double)(w.stride - w.before - w.after);
    double items = 2 + (double)(w.before + w.stride) / room;
    record(device, "window", seconds / ROUNDS / GROUP, 4 * items * (double)unknowns, unknowns,
           GROUP);
    ps_device_free(device, w.data);
    ps_device_free(device, recent);
    ps_event_close(&start);
    ps_event_close(&end);
    ps_stream_close(&stream);
    ps_device_close(&device);
    return PS_OK;
}

static ps_status time_loads(load_case *c, double *seconds)
{
    ps_event *start, *end;
    PS_TRY(ps_event_open(c->device, &start));
    PS_TRY(ps_event_open(c->device, &end));
    for (int round = -WARM; round < ROUNDS; ++round) {
        if (round == 0) PS_TRY(ps_event_record(start, c->stream));
        PS_TRY(ps_device_load_run(&c->there, LOAD_CASE_FIRST, LOAD_CASE_STEPS, c->out, c->work,
                                  c->stream));
    }
    PS_TRY(ps_event_record(end, c->stream));
    PS_TRY(ps_event_seconds(start, end, seconds));
    ps_event_close(&start);
    ps_event_close(&end);
    return PS_OK;
}

static ps_status bench_load(void)
{
    icosphere sphere;
    ps_incident incident;
    double seconds = 0;
    icosphere_init(&sphere, 6);
    ps_surface_mesh mesh = {.vertex_count = sphere.vertex_count,
                            .triangle_count = sphere.triangle_count,
                            .vertices = sphere.vertices,
                            .triangles = sphere.triangles};
    PS_TRY(load_case_emitters("gaussian", false, &incident));
    incident.count = 1;
    load_case c = {.load = {PS_SOUND_HARD, &mesh, &incident, 0.13}};
    ps_status status = load_case_open(&c, "cuda:0");
    if (status == PS_OK) status = time_loads(&c, &seconds);
    /* corners written and read, loads written; once a group the mesh */
    double bytes = 8.0 * (6.0 * (double)mesh.triangle_count + (double)mesh.vertex_count);
    if (status == PS_OK)
        record(c.device, "load-hard", seconds / ROUNDS / LOAD_CASE_STEPS, bytes, mesh.vertex_count,
               LOAD_CASE_STEPS);
    load_case_close(&c);
    icosphere_release(&sphere);
    return status;
}

int main(void)
{
    ps_status status = bench_window(24001);
    if (status == PS_OK) status = bench_load();
    if (status != PS_OK) fprintf(stderr, "bench_group_parts: %s\n", ps_message());
    return status;
}
