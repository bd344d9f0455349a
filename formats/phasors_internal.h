/* phasors_internal: the header that phasors.c and phasors_header.c share. */
#ifndef PS_FORMATS_PHASORS_INTERNAL_H
#define PS_FORMATS_PHASORS_INTERNAL_H

#include "formats/phasors.h"

/* PS_INVALID, without the file's name, where values are out of range. */
ps_status phasors_check_header(const ps_phasors_header *h);
/* Some material's eps and sigma depend on the frequency. */
bool phasors_are_dispersive(const ps_phasors_header *h);
ps_status phasors_put_header(ps_store *store, const ps_phasors_header *h);
/* All but rows. */
ps_status phasors_get_header(const ps_store *store, ps_phasors_header *h);

#endif
