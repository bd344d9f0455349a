/* The product for one instruction set: the body once per type and vector width. */
#include "kernels/tdbem/slice_product.h"

#include <string.h>

#if defined(__AVX512F__)
#define WIDEST 64
#elif defined(__AVX__)
#define WIDEST 32
#else
#define WIDEST 16
#endif

#define NAME(name) PS_ISA_PASTE(name, SUFFIX)

#define real float
#define integer int32_t
#define BYTES 16
#define SUFFIX f32_16
#include "kernels/tdbem/slice_product_body.h"
#if WIDEST >= 32
#define BYTES 32
#define SUFFIX f32_32
#include "kernels/tdbem/slice_product_body.h"
#endif
#if WIDEST >= 64
#define BYTES 64
#define SUFFIX f32_64
#include "kernels/tdbem/slice_product_body.h"
#endif
#undef real
#undef integer

#define real double
#define integer int64_t
#define BYTES 16
#define SUFFIX f64_16
#include "kernels/tdbem/slice_product_body.h"
#if WIDEST >= 32
#define BYTES 32
#define SUFFIX f64_32
#include "kernels/tdbem/slice_product_body.h"
#endif
#if WIDEST >= 64
#define BYTES 64
#define SUFFIX f64_64
#include "kernels/tdbem/slice_product_body.h"
#endif

#if WIDEST >= 64
#define WIDTHS(type) {add_##type##_16, add_##type##_32, add_##type##_64}
enum { WIDTH_COUNT = 3 };
#elif WIDEST >= 32
#define WIDTHS(type) {add_##type##_16, add_##type##_32}
enum { WIDTH_COUNT = 2 };
#else
#define WIDTHS(type) {add_##type##_16}
enum { WIDTH_COUNT = 1 };
#endif
static const ps_slice_product_fn widths_f32[WIDTH_COUNT] = WIDTHS(f32);
static const ps_slice_product_fn widths_f64[WIDTH_COUNT] = WIDTHS(f64);

/* The narrowest vector that holds a group, else the widest; full blocks run over rows. */
static ps_slice_product_fn pick(const ps_slice_product_fn *widths, const ps_slice_product *p,
                                int64_t real_bytes)
{
    int w = 0;
    while (w + 1 < WIDTH_COUNT && (p->layout == PS_TILE_FULL || p->group * real_bytes > 16 << w))
        ++w;
    return widths[w];
}

static void add_f32(const ps_slice_product *p, int64_t row_begin, int64_t row_end)
{
    pick(widths_f32, p, sizeof(float))(p, row_begin, row_end);
}

static void add_f64(const ps_slice_product *p, int64_t row_begin, int64_t row_end)
{
    pick(widths_f64, p, sizeof(double))(p, row_begin, row_end);
}

extern const struct ps_slice_product_functions PS_ISA_TABLE(ps_slice_product);
const struct ps_slice_product_functions PS_ISA_TABLE(ps_slice_product) = {
    .precision = {[PS_SINGLE] = add_f32, [PS_DOUBLE] = add_f64},
};
