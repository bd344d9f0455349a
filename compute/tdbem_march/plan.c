/* What a run will take in memory and on disk, told beforehand. */
#include <stdio.h>
#include <string.h>

#include "compute/tdbem_march/march.h"
#include "compute/tdbem_march/team.h"
#include "runtime/chunk_plan.h"
#include "runtime/comm.h"
#include "runtime/memory.h"
#include "runtime/path.h"
#include "runtime/report.h"

/* Thread stacks, decoding contexts and what the allocator keeps. */
enum { SLACK = 12 << 20, STORED_BUFFERS = 3 };
/* What the process takes more or less from run to run. */
enum { JITTER = 1 << 20 };

int64_t march_ahead(const march_options *options, const problem *p)
{
    return p->far.group > options->group ? p->far.group : options->group;
}

/* The least that streaming the tiles takes: a buffer as stored and one unpacked. */
static int64_t least_buffers(const tiles *t)
{
    int64_t raw = 0, unpacked = 0;
    for (int64_t k = 0; k < t->count; ++k) {
        if (t->raw_bytes[k] > raw) raw = t->raw_bytes[k];
        if (t->unpacked_bytes[k] > unpacked) unpacked = t->unpacked_bytes[k];
    }
    return t->count ? ps_chunk_padded(raw) + ps_chunk_padded(unpacked) : 0;
}

static int64_t unpacked_bytes(const tiles *t)
{
    int64_t sum = 0;
    for (int64_t k = 0; k < t->count; ++k) sum += ps_chunk_padded(t->unpacked_bytes[k]);
    return sum;
}

/* What a stream that keeps all tiles takes: in its first sweep stored ones too. */
static int64_t whole_bytes(const tiles *t)
{
    int64_t raw = 0;
    for (int64_t k = 0; k < t->count; ++k)
        if (t->raw_bytes[k] > raw) raw = t->raw_bytes[k];
    return unpacked_bytes(t) + STORED_BUFFERS * ps_chunk_padded(raw);
}

static void measure(const ps_run *run, const march_options *options, const problem *p,
                    march_plan *m)
{
    const ps_slice_header *header = &p->tiles.header;
    int64_t item = header->precision == PS_SINGLE ? 4 : 8, rows = header->unknowns;
    m->budget = run->host_memory;
    m->process = ps_memory_peak() + SLACK;
    m->window = window_bytes(header, p->tiles.columns, march_ahead(options, p));
    m->sums =
        summation_sums_bytes(header, options->group + p->far.group) + rows * options->group * item;
    m->solver =
        solver_bytes(rows) + (2 * rows + ps_load_workspace(&p->load)) * (int64_t)sizeof(double);
    m->near = near_guess(&p->tiles, options->group, p->area);
    window past = {.unknowns = rows, .kept = header->k_max, .precision = header->precision};
    m->record = ps_comm_rank() == 0 ? record_bytes(&past) : 0;
    m->fixed = m->process + m->window + m->sums + m->solver + m->near + m->record;
    m->tiles = unpacked_bytes(&p->tiles);
    m->tiles_whole = whole_bytes(&p->tiles);
    m->tiles_least = least_buffers(&p->tiles);
    m->far = unpacked_bytes(&p->far.tiles);
    m->far_least = least_buffers(&p->far.tiles);
    m->output = 2 * p->steps * rows * item + 2 * rows * header->k_max * item;
    m->disk_free = ps_path_room(run->output);
}

ps_status plan_make(const ps_run *run, const march_options *options, const problem *p,
                    march_plan *m)
{
    memset(m, 0, sizeof *m);
    measure(run, options, p, m);
    int64_t sure = m->fixed - m->near; /* the near matrices are a guess until they are collected */
    int64_t least = m->tiles_least + m->far_least;
    if (sure + least > m->budget)
        return ps_fail(
            PS_EXHAUSTED,
            "--host-memory: %.1f MB cannot do; what must be in memory takes %.1f MB, and "
            "streaming the tiles at least %.1f MB more (--plan lists it)",
            (double)m->budget / 1e6, (double)sure / 1e6, (double)least / 1e6);
    if (m->output > m->disk_free)
        return ps_fail(PS_EXHAUSTED,
                       "%s: the run writes up to %.1f MB, but only %.1f MB are free there",
                       run->operands[2], (double)m->output / 1e6, (double)m->disk_free / 1e6);
    return PS_OK;
}

