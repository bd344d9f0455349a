/* Gmsh's library, loaded by the process that reads through it. */
#include <dlfcn.h>
#include <gmshc.h>

#include "preprocess/mesh_import/gmsh_child.h"

GMSH_TABLE;

/* PS_GMSH_VERSION is that of the name of the library with which it was built, 4.8. */
#define STRING_OF(text) #text
#define STRING(macro) STRING_OF(macro)
#define VERSION STRING(PS_GMSH_VERSION)
#define ADDRESS_OF(function) {"gmsh" #function, (void **)&gmsh.function},

struct gmsh_functions gmsh;

static void missing(const gmsh_child *c)
{
    gmsh_child_give_up(c, PS_FAILED,
                       "it is read through Gmsh's library, which cannot be loaded (%.300s): "
                       "install it (Debian: libgmsh" VERSION ")",
                       dlerror());
}

void gmsh_library_load(const gmsh_child *c)
{
    const struct {
        const char *name;
        void **address;
    } functions[] = {GMSH_FUNCTIONS(ADDRESS_OF)};
    void *library = dlopen("libgmsh.so." VERSION, RTLD_LAZY);
    if (!library) missing(c);
    for (size_t i = 0; i < sizeof functions / sizeof *functions; ++i)
        if (!(*functions[i].address = dlsym(library, functions[i].name))) missing(c);
}
