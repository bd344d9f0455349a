/*
 * import: what the files of penstock-mesh-import share.
 *
 * A reader fills an import_mesh with what the file says, in the file's own units, order and
 * numbering; topology and repair work on it in place; only then it is scaled, ordered and saved.
 */
#ifndef PS_PREPROCESS_MESH_IMPORT_IMPORT_H
#define PS_PREPROCESS_MESH_IMPORT_IMPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "formats/tag_names.h"
#include "kernels/common/mesh_measure.h"
#include "kernels/common/space_curve.h"
#include "runtime/program.h"
#include "runtime/report.h"
#include "runtime/scratch_file.h"
#include "runtime/status.h"

typedef enum import_kind { IMPORT_AUTO, IMPORT_SURFACE, IMPORT_VOLUME } import_kind;

/* Edges whose middles lie within `radius` about `centre` (0: wherever they are) may be so long. Of
 * one unit. */
typedef struct import_fineness {
    double length, centre[3], radius;
} import_fineness;

typedef struct import_options {
    const ps_run *run;          /* its memory and allowances                                    */
    const char *input, *output; /* output NULL: check only                                */
    import_kind kind;
    int unit;                /* index of --unit; 0: not given, which is metres                */
    double scale;            /* file units to metres: unit times --scale                      */
    double size;             /* m: element size for geometry; 0: not given                    */
    double weld;             /* m; < 0: not asked                                             */
    double time;             /* s of CPU that Gmsh may take                                   */
    int64_t divide;          /* times that tetrahedra become eight                           */
    import_fineness longest; /* m: edges that are longer are cut; length 0: none is     */
    bool orient, drop_duplicates, drop_degenerate, open, allow_intersections;
    ps_space_curve order;
} import_options;

/* Triangles (size 3) or tetrahedra (size 4). `numbers` are the file's own numbers, in the order
 * of the file: cell i of now is cell source[i] of the file. */
typedef struct import_cells {
    int size;
    int64_t count;
    int32_t *vertices; /* [count][size] */
    int32_t *tags;     /* [count] */
    int32_t *numbers;  /* [count as read] */
    int32_t *source;   /* [count] */
    int64_t vertex_room, tag_room, number_room;
} import_cells;

typedef struct import_mesh {
    int64_t vertex_count;
    double *vertices;        /* [vertex_count][3] */
    int32_t *vertex_numbers; /* [as read] */
    int32_t *vertex_source;  /* [vertex_count] */
    int64_t vertex_room, vertex_number_room;
    import_cells triangles, tetrahedra;
    const char *vertex_word, *vertex_words, *cell_word; /* as the file calls them: "node"     */
    char tag_names[PS_TAG_NAMES_MAX];
    bool generated;   /* meshed from geometry: orienting it is no repair              */
    bool soup;        /* the format has no shared vertices (STL): equal ones are one  */
    bool single;      /* its coordinates are stored in single precision               */
    double step;      /* what numbers of few digits tell apart; 0: they have many     */
    int64_t polygons; /* faces of more than 3 vertices that were cut into fans        */
} import_mesh;

void import_mesh_init(import_mesh *mesh);
void import_mesh_release(import_mesh *mesh);
void import_cells_release(import_cells *cells);
/* Appends room for `count` items and returns their first index through the count. */
ps_status import_add_vertices(import_mesh *mesh, int64_t count, const double *positions);
ps_status import_add_vertex_number(import_mesh *mesh, int64_t number);
ps_status import_add_cell(import_cells *cells, const int32_t *vertices, int32_t tag,
                          int64_t number);
/* A polygon as a fan of triangles about its first vertex. */
ps_status import_add_polygon(import_mesh *mesh, const int32_t *vertices, int count, int32_t tag,
                             int64_t number);
/* For files that number their nodes, whose cells hold node numbers so far: puts vertices and
 * cells into the order of their numbers and turns node numbers into indices. PS_INVALID for a
 * node that is missing or given twice. */
ps_status import_numbers_to_indices(import_mesh *mesh, const char *name);
/* Adds "tag name" to the mesh's list of names, while there is room (formats/tag_names.h; of surface
 * meshes, too, until they are saved). */
void import_add_tag_name(import_mesh *mesh, int tag, const char *name);
/* Identity sources; finite vertices; indices within range. PS_INVALID names the culprit. */
ps_status import_settle(import_mesh *mesh, const char *path);

/* ---- readers: one file each; PS_INVALID says what is wrong and where ---- */

/* The file as readable bytes: `path` itself or, for .gz and .zst, a temporary file with the
 * inner suffix, in a folder that import_input_release removes. */
typedef struct import_input {
    const char *name; /* as given */
    char path[4200];
    ps_scratch_folder folder;
    char suffix[16]; /* lower case, inner: ".msh" */
} import_input;
ps_status import_input_open(const char *name, import_input *input);
void import_input_release(import_input *input);
/* The next word between blanks, cut to room - 1 letters; false at the end of the file. */
bool import_word(FILE *file, char *out, int room);

