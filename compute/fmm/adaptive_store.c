#include "compute/fmm/adaptive_store.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernels/common/reals.h"
#include "runtime/first_failure.h"
#include "runtime/memory.h"
#include "runtime/scope.h"
#include "runtime/scratch_file.h"
#include "runtime/sizes.h"

enum { PIECE = 4096, /* records at a time */ CELLS = 64 /* likewise, of multipoles */ };

ps_status fmm_store_open(const fmm_run *r, fmm_store *s)
{
    *s = (fmm_store){.particles = -1, .multipoles = -1};
    s->columns = 3 + r->problem.fmm.sides;
    s->count = r->problem.header->count[0];
    PS_TRY(ps_scratch_open(r->run->output, &s->particles));
    return ps_scratch_open(r->run->output, &s->multipoles);
}

void fmm_store_close(fmm_store *s)
{
    int files[] = {s->particles, s->multipoles};
    for (int i = 0; i < 2; ++i)
        if (files[i] >= 0) close(files[i]);
    fmm_sink_close(&s->found);
    *s = (fmm_store){.particles = -1, .multipoles = -1};
}

int64_t fmm_store_record(const fmm_store *s) { return 8 * (s->columns + 1); }

/* ---- particles ---- */

ps_status fmm_store_put(fmm_store *s, int64_t first, int64_t count, const double *records)
{
    int64_t bytes = fmm_store_record(s);
    s->written += count * bytes;
    return ps_scratch_write(s->particles, records, count * bytes, first * bytes);
}

ps_status fmm_store_get(fmm_store *s, int64_t first, int64_t count, double *records)
{
    int64_t bytes = fmm_store_record(s);
    s->read += count * bytes;
    return ps_scratch_read(s->particles, records, count * bytes, first * bytes);
}

ps_status fmm_store_places(fmm_store *s, int64_t first, int64_t count, int64_t *places)
{
    int words = s->columns + 1;
    PS_SCOPED_MEMORY double *records = NULL;
    PS_TRY(ps_alloc_untouched((void **)&records, PIECE * fmm_store_record(s), "particles"));
    for (int64_t at = 0; at < count; at += PIECE) {
        int64_t some = ps_smaller(count - at, PIECE);
        PS_TRY(fmm_store_get(s, first + at, some, records));
        for (int64_t i = 0; i < some; ++i)
            memcpy(&places[at + i], &records[i * words + s->columns], sizeof *places);
    }
    return PS_OK;
}

/* Particles [first, first + count) of the whole, PIECE at most, to place `to` of rows of n. */
static ps_status gather_piece(fmm_store *s, int64_t first, int64_t count, double *records,
                              double *columns, int64_t n, int64_t to)
{
    int words = s->columns + 1;
    PS_TRY(fmm_store_get(s, first, count, records));
    for (int c = 0; c < s->columns; ++c)
        for (int64_t i = 0; i < count; ++i) columns[c * n + to + i] = records[i * words + c];
    return PS_OK;
}

static ps_status gather_run(fmm_store *s, const ps_essential *e, int64_t run, double *records,
                            double *columns)
{
    int64_t n = ps_essential_particles(e), size = ps_adaptive_size(e->runs[run]);
    for (int64_t at = 0; at < size; at += PIECE)
        PS_TRY(gather_piece(s, e->runs[run].begin + at, ps_smaller(size - at, PIECE), records,
                            columns, n, e->at[run] + at));
    for (int c = 0; c < s->columns && run + 1 < e->run_count; ++c)
        columns[c * n + e->at[run] + size] = 0;
    return PS_OK;
}

