/* store_scales: HDF5's dimension scales, by which xarray, netCDF and h5py know the coordinates of
 * an array. */
#ifndef PS_FORMATS_STORE_SCALES_H
#define PS_FORMATS_STORE_SCALES_H

#include "formats/store.h"

/* An array and the datasets of one dimension that hold its coordinates, a dimension each; NULL
 * after the last. */
enum { PS_SCALES_MAX = 4 };
typedef struct ps_scaled {
    const char *dataset, *scales[PS_SCALES_MAX];
} ps_scaled;

/* Writes 0, 1, .. count - 1 as i32: a scale of what is counted. */
ps_status ps_store_put_numbers(ps_store *store, const char *name, int64_t count,
                               const char *description);

/* Writes origin + i spacing, count of them in m, as f64: axis 0, 1, 2 is x, y, z (down) of a grid,
 * with the attributes by which readers of CF know them. */
ps_status ps_store_put_axis(ps_store *store, const char *name, int axis, double origin,
                            double spacing, int64_t count);

/* Makes them dimension scales; once a store, when all of them are defined. At most 32 uses of a
 * scale. */
ps_status ps_store_put_scales(ps_store *store, const ps_scaled *arrays, int count);

#endif
