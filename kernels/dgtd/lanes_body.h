/* Registers of elements and how they are filled, for one precision: `real`, LANES and SUFFIX are
 * the includer's, as is #undef of what is defined here (lanes_end.h). */
#define lanes PASTE3(lanes, SUFFIX, 0)
#define slots PASTE3(slots, SUFFIX, 0)
#define fetch PASTE3(fetch, SUFFIX, 0)
#define keep_slots PASTE3(keep_slots, SUFFIX, 0)
#define spread PASTE3(spread, SUFFIX, 0)

/* A group is taken in parts of as many elements as a register of this instruction set holds. */
#define WIDTH (VECTOR_BYTES / (int)sizeof(real))
#define PARTS (LANES / WIDTH)

typedef real lanes __attribute__((vector_size(VECTOR_BYTES), may_alias));
typedef int32_t slots
    __attribute__((vector_size(VECTOR_BYTES / sizeof(real) * sizeof(int32_t)), may_alias));

/* Numbers of slots go to memory, whence fetch() reads one after the other; taking them out of a
 * register costs more where all three components of a node are fetched. */
INLINE void keep_slots(slots *index) { __asm__("" : "+m"(*index)); }

/* out = base[index[.]], by loads one by one: with AVX-512's gather the sweeps take 12 to 32 %
 * longer in fp32, 5 to 25 % in fp64 (EPYC, Zen 4; fields of 40 to 70 MB). */
INLINE void fetch(lanes *out, const real *base, const slots *index)
{
    const int32_t *i = (const int32_t *)index;
#if LANES * VECTOR_BYTES == 16 * 64
    *out = (lanes){base[i[0]],  base[i[1]],  base[i[2]],  base[i[3]], base[i[4]],  base[i[5]],
                   base[i[6]],  base[i[7]],  base[i[8]],  base[i[9]], base[i[10]], base[i[11]],
                   base[i[12]], base[i[13]], base[i[14]], base[i[15]]};
#elif LANES * VECTOR_BYTES == 8 * 64
    *out = (lanes){base[i[0]], base[i[1]], base[i[2]], base[i[3]],
                   base[i[4]], base[i[5]], base[i[6]], base[i[7]]};
#elif LANES * VECTOR_BYTES == 4 * 64
    *out = (lanes){base[i[0]], base[i[1]], base[i[2]], base[i[3]]};
#else
    *out = (lanes){base[i[0]], base[i[1]]};
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
