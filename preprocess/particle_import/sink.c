/* sink: particles one by one, checked, collected in blocks, written as chunks. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/store_memory.h"
#include "preprocess/particle_import/import.h"
#include "runtime/first_failure.h"
#include "runtime/memory.h"
#include "runtime/progress.h"
#include "runtime/scratch_file.h"

ps_status sink_start(sink *s, const import_options *options, const ps_store_identity *identity,
                     int file_charges)
{
    s->options = options;
    s->identity = identity;
    s->file_charges = file_charges;
    s->header.right_hand_sides = options->charges ? options->right_hand_sides : file_charges;
    s->header.moments = options->moments;
    if (s->header.right_hand_sides < 1)
        return ps_fail(PS_INVALID,
                       "%s: positions without charges; --charges unit gives every "
                       "particle the charge 1",
                       options->input);
    if (s->header.right_hand_sides > PS_RIGHT_HAND_SIDES_MAX)
        return ps_fail(PS_INVALID, "%s: %d charges a particle; up to %d are possible",
                       options->input, s->header.right_hand_sides, PS_RIGHT_HAND_SIDES_MAX);
    if (s->header.right_hand_sides % ps_moments_columns(options->moments) != 0)
        return ps_fail(PS_INVALID, "%s: %d columns behind x, y, z; --moments %s has %d a side",
                       options->input, s->header.right_hand_sides,
                       ps_moments_names[options->moments], ps_moments_columns(options->moments));
    s->columns = 3 + s->header.right_hand_sides;
    PS_TRY(ps_alloc_untouched((void **)&s->block[0], 8 * (int64_t)SINK_ROWS * s->columns,
                              "a block of particles"));
    for (int c = 1; c < s->columns; ++c) s->block[c] = s->block[c - 1] + SINK_ROWS;
    PS_TRY(coincidence_start(&s->places, options->output));
    return options->output ? ps_scratch_open(options->output, &s->spool) : PS_OK;
}

void sink_release(sink *s)
{
    free(s->block[0]);
    coincidence_release(&s->places);
    if (s->spool >= 0) close(s->spool);
    s->block[0] = NULL;
    s->spool = -1;
}

/* Blocks are of one size in the spool, full or not. */
static ps_status flush(sink *s)
{
    int64_t before = s->header.count - s->filled;
    const import_options *o = s->options;
    for (int q = 0; o->charges && q < s->header.right_hand_sides; ++q)
        ps_distribution_charges((ps_charges)(o->charges - 1), o->seed, q, before, s->filled,
                                s->block[3 + q]);
    PS_TRY(coincidence_add(&s->places, (const double *const *)s->block, s->filled));
    s->filled = 0;
    if (s->spool < 0) return PS_OK;
    int64_t bytes = 8 * (int64_t)SINK_ROWS * s->columns;
    return ps_scratch_write(s->spool, s->block[0], bytes, before / SINK_ROWS * bytes);
}

ps_status sink_add(sink *s, const double *row)
{
    int given = s->options->charges ? 3 : s->columns;
    for (int c = 0; c < given; ++c) {
        if (!isfinite(row[c]))
            return ps_fail(PS_INVALID, "%s %g is not finite",
                           c < 3 ? "the coordinate" : "the charge", row[c]);
        s->block[c][s->filled] = row[c];
    }
    ++s->header.count;
    return ++s->filled < SINK_ROWS ? PS_OK : flush(s);
}

static ps_status check_places(sink *s, int64_t *coincident)
{
    int64_t first = 0, second = 0;
    PS_TRY(
        coincidence_count(&s->places, s->options->run->host_memory, coincident, &first, &second));
    coincidence_release(&s->places);
    if (*coincident == 0 || s->options->keep_coincident) return PS_OK;
    return ps_fail(PS_INVALID,
                   "%s: %lld particles are at the place of another one, such as "
                   "particles %lld and %lld (counted from 1); --coincident keep takes "
                   "them",
                   s->options->input, (long long)*coincident, (long long)first + 1,
                   (long long)second + 1);
}

/* ---- chunks of the file ---- */

typedef struct chunk_writer {
    ps_particle_file *file;
    const sink *from; /* NULL: generated */
    const import_options *options;
    ps_distribution distribution;
    int columns;
} chunk_writer;

/* A chunk is one block or several. */
static ps_status fill_from_spool(const sink *s, int64_t chunk, int64_t rows, int64_t count,
                                 double *const *columns)
{
    int64_t block_bytes = 8 * (int64_t)SINK_ROWS * s->columns;
    for (int64_t at = 0; at < count; at += SINK_ROWS) {
        int64_t here = count - at < SINK_ROWS ? count - at : SINK_ROWS;
        int64_t block = (chunk * rows + at) / SINK_ROWS;
        for (int c = 0; c < s->columns; ++c)
            PS_TRY(ps_scratch_read(s->spool, columns[c] + at, 8 * here,
                                   block * block_bytes + 8 * (int64_t)SINK_ROWS * c));
    }
    return PS_OK;
}

