#include <stdlib.h>

#include "runtime/ledger.h"
#include "runtime/memory.h"
#include "runtime/program.h"
#include "tests/check.h"

static int64_t most(const ps_ledger *l) { return l->most[PS_ROOM_HOST]; }

/* Phases that follow one another do not add up; what stays does. */
static void peak_is_that_of_the_largest_phase(void **state)
{
    ps_ledger l;
    (void)state;
    ps_ledger_open_empty(&l);
    ps_ledger_add(&l, PS_ROOM_HOST, "stays", 100);
    ps_ledger_add(&l, PS_ROOM_HOST, "first", 50);
    ps_ledger_drop(&l, "first");
    ps_ledger_add(&l, PS_ROOM_HOST, "second", 30);
    ps_ledger_add(&l, PS_ROOM_HOST, "second", 10);
    ps_ledger_add(&l, PS_ROOM_DEVICE, "device", 7);
    ps_ledger_add(&l, PS_ROOM_DISK, "files", 9);
    assert_int_equal(most(&l), 150);
    assert_int_equal(l.now[PS_ROOM_HOST], 140);
    assert_int_equal(l.most[PS_ROOM_DEVICE], 7);
    assert_int_equal(l.most[PS_ROOM_DISK], 9);
    assert_int_equal(ps_ledger_most(&l, "first"), 50);
    assert_int_equal(ps_ledger_now(&l, "first"), 0);
    assert_int_equal(ps_ledger_now(&l, "second"), 40);
    assert_int_equal(ps_ledger_now(&l, "no such line"), 0);
}

typedef struct part {
    double *a;
    int32_t *b;
} part;

static ps_status take(part *p, ps_ledger *l)
{
    PS_TRY(PS_LEDGER_TAKE(l, &p->a, 1000, "vectors"));
    return PS_LEDGER_TAKE(l, &p->b, 500, "indices");
}

/* One function plans and allocates, and asks for the same both times. */
static void planned_is_what_is_taken(void **state)
{
    ps_ledger plan, run;
    part p;
    (void)state;
    ps_ledger_open_empty(&plan);
    check_ok(take(&p, &plan));
    assert_null(p.a);
    assert_null(p.b);
    assert_int_equal(most(&plan), 8 * 1000 + 4 * 500);
    ps_ledger_open_empty(&run);
    run.counts = false;
    check_ok(take(&p, &run));
    assert_int_equal(most(&run), most(&plan));
    for (int i = 0; i < 1000; ++i) check_near(p.a[i], 0, 0, 0);
    PS_FREE(p.a, p.b);
    check_ok(take(&p, NULL)); /* without a ledger it only allocates */
    PS_FREE(p.a, p.b);
}

/* What a disk cannot have is refused, checkpoints that it may have are not. */
static void checkpoints_alone_are_not_refused(void **state)
{
    enum { MORE = 60 /* bits, than any disk has */ };
    ps_ledger l;
    (void)state;
    ps_ledger_open_empty(&l);
    l.output = "out.h5";
    ps_ledger_add(&l, PS_ROOM_DISK, "files", 9);
    ps_ledger_add(&l, PS_ROOM_STATES, "states", (int64_t)1 << MORE);
    check_ok(ps_ledger_check(&l, 1 << 20, NULL));
    ps_ledger_add(&l, PS_ROOM_DISK, "files", (int64_t)1 << MORE);
    check_fails(ps_ledger_check(&l, 1 << 20, NULL), PS_EXHAUSTED, "out.h5: the run writes up to");
}

static void refusal_names_least_and_lines(void **state)
{
    ps_ledger l;
    (void)state;
    ps_ledger_open_empty(&l);
    ps_ledger_add(&l, PS_ROOM_HOST, "vectors", 3 << 20);
    check_ok(ps_ledger_check(&l, 3 << 20, NULL));
    check_fails(
        ps_ledger_check(&l, (3 << 20) - 1, "fewer vectors help"), PS_EXHAUSTED,
        "--host-memory: 3.1 MB cannot do, at least 5.2 MB are needed (5M; MB: vectors 3.1); "
        "fewer vectors help");
    l.least = (2 << 20) + 1;
    check_fails(ps_ledger_check(&l, 1 << 20, NULL), PS_EXHAUSTED,
                "at least 4.2 MB are needed (5M;");
}

/* What the process holds is measured: an array that is touched is among the inputs. */
static void process_is_measured(void **state)
{
    enum { BYTES = 40 << 20 };
    ps_run run = {.libraries = ps_memory_resident(), .threads = 1};
    ps_ledger before, after, freed;
    char *array;
    (void)state;
    ps_ledger_open(&before, &run);
    check_ok(ps_alloc((void **)&array, BYTES, 1, "an array"));
    ps_ledger_open(&after, &run);
    int64_t more = ps_ledger_now(&after, "inputs") - ps_ledger_now(&before, "inputs");
    assert_true(more > BYTES * 0.97 && more < BYTES * 1.03);
    free(array);
    ps_ledger_open(&freed, &run);
#ifndef __SANITIZE_ADDRESS__ /* which keeps what is freed, to notice its use */
    assert_true(ps_ledger_now(&freed, "inputs") < BYTES / 4);
#endif
    assert_true(most(&freed) >= BYTES); /* the peak so far is not forgotten */
}

/* Beyond the last line nothing is lost of the sum. */
static void lines_are_limited_sums_are_not(void **state)
{
    static char names[2 * PS_LEDGER_LINES][8];
    ps_ledger l;
    (void)state;
    ps_ledger_open_empty(&l);
    for (int i = 0; i < 2 * PS_LEDGER_LINES; ++i) {
        snprintf(names[i], sizeof names[i], "n%d", i);
        ps_ledger_add(&l, PS_ROOM_HOST, names[i], 1);
    }
    assert_int_equal(most(&l), 2 * PS_LEDGER_LINES);
    assert_int_equal(l.count, PS_LEDGER_LINES);
}
