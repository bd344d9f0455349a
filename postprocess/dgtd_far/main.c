/* penstock-dgtd-far: far field and radar cross-section of a run's fields at frequencies. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/receivers.h"
#include "formats/store_memory.h"
#include "formats/tag_names.h"
#include "formats/volume_mesh.h"
#include "kernels/dgtd/far_field.h"
#include "kernels/dgtd/mesh.h"
#include "postprocess/dgtd_far/figure_table.h"
#include "postprocess/dgtd_far/surface.h"
#include "runtime/log.h"
#include "runtime/memory.h"
#include "runtime/report.h"
#include "runtime/scope.h"
#include "stage/plan.h"
#include "stage/product.h"

static const double SPEED = 299792458.0, IMPEDANCE = 376.730313668;

typedef enum quantity { FAR, RCS, GAIN, DIRECTIVITY, REALIZED } quantity;

static struct {
    int quantity;
    const char *around;
    double accepted;
    ps_receiver_words where;
} chosen = {.where = PS_RECEIVER_WORDS};

static const ps_option options[] = {
    PS_CHOICE(
        "quantity", &chosen.quantity, "far|rcs|gain|directivity|realized", PS_IDENTITY,
        "lim r E (x, y, z a channel each), the radar cross-section, or (as ratios, not dB) the "
        "gain, of the power that ports accept, the directivity, of the radiated one, and the "
        "realized gain, of the power that comes into the driven ports; the report has all three at "
        "their largest"),
    PS_REAL("accepted-power", &chosen.accepted, "W", 0, 1e30, PS_IDENTITY,
            "lim r E of this power accepted by the ports of the run; 0: per unit of the source"),
    PS_TEXT("around", &chosen.around, "TAG,...", PS_IDENTITY,
            "the surface is that of these volumes together (numbers or names of physical groups); "
            "default: the boundary of the mesh"),
    PS_RECEIVER_DIRECTION_OPTIONS(chosen.where), PS_OPTION_END};

typedef struct job {
    ps_phasors *phasors;
    const ps_phasors_header *header;
    ps_store *mesh_store;
    ps_volume_mesh mesh;
    ps_dgtd_tets tets;
    ps_dgtd_reference reference;
    int32_t *number, *row_of, *links, *medium;
    uint8_t *inside; /* [tetrahedra] 1: in the volumes of --around */
    uint8_t *kinds;  /* [rows][4]; NULL: not in the file           */
    far_body body;   /* of the above */
    far_surface surface;
    ps_receivers receivers;
    float *electric, *magnetic;
    double (*directions)[3], *weights; /* on the sphere, where the radiated power is wanted */
    int64_t sphere;
    double radiated[PS_PHASORS_FREQUENCIES_MAX];  /* W per unit of the source squared        */
    double flow[PS_PHASORS_FREQUENCIES_MAX];      /* W out through the surface, likewise         */
    double strongest[PS_PHASORS_FREQUENCIES_MAX]; /* W per steradian, likewise, of the directions of
                                                     the sphere */
    double (*sums)[2][3][2], (*out)[3][2];
} job;

static void release(job *j)
{
    PS_FREE(j->number, j->row_of, j->links, j->medium, j->inside, j->kinds, j->electric,
            j->magnetic, j->sums, j->out, j->directions, j->weights);
    far_surface_release(&j->surface);
    ps_receivers_release(&j->receivers);
    ps_volume_mesh_release(&j->mesh);
    ps_store_close(&j->mesh_store);
    ps_phasors_close(&j->phasors);
}

/* ---- files ---- */

