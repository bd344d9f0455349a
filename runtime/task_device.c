/*
 * GPU workers. A worker keeps up to `lookahead` tasks under way: the inputs of one go up on the
 * upload stream while those before run on the lanes, side by side where one alone leaves room on
 * the device, and results that are wanted at home go down on the download stream, while others run.
 * A task is done when its last event is, and those before it are. Its record begins no sooner than
 * the one before ends: what tasks do side by side counts once, and the records add up to the busy
 * time.
 */
#include <math.h>
#include <stdlib.h>

#include "runtime/memory.h"
#include "runtime/task_internal.h"

/* ---- room on the device ---- */

static void unlink_copy(device_worker *d, device_copy *copy)
{
    *(copy->older ? &copy->older->newer : &d->oldest) = copy->newer;
    *(copy->newer ? &copy->newer->older : &d->newest) = copy->older;
}

static void link_newest(device_worker *d, device_copy *copy)
{
    copy->newer = NULL;
    copy->older = d->newest;
    *(d->newest ? &d->newest->newer : &d->oldest) = copy;
    d->newest = copy;
}

/* Drops the copy that was not used for longest; *found is false if all are in use. Locked, may
 * unlock. */
static ps_status evict(ps_task_queue *queue, device_worker *d, bool *found)
{
    device_copy *copy = d->oldest;
    while (copy && copy->pins) copy = copy->newer;
    *found = copy != NULL;
    if (!copy) return PS_OK;
    if (copy->data->valid == 2u << d->number) {
        ++copy->pins; /* nobody may drop it while it goes home */
        ps_status status = task_bring_home(queue, copy->data);
        --copy->pins;
        PS_TRY(status);
    }
    if (copy->pins) return PS_OK;
    ++queue->figures.evictions;
    task_copy_drop(d, copy);
    return PS_OK;
}

/* Gives a copy a block; *room is false if the device is full of what is in use. */
static ps_status place(ps_task_queue *queue, device_worker *d, device_copy *copy, bool *room)
{
    *room = true;
    if (copy->block) {
        unlink_copy(d, copy);
        link_newest(d, copy);
        return PS_OK;
    }
    arena_block *block = NULL;
    while (*room) {
        PS_TRY(task_arena_take(&d->arena, copy->data->bytes, &block));
        if (block) break;
        PS_TRY(evict(queue, d, room));
    }
    if (!block) return PS_OK;
    copy->block = block;
    copy->present = false;
    link_newest(d, copy);
    return PS_OK;
}

static void unpin(device_worker *d, task *t, int accesses)
{
    for (int a = 0; a < accesses; ++a) --t->accesses[a].data->copies[d->number].pins;
}

/* Places and pins all that t accesses. Locked, may unlock. */
static ps_status pin(ps_task_queue *queue, device_worker *d, task *t, bool *room)
{
    ps_status status = PS_OK;
    *room = true;
    for (int a = 0; a < t->access_count && *room && status == PS_OK; ++a) {
        device_copy *copy = &t->accesses[a].data->copies[d->number];
        status = place(queue, d, copy, room);
        if (status == PS_OK && *room) ++copy->pins;
        if (status != PS_OK || !*room) unpin(d, t, a);
    }
    return status;
}

/* ---- a task goes off ---- */

static ps_status make_flight_room(task_flight *flight, int accesses)
{
    if (accesses <= flight->capacity) return PS_OK;
    free(flight->pointers);
    free(flight->home);
    free(flight->goes_up);
    flight->home = flight->goes_up = NULL;
    flight->capacity = 0;
    PS_TRY(PS_ALLOC(&flight->pointers, 2 * accesses, "the data of a task"));
    PS_TRY(PS_ALLOC(&flight->home, 2 * accesses, "the data of a task"));
    PS_TRY(PS_ALLOC(&flight->goes_up, 2 * accesses, "the data of a task"));
    flight->capacity = 2 * accesses;
    return PS_OK;
}

