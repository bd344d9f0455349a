/* penstock-mesh-partition: tetrahedra are cut into parts, reordered and linked across faces. */
#include <inttypes.h>
#include <stdlib.h>

#include "formats/dgtd_model.h"
#include "partition.h"
#include "preprocess/mesh_partition/figure_table.h"
#include "runtime/log.h"
#include "runtime/partitioner.h"
#include "runtime/report.h"
#include "runtime/scope.h"
#include "stage/plan.h"
#include "stage/product.h"

enum { AUTO, SCOTCH, BOXES, HILBERT };

/* Measured peaks with a margin of a twentieth, bytes an element; what layers (and boxes) and Scotch
 * add. */
#define BYTES_AN_ELEMENT 84
#define BYTES_OF_LAYERS 14
#define BYTES_OF_SCOTCH 133

static struct {
    int64_t parts;
    int method, order;
    double imbalance;
    bool allow_pieces;
    ps_text_list weights;
    const char *updates;
} chosen = {.parts = 1, .imbalance = 0.01};

static const ps_option options[] = {
    PS_INT("parts", &chosen.parts, "K", 1, 1e6, PS_IDENTITY, "parts: one or more a rank or device"),
    PS_CHOICE(
        "method", &chosen.method, "auto|scotch|boxes|hilbert", PS_IDENTITY,
        "Scotch's k-way partition of the dual graph; recursive bisection across the longest axis; "
        "intervals of the Hilbert curve. auto: scotch where it was built in, else hilbert"),
    PS_CHOICE("order", &chosen.order, "hilbert|layers", PS_IDENTITY,
              "elements of a part along the Hilbert curve, those that touch other parts last; or "
              "in breadth-first layers over faces, for runs out of core"),
    PS_LIST("weight", &chosen.weights, "TAG:W", PS_IDENTITY,
            "elements of this physical group count as W (a whole number) instead of 1"),
    PS_TEXT("updates", &chosen.updates, "MODEL", 0,
            "elements count as the steps that they make in this model (dgtd-setup --local-steps) of "
            "the same mesh, and faces between those with many are not cut if others can be"),
    PS_REAL("imbalance", &chosen.imbalance, "F", 0.0001, 1, PS_IDENTITY,
            "how far Scotch may exceed the mean weight of a part"),
    PS_FLAG("allow-pieces", &chosen.allow_pieces, PS_IDENTITY,
            "take a mesh that falls into pieces"),
    PS_OPTION_END};

/* Peak bytes of a run. */
static int64_t memory_needed(const job *j, int64_t elements, int64_t vertices, bool graph)
{
    int64_t more = graph                                 ? BYTES_OF_SCOTCH
                   : j->layers || j->method == CUT_BOXES ? BYTES_OF_LAYERS
                                                         : 0;
    return (BYTES_AN_ELEMENT + more) * elements + 32 * vertices;
}

static ps_status choose_method(job *j)
{
    bool scotch = ps_partitioner_available();
    if (chosen.method == SCOTCH && !scotch)
        return ps_fail(PS_USAGE, "--method scotch: Penstock was built without Scotch; boxes and "
                                 "hilbert are there");
    j->method = chosen.method == BOXES                ? CUT_BOXES
                : chosen.method == HILBERT || !scotch ? CUT_HILBERT
                                                      : CUT_SCOTCH;
    if (chosen.method == AUTO && !scotch && j->parts > 1)
        ps_info("Penstock was built without Scotch: parts are intervals of the Hilbert curve");
    return PS_OK;
}

/* Sizes of the mesh, before it is read. */
static ps_status plan(job *j)
{
    int64_t vertices, elements;
    PS_TRY(ps_vtkhdf_get_sizes(j->store, 4, &vertices, &elements));
    PS_TRY(ps_store_expect(j->store, "/VTKHDF/Points", PS_F64, vertices, 3));
    bool graph = j->method == CUT_SCOTCH && j->parts > 1;
    const ps_need need = {.arrays = memory_needed(j, elements, vertices, graph),
                          .disk = 44 * elements + 24 * vertices,
                          .seconds = (graph ? 1e-5 : 2e-6) * (double)elements};
    ps_report *r = j->run->plan ? ps_report_new(j->run) : NULL;
    ps_report_int(r, "elements", elements);
    ps_report_int(r, "vertices", vertices);
    ps_report_int(r, "parts", j->parts);
    ps_status status = ps_plan_take(j->run, &need, r);
    ps_report_print(&r);
    return status == PS_OK || !graph ? status : ps_context(status, "--method boxes takes less");
}

static ps_status write_partition(const job *j, const ps_product *product)
{
    PS_SCOPED(ps_store_close) ps_store *out = NULL;
    PS_TRY(ps_product_create(product, 44 * j->mesh.elements + 24 * j->mesh.vertex_count, &out));
    PS_TRY(ps_partition_write(out, &j->mesh));
    return ps_store_commit(&out);
}

static void release(job *j)
{
    ps_store_close(&j->store);
    ps_store_close(&j->model);
    ps_partition_release(&j->mesh);
    free(j->weights);
    free(j->part);
}

static ps_status run_partition(ps_run *run)
{
    PS_SCOPED(release)
    job j = {.run = run,
             .input = run->operands[0],
             .parts = chosen.parts,
             .layers = chosen.order == 1,
             .allow_pieces = chosen.allow_pieces,
             .imbalance = chosen.imbalance,
             .weight_texts = &chosen.weights};
    ps_product product;
    ps_product_init(run, PS_PARTITION_FORMAT, PS_PARTITION_VERSION, &product);
    PS_TRY(ps_store_open(j.input, PS_VOLUME_MESH_FORMAT, PS_VOLUME_MESH_VERSION, &j.store));
    PS_TRY(ps_product_input(&product, "mesh", j.store));
    PS_TRY(choose_method(&j));
    if (chosen.updates && chosen.weights.count > 0)
        return ps_fail(PS_USAGE, "--updates and --weight: give one of them");
    if (chosen.updates) {
        PS_TRY(ps_store_open(chosen.updates, PS_DGTD_MODEL_FORMAT, PS_DGTD_MODEL_VERSION, &j.model));
        PS_TRY(ps_product_input(&product, "model", j.model));
    }
    if (ps_product_is_up_to_date(&product)) return PS_OK;
    PS_TRY(plan(&j));
    if (run->plan) return PS_OK;
    PS_TRY(read_mesh(&j));
    PS_TRY(cut_mesh(&j));
    PS_TRY(order_mesh(&j));
    PS_TRY(write_partition(&j, &product));
    report_partition(&j);
    return PS_OK;
}

const ps_program ps_this_program = {
    .name = "mesh-partition",
    .synopsis = "MESH OUTPUT",
    .description =
        "Cuts a volume mesh into parts of equal weight with few faces between them, puts the "
        "elements of each part into an order that is good for caches or for time-skewed tiles, "
        "links elements across faces, and says how good the parts are. Refuses meshes whose "
        "neighbours do not share their vertices, or that fall into pieces. The output keeps the "
        "numbers of vertices and, for each element, its row in MESH.",
    .examples =
        "  penstock-mesh-partition head.hdf head_8.h5 --parts 8\n"
        "  penstock-mesh-partition cube.hdf cube.h5 --order layers\n"
        "  penstock-mesh-partition head.hdf head_4.h5 --parts 4 --method boxes --weight 5:2",
    .options = options,
    .figures = figure_table,
    .run = run_partition};
