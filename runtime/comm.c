/*
 * Every call begins with what one rank needs; what several need is in the part of that name, whose
 * functions are called with size > 1 only, and reaches MPI through the adapter that was loaded.
 * Messages are cut into pieces, for MPI counts with int.
 *
 * Sums: MPI_Allreduce may choose its order by message size, node layout and library version, so
 * each element is summed by one rank over all ranks in the order of the ranks.
 */
#include "runtime/comm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/memory.h"
#include "runtime/mpi_load.h"
#include "runtime/scope.h"

enum { MESSAGE_SIZE = 2048 };

/* Of this process; set by start, once. */
static int my_rank = 0, rank_count = 1, my_local_rank = 0, local_rank_count = 1;

static ps_comm_traffic traffic;

/* out[i] = parts[0][i] (+) parts[1][i] (+) ... in this order; parts is [ranks][count]. */
typedef void (*combine)(void *out, const void *parts, int64_t count, int ranks);

#define COMBINE(name, type, accumulator, step)                                                     \
    static void name(void *out, const void *parts, int64_t count, int ranks)                       \
    {                                                                                              \
        type *result = out;                                                                        \
        const type *part = parts;                                                                  \
        for (int64_t i = 0; i < count; ++i) {                                                      \
            accumulator all = part[i];                                                             \
            for (int r = 1; r < ranks; ++r) {                                                      \
                accumulator one = part[r * count + i];                                             \
                step;                                                                              \
            }                                                                                      \
            result[i] = (type)all;                                                                 \
        }                                                                                          \
    }
COMBINE(sum_f32, float, double, all += one)
COMBINE(sum_f64, double, double, all += one)
COMBINE(sum_i64, int64_t, int64_t, all += one)
COMBINE(max_f64, double, double, if (one > all || isnan(one)) all = one)
COMBINE(max_i64, int64_t, int64_t, if (one > all) all = one)
COMBINE(min_i64, int64_t, int64_t, if (one < all) all = one)

/* ---- several ranks ---- */

/* Bytes: of a piece of a reduction, of one message, and below which all ranks reduce alone. */
static const int64_t reduce_piece = (int64_t)4 << 20, message_piece = (int64_t)1 << 30,
                     reduce_alone = (int64_t)32 << 10;

static const ps_mpi_adapter *mpi; /* NULL: one rank */
static char *workspace;           /* a piece of a reduction from all ranks */
static int *segments;             /* [4][size]: counts and displacements, sent and received */

struct ps_comm_pending {
    char *requests;
    int count;
};

static ps_status check(int error, const char *call)
{
    if (error == 0) return PS_OK;
    PS_SCOPED_MEMORY char *text = calloc((size_t)mpi->error_bytes, 1);
    if (text) mpi->error_text(error, text);
    ps_status status = ps_fail(PS_FAILED, "%s failed on rank %d of %d: %s", call, my_rank,
                               rank_count, text ? text : "no memory is left for the reason");
    return status;
}
#define CALL(function, ...) PS_TRY(check(mpi->function(__VA_ARGS__), "MPI's " #function))

/* A library that another launcher than its own started takes itself to be alone. */
static ps_status check_size(const ps_mpi_launch *launch, int size)
{
    if (launch->ranks <= 0 || launch->ranks == size) return PS_OK;
    return ps_fail(PS_FAILED,
                   "launched as %lld ranks by %s, but %s sees %d: they do not belong together. "
                   "PENSTOCK_MPI=openmpi, =mpich or =FILE chooses the MPI, srun --mpi=pmix or pmi2 "
                   "how Slurm tells its ranks",
                   (long long)launch->ranks, launch->by, mpi->library, size);
}

static ps_status start(const ps_mpi_launch *launch, int *argc, char ***argv)
{
    int rank = 0, size = 1, threads = 0;
    CALL(start, argc, argv, &rank, &size, &threads);
    PS_TRY(check_size(launch, size));
    my_rank = rank;
    rank_count = size;
    if (rank_count == 1) return PS_OK;
    if (!threads)
        return ps_fail(PS_FAILED, "%s does not allow a program to have threads", mpi->library);
    CALL(local_place, &my_local_rank, &local_rank_count);
    PS_TRY(PS_ALLOC(&workspace, reduce_piece + 8 * (int64_t)rank_count, "sums over ranks"));
    return PS_ALLOC(&segments, 4 * (int64_t)rank_count, "sums over ranks");
}

/* All ranks get all parts and each combines them: one message, for little data. */
static ps_status reduce_everywhere(void *data, int64_t count, int64_t size, combine op)
{
    int bytes = (int)(count * size);
    CALL(all_gather, data, bytes, workspace);
    op(data, workspace, count, rank_count);
    return PS_OK;
}

