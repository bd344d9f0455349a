/*
 * blas_threads: how many threads the BLAS takes by itself. The bits of its products and of LAPACK's
 * factorisations depend on that number, so whoever wants bits that do not takes one; and threads
 * that each call it for something of their own want no others.
 */
#ifndef PS_RUNTIME_BLAS_THREADS_H
#define PS_RUNTIME_BLAS_THREADS_H

/* From now on one thread. Returns the number before, for ps_blas_threads_restore. OpenBLAS; of
 * others nothing is known, and nothing done. */
int ps_blas_threads_single(void);
void ps_blas_threads_restore(int threads);

#endif
