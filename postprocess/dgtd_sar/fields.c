/* The fields of one frequency, read once. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/store_memory.h"
#include "formats/dgtd_model.h"
#include "kernels/dgtd/mesh.h"
#include "kernels/dgtd/sar.h"
#include "postprocess/dgtd_sar/sar.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

static ps_status check_mesh(const sar_job *job, const char *phasors, const char *mesh)
{
    if (job->header->mesh_elements != job->mesh.tetrahedron_count ||
        strcmp(job->header->mesh_hash, job->mesh.content_hash) != 0)
        return ps_fail(PS_INVALID,
                       "%s was not computed on %s (%lld tetrahedra of content %s, the mesh has "
                       "%lld of %s)",
                       phasors, mesh, (long long)job->header->mesh_elements, job->header->mesh_hash,
                       (long long)job->mesh.tetrahedron_count, job->mesh.content_hash);
    if (job->header->rows < 1)
        return ps_fail(PS_INVALID, "%s has the fields of no element", phasors);
    return PS_OK;
}

static ps_status list_rows(sar_job *job)
{
    int64_t rows = job->header->rows, count = job->mesh.tetrahedron_count;
    PS_TRY(PS_ALLOC(&job->number, rows, "elements"));
    PS_TRY(PS_ALLOC(&job->material, rows, "elements"));
    PS_TRY(PS_ALLOC(&job->row_of, count, "elements"));
    PS_TRY(PS_ALLOC(&job->mean, rows, "squares of elements"));
    PS_TRY(PS_ALLOC(&job->most, rows, "squares of elements"));
    PS_TRY(PS_ALLOC(&job->volumes, count, "volumes"));
    PS_TRY(ps_phasors_read_elements(job->phasors, job->number, job->material));
    memset(job->row_of, 255, (size_t)count * sizeof *job->row_of);
    for (int64_t r = 0; r < rows; ++r) job->row_of[job->number[r]] = (int32_t)r;
    return PS_OK;
}

ps_status sar_open(sar_job *job, const char *phasors, const char *mesh)
{
    PS_TRY(ps_phasors_open(phasors, &job->phasors));
    job->header = ps_phasors_get_header(job->phasors);
    PS_TRY(ps_phasors_check_settled(job->phasors, job->run));
    PS_TRY(ps_volume_mesh_load(mesh, &job->mesh));
    PS_TRY(check_mesh(job, phasors, mesh));
    int64_t count = job->mesh.tetrahedron_count;
    PS_TRY(PS_ALLOC(&job->sorted, 4 * count, "tetrahedra"));
    memcpy(job->sorted, job->mesh.tetrahedra, (size_t)(4 * count) * sizeof *job->sorted);
    ps_dgtd_sort_vertices(job->sorted, count);
    job->tets = (ps_dgtd_tets){job->mesh.vertices, job->sorted, count};
    ps_dgtd_reference_init(&job->reference, job->header->order);
    job->scale = 1;
    job->outflow = NAN;
    PS_TRY(list_rows(job));
    ps_dgtd_volumes(&job->tets, job->volumes);
    return PS_OK;
}

void sar_release(sar_job *job)
{
    sar_voxels *v = &job->voxels;
    PS_FREE(job->wanted, job->sorted, job->number, job->material, job->row_of, job->mean, job->most,
            job->volumes, v->owner, v->squares, v->density, v->power, v->average.sums,
            v->average.value, v->average.side, v->average.status, v->average.work, job->cut.owner,
            job->cut.squares, job->cut.values);
    for (int m = 0; m < SAR_MASSES_MAX; ++m) free(job->element_average[m]);
    ps_volume_mesh_release(&job->mesh);
    ps_store_close(&job->mesh_store);
    ps_phasors_close(&job->phasors);
}

double sar_element_power(const sar_job *job, int64_t row)
{
    double sigma = job->header->material[job->material[row]].sigma;
    return .5 * sigma * job->mean[row] * job->volumes[job->number[row]] * job->scale;
}

/* ---- the pass over the rows ---- */

typedef struct pass {
    int64_t capacity; /* rows at once */
    float *electric, *magnetic;
    int32_t *links;    /* NULL: no outflow                             */
    uint8_t *kinds;    /* [rows][4] conditions on faces; NULL: unknown */
    double *impedance; /* [rows]                                       */
    double *flow;      /* [capacity]                                   */
} pass;

static ps_status find_links(const sar_job *job, int32_t **links)
{
    int64_t count = job->tets.count;
    PS_SCOPED_MEMORY uint32_t *ids = NULL;
    PS_SCOPED_MEMORY uint32_t *start = NULL;
    PS_TRY(PS_ALLOC(links, 4 * count, "links of faces"));
    PS_TRY(PS_ALLOC(&start, job->mesh.vertex_count + 1, "faces by vertex"));
    PS_TRY(PS_ALLOC(&ids, 4 * count, "faces by vertex"));
    return ps_dgtd_link_faces(job->sorted, count, job->mesh.vertex_count, start, ids, *links);
}

