#include "kernels/tdbem/slice_product.h"

#include <omp.h>
#ifdef __SSE2__
#include <emmintrin.h>

#include "kernels/common/reals.h"
#endif

PS_ISA_SELECT(struct ps_slice_product_functions, ps_slice_product)
PS_ISA_SELECT(struct ps_slice_product_functions, ps_slice_transposed)

/* Row-vectors are taken some columns at a time, so that a few more than there are are read. */
enum { COLUMN_SLACK = 16, LANES_MAX = 16 };

int64_t ps_product_past_before(int64_t k_max, int64_t columns)
{
    return k_max + columns + COLUMN_SLACK;
}

int64_t ps_product_past_after(int64_t group)
{
    return (group + LANES_MAX - 1) / LANES_MAX * LANES_MAX + 2 * LANES_MAX;
}

void ps_slice_product_set_slices(ps_slice_product *product, const ps_slice_tile *tile)
{
    product->layout = PS_TILE_SLICES;
    product->slices = tile;
    product->blocks = NULL;
    product->block_rows = product->block_columns = 0;
}

void ps_slice_product_set_blocks(ps_slice_product *product, const ps_block_header *header,
                                 const ps_block_tile *tile)
{
    static const ps_tile_layout layouts[] = {PS_TILE_FULL, PS_TILE_CONTIGUOUS, PS_TILE_WARP};
    product->layout = layouts[header->layout];
    product->slices = NULL;
    product->blocks = tile;
    product->block_rows = header->block_rows;
    product->block_columns = header->block_columns;
}

ps_slice_product_fn ps_slice_product_function(ps_backend backend, ps_precision precision)
{
    if (backend != PS_BACKEND_CPU || (unsigned)precision >= PS_PRECISION_COUNT) return NULL;
    return ps_slice_product_select()->precision[precision];
}

int64_t ps_slice_product_rows(const ps_slice_product *product)
{
    return product->layout == PS_TILE_SLICES ? product->slices->rows : product->blocks->rows;
}

/* ---- splitting rows by equal data ---- */

/* Values in unit u of the tile: 64 rows of slices, a warp, or 32 rows of equal weight. */
static int64_t unit_rows(const ps_slice_product *p)
{
    return p->layout == PS_TILE_SLICES ? PS_TILE_ROW_BLOCK : PS_WARP_ROWS;
}

static int64_t slice_unit(const ps_slice_tile *tile, int64_t unit)
{
    int64_t blocks = ps_slice_tile_row_blocks(tile), all = tile->slices * blocks, sum = 0;
    for (int64_t at = unit; at < all; at += blocks)
        sum +=
            (at + 1 < all ? (int64_t)tile->offsets[at + 1] : tile->value_count) - tile->offsets[at];
    return sum;
}

static int64_t warp_unit(const ps_block_tile *tile, int64_t unit)
{
    int64_t sum = 0;
    for (int64_t s = 0; s < tile->slices; ++s) sum += tile->widths[unit * tile->slices + s];
    return sum;
}

static int64_t unit_data(const ps_slice_product *p, int64_t unit)
{
    switch (p->layout) {
    case PS_TILE_SLICES:
        return slice_unit(p->slices, unit);
    case PS_TILE_WARP:
        return warp_unit(p->blocks, unit);
    default:
        return 1;
    }
}

int64_t ps_slice_product_split(const ps_slice_product *p, int parts, int part)
{
    int64_t rows = ps_slice_product_rows(p), size = unit_rows(p);
    int64_t units = (rows + size - 1) / size, total = 0, before = 0;
    if (part >= parts) return rows;
    if (part <= 0) return 0;
    for (int64_t u = 0; u < units; ++u) total += unit_data(p, u);
    for (int64_t u = 0; u < units; ++u) {
        int64_t middle = 2 * before + unit_data(p, u); /* twice the middle of the unit */
        if (middle * parts >= 2 * total * part) return u * size;
        before += unit_data(p, u);
    }
    return rows;
}

/* ---- the threaded drive ---- */

/* Before a pulse arrives its tail is below the smallest normal number, on which x86 takes a hundred
 * times longer; such numbers count as zero. Returns the former mode of this thread. */
static unsigned flush_subnormals(void)
{
#ifdef __SSE2__
    unsigned mode = _mm_getcsr();
    _mm_setcsr(mode | 0x8040); /* flush to zero, denormals are zero */
    return mode;
#else
    return 0;
#endif
}

