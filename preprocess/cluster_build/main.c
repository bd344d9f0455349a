/* penstock-cluster-build: functions of boundary-element spaces in cluster trees, and block trees.
 */
#include <stdlib.h>
#include <string.h>

#include "build.h"
#include "preprocess/cluster_build/figure_table.h"
#include "runtime/memory.h"
#include "runtime/scope.h"
#include "stage/hbem_assembly/cluster_making.h"
#include "stage/product.h"

enum { AS_TEST = 3 };

static build_options chosen = {.test = PS_SPACE_P1, .trial = AS_TEST, .eta = 2, .leaf_size = 32};

static const ps_option options[] = {
    PS_CHOICE("test", &chosen.test, "p0|p1|dp1", PS_IDENTITY,
              "functions of the rows: one a triangle; continuous, one a vertex; three a triangle"),
    PS_CHOICE("trial", &chosen.trial, "p0|p1|dp1|same", PS_IDENTITY, "functions of the columns"),
    PS_REAL("eta", &chosen.eta, "ETA", 1e-3, 100, PS_IDENTITY,
            "clusters are apart enough where min(diameter) <= ETA distance"),
    PS_FLAG("weak", &chosen.weak, PS_IDENTITY, "any distance is enough; ETA plays no part"),
    PS_INT("leaf", &chosen.leaf_size, "N", 1, 100000, PS_IDENTITY,
           "functions of a cluster that is not cut, at most"),
    PS_CHOICE("order", &chosen.cut, "median|morton|hilbert", PS_IDENTITY,
              "how clusters are halved: at the median along the longest axis of the box, or along "
              "a curve"),
    PS_REAL("wavenumber", &chosen.wavenumber, "K", 0, 1e9, 0,
            "rad/m: tell, and check, the elements a wavelength"),
    PS_FLAG("force-coarse", &chosen.force_coarse, 0, "take a mesh that is too coarse for K"),
    PS_FLAG("open", &chosen.open, PS_IDENTITY, "take an open surface, a screen"),
    PS_OPTION_END};

static ps_status load(build_job *job, const char *path)
{
    PS_TRY(ps_surface_mesh_load(path, &job->mesh));
    int trial = chosen.trial == AS_TEST ? chosen.test : chosen.trial;
    job->outline =
        (ps_hbem_outline){.vertices = job->mesh.vertices,
                          .triangles = job->mesh.triangles,
                          .vertex_count = job->mesh.vertex_count,
                          .triangle_count = job->mesh.triangle_count,
                          .space = {(ps_hbem_space_kind)chosen.test, (ps_hbem_space_kind)trial},
                          .same = chosen.test == trial};
    PS_TRY(ps_alloc_untouched(&job->memory, ps_hbem_setup_bytes(&job->outline), "the surface"));
    return ps_hbem_setup_init(&job->setup, &job->outline, job->memory);
}

static void describe(build_job *job)
{
    static const char *const orders[] = {"median", "morton", "hilbert"};
    ps_clusters *c = &job->clusters;
    c->vertex_count = job->mesh.vertex_count;
    c->triangle_count = job->mesh.triangle_count;
    c->vertices = job->mesh.vertices;
    c->triangles = job->mesh.triangles;
    c->closed = job->mesh.closed;
    memcpy(c->space, job->outline.space, sizeof c->space);
    c->same = job->outline.same;
    c->eta = chosen.weak ? 0 : chosen.eta;
    strcpy(c->order, orders[chosen.cut]);
    memcpy(c->mesh_hash, job->mesh.content_hash, sizeof c->mesh_hash);
}

static ps_status build_tree(build_job *job, int side)
{
    const ps_hbem_space *space = &job->setup.space[side];
    ps_cluster_method method = {chosen.leaf_size, (ps_cluster_cut)chosen.cut};
    double start = ps_clock();
    PS_TRY(ps_hbem_make_tree(space, &method, &job->clusters.tree[side]));
    job->tree_seconds += ps_clock() - start;
    return PS_OK;
}

static ps_status build(build_job *job)
{
    ps_clusters *c = &job->clusters;
    for (int side = 0; side < (c->same ? 1 : 2); ++side) PS_TRY(build_tree(job, side));
    double start = ps_clock();
    PS_TRY(ps_hbem_make_leaves(c));
    job->leaf_seconds = ps_clock() - start;
    return PS_OK;
}

static ps_status load_and_build(build_job *job, const ps_product *product)
{
    PS_TRY(load(job, product->run->operands[0]));
    PS_TRY(build_check(job, product->run));
    describe(job);
    PS_TRY(build(job));
    ps_store_identity own = product->identity;
    own.disk_estimate = build_disk(job);
    if (!product->run->plan) {
        PS_TRY(build_plan(job, product->run, NULL));
        PS_TRY(ps_clusters_save(product->path, &job->clusters, &own, product->inputs[0]));
    }
    return build_report(job, product->run);
}

static void release(build_job *job)
{
    job->clusters.vertices = NULL; /* the mesh has them */
    job->clusters.triangles = NULL;
    ps_clusters_release(&job->clusters);
    ps_surface_mesh_release(&job->mesh);
    free(job->memory);
}

static ps_status run_cluster_build(ps_run *run)
{
    PS_SCOPED(ps_store_close) ps_store *mesh = NULL;
    PS_SCOPED(release) build_job job = {.options = &chosen};
    ps_product product;
    ps_product_init(run, PS_CLUSTER_FORMAT, PS_CLUSTER_VERSION, &product);
    product.open_ended = chosen.wavenumber != 0; /* its figures are asked for */
    PS_TRY(ps_store_open(run->operands[0], PS_SURFACE_MESH_FORMAT, PS_SURFACE_MESH_VERSION, &mesh));
    PS_TRY(ps_product_input(&product, "mesh", mesh));
    if (ps_product_is_up_to_date(&product)) return PS_OK;
    ps_status status = load_and_build(&job, &product);
    return status == PS_OK ? PS_OK : ps_context(status, "%s", run->operands[0]);
}

const ps_program ps_this_program = {
    .name = "cluster-build",
    .synopsis = "MESH OUTPUT",
    .description =
        "Puts the functions of two boundary-element spaces on a closed surface into cluster trees, "
        "and pairs of clusters into a block tree, whose leaves are near or far apart: all that "
        "penstock-hmatrix-assemble needs. Tells what a matrix will take. Refuses surfaces that are "
        "open, have inward normals, or are too coarse for a wavenumber.",
    .examples = "  penstock-cluster-build sphere.hdf clusters.h5\n"
                "  penstock-cluster-build hull.hdf clusters.h5 --wavenumber 4.19 --plan\n"
                "  penstock-cluster-build cube.hdf mixed.h5 --test p1 --trial p0 --leaf 64 --eta 1",
    .options = options,
    .figures = figure_table,
    .run = run_cluster_build};
