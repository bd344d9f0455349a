#include "compute/hbem_solve/core_matrix.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/log.h"
#include "runtime/memory.h"

/* ---- the scene ---- */

ps_status core_scene_open(core_scene *s, const char *path, const ps_hbem_matrix_options *options)
{
    *s = (core_scene){.path = path};
    PS_TRY(ps_store_open(path, PS_CLUSTER_FORMAT, PS_CLUSTER_VERSION, &s->store));
    ps_status status = ps_hbem_scene_init(&s->scene, path, options);
    if (status != PS_OK) core_scene_close(s);
    return status;
}

ps_status core_scene_derive(core_scene *s, const core_scene *base,
                            const ps_hbem_space_kind space[2],
                            const ps_hbem_matrix_options *options)
{
    *s = (core_scene){.path = base->path};
    return ps_hbem_scene_derive(&s->scene, &base->scene, space, options);
}

ps_status core_scene_mirror(core_scene *s, const core_scene *base, const ps_reflectors *mirrors,
                            int copy, const ps_hbem_matrix_options *options)
{
    *s = (core_scene){.path = base->path};
    return ps_hbem_scene_mirror(&s->scene, &base->scene, mirrors, copy, options);
}

void core_scene_close(core_scene *s)
{
    ps_leaf_tables_close(&s->tables);
    ps_hbem_scene_release(&s->scene);
    ps_store_close(&s->store);
}

/* ---- plans ---- */

ps_status core_matrix_prepare(core_matrix *m)
{
    if (m->there) return PS_OK;
    m->there = true;
    PS_TRY(ps_hbem_problem_leaves(&m->problem, m->options));
    PS_TRY(ps_hbem_matrix_plan_init(&m->problem, m->options, &m->plan));
    m->shape = m->problem.shape;
    double share = (double)(m->plan.end_chunk - m->plan.first_chunk) / (double)m->plan.chunks.count;
    m->bytes = (int64_t)(share * (double)(m->plan.numbers * m->plan.item_bytes));
    return PS_OK;
}

ps_status core_matrix_open(core_matrix *m, core_scene *clusters,
                           const ps_hbem_operator_choice *choice,
                           const ps_hbem_matrix_options *options)
{
    *m = (core_matrix){.clusters = clusters, .options = options};
    snprintf(m->name, sizeof m->name, "%.160s: the matrix %s at k = %.9g", clusters->path,
             ps_hbem_kernel_name(choice->kernel), choice->wavenumber);
    ps_status status = ps_hbem_problem_init(&m->problem, &clusters->scene, choice, options);
    if (status == PS_OK) status = core_matrix_prepare(m);
    return status == PS_OK ? PS_OK : ps_context(status, "%s", clusters->path);
}

void core_matrix_drop(core_matrix *m)
{
    int64_t bytes = m->bytes;
    device_images_close(&m->images);
    ps_hmatrix_release(&m->shape);
    ps_hbem_matrix_plan_release(&m->plan);
    ps_cluster_leaves_release(&m->problem.tables.nodes);
    free(m->problem.leaves);
    m->problem.leaves = NULL;
    m->bytes = bytes;
    m->there = false;
}

void core_matrix_close(core_matrix *m)
{
    core_matrix_drop(m);
    ps_hbem_problem_release(&m->problem);
}

/* ---- who computes ---- */

static ps_leaf_device device_of(const core_matrix *m, const core_means *means)
{
    const ps_clusters *c = &m->clusters->scene.clusters;
    return (ps_leaf_device){.ordinal =
                                means->device ? ps_device_describe(means->device).ordinal : 0,
                            .memory = means->work,
                            .chunk_bytes = m->plan.largest * m->plan.item_bytes,
                            .expected = m->bytes,
                            .tables = m->clusters->tables,
                            .test = &c->tree[0],
                            .trial = c->same ? &c->tree[0] : &c->tree[1]};
}

/* Whether a device computes the leaves. */
static ps_status choose(const core_matrix *m, const core_means *means, bool *on_device)
{
    *on_device = false;
    if (!means->device) return PS_OK;
    ps_leaf_device device = device_of(m, means);
    ps_status status = ps_leaf_backend_check_cuda(&m->problem.assembly, &device);
    *on_device = status == PS_OK;
    if (status != PS_USAGE || strcmp(means->device_name, "auto") != 0) return status;
    ps_info("by the cores: %s", ps_message());
    return PS_OK;
}

