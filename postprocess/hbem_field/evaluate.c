#include <math.h>
#include <string.h>

#include "kernels/common/vec3.h"
#include "kernels/hbem/loads.h"
#include "kernels/hbem/potentials_device.h"
#include "postprocess/hbem_field/field.h"
#include "runtime/comm.h"
#include "runtime/memory.h"

/* Incidences at a time: a batch of densities shares the kernel values of a point. Receivers at a
 * time: what bounds the memory of a batch. */
enum { BATCH = 8, BLOCK = 32768 };
/* Diameters within which triangles are taken in closed form; diameters within which a sum is
 * not taken back but done anew, of fp64 and of fp32. */
static const double REACH = 3, NOISE[PS_PRECISION_COUNT] = {[PS_DOUBLE] = 1e-3, [PS_SINGLE] = .2};

int64_t field_channels(const field_task *task)
{
    return task->backscatter ? task->count : task->count * task->receivers->count;
}

static int64_t parts_of(const field_task *task) { return task->source->header->parts; }

/* Receivers of a batch, at most. */
static int64_t most_receivers(const field_task *task)
{
    if (task->backscatter) return BATCH;
    return task->receivers->count < BLOCK ? task->receivers->count : BLOCK;
}

static int64_t most_dofs(const field_task *task)
{
    int64_t most = 0;
    for (int l = 0; l < PS_LAYERS; ++l)
        if (task->source->spaces[l].dofs > most) most = task->source->spaces[l].dofs;
    return most;
}

/* One batch: densities of a layer, values at some receivers. On a device: memory there, and what
 * goes there and comes from there. */
typedef struct batch {
    const field_task *task;
    ps_hbem_rule rule;
    double *densities; /* [BATCH][parts][dofs]           */
    double *values;    /* [receivers][columns][parts]    */
    double *layer;     /* the same, of one layer         */
    double *images;    /* [receivers][3] as an image of the body is seen                 */
    void *workspace, *there, *here;
} batch;

static ps_hbem_potential_task potential_of(const batch *b, ps_layer layer, double k)
{
    const field_task *task = b->task;
    bool far = task->receivers->far_field, single = layer == PS_LAYER_SINGLE;
    return (ps_hbem_potential_task){
        .kind = far ? (single ? PS_POTENTIAL_FAR_SINGLE : PS_POTENTIAL_FAR_DOUBLE)
                    : (single ? PS_POTENTIAL_SINGLE : PS_POTENTIAL_DOUBLE),
        .wavenumber = k,
        .factor = task->source->header->layer[layer].factor,
        .space = &task->source->spaces[layer],
        .rule = &b->rule,
        .columns = BATCH,
        .densities = b->densities,
        .values = b->layer};
}

int64_t field_memory(const field_task *task)
{
    return 8 * BATCH * parts_of(task) * (most_dofs(task) + 2 * most_receivers(task)) +
           24 * most_receivers(task) +
           (int64_t)sizeof(ps_hbem_triangle) * task->source->surface.triangle_count + (64 << 20);
}

/* ---- on a device ---- */

/* Memory for the widest sum, with the surface in it: it is the same for all. */
static ps_status device_open(batch *b, const ps_hbem_potential_task *widest)
{
    const field_task *task = b->task;
    ps_device_potential here, there;
    if (!task->stream) return PS_OK;
    PS_TRY(ps_device_potential_shape(widest, task->precision, &there));
    here = there;
    PS_TRY(ps_alloc_untouched(&b->here, ps_device_potential_bytes(&here, false), "densities"));
    PS_TRY(ps_device_alloc(ps_stream_device(task->stream), ps_device_potential_bytes(&there, true),
                           &b->there));
    ps_device_potential_attach(&here, false, b->here);
    ps_device_potential_attach(&there, true, b->there);
    ps_device_potential_fill_surface(widest, &here);
    return ps_copy_to_device(task->stream, there.triangles, here.triangles,
                             8 * PS_DEVICE_POTENTIAL_ROW * here.triangle_count);
}

static ps_status sum_on_device(batch *b, const ps_hbem_potential_task *potential)
{
    ps_stream *stream = b->task->stream;
    ps_device_potential here, there;
    PS_TRY(ps_device_potential_shape(potential, b->task->precision, &there));
    here = there;
    ps_device_potential_attach(&here, false, b->here);
    ps_device_potential_attach(&there, true, b->there);
    ps_device_potential_fill(potential, &here);
    PS_TRY(ps_copy_to_device(stream, there.densities, here.densities,
                             (char *)here.sums - (char *)here.densities));
    PS_TRY(ps_device_potential_run(&there, &b->rule, stream));
    PS_TRY(ps_copy_to_host(stream, here.sums, there.sums, 8 * here.target_count * here.numbers));
    PS_TRY(ps_stream_wait(stream));
    ps_device_potential_add(potential, here.sums);
    return PS_OK;
}

/* ---- batches ---- */