/* Through absorbing faces waves may come in: then their flow is known from E x H alone. */
static ps_status read_kinds(const sar_job *job, pass *p)
{
    int64_t rows = job->header->rows;
    if (!ps_phasors_has_marks(job->phasors, PS_PHASORS_FACES) ||
        strcmp(job->header->source_units, "V/m") == 0)
        return PS_OK;
    PS_TRY(PS_ALLOC(&p->kinds, 4 * rows, "conditions on faces"));
    PS_TRY(PS_ALLOC(&p->impedance, rows, "impedances"));
    for (int64_t r = 0; r < rows; ++r) {
        const ps_phasors_material *m = job->header->material + job->material[r];
        p->impedance[r] = PS_DGTD_Z0 * sqrt(m->mu / m->eps);
    }
    return ps_phasors_read_marks(job->phasors, PS_PHASORS_FACES, p->kinds);
}

/* Bytes of one field of a row. */
static int64_t row_bytes(const sar_job *job)
{
    return 6 * job->reference.nodes * (int64_t)sizeof(float);
}

static int64_t rows_at_once(const sar_job *job)
{
    int64_t bytes = row_bytes(job) * (1 + job->header->magnetic);
    int64_t chunk = ps_phasors_chunk_rows(job->phasors);
    int64_t chunks = job->run->host_memory / 8 / (bytes * chunk);
    int64_t rows = chunk * (chunks < 1 ? 1 : chunks > 16 ? 16 : chunks);
    return rows < job->header->rows ? rows : job->header->rows;
}

static bool has_outflow(const sar_job *job)
{
    return job->header->magnetic && job->header->rows == job->tets.count;
}

/* Threads read and unpack chunks; links are found with as much again, and a number a vertex. */
int64_t sar_fields_bytes(const sar_job *job)
{
    int64_t rows = rows_at_once(job), chunk = ps_phasors_chunk_rows(job->phasors);
    int64_t chunks = (rows + chunk - 1) / chunk, threads = job->run->threads;
    int64_t readers = (chunks < threads ? chunks : threads) *
                      ps_store_reader_bytes(ps_phasors_store(job->phasors));
    if (!has_outflow(job)) return rows * row_bytes(job) + readers;
    return rows * (2 * row_bytes(job) + 8) + 12 * job->header->rows + 32 * job->tets.count +
           4 * (job->mesh.vertex_count + 1) + readers;
}

static ps_status open_pass(const sar_job *job, pass *p)
{
    int64_t width = 6 * job->reference.nodes;
    p->capacity = rows_at_once(job);
    PS_TRY(PS_ALLOC(&p->electric, p->capacity * width, "fields of elements"));
    if (!has_outflow(job)) return PS_OK;
    PS_TRY(PS_ALLOC(&p->magnetic, p->capacity * width, "fields of elements"));
    PS_TRY(PS_ALLOC(&p->flow, p->capacity, "outflow of elements"));
    PS_TRY(read_kinds(job, p));
    return find_links(job, &p->links);
}

static ps_status read_some(sar_job *job, pass *p, int64_t first, int64_t count)
{
    ps_dgtd_rows rows = {count, job->number + first, p->electric};
    PS_TRY(ps_phasors_read_rows(job->phasors, job->frequency, PS_PHASORS_ELECTRIC, first, count,
                                p->electric));
    ps_dgtd_mean_squares(&job->reference, &rows, job->mean + first, job->most + first);
    if (job->voxels.owner)
        ps_dgtd_lattice_sample(&job->voxels.centres, job->voxels.owner, &job->reference, &job->tets,
                               &rows, NULL, job->voxels.squares);
    if (job->cut.owner)
        ps_dgtd_lattice_sample(&job->cut.points, job->cut.owner, &job->reference, &job->tets, &rows,
                               NULL, job->cut.squares);
    for (int i = 0; i < job->points; ++i)
        ps_dgtd_lattice_sample(&job->point[i].place, &job->point[i].owner, &job->reference,
                               &job->tets, &rows, &job->point[i].field, NULL);
    if (!p->links) return PS_OK;
    PS_TRY(ps_phasors_read_rows(job->phasors, job->frequency, PS_PHASORS_MAGNETIC, first, count,
                                p->magnetic));
    const ps_dgtd_surface surface = {p->links, p->kinds ? p->kinds + 4 * first : NULL,
                                     p->kinds ? p->impedance + first : NULL};
    ps_dgtd_outflow(&job->reference, &job->tets, &surface, &rows, p->magnetic, p->flow);
    for (int64_t r = 0; r < count; ++r) job->outflow += p->flow[r];
    return PS_OK;
}

static void release(pass *p)
{
    PS_FREE(p->electric, p->magnetic, p->links, p->kinds, p->impedance, p->flow);
}

ps_status sar_read_fields(sar_job *job)
{
    PS_SCOPED(release) pass p = {.capacity = 0};
    PS_TRY(open_pass(job, &p));
    if (p.links) job->outflow = 0;
    for (int64_t at = 0; at < job->header->rows; at += p.capacity) {
        int64_t left = job->header->rows - at;
        PS_TRY(read_some(job, &p, at, left < p.capacity ? left : p.capacity));
    }
    return PS_OK;
}
