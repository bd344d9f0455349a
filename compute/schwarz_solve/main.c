/* penstock-schwarz-solve: the potential of a load, by slabs or as a whole. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compute/schwarz_solve/figure_table.h"
#include "compute/schwarz_solve/solve.h"
#include "formats/store_memory.h"
#include "formats/transmission.h"
#include "runtime/log.h"
#include "runtime/memory.h"
#include "runtime/scope.h"
#include "runtime/sizes.h"

enum { SAMPLES = 500 };

const char *const solve_method_names[] = {"direct",      "cg",    "bicgstab", "bicgcr",
                                          "fixed-point", "gmres", "sweeps"};

static struct {
    solve_options own; /* coarse: 1/km */
    ps_interval checkpoint_every;
    int method, kind, inner, precision;
    const char *transmission, *coefficients;
} chosen = {.own = {.slabs = 1, .limit = 10000, .restart = PS_GMRES_RESTART, .tolerance = 1e-6},
            .checkpoint_every = {.steps = -1},
            .kind = PS_OO2_UNSYMMETRIC};

static const ps_option options[] = {
    PS_INT("slabs", &chosen.own.slabs, "N", 1, 1 << 20, PS_IDENTITY, "subdomains along x; 1: none"),
    PS_TEXT("subdomains", &chosen.own.subdomains, "FILE", PS_IDENTITY,
            "subdomains of any shape instead, with their matrices, by penstock-gravity-assemble "
            "--subdomains; by fixed point or GMRES"),
    PS_CHOICE("method", &chosen.method, "auto|direct|cg|bicgstab|bicgcr|fixed-point|gmres|sweeps",
              PS_IDENTITY,
              "of the whole box: fast direct solution or a Krylov method with Jacobi scaling; of "
              "slabs: fixed point, GMRES or double sweeps over the interfaces. auto: direct; "
              "gmres, or sweeps where slabs are streamed"),
    PS_CHOICE("kind", &chosen.kind, "oo0|oo0-two-sided|oo2|oo2-two-sided", PS_IDENTITY,
              "transmission condition, optimised for this grid"),
    PS_TEXT("transmission", &chosen.transmission, "FILE", PS_IDENTITY,
            "take it from a file of penstock-transmission-optimize instead"),
    PS_TEXT("coefficients", &chosen.coefficients, "P1,Q1,P2,Q2", PS_IDENTITY,
            "or give it: p in 1/km, q in km"),
    PS_REAL(
        "coarse", &chosen.own.coarse, "K", 0, 1e9, PS_IDENTITY,
        "coarse space: face modes of slabs with wave numbers below K per km are solved exactly; "
        "with --subdomains constant and linear loads of each, whatever K > 0; 0: none"),
    PS_REAL("tolerance", &chosen.own.tolerance, "T", 1e-15, 0.5, PS_IDENTITY,
            "relative residual of the interfaces, or of the Krylov method"),
    PS_INT("limit", &chosen.own.limit, "N", 1, HISTORY_MAX, 0, "iterations at most"),
    PS_INT("gmres-restart", &chosen.own.restart, "N", 1, PS_GMRES_RESTART, PS_IDENTITY,
           "steps between restarts of GMRES"),
    PS_FLAG("streamed", &chosen.own.streamed, 0,
            "keep one slab in memory, reading the loads of others whenever they are solved; chosen "
            "by itself where --host-memory is too little otherwise. The same bits"),
    PS_CHOICE("inner", &chosen.inner, "direct|cg|bicgstab|bicgcr", PS_IDENTITY,
              "how slabs are solved: fast direct solution in sine modes, or a Krylov method with "
              "Jacobi scaling, from the last field where it is kept"),
    PS_REAL("inner-tolerance", &chosen.own.inner_tolerance, "T", 0, .5, PS_IDENTITY,
            "relative residual of the slabs; 0: a hundredth of the last interface residual, of the "
            "wanted one with GMRES"),
    PS_CHOICE("precision", &chosen.precision, PS_FP64 "|mixed", PS_IDENTITY,
              "mixed: --method cg with vectors in fp32, its residual made anew in fp64 now and "
              "then; without checkpoints"),
    PS_INTERVAL(
        "checkpoint-every", &chosen.checkpoint_every, PS_EVERY, 0,
        "between checkpoints: 60s, 5min or 100steps (iterations); 0: only when stopped. Unless "
        "given, each step with fixed point and sweeps, 5 with GMRES, 200 with Krylov methods"),
    PS_OPTION_END};