static bool reads(const task *t, const ps_task_data *data)
{
    for (int a = 0; a < t->access_count; ++a)
        if (t->accesses[a].data == data && (t->accesses[a].mode & PS_READ)) return true;
    return false;
}

/* Whether a task that only CPU workers take is known to read what t writes there. Locked. */
static bool wanted_at_home(const ps_task_queue *queue, const task *t, const ps_task_data *data)
{
    for (const task_edge *e = t->successors; e && queue->cpus; e = e->next)
        if (queue->buckets[e->other->record.bucket].gpu < 0 && reads(e->other, data)) return true;
    return false;
}

/* Notes an input to be copied up unless it is there or on its way. Locked, may unlock. */
static ps_status note_upload(ps_task_queue *queue, device_worker *d, task_flight *flight, int a)
{
    const ps_task_access *access = &flight->t->accesses[a];
    ps_task_data *data = access->data;
    device_copy *copy = &data->copies[d->number];
    flight->goes_up[a] = false;
    if (!(access->mode & PS_READ) || copy->present) return PS_OK;
    PS_TRY(task_bring_home(queue, data));
    flight->goes_up[a] = true;
    copy->present = true; /* for this device, whose uploads are in order */
    queue->figures.to_device_bytes += data->bytes;
    flight->bytes += (double)data->bytes;
    return PS_OK;
}

/* Nobody writes what the task is yet to read. Not locked. */
static ps_status upload(device_worker *d, const task_flight *flight)
{
    const task *t = flight->t;
    for (int a = 0; a < t->access_count; ++a) {
        const ps_task_data *data = t->accesses[a].data;
        if (flight->goes_up[a])
            PS_TRY(ps_copy_to_device(d->upload, flight->pointers[a], data->host, data->bytes));
    }
    return PS_OK;
}

/* What goes up, and addresses, of a pinned task. Locked, may unlock. */
static ps_status prepare(ps_task_queue *queue, device_worker *d, task_flight *flight)
{
    task *t = flight->t;
    PS_TRY(make_flight_room(flight, t->access_count));
    flight->any_home = false;
    flight->bytes = 0;
    for (int a = 0; a < t->access_count; ++a) {
        PS_TRY(note_upload(queue, d, flight, a));
        flight->pointers[a] = task_copy_address(d, &t->accesses[a].data->copies[d->number]);
    }
    task_claim(queue, t);
    for (int a = 0; a < t->access_count; ++a) {
        flight->home[a] =
            (t->accesses[a].mode & PS_WRITE) && wanted_at_home(queue, t, t->accesses[a].data);
        flight->any_home = flight->any_home || flight->home[a];
    }
    return PS_OK;
}

/* Results that go home behind the task. Not locked. */
static ps_status send_home(device_worker *d, task_flight *flight)
{
    const task *t = flight->t;
    PS_TRY(ps_event_wait(flight->ended, d->download));
    for (int a = 0; a < t->access_count; ++a) {
        ps_task_data *data = t->accesses[a].data;
        if (!flight->home[a]) continue;
        PS_TRY(ps_copy_to_host(d->download, data->host, flight->pointers[a], data->bytes));
        flight->bytes += (double)data->bytes;
    }
    return ps_event_record(flight->done, d->download);
}

/* Not locked. */
static ps_status launch(device_worker *d, task_flight *flight)
{
    const task *t = flight->t;
    int lane = (int)(d->launched++ % PS_TASK_LANES);
    ps_stream *stream = d->lanes[lane];
    ps_task_call call = {.data = flight->pointers,
                         .arguments = t->arguments,
                         .worker = t->record.worker,
                         .lane = lane,
                         .stream = stream};
    PS_TRY(ps_event_record(flight->uploaded, d->upload));
    PS_TRY(ps_event_wait(flight->uploaded, stream));
    PS_TRY(ps_stream_enter(stream));
    PS_TRY(ps_event_record(flight->started, stream));
    PS_TRY(t->codelet->gpu(&call));
    PS_TRY(ps_event_record(flight->ended, stream));
    return flight->any_home ? send_home(d, flight) : PS_OK;
}

