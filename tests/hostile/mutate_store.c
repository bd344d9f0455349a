/*
 * mutate_store COUNT SEED FOLDER FILE...: mutants of valid files, edited in structure and numbers
 * with all hashes made anew, each read by the reader of its format. Prints how many were read as
 * valid and how many were refused; ends with 1 if a reader crashed, hung, or failed with a code
 * that is no refusal, or wanted memory that such a small file cannot need. Built with sanitizers, a
 * report of theirs is a crash.
 */
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "formats/block_matrix.h"
#include "formats/box_field.h"
#include "formats/checkpoint.h"
#include "formats/cluster_tree.h"
#include "formats/dgtd_model.h"
#include "formats/gravity_map.h"
#include "formats/hbem_solution.h"
#include "formats/history.h"
#include "formats/incident_file.h"
#include "formats/hmatrix.h"
#include "formats/octree.h"
#include "formats/particles.h"
#include "formats/phasors.h"
#include "formats/port_signals.h"
#include "formats/prism_model.h"
#include "formats/slice_matrix.h"
#include "formats/subdomains.h"
#include "formats/surface_mesh.h"
#include "formats/task_trace.h"
#include "formats/terrain.h"
#include "formats/trace.h"
#include "formats/transmission.h"
#include "formats/volume_mesh.h"
#include "formats/worker_log.h"
#include "runtime/scope.h"
#include "stage/prism_sum/rows.h"
#include "store_model.h"

enum { BATCH = 100, SECONDS_A_MUTANT = 60, ROOM = 64 << 20 };

/* ---- readers: everything that a consumer asks for ---- */

/* Formats that are loaded whole. What a failed load leaves is zero, or released by itself. */
#define LOADED(name, type, load, release)                                                          \
    static ps_status name(const char *path)                                                        \
    {                                                                                              \
        type all = {0};                                                                            \
        ps_status status = load(path, &all);                                                       \
        if (status == PS_OK) release(&all);                                                        \
        return status;                                                                             \
    }
LOADED(read_surface, ps_surface_mesh, ps_surface_mesh_load, ps_surface_mesh_release)
LOADED(read_volume, ps_volume_mesh, ps_volume_mesh_load, ps_volume_mesh_release)
LOADED(read_trace, ps_trace, ps_trace_load, ps_trace_release)
LOADED(read_clusters, ps_clusters, ps_clusters_load, ps_clusters_release)
LOADED(read_map, ps_gravity_map, ps_gravity_map_load, ps_gravity_map_release)
LOADED(read_tasks, ps_task_trace, ps_task_trace_load, ps_task_trace_release)
LOADED(read_workers, ps_worker_log, ps_worker_log_load, ps_worker_log_release)
LOADED(read_transmission, ps_transmission_file, ps_transmission_load, ps_transmission_file_release)
LOADED(read_prism_model, ps_prism_model, ps_prism_model_load, ps_prism_model_release)

/* What programs read as a part of a store. */
#define STORED(name, type, format, version, read, release)                                         \
    static ps_status name(const char *path)                                                        \
    {                                                                                              \
        PS_SCOPED(ps_store_close) ps_store *store = NULL;                                          \
        type all;                                                                                  \
        PS_TRY(ps_store_open(path, format, version, &store));                                      \
        PS_TRY(read(store, &all));                                                                 \
        release(&all);                                                                             \
        return PS_OK;                                                                              \
    }
STORED(read_partition, ps_partition, PS_PARTITION_FORMAT, 0, ps_partition_read,
       ps_partition_release)
STORED(read_ports, ps_port_signals, PS_PORT_SIGNALS_FORMAT, PS_PORT_SIGNALS_VERSION,
       ps_port_signals_read, ps_port_signals_release)

static ps_status read_model(const char *path)
{
    PS_SCOPED(ps_dgtd_model_close) ps_dgtd_model_file *file = NULL;
    PS_TRY(ps_dgtd_model_open(path, &file));
    for (int ranks = 1; ranks <= 2; ++ranks)
        for (int rank = 0; rank < ranks; ++rank) {
            int64_t shares[3];
            ps_dgtd_domain domain;
            if (ps_dgtd_model_share(file, ranks, shares) != PS_OK) break;
            PS_TRY(ps_dgtd_model_load(file, shares, ranks, rank, 8, &domain));
            ps_dgtd_domain_release(&domain);
        }
    return PS_OK;
}

