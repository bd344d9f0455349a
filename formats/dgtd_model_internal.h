/* dgtd_model_internal: the open file that dgtd_model.c and dgtd_domain.c share. */
#ifndef PS_FORMATS_DGTD_MODEL_INTERNAL_H
#define PS_FORMATS_DGTD_MODEL_INTERNAL_H

#include "formats/dgtd_model.h"

enum { PS_RECORD_TEXT = 60000 }; /* HDF5 takes attributes up to 64 KiB */

struct ps_dgtd_model_file {
    ps_store *store;
    ps_dgtd_model_header header;
    int64_t *part_start, *interior;
    ps_dgtd_medium *media;
    ps_dgtd_source *sources;
    ps_dgtd_ports ports;
};

#endif