/* ---- a task comes back ---- */

/* Times by the device's clock, within what this thread saw, so that they never contradict those
 * of other workers. */
static ps_status read_times(ps_task_queue *queue, device_worker *d, task_flight *flight)
{
    double start, end, seen = ps_clock() - queue->opened;
    ps_task_record *r = &flight->t->record;
    PS_TRY(ps_event_seconds(d->base, flight->started, &start));
    PS_TRY(ps_event_seconds(d->base, flight->ended, &end));
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
    unpin(d, flight->t, flight->t->access_count);
    if (status == PS_OK)
        settle(queue, d, flight);
    else
        task_finish(queue, flight->t, status, 0);
}

/* Asks for a while before it sleeps, where there is a core for each worker. If `other` is done
 * first, *is_other. Not locked. */
static ps_status await(const ps_task_queue *queue, ps_event *event, ps_event *other, bool *is_other)
{
    bool done = false;
    double end = ps_clock() + 4 * queue->patience;
    *is_other = false;
    while (queue->patience > 0 && !done && !*is_other && ps_clock() < end) {
        PS_TRY(ps_event_is_done(event, &done));
        if (!done && other) PS_TRY(ps_event_is_done(other, is_other));
    }
    return done || *is_other ? PS_OK : ps_event_sync(event);
}

/* Waits until the results of the oldest task that has run are home, and finishes it; they go home
 * in order. Locked, unlocks in between. */
static void land_home(ps_task_queue *queue, device_worker *d)
{
    bool is_other;
    task_flight *flight = &d->homing[d->homing_first];
    task_unlock(queue);
    ps_status status = await(queue, flight->done, NULL, &is_other);
    task_lock(queue);
    d->homing_first = (d->homing_first + 1) % PS_HOMING_MAX;
    --d->homing_count;
    finish(queue, d, flight, status);
}

/* Makes room for others to run while the results of this one go home. Locked, may unlock. */
static void move_home(ps_task_queue *queue, device_worker *d, task_flight *flight)
{
    if (d->homing_count == PS_HOMING_MAX) land_home(queue, d);
    task_flight *to = &d->homing[(d->homing_first + d->homing_count) % PS_HOMING_MAX];
    task_flight spare = *to;
    *to = *flight;
    *flight = spare;
    ++d->homing_count;
}

/* Waits for the oldest task under way and finishes it, or, if that is sooner, for one whose results
 * go home. Without a core of its own this thread sleeps: then until they are home. Locked, unlocks
 * in between. */
static void land(ps_task_queue *queue, device_worker *d)
{
    task_flight *flight = &d->flights[d->first];
    ps_event *home = d->homing_count ? d->homing[d->homing_first].done : NULL;
    bool waits = flight->any_home && queue->patience <= 0, is_home;
    task_unlock(queue);
    ps_status status = await(queue, waits ? flight->done : flight->ended, home, &is_home);
    if (status == PS_OK && !is_home) status = read_times(queue, d, flight);
    task_lock(queue);
    if (status == PS_OK && is_home) {
        land_home(queue, d);
        return;
    }
    if (status == PS_OK && flight->any_home && !waits)
        move_home(queue, d, flight);
    else
        finish(queue, d, flight, status);
    d->first = (d->first + 1) % queue->lookahead;
    --d->count;
}

/* ---- the worker ---- */

/* A task that the device has no room for even when nothing else is under way. Locked. */
static void send_to_cpu(ps_task_queue *queue, device_worker *d, task *t)
{
    --queue->active;
    t->state = TASK_READY;
    ps_status status = PS_OK;
    if (!t->codelet->cpu || queue->cpus == 0 || queue->mapped)
        status = ps_fail(PS_EXHAUSTED,
                         "its data do not fit in the %.1f MB of device %d; raise --device-memory "
                         "or make the groups smaller",
                         1e-6 * (double)d->arena.bytes, d->number);
    else
        status = ps_grow((void **)&queue->host_only, &queue->host_only_capacity,
                         queue->host_only_count + 1, sizeof *queue->host_only, "tasks");
    if (status != PS_OK) {
        task_fail(queue, t, status);
        return;
    }
    queue->host_only[queue->host_only_count++] = t->number;
    task_wake(queue);
}

