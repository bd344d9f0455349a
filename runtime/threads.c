#include "runtime/threads.h"

#include <omp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/memory.h"

/* Ends once the checking thread lets it: all are there at the same time. */
static void *wait_at(void *gate)
{
    pthread_mutex_lock(gate);
    pthread_mutex_unlock(gate);
    return NULL;
}

ps_status ps_threads_check(int64_t threads)
{
    if (threads > PS_THREADS_MOST)
        return ps_fail(PS_USAGE,
                       "%lld threads (OMP_NUM_THREADS, --threads) are asked for, at most %d can be",
                       (long long)threads, PS_THREADS_MOST);
    pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
    pthread_t *started;
    int64_t count = 0;
    int error = 0;
    PS_TRY(PS_ALLOC(&started, threads, "a check of threads"));
    pthread_mutex_lock(&gate);
    while (count + 1 < threads && error == 0) {
        error = pthread_create(&started[count], NULL, wait_at, &gate);
        count += error == 0;
    }
    pthread_mutex_unlock(&gate);
    for (int64_t i = 0; i < count; ++i) pthread_join(started[i], NULL);
    free(started);
    if (error == 0) return PS_OK;
    return ps_fail(PS_EXHAUSTED,
                   "%lld threads (OMP_NUM_THREADS, --threads) are asked for, and this process can "
                   "have %lld (%s); ask for fewer",
                   (long long)threads, (long long)count + 1, strerror(error));
}

/* In a child of fork: threads that OpenMP kept for the next loop are not there, and it would wait for
 * them without end. */
static void go_alone(void) { omp_set_num_threads(1); }

static void watch_forks(void) { pthread_atfork(NULL, NULL, go_alone); }

ps_status ps_threads_check_default(void)
{
    static atomic_int found;
    static pthread_once_t watched = PTHREAD_ONCE_INIT;
    pthread_once(&watched, watch_forks);
    int threads = omp_get_max_threads();
    if (atomic_load(&found) == threads) return PS_OK;
    PS_TRY(ps_threads_check(threads));
    atomic_store(&found, threads);
    return PS_OK;
}
