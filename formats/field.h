/*
 * field: snapshots of fields on a mesh, "penstock-field" (specs/field.md).
 *
 * A file a time, which is a ParaView file by itself (VTKHDF 1.0, UnstructuredGrid, suffix .hdf),
 * and a list of them with their times, "<base>.hdf.series", which ParaView opens as an
 * animation.
 */
#ifndef PS_FORMATS_FIELD_H
#define PS_FORMATS_FIELD_H

#include "formats/vtkhdf.h"

#define PS_FIELD_FORMAT "penstock-field"
enum { PS_FIELD_VERSION = 1 };

/* A named field; `values` is borrowed: [points or cells][components]. */
typedef struct ps_field {
    const char *name;  /* "pressure"; no '/'                                      */
    const char *units; /* "Pa"                                                    */
    ps_type type;      /* PS_F32 or PS_F64                                        */
    int components;    /* 1: a scalar, 3: a vector                                */
    bool on_points;    /* a value a vertex; otherwise a value a cell              */
    const void *values;
} ps_field;

typedef struct ps_field_snapshot {
    ps_vtkhdf_grid grid; /* .single: store the vertices as f32 to save room     */
    int field_count;
    const ps_field *fields;
    double time;           /* s                                                   */
    const char *creator;   /* ps_version()                                        */
    const char *options;   /* ps_run.record or ""                                 */
    const char *mesh_hash; /* content hash of the mesh, or ""                     */
} ps_field_snapshot;

/* Writes and commits one snapshot. PS_INVALID for a name, type or grid that does not fit;
 * nothing is left on failure. Local; thread-safe for different paths. */
ps_status ps_field_save(const char *path, const ps_field_snapshot *snapshot);

/* Two triangles for each cell of a plane of grid[0] x grid[1] points, counterclockwise from the
 * side to which u x v points; *out is the caller's to free. */
ps_status ps_field_plane_cells(const int64_t grid[2], int64_t *count, int32_t **out);

/* Path of snapshot `index` of a series: base "out/p" gives "out/p.000042.hdf". out[4096]. */
void ps_field_snapshot_path(const char *base, int64_t index, char *out);
/* Path of the list: "out/p.hdf.series". out[4096]. */
void ps_field_series_path(const char *base, char *out);

/* Adds a snapshot to the list, or gives one that is there another time; entries are kept in
 * the order of their times. `file` lies in the folder of the list, which records its last part
 * only. The list is replaced in one step (write, sync, rename, sync the folder). PS_INVALID if
 * an older list cannot be understood. One writer at a time. */
ps_status ps_field_series_add(const char *series_path, const char *file, double time);
/* Writes snapshot `index` of a series and adds it to the list, both of them named after `base`. */
ps_status ps_field_series_save(const char *base, int64_t index, const ps_field_snapshot *snapshot);

/* Entries of a list; *times and *names (each PS_NAME_MAX bytes, one after the other) are the
 * caller's to free. A list that does not exist has none. */
ps_status ps_field_series_read(const char *series_path, int64_t *count, double **times,
                               char **names);

#endif
