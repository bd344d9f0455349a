/* What a run will take in memory and on disk, told beforehand. */
#include <string.h>

#include "compute/tdbem_march/march.h"
#include "compute/tdbem_march/team.h"
#include "kernels/common/reals.h"
#include "runtime/chunk_plan.h"
#include "runtime/comm.h"
#include "runtime/memory.h"
#include "runtime/scope.h"
#include "runtime/sizes.h"

enum { STORED_BUFFERS = 3, UNPACKERS = 2, CONTEXT = 600 << 10, ANSWERS = 1 << 20 };

int64_t march_ahead(const march_options *options, const problem *p)
{
    return p->far.group > options->group ? p->far.group : options->group;
}

/* The least that streaming the tiles takes: a buffer as stored and one unpacked. */
static int64_t least_buffers(const tiles *t)
{
    return t->count ? ps_chunk_padded(tiles_largest(t->raw_bytes, t->count)) +
                          ps_chunk_padded(tiles_largest(t->unpacked_bytes, t->count))
                    : 0;
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
    return unpacked_bytes(t) +
           STORED_BUFFERS * ps_chunk_padded(tiles_largest(t->raw_bytes, t->count));
}

/* What assembling takes beside `before` bytes that were assembled earlier. */
static void take_assembly(const assembling *a, int64_t before, ps_ledger *l)
{
    int64_t own = a->plan.ledger.most[PS_ROOM_HOST] - a->plan.process.now[PS_ROOM_HOST];
    ps_ledger_add(l, PS_ROOM_HOST, "assembly", before + own);
    ps_ledger_drop(l, "assembly");
}

/* What assembling takes is given back before the march takes its own. */
static void open_ledger(const ps_run *run, const problem *p, ps_ledger *l)
{
    if (!p->assembling) {
        ps_ledger_open(l, run);
        return;
    }
    *l = p->assembling->plan.process;
    take_assembly(p->assembling, 0, l);
    int64_t before = p->assembling->plan.kept_bytes;
    for (int q = 0; q < p->linings.count; ++q) {
        take_assembly(p->linings.each[q].assembling, before, l);
        before += p->linings.each[q].assembling->plan.kept_bytes;
    }
}

/* What linings hold beside near matrices and tiles. */
static void measure_linings(const march_options *options, const problem *p, ps_ledger *l)
{
    int64_t bytes = linings_bytes(&p->linings, options->group);
    bytes += ps_comm_rank() == 0 ? 8 * linings_states(&p->linings) : 0; /* for checkpoints */
    for (int q = 0; q < p->linings.count; ++q) {
        const tiles *t = &p->linings.each[q].tiles;
        bytes += UNPACKERS * (tiles_largest(t->unpacked_bytes, t->count) + CONTEXT);
    }
    if (bytes > 0) ps_ledger_add(l, PS_ROOM_HOST, "linings", bytes);
}

/* On devices and in memory tiles of linings are tiles like those of the matrix. */
static void share_with_linings(const problem *p, march_plan *m)
{
    for (int q = 0; q < p->linings.count; ++q) {
        const tiles *t = &p->linings.each[q].tiles;
        if (p->assembling) {
            m->lining_tiles[q] = assembling_kept(p->linings.each[q].assembling, t);
            m->tiles += m->lining_tiles[q];
            m->tiles_whole = m->tiles_least = m->tiles;
            continue;
        }
        m->tiles += unpacked_bytes(t);
        m->tiles_whole += whole_bytes(t);
        m->tiles_least += least_buffers(t);
    }
}

