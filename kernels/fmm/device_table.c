#include "kernels/fmm/device_table.h"

#include <string.h>

#include "kernels/common/reals.h"

/* Widths of which the device has a kernel. */
static const int widths[] = {3, 4, 6, 9, 12, 16, 19};
enum { WIDTHS = sizeof widths / sizeof *widths, CHUNK = 16 };

static int octets_of(int count) { return (count + 7) / 8; }

ps_fmm_device_shape ps_fmm_device_shape_of(const ps_fmm_device_table *table)
{
    int points = table->order * table->order * table->order;
    ps_fmm_device_shape s = {.octets = octets_of(table->size ? table->size : points),
                             .point_octets = octets_of(points)};
    int64_t at = 0;
    s.width = CHUNK;
    for (int w = WIDTHS - 1; w >= 0; --w)
        if (widths[w] >= s.octets) s.width = widths[w];
    s.chunks = (s.octets + s.width - 1) / s.width;
    /* With a single chunk coded vectors are read to its width, too: pieces beyond are 0. */
    if (s.chunks == 1) s.octets = s.width;
    s.unit_ranks = s.octets > PS_FMM_OCTETS_MAX / 2 ? PS_FMM_UNIT_RANKS / 2 : PS_FMM_UNIT_RANKS;
    for (int t = 0; t < PS_FMM_OFFSETS; ++t) {
        s.unit[t] = (int32_t)(at / 32);
        for (int rank = table->rank[t]; rank > 0; rank -= s.unit_ranks) {
            int ranks = rank < s.unit_ranks ? rank : s.unit_ranks;
            at += ps_fmm_unit_first(&s, ranks) + (int64_t)s.chunks * ps_fmm_unit_second(&s, ranks);
        }
    }
    s.encoder = at;
    if (table->size) at += (int64_t)s.width * s.chunks * s.point_octets * PS_FMM_PIECE;
    s.decoder = at;
    if (table->size) at += (int64_t)s.point_octets * s.width * s.chunks * PS_FMM_PIECE;
    s.zeros = at;
    s.size = at + (int64_t)(s.octets > table->length / 8 ? s.octets : table->length / 8) * 8;
    return s;
}

static ps_fmm_device_table table_of(const ps_fmm_m2l_table *from)
{
    ps_fmm_device_table table = {.order = from->order, .size = from->size, .length = from->length};
    memcpy(table.rank, from->rank, sizeof table.rank);
    return table;
}

int64_t ps_fmm_device_table_bytes(const ps_fmm_m2l_table *from)
{
    ps_fmm_device_table table = table_of(from);
    return ps_fmm_device_shape_of(&table).size * (int64_t)sizeof(double);
}

/* ---- packing ---- */

/* Of an operator as matrix [rows][columns], 0 outside. */
typedef struct matrix {
    const ps_fmm_m2l_table *table;
    const void *values;
    int64_t start, rows, columns, stride;
} matrix;

static double entry(const matrix *m, int64_t row, int64_t column)
{
    if (row >= m->rows || column >= m->columns) return 0;
    return ps_real_at(m->table->precision, m->values, m->start + row * m->stride + column);
}

/* The rank that stands at `place` of a tile. */
static int rank_at(int place) { return place / 2 + place % 2 * 4; }

/* One piece: k runs over columns from `column` on, n over rows from `row` on (transposed: k over
 * rows, n over columns); `ranked`: rows are ranks, in their places. */
static void put_piece(const matrix *m, int64_t row, int64_t column, bool transposed, bool ranked,
                      double *to)
{
    for (int lane = 0; lane < 32; ++lane)
        for (int e = 0; e < 2; ++e) {
            int k = 2 * (lane % 4) + e, n = lane / 4, r = transposed ? k : n;
            to[2 * lane + e] =
                entry(m, row + (ranked ? rank_at(r) : r), column + (transposed ? n : k));
        }
}

