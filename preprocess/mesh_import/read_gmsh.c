/*
 * Reading through Gmsh's library, which may exit or crash on a broken file: it runs in a child
 * process that sends the mesh through a pipe, entity by entity.
 */
#include <errno.h>
#include <fcntl.h>
#include <gmshc.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "preprocess/mesh_import/gmsh_child.h"
#include "preprocess/mesh_import/sandbox.h"
#include "runtime/scope.h"
#include "runtime/stop.h"

GMSH_TABLE;

typedef gmsh_child child;

enum {
    ELEMENT_LINE = 1,
    ELEMENT_TRIANGLE = 2,
    ELEMENT_QUADRANGLE = 3,
    ELEMENT_TETRAHEDRON = 4,
    ELEMENT_POINT = 15
};

/* ---- in the child ---- */

static void put(const child *c, const void *data, size_t bytes)
{
    const char *from = data;
    while (bytes > 0) {
        ssize_t sent = write(c->pipe, from, bytes);
        if (sent < 0 && errno == EINTR) continue;
        if (sent <= 0) _exit(1); /* the parent is gone */
        from += sent;
        bytes -= (size_t)sent;
    }
}

static void put_frame(const child *c, frame_kind kind, int size, int tag, int64_t count)
{
    frame f = {kind, size, tag, 0, count};
    put(c, &f, sizeof f);
}

void gmsh_child_text(const child *c, frame_kind kind, int tag, const char *text)
{
    put_frame(c, kind, 0, tag, (int64_t)strlen(text));
    put(c, text, strlen(text));
}

void gmsh_child_give_up(const child *c, ps_status status, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    gmsh_child_text(c, FRAME_ERROR, (int)status, text);
    _exit(0);
}

/* Gmsh's first error, or its warnings; errors end the child. */
static void pass_messages(const child *c)
{
    char **log = NULL;
    size_t count = 0;
    int ierr = 0;
    gmsh.LoggerGet(&log, &count, &ierr);
    for (size_t i = 0; i < count && !ierr; ++i) {
        if (strncmp(log[i], "Error: ", 7) == 0 || strncmp(log[i], "Fatal: ", 7) == 0)
            gmsh_child_give_up(c, PS_INVALID, "Gmsh: %s", log[i] + 7);
        if (strncmp(log[i], "Warning: ", 9) == 0) gmsh_child_text(c, FRAME_WARNING, 0, log[i] + 9);
    }
}

void gmsh_child_must(const child *c, int ierr, const char *what)
{
    if (!ierr) return;
    pass_messages(c);
    gmsh_child_give_up(c, PS_INVALID, "Gmsh could not %s", what);
}

static void option(const child *c, const char *name, double value)
{
    int ierr = 0;
    gmsh.OptionSetNumber(name, value, &ierr);
    gmsh_child_must(c, ierr, name);
}

static bool has_elements(const child *c, int dim)
{
    int *types = NULL, ierr = 0;
    size_t types_n = 0, **tags = NULL, *tags_n = NULL, tags_nn = 0;
    size_t **nodes = NULL, *nodes_n = NULL, nodes_nn = 0;
    gmsh.ModelMeshGetElements(&types, &types_n, &tags, &tags_n, &tags_nn, &nodes, &nodes_n,
                              &nodes_nn, dim, -1, &ierr);
    gmsh_child_must(c, ierr, "list the elements");
    for (size_t i = 0; i < types_n; ++i) {
        gmsh.Free(tags[i]);
        gmsh.Free(nodes[i]);
    }
    gmsh.Free(types), gmsh.Free(tags), gmsh.Free(tags_n), gmsh.Free(nodes), gmsh.Free(nodes_n);
    return types_n > 0;
}

static bool has_groups(const child *c, int dim)
{
    int *groups = NULL, ierr = 0;
    size_t count = 0;
    gmsh.ModelGetPhysicalGroups(&groups, &count, dim, &ierr);
    gmsh_child_must(c, ierr, "list the physical groups");
    gmsh.Free(groups);
    return count > 0;
}

