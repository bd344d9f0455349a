/* Hazards between tasks, and where valid copies of data are. */
#include <stdlib.h>

#include "runtime/memory.h"
#include "runtime/task_internal.h"

/* ---- hazards ---- */

static ps_status add_edge(ps_task_queue *queue, task *from, task *to)
{
    task_edge *edges;
    if (from == to || from->stamp == to->number) return PS_OK;
    if (from->state == TASK_DONE && !queue->keep_edges) return PS_OK;
    from->stamp = to->number;
    PS_TRY(task_pool_take(queue, 2 * (int64_t)sizeof *edges, (void **)&edges));
    if (from->state != TASK_DONE) {
        edges[0] = (task_edge){to, from->successors};
        from->successors = &edges[0];
        ++to->pending;
    }
    edges[1] = (task_edge){from, to->before};
    if (queue->keep_edges) to->before = &edges[1];
    ++to->before_count;
    return PS_OK;
}

/* Readers that are done need no edge: forgets them before the list grows. */
static void forget_readers(ps_task_queue *queue, ps_task_data *data)
{
    int64_t kept = 0;
    if (queue->keep_edges || data->reader_count < data->reader_capacity) return;
    for (int64_t r = 0; r < data->reader_count; ++r)
        if (data->readers[r]->state != TASK_DONE) data->readers[kept++] = data->readers[r];
    data->reader_count = kept;
}

static ps_status add_reader(ps_task_queue *queue, ps_task_data *data, task *t)
{
    forget_readers(queue, data);
    PS_TRY(ps_grow((void **)&data->readers, &data->reader_capacity, data->reader_count + 1,
                   sizeof *data->readers, "the readers of data"));
    data->readers[data->reader_count++] = t;
    return PS_OK;
}

/* Edges into t for one access: from the last writer (RAW), or, for a write, from the readers since
 * (WAR) and the writer (WAW; implied where there are readers). */
static ps_status link_access(ps_task_queue *queue, const ps_task_access *access, task *t)
{
    ps_task_data *data = access->data;
    bool writes = access->mode & PS_WRITE;
    bool others = false;
    for (int64_t r = 0; r < data->reader_count && writes; ++r) {
        others = others || data->readers[r] != t;
        PS_TRY(add_edge(queue, data->readers[r], t));
    }
    if (data->writer && !others) PS_TRY(add_edge(queue, data->writer, t));
    return PS_OK;
}

static ps_status note_access(ps_task_queue *queue, const ps_task_access *access, task *t)
{
    ps_task_data *data = access->data;
    if (!(access->mode & PS_WRITE)) return data->writer == t ? PS_OK : add_reader(queue, data, t);
    data->writer = t;
    data->reader_count = 0;
    return PS_OK;
}

ps_status task_link(ps_task_queue *queue, task *t)
{
    for (int a = 0; a < t->access_count; ++a) PS_TRY(link_access(queue, &t->accesses[a], t));
    for (int a = 0; a < t->access_count; ++a) PS_TRY(note_access(queue, &t->accesses[a], t));
    return PS_OK;
}

/* ---- copies ---- */

void task_copy_drop(device_worker *device, device_copy *copy)
{
    if (!copy->block) return;
    task_arena_give(copy->block);
    copy->block = NULL;
    copy->present = false;
    copy->data->valid &= ~(2u << device->number);
    *(copy->older ? &copy->older->newer : &device->oldest) = copy->newer;
    *(copy->newer ? &copy->newer->older : &device->newest) = copy->older;
}

/* A device with a valid copy. */
static int holder(const ps_task_queue *queue, const ps_task_data *data)
{
    for (int g = 0; g < queue->gpus; ++g)
        if (data->valid & (2u << g)) return g;
    return -1;
}