/* ---- transmission conditions ---- */

static ps_status search_transmission(solve_problem *p)
{
    enum { COUNT = SAMPLES };
    static double memory[3][COUNT];
    ps_symbol symbol = {COUNT, memory[0], memory[1], memory[2]};
    ps_cmaes_result result;
    double least, largest, hx = ps_symbol_length(&p->grid) / 1000;
    ps_q1_grid km = p->grid;
    for (int a = 0; a < 3; ++a) km.spacing[a] /= 1000;
    ps_face_range(&km, &least, &largest);
    ps_symbol_fill(&(ps_symbol_range){sqrt(least), sqrt(largest), 0, hx}, &symbol);
    ps_transmission_search search = {
        (ps_transmission_kind)chosen.kind, &symbol, {log(.2), log(hx / sqrt(12.0))}, 1};
    p->options.kind = ps_transmission_name(chosen.kind);
    return ps_transmission_optimise(&search, &p->options.transmission, &p->options.factor, &result);
}

static ps_status load_transmission(solve_problem *p)
{
    PS_SCOPED(ps_transmission_file_release) ps_transmission_file file = {0};
    PS_TRY(ps_transmission_load(chosen.transmission, &file));
    int at = ps_transmission_find(&file, ps_transmission_name(chosen.kind));
    double unit = strcmp(file.length_unit, "m") == 0 ? 1000 : 1; /* to km */
    if (at < 0)
        return ps_fail(PS_INVALID, "%s has no condition of kind %s; --kind chooses another",
                       chosen.transmission, ps_transmission_name(chosen.kind));
    if (unit == 1 && strcmp(file.length_unit, "km") != 0)
        return ps_fail(PS_INVALID, "%s: its unit of length is \"%s\"; m or km are understood",
                       chosen.transmission, file.length_unit);
    for (int s = 0; s < 2; ++s) {
        p->options.transmission.p[s] = file.coefficients[at][2 * s] * unit;
        p->options.transmission.q[s] = file.coefficients[at][2 * s + 1] / unit;
        p->options.factor = file.factor[at];
    }
    p->options.kind = ps_transmission_name(chosen.kind);
    return PS_OK;
}

static ps_status parse_coefficients(solve_problem *p)
{
    double v[4];
    int count;
    PS_TRY_IN(ps_parse_reals(chosen.coefficients, ',', v, 4, &count), "--coefficients");
    for (int i = 0; i < count; ++i)
        if (v[i] < 0 || v[i / 2 * 2] + v[i / 2 * 2 + 1] <= 0) count = 0;
    if (count != 4)
        return ps_fail(PS_USAGE, "--coefficients: \"%s\" is not P1,Q1,P2,Q2, none negative",
                       chosen.coefficients);
    p->options.transmission = (ps_transmission){{v[0], v[2]}, {v[1], v[3]}};
    p->options.kind = "given";
    return PS_OK;
}

/* In 1/km and km, then in m as the grid is. */
static ps_status choose_transmission(solve_problem *p)
{
    if (chosen.transmission && chosen.coefficients)
        return ps_fail(PS_USAGE, "--transmission and --coefficients: give one of them");
    ps_status status = chosen.coefficients   ? parse_coefficients(p)
                       : chosen.transmission ? load_transmission(p)
                                             : search_transmission(p);
    for (int s = 0; s < 2; ++s) {
        p->options.transmission.p[s] /= 1000;
        p->options.transmission.q[s] *= 1000;
    }
    return status;
}

/* ---- the plan ---- */

/* Direct solution over ranks: a slab each, all face modes in the coarse space. An exchange solves
 * it, another one shows that. */
static ps_status substructure(solve_problem *p)
{
    solve_options *o = &p->options;
    if (ps_comm_size() > p->grid.nodes[0] - 1)
        return ps_fail(PS_USAGE, "%lld planes are too few for %d ranks",
                       (long long)p->grid.nodes[0], ps_comm_size());
    o->slabs = ps_comm_size();
    o->method = METHOD_FIXED_POINT;
    o->coarse = 1e30;
    o->substructured = true;
    return PS_OK;
}

