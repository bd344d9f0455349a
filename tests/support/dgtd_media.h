/*
 * dgtd_media: media with poles or a tensor in a dgtd_case.
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
    d->laws = dgtd_take(x, bytes.laws);
    d->law_of = dgtd_take(x, bytes.law_of);
    d->row_of = dgtd_take(x, bytes.row_of);
    d->first = dgtd_take(x, bytes.first);
    d->row_states = dgtd_take(x, bytes.row_states);
    d->state = dgtd_take(x, bytes.state);
    ps_dgtd_dispersion_fill(d, &x->system, media, x->mesh.tags, dt);
    ps_dgtd_set_step(&x->system, materials, dt);
    ps_dgtd_dispersion_attach(d, &x->system);
}

#endif
