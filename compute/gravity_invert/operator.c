/* J and its transpose, by sums over prisms; how far they are off. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compute/gravity_invert/invert.h"
#include "runtime/log.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

enum { ORDER_MAX = 12, FEWEST = 16, MOST = 1000 };
static const double digits_an_order = 0.72;

/* ---- J ---- */

/* Weights of the sum from values of cells, [length]. */
static void spread(inversion *v, const double *values)
{
    const int64_t n = v->mesh.cells;
    for (int w = 0; w < v->weights; ++w) {
        const double *from = v->parts > 1 ? values + w * n : values;
        double factor = v->weights > 1 && v->parts == 1 ? v->direction[w] : 1;
#pragma omp parallel for simd schedule(static)
        for (int64_t i = 0; i < n; ++i) v->weight[w][i] = factor * from[i];
    }
}

static void project(const inversion *v, double *const *numbers, int64_t count, double *data)
{
    for (int64_t i = 0; i < count; ++i) {
        data[i] = 0;
        for (int k = 0; k < v->numbers; ++k)
            if (v->factor[k] != 0) data[i] += v->factor[k] * numbers[k][i];
    }
}

ps_status operator_of_model(inversion *v, const double *model, double *data)
{
    spread(v, model);
    PS_TRY(ps_prism_sum_apply(v->sum, (const double *const *)v->weight, v->result));
    ps_prism_sum_figures_of(v->sum, &v->figures);
    project(v, v->result, v->stations.count, data);
    return PS_OK;
}

ps_status operator_apply(inversion *v, const double *x, double *data)
{
    const int64_t n = v->mesh.cells;
    const double *scale = v->smooth.scale;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < v->length; ++i) v->model[i] = scale[i % n] * x[i];
    return operator_of_model(v, v->model, data);
}

ps_status operator_transposed(inversion *v, const double *data, double *x)
{
    const int64_t n = v->mesh.cells;
    for (int k = 0; k < v->numbers; ++k)
        for (int64_t i = 0; i < v->stations.count; ++i) v->result[k][i] = v->factor[k] * data[i];
    PS_TRY(ps_prism_sum_transposed(v->sum, (const double *const *)v->result, v->weight));
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; ++i)
        for (int p = 0; p < v->parts; ++p) {
            double sum = v->weight[p][i];
            if (v->weights > v->parts)
                sum = v->direction[0] * v->weight[0][i] + v->direction[1] * v->weight[1][i] +
                      v->direction[2] * v->weight[2][i];
            x[p * n + i] = v->smooth.scale[i] * sum;
        }
    return PS_OK;
}

/* ---- how far it is off ---- */

/* As many as cost a few seconds: evenly along the Morton order. */
static int64_t choose(const inversion *v, int64_t indices[MOST])
{
    const int64_t *order = ps_prism_sum_station_order(v->sum), all = v->stations.count;
    double wanted = fmin(fmax(4e7 / (double)v->mesh.cells, FEWEST), fmin(MOST, (double)all));
    int64_t count = (int64_t)wanted;
    if (count > all) count = all;
    for (int64_t i = 0; i < count; ++i)
        indices[i] = order[(int64_t)(((double)i + 0.5) / (double)count * (double)all)];
    return count;
}

/* data[samples] of a model, directly. */
static ps_status sum_directly(inversion *v, const double *model, int64_t *indices, double *data)
{
    double *room, *numbers[PS_PRISM_NUMBERS];
    v->samples = choose(v, indices);
    PS_TRY(PS_ALLOC(&room, PS_PRISM_NUMBERS * v->samples, "samples"));
    for (int k = 0; k < PS_PRISM_NUMBERS; ++k) numbers[k] = room + k * v->samples;
    spread(v, model);
    ps_prism_sum_direct(&v->bodies, (const double *const *)v->weight, indices, v->samples,
                        (int)v->run->threads, numbers);
    project(v, numbers, v->samples, data);
    free(room);
    return PS_OK;
}

ps_status operator_check(inversion *v, const double *model, const double *data)
{
    int64_t indices[MOST];
    double direct[MOST];
    v->operator_error = 0;
    if (v->figures.height < 3) return PS_OK;
    PS_TRY(sum_directly(v, model, indices, direct));
    for (int64_t i = 0; i < v->samples; ++i) {
        double off = fabs(data[indices[i]] - direct[i]) / v->stations.column[4][indices[i]];
        v->operator_error = fmax(v->operator_error, off);
    }
    if (v->operator_error <= 0.1) return PS_OK;
    return ps_fail(PS_INACCURATE,
                   "the sums over the model are off by up to %.3g of the errors at %lld stations "
                   "that were summed directly, .1 is allowed: nothing is written; --accuracy %.1g "
                   "does better",
                   v->operator_error, (long long)v->samples, v->options.accuracy / 10);
}

