/* The thread that writes checkpoints while compute goes on (formats/checkpoint.h). */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "formats/checkpoint.h"
#include "runtime/memory.h"

struct ps_checkpoint_writer {
    char run[4096];
    int64_t keep;
    ps_append_log *log;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    /* guarded by lock */
    bool pending, ending;
    ps_status status; /* the first failure; its text in message */
    char message[2048];
    double seconds;
    int64_t written;
    /* owned by the thread while pending, else by the submitting side */
    int64_t next;
    ps_checkpoint state;
};

static ps_status write_state(ps_checkpoint_writer *writer)
{
    if (writer->log) PS_TRY(ps_append_log_sync(writer->log));
    PS_TRY(ps_checkpoint_save(writer->run, writer->next, &writer->state));
    return ps_checkpoint_prune(writer->run, writer->keep);
}

static void *work(void *argument)
{
    ps_checkpoint_writer *writer = argument;
    pthread_mutex_lock(&writer->lock);
    for (;;) {
        while (!writer->pending && !writer->ending)
            pthread_cond_wait(&writer->changed, &writer->lock);
        if (!writer->pending) break;
        pthread_mutex_unlock(&writer->lock);
        double start = ps_clock();
        ps_status status = write_state(writer);
        pthread_mutex_lock(&writer->lock);
        writer->seconds += ps_clock() - start;
        if (status != PS_OK && writer->status == PS_OK) {
            writer->status = status;
            snprintf(writer->message, sizeof writer->message, "%s", ps_message());
        }
        ++writer->next;
        ++writer->written;
        writer->pending = false;
        pthread_cond_broadcast(&writer->changed);
    }
    pthread_mutex_unlock(&writer->lock);
    return NULL;
}

ps_status ps_checkpoint_writer_open(const char *run, int64_t next, int64_t keep, ps_append_log *log,
                                    ps_checkpoint_writer **out)
{
    ps_checkpoint_writer *writer;
    *out = NULL;
    PS_TRY(PS_ALLOC(&writer, 1, "the checkpoint writer"));
    snprintf(writer->run, sizeof writer->run, "%s", run);
    writer->keep = keep;
    writer->log = log;
    writer->next = next;
    pthread_mutex_init(&writer->lock, NULL);
    pthread_cond_init(&writer->changed, NULL);
    if (pthread_create(&writer->thread, NULL, work, writer) != 0) {
        free(writer);
        return ps_fail(PS_EXHAUSTED, "no thread for writing checkpoints could be started");
    }
    *out = writer;
    return PS_OK;
}

/* Waits until nothing is pending; the lock is held. Passes on a failure. */
static ps_status settle(ps_checkpoint_writer *writer)
{
    while (writer->pending) pthread_cond_wait(&writer->changed, &writer->lock);
    return writer->status == PS_OK ? PS_OK : ps_fail(writer->status, "%s", writer->message);
}

ps_status ps_checkpoint_writer_submit(ps_checkpoint_writer *writer, const ps_checkpoint *checkpoint)
{
    pthread_mutex_lock(&writer->lock);
    ps_status status = settle(writer);
    if (status == PS_OK) {
        writer->state = *checkpoint;
        writer->pending = true;
        pthread_cond_broadcast(&writer->changed);
    }
    pthread_mutex_unlock(&writer->lock);
    return status;
}

ps_status ps_checkpoint_writer_wait(ps_checkpoint_writer *writer)
{
    pthread_mutex_lock(&writer->lock);
    ps_status status = settle(writer);
    pthread_mutex_unlock(&writer->lock);
    return status;
}

void ps_checkpoint_writer_stats(ps_checkpoint_writer *writer, double *seconds, int64_t *count)
{
    pthread_mutex_lock(&writer->lock);
    *seconds = writer->seconds;
    *count = writer->written;
    pthread_mutex_unlock(&writer->lock);
}

void ps_checkpoint_writer_close(ps_checkpoint_writer **out)
{
    ps_checkpoint_writer *writer = *out;
    if (!writer) return;
    pthread_mutex_lock(&writer->lock);
    writer->ending = true;
    pthread_cond_broadcast(&writer->changed);
    pthread_mutex_unlock(&writer->lock);
    pthread_join(writer->thread, NULL);
    pthread_mutex_destroy(&writer->lock);
    pthread_cond_destroy(&writer->changed);
    free(writer);
    *out = NULL;
}