static ps_status batch_open(batch *b, const field_task *task)
{
    *b = (batch){.task = task};
    if (task->quadrature)
        ps_hbem_rule_collapsed(task->quadrature, &b->rule);
    else
        ps_hbem_rule_six(&b->rule);
    bool twofold = task->source->header->layer[PS_LAYER_DOUBLE].factor != 0;
    ps_hbem_potential_task widest = potential_of(b, twofold ? PS_LAYER_DOUBLE : PS_LAYER_SINGLE, 1);
    widest.target_count = most_receivers(task);
    PS_TRY(device_open(b, &widest));
    PS_TRY(PS_ALLOC(&b->densities, BATCH * parts_of(task) * most_dofs(task), "densities"));
    PS_TRY(PS_ALLOC(&b->values, BATCH * parts_of(task) * most_receivers(task), "fields"));
    PS_TRY(PS_ALLOC(&b->layer, BATCH * parts_of(task) * most_receivers(task), "fields"));
    PS_TRY(PS_ALLOC(&b->images, 3 * most_receivers(task), "receivers"));
    return ps_alloc_untouched(&b->workspace, ps_hbem_potentials_bytes(&widest, task->threads),
                              "workspace");
}

static void batch_close(batch *b)
{
    PS_FREE(b->densities, b->values, b->layer, b->images, b->workspace, b->here);
    if (b->there) ps_device_free(ps_stream_device(b->task->stream), b->there);
}

/* Densities of `columns` incidences from `incidence` on. */
static ps_status read_densities(batch *b, ps_layer layer, int64_t frequency, int64_t incidence,
                                int columns)
{
    field_source *source = b->task->source;
    int64_t each = parts_of(b->task) * source->spaces[layer].dofs;
    for (int c = 0; c < columns; ++c) {
        const field_entry *e = source->table[frequency * source->incidences + incidence + c];
        PS_TRY(ps_hbem_solution_get(&source->files[e->file], layer, e->index,
                                    b->densities + c * each));
    }
    return PS_OK;
}

/* A layer at its targets, into b->layer. */
static ps_status sum_layer(batch *b, const ps_hbem_potential_task *potential)
{
    const field_task *task = b->task;
    const ps_hbem_nearness how = {REACH, NOISE[task->stream ? task->precision : PS_DOUBLE],
                                  field_side(task->source)};
    int64_t numbers = potential->target_count * potential->columns * parts_of(task);
    memset(b->layer, 0, (size_t)numbers * sizeof *b->layer);
    if (task->stream)
        PS_TRY(sum_on_device(b, potential));
    else
        ps_hbem_potentials(potential, task->threads, b->workspace);
    if (!task->receivers->far_field)
        ps_hbem_potentials_near(potential, &how, task->threads, b->workspace);
    return PS_OK;
}

/* Adds the layer of an image. Far away, the image of the origin is a phase off: e^{-ik x^.s}. */
static void add_image(batch *b, int copy, double k, const double *places, int64_t count,
                      int columns)
{
    const field_task *task = b->task;
    const ps_reflectors *m = &task->source->mirrors;
    int64_t parts = parts_of(task), each = columns * parts;
    double origin[3] = {0, 0, 0}, sign = ps_reflectors_sign(m, copy);
    ps_reflectors_point(m, copy, origin, origin);
    for (int64_t r = 0; r < count; ++r) {
        double phase = task->receivers->far_field ? -k * ps_dot3(places + 3 * r, origin) : 0;
        double re = sign * cos(phase), im = sign * sin(phase);
        for (int64_t c = 0; c < columns; ++c) {
            const double *from = b->layer + r * each + c * parts;
            double *to = b->values + r * each + c * parts;
            to[0] += re * from[0] - (parts == 2 ? im * from[1] : 0);
            if (parts == 2) to[1] += re * from[1] + im * from[0];
        }
    }
}

/* Where the body itself is seen as its image is from places[count]. */
static void look_from_images(batch *b, int copy, const double *places, int64_t count)
{
    const ps_reflectors *m = &b->task->source->mirrors;
    for (int64_t r = 0; r < count; ++r)
        b->task->receivers->far_field
            ? ps_reflectors_vector(m, copy, places + 3 * r, b->images + 3 * r)
            : ps_reflectors_point(m, copy, places + 3 * r, b->images + 3 * r);
}

/* Both layers of a batch, and of its images, at receivers places[count]. */
static ps_status sum_layers(batch *b, int64_t frequency, int64_t incidence, int columns,
                            int64_t count, const double *places)
{
    const field_task *task = b->task;
    double k = task->source->wavenumbers[frequency];
    int64_t numbers = count * columns * parts_of(task);
    memset(b->values, 0, (size_t)numbers * sizeof *b->values);
    for (int l = 0; l < PS_LAYERS; ++l) {
        ps_hbem_potential_task potential = potential_of(b, (ps_layer)l, k);
        if (potential.factor == 0) continue;
        potential.absorption = task->source->absorption[frequency];
        PS_TRY(read_densities(b, (ps_layer)l, frequency, incidence, columns));
        potential.columns = columns;
        potential.target_count = count;
        potential.targets = places;
        PS_TRY(sum_layer(b, &potential));
        for (int64_t i = 0; i < numbers; ++i) b->values[i] += b->layer[i];
        potential.targets = b->images;
        for (int copy = 1; copy < ps_reflectors_images(&task->source->mirrors); ++copy) {
            look_from_images(b, copy, places, count);
            PS_TRY(sum_layer(b, &potential));
            add_image(b, copy, k, places, count, columns);
        }
    }
    return PS_OK;
}

