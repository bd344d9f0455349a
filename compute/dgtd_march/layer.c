/* The perfectly matched layer of a model, as the kernels take it (kernels/dgtd/pml.h). Its states
 * are in memory wherever the fields are: a layer is a skin of the mesh. */
#include <stdlib.h>
#include <string.h>

#include "compute/dgtd_march/march.h"
#include "runtime/memory.h"

static ps_dgtd_pml_profile profile_of(const ps_dgtd_layer *x)
{
    ps_dgtd_pml_profile p = {.shape = x->ball ? PS_DGTD_PML_BALL : PS_DGTD_PML_BOX,
                             .radius = x->radius,
                             .grading = x->grading,
                             .kappa = x->kappa,
                             .alpha = x->alpha};
    memcpy(p.inner, x->inner, sizeof p.inner);
    memcpy(p.thickness, x->thickness, sizeof p.thickness);
    memcpy(p.centre, x->centre, sizeof p.centre);
    memcpy(p.sigma, x->sigma, sizeof p.sigma);
    memcpy(p.rows, x->rows, sizeof p.rows);
    return p;
}

static void size_of(const problem *p, ps_dgtd_pml_bytes *bytes)
{
    ps_dgtd_pml_size(&p->pml, &p->system,
                     p->header->layer.ball ? PS_DGTD_PML_BALL : PS_DGTD_PML_BOX, bytes);
}

ps_status layer_open(problem *p)
{
    const uint8_t *layer = p->domain.layer;
    PS_TRY(PS_ALLOC(&p->told, p->domain.elements, "elements"));
    for (int64_t e = 0; e < p->domain.elements; ++e)
        if (!layer || !layer[e]) p->told[p->told_count++] = (int32_t)e;
    if (layer) ps_dgtd_pml_count(&p->pml, &p->system, layer);
    return PS_OK;
}

int64_t layer_bytes(const problem *p)
{
    ps_dgtd_pml_bytes b;
    size_of(p, &b);
    return (int64_t)(b.groups + b.layer + b.factors + b.frames + b.former + 2 * b.state);
}

int64_t layer_state_bytes(const problem *p)
{
    ps_dgtd_pml_bytes b;
    size_of(p, &b);
    return (int64_t)b.state;
}

ps_status layer_build(problem *p)
{
    ps_dgtd_pml *x = &p->pml;
    ps_dgtd_pml_bytes b;
    if (x->rows == 0) return PS_OK;
    size_of(p, &b);
    void **arrays[] = {(void **)&x->groups, (void **)&x->layer,    (void **)&x->factors,
                       (void **)&x->frames, (void **)&x->state[0], (void **)&x->state[1],
                       (void **)&x->former};
    size_t sizes[] = {b.groups, b.layer, b.factors, b.frames, b.state, b.state, b.former};
    for (int i = 0; i < 7; ++i)
        PS_TRY(ps_alloc(arrays[i], (int64_t)sizes[i], 1, "the matched layer"));
    ps_dgtd_pml_profile profile = profile_of(&p->header->layer);
    ps_dgtd_pml_fill(x, &profile, &p->system, &p->body, p->domain.layer, p->timing.dt);
    return PS_OK;
}

void layer_start(const problem *p)
{
    for (int k = 0; k < 2 && p->pml.rows; ++k)
        memset(p->pml.state[k], 0, (size_t)layer_state_bytes(p));
}

void layer_release(problem *p)
{
    ps_dgtd_pml *x = &p->pml;
    PS_FREE(p->told, x->groups, x->layer, x->factors, x->frames, x->state[0], x->state[1],
            x->former);
}
