/* Which reader takes the input, and what its kind of file allows. */
#include <string.h>

#include "preprocess/mesh_import/import.h"

static ps_status check_size_option(const import_input *input, const import_options *options)
{
    static const char *const stating_units[] = {".step", ".stp", ".iges", ".igs", NULL};
    bool geometry = import_is_geometry(input);
    if (!geometry && options->size > 0)
        return ps_fail(PS_USAGE,
                       "--size is for geometry (.geo, .step, .iges, .brep); %s is a mesh "
                       "and is taken as it is",
                       input->name);
    if (geometry && options->size <= 0 && strcmp(input->suffix, ".geo") != 0)
        return ps_fail(PS_USAGE, "%s is geometry: give the element size in metres by --size",
                       input->name);
    if (import_has_suffix(input, stating_units) && options->unit != 0)
        return ps_fail(PS_USAGE,
                       "%s states its own unit and is read in metres: leave --unit away "
                       "(--scale overrides it)",
                       input->name);
    return PS_OK;
}

bool import_wants_gmsh(const import_input *input)
{
    static const char *const meshes[] = {".unv", ".mesh", ".bdf", ".nas", NULL};
    return import_is_geometry(input) || import_has_suffix(input, meshes);
}

ps_status import_read(const import_input *input, const import_options *options, import_mesh *mesh)
{
    static const struct {
        const char *suffix;
        ps_status (*read)(const import_input *input, import_mesh *mesh);
        ps_status (*read_kind)(const import_input *input, const import_options *options,
                               import_mesh *mesh);
    } own[] = {{".stl", import_read_stl, NULL}, {".ply", import_read_ply, NULL},
               {".off", import_read_off, NULL}, {".obj", import_read_obj, NULL},
               {".vtk", NULL, import_read_vtk}, {".vtu", NULL, import_read_vtu},
               {".vtp", NULL, import_read_vtu}, {".inp", NULL, import_read_inp},
               {".hdf", import_read_own, NULL}};
    bool read = false, gmsh = import_wants_gmsh(input);
    PS_TRY(check_size_option(input, options));
    if (strcmp(input->suffix, ".msh") == 0) {
        PS_TRY(import_read_msh(input, options, mesh, &read));
        if (read) return import_settle(mesh, input->name);
        import_mesh_release(mesh);
        gmsh = true;
    }
    for (size_t i = 0; i < sizeof own / sizeof *own; ++i)
        if (strcmp(input->suffix, own[i].suffix) == 0) {
            PS_TRY(own[i].read ? own[i].read(input, mesh) : own[i].read_kind(input, options, mesh));
            return import_settle(mesh, input->name);
        }
    if (gmsh) {
        PS_TRY(import_read_gmsh(input, options, mesh));
        return import_settle(mesh, input->name);
    }
    return ps_fail(
        PS_INVALID,
        "%s: the suffix \"%s\" is not one that is read: .msh .stl .vtk .vtu .vtp .off "
        ".obj .ply .inp .hdf .unv .mesh .bdf .nas .geo .step .iges .brep, also with .gz or .zst; "
        "penstock.import_mesh of Python takes what meshio reads (.med .cgns .xdmf ..), .npz and "
        ".mat",
        input->name, input->suffix);
}