/* What several ranks and slabs solved by Krylov methods ask for. */
static ps_status check_ways(const solve_problem *p)
{
    const solve_options *o = &p->options;
    bool whole = o->slabs == 1;
    if (!whole && o->slabs < ps_comm_size())
        return ps_fail(PS_USAGE, "--slabs %lld: %d ranks need at least as many",
                       (long long)o->slabs, ps_comm_size());
    if (whole && p->grid.nodes[0] < 2 * ps_comm_size())
        return ps_fail(PS_USAGE, "%lld planes are too few for %d ranks",
                       (long long)p->grid.nodes[0], ps_comm_size());
    if (whole && o->inner != METHOD_DIRECT)
        return ps_fail(PS_USAGE, "--inner is for slabs; the whole box takes --method %s",
                       solve_method_names[o->inner]);
    return PS_OK;
}

static ps_interval checkpoint_interval(const solve_options *o)
{
    if (chosen.checkpoint_every.steps >= 0) return chosen.checkpoint_every;
    return (ps_interval){.steps = o->method < METHOD_FIXED_POINT ? 200
                                  : o->method == METHOD_GMRES    ? 5
                                                                 : 1};
}

static ps_status check_subdomains(solve_options *o)
{
    if (o->slabs > 1) return ps_fail(PS_USAGE, "--slabs and --subdomains: give one of them");
    if (o->streamed || o->method == METHOD_SWEEPS)
        return ps_fail(PS_USAGE, "--subdomains goes with fixed-point and gmres, in memory");
    if (o->coarse > 0 && o->method != METHOD_GMRES)
        return ps_fail(PS_USAGE, "--subdomains with --coarse goes with gmres");
    o->checkpoint_every = checkpoint_interval(o);
    return PS_OK;
}

static ps_status choose_method(solve_problem *p)
{
    solve_options *o = &p->options;
    bool whole = o->slabs == 1 && !o->subdomains;
    o->method = chosen.method ? (solve_method)(chosen.method - 1)
                : whole       ? METHOD_DIRECT
                : o->streamed ? METHOD_SWEEPS
                              : METHOD_GMRES;
    if (whole && o->method == METHOD_DIRECT && ps_comm_size() > 1) return substructure(p);
    if (whole && o->method >= METHOD_FIXED_POINT)
        return ps_fail(PS_USAGE, "--method %s needs --slabs 2 or more",
                       solve_method_names[o->method]);
    if (!whole && o->method < METHOD_FIXED_POINT)
        return ps_fail(PS_USAGE, "--method %s is for the whole box, --slabs 1",
                       solve_method_names[o->method]);
    if (whole && o->streamed) return ps_fail(PS_USAGE, "--streamed needs --slabs 2 or more");
    if (o->subdomains) return check_subdomains(o);
    if (!whole && o->slabs > p->grid.nodes[0] - 1)
        return ps_fail(PS_USAGE, "--slabs %lld: %lld layers of elements make at most as many slabs",
                       (long long)o->slabs, (long long)p->grid.nodes[0] - 1);
    if (o->coarse > 0 && o->method == METHOD_SWEEPS)
        return ps_fail(PS_USAGE, "--coarse goes with fixed-point and gmres, not with sweeps");
    o->checkpoint_every = checkpoint_interval(o);
    return check_ways(p);
}

/* Whether a device can do what is wanted: the box as one, or double sweeps, on one rank; slabs at
 * once; all of it directly. */
static bool device_can(const solve_options *o)
{
    bool sweeps = o->method == METHOD_SWEEPS;
    if (o->subdomains || o->inner != METHOD_DIRECT || (o->streamed && !sweeps)) return false;
    return (o->slabs > 1 && !sweeps) || ps_comm_size() == 1;
}

/* P-CG of the box as one is what there is in fp32. */
static ps_status check_precision(const solve_options *o)
{
    if (!o->mixed || (o->method == METHOD_CG && !o->subdomains && ps_comm_size() == 1))
        return PS_OK;
    return ps_fail(PS_USAGE, "--precision mixed is for --method cg with --slabs 1 on one rank");
}

static ps_status choose_device(solve_problem *p)
{
    const char *name = p->run->device;
    bool any = strcmp(name, "auto") == 0;
    ps_device_expect_tasks(); /* solves are short: kernels are loaded before */
    if (strcmp(name, "cpu") == 0 || (any && (!device_can(&p->options) || !ps_device_count())))
        return PS_OK;
    if (!device_can(&p->options))
        return ps_fail(PS_USAGE,
                       "--device %s: with --inner direct, a device takes the box as one or "
                       "slabs by sweeps, both on one rank, or slabs in memory by fixed point or "
                       "gmres",
                       name);
    return ps_device_open(name, ps_comm_local_rank(), &p->device);
}

