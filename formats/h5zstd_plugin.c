/*
 * libh5zstd.so: what HDF5 looks for in the folders of HDF5_PLUGIN_PATH when a file names
 * filter 32015. Built by `make plugin`, installed under lib/penstock/plugin.
 */
#include "formats/h5zstd.h"

#include <H5PLextern.h>

static const H5Z_class2_t zstd_class = {
    .version = H5Z_CLASS_T_VERS,
    .id = PS_H5ZSTD_ID,
    .encoder_present = 1,
    .decoder_present = 1,
    .name = "zstd (penstock)",
    .filter = ps_h5zstd_filter,
};

H5PL_type_t H5PLget_plugin_type(void) { return H5PL_TYPE_FILTER; }
const void *H5PLget_plugin_info(void) { return &zstd_class; }
