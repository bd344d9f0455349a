/* penstock-mesh-box: a brick of tetrahedra, with regions and tagged sides. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "preprocess/mesh_box/figure_table.h"
#include "preprocess/mesh_box/box.h"
#include "runtime/memory.h"
#include "runtime/program.h"
#include "runtime/report.h"
#include "stage/plan.h"
#include "stage/product.h"

static struct {
    const char *cells, *size, *corner;
    double shake;
    int64_t seed, tag, sides;
    ps_text_list regions;
} chosen = {.cells = "8", .size = "1", .corner = "0", .seed = 1, .tag = 1, .sides = 101};

static const ps_option options[] = {
    PS_TEXT("cells", &chosen.cells, "N|NX,NY,NZ", PS_IDENTITY, "cells along the axes"),
    PS_TEXT("size", &chosen.size, "M|X,Y,Z", PS_IDENTITY, "sides of the brick, metres"),
    PS_TEXT("corner", &chosen.corner, "M|X,Y,Z", PS_IDENTITY, "its lower corner, metres"),
    PS_REAL("shake", &chosen.shake, "S", 0, BOX_SHAKE_MAX, PS_IDENTITY,
            "move vertices at random, along each axis by up to S/2 cells either way; those of a "
            "side stay in its plane"),
    PS_INT("seed", &chosen.seed, "N", 0, 1e15, PS_IDENTITY, "of the moves"),
    PS_INT("tag", &chosen.tag, "N", 0, 1e9, PS_IDENTITY, "physical group of elements in no region"),
    PS_LIST("region", &chosen.regions, "TAG:box:X0,Y0,Z0,X1,Y1,Z1|TAG:ball:X,Y,Z,R", PS_IDENTITY,
            "physical group of the elements whose centroid is in there; the last region counts"),
    PS_INT("sides", &chosen.sides, "N", 1, 1e9, PS_IDENTITY,
           "physical groups of the sides: x- has N, x+ N + 1, y-, y+, z-, z+ the next"),
    PS_OPTION_END};

/* One number for all axes, or three. */
static ps_status three_of(const char *option, const char *text, double out[3])
{
    int count;
    if (ps_parse_reals(text, ',', out, 3, &count) != PS_OK || (count != 1 && count != 3))
        return ps_fail(PS_USAGE, "--%s %s: one number or three, separated by commas, are expected",
                       option, text);
    if (count == 1) out[1] = out[2] = out[0];
    return PS_OK;
}

static ps_status read_cells(box *b)
{
    double cells[3];
    PS_TRY(three_of("cells", chosen.cells, cells));
    for (int c = 0; c < 3; ++c) {
        b->cells[c] = cells[c] >= 1 && cells[c] <= 1e6 ? (int64_t)cells[c] : 0;
        if ((double)b->cells[c] != cells[c] || b->cells[c] < 1)
            return ps_fail(PS_USAGE, "--cells %s: whole numbers from 1 on are expected",
                           chosen.cells);
    }
    /* Products of three numbers up to 1e6 do not overflow. */
    if (box_vertices(b) > INT32_MAX || box_tetrahedra(b) > INT32_MAX / 4)
        return ps_fail(PS_USAGE, "--cells %s: %" PRId64 " tetrahedra; the format holds %d",
                       chosen.cells, box_tetrahedra(b), INT32_MAX / 4);
    return PS_OK;
}

static ps_status read_region(const char *text, box_region *r)
{
    double v[6];
    int count, used = 0;
    char shape[5] = "";
    if (sscanf(text, "%" SCNd32 ":%4[a-z]:%n", &r->tag, shape, &used) < 2 || !used || r->tag < 0 ||
        ps_parse_reals(text + used, ',', v, 6, &count) != PS_OK)
        return ps_fail(PS_USAGE,
                       "--region %s: expected TAG:box:X0,Y0,Z0,X1,Y1,Z1 or "
                       "TAG:ball:X,Y,Z,R",
                       text);
    r->ball = strcmp(shape, "ball") == 0;
    if ((!r->ball && strcmp(shape, "box") != 0) || count != (r->ball ? 4 : 6))
        return ps_fail(PS_USAGE, "--region %s: a box has six numbers, a ball four", text);
    memcpy(r->lower, v, sizeof r->lower);
    memcpy(r->upper, v + 3, (size_t)(count - 3) * sizeof *v);
    return PS_OK;
}