static ps_status read_particles(const char *path)
{
    PS_SCOPED(ps_particles_close) ps_particle_file *file = NULL;
    PS_TRY(ps_particles_open(path, &file));
    const ps_particle_header *h = ps_particles_header(file);
    int columns = 3 + h->right_hand_sides;
    double *column[PS_PARTICLE_COLUMNS_MAX] = {NULL};
    for (int c = 0; c < columns; ++c) column[c] = malloc((size_t)h->count * 8);
    ps_status status = ps_particles_read(file, 0, h->count, column, columns);
    for (int c = 0; c < columns; ++c) free(column[c]);
    return status;
}

static ps_status read_side(ps_octree_file *file, ps_octree_side side)
{
    const ps_octree_header *h = ps_octree_file_header(file);
    ps_octree tree;
    PS_TRY(ps_octree_load_tree(file, side, &tree));
    int64_t n = tree.particles, *place = malloc((size_t)n * 8);
    double *column[PS_PARTICLE_COLUMNS_MAX] = {NULL};
    int columns = side == PS_OCTREE_SOURCES ? 3 + h->right_hand_sides : 3;
    for (int c = 0; c < columns; ++c) column[c] = malloc((size_t)n * 8);
    ps_status status = ps_octree_read(file, side, 0, n, column, columns, place);
    for (int64_t i = 0; status == PS_OK && i < n; ++i) column[0][place[i]] += 1; /* as consumers */
    for (int c = 0; c < columns; ++c) free(column[c]);
    free(place);
    ps_octree_release(&tree);
    return status;
}

static ps_status read_octree(const char *path)
{
    PS_SCOPED(ps_octree_close) ps_octree_file *file = NULL;
    ps_group_list list;
    PS_TRY(ps_octree_open(path, &file));
    PS_TRY(read_side(file, PS_OCTREE_SOURCES));
    PS_TRY(read_side(file, PS_OCTREE_TARGETS));
    for (int l = 0; l < ps_octree_file_header(file)->height; ++l)
        if (ps_octree_get_list(file, PS_OCTREE_FAR_GROUPS, l, &list) == PS_OK)
            ps_group_list_release(&list);
    return PS_OK;
}

static ps_status read_box(const char *path)
{
    PS_SCOPED(ps_box_field_close) ps_box_field f = {0};
    PS_TRY(ps_box_field_open(path, NULL, &f));
    if (f.plane * 8 > ROOM) return PS_OK;
    PS_SCOPED_MEMORY double *plane = malloc((size_t)f.plane * 8 + 8);
    for (int64_t p = 0; p < f.shape[0]; ++p) PS_TRY(ps_box_field_read(&f, p, 1, plane));
    return PS_OK;
}

static ps_status read_history(const char *path)
{
    PS_SCOPED(ps_history_close) ps_history *history = NULL;
    PS_TRY(ps_history_open(path, &history));
    const ps_history_header *h = ps_history_header_of(history);
    PS_SCOPED_MEMORY double *row = malloc((size_t)h->slices.unknowns * 8);
    for (int64_t s = 1; s <= h->steps && s < 500; ++s) PS_TRY(ps_history_read(history, s, 1, row));
    return PS_OK;
}

static ps_status read_incident(const char *path)
{
    PS_SCOPED(ps_incident_file_close) ps_incident_file *file = NULL;
    PS_TRY(ps_incident_file_open(path, &file));
    const ps_incident_header *h = ps_incident_file_header(file);
    PS_SCOPED_MEMORY double *row = malloc((size_t)h->unknowns * 8);
    for (int64_t n = 1; n <= h->steps && n < 500; ++n) PS_TRY(ps_incident_file_read(file, n, row));
    return PS_OK;
}

static ps_status read_phasors(const char *path)
{
    PS_SCOPED(ps_phasors_close) ps_phasors *file = NULL;
    PS_TRY(ps_phasors_open(path, &file));
    const ps_phasors_header *h = ps_phasors_get_header(file);
    size_t rows = (size_t)h->rows;
    PS_SCOPED_MEMORY int32_t *number = malloc(rows * 4), *material = malloc(rows * 4);
    PS_SCOPED_MEMORY uint8_t *faces = malloc(rows * 4);
    PS_SCOPED_MEMORY float *values = malloc(rows * 6 * 35 * 4);
    PS_TRY(ps_phasors_read_elements(file, number, material));
    if (ps_phasors_has_marks(file, PS_PHASORS_FACES))
        PS_TRY(ps_phasors_read_marks(file, PS_PHASORS_FACES, faces));
    for (int f = 0; f < h->frequencies; ++f)
        PS_TRY(ps_phasors_read_rows(file, f, PS_PHASORS_ELECTRIC, 0, h->rows, values));
    return PS_OK;
}

