/* penstock-hmatrix-assemble: boundary operators as H-matrices on disk. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "assemble.h"
#include "preprocess/hmatrix_assemble/figure_table.h"
#include "runtime/comm.h"
#include "runtime/device.h"
#include "runtime/log.h"
#include "runtime/memory.h"
#include "runtime/scope.h"
#include "runtime/stop.h"
#include "stage/product.h"

static ps_text_list mirror;
static assemble_options chosen = {.matrix = PS_HBEM_MATRIX_DEFAULTS, .pair_threshold = 10000};

static const ps_option options[] = {
    PS_CHOICE("operator", &chosen.kernel, "slp|dlp|adlp|hyps", PS_IDENTITY,
              "single layer, double layer, its adjoint, hypersingular"),
    PS_REAL("wavenumber", &chosen.wavenumber, "K", 0, 1e9, PS_IDENTITY, "rad/m; 0: Laplace"),
    PS_TEXT("absorption", &chosen.absorption, "XdB/m|XNp/m", PS_IDENTITY,
            "of the medium: a complex wave number"),
    PS_LIST("mirror", &mirror, "PLANE:KIND", PS_IDENTITY,
            "of waves beside a plane, given as to penstock-hbem-solve, once or twice: see --image"),
    PS_INT("image", &chosen.image, "N", 0, PS_REFLECTOR_IMAGES_MAX - 1, PS_IDENTITY,
           "functions against their image in the first plane (1), the second one (2), both (3); 0: "
           "against each other, of a body that may stand on the planes"),
    PS_REAL("epsilon", &chosen.matrix.tolerance, "EPS", 1e-12, 0.5, PS_IDENTITY,
            "of cross approximation and recompression, relative"),
    PS_REAL("tolerance", &chosen.matrix.tolerance, "EPS", 1e-12, 0.5, 0, NULL),
    PS_REAL("rules", &chosen.matrix.rules, "EPS", 0, 0.5, PS_IDENTITY,
            "of quadrature; 0: as --epsilon"),
    PS_CHOICE("precision", &chosen.matrix.precision, PS_FP64 "|" PS_FP32, PS_IDENTITY,
              "of the stored numbers and of integrals that are far apart"),
    PS_CHOICE("mode", &chosen.mode, "hmatrix|dense", PS_IDENTITY,
              "low rank where clusters are far apart, or all entries"),
    PS_INT("check-rows", &chosen.matrix.check_rows, "N", 1, 1000, PS_IDENTITY,
           "rows of a block that are checked when it seems converged"),
    PS_INT("max-rank", &chosen.matrix.max_rank, "R", 1, 100000, PS_IDENTITY,
           "a block that needs more is an error"),
    PS_INT("cut-rank", &chosen.matrix.cut_rank, "R", 0, 100000, PS_IDENTITY,
           "far blocks of waves are cut where a rank above R is expected; 0: they are not"),
    PS_FLAG("recompress", &chosen.matrix.recompress, PS_IDENTITY,
            "reduce ranks by singular values"),
    PS_FLAG("skeleton", &chosen.matrix.skeleton, PS_IDENTITY,
            "take crosses of far blocks through points, which are cheaper, instead of entries"),
    PS_CHOICE("hyps", &chosen.hyps, "direct|weak", PS_IDENTITY,
              "far blocks of the hypersingular operator; weak: for comparison, dearer and in "
              "single precision less accurate, by the cores and without --skeleton"),
    {"chunk-size", PS_OPTION_BYTES, &chosen.matrix.chunk_bytes, "BYTES",
     "expected size of a part file; what is held in memory, written and kept at once", 1 << 12, 4e9,
     PS_IDENTITY},
    PS_CHOICE("compress", &chosen.compress, "zstd|none", PS_IDENTITY,
              "none: values as they are, a sixth more on the disk, for disks faster than the cores "
              "compress"),
    PS_CHOICE(
        "scheme", &chosen.scheme, "lockstep|paper", 0,
        "with a device: it computes whole blocks; or pairs of triangles, which the cores assemble"),
    PS_INT("pair-threshold", &chosen.pair_threshold, "N", 1, INT32_MAX, 0,
           "with --scheme paper: rows and columns of fewer pairs are the cores'"),
    PS_FLAG("force-coarse", &chosen.matrix.force_coarse, 0, "take a mesh that is too coarse for K"),
    PS_OPTION_END};

enum { DEVICES_MOST = 16 };

/* What one run hands down. */
typedef struct job {
    ps_run *run;
    ps_product product;
    ps_store *clusters;
    ps_reflectors mirrors;
    ps_hbem_scene scene;
    ps_hbem_problem problem;
    assemble_plan plan;
    int device;                               /* ordinal; -1: the cores */
    int ordinals[DEVICES_MOST], device_count; /* for pairs */
    ps_leaf_backend *backend;
    bool complete; /* OUTPUT is there, of this identity */
    ps_store_set set;
} job;