/* Each rank combines one segment of the piece and hands the result to all. */
static ps_status reduce_by_segments(char *data, int64_t count, int64_t size, combine op)
{
    int *sent = segments, *sent_at = sent + rank_count;
    int *received = sent_at + rank_count, *received_at = received + rank_count;
    int64_t begin = count * my_rank / rank_count, end = count * (my_rank + 1) / rank_count;
    for (int r = 0; r < rank_count; ++r) {
        int64_t first = count * r / rank_count, last = count * (r + 1) / rank_count;
        sent_at[r] = (int)(first * size);
        sent[r] = (int)((last - first) * size);
        received[r] = (int)((end - begin) * size);
        received_at[r] = r * received[r];
    }
    CALL(all_to_all, data, sent, sent_at, workspace, received, received_at);
    op(data + begin * size, workspace, end - begin, rank_count);
    CALL(all_gather_parts, data, sent, sent_at);
    return PS_OK;
}

static ps_status reduce(void *data, int64_t count, int64_t size, combine op)
{
    if (count * size * rank_count <= reduce_alone)
        return count > 0 ? reduce_everywhere(data, count, size, op) : PS_OK;
    int64_t piece = reduce_piece / size;
    for (int64_t done = 0; done < count; done += piece) {
        int64_t now = count - done < piece ? count - done : piece;
        PS_TRY(reduce_by_segments((char *)data + done * size, now, size, op));
    }
    return PS_OK;
}

static ps_status broadcast(char *data, int64_t bytes, int root)
{
    for (int64_t done = 0; done < bytes; done += message_piece) {
        int now = (int)(bytes - done < message_piece ? bytes - done : message_piece);
        CALL(broadcast, data + done, now, root);
    }
    return PS_OK;
}

static ps_status gather(const void *data, int64_t bytes, char *out)
{
    if (bytes * rank_count <= message_piece) {
        CALL(all_gather, data, (int)bytes, out);
        return PS_OK;
    }
    memcpy(out + my_rank * bytes, data, (size_t)bytes);
    for (int r = 0; r < rank_count; ++r) PS_TRY(broadcast(out + r * bytes, bytes, r));
    return PS_OK;
}

/* Both sides cut a message alike, and messages between two ranks keep their order. */
static ps_status post(const ps_comm_exchange *exchange, bool receive, ps_comm_pending *pending)
{
    int64_t bytes = receive ? exchange->receive_bytes : exchange->send_bytes;
    for (int64_t done = 0; done < bytes; done += message_piece) {
        int now = (int)(bytes - done < message_piece ? bytes - done : message_piece);
        int at = pending->count++;
        if (receive)
            CALL(receive, (char *)exchange->receive + done, now, exchange->neighbour,
                 pending->requests, at);
        else
            CALL(send, (const char *)exchange->send + done, now, exchange->neighbour,
                 pending->requests, at);
    }
    return PS_OK;
}

static ps_status exchange_start(const ps_comm_exchange *exchanges, int count,
                                ps_comm_pending *pending)
{
    int64_t pieces = 0;
    for (int e = 0; e < count; ++e)
        pieces += (exchanges[e].send_bytes + message_piece - 1) / message_piece +
                  (exchanges[e].receive_bytes + message_piece - 1) / message_piece;
    PS_TRY(PS_ALLOC(&pending->requests, pieces * mpi->request_bytes, "an exchange between ranks"));
    for (int e = 0; e < count; ++e) PS_TRY(post(&exchanges[e], true, pending));
    for (int e = 0; e < count; ++e) PS_TRY(post(&exchanges[e], false, pending));
    return PS_OK;
}

/* ---- the interface ---- */

ps_status ps_comm_start(int *argc, char ***argv)
{
    ps_mpi_launch launch;
    if (!ps_mpi_launched(&launch)) return PS_OK;
    PS_TRY(ps_mpi_load(&launch, &mpi));
    return start(&launch, argc, argv);
}

void ps_comm_end(void)
{
    if (mpi) mpi->end();
    free(workspace);
    free(segments);
    workspace = NULL;
    segments = NULL;
    mpi = NULL;
    my_rank = 0;
    rank_count = 1;
}

void ps_comm_abort(int code)
{
    if (rank_count > 1) mpi->abort(code);
}

int ps_comm_rank(void) { return my_rank; }
int ps_comm_size(void) { return rank_count; }
int ps_comm_local_rank(void) { return my_local_rank; }
int ps_comm_local_size(void) { return local_rank_count; }

ps_comm_traffic ps_comm_traffic_so_far(void) { return traffic; }

static ps_status reduce_all(void *data, int64_t count, size_t size, combine op)
{
    if (rank_count == 1) return PS_OK;
    if (op == sum_f32 || op == sum_f64 || op == sum_i64) {
        ++traffic.sums;
        traffic.summed += count * (int64_t)size;
    } else {
        ++traffic.agreements;
    }
    return reduce(data, count, (int64_t)size, op);
}

