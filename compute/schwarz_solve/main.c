/* penstock-schwarz-solve: the potential of a load, by slabs or as a whole. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "compute/schwarz_solve/solve.h"
#include "formats/transmission.h"
#include "runtime/log.h"
#include "runtime/memory.h"
#include "runtime/report.h"

enum { SAMPLES = 500, IDENTITY_BYTES = 40 };

const char *const solve_method_names[] = {"direct",      "cg",    "bicgstab", "bicgcr",
                                          "fixed-point", "gmres", "sweeps"};

static struct {
    int64_t slabs, limit, restart, checkpoint;
    int method, kind;
    double tolerance, coarse;
    const char *transmission, *coefficients;
    bool streamed, resume;
} chosen = {.slabs = 1,
            .limit = 10000,
            .restart = PS_GMRES_RESTART,
            .checkpoint = 1,
            .kind = PS_OO2_UNSYMMETRIC,
            .tolerance = 1e-6};

static const ps_option options[] = {
    {"slabs", PS_OPTION_INT, &chosen.slabs, "N", "subdomains along x; 1: none", 1, 1 << 20,
     PS_IDENTITY},
    {"method", PS_OPTION_CHOICE, &chosen.method,
     "auto|direct|cg|bicgstab|bicgcr|fixed-point|gmres|sweeps",
     "of the whole box: fast direct solution or a Krylov method with Jacobi scaling; of slabs: "
     "fixed "
     "point, GMRES or double sweeps over the interfaces. auto: direct; gmres, or sweeps where "
     "slabs "
     "are streamed",
     0, 0, PS_IDENTITY},
    {"kind", PS_OPTION_CHOICE, &chosen.kind, "oo0|oo0-two-sided|oo2|oo2-two-sided",
     "transmission condition, optimised for this grid", 0, 0, PS_IDENTITY},
    {"transmission", PS_OPTION_TEXT, &chosen.transmission, "FILE",
     "take it from a file of penstock-transmission-optimize instead", 0, 0, PS_IDENTITY},
    {"coefficients", PS_OPTION_TEXT, &chosen.coefficients, "P1,Q1,P2,Q2",
     "or give it: p in 1/km, q in km", 0, 0, PS_IDENTITY},
    {"coarse", PS_OPTION_REAL, &chosen.coarse, "K",
     "coarse space: face modes with wave numbers below K per km are solved exactly; 0: none", 0,
     1e9, PS_IDENTITY},
    {"tolerance", PS_OPTION_REAL, &chosen.tolerance, "T",
     "relative residual of the interfaces, or of the Krylov method", 1e-15, 0.5, PS_IDENTITY},
    {"limit", PS_OPTION_INT, &chosen.limit, "N", "iterations at most", 1, HISTORY_MAX, 0},
    {"gmres-restart", PS_OPTION_INT, &chosen.restart, "N", "steps between restarts of GMRES", 1,
     PS_GMRES_RESTART, PS_IDENTITY},
    {"streamed", PS_OPTION_FLAG, &chosen.streamed, NULL,
     "keep one slab in memory, reading the others' loads whenever they are solved; chosen by "
     "itself "
     "where --host-memory is too little otherwise. The same bits",
     0, 0, 0},
    {"checkpoint", PS_OPTION_INT, &chosen.checkpoint, "N",
     "iterations between checkpoints (fixed point and sweeps); 0: none", 0, HISTORY_MAX, 0},
    {"restart", PS_OPTION_FLAG, &chosen.resume, NULL, "go on from the newest checkpoint", 0, 0, 0},
    {NULL, PS_OPTION_FLAG, NULL, NULL, NULL, 0, 0, 0}};

ps_status note_iteration(solve_problem *p, int64_t iteration, double residual)
{
    if (iteration >= 1 && iteration <= HISTORY_MAX) p->history[iteration - 1] = residual;
    ps_info("iteration %lld: residual %.3e", (long long)iteration, residual);
    return ps_stop_requested() ? ps_fail(PS_FAILED, "stopped; --restart goes on") : PS_OK;
}

/* ---- transmission conditions ---- */

