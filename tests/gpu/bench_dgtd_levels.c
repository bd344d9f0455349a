/*
 * Local steps of a model on one CUDA device: microseconds of each operation, of its copies and of a
 * step, fp32: what of a step is elements and what is launches that are too small. Fields are zero.
 * Arguments: model (penstock-dgtd-setup --local-steps), times (200).
 */
#include <stdio.h>

#include "formats/dgtd_model.h"
#include "runtime/program.h"
#include "stage/dgtd_local.h"
#include "tests/support/device_clock.h"
#include "tests/support/dgtd_device.h"

typedef struct bench {
    ps_dgtd_model_file *file;
    ps_dgtd_domain domain;
    dgtd_case x;
    ps_dgtd_local_steps steps;
    dgtd_device d;
    device_clock clock;
    int64_t times;
} bench;

static ps_status open_model(bench *b, const char *path, ps_dgtd_material **materials)
{
    ps_dgtd_domain *d = &b->domain;
    int64_t parts[2];
    PS_TRY(ps_dgtd_model_open(path, &b->file));
    const ps_dgtd_model_header *h = ps_dgtd_model_head(b->file);
    const ps_dgtd_medium *media = ps_dgtd_model_media(b->file);
    PS_TRY(ps_dgtd_model_share(b->file, 1, parts));
    PS_TRY(ps_dgtd_model_load(b->file, parts, 1, 0, ps_dgtd_lanes(PS_SINGLE), d));
    PS_TRY(PS_ALLOC(materials, h->media, "media"));
    for (int64_t m = 0; m < h->media; ++m)
        (*materials)[m] =
            (ps_dgtd_material){media[m].eps, media[m].mu, media[m].sigma * PS_DGTD_Z0};
    b->x.mesh = (cube_tets){.vertex_count = d->vertex_count,
                            .elements = d->elements,
                            .vertices = d->vertices,
                            .tetrahedra = d->tetrahedra,
                            .links = d->links,
                            .kinds = d->kinds,
                            .tags = d->material};
    PS_TRY(dgtd_case_init_system(&b->x, h->order, PS_SINGLE, *materials, h->media));
    ps_dgtd_set_step(&b->x.system, *materials, h->dt);
    int64_t bytes = b->x.system.groups * 3 * b->x.reference.nodes * PS_DGTD_ALIGN;
    return ps_dgtd_local_open(&b->steps, &b->x.system, *materials, d->reach, h->local_levels, h->dt,
                              bytes);
}

static ps_status begin(bench *b)
{
    PS_TRY(ps_stream_wait(b->d.stream));
    return device_clock_start(&b->clock);
}

static ps_status end(bench *b, double *microseconds)
{
    double seconds;
    PS_TRY(device_clock_stop(&b->clock, &seconds));
    *microseconds = seconds / (double)b->times * 1e6;
    return PS_OK;
}

/* Elements of an operation, in whole sectors of memory. */
static int64_t elements_of(const ps_dgtd_device_local *x, const ps_dgtd_local_op *op)
{
    int list = op->kind == PS_DGTD_LOCAL_E ? 0 : op->kind == PS_DGTD_LOCAL_H ? 1 : 2;
    const int64_t *start = x->start + PS_DGTD_LISTS * op->level + list;
    return PS_DGTD_UNIT * (start[1] - start[0]);
}

/* Of the first operation of each level and kind, and how often it is made in a step. */
static ps_status time_ops(bench *b)
{
    const ps_dgtd_local *host = &b->steps.local;
    bool told[PS_DGTD_LOCAL_LEVELS][3] = {{0}};
    static const char *const names[] = {"E", "H", "ADD"};
    for (int i = 0; i < host->op_count; ++i) {
        const ps_dgtd_local_op *op = host->ops + i;
        int often = 0;
        double each;
        if (told[op->level][op->kind]) continue;
        told[op->level][op->kind] = true;
        for (int k = 0; k < host->op_count; ++k)
            often += host->ops[k].level == op->level && host->ops[k].kind == op->kind;
        PS_TRY(begin(b));
        for (int64_t t = 0; t < b->times; ++t)
            PS_TRY(ps_dgtd_device_local_op(&b->d.local, op, b->d.march.magnetic, b->d.stream));
        PS_TRY(end(b, &each));
        printf("level %d %-3s %8lld elements %3d times a step, %8.2f us, %8.2f in all\n",
               op->level + 1, names[op->kind], (long long)elements_of(&b->d.local, op), often, each,
               each * often);
    }
    return PS_OK;
}

static ps_status time_parts(bench *b)
{
    const ps_dgtd_local *host = &b->steps.local;
    void *magnetic = b->d.march.magnetic;
    double copies, inner, step, halves[2];
    PS_TRY(begin(b));
    for (int64_t t = 0; t < b->times; ++t) {
        for (int k = 0; k < 2; ++k)
            PS_TRY(ps_dgtd_device_local_keep(&b->d.local, (ps_dgtd_kept)k, magnetic, b->d.stream));
        PS_TRY(ps_dgtd_device_local_restore(&b->d.local, magnetic, b->d.stream));
    }
    PS_TRY(end(b, &copies));
    PS_TRY(begin(b));
    for (int64_t t = 0; t < b->times; ++t)
        for (int i = 0; i < host->op_count; ++i)
            PS_TRY(ps_dgtd_device_local_op(&b->d.local, host->ops + i, magnetic, b->d.stream));
    PS_TRY(end(b, &inner));
    for (int f = 0; f < 2; ++f) {
        PS_TRY(begin(b));
        for (int64_t t = 0; t < b->times; ++t)
            PS_TRY(ps_dgtd_device_march_half(&b->d.march, (ps_dgtd_field)f, t, 0,
                                             b->d.system.groups, b->d.stream));
        PS_TRY(end(b, &halves[f]));
    }
    PS_TRY(begin(b));
    PS_TRY(dgtd_device_steps(&b->d, 0, b->times));
    PS_TRY(end(b, &step));
    printf("copies %.1f us, %d operations %.1f, E %.1f, H %.1f; a step %.1f\n", copies,
           host->op_count, inner, halves[0], halves[1], step);
    return PS_OK;
}

static ps_status run(bench *b, const char *path, ps_dgtd_material **materials)
{
    ps_device *device;
    const ps_dgtd_local *local = &b->steps.local;
    PS_TRY(ps_device_open("cuda:0", 0, &device));
    PS_TRY(open_model(b, path, materials));
    PS_TRY(dgtd_device_init(&b->d, device, &b->x, PS_DGTD_FUSED, 1, 0));
    PS_TRY(dgtd_device_add_local(&b->d, &b->x, local, b->domain.reach));
    PS_TRY(device_clock_open(&b->clock, b->d.stream));
    printf("P%d, %lld elements, %d levels\n", b->x.system.order, (long long)b->domain.elements,
           local->levels);
    PS_TRY(dgtd_device_steps(&b->d, 0, b->times / 10 + 1));
    PS_TRY(time_ops(b));
    return time_parts(b);
}

int main(int argc, char **argv)
{
    static bench b;
    ps_dgtd_material *materials = NULL;
    if (argc < 2) return 2;
    b.times = argc > 2 ? atoll(argv[2]) : 200;
    ps_status status = run(&b, argv[1], &materials);
    if (status != PS_OK) fprintf(stderr, "bench_dgtd_levels: %s\n", ps_message());
    return (int)status;
}