/* Room for the bytes of a tile or chunk; NULL where it wants more than such a small file can need.
 */
static void *tile_room(int64_t bytes)
{
    return bytes > ROOM ? NULL : aligned_alloc(64, (size_t)(bytes + 63) / 64 * 64 + 64);
}

/* Every item of a file that is read in two halves, as programs stream it: FILE has `count`. */
#define TILED(read_tiles, file_type, tile_bytes, read_raw, unpack)                                 \
    static ps_status read_tiles(file_type *file, int64_t count)                                    \
    {                                                                                              \
        ps_status status = PS_OK;                                                                  \
        for (int64_t t = 0; t < count && status == PS_OK; ++t) {                                   \
            int64_t raw, unpacked;                                                                 \
            tile_bytes(file, t, &raw, &unpacked);                                                  \
            void *a = tile_room(raw), *b = tile_room(unpacked);                                    \
            if (a && b) status = read_raw(file, t, a);                                             \
            if (a && b && status == PS_OK) status = unpack(file, t, a, b);                         \
            free(a), free(b);                                                                      \
        }                                                                                          \
        return status;                                                                             \
    }
#define SLICES_UNPACK(file, t, a, b) ps_slice_matrix_unpack(file, t, a, b, NULL)
#define BLOCKS_UNPACK(file, t, a, b) ps_block_matrix_unpack(file, t, a, b, NULL)
TILED(slice_tiles, ps_slice_matrix, ps_slice_matrix_tile_bytes, ps_slice_matrix_read_raw,
      SLICES_UNPACK)
TILED(block_tiles, ps_block_matrix, ps_block_matrix_tile_bytes, ps_block_matrix_read_raw,
      BLOCKS_UNPACK)
TILED(hmatrix_chunks, ps_hmatrix_file, ps_hmatrix_chunk_bytes, ps_hmatrix_read_raw,
      ps_hmatrix_unpack)

static ps_status read_slices(const char *path)
{
    PS_SCOPED(ps_slice_matrix_close) ps_slice_matrix *m = NULL;
    ps_csr m0;
    PS_TRY(ps_slice_matrix_open(path, &m));
    PS_TRY(slice_tiles(m, ps_slice_matrix_tile_count(m)));
    PS_TRY(ps_slice_matrix_load_m0(m, &m0));
    ps_csr_release(&m0);
    return PS_OK;
}

static ps_status read_blocks(const char *path)
{
    PS_SCOPED(ps_block_matrix_close) ps_block_matrix *m = NULL;
    PS_TRY(ps_block_matrix_open(path, &m));
    return block_tiles(m, ps_block_matrix_tile_count(m));
}

static ps_status read_solution(const char *path)
{
    PS_SCOPED(ps_hbem_solution_close) ps_hbem_solution f = {0};
    ps_surface_mesh mesh;
    PS_TRY(ps_hbem_solution_open(path, &f));
    PS_TRY(ps_hbem_solution_mesh(&f, &mesh));
    ps_surface_mesh_release(&mesh);
    return PS_OK;
}

static ps_status read_subdomains(const char *path)
{
    PS_SCOPED(ps_subdomains_close) ps_subdomains f = {0};
    PS_TRY(ps_subdomains_open(path, &f));
    for (int64_t s = 0; s < f.header.subdomains; ++s) {
        ps_subdomain one;
        PS_TRY(ps_subdomains_read(&f, s, &one));
        ps_subdomain_release(&one);
    }
    for (int64_t s = 0; s < f.header.interfaces; ++s) {
        ps_subdomain_face face;
        PS_TRY(ps_subdomains_read_face(&f, s, &face));
        ps_subdomain_face_release(&face);
    }
    return PS_OK;
}

/* As penstock-prism-field reads it, by names. */
static ps_status read_terrain(const char *path)
{
    static const ps_prism_row_form forms[] = {{"prisms", 7, 9, "x0 .. density", NULL},
                                              {"stations", 3, 3, "x y z", NULL}};
    for (int i = 0; i < 2; ++i) {
        ps_prism_rows rows = {0};
        ps_status status = ps_prism_rows_read(path, &forms[i], &rows);
        ps_prism_rows_release(&rows);
        PS_TRY(status);
    }
    return PS_OK;
}

