/*
 * dgtd_media: media with poles or a tensor in a dgtd_case, with their memory.
 */
#ifndef PS_TESTS_SUPPORT_DGTD_MEDIA_H
#define PS_TESTS_SUPPORT_DGTD_MEDIA_H

#include "kernels/dgtd/dispersion.h"
#include "tests/support/dgtd_case.h"

/* Sets the step of the system, too: materials are those of the case without poles. */
static inline void dgtd_media_init(ps_dgtd_dispersion *d, dgtd_case *x,
                                   const ps_dgtd_constitution *media,
                                   const ps_dgtd_material *materials, double dt)
{
    ps_dgtd_dispersion_bytes bytes;
    ps_dgtd_dispersion_count(d, &x->system, media, x->mesh.tags);
    ps_dgtd_dispersion_size(d, &x->system, &bytes);
    d->laws = dgtd_array(bytes.laws);
    d->law_of = dgtd_array(bytes.law_of);
    d->row_of = dgtd_array(bytes.row_of);
    d->first = dgtd_array(bytes.first);
    d->row_states = dgtd_array(bytes.row_states);
    d->state = dgtd_array(bytes.state);
    ps_dgtd_dispersion_fill(d, &x->system, media, x->mesh.tags, dt);
    ps_dgtd_set_step(&x->system, materials, dt);
    ps_dgtd_dispersion_attach(d, &x->system);
}

static inline void dgtd_media_release(ps_dgtd_dispersion *d)
{
    free(d->laws), free(d->law_of), free(d->row_of);
    free(d->first), free(d->row_states), free(d->state);
}

#endif
