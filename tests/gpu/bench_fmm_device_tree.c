/*
 * Trees of 30 million particles on the CUDA device, step by step: cube at h = 7 and 8, ellipsoid at
 * h = 10 and 11. Floor: the bytes of device memory that a step moves at least
 * (kernels/fmm/device_tree.h, device_lists.h), at the card's measured bandwidth of copies. Prints
 * JSON records. Argument: number of particles.
 */
#include <stdio.h>

#include "tests/support/device_tree_floor.h"
#include "tests/support/record.h"
#include "tests/support/tree_case.h"

static const double bandwidth = 4.29e12; /* bytes/s, read and written */
enum { ROUNDS = 5, STEPS = 7 };
static const char *const step_names[STEPS] = {"sort",  "count",  "gather", "cells",
                                              "lists", "invert", "scatter"};

typedef struct place {
    ps_device *device;
    ps_stream *stream;
    ps_event *events[STEPS + 1];
    ps_device_sort sort;
    ps_device_tree tree;
    ps_device_lists lists;
    ps_tree_points points;
    ps_device_columns in, out;
    void *columns, *sort_memory, *tree_memory, *lists_memory;
} place;

static void leave(place *p)
{
    if (!p->device) return;
    ps_device_free(p->device, p->columns);
    ps_device_free(p->device, p->sort_memory);
    ps_device_free(p->device, p->tree_memory);
    ps_device_free(p->device, p->lists_memory);
    for (int e = 0; e <= STEPS; ++e) ps_event_close(&p->events[e]);
    ps_stream_close(&p->stream);
    ps_device_close(&p->device);
}

static ps_status enter(place *p, const double *columns, int64_t n, int height)
{
    int64_t bytes;
    *p = (place){.sort = {.count = n, .level = height - 1, .box = {{0, 0, 0}, 1}},
                 .tree = {.height = height}};
    PS_TRY(ps_device_open("cuda:0", 0, &p->device));
    PS_TRY(ps_stream_open(p->device, &p->stream));
    for (int e = 0; e <= STEPS; ++e) PS_TRY(ps_event_open(p->device, &p->events[e]));
    PS_TRY(ps_device_alloc(p->device, 12 * n * 8, &p->columns));
    double *there = p->columns;
    PS_TRY(ps_copy_to_device(p->stream, there, columns, 4 * n * 8));
    p->points = (ps_tree_points){n, there, there + n, there + 2 * n};
    p->in.count = p->out.count = 4;
    for (int c = 0; c < 4; ++c) {
        p->in.from[c] = there + c * n;
        p->in.to[c] = there + (4 + c) * n;
        p->out.from[c] = there + (4 + c) * n;
        p->out.to[c] = there + (8 + c) * n;
    }
    PS_TRY(ps_device_sort_bytes(&p->sort, p->stream, &bytes));
    PS_TRY(ps_device_alloc(p->device, bytes, &p->sort_memory));
    ps_device_sort_attach(&p->sort, p->sort_memory);
    return PS_OK;
}

/* Memory for the cells, once they are counted. */
static ps_status make_room(place *p)
{
    int64_t bytes;
    if (p->tree_memory) return PS_OK;
    PS_TRY(ps_device_alloc(p->device, ps_device_tree_bytes(&p->tree), &p->tree_memory));
    ps_device_tree_attach(&p->tree, p->tree_memory);
    PS_TRY(ps_device_lists_bytes(&p->tree, &p->lists, p->stream, &bytes));
    PS_TRY(ps_device_alloc(p->device, bytes, &p->lists_memory));
    ps_device_lists_attach(&p->tree, &p->lists, p->lists_memory);
    return PS_OK;
}

