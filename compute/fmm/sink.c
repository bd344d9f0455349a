/*
 * Results in the caller's order. In memory: the values of a target side by side, as places are met
 * at random and a target then costs one line of the cache; columns are made chunk by chunk when
 * they are written. Otherwise records of a place and the values go to a scratch file, to where the
 * chunk of the output that they belong to has its room; at the end a chunk after the other is put
 * in order. Or results come as whole chunks of the output, in its order: then each is written as it
 * comes. What is written does not depend on which.
 */
#include <omp.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compute/fmm/fmm.h"
#include "kernels/common/counter_random.h"
#include "runtime/first_failure.h"
#include "runtime/memory.h"
#include "runtime/scope.h"
#include "runtime/scratch_file.h"

struct fmm_sink {
    int64_t targets, rows, chunks; /* rows: of a chunk of the output        */
    ps_fmm_sum sum;
    int values;              /* its rows                              */
    double *all;             /* [targets][values]; NULL: in the file  */
    ps_fmm_result *straight; /* borrowed: chunks go there as they come; NULL: they do not */
    int file;
    _Atomic int64_t *filled; /* [chunks] records that are in the file */
    _Atomic uint64_t marks;  /* sum of the marks of all places so far */
};

int64_t fmm_sink_bytes(int64_t targets, const ps_fmm_sum *sum)
{
    return 8 * ps_fmm_sum_rows(sum) * targets;
}

bool fmm_sink_in_memory(const fmm_sink *sink) { return sink->all != NULL; }

static ps_status make_sink(int64_t targets, const ps_fmm_sum *sum, fmm_sink **out)
{
    PS_TRY(PS_ALLOC(out, 1, "results"));
    fmm_sink *sink = *out;
    sink->targets = targets;
    sink->rows = ps_fmm_result_chunk_rows(targets);
    sink->chunks = (targets + sink->rows - 1) / sink->rows;
    sink->sum = *sum;
    sink->values = ps_fmm_sum_rows(sum);
    sink->file = -1;
    return PS_OK;
}

ps_status fmm_sink_open_straight(int64_t targets, const ps_fmm_sum *sum, ps_fmm_result *file,
                                 fmm_sink **out)
{
    PS_TRY(make_sink(targets, sum, out));
    (*out)->straight = file;
    return PS_OK;
}

ps_status fmm_sink_open(int64_t targets, const ps_fmm_sum *sum, int64_t budget, const char *beside,
                        fmm_sink **out)
{
    PS_TRY(make_sink(targets, sum, out));
    fmm_sink *sink = *out;
    if (fmm_sink_bytes(targets, sum) <= budget) {
        sink->all = ps_alloc_pages((size_t)fmm_sink_bytes(targets, sum));
        if (!sink->all) return ps_fail(PS_EXHAUSTED, "no memory for the results");
#pragma omp parallel for
        for (int64_t i = 0; i < sink->values * targets; i += 512) sink->all[i] = 0; /* its pages */
        return PS_OK;
    }
    PS_TRY(PS_ALLOC(&sink->filled, sink->chunks, "results"));
    return ps_scratch_open(beside, &sink->file);
}

void fmm_sink_close(fmm_sink **out)
{
    fmm_sink *sink = *out;
    if (!sink) return;
    PS_FREE(sink->all, (void *)sink->filled);
    if (sink->file >= 0) close(sink->file);
    free(sink);
    *out = NULL;
}

/* ---- putting ---- */

/* Appends the records of one chunk: order[] are numbers of targets in this call. */
static ps_status put_records(fmm_sink *sink, int64_t chunk, const int64_t *order, int64_t some,
                             const int64_t *places, const fmm_values *values)
{
    PS_SCOPED_MEMORY double *records = NULL;
    int64_t words = 1 + sink->values;
    PS_TRY(ps_alloc_untouched((void **)&records, 8 * words * some, "results"));
    for (int64_t i = 0; i < some; ++i) {
        memcpy(&records[i * words], &places[order[i]], 8);
        for (int v = 0; v < sink->values; ++v)
            records[i * words + 1 + v] = values->rows[v * values->stride + order[i]];
    }
    int64_t at = atomic_fetch_add(&sink->filled[chunk], some);
    return ps_scratch_write(sink->file, records, 8 * words * some,
                            8 * words * (chunk * sink->rows + at));
}

