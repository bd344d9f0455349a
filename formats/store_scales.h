/* store_scales: coordinates of arrays, which ps_dataset_spec.dimensions name: at commit they become
 * HDF5's dimension scales, by which xarray, netCDF and h5py know them. */
#ifndef PS_FORMATS_STORE_SCALES_H
#define PS_FORMATS_STORE_SCALES_H

#include "formats/store.h"

/* Writes 0, 1, .. count - 1 as i32: a scale of what is counted. */
ps_status ps_store_put_numbers(ps_store *store, const char *name, int64_t count,
                               const char *description);

/* Writes origin + i spacing, count of them in m, as f64: axis 0, 1, 2 is x, y, z (down) of a grid,
 * with the attributes by which readers of CF know them. */
ps_status ps_store_put_axis(ps_store *store, const char *name, int axis, double origin,
                            double spacing, int64_t count);

/* /x, /y and /z of a grid, likewise. */
ps_status ps_store_put_axes(ps_store *store, const double origin[3], const double spacing[3],
                            const int64_t count[3]);

#endif