static void restore_mode(unsigned mode)
{
#ifdef __SSE2__
    _mm_setcsr(mode);
#endif
}

static ps_status check(const ps_slice_product *p)
{
    if (p->group < 1 || p->group > PS_GROUP_MAX)
        return ps_fail(PS_USAGE, "groups of %lld steps: 1 to %d are supported", (long long)p->group,
                       PS_GROUP_MAX);
    if (p->sums_stride < p->group || p->past_stride < p->past_origin + p->group)
        return ps_fail(PS_USAGE, "sums or past are too narrow for groups of %lld steps",
                       (long long)p->group);
    bool slices = p->layout == PS_TILE_SLICES;
    if (!p->past || !p->sums || (slices ? !p->slices || !p->slices->offsets : !p->blocks))
        return ps_fail(PS_USAGE, "a product without past, sums, tile or the tile's offsets");
    if (p->both && (p->layout != PS_TILE_WARP || p->blocks->first_row == p->blocks->first_slice))
        return ps_fail(PS_USAGE, "only warps off the diagonal stand for their mirror image");
    return PS_OK;
}

ps_status ps_slice_product_tile(const ps_slice_product *p, ps_precision precision, int threads)
{
    PS_TRY(check(p));
    ps_slice_product_fn add = ps_slice_product_function(PS_BACKEND_CPU, precision);
    if (!add) return ps_fail(PS_USAGE, "slice products are not supported in this precision here");
    if (threads < 1) threads = omp_get_max_threads();
#pragma omp parallel num_threads(threads)
    {
        int parts = omp_get_num_threads(), part = omp_get_thread_num();
        int64_t begin = ps_slice_product_split(p, parts, part);
        int64_t end = ps_slice_product_split(p, parts, part + 1);
        unsigned mode = flush_subnormals();
        if (begin < end) add(p, begin, end);
        if (p->both)
            ps_slice_transposed_select()->precision[precision](
                p, p->blocks->slices * part / parts, p->blocks->slices * (part + 1) / parts);
        restore_mode(mode);
    }
    return PS_OK;
}

static int64_t first_row(const ps_slice_product *p)
{
    return p->layout == PS_TILE_SLICES ? p->slices->first_row : p->blocks->first_row;
}

/* The sums of [begin, end), as far as the `count` of the tile from `first` on are among them, for
 * all steps of the group. */
static void add_range(const ps_slice_product *p, ps_slice_product_fn add, size_t item,
                      int64_t first, int64_t count, int64_t begin, int64_t end)
{
    begin = begin > first ? begin - first : 0;
    end = end - first < count ? end - first : count;
    if (begin >= end) return;
    for (int64_t g0 = 0; g0 < p->group; g0 += PS_GROUP_MAX) {
        ps_slice_product some = *p;
        some.group = p->group - g0 < PS_GROUP_MAX ? p->group - g0 : PS_GROUP_MAX;
        some.past_origin += g0;
        some.sums = (char *)p->sums + (size_t)g0 * item;
        add(&some, begin, end);
    }
}

static void add_rows(const ps_slice_product *p, ps_precision precision, int64_t begin, int64_t end)
{
    size_t item = (size_t)ps_real_bytes(precision);
    add_range(p, ps_slice_product_function(PS_BACKEND_CPU, precision), item, first_row(p),
              ps_slice_product_rows(p), begin, end);
    if (p->both)
        add_range(p, ps_slice_transposed_select()->precision[precision], item,
                  p->blocks->first_slice, p->blocks->slices, begin, end);
}

ps_status ps_slice_product_tiles(const ps_slice_product *products, int64_t count,
                                 ps_precision precision, const int64_t *bounds, int parts)
{
    if (!ps_slice_product_function(PS_BACKEND_CPU, precision))
        return ps_fail(PS_USAGE, "slice products are not supported in this precision here");
    for (int64_t t = 0; t < count; ++t) {
        ps_slice_product one = products[t];
        if (one.group > PS_GROUP_MAX) one.group = PS_GROUP_MAX;
        PS_TRY(check(&one));
    }
#pragma omp parallel num_threads(parts)
    {
        unsigned mode = flush_subnormals();
        for (int part = omp_get_thread_num(); part < parts; part += omp_get_num_threads())
            for (int64_t t = 0; t < count; ++t)
                add_rows(&products[t], precision, bounds[part], bounds[part + 1]);
        restore_mode(mode);
    }
    return PS_OK;
}