static ps_status search_transmission(solve_problem *p)
{
    enum { COUNT = SAMPLES };
    static double memory[3][COUNT];
    ps_symbol symbol = {COUNT, memory[0], memory[1], memory[2]};
    ps_cmaes_result result;
    double least, largest, hx = p->grid.spacing[0] / 1000;
    ps_q1_grid km = p->grid;
    for (int a = 0; a < 3; ++a) km.spacing[a] /= 1000;
    ps_face_range(&km, &least, &largest);
    ps_symbol_fill(&(ps_symbol_range){sqrt(least), sqrt(largest), 0, hx}, &symbol);
    ps_transmission_search search = {
        (ps_transmission_kind)chosen.kind, &symbol, {-1, log(hx / sqrt(12.0))}, 1};
    p->options.kind = ps_transmission_name(chosen.kind);
    return ps_transmission_optimise(&search, &p->options.transmission, &p->options.factor, &result);
}

static ps_status load_transmission(solve_problem *p)
{
    ps_transmission_file file;
    PS_TRY(ps_transmission_load(chosen.transmission, &file));
    int at = ps_transmission_find(&file, ps_transmission_name(chosen.kind));
    double unit = strcmp(file.length_unit, "m") == 0 ? 1000 : 1; /* to km */
    ps_status status = PS_OK;
    if (at < 0)
        status = ps_fail(PS_INVALID, "%s has no condition of kind %s; --kind chooses another",
                         chosen.transmission, ps_transmission_name(chosen.kind));
    if (status == PS_OK && unit == 1 && strcmp(file.length_unit, "km") != 0)
        status = ps_fail(PS_INVALID, "%s: its unit of length is \"%s\"; m or km are understood",
                         chosen.transmission, file.length_unit);
    for (int s = 0; s < 2 && status == PS_OK; ++s) {
        p->options.transmission.p[s] = file.coefficients[at][2 * s] * unit;
        p->options.transmission.q[s] = file.coefficients[at][2 * s + 1] / unit;
        p->options.factor = file.factor[at];
    }
    p->options.kind = ps_transmission_name(chosen.kind);
    ps_transmission_file_release(&file);
    return status;
}

