/* What a run will take in memory and on disk, told beforehand. */
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>

#include "compute/tdbem_march/march.h"
#include "runtime/chunk_plan.h"
#include "runtime/comm.h"
#include "runtime/memory.h"
#include "runtime/report.h"

/* Thread stacks, decoding contexts and what the allocator keeps. */
enum { SLACK = 12 << 20 };

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

static void disk_room(const char *output, int64_t *out)
{
    char folder[4096];
    const char *slash = strrchr(output, '/');
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - output) + 1 : 2,
             slash ? output : "./");
    struct statvfs disk;
    *out =
        statvfs(folder, &disk) == 0 ? (int64_t)disk.f_bavail * (int64_t)disk.f_frsize : INT64_MAX;
}

static void measure(const ps_run *run, const march_options *options, const problem *p,
                    march_plan *m)
{
    const ps_slice_header *header = &p->tiles.header;
    int64_t item = header->precision == PS_SINGLE ? 4 : 8, rows = header->unknowns;
    m->budget = run->host_memory;
    m->process = ps_memory_peak() + SLACK;
    m->window = window_bytes(header, p->tiles.columns, options->group);
    m->sums = summation_sums_bytes(header, options->group) + rows * options->group * item;
    m->solver =
        solver_bytes(rows) + (2 * rows + ps_load_workspace(&p->load)) * (int64_t)sizeof(double);
    m->near = near_guess(&p->tiles, options->group, p->area);
    window past = {.unknowns = rows, .kept = header->k_max, .precision = header->precision};
    m->record = ps_comm_rank() == 0 ? record_bytes(&past) : 0;
    m->fixed = m->process + m->window + m->sums + m->solver + m->near + m->record;
    for (int64_t k = 0; k < p->tiles.count; ++k)
        m->tiles += ps_chunk_padded(p->tiles.unpacked_bytes[k]);
    m->tiles_least = least_buffers(&p->tiles);
    m->output = 2 * p->steps * rows * item + 2 * rows * header->k_max * item;
    disk_room(run->operands[2], &m->disk_free);
}

ps_status plan_make(const ps_run *run, const march_options *options, const problem *p,
                    march_plan *m)
{
    memset(m, 0, sizeof *m);
    measure(run, options, p, m);
    int64_t sure = m->fixed - m->near; /* the near matrices are a guess until they are collected */
    if (sure + m->tiles_least > m->budget)
        return ps_fail(
            PS_EXHAUSTED,
            "--host-memory: %.1f MB cannot do; what must be in memory takes %.1f MB, and "
            "streaming the tiles at least %.1f MB more (--plan lists it)",
            (double)m->budget / 1e6, (double)sure / 1e6, (double)m->tiles_least / 1e6);
    if (m->output > m->disk_free)
        return ps_fail(PS_EXHAUSTED,
                       "%s: the run writes up to %.1f MB, but only %.1f MB are free there",
                       run->operands[2], (double)m->output / 1e6, (double)m->disk_free / 1e6);
    return PS_OK;
}

/* ---- telling it ---- */

/* Stored bytes to be read in every sweep, as far as the estimates go. */
static double read_again(const problem *p, const march_plan *m)
{
    double stored = 0, over = (double)(m->fixed + m->tiles - m->budget);
    for (int64_t k = 0; k < p->tiles.count; ++k) stored += (double)p->tiles.raw_bytes[k];
    if (over <= 0 || m->tiles == 0) return 0;
    return over >= (double)m->tiles ? stored : stored * over / (double)m->tiles;
}

static void print_memory(ps_report *report, const march_plan *m)
{
    ps_report_section(report, "memory");
    ps_report_int(report, "budget", m->budget, "bytes");
    ps_report_int(report, "least", m->fixed - m->near + m->tiles_least, "bytes");
    ps_report_int(report, "process", m->process, "bytes");
    ps_report_int(report, "past", m->window, "bytes");
    ps_report_int(report, "sums", m->sums, "bytes");
    ps_report_int(report, "solver", m->solver, "bytes");
    ps_report_int(report, "near_estimate", m->near, "bytes");
    ps_report_int(report, "checkpoints", m->record, "bytes");
    ps_report_int(report, "tiles", m->tiles, "bytes");
    ps_report_flag(report, "tiles_fit_in_memory", m->fixed + m->tiles <= m->budget);
    ps_report_section(report, "disk");
    ps_report_int(report, "written_at_most", m->output, "bytes");
    ps_report_int(report, "free", m->disk_free, "bytes");
}

void plan_print(const ps_run *run, const march_options *options, const problem *p,
                const march_plan *m)
{
    const ps_slice_header *header = &p->tiles.header;
    int64_t sweeps = (p->steps + options->group - 1) / options->group;
    double streamed = read_again(p, m);
    ps_report *report = ps_report_new(run->json);
    ps_report_section(report, "run");
    ps_report_text(report, "matrix", p->tiles.layout);
    ps_report_text(report, "formulation", ps_formulation_name(header->formulation));
    ps_report_int(report, "unknowns", header->unknowns, NULL);
    ps_report_int(report, "k_max", header->k_max, NULL);
    ps_report_int(report, "steps", p->steps, NULL);
    ps_report_int(report, "group", options->group, "steps");
    ps_report_int(report, "chunks", p->tiles.count, NULL);
    ps_report_int(report, "sweeps", sweeps, NULL);
    ps_report_real(report, "operations", 2 * (double)header->nnz * (double)p->steps / 1e9, "GFlop");
    ps_report_real(report, "read_from_disk_a_sweep", streamed / 1e6, "MB");
    /* A core does about 3 GFlop/s here, a disk 1 GB/s: a guess to tell minutes from days. */
    double compute = 2 * (double)p->tiles.values_owned * (double)(sweeps * options->group) /
                     (3e9 * (double)run->threads);
    double reading = streamed * (double)sweeps / 1e9;
    ps_report_real(report, "time_estimate", compute > reading ? compute : reading, "s");
    print_memory(report, m);
    ps_report_print(&report);
}