static void measure(const ps_run *run, const march_options *options, problem *p, march_plan *m)
{
    const ps_slice_header *header = &p->tiles.header;
    const tiles *swept = problem_swept(p);
    int64_t item = ps_real_bytes(header->precision), rows = header->unknowns;
    ps_ledger *l = &m->ledger;
    m->budget = run->host_memory;
    open_ledger(run, p, l);
    ps_ledger_add(l, PS_ROOM_HOST, "answers", ANSWERS);
    /* Each unpacks a dataset of a tile at a time, which is no more than the tile. */
    if (!p->assembling)
        ps_ledger_add(l, PS_ROOM_HOST, "unpacking",
                      UNPACKERS * (tiles_largest(swept->unpacked_bytes, swept->count) + CONTEXT));
    ps_ledger_add(l, PS_ROOM_HOST, "past",
                  window_bytes(header, p->tiles.columns, march_ahead(options, p)));
    ps_ledger_add(l, PS_ROOM_HOST, "sums",
                  summation_sums_bytes(header, options->group + p->far.group) +
                      rows * options->group * item);
    (void)solver_take(&(solver){.kind = p->solver, .rows = rows}, l);
    ps_ledger_add(l, PS_ROOM_HOST, "solver", 8 * (2 * rows + ps_load_workspace(&p->load)));
    if (p->recorded)
        ps_ledger_add(l, PS_ROOM_HOST, "loads",
                      ps_incident_file_bytes(p->recorded) +
                          ps_surface_velocity_bytes(&p->velocity) +
                          (int64_t)sizeof(double) * rows * options->group);
    window past = {.unknowns = rows, .kept = header->k_max, .precision = header->precision};
    ps_ledger_add(l, PS_ROOM_HOST, "checkpoints", ps_comm_rank() == 0 ? record_bytes(&past) : 0);
    measure_linings(options, p, l);
    m->tiles = p->assembling ? assembling_kept(p->assembling, swept) : unpacked_bytes(swept);
    m->tiles_whole = p->assembling ? m->tiles : whole_bytes(swept);
    m->tiles_least = p->assembling ? m->tiles : least_buffers(swept);
    if (m->devices > 0 || p->assembling) share_with_linings(p, m);
    m->far = unpacked_bytes(&p->far.tiles);
    m->far_least = least_buffers(&p->far.tiles);
    m->output = 2 * p->steps * rows * item + 2 * rows * header->k_max * item;
    ps_ledger_add(l, PS_ROOM_DISK, "files", m->output);
}

/* Of a matrix that is not there yet: pairs within a group's way of each other, in a sample of rows,
 * with all the lags below it that they may have; a value takes its column and, where it is packed,
 * some padding. */
static int64_t expect_near(const assembling *a, int64_t group)
{
    enum { ROWS = 32, PACKED_ITEMS = 4 };
    const ps_interaction *interaction = &a->problem.interaction;
    int64_t n = interaction->unknowns, first, values = 0;
    int64_t item = ps_real_bytes(a->header.slices.precision);
    for (int64_t q = 0; q < ROWS; ++q)
        for (int64_t j = 0; j < n; ++j) {
            int64_t i = (2 * q + 1) * n / (2 * ROWS);
            int64_t count = ps_interval_bound(interaction, i, j, &first);
            if (first < group) values += count < group - first ? count : group - first;
        }
    double a_row = (double)values / ROWS * a->plan.filled;
    return (int64_t)(a_row * (double)n * (double)(PACKED_ITEMS * item + 4));
}

/* bytes[2]: of the near matrices of a matrix or of a lining, and the least that making them takes;
 * they are expected where the matrix is not there yet. */
static ps_status count_tiles(const march_options *options, const march_plan *m, const assembling *a,
                             const char *path, tiles *from, int64_t room, near_tally **out,
                             int64_t *bytes)
{
    near_forget(out);
    if (a && !from->blocks) {
        bytes[0] = bytes[1] = expect_near(a, options->group);
        return PS_OK;
    }
    PS_TRY(m->devices > 0 ? near_count_rows(path, from, options->group, room, out)
                          : near_count_warps(from, options->group, room, out));
    bytes[0] = near_bytes(*out);
    bytes[1] = near_least(*out);
    return PS_OK;
}

/* Linings keep all of their tiles where the matrix can be streamed beside that, else none. */
static void place_linings(const problem *p, march_plan *m)
{
    int64_t whole = 0, least = 0;
    for (int q = 0; q < p->linings.count; ++q) {
        whole += whole_bytes(&p->linings.each[q].tiles);
        least += least_buffers(&p->linings.each[q].tiles);
    }
    int64_t room = m->budget - m->ledger.now[PS_ROOM_HOST] - m->tiles_least - m->far_least;
    bool all = whole <= room;
    for (int q = 0; q < p->linings.count; ++q)
        m->lining_tiles[q] =
            all ? whole_bytes(&p->linings.each[q].tiles) : least_buffers(&p->linings.each[q].tiles);
    m->lining_spared = all ? whole - least : 0;
    if (p->linings.count > 0)
        ps_ledger_add(&m->ledger, PS_ROOM_HOST, "lining_tiles", all ? whole : least);
}