static ps_status parse_coefficients(solve_problem *p)
{
    double v[4];
    int count;
    ps_status status = ps_parse_reals(chosen.coefficients, ',', v, 4, &count);
    if (status != PS_OK) return ps_context(status, "--coefficients");
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

static ps_status choose_method(solve_problem *p)
{
    solve_options *o = &p->options;
    bool whole = o->slabs == 1;
    o->method = chosen.method ? (solve_method)(chosen.method - 1)
                : whole       ? METHOD_DIRECT
                : o->streamed ? METHOD_SWEEPS
                              : METHOD_GMRES;
    if (whole && o->method >= METHOD_FIXED_POINT)
        return ps_fail(PS_USAGE, "--method %s needs --slabs 2 or more",
                       solve_method_names[o->method]);
    if (!whole && o->method < METHOD_FIXED_POINT)
        return ps_fail(PS_USAGE, "--method %s is for the whole box, --slabs 1",
                       solve_method_names[o->method]);
    if (p->trial && o->checkpoint_every) o->checkpoint_every = 0;
    if (whole && o->streamed) return ps_fail(PS_USAGE, "--streamed needs --slabs 2 or more");
    if (!whole && o->slabs > p->grid.nodes[0] - 1)
        return ps_fail(PS_USAGE, "--slabs %lld: %lld layers of elements make at most as many slabs",
                       (long long)o->slabs, (long long)p->grid.nodes[0] - 1);
    if (o->coarse > 0 && o->method == METHOD_SWEEPS)
        return ps_fail(PS_USAGE, "--coarse goes with fixed-point and gmres, not with sweeps");
    return PS_OK;
}

/* Streams where the whole does not fit. */
static ps_status plan_memory(solve_problem *p)
{
    solve_options *o = &p->options;
    p->memory = o->slabs == 1 ? whole_memory(p) : slabs_memory(p);
    if (p->memory > p->run->host_memory && o->slabs > 1 && !o->streamed) {
        o->streamed = true;
        PS_TRY(choose_method(p));
        p->memory = slabs_memory(p);
        ps_info("slabs are streamed: in memory they would take more than --host-memory");
    }
    if (p->memory <= p->run->host_memory) return PS_OK;
    return ps_fail(
        PS_EXHAUSTED,
        "this takes %lld MiB of memory, --host-memory allows %lld MiB: more --slabs help",
        (long long)(p->memory >> 20), (long long)(p->run->host_memory >> 20));
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
    p->options = (solve_options){.slabs = chosen.slabs,
                                 .limit = chosen.limit,
                                 .restart = chosen.restart,
                                 .checkpoint_every = chosen.checkpoint,
                                 .tolerance = chosen.tolerance,
                                 .coarse = chosen.coarse / 1000,
                                 .streamed = chosen.streamed,
                                 .resume = chosen.resume};
    PS_TRY(choose_method(p));
    if (p->options.slabs > 1) PS_TRY(choose_transmission(p));
    PS_TRY(PS_ALLOC(&p->history, HISTORY_MAX, "residuals"));
    return plan_memory(p);
}

/* ---- output ---- */

/* What a run is, for its checkpoints: options, load, method. */
static ps_status identify(solve_problem *p, char out[IDENTITY_BYTES])
{
    static char text[PS_RECORD_MAX + 256];
    char hash[17];
    PS_TRY(ps_store_content_hash(p->load.store, hash));
    int length = snprintf(text, sizeof text, "%s%s %d", p->run->record, hash, p->options.method);
    snprintf(out, IDENTITY_BYTES, "%016llx", (unsigned long long)XXH3_64bits(text, (size_t)length));
    p->options.identity = out;
    return PS_OK;
}

static ps_status create_output(solve_problem *p)
{
    ps_store_identity identity = {PS_BOX_FIELD_FORMAT, PS_BOX_FIELD_VERSION, ps_version(),
                                  ps_revision(),       p->run->record,       0};
    ps_box_field_header header = p->load.header;
    strcpy(header.quantity, "potential");
    strcpy(header.units, "m2/s2");
    PS_TRY(ps_box_field_create(p->run->operands[1], &identity, &header, &p->out));
    return ps_store_add_input(p->out.store, "load", p->load.store);
}

static ps_status put_figures(solve_problem *p)
{
    const solve_options *o = &p->options;
    ps_store *s = p->out.store;
    const double t[4] = {1000 * o->transmission.p[0], o->transmission.q[0] / 1000,
                         1000 * o->transmission.p[1], o->transmission.q[1] / 1000};
    PS_TRY(ps_store_put_text(s, "/", "method", solve_method_names[o->method]));
    PS_TRY(ps_store_put_int(s, "/", "slabs", o->slabs));
    PS_TRY(ps_store_put_int(s, "/", "iterations", p->result.iterations));
    if (o->slabs > 1) PS_TRY(ps_store_put_reals(s, "/", "transmission", t, 4));
    if (p->result.iterations == 0) return PS_OK;
    ps_dataset_spec spec = {.name = "/history/residual",
                            .type = PS_F64,
                            .rank = 1,
                            .dims = {p->result.iterations},
                            .units = "1",
                            .description = "relative residual after each iteration; 0: not known"};
    return ps_store_write_array(s, &spec, p->history);
}

static void report(const solve_problem *p, double seconds)
{
    const solve_options *o = &p->options;
    ps_report *r = ps_report_new(p->run->json);
    ps_report_ints(r, "nodes", p->grid.nodes, 3);
    ps_report_int(r, "unknowns", ps_q1_grid_size(&p->grid), "");
    ps_report_text(r, "method", solve_method_names[o->method]);
    ps_report_int(r, "slabs", o->slabs, "");
    ps_report_flag(r, "streamed", o->streamed);
    ps_report_int(r, "memory", p->memory, "B");
    if (o->slabs > 1) {
        ps_report_text(r, "kind", o->kind);
        ps_report_real(r, "p1", 1000 * o->transmission.p[0], "1/km");
        ps_report_real(r, "q1", o->transmission.q[0] / 1000, "km");
        ps_report_real(r, "p2", 1000 * o->transmission.p[1], "1/km");
        ps_report_real(r, "q2", o->transmission.q[1] / 1000, "km");
        if (o->factor > 0) ps_report_real(r, "predicted_factor", sqrt(o->factor), "");
    }
    if (!p->run->plan) {
        ps_report_int(r, "iterations", p->result.iterations, "");
        ps_report_real(r, "interface_residual", p->result.residual, "");
        if (!p->trial) ps_report_real(r, "residual", p->residual, "");
        ps_report_real(r, "reading", p->seconds[SECONDS_READ], "s");
        ps_report_real(r, "solving", p->seconds[SECONDS_SOLVE], "s");
        ps_report_real(r, "writing", p->seconds[SECONDS_WRITE], "s");
        ps_report_real(r, "checking", p->seconds[SECONDS_CHECK], "s");
        ps_report_real(r, "time", seconds, "s");
    }
    ps_report_int(r, "peak_memory", ps_memory_peak(), "B");
    ps_report_print(&r);
}

static ps_status check(solve_problem *p)
{
    ps_box_field solution;
    double start = ps_clock();
    PS_TRY(ps_box_field_open(p->run->operands[1], "potential", &solution));
    ps_status status = check_residual(p, &solution, &p->residual);
    ps_box_field_close(&solution);
    p->seconds[SECONDS_CHECK] = ps_clock() - start;
    return status;
}

/* Iterations alone: without POTENTIAL nothing is written. */
static ps_status solve_trial(solve_problem *p)
{
    double start = ps_clock();
    PS_TRY(p->options.slabs == 1 ? solve_whole(p) : solve_slabs(p));
    report(p, ps_clock() - start);
    return PS_OK;
}

static ps_status solve(solve_problem *p)
{
    char identity[IDENTITY_BYTES];
    double start = ps_clock();
    PS_TRY(identify(p, identity));
    PS_TRY(create_output(p));
    PS_TRY(p->options.slabs == 1 ? solve_whole(p) : solve_slabs(p));
    PS_TRY(put_figures(p));
    PS_TRY(ps_box_field_commit(&p->out));
    PS_TRY(check(p));
    report(p, ps_clock() - start);
    return PS_OK;
}

static ps_status run_solve(ps_run *run)
{
    solve_problem p = {.run = run, .trial = run->operand_count < 2};
    const char *const roles[] = {"load"};
    ps_store_identity identity = {PS_BOX_FIELD_FORMAT, PS_BOX_FIELD_VERSION, ps_version(),
                                  ps_revision(),       run->record,          0};
    ps_status status = prepare(&p);
    if (status == PS_OK && run->plan)
        report(&p, 0);
    else if (status == PS_OK && p.trial)
        status = solve_trial(&p);
    else if (status == PS_OK && !run->force &&
             ps_store_matches(run->operands[1], &identity, 1, roles, &p.load.store))
        ps_info("%s is up to date; --force solves again", run->operands[1]);
    else if (status == PS_OK)
        status = solve(&p);
    ps_box_field_close(&p.out);
    ps_box_field_close(&p.load);
    free(p.history);
    return status;
}

int main(int argc, char **argv)
{
    static const ps_program program = {
        .name = "schwarz-solve",
        .synopsis = "LOAD [POTENTIAL]",
        .description =
            "Solves for the potential that belongs to a load of penstock-gravity-assemble: as a\n"
            "whole (directly, or by P-CG, BiCGStab or P-BiCGCR), or by an optimised Schwarz "
            "method\n"
            "without overlap over slabs, in memory or with one slab in memory at a time. Says the\n"
            "interface residual and that of the whole system. Checkpoints are POTENTIAL.state.*.",
        .examples = "  penstock-schwarz-solve load.hdf potential.hdf\n"
                    "  penstock-schwarz-solve load.hdf potential.hdf --slabs 16 --kind oo2\n"
                    "  penstock-schwarz-solve load.hdf potential.hdf --slabs 64 --streamed "
                    "--host-memory 2G",
        .options = options,
        .operands_min = 1,
        .operands_max = 2,
        .run = run_solve};
    return ps_main(&program, argc, argv);
}