/* What Gmsh multiplies coordinates by where it saves a mesh, and does not here. */
static void refuse_scaling(const child *c)
{
    double factor = 1;
    int ierr = 0;
    gmsh.OptionGetNumber("Mesh.ScalingFactor", &factor, &ierr);
    if (!ierr && factor != 1)
        gmsh_child_give_up(c, PS_INVALID,
                           "Mesh.ScalingFactor is %g: leave it away, --scale does it", factor);
}

/* Geometry: meshed at the size asked. */
static void generate(child *c)
{
    int ierr = 0;
    if (c->kind == IMPORT_AUTO) c->kind = has_groups(c, 3) ? IMPORT_VOLUME : IMPORT_SURFACE;
    if (strcmp(c->suffix, ".geo") != 0) gmsh_geometry_prepare(c);
    if (c->options->size > 0) {
        double size = c->options->size / c->options->scale;
        option(c, "Mesh.MeshSizeMin", size);
        option(c, "Mesh.MeshSizeMax", size);
    }
    gmsh.ModelMeshGenerate(c->kind == IMPORT_VOLUME ? 3 : 2, &ierr);
    pass_messages(c);
    gmsh_child_must(c, ierr, "mesh the geometry");
    put_frame(c, FRAME_GENERATED, 0, 0, 0);
}

static void send_names(const child *c)
{
    int *groups = NULL, ierr = 0;
    size_t count = 0;
    gmsh.ModelGetPhysicalGroups(&groups, &count, c->kind == IMPORT_VOLUME ? -1 : 2, &ierr);
    gmsh_child_must(c, ierr, "list the physical groups");
    for (size_t i = 0; i + 1 < count; i += 2) {
        char *name = NULL;
        gmsh.ModelGetPhysicalName(groups[i], groups[i + 1], &name, &ierr);
        if (!ierr && name && name[0] && groups[i] >= 2)
            gmsh_child_text(c, FRAME_NAME, (groups[i] == 2 ? -1 : 1) * groups[i + 1], name);
        gmsh.Free(name);
    }
    gmsh.Free(groups);
}

static void send_nodes(const child *c, int dim, int entity)
{
    size_t *numbers = NULL, count = 0, coordinates_n = 0, parameters_n = 0;
    double *coordinates = NULL, *parameters = NULL;
    int ierr = 0;
    gmsh.ModelMeshGetNodes(&numbers, &count, &coordinates, &coordinates_n, &parameters,
                           &parameters_n, dim, entity, 0, 0, &ierr);
    gmsh_child_must(c, ierr, "list the nodes");
    put_frame(c, FRAME_VERTICES, 3, 0, (int64_t)count);
    put(c, numbers, count * sizeof *numbers);
    put(c, coordinates, 3 * count * sizeof *coordinates);
    gmsh.Free(numbers), gmsh.Free(coordinates), gmsh.Free(parameters);
}

/* The first physical group of an entity; a note if there are more. Formats whose regions are no
 * groups (properties of Nastran, references of Medit) have an entity for each. */
static int group_of(const child *c, int dim, int entity)
{
    int *groups = NULL, ierr = 0, group = 0;
    if (c->by_entity) return c->geometry ? gmsh_geometry_tag(c, dim, entity) : abs(entity);
    size_t count = 0;
    char text[160];
    gmsh.ModelGetPhysicalGroupsForEntity(dim, entity, &groups, &count, &ierr);
    if (!ierr && count > 0) group = abs(groups[0]);
    if (!ierr && count > 1) {
        snprintf(text, sizeof text,
                 "entity %d of dimension %d is in %zu physical groups: its "
                 "elements get the tag of the first, %d",
                 entity, dim, count, group);
        gmsh_child_text(c, FRAME_WARNING, 0, text);
    }
    gmsh.Free(groups);
    return group;
}