static ps_status open_files(job *j, const ps_run *run, const char *phasors, const char *mesh)
{
    PS_TRY(ps_phasors_open(phasors, &j->phasors));
    const ps_phasors_header *h = j->header = ps_phasors_get_header(j->phasors);
    PS_TRY(ps_phasors_check_settled(j->phasors, run));
    PS_TRY(ps_volume_mesh_load(mesh, &j->mesh));
    if (strcmp(h->mesh_hash, j->mesh.content_hash) != 0)
        return ps_fail(PS_INVALID,
                       "%s was not computed on %s (its mesh has content %s, this one %s)", phasors,
                       mesh, h->mesh_hash, j->mesh.content_hash);
    if (!h->magnetic)
        return ps_fail(PS_INVALID, "%s has no H; a far field needs both fields", phasors);
    if (chosen.quantity == RCS && strcmp(h->source_units, "V/m") != 0)
        return ps_fail(PS_USAGE,
                       "--quantity rcs: the source of %s is no plane wave (its unit is %s)",
                       phasors, h->source_units);
    for (int f = 0; f < h->frequencies && chosen.quantity == REALIZED; ++f) {
        double incident;
        PS_TRY(ps_phasors_incident(j->phasors, f, &incident));
    }
    ps_dgtd_reference_init(&j->reference, h->order);
    ps_dgtd_sort_vertices(j->mesh.tetrahedra, j->mesh.tetrahedron_count);
    j->tets = (ps_dgtd_tets){j->mesh.vertices, j->mesh.tetrahedra, j->mesh.tetrahedron_count};
    PS_TRY(PS_ALLOC(&j->number, h->rows, "elements"));
    PS_TRY(PS_ALLOC(&j->row_of, j->tets.count, "elements"));
    PS_TRY(PS_ALLOC(&j->medium, h->rows, "elements"));
    PS_TRY(ps_phasors_read_elements(j->phasors, j->number, j->medium));
    memset(j->row_of, 255, (size_t)j->tets.count * sizeof *j->row_of);
    for (int64_t r = 0; r < h->rows; ++r) j->row_of[j->number[r]] = (int32_t)r;
    if (!ps_phasors_has_marks(j->phasors, PS_PHASORS_FACES)) return PS_OK;
    PS_TRY(PS_ALLOC(&j->kinds, 4 * h->rows, "conditions on faces"));
    return ps_phasors_read_marks(j->phasors, PS_PHASORS_FACES, j->kinds);
}

static ps_status link_faces(job *j)
{
    PS_SCOPED_MEMORY uint32_t *start = NULL;
    PS_SCOPED_MEMORY uint32_t *ids = NULL;
    PS_TRY(PS_ALLOC(&j->links, 4 * j->tets.count, "links of faces"));
    PS_TRY(PS_ALLOC(&start, j->mesh.vertex_count + 1, "faces by vertex"));
    PS_TRY(PS_ALLOC(&ids, 4 * j->tets.count, "faces by vertex"));
    return ps_dgtd_link_faces(j->tets.tetrahedra, j->tets.count, j->mesh.vertex_count, start, ids,
                              j->links);
}

/* ---- the surface ---- */

static ps_status mark_inside(job *j)
{
    char text[4096], *rest = text;
    PS_TRY(PS_ALLOC(&j->inside, j->tets.count, "elements inside"));
    if (!chosen.around) {
        memset(j->inside, 1, (size_t)j->tets.count);
        return PS_OK;
    }
    if (snprintf(text, sizeof text, "%s", chosen.around) >= (int)sizeof text)
        return ps_fail(PS_USAGE, "--around: more than %zu characters", sizeof text - 1);
    for (char *word; (word = strsep(&rest, ",")) != NULL;) {
        int32_t tag;
        int64_t found = 0;
        PS_TRY(ps_tag_names_find(j->mesh.tag_names ? j->mesh.tag_names : "", PS_TAGS_OF_VOLUMES,
                                 "--around", word, &tag));
        for (int64_t e = 0; e < j->tets.count; ++e)
            if (j->mesh.tags[e] == tag) j->inside[e] = 1, ++found;
        if (!found)
            return ps_fail(PS_USAGE, "--around: no tetrahedron is in physical group \"%s\"", word);
    }
    return PS_OK;
}

/* What a source outside radiates passes through and cancels. Files of earlier versions do not tell
 * where it is. */
static ps_status check_enclosed(const job *j)
{
    PS_SCOPED_MEMORY uint8_t *driven = NULL;
    int64_t sides[2] = {0};
    if (!ps_phasors_has_marks(j->phasors, PS_PHASORS_DRIVEN)) return PS_OK;
    PS_TRY(PS_ALLOC(&driven, j->header->rows, "elements of sources"));
    PS_TRY(ps_phasors_read_marks(j->phasors, PS_PHASORS_DRIVEN, driven));
    for (int64_t r = 0; r < j->header->rows; ++r)
        if (driven[r]) ++sides[j->inside[j->number[r]]];
    return ps_phasors_check_enclosed(sides);
}