static ps_leaf_device device_of(const job *j)
{
    const ps_cluster_tree *tree = j->scene.clusters.tree;
    return (ps_leaf_device){.ordinal = j->device,
                            .memory = j->run->device_memory,
                            .chunk_bytes = j->plan.cut.largest * j->plan.cut.item_bytes,
                            .chunks = j->plan.cut.end_chunk - j->plan.cut.first_chunk,
                            .test = &tree[0],
                            .trial = j->scene.clusters.same ? &tree[0] : &tree[1]};
}

/* Pairs on devices: the cores compute the leaves. */
static ps_status check_pairs(job *j)
{
    j->device = -1;
    if (j->device_count == 0 || chosen.mode == 1)
        return ps_fail(PS_USAGE, "--scheme paper needs a CUDA device, and --mode hmatrix");
    if (chosen.matrix.skeleton)
        return ps_fail(PS_USAGE, "--scheme paper takes crosses of entries: not with --skeleton");
    return PS_OK;
}

/* The device that is asked for, -1: the cores. Unless a device is asked for, what it cannot do
 * stays on the cores. */
static ps_status choose_device(job *j)
{
    PS_TRY(ps_device_list(j->run->device, ps_comm_local_rank(), ps_comm_local_size(), j->ordinals,
                          DEVICES_MOST, &j->device_count));
    j->device = j->device_count > 0 ? j->ordinals[0] : -1;
    if (chosen.scheme == 1) return check_pairs(j);
    if (j->device < 0) return PS_OK;
    ps_leaf_device device = device_of(j);
    ps_status status = ps_leaf_backend_check_cuda(&j->problem.assembly, &device);
    if (status != PS_USAGE || strcmp(j->run->device, "auto") != 0) return status;
    ps_info("by the cores: %s", ps_message());
    j->device = -1;
    return PS_OK;
}

static ps_status open_backend(job *j)
{
    const ps_hbem_assembly *assembly = &j->problem.assembly;
    const ps_hmatrix *shape = &j->problem.shape;
    ps_leaf_device device = device_of(j);
    ps_leaf_pairs pairs = {(int)j->run->threads, j->device_count, j->ordinals,
                           chosen.pair_threshold};
    if (chosen.scheme == 1) return ps_leaf_backend_open_pairs(assembly, shape, &pairs, &j->backend);
    if (j->device < 0)
        return ps_leaf_backend_open_cpu(assembly, shape, (int)j->run->threads, &j->backend);
    return ps_leaf_backend_open_cuda(assembly, shape, &device, &j->backend);
}

/* A new set of parts, unless tables of this very matrix are there and only parts of theirs are
 * lost. */
static ps_status choose_generation(job *j, const char *path)
{
    const ps_product *p = &j->product;
    int64_t *generation = &j->set.generation;
    PS_TRY(ps_store_set_begin(path, &j->set));
    bool mends =
        !j->run->force && ps_store_matches(path, &p->identity, p->input_count, p->roles, p->inputs);
    if (ps_comm_rank() == 0 && mends && *generation > 0) --*generation;
    return ps_comm_broadcast(generation, sizeof *generation, 0);
}