static const solve_way *way_of(const solve_problem *p)
{
    bool device = p->device && ps_device_describe(p->device).kind == PS_DEVICE_CUDA;
    if (p->options.subdomains) return &solve_parts;
    if (p->options.slabs == 1) return device ? &solve_whole_device : &solve_whole;
    if (device && p->options.method == METHOD_SWEEPS) return &solve_sweeps_device;
    return device ? &solve_slabs_device : &solve_slabs;
}

/* What every way takes: threads that read, teams of them where slabs are streamed, and a writer;
 * then the arrays of this one. */
static void make_ledger(solve_problem *p)
{
    enum { STREAM_THREAD = 512 << 10 };
    int64_t chunk = 8 * p->load.chunk_planes * p->load.plane, threads = p->run->threads;
    int64_t reader = ps_store_reader_bytes(p->load.store), readers = threads;
    if (p->options.streamed) { /* a thread for each chunk of a slab, which hold parts of it */
        int64_t chunks = (p->grid.nodes[0] / p->options.slabs + 1) / p->load.chunk_planes + 2;
        readers = threads * (chunks < threads ? chunks : threads);
        reader += chunk;
    }
    ps_ledger_open(&p->ledger, p->run);
    ps_ledger_add(&p->ledger, PS_ROOM_HOST, "reading", readers * reader);
    if (p->options.streamed) /* stacks and heaps: who reads, who unpacks, who computes beside them */
        ps_ledger_add(&p->ledger, PS_ROOM_HOST, "stream", (2 + threads) * STREAM_THREAD);
    ps_ledger_add(&p->ledger, PS_ROOM_HOST, "writing",
                  p->trial ? 0 : plane_writer_bytes(p) + ps_store_writer_bytes(chunk));
    ps_ledger_add(&p->ledger, PS_ROOM_DISK, "files", p->trial ? 0 : 8 * ps_q1_grid_size(&p->grid));
    p->room = p->run->host_memory - p->ledger.now[PS_ROOM_HOST];
    p->way->plan(p, &p->ledger);
}

static bool is_too_much(const solve_problem *p)
{
    return p->ledger.most[PS_ROOM_HOST] > p->run->host_memory;
}

/* Slabs that are streamed, from a stream that has room for one, or all of a small box. Streams have
 * sweeps where no method is given, which have no coarse space: with one the slabs stay in memory.
 */
static ps_status find_least(solve_problem *p)
{
    if (p->options.substructured || (p->options.coarse > 0 && !chosen.method)) return PS_OK;
    ps_run little = *p->run;
    solve_problem streamed = *p;
    little.host_memory = 0;
    streamed.run = &little;
    streamed.options.streamed = true;
    PS_TRY(choose_method(&streamed));
    make_ledger(&streamed);
    p->ledger.least =
        ps_smaller(streamed.ledger.most[PS_ROOM_HOST], p->ledger.most[PS_ROOM_HOST]);
    return PS_OK;
}

static ps_status choose_way(solve_problem *p)
{
    PS_TRY(choose_device(p));
    p->way = way_of(p);
    PS_TRY(check_precision(&p->options));
    make_ledger(p);
    bool any = strcmp(p->run->device, "auto") == 0; /* the cores do with less */
    if (p->way == &solve_sweeps_device && is_too_much(p) && any) {
        ps_device_close(&p->device);
        p->way = way_of(p);
        make_ledger(p);
    }
    return PS_OK;
}

/* Streams where the whole does not fit. Collective. */
static ps_status plan_memory(solve_problem *p)
{
    solve_options *o = &p->options;
    bool cut = p->way == &solve_slabs;
    if (ps_comm_any(is_too_much(p) && cut) && !o->streamed) {
        o->streamed = true;
        PS_TRY(choose_method(p));
        make_ledger(p);
        ps_info("slabs are streamed: in memory they would take more than --host-memory");
    }
    if (cut) PS_TRY(find_least(p));
    return ps_ledger_check(&p->ledger, p->run->host_memory, "more --slabs help");
}