/* ---- the far field ---- */

static ps_status read_batch(job *j, int frequency, int64_t first, int64_t count)
{
    PS_TRY(ps_phasors_read_rows(j->phasors, frequency, PS_PHASORS_ELECTRIC, first, count,
                                j->electric));
    return ps_phasors_read_rows(j->phasors, frequency, PS_PHASORS_MAGNETIC, first, count,
                                j->magnetic);
}

/* Faces of rows [first, first + count) of the file, renumbered to the batch and back; the power out
 * through them. */
static double add_batch(job *j, const ps_dgtd_far *far, int64_t first, int64_t count, int64_t *at)
{
    far_surface *s = &j->surface;
    ps_dgtd_rows rows = {count, j->number + first, j->electric};
    int64_t begin = *at;
    for (; *at < s->count && s->faces[*at] < 4 * (first + count); ++*at) s->faces[*at] -= 4 * first;
    ps_dgtd_far_add(far, &j->reference, &j->tets, &rows, j->magnetic, *at - begin, s->faces + begin,
                    s->outward + begin, s->weight + begin);
    for (int64_t i = begin; i < *at; ++i) s->faces[i] += 4 * first;
    return far_surface_flow(s, &j->body, &j->reference, begin, *at, first, j->electric,
                            j->magnetic);
}

static ps_status radiate(job *j, int frequency, int64_t batch)
{
    const ps_phasors_header *h = j->header;
    const far_surface *s = &j->surface;
    ps_dgtd_far far = {2 * M_PI * h->frequency[frequency] / SPEED * sqrt(s->eps * s->mu),
                       sqrt(s->mu / s->eps), j->receivers.count + j->sphere,
                       (const double(*)[3])j->directions, j->sums};
    int64_t at = 0;
    memset(j->sums, 0, (size_t)far.directions * sizeof *j->sums);
    for (int64_t first = 0; first < h->rows; first += batch) {
        int64_t count = h->rows - first < batch ? h->rows - first : batch;
        if (at == j->surface.count || j->surface.faces[at] >= 4 * (first + count)) continue;
        PS_TRY(read_batch(j, frequency, first, count));
        j->flow[frequency] += add_batch(j, &far, first, count, &at);
    }
    ps_dgtd_far_field(&far, j->out);
    return PS_OK;
}

static double square_of(double (*v)[2])
{
    double sum = 0;
    for (int c = 0; c < 3; ++c) sum += v[c][0] * v[c][0] + v[c][1] * v[c][1];
    return sum;
}

static bool of_radiated(void) { return chosen.quantity >= GAIN; }

/* Gauss points in cos(theta), equal angles about z: exact for products of harmonics as high as a
 * source within the surface has them, k R and some more. */
static ps_status list_sphere(job *j)
{
    enum { MORE = 12, MOST = 200 };
    const ps_phasors_header *h = j->header;
    double points[MOST], weights[MOST], reach = far_surface_reach(&j->surface, &j->body);
    double k =
        2 * M_PI * h->frequency[h->frequencies - 1] / SPEED * sqrt(j->surface.eps * j->surface.mu);
    int64_t count = j->receivers.count;
    double wanted = of_radiated() ? ceil(k * reach) + MORE : 0;
    if (wanted > MOST)
        return ps_fail(PS_USAGE,
                       "--quantity: the surface is %.3g wavelengths about the origin; the "
                       "radiated power is told up to %.0f",
                       k * reach / (2 * M_PI), (MOST - MORE) / (2 * M_PI));
    int n = (int)wanted;
    j->sphere = 2 * (int64_t)n * n;
    PS_TRY(PS_ALLOC(&j->directions, count + j->sphere, "directions"));
    PS_TRY(PS_ALLOC(&j->weights, j->sphere, "directions"));
    memcpy(j->directions, j->receivers.places, (size_t)count * sizeof *j->directions);
    if (n > 0) ps_dgtd_gauss(n, points, weights);
    for (int64_t i = 0; i < j->sphere; ++i) {
        double z = 2 * points[i / (2 * n)] - 1, angle = M_PI * (double)(i % (2 * n)) / n,
               r = sqrt(1 - z * z);
        const double e[3] = {r * cos(angle), r * sin(angle), z};
        memcpy(j->directions[count + i], e, sizeof e);
        j->weights[i] = 2 * weights[i / (2 * n)] * M_PI / n;
    }
    return PS_OK;
}

