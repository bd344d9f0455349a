/* step: the time step, whether it is stable, and which elements hold it back. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/dgtd/mesh.h"
#include "kernels/dgtd/upwind.h"
#include "runtime/log.h"
#include "runtime/memory.h"
#include "runtime/scope.h"
#include "setup.h"

/* Power iteration comes down to the limit from above. */
#define POWER_MARGIN 0.98
/* Of the limit, for the explicit absorbing term (numerics guide 5). */
#define PAPER_FRACTION 0.8
/* Volumes below this times the cube of the longest edge are flat to rounding. */
#define FLAT 1e-12

ps_dgtd_body setup_body(const setup *s)
{
    return (ps_dgtd_body){s->mesh.elements, s->media_count, s->mesh.vertices, s->mesh.tetrahedra,
                          s->mesh.links,    s->kinds,       s->material,      s->materials};
}

const char *element_text(const setup *s, int64_t e, char out[160])
{
    double x[3] = {0};
    for (int i = 0; i < 12; ++i)
        x[i % 3] += s->mesh.vertices[3 * (int64_t)s->mesh.tetrahedra[4 * e + i / 3] + i % 3] / 4;
    snprintf(out, 160, "tetrahedron %d of the mesh at (%.5g, %.5g, %.5g)", s->mesh.source[e], x[0],
             x[1], x[2]);
    return out;
}

/* ---- sizes ---- */

/* The value that would be at place n if values[count] were sorted; they are reordered (C. A. R.
 * Hoare, Algorithm 65, 1961). */
static double nth(double *values, int64_t count, int64_t n)
{
    int64_t low = 0, high = count - 1;
    while (low < high) {
        double pivot = values[low + (high - low) / 2];
        int64_t i = low, j = high;
        while (i <= j) {
            while (values[i] < pivot) ++i;
            while (values[j] > pivot) --j;
            if (i > j) break;
            double t = values[i];
            values[i++] = values[j];
            values[j--] = t;
        }
        if (n <= j)
            high = j;
        else if (n >= i)
            low = i;
        else
            break;
    }
    return values[n];
}

static ps_status measure(setup *s, double *scratch)
{
    static const int64_t removed[SETUP_GAINS] = {10, 100, 1000};
    const int64_t count = s->mesh.elements;
    ps_dgtd_body body = setup_body(s);
#pragma omp parallel for
    for (int64_t e = 0; e < count; ++e) {
        double t[3][3];
        ps_dgtd_tangents(s->mesh.vertices, s->mesh.tetrahedra + 4 * e, t);
        scratch[e] = ps_dgtd_size((const double(*)[3])t);
        s->sizes[e] = ps_dgtd_element_size(&body, e);
    }
    s->shape_min = INFINITY;
    for (int64_t e = 0; e < count; ++e) {
        s->shape_min = fmin(s->shape_min, scratch[e]);
        if (s->sizes[e] < s->sizes[s->limiting]) s->limiting = e;
    }
    double least = s->sizes[s->limiting];
    for (int64_t e = 0; e < count; ++e) s->close += s->sizes[e] < 1.1 * least;
    s->shape_median = nth(scratch, count, count / 2);
    memcpy(scratch, s->sizes, (size_t)count * sizeof *scratch);
    for (int g = 0; g < SETUP_GAINS; ++g)
        s->gains[g] = removed[g] < count ? nth(scratch, count, removed[g]) / least : 0;
    return PS_OK;
}

