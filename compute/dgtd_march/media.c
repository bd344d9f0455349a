/* Media of a model with poles or tensors, as the kernels take them (kernels/dgtd/dispersion.h).
 * Their states are in memory wherever the fields are. */
#include <stdlib.h>
#include <string.h>

#include "compute/dgtd_march/march.h"
#include "formats/phasors.h"
#include "kernels/dgtd/device_media.h"
#include "kernels/dgtd/resolution.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

static bool is_plain(const ps_dgtd_medium *x) { return x->pole_count == 0 && !x->anisotropic; }

ps_status media_take(problem *p)
{
    int64_t count = p->header->media;
    const ps_dgtd_medium *media = ps_dgtd_model_media(p->model);
    PS_TRY(PS_ALLOC(&p->materials, count, "the materials"));
    PS_TRY(PS_ALLOC(&p->weights, 4 * count, "the materials"));
    PS_TRY(PS_ALLOC(&p->constitutions, count, "the materials"));
    for (int64_t m = 0; m < count; ++m) {
        const ps_dgtd_medium *x = media + m;
        double sigma = x->sigma * PS_DGTD_Z0;
        p->constitutions[m] = ps_dgtd_medium_constitution(x);
        p->special |= !is_plain(x);
        p->materials[m] = (ps_dgtd_material){
            x->eps, x->mu,
            sigma + 2 / p->timing.dt * ps_dgtd_poles_weight(x->poles, x->pole_count, p->timing.dt)};
        p->weights[m] = x->eps;
        p->weights[count + m] = x->mu;
        p->weights[2 * count + m] = sigma;
        p->weights[3 * count + m] = 1;
    }
    return PS_OK;
}

double media_static_eps(const problem *p, int64_t medium)
{
    const ps_dgtd_medium *x = ps_dgtd_model_media(p->model) + medium;
    double bounds[2] = {x->eps, x->eps}, sum;
    if (x->anisotropic) ps_dgtd_tensor_bounds(x->tensor, bounds);
    sum = bounds[1];
    for (int k = 0; k < x->pole_count; ++k)
        if (x->poles[k].kind != PS_DGTD_DRUDE) sum += x->poles[k].strength;
    return sum;
}

/* Frequencies outside of the band in which poles stand for a tissue. */
static ps_status check_bands(const ps_run *run, const problem *p)
{
    const ps_dgtd_medium *media = ps_dgtd_model_media(p->model);
    for (int64_t m = 0; m < p->header->media; ++m)
        for (int64_t k = 0; k < p->frequency_count && media[m].band[1] > 0; ++k) {
            double f = p->frequencies[k];
            if (f >= media[m].band[0] * (1 - 1e-9) && f <= media[m].band[1] * (1 + 1e-9)) continue;
            return ps_refuse(run, "band",
                             "--frequency %g Hz: the poles of the medium of tag %d (%s) stand for "
                             "its tissue from %g to %g Hz",
                             f, media[m].tag, media[m].name, media[m].band[0], media[m].band[1]);
        }
    return PS_OK;
}

ps_status media_check_resolution(const ps_run *run, const problem *p)
{
    const ps_dgtd_medium *media = ps_dgtd_model_media(p->model);
    int64_t count = p->header->media;
    PS_SCOPED_MEMORY ps_dgtd_coarse *volumes = NULL;
    if (p->frequency_count == 0) return PS_OK;
    double highest = p->frequencies[p->frequency_count - 1];
    PS_TRY(ps_comm_agree(PS_ALLOC(&volumes, count, "the media")));
    ps_dgtd_coarse_volumes(&p->body, p->header->order, media, p->omegas[p->frequency_count - 1], 2,
                           volumes);
    PS_TRY(ps_comm_sum_f64(&volumes->all, 2 * count));
    int64_t coarse = ps_dgtd_unresolved(volumes, count);
    if (coarse < 0) return PS_OK;
    return ps_refuse(
        run, "coarse",
        "--frequency %g Hz: %.0f %% of the medium of tag %d have fewer than two nodes a "
        "wavelength: the fields there are no waves. Keep to lower frequencies, or take a finer "
        "mesh or a higher order (ten nodes or more)",
        highest, 100 * volumes[coarse].coarse / volumes[coarse].all, media[coarse].tag);
}

