/* room: what the phases of a run take, and how many particles a sorted run may have for it. */
#include <math.h>

#include "build.h"
#include "formats/store_memory.h"
#include "kernels/fmm/tree_lists.h"
#include "runtime/memory.h"
#include "runtime/sizes.h"

/* Estimates of cells are within 1 %; a few times that is no chance. */
static const double margin = 1.02;
/* What a run keeps that has looked at an output that is there, which --plan does not. */
enum { OUTPUT_SEEN = 3 << 20 };
/* Reading, sorting and writing, a particle. */
static const double seconds_a_particle = 4e-7;

int64_t group_for(const build *b, int64_t leaves)
{
    if (b->group > 0) return b->group;
    int64_t most = leaves / (GROUPS_A_THREAD * b->run->threads);
    return ps_smaller(ps_larger(most, GROUP_LEAST), GROUP);
}

void runs_plan(const build *b, int side, int64_t capacity, run_set *out)
{
    const ps_particle_header *h = ps_particles_header(b->files[side]);
    out->level = b->height - 1;
    out->columns = side == PS_OCTREE_SOURCES ? 3 + h->right_hand_sides : 3;
    out->record_words = 2 + out->columns;
    out->particles = h->count;
    out->capacity = ps_smaller(capacity, h->count);
    out->runs = (h->count + out->capacity - 1) / out->capacity;
}

static int sides_of(const build *b) { return b->files[1] ? 2 : 1; }

/* Cells of the levels of a side: as counted, or not more than there can be. */
static void find_cells(const build *b, int side, int64_t cells[PS_OCTREE_LEVELS_MAX])
{
    const tree_counts *counts = &b->counts[side];
    double particles = (double)ps_particles_header(b->files[side])->count;
    for (int l = 0; l < b->height; ++l) {
        double most = fmin(particles, ldexp(1, 3 * l));
        cells[l] =
            (int64_t)(counts->cells[l] > 0 ? fmin(most, ceil(margin * counts->cells[l])) : most);
    }
}

/* A side is sorted, and its tree made of its leaves. */
static void count_side(const build *b, int side, int64_t capacity, ps_ledger *ledger)
{
    static const char *const kept[] = {"sources", "targets"};
    run_set set = {.file = -1};
    int64_t cells[PS_OCTREE_LEVELS_MAX], threads = b->run->threads;
    find_cells(b, side, cells);
    runs_plan(b, side, capacity, &set);
    int64_t leaves = 16 * cells[b->height - 1]; /* twice while those of another run come */
    (void)runs_allocate(&set, ledger, kept[side]);
    ps_ledger_add(ledger, PS_ROOM_HOST, kept[side], /* what is open keeps what reading took */
                  threads * ps_store_reader_bytes(ps_particles_store(b->files[side])));
    if (set.runs > 1)
        ps_ledger_add(ledger, PS_ROOM_HOST, "sorting", leaves + threads * runs_writer_bytes(&set));
    ps_ledger_add(ledger, PS_ROOM_HOST, "leaves", leaves);
    ps_ledger_drop(ledger, "sorting");
    ps_ledger_add(ledger, PS_ROOM_HOST, "trees", ps_octree_bytes(b->height, cells));
    ps_ledger_drop(ledger, "leaves");
    int64_t row = 8 * (set.columns + 1) * set.particles;
    ps_ledger_add(ledger, PS_ROOM_DISK, "files", row);
    if (set.runs > 1) ps_ledger_add(ledger, PS_ROOM_DISK, "runs", row + 8 * set.particles);
}

/* Words of the lists of a level. A group is taken for a cube: half of the groups that are within
 * three cells of it, and half of the cells that touch it, are listed with it. */
static double list_words(int64_t cells, int64_t group)
{
    double own = (double)ps_smaller(cells, group), groups = ceil((double)cells / (double)group);
    double edge = cbrt(own), far = fmin(pow(2 + 6 / edge, 3), groups);
    double touching = fmin(pow(edge + 2, 3) - own, (double)cells - own);
    return groups * (8 + 0.5 * (far + touching));
}

static void count_lists(const build *b, ps_ledger *ledger)
{
    int64_t cells[PS_OCTREE_LEVELS_MAX], all = 0;
    find_cells(b, sides_of(b) - 1, cells);
    int64_t leaves = cells[b->height - 1], group = group_for(b, leaves),
            own = ps_smaller(leaves, group);
    for (int l = 0; l < b->height; ++l) all += (int64_t)list_words(cells[l], group);
    ps_ledger_add(ledger, PS_ROOM_HOST, "making lists",
                  8 * (b->run->threads * own * PS_TREE_FAR_MAX + all));
    ps_ledger_drop(ledger, "making lists");
    ps_ledger_add(ledger, PS_ROOM_HOST, "lists", 8 * all);
}