static ps_status find_sizes(setup *s)
{
    PS_SCOPED_MEMORY double *scratch = NULL;
    PS_TRY_IN(ps_dgtd_check_volumes(s->mesh.vertices, s->mesh.tetrahedra, s->mesh.elements, FLAT),
              "%s", s->input);
    PS_TRY(PS_ALLOC(&s->sizes, s->mesh.elements, "sizes of elements"));
    PS_TRY(PS_ALLOC(&scratch, s->mesh.elements, "sizes of elements"));
    PS_TRY(measure(s, scratch));
    s->header.dt_rule = ps_dgtd_step_constant(s->header.order) * s->sizes[s->limiting];
    if (s->options->scale >= s->mesh.elements)
        return ps_fail(PS_USAGE, "--scale-slivers %" PRId64 ": %s has %" PRId64 " elements",
                       s->options->scale, s->input, s->mesh.elements);
    if (s->options->scale == 0) return PS_OK;
    return scale_slivers(s, nth(scratch, s->mesh.elements, s->options->scale));
}

/* ---- power iteration ---- */

void iteration_release(iteration *x)
{
    free(x->system.tangents), free(x->system.links), free(x->system.kinds);
    free(x->system.bordered), free(x->system.material), free(x->system.steps);
    free(x->scratch.electric), free(x->scratch.magnetic);
    free(x->scratch.partial), free(x->scratch.weights);
    for (int k = 0; k < ITERATION_VECTORS; ++k) free(x->vectors[k]);
}

static ps_status bytes_of(void *pointer, size_t bytes)
{
    void *memory;
    PS_TRY(ps_alloc(&memory, (int64_t)bytes, 1, "the power iteration"));
    memcpy(pointer, &memory, sizeof memory);
    return PS_OK;
}

ps_status iteration_open(const setup *s, ps_precision precision, int vectors, iteration *x)
{
    ps_dgtd_bytes b;
    ps_dgtd_system *system = &x->system;
    ps_dgtd_reference_init(&x->reference, s->header.order);
    ps_dgtd_operators_init(&x->operators, &x->reference);
    *system = (ps_dgtd_system){.order = s->header.order,
                               .precision = precision,
                               .reference = &x->reference,
                               .operators = &x->operators};
    ps_dgtd_system_count(system, s->mesh.elements, s->media_count);
    ps_dgtd_system_bytes(system, &b);
    int64_t bytes = (int64_t)(b.tangents + b.links + b.kinds + (size_t)(2 + vectors) * b.field) +
                    ps_memory_peak();
    if (bytes > s->run->host_memory)
        return ps_fail(PS_EXHAUSTED,
                       "power iteration takes %.2f GB, --host-memory is %.2f GB; "
                       "--dt rule needs no fields",
                       (double)bytes / 1e9, (double)s->run->host_memory / 1e9);
    PS_TRY(bytes_of(&system->tangents, b.tangents));
    PS_TRY(bytes_of(&system->links, b.links));
    PS_TRY(bytes_of(&system->kinds, b.kinds));
    PS_TRY(bytes_of(&system->bordered, b.bordered));
    PS_TRY(bytes_of(&system->material, b.material));
    PS_TRY(bytes_of(&system->steps, b.steps));
    PS_TRY(bytes_of(&x->scratch.electric, b.field));
    PS_TRY(bytes_of(&x->scratch.magnetic, b.field));
    PS_TRY(bytes_of(&x->scratch.partial, (size_t)system->groups * sizeof(double)));
    PS_TRY(bytes_of(&x->scratch.weights, 2 * (size_t)s->media_count * sizeof(double)));
    for (int k = 0; k < vectors; ++k) PS_TRY(bytes_of(&x->vectors[k], b.field));
    ps_dgtd_body body = setup_body(s);
    return ps_dgtd_system_fill(system, &body);
}

static ps_status find_power_limit(setup *s)
{
    iteration *x;
    double start = ps_clock();
    PS_TRY(PS_ALLOC(&x, 1, "the power iteration"));
    ps_status status = iteration_open(s, PS_DOUBLE, 0, x);
    if (status == PS_OK)
        s->header.dt_power = ps_dgtd_power_limit(&x->system, s->materials,
                                                 (int)s->options->applications, &x->scratch);
    iteration_release(x);
    free(x);
    s->seconds_power = ps_clock() - start;
    return status;
}

/* ---- local steps ---- */

static ps_status divide_step(setup *s);

