/*
 * prism_field: fields of prisms at stations, in the order of the stations, "penstock-prism-field"
 * (specs/prism_field.md).
 */
#ifndef PS_FORMATS_PRISM_FIELD_H
#define PS_FORMATS_PRISM_FIELD_H

#include "formats/store.h"

#define PS_PRISM_FIELD_FORMAT "penstock-prism-field"
enum { PS_PRISM_FIELD_VERSION = 1 };

/* Borrowed. Arrays that are NULL are not there. */
typedef struct ps_prism_field {
    int64_t stations;
    const double *place;      /* [stations][3], m        */
    const double *potential;  /* [stations], m2/s2       */
    const double *attraction; /* [stations][3], mGal     */
    const double *gradients;  /* [stations][6], xx yy zz xy xz yz, Eotvos; NaN on edges */
    const double *induction;  /* [stations][3], nT; NaN on edges */
} ps_prism_field;

/* Writes everything into a store that was created for it. */
ps_status ps_prism_field_put(ps_store *store, const ps_prism_field *field);

#endif