ps_status media_check(const ps_run *run, const march_options *options, const problem *p)
{
    if (!p->special) return PS_OK;
    if (options->balance)
        return ps_fail(PS_USAGE, "--balance adds up what conducts, is lost and supplied, not what "
                                 "poles take or tensors change: this model has such media");
    if (p->has_mode)
        return ps_fail(PS_USAGE, "a mode starts in a medium of one permittivity and conductivity; "
                                 "this model has media with poles or tensors");
    if (p->dispersion.tensors && ps_dgtd_model_ports(p->model)->count > 0)
        return ps_fail(PS_USAGE, "ports beside media with a tensor of permittivity have not been "
                                 "proven: leave out one of them");
    return check_bands(run, p);
}

ps_status media_check_sources(const problem *p)
{
    for (int64_t k = 0; k < p->current_count; ++k)
        for (int64_t i = 0; i < p->currents[k].count; ++i)
            if (p->constitutions[p->domain.material[p->currents[k].slots[i]]].tensor)
                return ps_fail(PS_USAGE, "a current flows in a medium with a tensor of "
                                         "permittivity, where its half step is not known; move it "
                                         "into one whose permittivity is a number");
    return PS_OK;
}

void media_tell(const problem *p, int medium, ps_phasors_header *out)
{
    const ps_dgtd_medium *x = ps_dgtd_model_media(p->model) + medium;
    out->material[medium].dispersive = !is_plain(x);
    for (int f = 0; f < out->frequencies; ++f)
        ps_dgtd_medium_at(x, p->omegas[f], &out->eps_at[f][medium], &out->sigma_at[f][medium]);
}

/* ---- memory ---- */

void media_open(problem *p)
{
    ps_dgtd_dispersion_count(&p->dispersion, &p->system, p->constitutions, p->domain.material);
}

int64_t media_bytes(const problem *p)
{
    ps_dgtd_dispersion_bytes b;
    ps_dgtd_dispersion_size(&p->dispersion, &p->system, &b);
    return p->special ? (int64_t)(b.laws + b.law_of + b.row_of + b.first + b.row_states + b.state)
                      : 0;
}

int64_t media_state_bytes(const problem *p)
{
    ps_dgtd_dispersion_bytes b;
    ps_dgtd_dispersion_size(&p->dispersion, &p->system, &b);
    return (int64_t)b.state;
}

int64_t media_device_bytes(const problem *p)
{
    ps_dgtd_device device;
    ps_dgtd_device_shape(&device, &p->system, PS_DGTD_FUSED);
    return ps_dgtd_device_media_bytes(&p->dispersion, &device);
}

ps_status media_build(problem *p)
{
    ps_dgtd_dispersion *x = &p->dispersion;
    ps_dgtd_dispersion_bytes b;
    if (!p->special) return PS_OK;
    ps_dgtd_dispersion_size(x, &p->system, &b);
    void **arrays[] = {(void **)&x->laws,  (void **)&x->law_of,     (void **)&x->row_of,
                       (void **)&x->first, (void **)&x->row_states, &x->state};
    size_t sizes[] = {b.laws, b.law_of, b.row_of, b.first, b.row_states, b.state};
    for (int i = 0; i < 6; ++i) PS_TRY(ps_alloc(arrays[i], (int64_t)sizes[i] + 64, 1, "the media"));
    ps_dgtd_dispersion_fill(x, &p->system, p->constitutions, p->domain.material, p->timing.dt);
    ps_dgtd_dispersion_attach(x, &p->system);
    return PS_OK;
}

void media_start(const problem *p)
{
    if (p->special) memset(p->dispersion.state, 0, (size_t)media_state_bytes(p));
}

void media_release(problem *p)
{
    ps_dgtd_dispersion *x = &p->dispersion;
    PS_FREE(p->constitutions, x->laws, x->law_of, x->row_of, x->first, x->row_states, x->state);
}