/* The classes of a step that is stable; where elements with smaller steps do not make it so, the
 * fraction is lowered. */
static ps_status set_local(setup *s, double fraction)
{
    bool power = strcmp(s->options->dt, "power") == 0, useful = true, stable;
    bool given = !power && strcmp(s->options->dt, "rule") != 0;
    PS_TRY(PS_ALLOC(&s->least_class, s->mesh.elements, "classes of steps"));
    for (;;) {
        PS_TRY(divide_step(s));
        PS_TRY(local_check(s, fraction, power, &stable));
        if (stable) return PS_OK;
        ps_info("%d levels of local steps of %.3g of the limit are unstable on this mesh: fewer or "
                "smaller ones are tried",
                s->header.local_levels, fraction);
        if (!given && local_whole_alone(s)) {
            PS_TRY(local_step(s, fraction, &s->header.dt, &useful));
            if (useful) continue;
        }
        bool fewer = !given && strcmp(s->options->local, "auto") == 0 && s->levels_chosen > 1;
        s->levels_most = fewer ? s->levels_chosen - 1 : 0;
        if (!fewer) fraction *= 0.93;
        if (!given) PS_TRY(local_step(s, fraction, &s->header.dt, &useful));
        if (!useful || fraction < .3)
            return ps_fail(PS_USAGE,
                           "--local-steps %s: no stable steps were found; is a step of all "
                           "elements stable (--dt power)?",
                           s->options->local);
    }
}

/* ---- the step ---- */

/* The part of the centred, averaged scheme's limit up to which the chosen one is stable. */
static double stable_share(const setup *s)
{
    if (s->header.upwind && !s->header.upwind_layer) return PS_DGTD_UPWIND_LIMIT;
    return !s->header.averaged && s->face_counts[PS_DGTD_ABSORBING] > 0 ? PAPER_FRACTION : 1;
}

/* A step above what the rule allows is judged by power iteration. */
static ps_status check_stable(setup *s)
{
    double share = stable_share(s), dt = s->header.dt;
    const char *why = share == PS_DGTD_UPWIND_LIMIT ? " (0.43 of it with --flux upwind)"
                      : share < 1                   ? " (0.8 of it with --absorbing paper)"
                                                    : "";
    char place[160];
    if (s->header.upwind_layer && dt > PS_DGTD_UPWIND_LIMIT * s->header.dt_layer * (1 + 1e-12))
        return ps_fail(PS_USAGE,
                       "a time step of %.6g s (%.6g m) is unstable with the upwind flux in the "
                       "layer, which takes 0.43 of its elements' limit, %.6g s",
                       dt / PS_DGTD_C0, dt, s->header.dt_layer / PS_DGTD_C0);
    if (dt <= share * s->header.dt_rule * (1 + 1e-12)) return PS_OK;
    if (s->header.dt_power == 0) {
        ps_info("--dt %s is above the rule's limit of %.6g m: power iteration will tell",
                s->options->dt, s->header.dt_rule);
        PS_TRY(find_power_limit(s));
    }
    double limit = fmax(s->header.dt_rule, POWER_MARGIN * s->header.dt_power);
    if (dt <= share * limit) return PS_OK;
    return ps_fail(PS_USAGE,
                   "a time step of %.6g s (%.6g m) is unstable: the limit is %.6g s%s, the "
                   "rule's %.6g s, set by %s",
                   dt / PS_DGTD_C0, dt, limit / PS_DGTD_C0, why, s->header.dt_rule / PS_DGTD_C0,
                   element_text(s, s->limiting, place));
}