/* Relative error for a model that has what the stations see; data and model are scratch. */
static ps_status measure(inversion *v, double *out)
{
    int64_t indices[MOST];
    double direct[MOST], off = 0, size = 0;
    double *probe;
    PS_TRY(PS_ALLOC(&probe, v->length, "a probe"));
    ps_status status = operator_transposed(v, v->wanted, probe);
    if (status == PS_OK) status = operator_apply(v, probe, v->data);
    if (status == PS_OK) status = sum_directly(v, v->model, indices, direct);
    free(probe);
    PS_TRY(status);
    for (int64_t i = 0; i < v->samples; ++i) {
        off += (v->data[indices[i]] - direct[i]) * (v->data[indices[i]] - direct[i]);
        size += direct[i] * direct[i];
    }
    *out = size > 0 ? sqrt(off / size) : 0;
    return isfinite(*out) ? PS_OK : ps_fail(PS_FAILED, "sums over prisms are not finite");
}

static ps_status choose_order(inversion *v)
{
    ps_prism_sum_figures_of(v->sum, &v->figures);
    double reached, accuracy = v->options.accuracy;
    v->order = v->options.order;
    if (v->order == 0)
        v->order = (int)fmin(fmax(ceil((0.2 - log10(accuracy)) / digits_an_order), 3), ORDER_MAX);
    for (;; ++v->order) {
        PS_TRY(ps_prism_sum_operators(v->sum, v->order, pow(10, -v->order)));
        if (v->options.order > 0 || v->figures.height < 3) return PS_OK;
        PS_TRY(measure(v, &reached));
        if (reached <= accuracy) return PS_OK;
        if (v->order == ORDER_MAX)
            return ps_fail(PS_INACCURATE,
                           "an accuracy of %.3g is not reached: sums of order %d are off by %.3g",
                           accuracy, v->order, reached);
        ps_info("sums of order %d are off by %.2g: once more", v->order, reached);
    }
}

/* ---- opening ---- */

/* What is measured, of V, g, T along x east, y north, z up, in mGal and Eotvos; or of B, nT. */
static void set_factors(inversion *v)
{
    static const int number[9] = {3, 1, 2, 4, 5, 6, 7, 8, 9}; /* of component_names */
    const double degree = 0.017453292519943295;
    double down = v->options.inclination * degree, east = v->options.declination * degree;
    int k = number[v->options.component];
    v->direction[0] = cos(down) * sin(east);
    v->direction[1] = cos(down) * cos(east);
    v->direction[2] = -sin(down);
    if (v->options.field == FIELD_GRAVITY)
        v->factor[k] = v->options.gravity * (k < 4 ? 1e5 : 1e9) * (k == 3 ? -1 : 1);
    else
        for (int d = 0; d < 3; ++d) v->factor[d] = 1e-7 * 1e9 * v->direction[d];
}

static ps_status refuse_inside(inversion *v, const int64_t *containing)
{
    int64_t first = -1;
    double *const *s = v->stations.column;
    for (int64_t i = 0; i < v->stations.count; ++i)
        if (containing[i] >= 0 && v->inside++ == 0) first = i;
    if (v->inside == 0) return PS_OK;
    const char *format = "%lld of %lld stations lie inside of cells: station %lld at %.10g, %.10g, "
                         "%.10g, where the cell reaches up to %.10g; --active tells which cells "
                         "are air";
    double top = v->mesh.high[2][containing[first]];
    if (v->options.field != FIELD_GRAVITY)
        return ps_fail(PS_INVALID, format, (long long)v->inside, (long long)v->stations.count,
                       (long long)first + 1, s[0][first], s[1][first], s[2][first], top);
    return ps_refuse(v->run, "stations-inside", format, (long long)v->inside,
                     (long long)v->stations.count, (long long)first + 1, s[0][first], s[1][first],
                     s[2][first], top);
}

static ps_status check_inside(inversion *v)
{
    PS_SCOPED_MEMORY int64_t *containing = NULL;
    PS_TRY(PS_ALLOC(&containing, v->stations.count, "stations inside of cells"));
    ps_prism_sum_inside(v->sum, containing);
    return refuse_inside(v, containing);
}