/* Whether a transfer holds a copy here, with no task under way. Locked. */
static bool is_held(const device_worker *d)
{
    for (const device_copy *copy = d->oldest; copy; copy = copy->newer)
        if (copy->pins) return true;
    return false;
}

/* Pins all that t accesses, if need be after all else has left the device. Locked, may unlock. */
static ps_status make_room(ps_task_queue *queue, device_worker *d, task *t, bool *room)
{
    bool found = true;
    PS_TRY(pin(queue, d, t, room));
    while (!*room && (d->count || d->homing_count)) {
        (d->count ? land : land_home)(queue, d);
        PS_TRY(pin(queue, d, t, room));
    }
    while (!*room && is_held(d)) { /* someone brings home what is here */
        pthread_cond_wait(&queue->changed, &queue->lock);
        PS_TRY(pin(queue, d, t, room));
    }
    if (*room) return PS_OK;
    while (found) PS_TRY(evict(queue, d, &found)); /* the free pieces may be too small */
    return pin(queue, d, t, room);
}

/* Locked, unlocks in between. */
static void take_off(ps_task_queue *queue, device_worker *d, task *t)
{
    bool room = false;
    double taken = ps_clock() - queue->opened;
    ps_status status = make_room(queue, d, t, &room);
    if (status == PS_OK && !room) {
        send_to_cpu(queue, d, t);
        return;
    }
    task_flight *flight = &d->flights[(d->first + d->count) % queue->lookahead];
    flight->t = t;
    flight->taken = taken;
    if (status == PS_OK) {
        status = prepare(queue, d, flight);
        task_unlock(queue);
        if (status == PS_OK) status = upload(d, flight);
        if (status == PS_OK) status = launch(d, flight);
        if (status != PS_OK) { /* what was enqueued still uses the memory */
            ps_stream_wait(d->upload);
            for (int l = 0; l < PS_TASK_LANES; ++l) ps_stream_wait(d->lanes[l]);
            ps_stream_wait(d->download);
        }
        task_lock(queue);
        if (status != PS_OK) unpin(d, t, t->access_count);
    }
    if (status == PS_OK)
        ++d->count;
    else
        task_finish(queue, t, status, 0);
}

/* Forecast of all that is under way. */
static double ahead(const ps_task_queue *queue, const device_worker *d)
{
    double seconds = 0;
    for (int f = 0; f < d->count; ++f)
        seconds += d->flights[(d->first + f) % queue->lookahead].t->record.gpu_seconds;
    return seconds;
}

/* Another one ahead: three suffice where tasks are long; of short ones as many as outlast whatever
 * keeps this thread from its core. Not while a GPU worker has nothing to do, for that one is to
 * have it. */
static bool wants_more(const ps_task_queue *queue, const device_worker *d)
{
    enum { FEW = 3 };
    static const double enough = 3e-3; /* s */
    if (d->count == 0) return true;
    if (d->count >= FEW && ahead(queue, d) > enough) return false;
    return d->count < queue->lookahead && (queue->mapped || !queue->sleeping[PS_WORKER_GPU]);
}

void *task_device_worker(void *argument)
{
    worker_start start = *(worker_start *)argument;
    ps_task_queue *queue = start.queue;
    device_worker *d = &queue->devices[start.worker - queue->cpus];
    free(argument);
    task_lock(queue);
    while (!queue->closing || d->count || d->homing_count) {
        task *t = wants_more(queue, d) ? task_take(queue, start.worker) : NULL;
        if (t)
            take_off(queue, d, t);
        else if (d->count || d->homing_count)
            (d->count ? land : land_home)(queue, d);
        else
            task_sleep(queue, PS_WORKER_GPU);
    }
    task_unlock(queue);
    return NULL;
}