/* The near matrices of linings; each may keep a part of the room for the second pass. */
static ps_status count_near_linings(const march_options *options, problem *p, march_plan *m)
{
    ps_ledger *l = &m->ledger;
    for (int q = 0; q < p->linings.count; ++q) {
        lining *each = &p->linings.each[q];
        int64_t room = (m->budget - l->now[PS_ROOM_HOST]) / (2 * LININGS_MAX), bytes[2];
        PS_TRY(count_tiles(options, m, each->assembling, each->path, &each->tiles, room,
                           &each->near, bytes));
        m->lining_near += bytes[0];
        ps_ledger_add(l, PS_ROOM_HOST, "lining_near", bytes[0]);
        ps_ledger_add(l, PS_ROOM_HOST, "counting", bytes[1] - bytes[0]);
        ps_ledger_drop(l, "counting");
    }
    return PS_OK;
}

/* The near matrices are counted, which passes over the tiles that hold them: a run does it anyway.
 * Devices hold theirs, which are made in memory that tiles have later. */
static ps_status count_near(const march_options *options, problem *p, march_plan *m)
{
    ps_ledger *l = &m->ledger;
    PS_TRY(count_near_linings(options, p, m));
    const ps_slice_header *header = &p->tiles.header;
    int64_t row_bytes = header->unknowns * ps_real_bytes(header->precision);
    if (m->devices > 0 && ps_comm_rank() == 0)
        ps_ledger_add(l, PS_ROOM_HOST, "history", record_behind_bytes(row_bytes, p->steps));
    int64_t bytes[2], room = m->budget - l->now[PS_ROOM_HOST];
    PS_TRY(count_tiles(options, m, p->assembling, p->matrix, &p->tiles, room, &p->near, bytes));
    ps_ledger_add(l, PS_ROOM_HOST, "near_matrices", bytes[0]);
    ps_ledger_add(l, PS_ROOM_HOST, "counting", bytes[1] - bytes[0]);
    ps_ledger_drop(l, "counting");
    if (m->devices > 0 && !p->assembling) {
        ps_ledger_drop(l, "near_matrices");
        ps_ledger_drop(l, "lining_near");
    }
    m->near = ps_ledger_now(l, "near_matrices");
    if (m->devices == 0 && !p->assembling) place_linings(p, m);
    m->fixed = l->now[PS_ROOM_HOST];
    return PS_OK;
}

/* Tiles take what is left, at least the buffers that stream them. */
static void add_tiles(march_plan *m, const ps_ledger *assembly)
{
    ps_ledger least = m->ledger;
    int64_t room = m->budget - m->fixed, near = m->tiles_whole;
    ps_ledger_add(&least, PS_ROOM_HOST, "tiles", m->tiles_least + m->far_least);
    if (near > room - m->far_least) near = room - m->far_least;
    if (near < m->tiles_least) near = m->tiles_least;
    int64_t far = m->far < room - near ? m->far : room - near;
    ps_ledger_add(&m->ledger, PS_ROOM_HOST, "tiles", near);
    ps_ledger_add(&m->ledger, PS_ROOM_HOST, "far_tiles", far > m->far_least ? far : m->far_least);
    m->ledger.least = least.most[PS_ROOM_HOST] - m->lining_spared;
    if (assembly) m->ledger.least = ps_larger(m->fixed + m->tiles, assembly->least);
}

/* Does the whole matrix of a file stay in the memory of those who sweep it? */
static ps_status stays_in_memory(const ps_run *run, const problem *p, bool *out)
{
    int ordinals[TEAM_DEVICES], devices;
    int64_t memory = run->host_memory;
    PS_TRY(team_devices(run, p, ordinals, &devices));
    for (int d = 0; d < devices; ++d) {
        int64_t own;
        PS_TRY(team_device_memory(run, ordinals[d], &own));
        memory = d == 0 ? own : memory + own;
    }
    *out = whole_bytes(&p->tiles) < memory;
    return PS_OK;
}

static const char *obstacle(const march_options *options, const problem *p)
{
    if (options->far) return "--far divides the matrix by lags";
    return symmetric_obstacle(&p->tiles);
}

/* Of a file, the first time. A mesh's matrix is planned so or not (upper.h). */
static ps_status decide(const ps_run *run, const march_options *options, problem *p)
{
    int wanted = options->assembling.symmetric;
    const char *why = obstacle(options, p);
    bool stays = true;
    if (wanted == SYMMETRIC_ON && why) return ps_fail(PS_USAGE, "--symmetric on: %s", why);
    if (wanted == SYMMETRIC_AUTO && !why) PS_TRY(stays_in_memory(run, p, &stays));
    p->symmetric = !why && (wanted == SYMMETRIC_ON || !stays);
    return PS_OK;
}

