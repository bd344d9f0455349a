/* What the files of penstock-prism-field share. */
#ifndef PS_COMPUTE_PRISM_FIELD_FIELD_H
#define PS_COMPUTE_PRISM_FIELD_FIELD_H

#include "runtime/program.h"
#include "stage/prism_sum/prism_sum.h"
#include "stage/prism_sum/rows.h"
#include "stage/product.h"

typedef struct field {
    const ps_run *run;
    ps_prism_kind kind;
    double gravity, accuracy, epsilon; /* accuracy 0: none was asked */
    int order, order_most, height;
    ps_prism_rows prisms;   /* x0 x1 y0 y1 z0 z1, density or magnetisation */
    ps_prism_rows stations; /* x y z */
    ps_prism_bodies bodies;
    ps_device *device; /* --device */
    ps_prism_sum *sum;
    double *result[PS_PRISM_NUMBERS]; /* [stations], without constants */
    bool overlap;                     /* of prisms: allowed */
    int64_t inside, undefined;        /* stations */
    int64_t samples;
    double reached[3], largest; /* V, g or B, T; of a single sample */
    ps_prism_sum_figures figures;
} field;

/* ---- input.c ---- */

/* Bounds that ascend; leaves out prisms without volume, and says so. */
ps_status prisms_check(const char *path, ps_prism_rows *prisms);
ps_status units_check(const field *f);

/* ---- sum.c ---- */

/* Overlaps, stations inside; then the sums, at the order that the accuracy takes. */
ps_status field_compute(field *f);

/* ---- output.c ---- */

/* Constants; B within magnetised prisms gets mu0 m before. */
ps_status field_save(const field *f, const ps_product *product);
ps_status field_table(const field *f, const char *path);

#endif
