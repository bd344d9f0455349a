/*
 * comm_check SIZE [abort|large]: checks runtime/comm on the ranks that it was launched with, and
 * prints a digest of all sums on rank 0. tests/stages/test_comm.sh runs it.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/comm.h"
#include "runtime/scope.h"

static int failures;

#define EXPECT(condition)                                                                          \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            printf("rank %d: line %d: %s is false (%s)\n", ps_comm_rank(), __LINE__, #condition,   \
                   ps_message());                                                                  \
            failures += 1;                                                                         \
        }                                                                                          \
    } while (0)

/* A number in (-1, 1) of many digits that depends on rank and index. */
static double value(int rank, int64_t i)
{
    return sin(1.0 + 7.0 * rank + 0.1 * (double)i) * pow(10, (double)((i + rank) % 5));
}

static uint64_t digest = 0xcbf29ce484222325u;

static void add_to_digest(const void *data, size_t bytes)
{
    const unsigned char *byte = data;
    for (size_t i = 0; i < bytes; ++i) digest = (digest ^ byte[i]) * 0x100000001b3u;
}

/* Bits as from a loop over the ranks in their order. */
static void check_sums(int64_t count)
{
    int size = ps_comm_size(), me = ps_comm_rank();
    PS_SCOPED_MEMORY float *singles = malloc(sizeof(float) * (size_t)(count + 1));
    PS_SCOPED_MEMORY double *doubles = malloc(sizeof(double) * (size_t)(count + 1));
    PS_SCOPED_MEMORY int64_t *integers = malloc(sizeof(int64_t) * (size_t)(count + 1));
    for (int64_t i = 0; i <= count; ++i) { /* one more, to see that it is left alone */
        singles[i] = (float)value(me, i);
        doubles[i] = value(me, i);
        integers[i] = (me + 1) * ((int64_t)1 << 33) + i;
    }
    EXPECT(ps_comm_sum_f32(singles, count) == PS_OK);
    EXPECT(ps_comm_sum_f64(doubles, count) == PS_OK);
    EXPECT(ps_comm_sum_i64(integers, count) == PS_OK);
    int64_t wrong = 0;
    for (int64_t i = 0; i < count; ++i) {
        double sum = 0, sum_of_singles = 0;
        for (int r = 0; r < size; ++r) {
            sum = r == 0 ? value(0, i) : sum + value(r, i);
            sum_of_singles += (float)value(r, i);
        }
        wrong += singles[i] != (float)sum_of_singles || doubles[i] != sum;
        wrong += integers[i] != size * (size + 1) / 2 * ((int64_t)1 << 33) + size * i;
    }
    EXPECT(wrong == 0);
    EXPECT(singles[count] == (float)value(me, count) && doubles[count] == value(me, count));
    add_to_digest(singles, sizeof(float) * (size_t)count);
    add_to_digest(doubles, sizeof(double) * (size_t)count);
}

static void check_extremes(void)
{
    int size = ps_comm_size(), me = ps_comm_rank();
    double doubles[3] = {-10.0 - me, me == size - 1 ? NAN : 1.0, me == 0 ? NAN : 1.0};
    EXPECT(ps_comm_max_f64(doubles, 3) == PS_OK);
    EXPECT(doubles[0] == -10.0 && isnan(doubles[1]) && isnan(doubles[2]));
    int64_t high[2] = {((int64_t)1 << 60) + me, -me}, low[2] = {high[0], -me};
    EXPECT(ps_comm_max_i64(high, 2) == PS_OK && ps_comm_min_i64(low, 2) == PS_OK);
    EXPECT(high[0] == ((int64_t)1 << 60) + size - 1 && high[1] == 0);
    EXPECT(low[0] == (int64_t)1 << 60 && low[1] == -(size - 1));
    EXPECT(ps_comm_any(me == size - 1) && !ps_comm_any(false));
}

static void check_copies(void)
{
    int size = ps_comm_size(), me = ps_comm_rank();
    for (int root = 0; root < size; ++root) {
        int64_t data[3] = {me, me + 1, 99};
        EXPECT(ps_comm_broadcast(data, 2 * (int64_t)sizeof *data, root) == PS_OK);
        EXPECT(data[0] == root && data[1] == root + 1 && data[2] == 99);
    }
    int64_t mine[2] = {me, me * me};
    PS_SCOPED_MEMORY int64_t *all = malloc(sizeof mine * (size_t)size);
    EXPECT(ps_comm_gather(mine, sizeof mine, all) == PS_OK);
    for (int r = 0; r < size; ++r) EXPECT(all[2 * r] == r && all[2 * r + 1] == r * r);
    EXPECT(ps_comm_gather(NULL, 0, NULL) == PS_OK);
}

static void check_agreement(void)
{
    int size = ps_comm_size(), me = ps_comm_rank();
    EXPECT(ps_comm_agree(PS_OK) == PS_OK);
    int odd = size > 1 ? 1 : 0; /* the lowest that fails; the last one fails too, and worse */
    ps_status mine = PS_OK;
    ps_fail(PS_FAILED, "an old message of rank %d", me);
    if (me == odd) mine = ps_fail(PS_FAILED, "trouble on the odd one");
    if (me == size - 1 && size > 2) mine = ps_fail(PS_EXHAUSTED, "trouble on the last");
    EXPECT(ps_comm_agree(mine) == (size > 2 ? PS_EXHAUSTED : PS_FAILED));
    const char *own = me == size - 1 && size > 2 ? "trouble on the last" : "trouble on the odd one";
    EXPECT(strstr(ps_message(), own));
    if (mine == PS_OK) EXPECT(strstr(ps_message(), "rank 1: "));
}