/* What a rank writes: an interface plane goes with the slab on its left. */
static void set_planes(solve_problem *p)
{
    int64_t nx = p->grid.nodes[0], slabs = p->options.slabs, ranks = ps_comm_size();
    int64_t rank = ps_comm_rank();
    if (slabs == 1 || p->options.subdomains) {
        whole_planes(p, &p->first_plane, &p->end_plane);
        return;
    }
    p->first_plane = rank == 0 ? 0 : ps_slab_first(nx, slabs, slabs * rank / ranks) + 1;
    p->end_plane = ps_slab_first(nx, slabs, slabs * (rank + 1) / ranks) + 1;
}

static ps_status prepare(solve_problem *p)
{
    double length[3];
    PS_TRY(ps_box_field_open(p->run->operands[0], "load", &p->load));
    const ps_box_field_header *h = &p->load.header;
    if (h->cells)
        return ps_fail(PS_INVALID, "%s: loads of nodes are expected", p->run->operands[0]);
    for (int a = 0; a < 3; ++a) length[a] = h->spacing[a] * (double)(h->nodes[a] - 1);
    PS_TRY(ps_q1_grid_make(h->nodes, length, &p->grid));
    if (ps_store_has(p->load.store, "/", "lumped"))
        PS_TRY(ps_store_get_real(p->load.store, "/", "lumped", &p->grid.lumped));
    if (!(p->grid.lumped >= 0 && p->grid.lumped <= 1))
        return ps_fail(PS_INVALID, "%s: a share of lumped masses of %g; 0 to 1 is expected",
                       p->run->operands[0], p->grid.lumped);
    p->options = chosen.own;
    p->options.inner = (solve_method)chosen.inner;
    p->options.coarse /= 1000;
    p->options.mixed = chosen.precision == 1;
    PS_TRY(choose_method(p));
    if (p->options.slabs > 1 || p->options.subdomains) PS_TRY(choose_transmission(p));
    p->end_plane = h->nodes[0];
    if (ps_comm_size() > 1) set_planes(p);
    PS_TRY(PS_ALLOC(&p->history, HISTORY_MAX, "residuals"));
    return choose_way(p);
}

/* What a run leaves that is killed when its output is complete. */
static ps_status tidy(solve_problem *p)
{
    run_state states;
    run_state_open(p, &states);
    PS_TRY(solve_identify(p));
    return run_state_check(&states) == PS_OK ? run_state_remove(&states) : PS_OK;
}

static void release(solve_problem *p)
{
    ps_box_field_close(&p->out);
    ps_store_set_release(&p->set);
    ps_box_field_close(&p->load);
    ps_device_close(&p->device);
    free(p->history);
    free(p->options.identity);
}

static ps_status run_solve(ps_run *run)
{
    PS_SCOPED(release) solve_problem p = {.run = run, .trial = !run->output};
    PS_TRY(ps_comm_agree(prepare(&p)));
    PS_TRY(ps_comm_agree(plan_memory(&p)));
    ps_product_init(run, PS_BOX_FIELD_FORMAT, PS_BOX_FIELD_VERSION, &p.product);
    PS_TRY(ps_product_input(&p.product, "load", p.load.store));
    if (run->plan) solve_report(&p);
    if (run->plan) return PS_OK;
    return ps_product_is_up_to_date(&p.product) ? ps_comm_agree(tidy(&p)) : solve_all(&p);
}

const ps_program ps_this_program = {
    .name = "schwarz-solve",
    .results = 4,
    .synopsis = "LOAD [POTENTIAL]",
    .description = "Solves for the potential that belongs to a load of penstock-gravity-assemble: "
                   "as a whole (directly, or by P-CG, BiCGStab or P-BiCGCR), or by an optimised "
                   "Schwarz method without overlap over slabs, in memory or with one slab in "
                   "memory at a time. Under mpirun, slabs (or planes of the whole) are spread over "
                   "the ranks. Says the interface residual and that of the whole system; without "
                   "POTENTIAL that is all it does. Checkpoints are POTENTIAL.state.*; a solve that "
                   "does not converge leaves its best iterate as POTENTIAL.unconverged.hdf.",
    .examples = "  penstock-schwarz-solve load.hdf potential.hdf\n"
                "  penstock-schwarz-solve load.hdf potential.hdf --slabs 16 --kind oo2\n"
                "  penstock-schwarz-solve load.hdf potential.hdf --slabs 64 --streamed "
                "--host-memory 2G",
    .options = options,
    .figures = figure_table,
    .run = run_solve,
    .streams = true,
    .saves = true,
    .parallel = true,
    .counts = true};
