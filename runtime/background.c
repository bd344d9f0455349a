#include "runtime/background.h"

#include <stdio.h>

#include "runtime/chunk_feed.h"
#include "runtime/memory.h"

static void *run(void *argument)
{
    ps_background *b = argument;
    double start = ps_clock();
    b->status = b->call(b->argument);
    if (b->status != PS_OK) snprintf(b->message, sizeof b->message, "%s", ps_message());
    b->seconds = ps_clock() - start;
    return NULL;
}

ps_status ps_background_start(ps_background *background, ps_status (*call)(void *argument),
                              void *argument, const char *what)
{
    background->call = call;
    background->argument = argument;
    background->seconds = 0;
    PS_TRY(ps_chunk_feed_thread(&background->thread, run, background, what));
    background->busy = true;
    return PS_OK;
}

ps_status ps_background_wait(ps_background *background)
{
    if (!background->busy) return PS_OK;
    pthread_join(background->thread, NULL);
    background->busy = false;
    return background->status == PS_OK ? PS_OK
                                       : ps_fail(background->status, "%s", background->message);
}
