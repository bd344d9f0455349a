#include "runtime/chunk_feed.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/chunk_plan.h"
#include "runtime/memory.h"

enum { MESSAGE_SIZE = 2048 };

/* Stored bytes of a chunk on their way, or there and waiting for a worker. */
typedef struct loaded {
    int64_t chunk;
    int raw;
    bool there;
} loaded;

struct ps_chunk_feed {
    ps_chunk_feed_config config;
    char *raws;         /* [config.raws] buffers of config.raw_size */
    pthread_t *threads; /* the readers, then the workers */
    int thread_count;

    pthread_mutex_t mutex; /* guards everything below, and the owner's state */
    pthread_cond_t raw_freed, work_changed, changed;
    int *free_raws, free_raw_count; /* a stack of indices */
    loaded *queue;                  /* ring of config.raws */
    int queue_first, queue_count;
    bool read_all, stopping;
    ps_status failure;
    char message[MESSAGE_SIZE];
    ps_chunk_feed_stats stats;
};

/* ---- the lock, waiting, failure ---- */

void ps_chunk_feed_lock(ps_chunk_feed *feed) { pthread_mutex_lock(&feed->mutex); }
void ps_chunk_feed_unlock(ps_chunk_feed *feed) { pthread_mutex_unlock(&feed->mutex); }
void ps_chunk_feed_wait(ps_chunk_feed *feed) { pthread_cond_wait(&feed->changed, &feed->mutex); }
void ps_chunk_feed_wake(ps_chunk_feed *feed) { pthread_cond_broadcast(&feed->changed); }

void ps_chunk_feed_place_freed(ps_chunk_feed *feed) { pthread_cond_broadcast(&feed->work_changed); }

void ps_chunk_feed_fail(ps_chunk_feed *feed, ps_status status)
{
    pthread_mutex_lock(&feed->mutex);
    if (feed->failure == PS_OK) {
        feed->failure = status;
        strncpy(feed->message, ps_message(), MESSAGE_SIZE - 1);
    }
    feed->stopping = true;
    pthread_cond_broadcast(&feed->raw_freed);
    pthread_cond_broadcast(&feed->work_changed);
    pthread_cond_broadcast(&feed->changed);
    pthread_mutex_unlock(&feed->mutex);
}

ps_status ps_chunk_feed_failure(const ps_chunk_feed *feed)
{
    return feed->failure == PS_OK ? PS_OK : ps_fail(feed->failure, "%s", feed->message);
}

ps_chunk_feed_stats ps_chunk_feed_get_stats(const ps_chunk_feed *feed) { return feed->stats; }

/* ---- the readers ---- */

static char *raw_at(const ps_chunk_feed *feed, int raw)
{
    return feed->raws + raw * feed->config.raw_size;
}

/* A free buffer and the chunk to read into it, at a place at the end of the queue; NULL when there
 * will be no more. */
static loaded *take_read(ps_chunk_feed *feed, loaded *item)
{
    loaded *place = NULL;
    pthread_mutex_lock(&feed->mutex);
    while (!feed->stopping && feed->free_raw_count == 0)
        pthread_cond_wait(&feed->raw_freed, &feed->mutex);
    item->there = false;
    item->chunk = feed->stopping ? -1 : feed->config.next(feed->config.owner);
    if (item->chunk >= 0) {
        item->raw = feed->free_raws[--feed->free_raw_count];
        place = &feed->queue[(feed->queue_first + feed->queue_count++) % feed->config.raws];
        *place = *item;
    } else {
        feed->read_all = true;
        pthread_cond_broadcast(&feed->work_changed);
        pthread_cond_broadcast(&feed->raw_freed);
    }
    pthread_mutex_unlock(&feed->mutex);
    return place;
}

static void enqueue(ps_chunk_feed *feed, loaded *place, double seconds)
{
    pthread_mutex_lock(&feed->mutex);
    place->there = true;
    feed->stats.read_seconds += seconds;
    feed->stats.raw_bytes_read += feed->config.raw_bytes[place->chunk];
    pthread_cond_broadcast(&feed->work_changed);
    pthread_mutex_unlock(&feed->mutex);
}

static void *reader_main(void *argument)
{
    ps_chunk_feed *feed = argument;
    loaded item, *place;
    while ((place = take_read(feed, &item))) {
        double start = ps_clock();
        ps_status status =
            feed->config.read(feed->config.context, item.chunk, raw_at(feed, item.raw));
        if (status != PS_OK) {
            ps_chunk_feed_fail(feed, status);
            break;
        }
        enqueue(feed, place, ps_clock() - start);
    }
    return NULL;
}

/* ---- the workers ---- */

/* Takes the head of the queue if there is a place for it. */
static bool take_head(ps_chunk_feed *feed, loaded *item, char **place)
{
    if (feed->stopping || feed->queue_count == 0) return false;
    *item = feed->queue[feed->queue_first];
    if (!item->there) return false;
    *place = feed->config.place(feed->config.owner, item->chunk);
    if (!*place) return false;
    feed->queue_first = (feed->queue_first + 1) % feed->config.raws;
    feed->queue_count -= 1;
    return true;
}

