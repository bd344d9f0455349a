/* A journal: what is kept, and what of it is had again, by all parts. */
#include "stage/journal.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "runtime/memory.h"
#include "runtime/scope.h"
#include "tests/check.h"

static const char base[] = "out.items";
static ps_run run;
static const char identity[] = "order=5\nused_order=7\n";

static void begin_anew(void)
{
    ps_journal *journal;
    run = (ps_run){.fresh = true};
    check_ok(ps_journal_open(&run, base, 0, identity, (ps_interval){.steps = 1}, &journal));
    ps_journal_close(&journal, true);
    run.fresh = false;
}

static ps_journal *open_part(int part, ps_interval every)
{
    ps_journal *journal;
    check_ok(ps_journal_open(&run, base, part, identity, every, &journal));
    return journal;
}

static ps_status sum_up(void *context, int64_t step, int64_t count, const void *record,
                        int64_t bytes)
{
    assert_int_equal(bytes, sizeof(int));
    *(int *)context += *(const int *)record;
    return PS_OK;
}

static int replayed(ps_journal *journal)
{
    int sum = 0;
    check_ok(ps_journal_replay(journal, true, sum_up, &sum));
    return sum;
}

static void add(ps_journal *journal, int item)
{
    check_ok(ps_journal_add(journal, &item, sizeof item));
}

static void all_parts_are_had_again(void **state)
{
    begin_anew();
    const ps_interval all = {.steps = 1};
    for (int part = 0; part < 4; ++part) {
        if (part == 2) continue; /* a rank that had nothing to keep */
        ps_journal *journal = open_part(part, all);
        assert_true(ps_journal_wants(journal, 1 << 30));
        add(journal, 1 << part);
        ps_journal_close(&journal, false);
    }
    ps_journal *journal = open_part(0, all);
    assert_int_equal(replayed(journal), 1 + 2 + 8);
    ps_journal_close(&journal, true);
    assert_false(ps_journal_is_there(base));
}

/* Without part 0, too: its rank may have had nothing to keep when the run ended. */
static void other_parts_alone(void **state)
{
    begin_anew();
    char value[64];
    ps_journal *journal = open_part(3, (ps_interval){.steps = 1});
    add(journal, 8);
    ps_journal_close(&journal, false);
    assert_true(ps_journal_is_there(base));
    assert_true(ps_journal_value(base, "used_order", value));
    assert_string_equal(value, "7");
    assert_false(ps_journal_value(base, "used", value));
    journal = open_part(0, (ps_interval){.seconds = 100});
    assert_int_equal(replayed(journal), 8);
    ps_journal_close(&journal, true);
    assert_false(ps_journal_is_there(base));
}

/* By time: nothing before it, then on the disk. */
static void begins_by_itself(void **state)
{
    begin_anew();
    ps_journal *journal = open_part(0, (ps_interval){.seconds = .1});
    add(journal, 1);
    assert_false(ps_journal_wants(journal, sizeof(int)));
    assert_false(ps_journal_is_there(base));
    usleep(150000);
    assert_true(ps_journal_wants(journal, sizeof(int)));
    assert_false(ps_journal_wants(journal, INT64_MAX)); /* nor more than the disk can take */
    add(journal, 2);
    assert_true(ps_journal_is_there(base));
    ps_journal_close(&journal, false);
    journal = open_part(0, (ps_interval){0}); /* one that is there is gone on from all the same */
    assert_non_null(journal);
    assert_int_equal(replayed(journal), 2);
    ps_journal_close(&journal, true);
    assert_null(open_part(0, (ps_interval){0}));
    assert_false(ps_journal_wants(NULL, 1));
    check_ok(ps_journal_replay(NULL, true, sum_up, NULL));
}

/* Keeping takes no more than its share of the time. */
static void takes_little_time(void **state)
{
    begin_anew();
    enum { BYTES = 1 << 20 };
    PS_SCOPED_MEMORY char *item = calloc(1, BYTES);
    ps_journal *journal = open_part(0, (ps_interval){.seconds = .01});
    double start = ps_clock(), spent = 0;
    while (ps_clock() - start < .5) {
        double before = ps_clock();
        check_ok(ps_journal_add(journal, item, BYTES));
        spent += ps_clock() - before;
        usleep(100);
    }
    check_at_most(spent, .1); /* one more than 3 % at most, and a busy machine */
    ps_journal_close(&journal, true);
}

static void of_another_identity(void **state)
{
    begin_anew();
    ps_journal *journal = open_part(0, (ps_interval){.steps = 1});
    add(journal, 1);
    ps_journal_close(&journal, false);
    check_fails(ps_journal_open(&run, base, 0, "order=6\nused_order=7\n",
                                (ps_interval){.seconds = 9}, &journal),
                PS_USAGE, "had order \"5\", now it is \"6\"");
    assert_null(journal);
}

static void tidy(const char *options)
{
    static ps_product product;
    product.identity.options = options;
    check_ok(ps_journal_tidy(base, &product));
}

/* Beside a complete output only its own journal goes, and one that nobody can go on from. */
static void is_tidied(void **state)
{
    begin_anew();
    ps_journal *journal = open_part(2, (ps_interval){.steps = 1});
    ps_journal_close(&journal, false);
    tidy("order=6\nused_order=7\n");
    tidy("order=5\nused_order=8\n");
    tidy("used_order=7\n"); /* not where it begins */
    assert_true(ps_journal_is_there(base));
    tidy("order=5\nused_order=7\n");
    assert_false(ps_journal_is_there(base));
    check_write(base, ""); /* torn */
    tidy("order=5\nused_order=7\n");
    assert_false(ps_journal_is_there(base));
}