/* The radiated power, and what values of |lim r E|^2 are multiplied by: 4 pi times |.|^2/(2 Z) over
 * a power for gain and directivity. */
static ps_status find_scale(job *j, int frequency, double *out)
{
    double z = IMPEDANCE * sqrt(j->surface.mu / j->surface.eps), power = 0;
    for (int64_t i = 0; i < j->sphere; ++i) {
        double strength = square_of(j->out[j->receivers.count + i]) / (2 * z);
        power += j->weights[i] * strength;
        j->strongest[frequency] = fmax(j->strongest[frequency], strength);
    }
    j->radiated[frequency] = power;
    *out = chosen.quantity == RCS ? 4 * M_PI : 1;
    if (chosen.quantity == GAIN || chosen.accepted > 0)
        PS_TRY(ps_phasors_accepted(j->phasors, frequency, &power));
    if (chosen.quantity == REALIZED) PS_TRY(ps_phasors_incident(j->phasors, frequency, &power));
    if (of_radiated()) *out = 4 * M_PI / (2 * z * power);
    if (chosen.accepted > 0 && chosen.quantity == FAR) *out = chosen.accepted / power;
    return of_radiated() && !(power > 0)
               ? ps_fail(PS_INVALID, "--quantity directivity: nothing is radiated")
               : PS_OK;
}

/* What radiates and what flows out differ by the product of outgoing and returning waves: a plane
 * wave from outside returns by itself. The far field takes the outgoing ones alone, so that this is
 * told and no more; but no more than is accepted can radiate. */
static ps_status check_powers(const job *j, int f, const ps_run *run)
{
    double hertz = j->header->frequency[f], power = j->radiated[f], accepted;
    if (!of_radiated() || strcmp(j->header->source_units, "V/m") == 0) return PS_OK;
    double balance = power / j->flow[f] - 1;
    if (fabs(balance) > PS_PHASORS_BALANCE)
        ps_warning("at %g Hz %.4g W radiate and %.4g W flow out through the surface, off by %.2g: "
                   "an outer boundary that returns waves (absorbing faces do, the nearer the more: "
                   "dgtd-setup --pml auto does not), or elements too large for the waves at it",
                   hertz, power, j->flow[f], balance);
    if (!ps_phasors_ports_give(j->phasors, f, &accepted) ||
        power <= (1 + PS_PHASORS_WRONG) * accepted)
        return PS_OK;
    return ps_refuse(run, "imbalance",
                     "at %g Hz %.4g W radiate, and the ports accept %.4g W: fields had not died "
                     "away, waves came back, or elements are too large for them",
                     hertz, power, accepted);
}

/* Conjugated: traces follow e^{-iwt}. */
static void put_row(const job *j, ps_trace *trace, int64_t sample, double scale)
{
    double root = sqrt(scale);
    for (int64_t d = 0; d < j->receivers.count; ++d)
        for (int c = 0; c < 3; ++c) {
            const double *v = j->out[d][c];
            if (chosen.quantity != FAR) continue;
            trace->real[sample * trace->channels + 3 * d + c] = root * v[0];
            trace->imaginary[sample * trace->channels + 3 * d + c] = -root * v[1];
        }
    for (int64_t d = 0; d < j->receivers.count && chosen.quantity != FAR; ++d)
        trace->real[sample * trace->channels + d] = scale * square_of(j->out[d]);
}

static void describe(const job *j, ps_trace *trace)
{
    static const char *const names[] = {"scattered far field", "radar cross-section", "gain",
                                        "directivity", "realized gain"};
    int width = chosen.quantity == FAR ? 3 : 1;
    for (int64_t c = 0; c < trace->channels; ++c)
        memcpy(trace->places + 3 * c, j->receivers.places + 3 * (c / width), 3 * sizeof(double));
    memcpy(trace->axis, j->header->frequency, (size_t)trace->samples * sizeof *trace->axis);
    trace->in_frequency = trace->far_field = true;
    strcpy(trace->quantity, names[chosen.quantity]);
    if (of_radiated())
        strcpy(trace->units, "1");
    else if (chosen.accepted > 0)
        strcpy(trace->units, "V");
    else if (strcmp(j->header->source_units, "V/m") == 0)
        strcpy(trace->units, width == 1 ? "m2" : "m");
    else
        snprintf(trace->units, sizeof trace->units, "V/(%.15s)", j->header->source_units);
}

