#include "kernels/fmm/m2l.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/common/reals.h"
#include "runtime/sizes.h"

PS_ISA_SELECT(struct ps_fmm_m2l_functions, ps_fmm_m2l_single)
PS_ISA_SELECT(struct ps_fmm_m2l_functions, ps_fmm_m2l_double)

const struct ps_fmm_m2l_functions *ps_fmm_m2l_functions_of(ps_backend backend,
                                                           ps_precision precision)
{
    if (backend != PS_BACKEND_CPU) return NULL;
    return precision == PS_SINGLE ? ps_fmm_m2l_single_select() : ps_fmm_m2l_double_select();
}

/* To whole vectors of 64 bytes. */
static int32_t padded(int32_t count, ps_precision precision)
{
    return (int32_t)ps_round_up(count, PS_LINE / ps_real_bytes(precision));
}

static void shape(ps_fmm_m2l_table *table, int32_t order, int32_t size, ps_precision precision)
{
    int32_t points = order * order * order;
    *table = (ps_fmm_m2l_table){.precision = precision,
                                .order = order,
                                .size = size,
                                .length = padded(size ? size : points, precision),
                                .padded = padded(points, precision)};
}

static void add_offset(ps_fmm_m2l_table *table, int number, int32_t rank)
{
    table->rank[number] = rank;
    table->start[number] = table->rows;
    table->rows += rank;
}

void ps_fmm_m2l_shape(const ps_fmm_operators *operators, ps_precision precision,
                      ps_fmm_m2l_table *table)
{
    shape(table, operators->order, 0, precision);
    for (int number = 0; number < PS_FMM_OFFSETS; ++number) {
        int t[3], p, permutation;
        if (!ps_fmm_offset_of(number, t)) continue;
        ps_fmm_offset_class(t, &p, &permutation);
        add_offset(table, number, operators->rank[p]);
    }
}

void ps_fmm_m2l_shape_basis(const ps_fmm_basis *basis, ps_precision precision,
                            ps_fmm_m2l_table *table)
{
    shape(table, basis->order, basis->size, precision);
    for (int number = 0; number < PS_FMM_OFFSETS; ++number) {
        int t[3];
        if (ps_fmm_offset_of(number, t)) add_offset(table, number, basis->rank[ps_fmm_core_of(t)]);
    }
}

/* ---- memory ---- */

int64_t ps_fmm_m2l_attach(ps_fmm_m2l_table *table, void *block)
{
    int64_t used = 0, real = ps_real_bytes(table->precision);
    table->factors = ps_host_part(block, &used, table->rows * table->length * real);
    table->signs = ps_host_part(block, &used, table->rows * real);
    table->encoder = ps_host_part(block, &used, (int64_t)table->size * table->padded * real);
    table->decoder = ps_host_part(block, &used, (int64_t)table->size * table->padded * real);
    return used;
}

int64_t ps_fmm_m2l_bytes(const ps_fmm_m2l_table *table)
{
    ps_fmm_m2l_table copy = *table;
    return ps_fmm_m2l_attach(&copy, NULL);
}

/* ---- numbers ---- */

void ps_fmm_m2l_fill(const ps_fmm_operators *operators, ps_fmm_m2l_table *table)
{
    int points = table->order * table->order * table->order;
    uint16_t q[PS_FMM_ORDER_MAX * PS_FMM_ORDER_MAX * PS_FMM_ORDER_MAX];
    for (int number = 0; number < PS_FMM_OFFSETS; ++number) {
        int t[3], p, permutation;
        if (!ps_fmm_offset_of(number, t)) continue;
        ps_fmm_offset_class(t, &p, &permutation);
        ps_fmm_permutation(table->order, permutation, q);
        for (int k = 0; k < table->rank[number]; ++k) {
            int64_t from = operators->start[p] + k, to = table->start[number] + k;
            ps_real_put(table->precision, table->signs, to, operators->signs[from]);
            for (int m = 0; m < table->length; ++m)
                ps_real_put(table->precision, table->factors, to * table->length + m,
                            m < points ? operators->factors[from * points + q[m]] : 0);
        }
    }
}

/* -1 if the column of this parity changes sign under the reflections. */
static double reflected(int parity, int reflections)
{
    return __builtin_popcount((unsigned)(parity & reflections)) & 1 ? -1 : 1;
}

static void fill_core(const ps_fmm_basis *basis, const int t[3], ps_fmm_m2l_table *table)
{
    int core = ps_fmm_core_of(t), number = ps_fmm_offset_number(t), reflections = 0;
    for (int d = 0; d < 3; ++d) reflections |= (t[d] < 0) << d;
    for (int k = 0; k < table->rank[number]; ++k) {
        int64_t from = basis->start[core] + k, to = table->start[number] + k;
        ps_real_put(table->precision, table->signs, to, basis->signs[from]);
        for (int i = 0; i < table->length; ++i)
            ps_real_put(table->precision, table->factors, to * table->length + i,
                        i < basis->size ? reflected(basis->parity[i], reflections) *
                                              basis->cores[from * basis->size + i]
                                        : 0);
    }
}

void ps_fmm_m2l_fill_basis(const ps_fmm_basis *basis, ps_fmm_m2l_table *table)
{
    ps_fmm_interpolation interpolation;
    double weights[PS_FMM_LENGTH_MAX];
    if (ps_fmm_interpolation_init(&interpolation, basis->order) != PS_OK) return;
    ps_fmm_weights(&interpolation, weights);
    for (int number = 0; number < PS_FMM_OFFSETS; ++number) {
        int t[3];
        if (ps_fmm_offset_of(number, t)) fill_core(basis, t, table);
    }
    for (int k = 0; k < basis->size; ++k)
        for (int m = 0; m < table->padded; ++m) {
            double value = m < interpolation.points
                               ? basis->vectors[k * interpolation.points + m] / weights[m]
                               : 0;
            ps_real_put(table->precision, table->decoder, k * table->padded + m, value);
            ps_real_put(table->precision, table->encoder, k * table->padded + m,
                        value * reflected(basis->parity[k], 7));
        }
}
