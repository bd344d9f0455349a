/* dgtd_model_internal: the open file that dgtd_model.c, dgtd_tables.c and dgtd_domain.c share. */
#ifndef PS_FORMATS_DGTD_MODEL_INTERNAL_H
#define PS_FORMATS_DGTD_MODEL_INTERNAL_H

#include "formats/dgtd_model.h"

struct ps_dgtd_model_file {
    ps_store *store;
    ps_dgtd_model_header header;
    int64_t *part_start, *interior;
    ps_dgtd_medium *media;
    ps_dgtd_source *sources;
    ps_dgtd_ports ports;
    ps_dgtd_wires wires;
};

/* Media and sources (dgtd_tables.c); media without names, arrays of the header's sizes. */
ps_status ps_dgtd_tables_write(ps_store *store, const ps_dgtd_model *model);
ps_status ps_dgtd_tables_read(ps_store *store, const ps_dgtd_model_header *header,
                              ps_dgtd_medium *media, ps_dgtd_source *sources);

#endif
