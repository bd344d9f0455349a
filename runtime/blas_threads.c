#include "runtime/blas_threads.h"

/* Weak, as only OpenBLAS has them. */
extern void openblas_set_num_threads(int threads) __attribute__((weak));
extern int openblas_get_num_threads(void) __attribute__((weak));

int ps_blas_threads_single(void)
{
    int threads = openblas_get_num_threads ? openblas_get_num_threads() : 0;
    ps_blas_threads_restore(1);
    return threads;
}

void ps_blas_threads_restore(int threads)
{
    if (openblas_set_num_threads && threads > 0) openblas_set_num_threads(threads);
}