static void refuse_type(const child *c, int type, size_t number)
{
    char *name = NULL;
    int dim = 0, order = 0, nodes = 0, primary = 0, ierr = 0;
    double *local = NULL;
    size_t local_n = 0;
    gmsh.ModelMeshGetElementProperties(type, &name, &dim, &order, &nodes, &local, &local_n,
                                       &primary, &ierr);
    gmsh_child_give_up(
        c, PS_INVALID,
        "element %zu is a \"%s\" (Gmsh type %d, order %d): only straight triangles and "
        "tetrahedra are read%s",
        number, name ? name : "?", type, order,
        order > 1 ? "; save the mesh with Mesh.ElementOrder = 1"
                  : "; mesh without recombination, or split the elements into simplices");
}

/* Gmsh lists the elements of an entity by the order of its first, and none of other orders: what it
 * has and did not list would be a hole. */
static void check_all_sent(const child *c)
{
    static const char *const names[] = {"Mesh.NbTriangles", "Mesh.NbQuadrangles",
                                        "Mesh.NbTetrahedra"};
    double count = 0, all = 0;
    for (int i = 0; i < (c->kind == IMPORT_VOLUME ? 3 : 2); ++i) {
        int ierr = 0;
        gmsh.OptionGetNumber(names[i], &count, &ierr);
        gmsh_child_must(c, ierr, names[i]);
        all += count;
    }
    if ((double)c->sent != all)
        gmsh_child_give_up(c, PS_INVALID,
                           "%.0f elements are not of the order of others of their kind: only "
                           "straight triangles and tetrahedra are read; save the mesh with "
                           "elements of first order alone",
                           all - (double)c->sent);
}

static void send_elements(child *c, int dim, int entity)
{
    int *types = NULL, ierr = 0, group = group_of(c, dim, entity);
    size_t types_n = 0, **numbers = NULL, *numbers_n = NULL, numbers_nn = 0;
    size_t **nodes = NULL, *nodes_n = NULL, nodes_nn = 0;
    gmsh.ModelMeshGetElements(&types, &types_n, &numbers, &numbers_n, &numbers_nn, &nodes, &nodes_n,
                              &nodes_nn, dim, entity, &ierr);
    gmsh_child_must(c, ierr, "list the elements");
    for (size_t i = 0; i < types_n; ++i) {
        if (types[i] != ELEMENT_TRIANGLE && types[i] != ELEMENT_QUADRANGLE &&
            types[i] != ELEMENT_TETRAHEDRON)
            refuse_type(c, types[i], numbers[i][0]);
        put_frame(c, FRAME_CELLS,
                  types[i] == ELEMENT_TRIANGLE     ? 3
                  : types[i] == ELEMENT_QUADRANGLE ? -4
                                                   : 4,
                  group, (int64_t)numbers_n[i]);
        c->sent += (int64_t)numbers_n[i];
        put(c, numbers[i], numbers_n[i] * sizeof **numbers);
        put(c, nodes[i], nodes_n[i] * sizeof **nodes);
        gmsh.Free(numbers[i]);
        gmsh.Free(nodes[i]);
    }
    gmsh.Free(types), gmsh.Free(numbers), gmsh.Free(numbers_n), gmsh.Free(nodes),
        gmsh.Free(nodes_n);
}

static void send_mesh(child *c)
{
    int *entities = NULL, ierr = 0, top = c->kind == IMPORT_VOLUME ? 3 : 2;
    size_t count = 0;
    gmsh.ModelGetEntities(&entities, &count, -1, &ierr);
    gmsh_child_must(c, ierr, "list the entities");
    for (size_t i = 0; i + 1 < count; i += 2) send_nodes(c, entities[i], entities[i + 1]);
    for (size_t i = 0; i + 1 < count; i += 2)
        if (entities[i] >= 2 && entities[i] <= top) send_elements(c, entities[i], entities[i + 1]);
    gmsh.Free(entities);
    check_all_sent(c);
}