/* start[chunks + 1], next[chunks]: room. Sorts by chunk (stable), then writes each. */
static ps_status put_sorted(fmm_sink *sink, const int64_t *places, const fmm_values *values,
                            int64_t *start, int64_t *order)
{
    int64_t count = values->count;
    for (int64_t i = 0; i < count; ++i) ++start[places[i] / sink->rows + 1];
    for (int64_t c = 0; c < sink->chunks; ++c) start[c + 1] += start[c];
    for (int64_t i = 0; i < count; ++i) order[start[places[i] / sink->rows]++] = i;
    for (int64_t c = 0, begin = 0; c < sink->chunks; begin = start[c++])
        if (start[c] > begin)
            PS_TRY(put_records(sink, c, order + begin, start[c] - begin, places, values));
    return PS_OK;
}

enum { AHEAD = 32 /* lines of so many places are on their way */ };

void fmm_sink_expect(const fmm_sink *sink, const int64_t *places, int64_t count)
{
    for (int64_t i = 0; sink->all && i < AHEAD && i < count; ++i)
        __builtin_prefetch(sink->all + places[i] * sink->values, 1);
}

/* Of one right-hand side: four numbers a place. */
static void put_fours(double *all, const int64_t *places, const fmm_values *values)
{
    const double *v = values->rows;
    int64_t n = values->stride, count = values->count;
    for (int64_t i = 0; i < count; ++i) {
        double *to = all + 4 * places[i];
        if (i + AHEAD < count) __builtin_prefetch(all + 4 * places[i + AHEAD], 1);
        to[0] = v[i];
        to[1] = v[n + i];
        to[2] = v[2 * n + i];
        to[3] = v[3 * n + i];
    }
}

static void put_in_memory(fmm_sink *sink, const int64_t *places, const fmm_values *values)
{
    int64_t some = sink->values, count = values->count;
    for (int64_t i = 0; i < count; ++i) {
        int64_t soon = i + AHEAD < count ? i + AHEAD : i;
        __builtin_prefetch(sink->all + places[soon] * some, 1);
        for (int64_t v = 0; v < some; ++v)
            sink->all[places[i] * some + v] = values->rows[v * values->stride + i];
    }
}

static int64_t rows_of(const fmm_sink *sink, int64_t chunk)
{
    int64_t left = sink->targets - chunk * sink->rows;
    return left < sink->rows ? left : sink->rows;
}

static ps_status put_straight(fmm_sink *sink, const int64_t *places, const fmm_values *values)
{
    int64_t count = values->count, chunk = places[0] / sink->rows;
    if (places[0] != chunk * sink->rows || count != rows_of(sink, chunk) ||
        places[count - 1] != places[0] + count - 1)
        return ps_fail(PS_FAILED, "results of targets %lld to %lld are no chunk of the output",
                       (long long)places[0], (long long)places[count - 1]);
    return ps_fmm_result_write(sink->straight, chunk, values->rows, values->stride);
}

/* A number for a place: the sum over all is that of 0 .. targets - 1 if every place was met once,
 * and else with probability 2^-64. */
static uint64_t mark_of(int64_t place)
{
    return ps_counter_mix((uint64_t)place + 0x9e3779b97f4a7c15u);
}

ps_status fmm_sink_check(const fmm_sink *sink)
{
    uint64_t marks = 0;
#pragma omp parallel for reduction(+ : marks)
    for (int64_t i = 0; i < sink->targets; ++i) marks += mark_of(i);
    if (marks == sink->marks) return PS_OK;
    return ps_fail(PS_INVALID,
                   "the octree's permutation does not name each of the %lld targets once: "
                   "the file is damaged; build the octree again",
                   (long long)sink->targets);
}

ps_status fmm_sink_put(fmm_sink *sink, const int64_t *places, const fmm_values *values)
{
    uint64_t marks = 0;
    for (int64_t i = 0; i < values->count; ++i) marks += mark_of(places[i]);
    atomic_fetch_add(&sink->marks, marks);
    if (sink->straight) return put_straight(sink, places, values);
    if (sink->all) {
        if (sink->values == 4)
            put_fours(sink->all, places, values);
        else
            put_in_memory(sink, places, values);
        return PS_OK;
    }
    PS_SCOPED_MEMORY int64_t *order = NULL;
    PS_SCOPED_MEMORY int64_t *start = NULL;
    PS_TRY(PS_ALLOC(&start, sink->chunks + 1, "results"));
    PS_TRY(PS_ALLOC(&order, values->count, "results"));
    return put_sorted(sink, places, values, start, order);
}

/* ---- writing ---- */

/* Records of a chunk into order: values[values][rows]. */
static void arrange(const fmm_sink *sink, int64_t chunk, const double *records, double *values)
{
    int64_t rows = rows_of(sink, chunk), words = 1 + sink->values;
    for (int64_t i = 0; i < rows; ++i) {
        int64_t place;
        memcpy(&place, &records[i * words], 8);
        for (int v = 0; v < sink->values; ++v)
            values[v * rows + place - chunk * sink->rows] = records[i * words + 1 + v];
    }
}

