/* store_scales: HDF5's dimension scales, by which xarray, netCDF and h5py know the coordinates of an array. */
#ifndef PS_FORMATS_STORE_SCALES_H
#define PS_FORMATS_STORE_SCALES_H

#include "formats/store.h"

/* An array and the datasets of one dimension that hold its coordinates, a dimension each; NULL after the last. */
enum { PS_SCALES_MAX = 4 };
typedef struct ps_scaled {
    const char *dataset, *scales[PS_SCALES_MAX];
} ps_scaled;

/* Makes them dimension scales; once a store, when all of them are defined. At most 32 uses of a scale. */
ps_status ps_store_put_scales(ps_store *store, const ps_scaled *arrays, int count);

#endif