/* False when there will be no more work. */
static bool take_work(ps_chunk_feed *feed, loaded *item, char **place)
{
    bool taken;
    pthread_mutex_lock(&feed->mutex);
    while (!(taken = take_head(feed, item, place)) && !feed->stopping &&
           !(feed->read_all && feed->queue_count == 0))
        pthread_cond_wait(&feed->work_changed, &feed->mutex);
    pthread_mutex_unlock(&feed->mutex);
    return taken;
}

static void finish_work(ps_chunk_feed *feed, loaded item, char *place, double seconds)
{
    pthread_mutex_lock(&feed->mutex);
    feed->config.ready(feed->config.owner, item.chunk, place);
    feed->free_raws[feed->free_raw_count++] = item.raw;
    feed->stats.unpack_seconds += seconds;
    feed->stats.bytes_unpacked += feed->config.unpacked_bytes[item.chunk];
    pthread_cond_signal(&feed->raw_freed);
    pthread_cond_broadcast(&feed->changed);
    pthread_mutex_unlock(&feed->mutex);
}

static void *worker_main(void *argument)
{
    ps_chunk_feed *feed = argument;
    loaded item;
    char *place;
    while (take_work(feed, &item, &place)) {
        double start = ps_clock();
        ps_status status =
            feed->config.unpack(feed->config.context, item.chunk, raw_at(feed, item.raw), place);
        if (status != PS_OK) {
            ps_chunk_feed_fail(feed, status);
            break;
        }
        finish_work(feed, item, place, ps_clock() - start);
    }
    return NULL;
}

/* ---- threads ---- */

ps_status ps_chunk_feed_thread(pthread_t *thread, void *(*main)(void *), void *argument,
                               const char *what)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(thread, NULL, main, argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error) return ps_fail(PS_EXHAUSTED, "%s cannot be started: %s", what, strerror(error));
    return PS_OK;
}

ps_status ps_chunk_feed_start(ps_chunk_feed *feed)
{
    int readers = feed->config.readers, wanted = readers + feed->config.unpackers;
    PS_TRY(PS_ALLOC(&feed->threads, wanted, "the threads of a stream of chunks"));
    for (int t = 0; t < wanted; ++t) {
        PS_TRY(ps_chunk_feed_thread(&feed->threads[t], t < readers ? reader_main : worker_main,
                                    feed, "a thread of a stream of chunks"));
        feed->thread_count += 1;
    }
    return PS_OK;
}

void ps_chunk_feed_retire(ps_chunk_feed *feed)
{
    for (int t = 0; t < feed->thread_count; ++t) pthread_join(feed->threads[t], NULL);
    feed->thread_count = 0;
    free(feed->raws);
    feed->raws = NULL;
}

/* ---- open and close ---- */

static ps_status allocate(ps_chunk_feed *feed)
{
    int raws = feed->config.raws;
    PS_TRY(ps_alloc_buffer((void **)&feed->raws, ps_chunk_padded(raws * feed->config.raw_size),
                           "the stored bytes of a stream of chunks"));
    PS_TRY(PS_ALLOC(&feed->free_raws, raws, "a stream of chunks"));
    PS_TRY(PS_ALLOC(&feed->queue, raws, "a stream of chunks"));
    for (int i = 0; i < raws; ++i) feed->free_raws[i] = i;
    feed->free_raw_count = raws;
    return PS_OK;
}

ps_status ps_chunk_feed_open(const ps_chunk_feed_config *config, ps_chunk_feed **out)
{
    ps_chunk_feed *feed;
    *out = NULL;
    PS_TRY(PS_ALLOC(&feed, 1, "a stream of chunks"));
    feed->config = *config;
    if (feed->config.readers <= 0) feed->config.readers = 1;
    pthread_mutex_init(&feed->mutex, NULL);
    pthread_cond_init(&feed->raw_freed, NULL);
    pthread_cond_init(&feed->work_changed, NULL);
    pthread_cond_init(&feed->changed, NULL);
    ps_status status = allocate(feed);
    if (status == PS_OK)
        *out = feed;
    else
        ps_chunk_feed_close(&feed);
    return status;
}

void ps_chunk_feed_close(ps_chunk_feed **handle)
{
    ps_chunk_feed *feed = *handle;
    if (!feed) return;
    *handle = NULL;
    ps_chunk_feed_fail(feed, PS_FAILED); /* stops the threads; nobody asks any more */
    ps_chunk_feed_retire(feed);
    PS_FREE(feed->free_raws, feed->queue, feed->threads);
    pthread_cond_destroy(&feed->raw_freed);
    pthread_cond_destroy(&feed->work_changed);
    pthread_cond_destroy(&feed->changed);
    pthread_mutex_destroy(&feed->mutex);
    free(feed);
}