/* "900MHz" or a time. */
static ps_status read_divided(const char *text, double *metres)
{
    static const struct {
        const char *suffix;
        double hertz;
    } units[] = {{"Hz", 1}, {"kHz", 1e3}, {"MHz", 1e6}, {"GHz", 1e9}};
    char *rest;
    double number = strtod(text, &rest);
    for (size_t u = 0; rest != text && number > 0 && u < sizeof units / sizeof *units; ++u)
        if (strcmp(rest, units[u].suffix) == 0) {
            *metres = PS_DGTD_C0 / (number * units[u].hertz);
            return PS_OK;
        }
    PS_TRY(parse_time("divide", text, metres));
    return *metres > 0 ? PS_OK
                       : ps_fail(PS_USAGE,
                                 "--divide %s: a positive time or frequency is "
                                 "expected",
                                 text);
}

/* The upwind flux in the layer alone holds back only its elements. */
static void limit_layer(setup *s)
{
    double least = INFINITY;
    for (int64_t e = 0; e < s->mesh.elements && s->header.upwind_layer; ++e)
        if (s->layer[e]) least = fmin(least, s->sizes[e]);
    s->header.dt_layer =
        s->header.upwind_layer ? ps_dgtd_step_constant(s->header.order) * least : 0;
}

static ps_status divide_step(setup *s)
{
    double whole, dt = s->header.dt;
    if (!s->options->divide) return PS_OK;
    PS_TRY(read_divided(s->options->divide, &whole));
    s->header.dt = whole / ceil(whole / dt * (1 - 1e-12));
    return PS_OK;
}

static ps_status choose_step(setup *s)
{
    const char *how = s->options->dt;
    ps_dgtd_model_header *h = &s->header;
    double fraction = s->options->fraction;
    bool local = local_wanted(s);
    s->local_share = stable_share(s);
    if (local) {
        double part = fraction > 0 ? fraction : fmin(0.85, stable_share(s));
        bool given = strcmp(how, "rule") != 0 && strcmp(how, "power") != 0;
        PS_TRY(local_step(s, part, &h->dt, &local));
        if (given) PS_TRY(parse_time("dt", how, &h->dt));
        if (local || given) return set_local(s, part);
    }
    if (fraction == 0) fraction = h->upwind && !h->upwind_layer ? 0.4 : fmin(0.9, stable_share(s));
    limit_layer(s);
    if (strcmp(how, "rule") == 0) {
        h->dt = fraction * h->dt_rule;
    } else if (strcmp(how, "power") == 0) {
        PS_TRY(find_power_limit(s));
        h->dt = fraction * h->dt_power;
    } else {
        PS_TRY(parse_time("dt", how, &h->dt));
        if (!(h->dt > 0))
            return ps_fail(PS_USAGE, "--dt %s: rule, power or a positive time is expected", how);
    }
    if (h->upwind_layer && (strcmp(how, "rule") == 0 || strcmp(how, "power") == 0))
        h->dt = fmin(h->dt, PS_DGTD_UPWIND_LIMIT * fraction * h->dt_layer);
    return divide_step(s);
}

/* With wires (2/dt)^2 is to be as much larger (kernels/dgtd/wire.h): a step that was given is
 * refused, another one made shorter. */
static ps_status limit_wires(setup *s)
{
    ps_dgtd_model_header *h = &s->header;
    double limit = stable_share(s) * fmax(h->dt_rule, POWER_MARGIN * h->dt_power);
    double most = 1 / sqrt(1 / (limit * limit) + s->wire_rate / 4);
    bool given = strcmp(s->options->dt, "rule") != 0 && strcmp(s->options->dt, "power") != 0;
    if (s->wires.count == 0 || h->dt <= most) return PS_OK;
    if (given)
        return ps_fail(PS_USAGE,
                       "a time step of %.6g s is unstable with the wires, which take at most %.6g "
                       "s: give that, or a "
                       "wider tube= and longer segments",
                       h->dt / PS_DGTD_C0, most / PS_DGTD_C0);
    h->dt = .99 * most;
    return divide_step(s);
}

ps_status set_step(setup *s)
{
    PS_TRY(find_sizes(s));
    PS_TRY(finish_wires(s));
    PS_TRY(choose_step(s));
    PS_TRY(limit_wires(s));
    return s->header.local_levels > 0 ? PS_OK : check_stable(s);
}
