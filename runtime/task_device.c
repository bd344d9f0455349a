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
static ps_status allocate_block(ps_task_queue *queue, device_worker *d, device_copy *copy,
                                bool *room)
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

/* Places and pins all that t accesses. Locked, may unlock. */
static ps_status pin(ps_task_queue *queue, device_worker *d, task *t, bool *room)
{
    ps_status status = PS_OK;
    *room = true;
    for (int a = 0; a < t->access_count && *room && status == PS_OK; ++a) {
        device_copy *copy = &t->accesses[a].data->copies[d->number];
        status = allocate_block(queue, d, copy, room);
        if (status == PS_OK && *room) ++copy->pins;
        if (status != PS_OK || !*room) task_unpin(d, t, a);
    }
    return status;
}

/* ---- a task goes off ---- */

static ps_status make_flight_room(task_flight *flight, int accesses)
{
    if (accesses <= flight->capacity) return PS_OK;
    PS_FREE(flight->pointers, flight->home, flight->goes_up);
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

/* The lane for t on which the least is under way, that what is short need not wait for what is
 * long. */
static int choose_lane(const ps_task_queue *queue, device_worker *d, const task *t)
{
    static const double each = 1e-6; /* s: where forecasts are unknown, numbers of tasks count */
    double seconds[PS_TASK_LANES] = {0};
    int first = task_is_short(t) ? PS_TASK_LANES - PS_SHORT_LANES : 0;
    int end = task_is_short(t) ? PS_TASK_LANES : PS_TASK_LANES - PS_SHORT_LANES, best = first;
    for (int f = 0; f < d->count; ++f) {
        const task_flight *flight = task_flight_of(queue, d, f);
        seconds[flight->lane] += flight->t->record.gpu_seconds + each;
    }
    for (int l = first + 1; l < end; ++l)
        if (seconds[l] < seconds[best]) best = l;
    return best;
}

/* Not locked. */
static ps_status launch(device_worker *d, task_flight *flight)
{
    const task *t = flight->t;
    ps_stream *stream = d->lanes[flight->lane];
    ps_task_call call = {.data = flight->pointers,
                         .arguments = t->arguments,
                         .worker = t->record.worker,
                         .lane = flight->lane,
                         .stream = stream};
    PS_TRY(ps_event_record(flight->uploaded, d->upload));
    PS_TRY(ps_event_wait(flight->uploaded, stream));
    PS_TRY(ps_stream_enter(stream));
    PS_TRY(ps_event_record(flight->started, stream));
    PS_TRY(t->codelet->gpu(&call));
    PS_TRY(ps_event_record(flight->ended, stream));
    return flight->any_home ? send_home(d, flight) : PS_OK;
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
        (d->count ? task_land : task_land_home)(queue, d);
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
    flight->lane = choose_lane(queue, d, t);
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
        if (status != PS_OK) task_unpin(d, t, t->access_count);
    }
    if (status == PS_OK)
        ++d->count;
    else
        task_finish(queue, t, status, 0);
}

/* What is to be taken beside what is under way. Of long tasks two at least, otherwise the device
 * idles while this thread is at short ones, which it starts and ends one after the other; and as
 * many as outlast whatever keeps this thread from its core, but near the end only a part of what
 * waits. Nothing while another GPU worker has nothing to do, for that one is to have it. */
static task_wish wanted(const ps_task_queue *queue, device_worker *d)
{
    enum { LONG_LEAST = 2, LONG_FEW = 3, SHORT_PLACES = 5, SHARE = 4 };
    static const double least = 3e-3, most = 6e-3; /* s */
    double ahead = 0;
    int longs = 0;
    if (d->count == queue->lookahead) return TASK_NONE;
    if (queue->mapped || d->count == 0) return TASK_RATHER_LONG;
    if (queue->sleeping[PS_WORKER_GPU]) return TASK_NONE;
    for (int f = 0; f < d->count; ++f) {
        const task *t = task_flight_of(queue, d, f)->t;
        longs += !task_is_short(t);
        ahead += t->record.gpu_seconds;
    }
    double share = ps_heteroprio_gpu_backlog(queue->scheduler) / (SHARE * queue->gpus);
    if (longs < LONG_LEAST) return TASK_RATHER_LONG;
    bool enough = longs >= LONG_FEW && ahead > fmin(most, fmax(least, share));
    return enough || longs + SHORT_PLACES > queue->lookahead ? TASK_SHORT : TASK_ANY;
}

void *task_device_worker(void *argument)
{
    worker_start start = *(worker_start *)argument;
    ps_task_queue *queue = start.queue;
    device_worker *d = &queue->devices[start.worker - queue->cpus];
    free(argument);
    task_begin(queue, start.worker);
    while (!queue->closing || d->count || d->homing_count) {
        task *t = task_take(queue, start.worker, wanted(queue, d));
        if (t)
            take_off(queue, d, t);
        else if (d->count || d->homing_count)
            (d->count ? task_land : task_land_home)(queue, d);
        else
            task_sleep(queue, PS_WORKER_GPU);
    }
    task_unlock(queue);
    return NULL;
}