ps_status fmm_store_gather(fmm_store *s, const ps_essential *e, double *columns)
{
    ps_failure failure = {0};
#pragma omp parallel
    {
        double *records = NULL;
        ps_note_failure(&failure, ps_alloc_untouched((void **)&records, PIECE * fmm_store_record(s),
                                                     "particles"));
#pragma omp for schedule(dynamic, 1)
        for (int64_t run = 0; run < e->run_count; ++run)
            if (!ps_has_failed(&failure))
                ps_note_failure(&failure, gather_run(s, e, run, records, columns));
        free(records);
    }
    return ps_first_failure(&failure);
}

/* ---- multipoles ---- */

static int64_t vector_bytes(const ps_adaptive_problem *p)
{
    return p->interpolation.points * ps_real_bytes(p->far);
}

int64_t fmm_store_thread_bytes(const fmm_store *s, const ps_adaptive_problem *p)
{
    return ps_larger(PIECE * fmm_store_record(s), CELLS * p->sides * vector_bytes(p));
}

/* Cells [first, end) of the tree that are wanted and follow each other in the whole, too. */
static int64_t stretch_end(const ps_essential *e, int64_t first, bool given)
{
    int64_t end = first + 1;
    while (end < e->tree.cells && end - first < CELLS && (e->given[end] != 0) == given &&
           e->whole[end] == e->whole[first] + (end - first))
        ++end;
    return end;
}

typedef struct move {
    fmm_store *store;
    const ps_essential *essential;
    const ps_adaptive_problem *problem;
    char *vectors;
    bool given;
} move;

/* Between records of cells, side by side, and vectors [sides][cells of the tree]. */
static ps_status move_cells(const move *m, int64_t first, int64_t end, char *records)
{
    int64_t size = vector_bytes(m->problem), sides = m->problem->sides, count = end - first;
    int64_t all = m->essential->tree.cells, bytes = count * sides * size,
            at = m->essential->whole[first] * sides * size;
    _Atomic int64_t *sum = m->given ? &m->store->read : &m->store->written;
    *sum += bytes;
    if (m->given) PS_TRY(ps_scratch_read(m->store->multipoles, records, bytes, at));
    for (int64_t i = 0; i < count; ++i)
        for (int64_t side = 0; side < sides; ++side) {
            char *here = m->vectors + (side * all + first + i) * size,
                 *there = records + (i * sides + side) * size;
            memcpy(m->given ? here : there, m->given ? there : here, (size_t)size);
        }
    return m->given ? PS_OK : ps_scratch_write(m->store->multipoles, records, bytes, at);
}

static ps_status move_all(const move *m)
{
    enum { PART = 1024 }; /* cells of the tree that a thread looks at */
    int64_t cells = m->essential->tree.cells;
    int64_t bytes = CELLS * m->problem->sides * vector_bytes(m->problem);
    ps_failure failure = {0};
#pragma omp parallel
    {
        char *records = NULL;
        ps_note_failure(&failure, ps_alloc_untouched((void **)&records, bytes, "multipoles"));
#pragma omp for schedule(dynamic, 1)
        for (int64_t part = 0; part < cells; part += PART) {
            int64_t last = ps_smaller(part + PART, cells), next;
            for (int64_t c = part; c < last && !ps_has_failed(&failure); c = next) {
                next = ps_smaller(stretch_end(m->essential, c, m->given), last);
                if ((m->essential->given[c] != 0) == m->given)
                    ps_note_failure(&failure, move_cells(m, c, next, records));
                else
                    next = c + 1;
            }
        }
        free(records);
    }
    return ps_first_failure(&failure);
}

ps_status fmm_store_take(fmm_store *s, const ps_essential *e, const ps_adaptive_problem *p,
                         char *vectors)
{
    const move m = {s, e, p, vectors, true};
    memset(vectors, 0, (size_t)(p->sides * e->tree.cells * vector_bytes(p)));
    return move_all(&m);
}

ps_status fmm_store_keep(fmm_store *s, const ps_essential *e, const ps_adaptive_problem *p,
                         const char *vectors)
{
    const move m = {s, e, p, (char *)vectors, false};
    return move_all(&m);
}