static void silence(void)
{
    int null = open("/dev/null", O_RDWR);
    if (null < 0) return;
    for (int fd = 0; fd < 3; ++fd) dup2(null, fd);
}

/* Before the file is opened, and after the library has read its own. A system that cannot confine
 * is told so; a script is not run there. */
static void confine(const child *c)
{
    int error = import_sandbox_enter(c->options->run->host_memory, c->options->time);
    char text[160];
    if (!error) return;
    if (strcmp(c->suffix, ".geo") == 0)
        gmsh_child_give_up(
            c, PS_INVALID,
            "this system cannot confine Gmsh (%s), and .geo files can run programs: --allow "
            "geo-commands reads it all the same",
            strerror(error));
    snprintf(text, sizeof text, "Gmsh's library is not confined here: %s", strerror(error));
    gmsh_child_text(c, FRAME_WARNING, 0, text);
}

static void run_child(child *c, const char *path)
{
    int ierr = 0;
    signal(SIGPIPE, SIG_DFL);
    ps_stop_release();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    silence();
    gmsh_library_load(c);
    gmsh.Initialize(0, NULL, 0, &ierr);
    gmsh_child_must(c, ierr, "start");
    option(c, "General.Terminal", 0);
    option(c, "General.NumThreads", 1);
    option(c, "General.AbortOnError", 0);
    gmsh.OptionSetString("Geometry.OCCTargetUnit", "M", &ierr);
    gmsh.LoggerStart(&ierr);
    if (c->confined) confine(c);
    gmsh.Open(path, &ierr);
    pass_messages(c);
    gmsh_child_must(c, ierr, "read the file");
    refuse_scaling(c);
    if (c->geometry && !has_elements(c, 2)) generate(c);
    if (c->kind == IMPORT_AUTO) c->kind = has_elements(c, 3) ? IMPORT_VOLUME : IMPORT_SURFACE;
    if (!c->geometry) c->by_entity = !has_groups(c, 2) && !has_groups(c, 3);
    send_names(c);
    send_mesh(c);
    put_frame(c, FRAME_END, 0, 0, 0);
    _exit(0);
}

/* ---- in the parent ---- */

/* Ends the child if the parent gave up, and tells whether it died of itself. *forbidden: of what
 * the sandbox does not let it do. */
static ps_status child_verdict(pid_t pid, ps_status status, const import_options *options,
                               const char *name, bool *forbidden)
{
    int how = 0;
    if (status == PS_FAILED || status == PS_EXHAUSTED) kill(pid, SIGKILL);
    while (waitpid(pid, &how, 0) < 0 && errno == EINTR) {
    }
    int signal = WIFSIGNALED(how) ? WTERMSIG(how) : 0;
    *forbidden = signal == SIGSYS;
    if (signal == SIGXCPU || (signal == SIGKILL && status == PS_INVALID))
        return ps_fail(
            PS_EXHAUSTED,
            "%s: Gmsh's library took more than the %.0f s of CPU time or the memory that "
            "it may; --gmsh-time and --host-memory give it more",
            name, options->time);
    if (status == PS_INVALID && signal && signal != SIGPIPE)
        return ps_fail(PS_INVALID,
                       "%s: Gmsh's library crashed while reading it (%s): the file is "
                       "broken or not what its suffix says",
                       name, strsignal(signal));
    return status;
}

/* `path` is what Gmsh is given. */
static ps_status run_gmsh(const import_input *input, const char *path,
                          const import_options *options, const step_names *names, bool confined,
                          bool *forbidden, import_mesh *mesh)
{
    int ends[2];
    *forbidden = false;
    if (pipe(ends) != 0) return ps_fail(PS_EXHAUSTED, "no pipe: %s", strerror(errno));
    fflush(NULL);
    pid_t pid = fork();
    if (pid < 0) {
        close(ends[0]), close(ends[1]);
        return ps_fail(PS_EXHAUSTED, "no process for Gmsh: %s", strerror(errno));
    }
    if (pid == 0) {
        close(ends[0]);
        child c = {.pipe = ends[1],
                   .options = options,
                   .suffix = input->suffix,
                   .geometry = import_is_geometry(input),
                   .confined = confined,
                   .in_file = names->solids > 0 ? names : NULL,
                   .kind = options->kind};
        run_child(&c, path);
    }
    close(ends[1]);
    mesh->vertex_word = "node";
    mesh->vertex_words = "nodes";
    mesh->cell_word = "element";
    ps_status status = gmsh_pipe_receive(ends[0], input->name, mesh);
    close(ends[0]);
    return child_verdict(pid, status, options, input->name, forbidden);
}

