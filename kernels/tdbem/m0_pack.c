#include "kernels/tdbem/m0_pack.h"

#include <string.h>

#include "runtime/sizes.h"

enum { ROWS = PS_M0_ROWS };

static int64_t warp_count(int64_t rows) { return (rows + ROWS - 1) / ROWS; }

static int64_t warp_end(const ps_csr *m0, int64_t warp)
{
    return (warp + 1) * ROWS < m0->rows ? (warp + 1) * ROWS : m0->rows;
}

/* Numbers the columns of a warp in the order in which they come: slot[column], -1 elsewhere;
 * halo: the list, or NULL. Returns their number. */
static int64_t number_columns(const ps_csr *m0, int64_t warp, int32_t *slot, int32_t *halo)
{
    int64_t count = 0;
    int64_t first = m0->row_start[warp * ROWS], end = m0->row_start[warp_end(m0, warp)];
    for (int64_t e = first; e < end; ++e) {
        int32_t column = m0->columns[e];
        if (slot[column] >= 0) continue;
        slot[column] = (int32_t)count;
        if (halo) halo[count] = column;
        ++count;
    }
    return count;
}

static void forget_columns(const ps_csr *m0, int64_t warp, int32_t *slot)
{
    int64_t first = m0->row_start[warp * ROWS], end = m0->row_start[warp_end(m0, warp)];
    for (int64_t e = first; e < end; ++e) slot[m0->columns[e]] = -1;
}

/* Of a warp's rows, in whole pieces. */
static int64_t longest_row(const ps_csr *m0, int64_t warp)
{
    int64_t longest = 0;
    for (int64_t i = warp * ROWS; i < warp_end(m0, warp); ++i) {
        int64_t length = m0->row_start[i + 1] - m0->row_start[i];
        longest = length > longest ? length : longest;
    }
    return (longest + PS_M0_PIECE - 1) / PS_M0_PIECE * PS_M0_PIECE;
}

ps_status ps_packed_m0_measure(const ps_csr *m0, int32_t *scratch, ps_packed_m0 *out)
{
    *out = (ps_packed_m0){.rows = m0->rows};
    for (int64_t i = 0; i < m0->rows; ++i) scratch[i] = -1;
    for (int64_t w = 0; w < warp_count(m0->rows); ++w) {
        int64_t halo = number_columns(m0, w, scratch, NULL), values = longest_row(m0, w);
        forget_columns(m0, w, scratch);
        out->halo_count += halo;
        out->value_count += values;
        if (halo > out->halo_most) out->halo_most = halo;
        if (values > out->value_most) out->value_most = values;
    }
    if (out->halo_count > INT32_MAX || out->value_count > INT32_MAX || out->halo_most > UINT16_MAX)
        return ps_fail(PS_USAGE, "M^0 with %lld rows and %lld entries is more than a device takes",
                       (long long)m0->rows, (long long)m0->nnz);
    return PS_OK;
}

int64_t ps_packed_m0_attach(ps_packed_m0 *p, void *memory)
{
    int64_t used = 0, starts = (warp_count(p->rows) + 1) * (int64_t)sizeof(int32_t);
    p->halo_start = ps_host_part(memory, &used, starts);
    p->value_start = ps_host_part(memory, &used, starts);
    p->halo = ps_host_part(memory, &used, p->halo_count * (int64_t)sizeof *p->halo);
    p->places = ps_host_part(memory, &used, p->value_count * ROWS * (int64_t)sizeof *p->places);
    p->values = ps_host_part(memory, &used, p->value_count * ROWS * (int64_t)sizeof *p->values);
    return used;
}

int64_t ps_packed_m0_bytes(const ps_packed_m0 *packed)
{
    ps_packed_m0 copy = *packed;
    return ps_packed_m0_attach(&copy, NULL);
}

void ps_packed_m0_fill(const ps_csr *m0, int32_t *scratch, ps_packed_m0 *p)
{
    int64_t halo = 0, value = 0, warps = warp_count(m0->rows);
    memset(p->places, 0, (size_t)(p->value_count * ROWS) * sizeof *p->places);
    memset(p->values, 0, (size_t)(p->value_count * ROWS) * sizeof *p->values);
    for (int64_t i = 0; i < m0->rows; ++i) scratch[i] = -1;
    for (int64_t w = 0; w < warps; ++w) {
        p->halo_start[w] = (int32_t)halo;
        p->value_start[w] = (int32_t)value;
        halo += number_columns(m0, w, scratch, p->halo + halo);
        for (int64_t i = w * ROWS; i < warp_end(m0, w); ++i)
            for (int64_t e = m0->row_start[i]; e < m0->row_start[i + 1]; ++e) {
                int64_t at = (value + e - m0->row_start[i]) * ROWS + i % ROWS;
                p->places[at] = (uint16_t)scratch[m0->columns[e]];
                p->values[at] = m0->values[e];
            }
        value += longest_row(m0, w);
        forget_columns(m0, w, scratch);
    }
    p->halo_start[warps] = (int32_t)halo;
    p->value_start[warps] = (int32_t)value;
}