/* Rows whose fields are held at a time. */
static int64_t batch_of(const job *j)
{
    int64_t chunk = ps_phasors_chunk_rows(j->phasors);
    return chunk < j->header->rows ? chunk : j->header->rows;
}

static ps_status compute(job *j, const ps_run *run, ps_trace *trace)
{
    int64_t width = 6 * j->reference.nodes, batch = batch_of(j);
    PS_TRY(PS_ALLOC(&j->electric, batch * width, "fields of elements"));
    PS_TRY(PS_ALLOC(&j->magnetic, batch * width, "fields of elements"));
    PS_TRY(PS_ALLOC(&j->sums, j->receivers.count + j->sphere, "sums of directions"));
    PS_TRY(PS_ALLOC(&j->out, j->receivers.count + j->sphere, "fields of directions"));
    for (int f = 0; f < j->header->frequencies; ++f) {
        double scale;
        PS_TRY(radiate(j, f, batch));
        PS_TRY(find_scale(j, f, &scale));
        PS_TRY(check_powers(j, f, run));
        put_row(j, trace, f, scale);
    }
    return PS_OK;
}

/* What is taken once the surface is there: the fields of a batch, sums and a trace. */
static ps_need need_of(const job *j)
{
    bool rcs = chosen.quantity != FAR;
    int64_t directions = j->receivers.count + j->sphere,
            channels = (rcs ? 1 : 3) * j->receivers.count;
    int64_t trace = 8 * (j->header->frequencies * channels * (rcs ? 1 : 2) + 3 * channels);
    double pairs = 3.0 * (double)j->header->frequencies * (double)directions;
    return (ps_need){.arrays =
                         batch_of(j) * 12 * j->reference.nodes * (int64_t)sizeof *j->electric +
                         directions *
                             (int64_t)(4 * sizeof *j->weights + sizeof *j->sums + sizeof *j->out) +
                         trace + ps_store_reader_bytes(ps_phasors_store(j->phasors)),
                     .writer = trace,
                     .disk = trace,
                     .seconds = 2e-8 * pairs * (double)j->surface.count};
}

static ps_status take(const job *j, const ps_run *run)
{
    const ps_need need = need_of(j);
    return ps_plan_take(run, &need, NULL);
}

/* Power and efficiency by frequency, and what the strongest direction of the sphere has. */
static void report_power(const job *j, ps_report *r)
{
    for (int f = 0; f < j->header->frequencies; ++f) {
        char name[48];
        double accepted, incident, strength = 4 * M_PI * j->strongest[f];
        snprintf(name, sizeof name, "%.9g Hz", j->header->frequency[f]);
        ps_report_section(r, name);
        ps_report_real(r, "radiated_power", j->radiated[f]);
        ps_report_real(r, "largest_directivity", strength / j->radiated[f]);
        if (strcmp(j->header->source_units, "V/m") != 0) {
            ps_report_real(r, "outflow", j->flow[f]);
            ps_report_real(r, "balance", j->radiated[f] / j->flow[f] - 1);
        }
        if (!j->header->has_accepted || ps_phasors_accepted(j->phasors, f, &accepted) != PS_OK)
            continue;
        ps_report_real(r, "accepted_power", accepted);
        ps_report_real(r, "efficiency", j->radiated[f] / accepted);
        ps_report_real(r, "largest_gain", strength / accepted);
        if (!j->header->has_incident || ps_phasors_incident(j->phasors, f, &incident) != PS_OK)
            continue;
        ps_report_real(r, "incident_power", incident);
        ps_report_real(r, "total_efficiency", j->radiated[f] / incident);
        ps_report_real(r, "largest_realized_gain", strength / incident);
    }
}

