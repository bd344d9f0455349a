/* Registers of elements and how they are filled, for one precision: `real`, LANES and SUFFIX are
 * the includer's, as is #undef of what is defined here (lanes_end.h). */
#define lanes PASTE3(lanes, SUFFIX, 0)
#define slots PASTE3(slots, SUFFIX, 0)
#define fetch PASTE3(fetch, SUFFIX, 0)
#define spread PASTE3(spread, SUFFIX, 0)

/* A group is taken in parts of as many elements as a register of this instruction set holds. */
#define WIDTH (VECTOR_BYTES / (int)sizeof(real))
#define PARTS (LANES / WIDTH)

typedef real lanes __attribute__((vector_size(VECTOR_BYTES), may_alias));
typedef int32_t slots
    __attribute__((vector_size(VECTOR_BYTES / sizeof(real) * sizeof(int32_t)), may_alias));

/* out = base[index[.]] */
INLINE void fetch(lanes *out, const real *base, const slots *index)
{
#ifdef __AVX512F__
#if LANES == 16
    *out = (lanes)_mm512_i32gather_ps((__m512i)*index, base, 4);
#else
    *out = (lanes)_mm512_i32gather_pd((__m256i)*index, base, 8);
#endif
#else
    const int32_t *i = (const int32_t *)index;
    real *o = (real *)out;
    for (int l = 0; l < WIDTH; ++l) o[l] = base[i[l]];
#endif
}

/* out = table[material[.]] */
INLINE void spread(lanes *out, const real *table, const uint16_t *material)
{
    slots index;
    int32_t *i = (int32_t *)&index;
    for (int l = 0; l < WIDTH; ++l) i[l] = material[l];
    fetch(out, table, &index);
}