static void note_share(int64_t bytes)
{
    if (rank_count == 1) return;
    ++traffic.shares;
    traffic.shared += bytes;
}

ps_status ps_comm_sum_f32(float *data, int64_t count)
{
    return reduce_all(data, count, sizeof *data, sum_f32);
}
ps_status ps_comm_sum_f64(double *data, int64_t count)
{
    return reduce_all(data, count, sizeof *data, sum_f64);
}
ps_status ps_comm_sum_i64(int64_t *data, int64_t count)
{
    return reduce_all(data, count, sizeof *data, sum_i64);
}
ps_status ps_comm_max_f64(double *data, int64_t count)
{
    return reduce_all(data, count, sizeof *data, max_f64);
}
ps_status ps_comm_max_i64(int64_t *data, int64_t count)
{
    return reduce_all(data, count, sizeof *data, max_i64);
}
ps_status ps_comm_min_i64(int64_t *data, int64_t count)
{
    return reduce_all(data, count, sizeof *data, min_i64);
}

ps_status ps_comm_broadcast(void *data, int64_t bytes, int root)
{
    note_share(bytes);
    return rank_count > 1 ? broadcast(data, bytes, root) : PS_OK;
}

ps_status ps_comm_gather(const void *data, int64_t bytes, void *out)
{
    note_share(bytes);
    if (rank_count > 1) return gather(data, bytes, out);
    if (bytes > 0) memmove(out, data, (size_t)bytes);
    return PS_OK;
}

bool ps_comm_any(bool condition)
{
    int64_t value = condition;
    return ps_comm_max_i64(&value, 1) != PS_OK || value != 0; /* no answer: assume the worst */
}

ps_status ps_comm_agree(ps_status local)
{
    if (rank_count == 1) return local;
    int64_t worst = local, lowest = local != PS_OK ? my_rank : rank_count;
    char message[MESSAGE_SIZE] = "";
    PS_TRY(ps_comm_max_i64(&worst, 1));
    if (worst == PS_OK) return PS_OK;
    PS_TRY(ps_comm_min_i64(&lowest, 1));
    strncpy(message, ps_message(), sizeof message - 1);
    PS_TRY(broadcast(message, sizeof message, (int)lowest));
    if (local != PS_OK) return (ps_status)worst;
    return ps_fail((ps_status)worst, "rank %d: %s", (int)lowest, message);
}

/* ---- point to point ---- */

static ps_status check_exchanges(const ps_comm_exchange *exchanges, int count)
{
    for (int e = 0; e < count; ++e) {
        const ps_comm_exchange *one = &exchanges[e];
        if (one->neighbour < 0 || one->neighbour >= rank_count)
            return ps_fail(PS_FAILED, "exchange with rank %d, but there are %d ranks",
                           one->neighbour, rank_count);
        if (one->neighbour == my_rank && one->send_bytes != one->receive_bytes)
            return ps_fail(PS_FAILED, "rank %d sends itself %lld bytes and expects %lld", my_rank,
                           (long long)one->send_bytes, (long long)one->receive_bytes);
    }
    return PS_OK;
}

static void note_exchanges(const ps_comm_exchange *exchanges, int count)
{
    for (int e = 0; e < count; ++e) {
        if (exchanges[e].neighbour == my_rank || exchanges[e].send_bytes == 0) continue;
        ++traffic.messages;
        traffic.sent += exchanges[e].send_bytes;
    }
}

static void release_pending(ps_comm_pending **pending)
{
    if (!*pending) return;
    free((*pending)->requests);
    free(*pending);
    *pending = NULL;
}

ps_status ps_comm_exchange_start(const ps_comm_exchange *exchanges, int count,
                                 ps_comm_pending **out)
{
    *out = NULL;
    PS_TRY(check_exchanges(exchanges, count));
    PS_TRY(PS_ALLOC(out, 1, "an exchange between ranks"));
    note_exchanges(exchanges, count);
    if (rank_count > 1) {
        ps_status status = exchange_start(exchanges, count, *out);
        if (status != PS_OK) release_pending(out);
        return status;
    }
    for (int e = 0; e < count; ++e)
        if (exchanges[e].send_bytes > 0)
            memcpy(exchanges[e].receive, exchanges[e].send, (size_t)exchanges[e].send_bytes);
    return PS_OK;
}

ps_status ps_comm_exchange_wait(ps_comm_pending **pending)
{
    if (!*pending) return PS_OK;
    ps_status status = PS_OK;
    if (rank_count > 1)
        status = check(mpi->wait((*pending)->requests, (*pending)->count), "MPI's wait");
    release_pending(pending);
    return status;
}