/* To the right more than to the left, to itself, and nothing; twice with the same neighbour. */
static void check_exchange(void)
{
    enum { MANY = 70000 };
    int size = ps_comm_size(), me = ps_comm_rank();
    int right = (me + 1) % size, left = (me + size - 1) % size;
    PS_SCOPED_MEMORY int *to_right = malloc(MANY * sizeof(int)),
                         *from_left = malloc(MANY * sizeof(int));
    int to_left[2] = {me, -me}, from_right[2] = {-1, -1}, to_me = 5 + me, from_me = 0;
    for (int i = 0; i < MANY; ++i) to_right[i] = me * MANY + i;
    ps_comm_exchange list[4] = {
        {right, to_right, from_right, MANY * sizeof(int), sizeof from_right},
        {left, to_left, from_left, sizeof to_left, MANY * sizeof(int)},
        {me, &to_me, &from_me, sizeof to_me, sizeof from_me},
        {right, NULL, NULL, 0, 0},
    };
    if (size <= 2) { /* left and right are the same: both lists in the order of the messages */
        int64_t many = MANY * sizeof(int);
        list[0] = (ps_comm_exchange){right, to_right, from_left, many, many};
        list[1] = (ps_comm_exchange){left, to_left, from_right, sizeof to_left, sizeof from_right};
    }
    ps_comm_pending *pending;
    EXPECT(ps_comm_exchange_start(list, 4, &pending) == PS_OK);
    EXPECT(ps_comm_exchange_wait(&pending) == PS_OK && !pending);
    EXPECT(from_right[0] == right && from_right[1] == -right && from_me == 5 + me);
    for (int i = 0; i < MANY; i += 999) EXPECT(from_left[i] == left * MANY + i);
    ps_comm_exchange foreign = {.neighbour = size};
    EXPECT(ps_comm_exchange_start(&foreign, 1, &pending) == PS_FAILED && !pending);
    foreign = (ps_comm_exchange){me, &to_me, &from_me, 4, 2};
    EXPECT(ps_comm_exchange_start(&foreign, 1, &pending) == PS_FAILED && !pending);
}

/* More than 2^31 bytes through each call; takes 5 GB a rank. */
static void check_large(void)
{
    int size = ps_comm_size(), me = ps_comm_rank();
    int64_t bytes = ((int64_t)1 << 31) + 12345, step = 1 << 20;
    PS_SCOPED_MEMORY unsigned char *data = malloc((size_t)bytes),
                                   *all = malloc((size_t)(bytes * size));
    for (int64_t i = 0; i < bytes; i += step) data[i] = (unsigned char)(me + i / step);
    data[bytes - 1] = (unsigned char)(200 + me);
    EXPECT(ps_comm_gather(data, bytes, all) == PS_OK);
    for (int r = 0; r < size; ++r) {
        int64_t wrong = all[r * bytes + bytes - 1] != 200 + r;
        for (int64_t i = 0; i < bytes; i += step)
            wrong += all[r * bytes + i] != (unsigned char)(r + i / step);
        EXPECT(wrong == 0);
    }
    ps_comm_exchange ring = {(me + 1) % size, data, all, bytes, 0},
                     back = {(me + size - 1) % size, NULL, all, 0, bytes}, list[2] = {ring, back};
    ps_comm_pending *pending;
    EXPECT(ps_comm_exchange_start(list, 2, &pending) == PS_OK);
    EXPECT(ps_comm_exchange_wait(&pending) == PS_OK);
    EXPECT(all[bytes - 1] == 200 + (me + size - 1) % size);
}

int main(int argc, char **argv)
{
    const char *mode = argc > 2 ? argv[2] : "";
    if (ps_comm_start(&argc, &argv) != PS_OK) {
        fprintf(stderr, "comm_check: %s\n", ps_message());
        return 1;
    }
    EXPECT(ps_comm_size() == atoi(argv[1]));
    EXPECT(ps_comm_rank() >= 0 && ps_comm_rank() < ps_comm_size());
    if (strcmp(mode, "abort") == 0) {
        if (ps_comm_rank() == ps_comm_size() - 1) ps_comm_abort(4);
        ps_comm_agree(PS_OK); /* the others would wait for ever */
    } else if (strcmp(mode, "large") == 0) {
        check_large();
    } else {
        int64_t counts[] = {0, 1, 2, 7, 1000, 4095, 12289, 530001};
        for (int c = 0; c < 8; ++c) check_sums(counts[c]);
        check_extremes();
        check_copies();
        check_agreement();
        check_exchange();
        if (ps_comm_rank() == 0) printf("digest %016llx\n", (unsigned long long)digest);
    }
    bool failed = ps_comm_any(failures > 0);
    ps_comm_end();
    return failed;
}