static ps_status read_hmatrix(const char *path)
{
    PS_SCOPED(ps_hmatrix_close) ps_hmatrix_file *file = NULL;
    ps_hmatrix matrix = {0};
    PS_TRY(ps_hmatrix_open(path, &file));
    PS_TRY(hmatrix_chunks(file, ps_hmatrix_file_chunks(file)->count));
    PS_TRY(ps_hmatrix_load(file, &matrix));
    ps_hmatrix_release(&matrix);
    return PS_OK;
}

/* The arrays that a program would expect: those of the file, as long as they are small. */
static int arrays_of(const char *path, char names[][PS_NAME_MAX], ps_checkpoint_array *arrays,
                     int most)
{
    PS_SCOPED(ps_store_close) ps_store *store = NULL;
    int count = 0;
    if (ps_store_open(path, NULL, 0, &store) != PS_OK) return 0;
    for (int d = 0; d < ps_store_dataset_count(store) && count < most; ++d) {
        ps_dataset_info info;
        if (ps_store_dataset(store, d, &info) != PS_OK || info.dims[0] > ROOM / 8) continue;
        snprintf(names[count], PS_NAME_MAX, "%s", info.name);
        arrays[count] = (ps_checkpoint_array){.name = names[count],
                                              .type = info.type,
                                              .count = info.dims[0],
                                              .data = malloc((size_t)info.dims[0] * 8 + 8)};
        ++count;
    }
    return count;
}

/* As a run that goes on: its newest generation, under the name of one. */
static ps_status read_checkpoint(const char *path)
{
    enum { MOST = 16 };
    char run[4096], generation[4096], uuid[PS_RUN_UUID_SIZE], *identity;
    char names[MOST][PS_NAME_MAX];
    ps_checkpoint_array arrays[MOST];
    int64_t step;
    uint64_t log;
    snprintf(run, sizeof run, "%.*s", (int)(strlen(path) - strlen(".h5")), path);
    ps_checkpoint_path(run, 1, generation);
    if (rename(path, generation) != 0) return PS_FAILED;
    ps_status status = ps_checkpoint_identity(run, 1, 0, uuid, &identity);
    if (status == PS_OK) free(identity);
    if (status == PS_OK) status = ps_checkpoint_check(run, 1, uuid, 0, &step, &log);
    if (status == PS_OK) {
        int count = arrays_of(generation, names, arrays, MOST);
        ps_checkpoint state = {.step = step, .uuid = uuid, .array_count = count, .arrays = arrays};
        status = ps_checkpoint_load(run, 1, &state);
        for (int i = 0; i < count; ++i) free(arrays[i].data);
    }
    unlink(generation);
    return status;
}

static const struct {
    const char *format;
    ps_status (*read)(const char *path);
} readers[] = {
    {PS_SURFACE_MESH_FORMAT, read_surface},   {PS_VOLUME_MESH_FORMAT, read_volume},
    {PS_PARTITION_FORMAT, read_partition},    {PS_DGTD_MODEL_FORMAT, read_model},
    {PS_PARTICLES_FORMAT, read_particles},    {PS_OCTREE_FORMAT, read_octree},
    {PS_BOX_FIELD_FORMAT, read_box},          {"penstock-history", read_history},
    {PS_INCIDENT_FILE_FORMAT, read_incident}, {"penstock-trace", read_trace},
    {PS_PHASORS_FORMAT, read_phasors},        {PS_SLICE_MATRIX_FORMAT, read_slices},
    {PS_BLOCK_MATRIX_FORMAT, read_blocks},    {PS_CLUSTER_FORMAT, read_clusters},
    {PS_HBEM_SOLUTION_FORMAT, read_solution}, {PS_GRAVITY_MAP_FORMAT, read_map},
    {PS_SUBDOMAINS_FORMAT, read_subdomains},  {"penstock-task-trace", read_tasks},
    {"penstock-worker-log", read_workers},    {PS_TRANSMISSION_FORMAT, read_transmission},
    {PS_HMATRIX_FORMAT, read_hmatrix},        {PS_PRISM_MODEL_FORMAT, read_prism_model},
    {PS_TERRAIN_FORMAT, read_terrain},        {PS_PORT_SIGNALS_FORMAT, read_ports},
    {"penstock-checkpoint", read_checkpoint}, {NULL, NULL}};