static ps_status run(place *p)
{
    int64_t outside;
    PS_TRY(ps_event_record(p->events[0], p->stream));
    PS_TRY(ps_device_sort_run(&p->sort, &p->points, p->stream));
    PS_TRY(ps_event_record(p->events[1], p->stream));
    PS_TRY(ps_device_sort_cells(&p->sort, p->stream, p->tree.cells, &outside));
    PS_TRY(make_room(p));
    PS_TRY(ps_event_record(p->events[2], p->stream));
    PS_TRY(ps_device_gather(&p->sort, &p->in, p->stream));
    PS_TRY(ps_event_record(p->events[3], p->stream));
    PS_TRY(ps_device_tree_fill(&p->sort, &p->tree, p->stream));
    PS_TRY(ps_event_record(p->events[4], p->stream));
    PS_TRY(ps_device_lists_fill(&p->tree, &p->tree, &p->lists, p->stream));
    PS_TRY(ps_event_record(p->events[5], p->stream));
    PS_TRY(ps_device_sort_invert(&p->sort, p->stream));
    PS_TRY(ps_event_record(p->events[6], p->stream));
    PS_TRY(ps_device_scatter(&p->sort, &p->out, p->stream));
    PS_TRY(ps_event_record(p->events[7], p->stream));
    return ps_stream_wait(p->stream);
}

/* Bytes that each step moves at least. */
static void traffic(const place *p, double *bytes)
{
    device_tree_bytes least = device_tree_floor(&p->sort, &p->tree);
    bytes[0] = least.sort;
    bytes[1] = 0;
    bytes[2] = bytes[6] = least.columns;
    bytes[5] = least.invert;
    bytes[3] = least.cells;
    bytes[4] = least.lists;
}

static void print(const place *p, const char *what, const char *step, double seconds, double floor)
{
    bench_record(bench_device(p->device),
                 text("fmm-device-tree/%s-h%d-%s", what, p->tree.height, step), "time",
                 1e3 * seconds, "ms", 1e3 * floor,
                 text("%lld particles, %lld leaves", (long long)p->sort.count,
                      (long long)p->tree.cells[p->tree.height - 1]));
}

static ps_status measure(const double *columns, int64_t n, const char *what, int height)
{
    place p;
    double best[STEPS] = {0}, bytes[STEPS], total = 0, floor = 0;
    ps_status status;
    PS_GUARD(status, done, enter(&p, columns, n, height));
    for (int round = -1; round < ROUNDS; ++round) {
        PS_GUARD(status, done, run(&p));
        for (int s = 0; s < STEPS && round >= 0; ++s) {
            double seconds;
            PS_GUARD(status, done, ps_event_seconds(p.events[s], p.events[s + 1], &seconds));
            if (round == 0 || seconds < best[s]) best[s] = seconds;
        }
    }
    traffic(&p, bytes);
    for (int s = 0; s < STEPS; ++s) {
        print(&p, what, step_names[s], best[s], bytes[s] / bandwidth);
        total += best[s];
        floor += bytes[s] / bandwidth;
    }
    print(&p, what, "all", total, floor);
done:
    leave(&p);
    return status;
}

static ps_status measure_all(int64_t n)
{
    static const ps_distribution kinds[] = {PS_DISTRIBUTION_CUBE, PS_DISTRIBUTION_ELLIPSOID};
    static const char *const names[] = {"cube", "ellipsoid"};
    static const int heights[2][2] = {{7, 8}, {10, 11}};
    double *columns;
    PS_TRY(PS_ALLOC(&columns, 4 * n, "particles"));
    ps_status status = PS_OK;
    for (int k = 0; k < 2 && status == PS_OK; ++k) {
        double *parts[3] = {columns, columns + n, columns + 2 * n};
        ps_distribution_positions(kinds[k], 1, 0, n, parts);
        ps_distribution_charges(PS_CHARGES_UNIFORM, 1, 0, 0, n, columns + 3 * n);
        for (int h = 0; h < 2 && status == PS_OK; ++h)
            status = measure(columns, n, names[k], heights[k][h]);
    }
    free(columns);
    return status;
}

int main(int argc, char **argv)
{
    if (measure_all(argc > 1 ? atoll(argv[1]) : 30000000) == PS_OK) return 0;
    fprintf(stderr, "bench_fmm_device_tree: %s\n", ps_message());
    return 1;
}