ps_status task_bring_home(ps_task_queue *queue, ps_task_data *data)
{
    while (data->busy) pthread_cond_wait(&queue->changed, &queue->lock);
    if (data->valid & PS_HOST_BIT) return PS_OK;
    int g = holder(queue, data);
    if (g < 0) return ps_fail(PS_FAILED, "no memory has a valid copy of the data");
    device_copy *copy = &data->copies[g];
    data->busy = true;
    ++copy->pins;
    task_unlock(queue);
    ps_status status = task_device_fetch(&queue->devices[g], data);
    task_lock(queue);
    --copy->pins;
    data->busy = false;
    if (status == PS_OK) data->valid |= PS_HOST_BIT;
    queue->figures.to_host_bytes += data->bytes;
    pthread_cond_broadcast(&queue->changed);
    return status;
}

void task_claim(ps_task_queue *queue, task *t)
{
    for (int a = 0; a < t->access_count && queue->gpus; ++a) {
        ps_task_data *data = t->accesses[a].data;
        if (!(t->accesses[a].mode & PS_WRITE)) continue;
        while (data->busy) pthread_cond_wait(&queue->changed, &queue->lock);
        if (t->accesses[a].mode == PS_WRITE) data->valid = 0;
    }
}

void task_written(ps_task_queue *queue, task *t, uint32_t place)
{
    for (int a = 0; a < t->access_count && queue->gpus; ++a) {
        ps_task_data *data = t->accesses[a].data;
        if (!(t->accesses[a].mode & PS_WRITE)) continue;
        data->valid = place;
        for (int g = 0; g < queue->gpus; ++g)
            if (!(place & (2u << g)) && data->copies[g].pins == 0)
                task_copy_drop(&queue->devices[g], &data->copies[g]);
    }
}

/* ---- registration ---- */

ps_status ps_task_data_register(ps_task_queue *queue, void *host, int64_t bytes, ps_task_data **out)
{
    ps_task_data *data;
    *out = NULL;
    PS_TRY(PS_ALLOC(&data, 1, "a piece of data"));
    if (queue->gpus) {
        ps_status status = PS_ALLOC(&data->copies, queue->gpus, "copies of data");
        if (status != PS_OK) free(data);
        PS_TRY(status);
    }
    for (int g = 0; g < queue->gpus; ++g) data->copies[g].data = data;
    data->host = host;
    data->bytes = bytes;
    data->valid = PS_HOST_BIT;
    task_lock(queue);
    data->next = queue->data;
    if (data->next) data->next->last = data;
    queue->data = data;
    task_unlock(queue);
    *out = data;
    return PS_OK;
}

static bool in_use(const ps_task_data *data, bool readers)
{
    if (data->writer && data->writer->state != TASK_DONE) return true;
    for (int64_t r = 0; r < data->reader_count && readers; ++r)
        if (data->readers[r]->state != TASK_DONE) return true;
    return false;
}

ps_status ps_task_data_fetch(ps_task_queue *queue, ps_task_data *data)
{
    task_lock(queue);
    ps_status status = in_use(data, false)
                           ? ps_fail(PS_USAGE, "data are fetched that a task is yet to write")
                           : task_bring_home(queue, data);
    task_unlock(queue);
    return status;
}

void task_data_free(ps_task_queue *queue, ps_task_data *data)
{
    for (int g = 0; g < queue->gpus; ++g) task_copy_drop(&queue->devices[g], &data->copies[g]);
    *(data->last ? &data->last->next : &queue->data) = data->next;
    if (data->next) data->next->last = data->last;
    PS_FREE(data->copies, data->readers, data);
}

ps_status ps_task_data_release(ps_task_queue *queue, ps_task_data **data)
{
    ps_status status = PS_OK;
    task_lock(queue);
    while ((*data)->busy) pthread_cond_wait(&queue->changed, &queue->lock);
    if (in_use(*data, true))
        status = ps_fail(PS_USAGE, "data are released that a task is yet to use");
    else
        task_data_free(queue, *data);
    if (status == PS_OK) *data = NULL;
    task_unlock(queue);
    return status;
}
