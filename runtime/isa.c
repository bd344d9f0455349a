#include "runtime/isa.h"

#include <stdlib.h>
#include <string.h>

static ps_isa detect(void)
{
#ifdef PS_ISA_VARIANTS
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("fma"))
        return PS_ISA_AVX512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
        __builtin_cpu_supports("bmi2"))
        return PS_ISA_AVX2;
#endif
    return PS_ISA_BASE;
}

ps_isa ps_isa_here(void)
{
    static int known = -1; /* every thread would store the same value */
    int isa = __atomic_load_n(&known, __ATOMIC_RELAXED);
    if (isa < 0) {
        isa = (int)detect();
        const char *wanted = getenv("PENSTOCK_ISA");
        for (int i = 0; wanted && i < isa; ++i)
            if (strcmp(wanted, ps_isa_name((ps_isa)i)) == 0) isa = i;
        __atomic_store_n(&known, isa, __ATOMIC_RELAXED);
    }
    return (ps_isa)isa;
}

const char *ps_isa_name(ps_isa isa)
{
    static const char *const names[] = {"base", "avx2", "avx512"};
    return names[isa];
}
