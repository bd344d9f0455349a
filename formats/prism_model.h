/*
 * prism_model: densities or magnetisations of cells, and how they fit what was measured,
 * "penstock-prism-model" (specs/prism_model.md).
 */
#ifndef PS_FORMATS_PRISM_MODEL_H
#define PS_FORMATS_PRISM_MODEL_H

#include "formats/store.h"

#define PS_PRISM_MODEL_FORMAT "penstock-prism-model"
enum { PS_PRISM_MODEL_VERSION = 1, PS_PRISM_MODEL_TEXT = 32 };

typedef struct ps_prism_model {
    char field[PS_PRISM_MODEL_TEXT], component[PS_PRISM_MODEL_TEXT];
    int64_t count[3]; /* of the mesh: nx, ny, nz */
    int64_t cells, stations, trials;
    int width; /* of a prism: 7, 9 */
    double regularisation, chi2, target, operator_error;
    double *edges[3];                    /* [count + 1], m, z up */
    int64_t *cell;                       /* [cells], (ix ny + iy) nz + iz */
    double *prisms;                      /* [cells][width] */
    double *place;                       /* [stations][3] */
    double *observed, *error, *computed; /* [stations] */
    double *history;                     /* [trials][3] */
} ps_prism_model;

/* Writes everything into a store that was created for it; arrays may be borrowed. */
ps_status ps_prism_model_put(ps_store *store, const ps_prism_model *model);
/* PS_INVALID, naming file and reason; nothing to release then. */
ps_status ps_prism_model_load(const char *path, ps_prism_model *out);
void ps_prism_model_release(ps_prism_model *model);

/* Units of the values and of what was measured. */
const char *ps_prism_model_units(const ps_prism_model *model);
const char *ps_prism_model_data_units(const ps_prism_model *model);

#endif