/* Axes along which a station lies on a plane of the mesh. */
static int planes_of(const inversion *v, int64_t station)
{
    int count = 0;
    for (int a = 0; a < 3; ++a)
        for (int64_t j = 0; j <= v->mesh.count[a]; ++j)
            if (v->stations.column[a][station] == v->mesh.edges[a][j]) {
                ++count;
                break;
            }
    return count;
}

/* Second derivatives are not numbers on edges of cells. */
static ps_status check_edges(inversion *v)
{
    double numbers[PS_PRISM_NUMBERS][1], *out[PS_PRISM_NUMBERS];
    if (v->bodies.kind == PS_PRISM_GRAVITY) return PS_OK;
    for (int k = 0; k < PS_PRISM_NUMBERS; ++k) out[k] = numbers[k];
    for (int64_t i = 0; i < v->stations.count; ++i) {
        if (planes_of(v, i) < 2) continue;
        ps_prism_sum_direct(&v->bodies, (const double *const *)v->weight, &i, 1,
                            (int)v->run->threads, out);
        for (int k = 0; k < v->numbers; ++k)
            if (isnan(numbers[k][0]))
                return ps_fail(PS_INVALID,
                               "station %lld lies on an edge of a cell, where derivatives are not "
                               "numbers: move the mesh or the station",
                               (long long)i + 1);
    }
    return PS_OK;
}

static ps_status take_memory(inversion *v)
{
    for (int w = 0; w < v->weights; ++w) PS_TRY(PS_ALLOC(&v->weight[w], v->mesh.cells, "weights"));
    for (int k = 0; k < v->numbers; ++k)
        PS_TRY(PS_ALLOC(&v->result[k], v->stations.count, "results"));
    PS_TRY(PS_ALLOC(&v->data, v->stations.count, "results"));
    PS_TRY(PS_ALLOC(&v->wanted, v->stations.count, "results"));
    PS_TRY(PS_ALLOC(&v->computed, v->stations.count, "results"));
    return PS_ALLOC(&v->model, v->length, "a model");
}

/* What the stations saw less what the reference gives them. */
static ps_status set_wanted(inversion *v)
{
    memset(v->wanted, 0, (size_t)v->stations.count * sizeof *v->wanted);
    if (v->reference) PS_TRY(operator_of_model(v, v->reference, v->wanted));
    for (int64_t i = 0; i < v->stations.count; ++i)
        v->wanted[i] = v->stations.column[3][i] - v->wanted[i];
    return PS_OK;
}

/* On a device that was not asked for by name only if its memory is enough. */
static ps_status open_sum(inversion *v)
{
    ps_prism_sum_options options = {
        .height = v->options.height, .threads = (int)v->run->threads, .device = v->device};
    ps_status status = ps_prism_sum_open(&v->bodies, &options, &v->sum);
    if (status != PS_EXHAUSTED || !v->device || strcmp(v->run->device, "auto") != 0) return status;
    ps_info("computing on cores: %s", ps_message());
    ps_device_close(&v->device);
    options.device = NULL;
    return ps_prism_sum_open(&v->bodies, &options, &v->sum);
}

ps_status operator_open(inversion *v)
{
    bool gradient = v->options.component > 2;
    v->bodies = (ps_prism_bodies){.kind = v->options.field != FIELD_GRAVITY ? PS_PRISM_MAGNETIC
                                          : gradient                        ? PS_PRISM_TENSOR
                                                                            : PS_PRISM_GRAVITY,
                                  .prisms = v->mesh.cells,
                                  .stations = v->stations.count};
    for (int d = 0; d < 3; ++d) {
        v->bodies.low[d] = v->mesh.low[d];
        v->bodies.high[d] = v->mesh.high[d];
        v->bodies.place[d] = v->stations.column[d];
    }
    v->numbers = ps_prism_kind_numbers(v->bodies.kind);
    v->weights = ps_prism_kind_weights(v->bodies.kind);
    set_factors(v);
    PS_TRY(ps_device_open(v->run->device, 0, &v->device));
    PS_TRY(take_memory(v));
    PS_TRY(check_edges(v));
    PS_TRY(open_sum(v));
    PS_TRY(check_inside(v));
    memcpy(v->wanted, v->stations.column[3], (size_t)v->stations.count * sizeof *v->wanted);
    PS_TRY(choose_order(v));
    return set_wanted(v);
}

void operator_close(inversion *v)
{
    ps_prism_sum_close(&v->sum);
    ps_device_close(&v->device);
    for (int w = 0; w < 3; ++w) free(v->weight[w]);
    for (int k = 0; k < PS_PRISM_NUMBERS; ++k) free(v->result[k]);
    PS_FREE(v->data, v->wanted, v->computed, v->model);
}