static ps_status report(const job *j, const ps_run *run)
{
    const ps_need need = need_of(j);
    ps_status status = PS_OK;
    ps_report *r = ps_report_new(run);
    ps_report_int(r, "frequencies", j->header->frequencies);
    ps_report_int(r, "directions", j->receivers.count);
    ps_report_int(r, "faces", j->surface.count);
    ps_report_real(r, "area", j->surface.area);
    ps_report_int(r, "holes_inside", j->surface.holes);
    ps_report_real(r, "background_eps", j->surface.eps);
    ps_report_real(r, "background_mu", j->surface.mu);
    if (j->header->unsettled >= 0) ps_report_real(r, "unsettled", j->header->unsettled);
    if (run->plan)
        status = ps_plan_take(run, &need, r);
    else if (of_radiated())
        report_power(j, r);
    ps_report_print(&r);
    return status;
}

static ps_status write_trace(job *j, const ps_product *product)
{
    PS_SCOPED(ps_trace_release) ps_trace trace = {0};
    bool rcs = chosen.quantity != FAR;
    PS_TRY(take(j, product->run));
    PS_TRY(ps_trace_init(&trace, j->header->frequencies, (rcs ? 1 : 3) * j->receivers.count, !rcs));
    describe(j, &trace);
    PS_TRY(compute(j, product->run, &trace));
    return ps_product_put_trace(product, &trace);
}

static ps_status list_directions(job *j)
{
    PS_TRY(ps_receivers_add_words(&j->receivers, &chosen.where));
    return j->receivers.count ? PS_OK : ps_fail(PS_USAGE, "say where: --direction or --directions");
}

static ps_status open_all(job *j, ps_product *product)
{
    const char *const *paths = product->run->operands;
    PS_TRY(open_files(j, product->run, paths[0], paths[1]));
    PS_TRY(ps_store_open(paths[1], PS_VOLUME_MESH_FORMAT, PS_VOLUME_MESH_VERSION, &j->mesh_store));
    PS_TRY(ps_product_input(product, "phasors", ps_phasors_store(j->phasors)));
    return ps_product_input(product, "mesh", j->mesh_store);
}

static ps_status run_far(ps_run *run)
{
    PS_SCOPED(release) job j = {.phasors = NULL};
    ps_product product;
    ps_product_init(run, PS_TRACE_FORMAT, PS_TRACE_VERSION, &product);
    PS_TRY(open_all(&j, &product));
    if (ps_product_is_up_to_date(&product)) return PS_OK;
    PS_TRY(list_directions(&j));
    PS_TRY(link_faces(&j));
    PS_TRY(mark_inside(&j));
    PS_TRY(check_enclosed(&j));
    j.body = (far_body){j.tets, j.links, j.inside, j.row_of, j.number, j.medium, j.kinds, j.header};
    PS_TRY(far_surface_make(run, &j.body, &j.surface));
    PS_TRY(list_sphere(&j));
    if (!run->plan) PS_TRY(write_trace(&j, &product));
    return report(&j, run);
}

static const ps_allowance allowances[] = {
    {"outside", "other media or metal outside of the surface, which scatter, too"},
    {"unsettled", "fields that had not died away or become steady"},
    {"imbalance", "more power that radiates than ports accept"},
    {NULL, NULL}};

const ps_program ps_this_program = {
    .name = "dgtd-far",
    .results = 2,
    .synopsis = "PHASORS MESH OUTPUT",
    .description = "The far field of a dgtd run, from E and H on a closed surface: the boundary of "
                   "the mesh or of some of its volumes, with the metal that is left out of them as "
                   "holes. A plane wave that passes through adds nothing, so that it is the "
                   "scattered field; of a source inside, the radiated one. It travels on in the "
                   "lossless medium around the surface. OUTPUT is a trace over the frequencies of "
                   "PHASORS, e^{-iwt}, per unit of the source (specs/dgtd_sar.md).",
    .examples =
        "  penstock-dgtd-far run.phasors.h5 ball.hdf far.h5 --around ball --directions 72\n"
        "  penstock-dgtd-sphere exact.h5 --radius 0.2 --eps 4 --quantity far --like far.h5\n"
        "  penstock-compare far.h5 exact.h5 --tolerance 0.02",
    .options = options,
    .figures = figure_table,
    .allowances = allowances,
    .run = run_far};
