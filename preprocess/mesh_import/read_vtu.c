/* VTK's XML files of unstructured grids (.vtu) and polygons (.vtp): the pieces of one file, with
 * the cell data that say regions. */
#include <string.h>

#include "preprocess/mesh_import/vtk_piece.h"
#include "runtime/scope.h"

typedef struct vtu {
    vtu_file *file;
    vtk_piece piece;
    const char *at;
    char section[40]; /* in which DataArrays lie: Points, Cells, Polys, CellData, .. */
} vtu;

/* Where the arrays "connectivity" and "offsets" of a section go; VTK_BLOCKS: it has no cells. */
static vtk_block block_of(const char *section)
{
    static const char *const sections[] = {"Verts", "Lines", "Polys", "Strips", "Cells"};
    int block = 0;
    while (block < VTK_BLOCKS && strcmp(section, sections[block]) != 0) ++block;
    return (vtk_block)block;
}

static ps_status read_cell_data(vtu *v, const vtu_tag *array, const char *name)
{
    PS_SCOPED(vtk_values_release) vtk_values values = {0};
    int64_t components;
    PS_TRY(vtu_count(v->file, array, "NumberOfComponents", 1, &components));
    if (!vtk_piece_wants(&v->piece, name, components, vtu_is_whole(array))) return PS_OK;
    PS_TRY(vtu_values(v->file, array, &values));
    vtk_piece_offer(&v->piece, name, &values);
    return PS_OK;
}

static ps_status read_array(vtu *v, const vtu_tag *array)
{
    char name[64] = "", type[16] = "", format[16] = "";
    vtk_block block = block_of(v->section);
    vtk_values *to = NULL;
    vtu_attribute(array, "Name", name, sizeof name);
    if (strcmp(v->section, "CellData") == 0) return read_cell_data(v, array, name);
    if (strcmp(v->section, "Points") == 0) {
        to = &v->piece.points;
        vtu_attribute(array, "type", type, sizeof type);
        vtu_attribute(array, "format", format, sizeof format);
        v->piece.single = strcmp(type, "Float32") == 0 && strcmp(format, "ascii") != 0;
    }
    if (block < VTK_BLOCKS && strcmp(name, "connectivity") == 0) to = &v->piece.corners[block];
    if (block < VTK_BLOCKS && strcmp(name, "offsets") == 0) to = &v->piece.ends[block];
    if (block == VTK_CELLS && strcmp(name, "types") == 0) to = &v->piece.types;
    if (!to) return PS_OK; /* data of points and of the file, faces of polyhedra */
    if (to->count > 0)
        return ps_fail(PS_INVALID, "%s: <%s> has two arrays \"%s\"", v->file->name, v->section,
                       name);
    return vtu_values(v->file, array, to);
}

static ps_status read_piece(vtu *v, const vtu_tag *piece)
{
    vtu_tag tag;
    PS_TRY(vtu_count(v->file, piece, "NumberOfPoints", 0, &v->piece.point_count));
    v->section[0] = '\0';
    while (vtu_next_tag(v->file, &v->at, &tag)) {
        if (tag.closing && strcmp(tag.name, "Piece") == 0) return PS_OK;
        bool array = strcmp(tag.name, "DataArray") == 0 || strcmp(tag.name, "Array") == 0;
        if (tag.closing && !array) v->section[0] = '\0';
        if (tag.closing) continue;
        if (array)
            PS_TRY(read_array(v, &tag));
        else if (!tag.empty && !v->section[0])
            strcpy(v->section, tag.name);
    }
    return ps_fail(PS_INVALID, "%s: ends within <Piece>", v->file->name);
}

static ps_status read_pieces(vtu *v, const import_options *options, import_mesh *mesh)
{
    char type[40] = "";
    int pieces = 0;
    vtu_tag tag;
    v->at = v->file->text;
    while (vtu_next_tag(v->file, &v->at, &tag)) {
        if (strcmp(tag.name, "VTKFile") == 0 && !tag.closing)
            vtu_attribute(&tag, "type", type, sizeof type);
        if (strcmp(tag.name, "Piece") != 0 || tag.closing || tag.empty) continue;
        PS_TRY(read_piece(v, &tag));
        PS_TRY(vtk_piece_add(&v->piece, options, mesh));
        vtk_piece_release(&v->piece);
        ++pieces;
    }
    if (strcmp(type, "UnstructuredGrid") != 0 && strcmp(type, "PolyData") != 0)
        return ps_fail(PS_INVALID,
                       "%s: its type is \"%s\"; UnstructuredGrid and PolyData are meshes",
                       v->file->name, type);
    return pieces > 0 ? PS_OK
                      : ps_fail(PS_INVALID, "%s: there is no whole <Piece> in it", v->file->name);
}

ps_status import_read_vtu(const import_input *input, const import_options *options,
                          import_mesh *mesh)
{
    PS_SCOPED(vtu_release) vtu_file file = {.name = input->name};
    vtu v = {.file = &file, .piece = {.name = input->name}};
    ps_status status = vtu_open(input, &file);
    if (status == PS_OK) status = read_pieces(&v, options, mesh);
    vtk_piece_release(&v.piece);
    return status;
}