static int64_t chunk_rows(int64_t targets)
{
    int64_t rows = ps_fmm_result_chunk_rows(targets);
    return rows < targets ? rows : targets;
}

/* Numbers of a chunk in order, and of records that are read. */
static int64_t writer_words(int values, fmm_sink_way way)
{
    return way == FMM_SINK_STRAIGHT ? 0 : way == FMM_SINK_MEMORY ? values : 1 + 2 * values;
}

static int64_t chunks_of(int64_t targets)
{
    int64_t rows = chunk_rows(targets);
    return rows ? (targets + rows - 1) / rows : 1;
}

/* Of a chunk that has so many targets. */
static int64_t chunk_bytes(int64_t targets, const ps_fmm_sum *sum, fmm_sink_way way, int64_t some)
{
    const ps_fmm_result_header header = {.components = ps_fmm_sum_components(sum),
                                         .hessian = sum->derivatives > 1};
    return 8 * some * writer_words(ps_fmm_sum_rows(sum), way) +
           ps_fmm_result_write_bytes(&header, chunk_rows(targets), some);
}

int64_t fmm_sink_writer_bytes(int64_t targets, const ps_fmm_sum *sum, fmm_sink_way way)
{
    return chunk_bytes(targets, sum, way, chunk_rows(targets));
}

int64_t fmm_sink_writing_bytes(int64_t targets, const ps_fmm_sum *sum, fmm_sink_way way,
                               int64_t writers)
{
    int64_t rows = chunk_rows(targets), chunks = chunks_of(targets),
            last = writers < chunks ? rows : targets - (chunks - 1) * rows;
    if (writers == 0) return 0;
    return (writers - 1) * fmm_sink_writer_bytes(targets, sum, way) +
           chunk_bytes(targets, sum, way, last);
}

int fmm_sink_writers(int64_t targets, const ps_fmm_sum *sum, fmm_sink_way way, int64_t memory)
{
    int64_t chunks = chunks_of(targets);
    int64_t writers = memory / fmm_sink_writer_bytes(targets, sum, way);
    if (writers > omp_get_max_threads()) writers = omp_get_max_threads();
    if (writers > chunks) writers = chunks;
    return writers > 1 ? (int)writers : 1;
}

ps_status fmm_sink_read(const fmm_sink *sink, int64_t chunk, double *records, double *values)
{
    int64_t rows = rows_of(sink, chunk), words = 1 + sink->values;
    if (sink->filled[chunk] != rows)
        return ps_fail(PS_FAILED, "results of %lld targets are missing",
                       (long long)(rows - sink->filled[chunk]));
    PS_TRY(ps_scratch_read(sink->file, records, 8 * words * rows, 8 * words * chunk * sink->rows));
    arrange(sink, chunk, records, values);
    return PS_OK;
}

static ps_status write_from_file(fmm_sink *sink, int64_t chunk, ps_fmm_result *file)
{
    int64_t rows = rows_of(sink, chunk);
    PS_SCOPED_MEMORY double *records = NULL;
    PS_TRY(ps_alloc_untouched((void **)&records,
                              8 * rows * writer_words(sink->values, FMM_SINK_FILE), "results"));
    double *values = records + rows * (1 + sink->values);
    PS_TRY(fmm_sink_read(sink, chunk, records, values));
    return ps_fmm_result_write(file, chunk, values, rows);
}

static ps_status write_from_memory(fmm_sink *sink, int64_t chunk, ps_fmm_result *file)
{
    int64_t rows = rows_of(sink, chunk);
    const double *all = sink->all + chunk * sink->rows * sink->values;
    PS_SCOPED_MEMORY double *values = NULL;
    PS_TRY(ps_alloc_untouched((void **)&values, 8 * rows * sink->values, "results"));
    for (int64_t i = 0; i < rows; ++i)
        for (int v = 0; v < sink->values; ++v) values[v * rows + i] = all[i * sink->values + v];
    return ps_fmm_result_write(file, chunk, values, rows);
}

ps_status fmm_sink_write(fmm_sink *sink, int64_t memory, ps_fmm_result *file)
{
    ps_failure failure = {0};
    if (sink->straight) return PS_OK;
    int threads = fmm_sink_writers(sink->targets, &sink->sum,
                                   sink->all ? FMM_SINK_MEMORY : FMM_SINK_FILE, memory);
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
    for (int64_t c = 0; c < sink->chunks; ++c) {
        if (ps_has_failed(&failure)) continue;
        ps_note_failure(&failure, sink->all ? write_from_memory(sink, c, file)
                                            : write_from_file(sink, c, file));
    }
    return ps_first_failure(&failure);
}
