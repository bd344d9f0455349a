/* GPU workers: tasks that have run come back, their times and their results. */
#include <math.h>

#include "runtime/memory.h"
#include "runtime/task_internal.h"

task_flight *task_flight_of(const ps_task_queue *queue, device_worker *d, int number)
{
    return &d->flights[(d->first + number) % queue->lookahead];
}

bool task_is_short(const task *t)
{
    return t->record.gpu_seconds > 0 && t->record.gpu_seconds < PS_LONG_TASK;
}

void task_unpin(device_worker *d, task *t, int accesses)
{
    for (int a = 0; a < accesses; ++a) --t->accesses[a].data->copies[d->number].pins;
}

/* Times by the device's clock, within what this thread saw, so that they never contradict those
 * of other workers. A task that is done before the ones ahead of it has taken none of its own: what
 * it took is in the record of the one beside it. */
static ps_status read_times(ps_task_queue *queue, device_worker *d, task_flight *flight,
                            bool beside)
{
    double start, end, seen = ps_clock() - queue->opened;
    ps_task_record *r = &flight->t->record;
    PS_TRY(ps_event_seconds(d->base, flight->started, &start));
    PS_TRY(ps_event_seconds(d->base, flight->ended, &end));
    if (beside) {
        r->start = r->end = fmin(fmax(d->base_clock + end, flight->taken), seen);
        r->bytes = flight->bytes;
        return PS_OK;
    }
    double free_since = fmax(flight->taken, d->last_end);
    r->start = fmin(fmax(d->base_clock + start, free_since), seen);
    r->end = fmin(fmax(d->base_clock + end, r->start), seen);
    r->waited = flight->bytes > 0 ? r->start - free_since : 0;
    r->bytes = flight->bytes;
    d->last_end = r->end;
    return PS_OK;
}

static void settle(ps_task_queue *queue, device_worker *d, task_flight *flight)
{
    task *t = flight->t;
    uint32_t own = 2u << d->number;
    for (int a = 0; a < t->access_count; ++a) {
        ps_task_data *data = t->accesses[a].data;
        data->copies[d->number].present = true;
        data->valid |= own;
    }
    task_finish(queue, t, PS_OK, own);
    for (int a = 0; a < t->access_count; ++a)
        if (flight->home[a]) {
            t->accesses[a].data->valid |= PS_HOST_BIT;
            queue->figures.to_host_bytes += t->accesses[a].data->bytes;
        }
}

/* Locked. */
static void finish(ps_task_queue *queue, device_worker *d, task_flight *flight, ps_status status)
{
    task_unpin(d, flight->t, flight->t->access_count);
    if (status == PS_OK)
        settle(queue, d, flight);
    else
        task_finish(queue, flight->t, status, 0);
}

enum { LANDS_HOME = -2, LANDS_NONE = -1 };
enum { PATIENT = 16 /* times the queue's patience, for what is under way on a device */ };

/* What is done: the oldest task under way (0) or a short one behind it (its number; the first of
 * its lane), the results that go home next (LANDS_HOME), or nothing yet. Not locked. */
static ps_status find_done(const ps_task_queue *queue, device_worker *d, int *found)
{
    bool done = false;
    if (d->homing_count) { /* first, as others wait for it */
        *found = LANDS_HOME;
        PS_TRY(ps_event_is_done(d->homing[d->homing_first].done, &done));
    }
    for (int f = 0; f < d->count && !done; ++f) {
        task_flight *flight = task_flight_of(queue, d, f);
        if (f > 0 && !task_is_short(flight->t)) continue;
        *found = f;
        PS_TRY(ps_event_is_done(flight->ended, &done));
    }
    if (!done) *found = LANDS_NONE;
    return PS_OK;
}

/* Asks for a while before it sleeps, where there is a core for each worker: then until the oldest
 * is done. Not locked. */
static ps_status await_any(const ps_task_queue *queue, device_worker *d, int *found)
{
    double end = ps_clock() + PATIENT * queue->patience;
    *found = LANDS_NONE;
    while (queue->patience > 0 && *found == LANDS_NONE && ps_clock() < end)
        PS_TRY(find_done(queue, d, found));
    if (*found != LANDS_NONE) return PS_OK;
    *found = 0;
    return ps_event_sync(task_flight_of(queue, d, 0)->ended);
}

/* The same for one event. Not locked. */
static ps_status await(const ps_task_queue *queue, ps_event *event)
{
    bool done = false;
    double end = ps_clock() + PATIENT * queue->patience;
    while (queue->patience > 0 && !done && ps_clock() < end) PS_TRY(ps_event_is_done(event, &done));
    return done ? PS_OK : ps_event_sync(event);
}

/* Makes it the oldest one. */
static void bring_forward(const ps_task_queue *queue, device_worker *d, int number)
{
    task_flight own = *task_flight_of(queue, d, number);
    for (int f = number; f > 0; --f)
        *task_flight_of(queue, d, f) = *task_flight_of(queue, d, f - 1);
    *task_flight_of(queue, d, 0) = own;
}

/* Waits until the results of the oldest task that has run are home, and finishes it; they go home
 * in order. Locked, unlocks in between. */
void task_land_home(ps_task_queue *queue, device_worker *d)
{
    task_flight *flight = &d->homing[d->homing_first];
    task_unlock(queue);
    ps_status status = await(queue, flight->done);
    task_lock(queue);
    d->homing_first = (d->homing_first + 1) % PS_HOMING_MAX;
    --d->homing_count;
    finish(queue, d, flight, status);
}

/* Makes room for others to run while the results of this one go home. Locked, may unlock. */
static void move_home(ps_task_queue *queue, device_worker *d, task_flight *flight)
{
    if (d->homing_count == PS_HOMING_MAX) task_land_home(queue, d);
    task_flight *to = &d->homing[(d->homing_first + d->homing_count) % PS_HOMING_MAX];
    task_flight spare = *to;
    *to = *flight;
    *flight = spare;
    ++d->homing_count;
}

/* Without a core of its own this thread sleeps until the oldest task is done, and its results home.
 * Not locked. */
static ps_status await_oldest(const ps_task_queue *queue, device_worker *d)
{
    task_flight *flight = task_flight_of(queue, d, 0);
    return ps_event_sync(flight->any_home ? flight->done : flight->ended);
}

/* Waits for the oldest task under way, a short one or one whose results go home, whichever is done
 * first, and finishes it. Locked, unlocks in between. */
void task_land(ps_task_queue *queue, device_worker *d)
{
    bool sleeps = queue->patience <= 0;
    int found = 0;
    task_unlock(queue);
    ps_status status = sleeps ? await_oldest(queue, d) : await_any(queue, d, &found);
    if (status != PS_OK) found = 0;
    if (found > 0) bring_forward(queue, d, found);
    task_flight *flight = task_flight_of(queue, d, 0);
    if (status == PS_OK && found >= 0) status = read_times(queue, d, flight, found > 0);
    task_lock(queue);
    if (found == LANDS_HOME) {
        task_land_home(queue, d);
        return;
    }
    if (status == PS_OK && flight->any_home && !sleeps)
        move_home(queue, d, flight);
    else
        finish(queue, d, flight, status);
    d->first = (d->first + 1) % queue->lookahead;
    --d->count;
}