/* A unit of ranks [first, first + ranks) of one offset; returns where it ends. */
static double *put_unit(const ps_fmm_device_shape *s, const matrix *factor, const void *signs,
                        int64_t start, int first, int ranks, double *to)
{
    int tiles = (ranks + 7) / 8;
    for (int tile = 0; tile < tiles; ++tile)
        for (int j = 0; j < s->octets; ++j, to += PS_FMM_PIECE) {
            put_piece(factor, first + 8 * tile, 8 * j, false, true, to);
            for (int i = 0; i < PS_FMM_PIECE; ++i) {
                int rank = first + 8 * tile + rank_at(i / 8);
                if (rank < factor->rows)
                    to[i] *= ps_real_at(factor->table->precision, signs, start + rank);
            }
        }
    for (int chunk = 0; chunk < s->chunks; ++chunk)
        for (int tile = 0; tile < tiles; ++tile) {
            bool half = ranks - 8 * tile <= 4;
            for (int j = 0; j < s->width; ++j) {
                double piece[PS_FMM_PIECE];
                put_piece(factor, first + 8 * tile, 8 * (chunk * s->width + j), true, true, piece);
                for (int i = 0; i < PS_FMM_PIECE; i += half ? 2 : 1) *to++ = piece[i];
            }
        }
    return to;
}

static void put_offset(const ps_fmm_device_shape *s, const ps_fmm_m2l_table *table, int t,
                       double *block)
{
    int points = table->order * table->order * table->order;
    matrix factor = {table,
                     table->factors,
                     table->start[t] * table->length,
                     table->rank[t],
                     table->size ? table->size : points,
                     table->length};
    double *to = block + (int64_t)s->unit[t] * 32;
    for (int first = 0; first < table->rank[t]; first += s->unit_ranks) {
        int left = table->rank[t] - first;
        to = put_unit(s, &factor, table->signs, table->start[t], first,
                      left < s->unit_ranks ? left : s->unit_ranks, to);
    }
}

/* Encoder: points -> columns, [octets of columns][octets of points]; decoder: columns -> points,
 * [octets of points][octets of columns]. */
static void put_codes(const ps_fmm_device_shape *s, const ps_fmm_m2l_table *table, double *block)
{
    int points = table->order * table->order * table->order, all = s->width * s->chunks;
    matrix encoder = {table, table->encoder, 0, table->size, points, table->padded};
    matrix decoder = {table, table->decoder, 0, table->size, points, table->padded};
    for (int n = 0; n < all; ++n)
        for (int j = 0; j < s->point_octets; ++j)
            put_piece(&encoder, 8 * n, 8 * j, false, false,
                      block + s->encoder + ((int64_t)n * s->point_octets + j) * PS_FMM_PIECE);
    for (int n = 0; n < s->point_octets; ++n)
        for (int j = 0; j < all; ++j)
            put_piece(&decoder, 8 * j, 8 * n, true, false,
                      block + s->decoder + ((int64_t)n * all + j) * PS_FMM_PIECE);
}

ps_status ps_fmm_device_table_pack(const ps_fmm_m2l_table *table, void *host_block,
                                   ps_fmm_device_table *out)
{
    *out = table_of(table);
    if (octets_of(table->length) > PS_FMM_OCTETS_MAX)
        return ps_fail(PS_USAGE,
                       "coded vectors of %d numbers are too long for the device, which takes %d: "
                       "choose a lower order, or the common basis",
                       table->length, 8 * PS_FMM_OCTETS_MAX);
    if (!host_block) return PS_OK;
    ps_fmm_device_shape s = ps_fmm_device_shape_of(out);
    for (int t = 0; t < PS_FMM_OFFSETS; ++t) put_offset(&s, table, t, host_block);
    if (table->size) put_codes(&s, table, host_block);
    memset((double *)host_block + s.zeros, 0, (size_t)(s.size - s.zeros) * sizeof(double));
    return PS_OK;
}
