/* What the files of penstock-gravity-invert share; the least that is sought: specs/prism_model.md.
 */
#ifndef PS_COMPUTE_GRAVITY_INVERT_INVERT_H
#define PS_COMPUTE_GRAVITY_INVERT_INVERT_H

#include "formats/prism_model.h"
#include "kernels/linear/bounded.h"
#include "runtime/ledger.h"
#include "runtime/program.h"
#include "stage/prism_sum/prism_sum.h"
#include "stage/prism_sum/rows.h"
#include "stage/product.h"
#include "stage/state.h"

typedef enum invert_field { FIELD_GRAVITY, FIELD_MAGNETIC, FIELD_VECTOR } invert_field;

typedef struct invert_options {
    invert_field field;
    int component;                    /* of component_names; magnetic: the total field */
    double error;                     /* of all stations; 0: the file tells */
    double target, regularisation;    /* chi2 a station; 0: searched */
    double bounds[2], lengths[3];     /* lengths 0: two of the least widths */
    double depth_power, depth_offset; /* below 0: chosen */
    double inclination, declination, gravity, accuracy, scale;
    int order, height;
    int64_t limit;
    const char *active, *reference, *station_data;
    ps_interval checkpoint_every;
} invert_options;

/* Cells that are no air, ascending: (ix ny + iy) nz + iz, iz upwards. */
typedef struct invert_mesh {
    int64_t count[3], cells;
    double *edges[3];         /* ascending, z up */
    int64_t *cell;            /* [cells]         */
    int64_t *number;          /* [all]: of a cell among them; -1: air */
    double *low[3], *high[3]; /* [cells] */
} invert_mesh;

/* The smallness and roughness of u = w (m - reference), in unknowns y that make its diagonal 1: m
 * = reference + scale y. */
typedef struct invert_smooth {
    const invert_mesh *mesh;
    double weight[3]; /* squares of the lengths */
    double *root;     /* [cells]: 1 / sqrt of the diagonal */
    double *scale;    /* [cells] */
} invert_smooth;

typedef struct inversion {
    const ps_run *run;
    invert_options options;
    ps_prism_rows stations; /* x y z observed error */
    invert_mesh mesh;
    invert_smooth smooth;
    double *reference;  /* [cells]; NULL: 0 */
    int parts;          /* unknowns a cell: 1, 3 */
    int64_t length;     /* parts x cells */
    double *low, *high; /* [length], of y; NULL: no bounds */
    /* The operator. */
    ps_prism_bodies bodies;
    ps_device *device; /* that sums; the CPU: cores */
    ps_prism_sum *sum;
    int order, numbers, weights;
    double direction[3], factor[PS_PRISM_NUMBERS];       /* observed = sum factor x number */
    double *weight[3], *result[PS_PRISM_NUMBERS], *data; /* [cells], [stations], [stations] */
    double *wanted;                                      /* [stations]: what the reference leaves */
    double *model;                                       /* [length], the result */
    double *computed;                                    /* [stations] */
    int64_t inside, samples;
    double operator_error, chi2, beta;
    int64_t products, trials;
    double history[3 * 64];
    ps_prism_sum_figures figures;
} inversion;

/* ---- input.c ---- */

ps_status invert_read(inversion *v);
void invert_mesh_release(invert_mesh *mesh);

/* ---- smooth.c ---- */

/* Depth weights, diagonal, scales. */
ps_status smooth_make(inversion *v);
void smooth_release(invert_smooth *s);
/* y = R x of one part, [cells]. */
void smooth_apply(const invert_smooth *s, const double *x, double *y);

/* ---- operator.c ---- */

ps_status operator_open(inversion *v);
/* data[stations] = J scale x: without the reference. */
ps_status operator_apply(inversion *v, const double *x, double *data);
/* x[length] = scale J^T data */
ps_status operator_transposed(inversion *v, const double *data, double *x);
/* Of m itself, [length]. */
ps_status operator_of_model(inversion *v, const double *model, double *data);
/* How far J m is off at stations that are summed directly, over their errors: the largest. */
ps_status operator_check(inversion *v, const double *model, const double *data);
void operator_close(inversion *v);

/* ---- search.c ---- */

/* The model that fits as asked; from a state where there is one. */
ps_status search_run(inversion *v, const ps_product *product);
/* Removes what states there are of this command. */
ps_status search_tidy(inversion *v, const ps_product *product);
/* What search_run takes: lines "solver" and, on disk, "states". */
void search_count(const inversion *v, ps_ledger *ledger);

/* ---- output.c ---- */

ps_status invert_save(inversion *v, ps_store **store);
ps_status invert_table(const inversion *v, const char *path);
ps_status invert_ubc(const inversion *v, const char *path);

#endif
