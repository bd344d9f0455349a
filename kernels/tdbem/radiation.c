#include "kernels/tdbem/radiation.h"

#include "kernels/common/reals.h"
#include "kernels/tdbem/near_walk.h"

static int64_t *start_of(ps_near *near, int64_t m, int64_t row)
{
    return near->row_start + (m - 1) * (near->unknowns + 1) + row;
}

static void count_entry(void *context, int64_t k, int64_t row, int64_t column, double value)
{
    ps_near *near = context;
    ++*start_of(near, k, row + 1);
}

void ps_near_count(ps_near *near, const ps_slice_product *tile)
{
    ps_near_walk walk = {near->group, near->precision, count_entry, near};
    ps_near_walk_tile(&walk, tile);
}

int64_t ps_near_starts(ps_near *near)
{
    int64_t entries = 0;
    for (int64_t m = 1; m < near->group; ++m)
        for (int64_t i = 0; i <= near->unknowns; ++i) {
            entries += *start_of(near, m, i);
            *start_of(near, m, i) = entries;
        }
    return entries;
}

int64_t ps_near_entries(const ps_near *near)
{
    return near->group > 1 ? near->row_start[(near->group - 1) * (near->unknowns + 1) - 1] : 0;
}

/* While filling, the start of a row is where its next entry goes. */
static void fill_entry(void *context, int64_t k, int64_t row, int64_t column, double value)
{
    ps_near *near = context;
    int64_t at = (*start_of(near, k, row))++;
    near->columns[at] = (int32_t)column;
    ps_real_put(near->precision, near->values, at, value);
}

void ps_near_fill(ps_near *near, const ps_slice_product *tile)
{
    ps_near_walk walk = {near->group, near->precision, fill_entry, near};
    ps_near_walk_tile(&walk, tile);
}

/* Filling has moved every start to the next row's: move them back. */
void ps_near_finish(ps_near *near)
{
    for (int64_t m = near->group - 1; m >= 1; --m)
        for (int64_t i = near->unknowns; i >= 0; --i)
            *start_of(near, m, i) = i > 0   ? *start_of(near, m, i - 1)
                                    : m > 1 ? *start_of(near, m - 1, near->unknowns)
                                            : 0;
}