ps_status core_scene_send(core_matrix *m, const core_means *means)
{
    bool on_device;
    if (m->clusters->tables) return PS_OK;
    PS_TRY(choose(m, means, &on_device));
    if (!on_device) return PS_OK;
    ps_leaf_device device = device_of(m, means);
    return ps_leaf_tables_open(means->device, &m->problem.assembly, device.test, device.trial,
                               &m->clusters->tables);
}

static ps_status open_backend(core_matrix *m, const core_means *means, ps_leaf_backend **out)
{
    if (!m->clusters->tables)
        return ps_leaf_backend_open_cpu(&m->problem.assembly, &m->problem.shape, means->threads,
                                        out);
    ps_leaf_device device = device_of(m, means);
    return ps_leaf_backend_open_cuda(&m->problem.assembly, &m->problem.shape, &device, out);
}

/* ---- taking ---- */

typedef struct taking {
    core_matrix *m;
    ps_leaf_backend *backend;
    int64_t host_memory, bytes; /* of values; so far */
} taking;

/* Leaves stay as the cores left them. */
static ps_status keep_chunk(taking *t, ps_leaf_chunk *chunk)
{
    int64_t first = t->m->plan.chunks.first[chunk->chunk];
    t->bytes += ps_hmatrix_bytes(&chunk->run);
    if (t->bytes > t->host_memory)
        return ps_fail(PS_EXHAUSTED,
                       "%s: takes more than the %.1f MB that --host-memory leaves for it: write it "
                       "to files by penstock-hmatrix-assemble, which are streamed",
                       t->m->name, 1e-6 * (double)t->host_memory);
    memcpy(t->m->shape.blocks + first, chunk->run.blocks,
           (size_t)chunk->run.leaf_count * sizeof *chunk->run.blocks);
    free(chunk->run.blocks);
    chunk->run.blocks = NULL;
    return PS_OK;
}

static ps_status take(void *context, ps_leaf_chunk *chunk)
{
    taking *t = context;
    ps_status status =
        t->m->images ? device_images_take_chunk(t->m->images, chunk) : keep_chunk(t, chunk);
    t->backend->release(chunk);
    return status;
}

static ps_status take_wave(void *context, const ps_leaf_wave *wave)
{
    const taking *t = context;
    return device_images_take_wave(t->m->images, wave);
}

static ps_status assemble_chunks(core_matrix *m, const core_means *means, ps_leaf_backend *backend)
{
    taking t = {.m = m, .backend = backend, .host_memory = means->host_memory};
    ps_leaf_taker taker = {take, m->images ? take_wave : NULL, &t};
    PS_TRY(backend->assemble(backend, &m->plan.chunks, m->plan.first_chunk, m->plan.end_chunk,
                             &taker));
    m->bytes = m->images ? device_images_bytes(m->images) : t.bytes;
    return PS_OK;
}

ps_status core_matrix_assemble(core_matrix *m, const core_means *means)
{
    double start = ps_clock();
    ps_leaf_backend *backend;
    PS_TRY(core_matrix_prepare(m));
    PS_TRY(ps_hmatrix_init(&m->shape));
    if (m->plan.first_chunk == m->plan.end_chunk) return PS_OK; /* more ranks than chunks */
    device_images_config config = {
        means->device,        &m->shape, &m->plan.chunks, m->plan.first_chunk, m->plan.end_chunk,
        means->device_memory, m->name};
    if (means->device) PS_TRY(device_images_open(&config, &m->images));
    PS_TRY(open_backend(m, means, &backend));
    double ready = ps_clock();
    ps_status status = assemble_chunks(m, means, backend);
    double done = ps_clock();
    backend->close(backend);
    m->seconds = ps_clock() - start;
    ps_debug("%s: %.2f GB by %s; ready in %.3f s, assembled in %.3f s, memory given back in %.3f s",
             m->name, 1e-9 * (double)m->bytes, m->clusters->tables ? "a device" : "cores",
             ready - start, done - ready, ps_clock() - done);
    return status;
}