static void generate(const chunk_writer *w, int64_t first, int64_t count, double *const *columns)
{
    const import_options *o = w->options;
    ps_distribution_positions(w->distribution, o->seed, first, count, columns);
    for (int c = 3; c < w->columns; ++c)
        ps_distribution_charges((ps_charges)(o->charges - 1), o->seed, c - 3, first, count,
                                columns[c]);
}

/* room: of a thread, for a chunk. */
static ps_status write_chunk(const chunk_writer *w, int64_t chunk, double *room)
{
    double *columns[PS_PARTICLE_COLUMNS_MAX];
    int64_t rows = ps_particles_chunk_rows(w->file);
    int64_t count = ps_particles_chunk_size(w->file, chunk);
    for (int c = 0; c < w->columns; ++c) columns[c] = room + c * rows;
    if (w->from)
        PS_TRY(fill_from_spool(w->from, chunk, rows, count, columns));
    else
        generate(w, chunk * rows, count, columns);
    return ps_particles_write_chunk(w->file, chunk, (const double *const *)columns);
}

static ps_status write_chunks(const chunk_writer *w)
{
    ps_failure failure = {0};
    int64_t chunks = ps_particles_chunk_count(w->file), done = 0;
    int64_t bytes = 8 * ps_particles_chunk_rows(w->file) * w->columns;
    ps_progress progress;
    ps_progress_start(&progress, "writing", "chunks", 0, chunks);
#pragma omp parallel
    {
        double *room;
        ps_note_failure(&failure,
                        ps_alloc_untouched((void **)&room, bytes, "a chunk of particles"));
#pragma omp for schedule(dynamic)
        for (int64_t c = 0; c < chunks; ++c) {
            if (ps_has_failed(&failure)) continue;
            ps_note_failure(&failure, write_chunk(w, c, room));
#pragma omp critical(particle_import_progress)
            ps_progress_update(&progress, ++done);
        }
        free(room);
    }
    ps_progress_end(&progress);
    return ps_first_failure(&failure);
}

static ps_status write_file(chunk_writer *w, const ps_store_identity *identity,
                            const ps_particle_header *header, int64_t coincident)
{
    PS_TRY(ps_particles_create(w->options->output, identity, header, &w->file));
    ps_status status = write_chunks(w);
    if (status == PS_OK && coincident >= 0)
        status = ps_store_put_int(ps_particles_store(w->file), "/", "coincident", coincident);
    if (status == PS_OK) return ps_particles_commit(&w->file);
    ps_particles_close(&w->file);
    return status;
}

/* Heaps of threads keep chunks that were freed: as many as three are held. */
ps_need write_need(const ps_run *run, int64_t count, int columns)
{
    int64_t rows = count >= 1 << 25 ? 1 << 19 : 1 << 17;
    int64_t chunks = (count + rows - 1) / rows, here = count < rows ? count : rows;
    int64_t threads = chunks < run->threads ? chunks : run->threads;
    return (ps_need){.arrays = threads * 8 * here * columns,
                     .writer = 8 * here,
                     .writers = threads,
                     .disk = 8 * columns * count,
                     .seconds = 1e-7 * (double)count / (double)threads};
}

/* Places are compared before anything is written, when writing holds nothing yet. */
static ps_status take(const sink *s)
{
    const ps_run *run = s->options->run;
    int64_t count = s->header.count, compare = coincidence_bytes(count, run->host_memory);
    ps_need need = write_need(run, count, s->columns);
    if (s->options->output) compare -= need.writers * ps_store_writer_bytes(need.writer);
    if (!s->options->output) need = (ps_need){.arrays = compare};
    if (compare > need.arrays) need.arrays = compare;
    return ps_plan_take(run, &need, NULL);
}

static void set_units(ps_particle_header *header, const import_options *o)
{
    strncpy(header->length_units, o->length_units, sizeof header->length_units - 1);
    strncpy(header->charge_units, o->charge_units, sizeof header->charge_units - 1);
}

ps_status sink_finish(sink *s, int64_t *coincident)
{
    *coincident = 0;
    if (s->filled > 0) PS_TRY(flush(s));
    if (s->header.count == 0)
        return ps_fail(PS_INVALID, "%s: there are no particles in it", s->options->input);
    PS_TRY(take(s));
    PS_TRY(check_places(s, coincident));
    if (!s->options->output) return PS_OK;
    set_units(&s->header, s->options);
    chunk_writer w = {.from = s, .options = s->options, .columns = s->columns};
    return write_file(&w, s->identity, &s->header, *coincident);
}

ps_status write_generated(const import_options *options, const ps_store_identity *identity,
                          ps_distribution distribution, int64_t count)
{
    ps_particle_header header = {
        .count = count, .right_hand_sides = options->right_hand_sides, .moments = options->moments};
    const ps_need need = write_need(options->run, count, 3 + options->right_hand_sides);
    PS_TRY(ps_plan_take(options->run, &need, NULL));
    set_units(&header, options);
    chunk_writer w = {
        .options = options, .distribution = distribution, .columns = 3 + options->right_hand_sides};
    return write_file(&w, identity, &header, -1);
}