/* Parts of an unfinished run of other options or clusters stay: --fresh replaces them. */
static ps_status check_parts(const job *j, ps_hmatrix_part part)
{
    if (part.chunk < 0 || ps_comm_rank() != 0) return PS_OK;
    for (part.chunk = 0; part.chunk < j->plan.cut.chunks.count; ++part.chunk)
        PS_TRY(ps_hmatrix_part_check(&part));
    return PS_OK;
}

static ps_status compute(job *j, assemble_result *result)
{
    ps_hmatrix_part part = {.path = j->run->output,
                            .identity = &j->product.identity,
                            .clusters = j->clusters,
                            .chunk = j->run->fresh || j->complete ? -1 : 0,
                            .plain = chosen.compress == 1};
    ps_stop_keeps("complete parts are kept; the same command continues");
    PS_TRY(choose_generation(j, part.path));
    part.generation = j->set.generation;
    PS_TRY(ps_comm_agree(check_parts(j, part)));
    double start = ps_clock();
    PS_TRY(ps_comm_agree(open_backend(j)));
    ps_debug("%s is ready in %.3f s", j->backend->name, ps_clock() - start);
    return ps_comm_agree(assemble_chunks(&j->plan, j->backend, &part, result));
}

static ps_status commit(job *j)
{
    ps_status status = PS_OK;
    double start = ps_clock();
    j->problem.tables.chunks = j->plan.cut.chunks;
    if (ps_comm_rank() == 0)
        status = ps_hmatrix_commit(j->run->output, &j->product.identity, &j->problem.tables,
                                   j->clusters, j->set.generation);
    ps_debug("tables written in %.3f s", ps_clock() - start);
    return ps_comm_agree(status);
}

static ps_status check_and_commit(job *j, assemble_result *result)
{
    if (assemble_has_sums(&j->problem)) {
        PS_TRY(ps_comm_sum_f64(result->sums, result->sum_count));
        PS_TRY(ps_comm_agree(assemble_check_sums(&j->problem, result, j->run)));
    }
    return commit(j);
}

static ps_status assemble(job *j)
{
    assemble_result result = {0};
    ps_status status = ps_comm_agree(assemble_sums_open(&j->problem, &result));
    if (status == PS_OK) status = compute(j, &result);
    if (status == PS_OK) status = check_and_commit(j, &result);
    if (status == PS_OK) status = ps_comm_agree(assemble_report(&j->problem, &result, j->run));
    free(result.sums);
    return status;
}

/* Planes and absorption. */
static ps_status take_medium(job *j, double *absorption)
{
    PS_TRY(ps_reflectors_parse("--mirror", mirror.count, mirror.items, &j->mirrors));
    if (chosen.absorption) PS_TRY(ps_hbem_parse_absorption(chosen.absorption, absorption));
    if (chosen.image >= ps_reflectors_images(&j->mirrors))
        return ps_fail(PS_USAGE, "--image %lld: of %d planes of --mirror there are images 1 to %d",
                       (long long)chosen.image, j->mirrors.count,
                       ps_reflectors_images(&j->mirrors) - 1);
    if (chosen.wavenumber == 0 && (j->mirrors.count > 0 || *absorption > 0))
        return ps_fail(PS_USAGE,
                       "--mirror and --absorption go with --wavenumber: they are of waves");
    if (*absorption > chosen.wavenumber)
        return ps_fail(PS_USAGE,
                       "--absorption: %g Np/m are more than the wave number %g rad/m: that "
                       "is no wave",
                       *absorption, chosen.wavenumber);
    return PS_OK;
}

