/*
 * isa: one body, several instruction sets, one table.
 *
 * Every kernels/.../<op>_cpu.c is compiled once per instruction set (base: x86-64-v2;
 * avx2: x86-64-v3; avx512: x86-64-v4; only base on other machines) with PS_ISA set to its
 * name. Such a file contains static functions (usually by including <op>_body.h once per
 * precision with `real` defined) and exports exactly one symbol, a table of them:
 *
 *     const struct ps_foo_functions PS_ISA_TABLE(ps_foo) = { .f32 = ..., .f64 = ... };
 *
 * The plain file <op>.c (compiled once) picks the table of this machine:
 *
 *     PS_ISA_SELECT(struct ps_foo_functions, ps_foo)   // defines: static const ...
 * *ps_foo_select(void)
 *
 * PENSTOCK_ISA=base|avx2|avx512 in the environment overrides the choice (for tests).
 *
 * A backend x precision table fn[backend][precision] is then filled from it: backend
 * PS_BACKEND_CPU from the table, PS_BACKEND_CUDA from <op>_cuda.cu where that was built. An
 * empty entry is reported as "not supported here", never skipped.
 */
#ifndef PS_RUNTIME_ISA_H
#define PS_RUNTIME_ISA_H

typedef enum ps_isa { PS_ISA_BASE, PS_ISA_AVX2, PS_ISA_AVX512 } ps_isa;

/* The best instruction set of this machine among those compiled in (see override above). */
ps_isa ps_isa_here(void);
const char *ps_isa_name(ps_isa isa);

#define PS_ISA_PASTE2(a, b) a##_##b
#define PS_ISA_PASTE(a, b) PS_ISA_PASTE2(a, b)

/* In <op>_cpu.c: the name of the exported table. */
#define PS_ISA_TABLE(name) PS_ISA_PASTE(name, PS_ISA)

#ifdef PS_ISA_VARIANTS /* set by the Makefile where avx2 and avx512 are compiled too */
#define PS_ISA_SELECT(type, name)                                                                  \
    extern const type name##_base, name##_avx2, name##_avx512;                                     \
    static const type *name##_select(void)                                                         \
    {                                                                                              \
        switch (ps_isa_here()) {                                                                   \
        case PS_ISA_AVX512:                                                                        \
            return &name##_avx512;                                                                 \
        case PS_ISA_AVX2:                                                                          \
            return &name##_avx2;                                                                   \
        default:                                                                                   \
            return &name##_base;                                                                   \
        }                                                                                          \
    }
#else
#define PS_ISA_SELECT(type, name)                                                                  \
    extern const type name##_base;                                                                 \
    static const type *name##_select(void) { return &name##_base; }
#endif

typedef enum ps_backend { PS_BACKEND_CPU, PS_BACKEND_CUDA, PS_BACKEND_COUNT } ps_backend;
typedef enum ps_precision { PS_SINGLE, PS_DOUBLE, PS_PRECISION_COUNT } ps_precision;

#endif