bool import_has_suffix(const import_input *input,
                       const char *const *list);    /* list: NULL at its end */
bool import_is_geometry(const import_input *input); /* to be meshed: .geo, .step, ... */
/* Through Gmsh's library alone; an .msh goes there where the own reader does not know its form. */
bool import_wants_gmsh(const import_input *input);
ps_status import_read(const import_input *input, const import_options *options, import_mesh *mesh);
ps_status import_read_gmsh(const import_input *input, const import_options *options,
                           import_mesh *mesh);
/* Writes bulk data of Nastran to `copy` as Gmsh's library reads them right. PS_INVALID for nodes in
 * other systems of coordinates, and other files. */
ps_status nastran_copy(const import_input *input, const char *copy);
/* Nodes of a file as they come, as Gmsh's library takes the last of equal numbers without a word.
 */
typedef struct import_nodes {
    struct import_node {
        int64_t number;
        double x[3];
    } * list;
    int64_t count, room;
} import_nodes;
ps_status import_nodes_add(import_nodes *nodes, int64_t number, const double x[3]);
/* PS_INVALID: one of them is given again, in another place. Sorts them. */
ps_status import_nodes_check(import_nodes *nodes, const char *name);
void import_nodes_release(import_nodes *nodes);
/* PS_INVALID if the file announces more than it has bytes, in the formats left to Gmsh. */
ps_status import_check_announced(const import_input *input);
/* What Gmsh's library overlooks in a UNV file: refuses ("units") units other than m that the
 * options do not name, nodes of other systems of coordinates, and nodes that are given again
 * elsewhere. */
ps_status import_check_unv(const import_input *input, const import_options *options);
/* MSH 2.x and 4.1, text and binary; *read is false for what is left to Gmsh (4.0, partitions). */
ps_status import_read_msh(const import_input *input, const import_options *options,
                          import_mesh *mesh, bool *read);
ps_status import_read_stl(const import_input *input, import_mesh *mesh);
ps_status import_read_ply(const import_input *input, import_mesh *mesh);
ps_status import_read_off(const import_input *input, import_mesh *mesh);
ps_status import_read_obj(const import_input *input, import_mesh *mesh);
ps_status import_read_own(const import_input *input, import_mesh *mesh);
/* VTK's legacy files; .vtu and .vtp; Abaqus. Tetrahedra are left away if the kind is surface. */
ps_status import_read_vtk(const import_input *input, const import_options *options,
                          import_mesh *mesh);
ps_status import_read_vtu(const import_input *input, const import_options *options,
                          import_mesh *mesh);
ps_status import_read_inp(const import_input *input, const import_options *options,
                          import_mesh *mesh);

/* ---- findings: what is wrong, where, and which option mends it ---- */

enum { IMPORT_FINDINGS_MAX = 16, IMPORT_PLACES_MAX = 5 };

typedef struct import_finding {
    int64_t count;
    const char *what; /* after the count: "edges belong to three or more triangles" */
    const char *hint; /* "--orient turns them"; NULL: nothing mends it              */
    char places[1200];
} import_finding;

typedef struct import_findings {
    int count;
    import_finding list[IMPORT_FINDINGS_MAX];
} import_findings;

