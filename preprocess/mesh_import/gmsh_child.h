/*
 * gmsh_child: what the files that call Gmsh's library share. They run in the child process
 * (read_gmsh.c) and send through its pipe; a function that fails ends the child after it has said
 * why.
 */
#ifndef PS_PREPROCESS_MESH_IMPORT_GMSH_CHILD_H
#define PS_PREPROCESS_MESH_IMPORT_GMSH_CHILD_H

#include "preprocess/mesh_import/gmsh_pipe.h"
#include "preprocess/mesh_import/step_names.h"

/* The functions of Gmsh that are called, without the `gmsh` of their names. GMSH_TABLE, in a source
 * that includes gmshc.h first, is the table of them, gmsh.Open(...), which gmsh_library_load fills:
 * the library brings a hundred others, and most files are read without it. */
/* clang-format off */
#define GMSH_FUNCTIONS(EACH) \
    EACH(Free) EACH(Initialize) EACH(LoggerGet) EACH(LoggerStart) EACH(ModelGetBoundary) \
    EACH(ModelGetBoundingBox) EACH(ModelGetColor) EACH(ModelGetEntities) \
    EACH(ModelGetEntityName) EACH(ModelGetPhysicalGroups) \
    EACH(ModelGetPhysicalGroupsForEntity) EACH(ModelGetPhysicalName) EACH(ModelGetType) \
    EACH(ModelMeshGenerate) EACH(ModelMeshGetElementProperties) EACH(ModelMeshGetElements) \
    EACH(ModelMeshGetNodes) EACH(ModelOccFragment) EACH(ModelOccGetCenterOfMass) \
    EACH(ModelOccGetMass) EACH(ModelOccSynchronize) EACH(Open) EACH(OptionGetNumber) \
    EACH(OptionSetNumber) EACH(OptionSetString)
/* clang-format on */
#define GMSH_POINTER(function) __typeof__(&gmsh##function) function;
#define GMSH_TABLE                                                                                 \
    extern struct gmsh_functions {                                                                 \
        GMSH_FUNCTIONS(GMSH_POINTER)                                                               \
    } gmsh

/* A solid of the geometry that an entity of dimension 3 is or is a part of; from 1. */
typedef struct gmsh_part {
    int entity, solid;
} gmsh_part;

/* A face of the geometry that is known by a face of its file, and where it is. */
typedef struct gmsh_known_face {
    int entity;
    int64_t face;           /* of step_names */
    double mass, centre[3]; /* of the area */
    double box[6];
    char kind[24]; /* of its surface, as Gmsh calls it */
} gmsh_known_face;

typedef struct gmsh_child {
    int pipe;
    const import_options *options;
    const char *suffix;
    bool geometry, confined;
    import_kind kind;
    int64_t sent;            /* elements */
    bool by_entity;          /* there are no physical groups: entities say regions */
    char (*solid_names)[64]; /* [solids] */
    gmsh_part *parts;
    size_t part_count;
    int solids, *faces; /* of the geometry: entities of its faces after it was cut, ascending */
    int *face_tags;     /* [face_count] */
    size_t face_count;
    const step_names *in_file; /* names of faces; NULL: none are given */
    gmsh_known_face *known;    /* [known_count] faces before the solids were cut */
    size_t known_count;
    gmsh_part *pieces; /* what has become of them: `solid` is the index in known */
    size_t piece_count;
} gmsh_child;

void gmsh_child_text(const gmsh_child *c, frame_kind kind, int tag, const char *text);
__attribute__((format(printf, 3, 4))) void gmsh_child_give_up(const gmsh_child *c, ps_status status,
                                                              const char *format, ...);
/* Ends the child where the library is missing or lacks one of the functions. */
void gmsh_library_load(const gmsh_child *c);
/* Gives up with what Gmsh said, or that it could not do `what`. */
void gmsh_child_must(const gmsh_child *c, int ierr, const char *what);

/* Which faces of the file (in_file) the faces of these solids are, before anything is cut: sets
 * known. The faces of a solid that does not come back as the file has it are left out, with a
 * warning. */
void gmsh_faces_know(gmsh_child *c, int *solids, size_t count);
/* Adds what became of known face i as Gmsh tells it, pairs (dimension, number). */
void gmsh_faces_add_pieces(gmsh_child *c, size_t i, const int *pairs, size_t numbers);
/* Sets face_tags: solids + 1, + 2, .. in the order of `faces`, but those of one name have the
 * first's tag; and sends the names. */
void gmsh_faces_tag(gmsh_child *c);

/* A STEP, IGES or BREP file that was opened: cuts solids along one another, so that they share
 * faces, notes which solid each part belongs to, sends the names of solids and how many elements
 * there will be about. */
void gmsh_geometry_prepare(gmsh_child *c);
/* The tag of an entity then: solids from 1 on, then the faces. */
int gmsh_geometry_tag(const gmsh_child *c, int dim, int entity);

#endif