static void count_tiles(const build *b, int side, int64_t capacity, ps_ledger *ledger)
{
    run_set set = {.file = -1};
    runs_plan(b, side, capacity, &set);
    int64_t rows = ps_smaller(ps_octree_tile_room(set.particles), set.particles);
    int64_t threads = ps_smaller(b->run->threads, (set.particles + rows - 1) / rows);
    int64_t all = ps_smaller(threads * rows, set.particles); /* the last tile has fewer */
    ps_ledger_add(ledger, PS_ROOM_HOST, "writing",
                  8 * tile_words(&set, all) + threads * ps_store_writer_bytes(8 * rows));
    ps_ledger_drop(ledger, "writing");
}

/* Bytes at most with runs of so many particles. */
static int64_t count_all(const build *b, int64_t capacity, const ps_ledger *open, ps_ledger *out)
{
    *out = *open;
    for (int s = 0; s < sides_of(b); ++s) count_side(b, s, capacity, out);
    count_lists(b, out);
    for (int s = 0; s < sides_of(b); ++s) count_tiles(b, s, capacity, out);
    return out->most[PS_ROOM_HOST];
}

static int64_t most_particles(const build *b)
{
    int64_t sources = ps_particles_header(b->files[0])->count;
    return b->files[1] ? ps_larger(sources, ps_particles_header(b->files[1])->count) : sources;
}

static void tell(const build *b, const ps_ledger *ledger)
{
    ps_report *r = ps_report_new(b->run);
    ps_ledger of_run;
    run_set set = {.file = -1};
    runs_plan(b, PS_OCTREE_SOURCES, b->capacity, &set);
    ps_ledger_open_empty(&of_run);
    (void)runs_allocate(&set, &of_run, "run");
    ps_report_int(r, "particles", set.particles);
    ps_report_int(r, "height", b->height);
    ps_report_real(r, "width", b->box.width);
    ps_report_int(r, "runs", set.runs);
    ps_report_int(r, "memory_of_a_run", of_run.most[PS_ROOM_HOST]);
    ps_report_int(r, "temporary_disk", ps_ledger_most(ledger, "runs"));
    ps_ledger_report(ledger, b->run, r);
    ps_report_real(r, "time", 0.02 + seconds_a_particle * (double)set.particles);
    ps_report_print(&r);
}

/* The most particles of a run that `room` has room for; the least where it has none for them. */
static int64_t most_within(const build *b, const ps_ledger *open, int64_t room)
{
    ps_ledger ledger;
    int64_t low = RUN_LEAST, above = most_particles(b);
    if (above <= low || count_all(b, above, open, &ledger) <= room) return above;
    while (above - low > 1) {
        int64_t middle = low + (above - low) / 2;
        if (count_all(b, middle, open, &ledger) <= room)
            low = middle;
        else
            above = middle;
    }
    return low;
}

ps_status find_room(build *b)
{
    ps_ledger open, ledger;
    int sides = sides_of(b);
    ps_ledger_open(&open, b->run);
    b->capacity = most_particles(b);
    /* Where all fits whatever the tree is, its cells need not be counted beforehand. */
    if (!b->run->plan && count_all(b, b->capacity, &open, &ledger) <= b->run->host_memory / 4 * 3)
        return ps_ledger_check(&ledger, b->run->host_memory, NULL); /* the disk is left to ask */
    ps_memory_tight();
    for (int s = 0; s < sides; ++s)
        if (!(b->counts[s].cells[0] > 0))
            PS_TRY(count_cells(b->files[s], &b->box, b->height, &b->counts[s]));
    open.most[PS_ROOM_HOST] = ps_larger(open.most[PS_ROOM_HOST], ps_memory_peak());
    int64_t taken = open.now[PS_ROOM_HOST];
    b->capacity = most_within(b, &open, taken + ps_ledger_left(&open, b->run->host_memory));
    int64_t least = count_all(b, ps_smaller(RUN_LEAST, b->capacity), &open, &ledger);
    (void)count_all(b, b->capacity, &open, &ledger);
    ledger.least = least + (b->run->plan ? OUTPUT_SEEN : 0);
    if (b->run->plan) tell(b, &ledger);
    return ps_ledger_check(&ledger, b->run->host_memory, "a lower --height has fewer cells");
}