/* A name that Gmsh knows: it goes by the spelling of suffixes, and takes what it does not know for
 * a script. A link of the lower-case suffix stands for the file; a .geo keeps its folder, from
 * which it includes others. */
static ps_status known_name(const import_input *input, ps_scratch_folder *folder, char path[],
                            size_t size)
{
    size_t length = strlen(input->path), suffix = strlen(input->suffix);
    char *real;
    snprintf(path, size, "%s", input->path);
    if (strcmp(input->path + length - suffix, input->suffix) == 0) return PS_OK;
    if (strcmp(input->suffix, ".geo") == 0)
        return ps_fail(PS_INVALID, "%s: a script of Gmsh ends in .geo, in lower case", input->name);
    PS_TRY(ps_scratch_folder_make(folder));
    snprintf(path, size, "%s/mesh%s", folder->path, input->suffix);
    real = realpath(input->path, NULL);
    bool good = real && symlink(real, path) == 0;
    free(real);
    return good ? PS_OK
                : ps_fail(PS_EXHAUSTED, "%s: no link to it: %s", input->name, strerror(errno));
}

/* A STEP file whose faces have names is given to Gmsh as a copy that shows which is which; one of
 * Nastran as a copy that it does not take for another (nastran.c). */
static ps_status make_copy(const import_input *input, ps_scratch_folder *folder, step_names *names,
                           char path[], size_t size)
{
    static const char *const step[] = {".step", ".stp", NULL};
    static const char *const bulk[] = {".bdf", ".nas", NULL};
    bool nastran = import_has_suffix(input, bulk), marked = nastran;
    char copy[4200];
    if (!nastran && !import_has_suffix(input, step)) return PS_OK;
    if (!folder->path[0]) PS_TRY(ps_scratch_folder_make(folder));
    snprintf(copy, sizeof copy, "%s/%s", folder->path, nastran ? "nodes.bdf" : "faces.step");
    PS_TRY(nastran ? nastran_copy(input, copy)
                   : step_names_mark(input->path, input->name, copy, names, &marked));
    if (marked)
        snprintf(path, size, "%s", copy);
    else
        step_names_release(names);
    return PS_OK;
}

ps_status import_read_gmsh(const import_input *input, const import_options *options,
                           import_mesh *mesh)
{
    PS_SCOPED(ps_scratch_folder_remove) ps_scratch_folder folder = {.alive = -1};
    PS_SCOPED(step_names_release) step_names names = {.solid = NULL};
    char path[4200];
    bool forbidden = false;
    if (!import_is_geometry(input)) PS_TRY(import_check_announced(input));
    if (strcmp(input->suffix, ".unv") == 0) PS_TRY(import_check_unv(input, options));
    ps_status status = known_name(input, &folder, path, sizeof path);
    if (status == PS_OK) status = make_copy(input, &folder, &names, path, sizeof path);
    if (status == PS_OK) status = run_gmsh(input, path, options, &names, true, &forbidden, mesh);
    if (forbidden) {
        status = ps_refuse(options->run, "geo-commands",
                           "%s: reading it, Gmsh was about to start a program, write a file or use "
                           "the network, and was ended",
                           input->name);
        import_mesh_release(mesh);
        import_mesh_init(mesh);
        if (status == PS_OK)
            status = run_gmsh(input, path, options, &names, false, &forbidden, mesh);
    }
    return status;
}