static ps_status init_problem(job *j)
{
    ps_hbem_operator_choice choice = {(ps_hbem_kernel)chosen.kernel, chosen.wavenumber, 0,
                                      chosen.mode == 1, chosen.hyps == 1};
    PS_TRY(take_medium(j, &choice.absorption));
    PS_TRY(ps_hbem_scene_beside(&j->scene, j->run->operands[0], &j->mirrors, (int)chosen.image,
                                &chosen.matrix));
    PS_TRY(ps_hbem_problem_init(&j->problem, &j->scene, &choice, &chosen.matrix));
    return ps_hbem_problem_leaves(&j->problem, &chosen.matrix);
}

static ps_status plan_and_assemble(job *j)
{
    PS_TRY(ps_comm_agree(init_problem(j)));
    PS_TRY(ps_comm_agree(choose_device(j)));
    int cores = j->device < 0 ? (int)j->run->threads : 0;
    PS_TRY(ps_comm_agree(assemble_plan_init(&j->problem, &chosen, j->run, cores, &j->plan)));
    if (!j->run->plan) {
        PS_TRY(ps_comm_agree(ps_hbem_problem_check_entries(&j->problem, j->run)));
        return assemble(j);
    }
    assemble_report_plan(&j->problem, &j->plan, j->run);
    return PS_OK;
}

/* Whether all of the matrix is there, of this identity. */
static bool is_up_to_date(job *j)
{
    ps_hmatrix_file *file;
    j->complete = !j->run->plan && ps_product_matches(&j->product);
    if (j->complete) {
        j->complete = ps_hmatrix_open(j->run->output, &file) == PS_OK;
        if (j->complete) ps_hmatrix_close(&file);
    }
    return !ps_comm_any(!j->complete) && ps_product_is_up_to_date(&j->product);
}

static void release(job *j)
{
    if (j->backend) j->backend->close(j->backend);
    ps_store_set_release(&j->set);
    assemble_plan_release(&j->plan);
    ps_hbem_problem_release(&j->problem);
    ps_hbem_scene_release(&j->scene);
    ps_store_close(&j->clusters);
}

static ps_status run_hmatrix_assemble(ps_run *run)
{
    PS_SCOPED(release) job j = {.run = run};
    const ps_hmatrix_header kind = {.absorption = chosen.absorption != NULL,
                                    .mirrors.count = mirror.count};
    ps_product_init(run, PS_HMATRIX_FORMAT, ps_hmatrix_version(&kind), &j.product);
    PS_TRY(ps_comm_agree(
        ps_store_open(run->operands[0], PS_CLUSTER_FORMAT, PS_CLUSTER_VERSION, &j.clusters)));
    PS_TRY(ps_product_input(&j.product, "clusters", j.clusters));
    return is_up_to_date(&j) ? PS_OK : plan_and_assemble(&j);
}

static const ps_allowance allowances[] = {
    {"row-sums", "entries that give constants wrong row sums, above 10 eps"},
    PS_HBEM_ALLOW_ENTRIES,
    {NULL, NULL}};

const ps_program ps_this_program = {
    .name = "hmatrix-assemble",
    .results = 14,
    .synopsis = "CLUSTERS OUTPUT",
    .description =
        "Assembles a boundary operator of Laplace or Helmholtz on the clusters of "
        "penstock-cluster-build, as an H-matrix by cross approximation with checked rows, or "
        "dense. Chunks of blocks go to part files beside OUTPUT as they are done, so that the "
        "matrix may be larger than memory, and after a stop or a kill the same command goes on "
        "with them. Under mpirun the ranks share the chunks; the files are the same. The split "
        "form of hyps (eq. 9 of Vater, Betcke, Dilba) is --operator slp on clusters of dp1.",
    .examples =
        "  penstock-hmatrix-assemble clusters.h5 slp.h5 --epsilon 1e-4\n"
        "  penstock-hmatrix-assemble clusters.h5 w.h5 --operator hyps --wavenumber 4.19 "
        "--plan\n"
        "  mpirun -n 4 penstock-hmatrix-assemble clusters.h5 k.h5 --operator dlp --precision "
        "single",
    .options = options,
    .figures = figure_table,
    .allowances = allowances,
    .run = run_hmatrix_assemble,
    .parallel = true};
