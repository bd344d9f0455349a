/* Processor time, s: figures per core that other work on the machine does not blur. */
#ifndef PS_TESTS_SUPPORT_THREAD_CLOCK_H
#define PS_TESTS_SUPPORT_THREAD_CLOCK_H

#include <math.h>
#include <omp.h>
#include <time.h>

/* Of this thread. */
static inline double thread_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Of all threads, and what the busiest of them has spent since then. */
enum { THREADS_MAX = 512 };

static inline void read_clocks(double *clocks)
{
#pragma omp parallel
    clocks[omp_get_thread_num()] = thread_seconds();
}

static inline double busiest_since(const double *clocks)
{
    double now[THREADS_MAX], most = 0;
    read_clocks(now);
    for (int t = 0; t < omp_get_max_threads(); ++t) most = fmax(most, now[t] - clocks[t]);
    return most;
}

#endif