/* A new kind of fault, with no case yet. */
import_finding *import_finding_new(import_findings *findings, const char *what, const char *hint);
/* One more case; the first few places are kept. */
void import_finding_add(import_finding *finding, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* PS_INVALID with everything found, or PS_OK if nothing was. */
ps_status import_findings_verdict(const import_findings *findings, const char *input);

/* "element 12 (nodes 3 4 5) at (x, y, z)": a cell by the file's own numbers. */
void import_cell_place(const import_mesh *mesh, const import_cells *cells, int64_t cell, char *out,
                       int size);
/* "node 12 at (x, y, z)", and "nodes 3-4 at (x, y, z)" (the middle). */
void import_vertex_place(const import_mesh *mesh, int64_t vertex, char *out, int size);
void import_edge_place(const import_mesh *mesh, int32_t a, int32_t b, char *out, int size);

/* ---- checks and repairs ---- */

typedef struct import_figures {
    int64_t unused, welded, dropped_degenerate, dropped_duplicates, turned;
    int64_t edges, parts, open_edges, open_loops, cavities, nested, boundary_triangles;
    bool closed, oriented;
    double area, volume, lower[3], upper[3];
    ps_edge_figures edge;
    ps_cell_figures cell;
} import_figures;

/* Largest side of the bounding box. */
double import_extent(const import_mesh *mesh, double lower[3], double upper[3]);

/* Shared by both kinds: vertices that coincide, repeated and flat cells, cells given twice,
 * unused vertices. */
ps_status import_repair_vertices(import_mesh *mesh, const import_options *options,
                                 import_findings *findings, import_figures *figures);
ps_status import_repair_cells(import_mesh *mesh, import_cells *cells, const import_options *options,
                              import_findings *findings, import_figures *figures);
ps_status import_drop_unused(import_mesh *mesh, import_figures *figures);

/* Triangles that cut through or overlap one another. */
ps_status import_check_intersections(const import_mesh *mesh, import_findings *findings);
/* Whether the two triangles at an edge, by half-edges of theirs, lie on one another. */
bool import_folds(const import_mesh *mesh, uint32_t h, uint32_t g);
/* Of tetrahedra: outer faces that cut through or lie on one another, and parts inside of others.
 * ids: faces, sorted; part[tetrahedra]; outer: faces of one tetrahedron. */
ps_status import_check_outer(const import_mesh *mesh, const uint32_t *ids, const int32_t *part,
                             int64_t parts, int64_t outer, import_findings *findings);

ps_status import_surface(import_mesh *mesh, const import_options *options, import_figures *figures);
ps_status import_volume(import_mesh *mesh, const import_options *options, import_figures *figures);

/* Each tetrahedron of a mesh that was checked becomes eight, each triangle four; tags and sources
 * are those of the parents, new vertices have numbers of their own. */
ps_status import_divide(import_mesh *mesh, import_figures *figures);

/* Cuts edges until none is longer than asked (in the unit of the vertices), each where it is the
 * longest of all tetrahedra about it, with these and the triangles there; of them as above.
 * PS_EXHAUSTED: more than a mesh can have. */
ps_status import_bisect(import_mesh *mesh, const import_fineness *asked);

/* The vertices become `all`: room, and numbers of their own for the new ones, whose places the
 * caller sets. */
ps_status import_more_vertices(import_mesh *mesh, int64_t all);
/* Room for so many cells more; the caller counts them. */
ps_status import_more_cells(import_cells *cells, int64_t more);

/* order[count]: cells along the curve through their centroids. */
ps_status import_cell_order(const import_mesh *mesh, const import_cells *cells,
                            ps_space_curve curve, int32_t *order);
/* Scales to metres (with the edge lengths of the figures) and orders along the curve. */
void import_scale(import_mesh *mesh, import_figures *figures, double scale);
ps_status import_order(import_mesh *mesh, ps_space_curve curve);

/* Figures of the finished mesh (in metres). */
ps_status import_measure(const import_mesh *mesh, const import_cells *cells,
                         import_figures *figures);
/* Sets the step of its coordinates, as they were read. */
void import_find_step(import_mesh *mesh);
/* Refuses what no body is: sizes whose volumes are no numbers, and vertices so far from the origin
 * that the precision of the file, or its digits, move them by a part of an edge. */
ps_status import_check_size(const import_mesh *mesh, const import_options *options,
                            const import_figures *figures);
void import_report(const import_mesh *mesh, const import_options *options,
                   const import_figures *figures, const ps_run *run);
ps_status import_save(import_mesh *mesh, const import_options *options,
                      const import_figures *figures, const char *record);

/* ---- a text file line by line, and the numbers of a line, with places for messages ---- */

enum { TEXT_POLYGON_MAX = 256 }; /* vertices of a face */

typedef struct text_lines {
    const char *name;
    FILE *file;
    char *line; /* without the newline and without what follows '#' */
    size_t room;
    int64_t number; /* of the line, from 1 */
    const char *at; /* where the next number of the line is */
} text_lines;

ps_status text_lines_open(const char *path, const char *name, text_lines *lines);
void text_lines_close(text_lines *lines);

/* The next line that is not blank; false at the end of the file. */
bool text_lines_next(text_lines *lines);
/* The next number of the line; false if there is none there. */
bool text_lines_real(text_lines *lines, double *out);
bool text_lines_int(text_lines *lines, int64_t *out);

/* PS_INVALID if there is a line more. */
ps_status text_lines_end(text_lines *lines);

/* PS_INVALID: "NAME: line 12: " and the text. */
ps_status text_lines_fail(const text_lines *lines, const char *what);

/* ---- numbers of a binary mesh file, of any type and either byte order, as doubles ---- */

typedef enum number_type {
    NUMBER_I8,
    NUMBER_U8,
    NUMBER_I16,
    NUMBER_U16,
    NUMBER_I32,
    NUMBER_U32,
    NUMBER_I64,
    NUMBER_U64,
    NUMBER_F32,
    NUMBER_F64,
    NUMBER_TYPES
} number_type;

int number_bytes(number_type type);
/* One number at `bytes`; whole numbers above 2^53 are rounded. */
double number_decode(const unsigned char *bytes, number_type type, bool big_endian);

#endif
