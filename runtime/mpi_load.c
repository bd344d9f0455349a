#include "runtime/mpi_load.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_SIZE = 4096 };

/* Of each kind: its name, and what its library is called in places that an adapter which was built
 * elsewhere does not know. The names of MPICH are those of its common binary interface, which Intel
 * MPI, MVAPICH and Cray's share, and Debian's. */
static const struct {
    const char *name, *libraries[2];
} kinds[PS_MPI_KINDS] = {
    [PS_MPI_OPENMPI] = {"openmpi", {"libmpi.so.40", "libmpi.so"}},
    [PS_MPI_MPICH] = {"mpich", {"libmpi.so.12", "libmpich.so.12"}},
    [PS_MPI_OTHER] = {"other", {NULL, NULL}},
};

/* Where adapters lie, from the folder of the program: in a folder of programs that were copied, in
 * a build or a wheel, and where they are installed. */
static const char *const places[] = {"", "../mpi/", "../lib/penstock/mpi/"};
enum { PLACES = sizeof places / sizeof *places };

static int64_t number(const char *variable)
{
    const char *text = getenv(variable);
    return text ? strtoll(text, NULL, 10) : -1;
}

bool ps_mpi_launched(ps_mpi_launch *out)
{
    int64_t ranks = number("OMPI_COMM_WORLD_SIZE");
    *out = (ps_mpi_launch){"mpirun of Open MPI", ranks, PS_MPI_OPENMPI};
    if (ranks >= 0) return ranks > 1;
    ranks = number("PMI_SIZE");
    if (ranks < 0) ranks = number("MV2_COMM_WORLD_SIZE");
    *out = (ps_mpi_launch){"mpiexec of MPICH or its kin", ranks, PS_MPI_MPICH};
    if (ranks >= 0) return ranks > 1;
    /* A batch script has SLURM_PROCID too, but is no step of several tasks. */
    ranks = getenv("SLURM_STEP_ID") ? number("SLURM_STEP_NUM_TASKS") : -1;
    *out = (ps_mpi_launch){"srun", ranks, PS_MPI_OPENMPI};
    if (ranks >= 0) return ranks > 1;
    *out = (ps_mpi_launch){"a launcher with PMIx", 0, PS_MPI_OPENMPI};
    return getenv("PMIX_RANK") != NULL;
}

/* The folder of this program, with a slash; "" where that is not told. */
static void own_folder(char *out)
{
    ssize_t length = readlink("/proc/self/exe", out, PATH_SIZE - 1);
    out[length > 0 ? length : 0] = 0;
    char *slash = strrchr(out, '/');
    out[slash ? slash + 1 - out : 0] = 0;
}

/* `name` in one of the places; false where it is in none. */
static bool find(const char *name, char *out)
{
    char folder[PATH_SIZE];
    own_folder(folder);
    for (int p = 0; p < PLACES; ++p) {
        int length = snprintf(out, PATH_SIZE, "%s%s%s", folder, places[p], name);
        if (length > 0 && length < PATH_SIZE && access(out, R_OK) == 0) return true;
    }
    return false;
}

static void note(char *tried, const char *what)
{
    size_t used = strlen(tried);
    snprintf(tried + used, PATH_SIZE - used, "%s%s", used ? "; " : "", what);
}

/* The libraries of MPI load parts of their own, which look for its symbols among the global ones.
 * An adapter that names no library finds the symbols of one that is loaded before it. */
static void *open_adapter(const char *path, ps_mpi_kind kind, char *tried)
{
    void *adapter = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    if (adapter) return adapter;
    char why[1024];
    snprintf(why, sizeof why, "%s", dlerror());
    for (int l = 0; !adapter && l < 2 && kinds[kind].libraries[l]; ++l)
        if (dlopen(kinds[kind].libraries[l], RTLD_NOW | RTLD_GLOBAL))
            adapter = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    if (!adapter) note(tried, why);
    return adapter;
}

static const ps_mpi_adapter *load(const char *path, ps_mpi_kind kind, char *tried)
{
    void *library = open_adapter(path, kind, tried);
    if (!library) return NULL;
    const ps_mpi_adapter *table = dlsym(library, "ps_mpi_adapter_table");
    if (table && table->version == PS_MPI_ADAPTER_VERSION) return table;
    note(tried, path);
    note(tried, table ? "that is an adapter of another version of Penstock" : dlerror());
    dlclose(library);
    return NULL;
}

static const ps_mpi_adapter *load_kind(ps_mpi_kind kind, char *tried)
{
    char name[64], path[PATH_SIZE];
    snprintf(name, sizeof name, "libpenstock-mpi-%s.so", kinds[kind].name);
    if (find(name, path)) return load(path, kind, tried);
    strcat(name, " was not built");
    note(tried, name);
    return NULL;
}

static ps_status none(const ps_mpi_launch *launch, const char *tried)
{
    char source[PATH_SIZE], ranks[32] = "";
    if (!find("mpi_adapter.c", source)) strcpy(source, "runtime/mpi_adapter.c");
    if (launch->ranks > 0)
        snprintf(ranks, sizeof ranks, " as %lld ranks", (long long)launch->ranks);
    return ps_fail(
        PS_FAILED,
        "launched%s by %s, but no MPI can be loaded (%.700s): install that MPI, choose "
        "another by PENSTOCK_MPI=openmpi, =mpich or =FILE, or build the adapter of yours: "
        "mpicc -O2 -fPIC -shared %.300s -o libpenstock-mpi-mine.so",
        ranks, launch->by, tried, source);
}

ps_status ps_mpi_load(const ps_mpi_launch *launch, const ps_mpi_adapter **out)
{
    char tried[PATH_SIZE] = "";
    const char *wish = getenv("PENSTOCK_MPI");
    *out = NULL;
    if (wish && strchr(wish, '/')) {
        *out = load(wish, launch->kind, tried);
    } else if (wish && *wish) {
        int kind = 0;
        while (kind < PS_MPI_KINDS && strcmp(wish, kinds[kind].name) != 0) ++kind;
        if (kind == PS_MPI_KINDS)
            return ps_fail(
                PS_USAGE, "PENSTOCK_MPI=%.200s: expected openmpi, mpich, other, or a path with a /",
                wish);
        *out = load_kind((ps_mpi_kind)kind, tried);
    } else {
        *out = load_kind(launch->kind, tried);
        for (int k = 0; !*out && k < PS_MPI_KINDS; ++k)
            if (k != (int)launch->kind) *out = load_kind((ps_mpi_kind)k, tried);
    }
    return *out ? PS_OK : none(launch, tried);
}
