/*
 * vtk_piece: what the readers of VTK's files (read_vtk.c, read_vtu.c) put together: points, cells
 * of VTK's types, and the cell data that says regions.
 */
#ifndef PS_PREPROCESS_MESH_IMPORT_VTK_PIECE_H
#define PS_PREPROCESS_MESH_IMPORT_VTK_PIECE_H

#include "preprocess/mesh_import/import.h"

typedef struct vtk_values {
    double *at;
    int64_t count, room;
} vtk_values;

/* In the order in which VTK numbers the cells of a data set: an unstructured grid has the last
 * alone. */
typedef enum vtk_block {
    VTK_VERTICES,
    VTK_LINES,
    VTK_POLYGONS,
    VTK_STRIPS,
    VTK_CELLS,
    VTK_BLOCKS
} vtk_block;

typedef struct vtk_piece {
    const char *name; /* of the file, for messages */
    int64_t point_count;
    vtk_values points;              /* [point_count][3] */
    bool single;                    /* stored as such, not as text */
    vtk_values corners[VTK_BLOCKS]; /* points of the cells, one after the other */
    vtk_values ends[VTK_BLOCKS];    /* where each cell's points end among them */
    vtk_values types;               /* of VTK_CELLS: vtkCellType */
    vtk_values regions;             /* [cells] */
    int region_rank, unlisted; /* of what is held; arrays of whole numbers without a known name */
    char region_name[64], left[240], left_types[80]; /* what is held, what is left out */
} vtk_piece;

void vtk_values_release(vtk_values *values);
ps_status vtk_values_put(vtk_values *values, double value);
void vtk_piece_release(vtk_piece *piece);

/* Whether cell data of this name and number of components can say regions, so that its values are
 * worth reading; what cannot is noted as left out. `whole`: its type is one of whole numbers. */
bool vtk_piece_wants(vtk_piece *piece, const char *name, int64_t components, bool whole);
/* Offers such cell data: the best known name is kept (values is emptied then). */
void vtk_piece_offer(vtk_piece *piece, const char *name, vtk_values *values);
/* Checks the piece and appends it. PS_INVALID for cells that are not simplices or polygons, or that
 * do not fit. */
ps_status vtk_piece_add(vtk_piece *piece, const import_options *options, import_mesh *mesh);

/* ---- the elements of a VTK XML file, and the values of a DataArray: text, base64 or appended, whole
 * or in blocks of zlib. Source: "VTK XML Formats" of VTK's documentation; the order of header and
 * data as vtkXMLDataParser reads it ---- */

typedef struct vtu_file {
    const char *name;
    char *text; /* [bytes] and a zero */
    int64_t bytes, expanded;
    const char *appended; /* the first byte that offsets count from; NULL: there is none */
    bool appended_base64, big_endian, wide,
        zlib; /* wide: headers of 8 bytes; zlib: data are in blocks of it */
} vtu_file;

/* An element's tag: <name attributes>, </name> (closing), <name attributes/> (empty). */
typedef struct vtu_tag {
    char name[40];
    const char *attributes, *attributes_end, *content;
    bool closing, empty;
} vtu_tag;

/* Reads the file and what <VTKFile ..> says of it. */
ps_status vtu_open(const import_input *input, vtu_file *file);
void vtu_release(vtu_file *file);
/* The next tag at or after *at, which goes behind it; false at the end, or where the appended data
 * begin. */
bool vtu_next_tag(const vtu_file *file, const char **at, vtu_tag *tag);
/* The value of an attribute, cut to `size`; false if it is not there. */
bool vtu_attribute(const vtu_tag *tag, const char *attribute, char *out, int size);
/* A count in an attribute; `otherwise` where it is not there. */
ps_status vtu_count(const vtu_file *file, const vtu_tag *tag, const char *attribute,
                    int64_t otherwise, int64_t *out);
/* Whether the values of the array are whole numbers. */
bool vtu_is_whole(const vtu_tag *array);
/* Appends the values of a DataArray. */
ps_status vtu_values(vtu_file *file, const vtu_tag *array, vtk_values *out);

#endif