static ps_status read_any(const char *path, const char *format)
{
    for (int i = 0; readers[i].format; ++i)
        if (strcmp(readers[i].format, format) == 0) return readers[i].read(path);
    PS_SCOPED(ps_store_close) ps_store *store = NULL;
    ps_verify_result result;
    PS_TRY(ps_store_open(path, NULL, 0, &store));
    return ps_store_verify(store, true, &result);
}

/* ---- the run ---- */

typedef struct progress {
    int64_t at, valid, refused, unwritable, odd;
    char what[256];
} progress;

/* "FOLDER/mutant7.h5": each seed has a name of its own, beside which its parts are. */
static void mutant_path(const char *folder, int seed, char out[4096])
{
    snprintf(out, 4096, "%s/mutant%d.h5", folder, seed);
}

/* Links the parts of a seed that has some under the names that its mutants ask for, or removes the
 * links. */
static void link_parts(const char *folder, int seed, const char *file, bool make)
{
    char mutant[4096], part[4096], name[4096], full[PATH_MAX];
    mutant_path(folder, seed, mutant);
    for (int p = 0;; ++p) {
        ps_store_part_path(file, 0, p, part);
        ps_store_part_path(mutant, 0, p, name);
        if (!realpath(part, full)) return;
        unlink(name);
        if (make && symlink(full, name) != 0) perror(name);
    }
}

static void run_one(char **files, const store_model *seeds, int count, uint64_t seed,
                    const char *folder, progress *p)
{
    PS_SCOPED(store_model_release) store_model model = {0};
    uint64_t random = seed * 2654435761u + 12345;
    int of = (int)(seed % (uint64_t)count);
    const char *file = files[of];
    store_model_copy(&seeds[of], &model);
    char what[256] = "", path[4096];
    mutant_path(folder, of, path);
    for (int i = 0; i < 4; ++i) random = random * 6364136223846793005u + 1442695040888963407u;
    store_model_mutate(&model, &random, what);
    snprintf(p->what, sizeof p->what, "%.100s: %.150s", file, what);
    if (!store_model_write(path, &model)) {
        ++p->unwritable;
    } else {
        ps_status status = read_any(path, model.format);
        if (status == PS_OK)
            ++p->valid;
        else if (status == PS_INVALID || status == PS_USAGE)
            ++p->refused;
        else if (++p->odd)
            fprintf(stderr, "mutant %llu, %s: code %d, %s\n", (unsigned long long)seed, p->what,
                    status, ps_message());
    }
    unlink(path);
}

int main(int argc, char **argv)
{
    if (argc < 5) return 2;
    int64_t count = atoll(argv[1]), crashes = 0;
    uint64_t seed = strtoull(argv[2], NULL, 10);
    char **files = argv + 4;
    int seed_count = argc - 4;
    store_model *seeds = calloc((size_t)seed_count, sizeof *seeds);
    for (int i = 0; i < seed_count; ++i)
        if (store_model_read(files[i], &seeds[i]) != PS_OK) {
            fprintf(stderr, "%s: %s\n", files[i], ps_message());
            return 2;
        }
    for (int i = 0; i < seed_count; ++i) link_parts(argv[3], i, files[i], true);
    progress *p = mmap(NULL, sizeof *p, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    while (p->at < count) {
        fflush(NULL);
        pid_t child = fork();
        if (child == 0) {
            for (int i = 0; i < BATCH && p->at < count; ++i) {
                alarm(SECONDS_A_MUTANT);
                ++p->at;
                run_one(files, seeds, seed_count, seed + (uint64_t)p->at, argv[3], p);
            }
            _exit(0);
        }
        int end = 0;
        waitpid(child, &end, 0);
        if (end != 0) {
            ++crashes;
            fprintf(stderr, "mutant %llu, %s: ended by %s %d\n",
                    (unsigned long long)(seed + (uint64_t)p->at), p->what,
                    WIFSIGNALED(end) ? "signal" : "code",
                    WIFSIGNALED(end) ? WTERMSIG(end) : WEXITSTATUS(end));
        }
    }
    for (int i = 0; i < seed_count; ++i) link_parts(argv[3], i, files[i], false);
    printf(
        "%lld mutants: %lld read, %lld refused, %lld not writable, %lld odd codes, %lld crashes\n",
        (long long)count, (long long)p->valid, (long long)p->refused, (long long)p->unwritable,
        (long long)p->odd, (long long)crashes);
    return crashes || p->odd ? 1 : 0;
}