/* ---- telling it ---- */

/* Stored bytes to be read in every sweep over these tiles, of `unpacked` bytes, if they have
 * `room`. */
static double read_again(const tiles *t, int64_t unpacked, double room)
{
    double stored = 0, over = (double)unpacked - room;
    for (int64_t k = 0; k < t->count; ++k) stored += (double)t->raw_bytes[k];
    if (over <= 0 || unpacked == 0) return 0;
    return over >= (double)unpacked ? stored : stored * over / (double)unpacked;
}

static void print_memory(ps_report *report, const march_plan *m)
{
    int64_t data = m->tiles + m->far, room = m->budget - m->fixed;
    ps_report_section(report, NULL);
    ps_report_int(report, "memory", m->fixed + (data < room ? data : room));
    ps_report_int(report, "least_memory", m->fixed + m->tiles_least + m->far_least + JITTER);
    ps_report_int(report, "disk", m->output);
    ps_report_int(report, "disk_free", m->disk_free);
    ps_report_section(report, "ledger");
    ps_report_int(report, "budget", m->budget);
    ps_report_int(report, "process", m->process);
    ps_report_int(report, "past", m->window);
    ps_report_int(report, "sums", m->sums);
    ps_report_int(report, "solver", m->solver);
    ps_report_int(report, "near_estimate", m->near);
    ps_report_int(report, "checkpoints", m->record);
    ps_report_int(report, "tiles", m->tiles);
    if (m->far > 0) ps_report_int(report, "far_tiles", m->far);
    ps_report_section(report, "placement");
    ps_report_flag(report, "tiles_fit_in_memory", m->fixed + m->tiles <= m->budget);
    if (m->far > 0)
        ps_report_flag(report, "all_fit_in_memory", m->fixed + m->tiles + m->far <= m->budget);
}

ps_status plan_print(const ps_run *run, const march_options *options, const problem *p,
                     const march_plan *m)
{
    const ps_slice_header *header = &p->tiles.header;
    int64_t sweeps = (p->steps + options->group - 1) / options->group;
    double far_sweeps = 0;
    double room = (double)(m->budget - m->fixed - m->far_least);
    double streamed = read_again(&p->tiles, m->tiles, room);
    double far_streamed = read_again(&p->far.tiles, m->far, room - (double)m->tiles);
    ps_report *report = ps_report_new(run);
    ps_report_section(report, "run");
    ps_report_text(report, "matrix", p->tiles.layout);
    ps_report_text(report, "formulation", ps_formulation_name(header->formulation));
    ps_report_int(report, "unknowns", header->unknowns);
    ps_report_int(report, "k_max", header->k_max);
    ps_report_int(report, "steps", p->steps);
    ps_report_int(report, "group", options->group);
    ps_report_int(report, "chunks", p->tiles.count);
    ps_report_int(report, "sweeps", sweeps);
    ps_report_real(report, "operations", 2 * (double)header->nnz * (double)p->steps);
    ps_report_real(report, "read_from_disk_a_sweep", streamed);
    if (p->far.group > 0) {
        far_sweeps = (double)((p->steps - 1) / p->far.group);
        ps_report_int(report, "far_group", p->far.group);
        ps_report_int(report, "far_sweeps", (int64_t)far_sweeps);
        ps_report_real(report, "read_from_disk_a_far_sweep", far_streamed);
    }
    /* A core does about 3 GFlop/s here, a disk 1 GB/s: a guess to tell minutes from days. */
    double values = (double)p->tiles.values_owned + (double)p->far.tiles.values_owned;
    double compute = 2 * values * (double)p->steps / (3e9 * (double)run->threads);
    double reading = (streamed * (double)sweeps + far_streamed * far_sweeps) / 1e9;
    ps_report_section(report, NULL);
    ps_report_real(report, "time", compute > reading ? compute : reading);
    print_memory(report, m);
    ps_status status = team_plan(run, options, p, m, report);
    ps_report_print(&report);
    return status;
}