static ps_status read_options(box *b)
{
    PS_TRY(read_cells(b));
    PS_TRY(three_of("size", chosen.size, b->size));
    PS_TRY(three_of("corner", chosen.corner, b->corner));
    for (int c = 0; c < 3; ++c)
        if (!(b->size[c] > 0))
            return ps_fail(PS_USAGE, "--size %s: sides are positive", chosen.size);
    if (chosen.regions.count > BOX_REGIONS_MAX)
        return ps_fail(PS_USAGE, "--region: %d regions, at most %d", chosen.regions.count,
                       BOX_REGIONS_MAX);
    b->shake = chosen.shake;
    b->seed = chosen.seed;
    b->tag = (int32_t)chosen.tag;
    b->sides = (int32_t)chosen.sides;
    b->region_count = chosen.regions.count;
    for (int r = 0; r < b->region_count; ++r)
        PS_TRY(read_region(chosen.regions.items[r], b->regions + r));
    return PS_OK;
}

enum { CHUNK_BYTES = 2 << 20 };

/* Written by all threads, a chunk each of vertices or of tetrahedra, which lie in no array. */
static ps_need need_of(const box *b, const ps_run *run)
{
    int64_t largest = 16 * box_tetrahedra(b), chunk = largest < CHUNK_BYTES ? largest : CHUNK_BYTES;
    return (ps_need){.arrays = run->threads * chunk,
                     .writer = chunk,
                     .writers = run->threads,
                     .disk = 28 * box_vertices(b) + 29 * box_tetrahedra(b),
                     .seconds = 3e-8 * (double)box_tetrahedra(b) / (double)run->threads};
}

static ps_status report(const box *b, const ps_run *run)
{
    const ps_need need = need_of(b, run);
    ps_status status = PS_OK;
    ps_report *r = ps_report_new(run);
    double cell[3];
    for (int c = 0; c < 3; ++c) cell[c] = b->size[c] / (double)b->cells[c];
    ps_report_int(r, "vertices", box_vertices(b));
    ps_report_int(r, "tetrahedra", box_tetrahedra(b));
    ps_report_int(r, "boundary_triangles", box_triangles(b));
    ps_report_reals(r, "cell", cell, 3);
    if (run->plan)
        status = ps_plan_take(run, &need, r);
    else
        ps_report_run(r, ps_memory_peak());
    ps_report_print(&r);
    return status;
}

static ps_status write_box(const box *b, const ps_run *run)
{
    const ps_need need = need_of(b, run);
    PS_TRY(ps_plan_take(run, &need, NULL));
    static const char *const sides[6] = {"x-", "x+", "y-", "y+", "z-", "z+"};
    char names[256];
    int length = 0;
    for (int s = 0; s < 6; ++s)
        length += snprintf(names + length, sizeof names - (size_t)length, "%s%d %s", s ? "\n" : "",
                           b->sides + s, sides[s]);
    const ps_volume_mesh_makers makers = {box_vertices(b),
                                          box_tetrahedra(b),
                                          box_triangles(b),
                                          names,
                                          b,
                                          box_make_vertices,
                                          box_make_connectivity,
                                          box_make_tags,
                                          box_make_triangles,
                                          box_make_triangle_tags};
    return ps_volume_mesh_save_made(run->operands[0], &makers, ps_version(), run->record);
}

static ps_status run_box(ps_run *run)
{
    box b = {0};
    ps_product product;
    ps_product_init(run, PS_VOLUME_MESH_FORMAT, PS_VOLUME_MESH_VERSION, &product);
    PS_TRY(read_options(&b));
    if (!run->plan && !ps_product_is_up_to_date(&product)) PS_TRY(write_box(&b, run));
    return report(&b, run);
}

const ps_program ps_this_program = {
    .name = "mesh-box",
    .synopsis = "OUTPUT",
    .description = "Makes a brick of cells of six tetrahedra each (Kuhn), which share their faces: "
                   "the uniform meshes on which solvers are verified and timed. Regions are tagged "
                   "by boxes and balls, the six sides by the groups from --sides on. The mesh is "
                   "written chunk by chunk by all threads and never lies in memory.",
    .examples =
        "  penstock-mesh-box cube.hdf --cells 80\n"
        "  penstock-mesh-box guide.hdf --cells 40,20,10 --size 0.2,0.1,0.05 --shake 0.2 \\\n"
        "      --region 2:box:0.05,0,0,0.1,0.1,0.05\n"
        "  penstock-mesh-box ball.hdf --cells 32 --size 0.4 --corner -0.2 --region "
        "2:ball:0,0,0,0.1",
    .options = options,
    .figures = figure_table,
    .run = run_box};
