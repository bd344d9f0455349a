/*
 * vtu_data: the elements of a VTK XML file, and the values of a DataArray: text, base64 or
 * appended, whole or in blocks of zlib. Source: "VTK XML Formats" of VTK's documentation; the order
 * of header and data as vtkXMLDataParser reads it.
 */
#ifndef PS_PREPROCESS_MESH_IMPORT_VTU_DATA_H
#define PS_PREPROCESS_MESH_IMPORT_VTU_DATA_H

#include "preprocess/mesh_import/vtk_piece.h"

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