static ps_status choose_tiles(const ps_run *run, const march_options *options, problem *p)
{
    if (p->assembling)
        p->symmetric = p->assembling->symmetric;
    else if (p->upper.count == 0)
        PS_TRY(decide(run, options, p));
    if (!p->symmetric) return PS_OK;
    symmetric_close(&p->upper);
    return symmetric_open(&p->tiles, p->assembling ? p->assembling->plan.tiling.tile_rows : 0,
                          &p->upper);
}

ps_status plan_make(const ps_run *run, const march_options *options, problem *p, march_plan *m)
{
    int ordinals[TEAM_DEVICES];
    memset(m, 0, sizeof *m);
    PS_TRY(choose_tiles(run, options, p));
    PS_TRY(team_devices(run, p, ordinals, &m->devices));
    if (options->solver == SOLVER_CHOLESKY) m->devices = 0;
    measure(run, options, p, m);
    PS_TRY(count_near(options, p, m));
    add_tiles(m, p->assembling ? &p->assembling->plan.ledger : NULL);
    PS_TRY(ps_ledger_check(&m->ledger, m->budget,
                           p->assembling ? "a file of the matrix is streamed: "
                                           "penstock-slice-assemble --layout warp"
                                         : "a smaller --group takes less"));
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

static void print_memory(const ps_run *run, ps_report *report, const march_plan *m)
{
    ps_ledger_report(&m->ledger, run, report);
    ps_report_section(report, "placement");
    ps_report_flag(report, "tiles_fit_in_memory", m->fixed + m->tiles <= m->budget);
    if (m->far > 0)
        ps_report_flag(report, "all_fit_in_memory", m->fixed + m->tiles + m->far <= m->budget);
}

/* Partial sums of a group, added over ranks: on GPUs of all its steps at once, in the precision of
 * the matrix. */
static ps_status report_ranks(const ps_run *run, const march_options *options, const problem *p,
                              const march_plan *m, ps_report *report)
{
    const ps_slice_header *header = &p->tiles.header;
    int64_t item = m->devices > 0 ? ps_real_bytes(header->precision) : 8;
    ps_rank_traffic traffic = {.unit = "group of steps",
                               .ranks = run->ranks,
                               .sums = m->devices > 0 ? 1 : options->group,
                               .summed = header->unknowns * options->group * item};
    PS_SCOPED_MEMORY int64_t *bytes = NULL;
    if (run->ranks == 0) return PS_OK;
    PS_TRY(PS_ALLOC(&bytes, run->ranks, "the shares of the ranks"));
    PS_TRY(tiles_shares(&p->tiles, (int)run->ranks, bytes));
    for (int64_t r = 0; r < run->ranks; ++r) ps_rank_traffic_add(&traffic, 0, 0, (double)bytes[r]);
    ps_report_ranks(report, &traffic);
    return PS_OK;
}

ps_status plan_print(const ps_run *run, const march_options *options, problem *p,
                     const march_plan *m)
{
    const ps_slice_header *header = &p->tiles.header;
    int64_t sweeps = (p->steps + options->group - 1) / options->group;
    double far_sweeps = 0;
    double room = (double)(m->budget - m->fixed - m->far_least);
    const tiles *swept = problem_swept(p);
    double streamed = read_again(swept, m->tiles, room);
    double far_streamed = read_again(&p->far.tiles, m->far, room - (double)m->tiles);
    ps_report *report = ps_report_new(run);
    ps_report_section(report, "run");
    ps_report_text(report, "matrix", p->tiles.layout);
    ps_report_text(report, "formulation", ps_formulation_name(header->formulation));
    ps_report_int(report, "linings", p->linings.count);
    ps_report_int(report, "unknowns", header->unknowns);
    ps_report_int(report, "k_max", header->k_max);
    ps_report_int(report, "steps", p->steps);
    ps_report_int(report, "group", options->group);
    ps_report_int(report, "chunks", swept->count);
    ps_report_flag(report, "symmetric", p->symmetric);
    ps_report_int(report, "sweeps", sweeps);
    double stored = (double)header->nnz;
    for (int q = 0; q < p->linings.count; ++q)
        stored += (double)p->linings.each[q].tiles.header.nnz;
    ps_report_real(report, "operations", 2 * stored * (double)p->steps);
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
    ps_report_real(report, "time",
                   (compute > reading ? compute : reading) +
                       (p->assembling ? p->assembling->plan.seconds : 0));
    print_memory(run, report, m);
    ps_status status = team_plan(run, options, p, m, report);
    if (status == PS_OK) status = report_ranks(run, options, p, m, report);
    ps_report_print(&report);
    return status;
}