static void add_incident(const field_task *task, int64_t frequency, int64_t incidence,
                         const double *x, double value[2])
{
    static const ps_load_kind kinds[PS_INCIDENT_KINDS] = {
        PS_LOAD_PLANE, PS_LOAD_POINT, PS_LOAD_DIPOLE, PS_LOAD_NONE, PS_LOAD_NONE};
    const field_entry *e = task->source->incident[incidence];
    ps_hbem_load load = {.kind = kinds[e->incident],
                         .wavenumber = task->source->wavenumbers[frequency],
                         .absorption = task->source->absorption[frequency],
                         .mirrors = &task->source->mirrors};
    double own[2];
    bool plane = e->incident == PS_INCIDENT_PLANE;
    memcpy(load.vector, plane ? e->direction : e->source, sizeof load.vector);
    memcpy(load.axis, e->source + 3, sizeof load.axis);
    ps_hbem_load_at(&load, x, e->direction, own);
    value[0] += own[0];
    value[1] += own[1];
}

/* A value of the batch to its channel. */
static void put_value(const batch *b, int64_t frequency, int64_t incidence, int64_t receiver,
                      const double *from, double *real, double *imaginary)
{
    const field_task *task = b->task;
    int64_t i = incidence - task->first;
    int64_t channel = task->backscatter ? i : i * task->receivers->count + receiver;
    double value[2] = {from[0], parts_of(task) == 2 ? from[1] : 0};
    if (task->total)
        add_incident(task, frequency, incidence, task->receivers->places + 3 * receiver, value);
    real[channel] = value[0];
    if (imaginary) imaginary[channel] = value[1];
}

/* [first, end) of `all` of this rank. */
static void own_part(int64_t all, int64_t *first, int64_t *end)
{
    int64_t rank = ps_comm_rank(), size = ps_comm_size();
    *first = all * rank / size;
    *end = all * (rank + 1) / size;
}

/* Every incidence at receivers [first, end). */
static ps_status run_block(batch *b, int64_t frequency, int64_t first, int64_t end, double *real,
                           double *imaginary)
{
    const field_task *task = b->task;
    int64_t parts = parts_of(task);
    for (int64_t i = 0; i < task->count; i += BATCH) {
        int columns = (int)(task->count - i < BATCH ? task->count - i : BATCH);
        PS_TRY(sum_layers(b, frequency, task->first + i, columns, end - first,
                          task->receivers->places + 3 * first));
        for (int64_t r = first; r < end; ++r)
            for (int c = 0; c < columns; ++c)
                put_value(b, frequency, task->first + i + c, r,
                          b->values + ((r - first) * columns + c) * parts, real, imaginary);
    }
    return PS_OK;
}

/* Every incidence at every receiver of this rank. */
static ps_status run_receivers(batch *b, int64_t frequency, double *real, double *imaginary)
{
    int64_t first, end;
    own_part(b->task->receivers->count, &first, &end);
    for (; first < end; first += BLOCK) {
        int64_t last = end - first < BLOCK ? end : first + BLOCK;
        PS_TRY(run_block(b, frequency, first, last, real, imaginary));
    }
    return PS_OK;
}

/* Incidence i at receiver i: the diagonals of batches, incidences of this rank. */
static ps_status run_backscatter(batch *b, int64_t frequency, double *real, double *imaginary)
{
    const field_task *task = b->task;
    int64_t first, end, parts = parts_of(task);
    own_part(task->count, &first, &end);
    for (int64_t i = first; i < end; i += BATCH) {
        int columns = (int)(end - i < BATCH ? end - i : BATCH);
        PS_TRY(sum_layers(b, frequency, task->first + i, columns, columns,
                          task->receivers->places + 3 * i));
        for (int c = 0; c < columns; ++c)
            put_value(b, frequency, task->first + i + c, i + c,
                      b->values + (c * columns + c) * parts, real, imaginary);
    }
    return PS_OK;
}

ps_status field_evaluate(const field_task *task, int64_t frequency, double *real, double *imaginary)
{
    batch b;
    size_t bytes = (size_t)field_channels(task) * sizeof *real;
    memset(real, 0, bytes);
    if (imaginary) memset(imaginary, 0, bytes);
    ps_status status = batch_open(&b, task);
    if (status == PS_OK)
        status = task->backscatter ? run_backscatter(&b, frequency, real, imaginary)
                                   : run_receivers(&b, frequency, real, imaginary);
    batch_close(&b);
    PS_TRY(ps_comm_agree(status));
    PS_TRY(ps_comm_sum_f64(real, field_channels(task)));
    return imaginary ? ps_comm_sum_f64(imaginary, field_channels(task)) : PS_OK;
}
