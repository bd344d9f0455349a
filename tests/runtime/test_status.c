#include <pthread.h>

#include "runtime/status.h"
#include "tests/check.h"

static void codes_are_pinned(void **state)
{
    assert_int_equal(PS_OK, 0);
    assert_int_equal(PS_FAILED, 1);
    assert_int_equal(PS_USAGE, 2);
    assert_int_equal(PS_INVALID, 3);
    assert_int_equal(PS_EXHAUSTED, 4);
    assert_int_equal(PS_INACCURATE, 5);
    assert_int_equal(PS_STOPPED, 75);
}

static void messages_nest(void **state)
{
    check_fails(ps_fail(PS_INVALID, "row %d is short", 3), PS_INVALID, "row 3 is short");
    check_fails(ps_context(PS_INVALID, "file %s", "a.h5"), PS_INVALID, "file a.h5: row 3 is short");
    /* An argument may be the old message itself. */
    check_fails(ps_fail(PS_FAILED, "again: %s", ps_message()), PS_FAILED,
                "again: file a.h5: row 3 is short");
    assert_int_equal(strncmp(ps_message(), "again", 5), 0);
}

/* Longer than there is room for: cut, terminated, and the context survives. */
static void long_messages_are_cut(void **state)
{
    char text[6000];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    ps_fail(PS_FAILED, "%s", text);
    size_t length = strlen(ps_message());
    assert_in_range(length, 1000, sizeof text - 2);
    for (size_t i = 0; i < length; ++i) assert_int_equal(ps_message()[i], 'x');
    for (int depth = 0; depth < 4; ++depth) {
        ps_context(PS_FAILED, "file %d", depth);
        assert_int_equal(strlen(ps_message()), length);
    }
    assert_int_equal(strncmp(ps_message(), "file 3: file 2: file 1: file 0: xxx", 35), 0);
    for (int cut = -4; cut <= 4; ++cut) { /* contexts that fill the room, about to the byte */
        ps_fail(PS_FAILED, "cause");
        ps_context(PS_FAILED, "%.*s", (int)length + cut, text);
        assert_true(strlen(ps_message()) <= length);
    }
}

static void *fail_elsewhere(void *argument)
{
    assert_string_equal(ps_message(), "");
    ps_fail(PS_FAILED, "elsewhere");
    return NULL;
}

static void each_thread_has_its_own(void **state)
{
    pthread_t thread;
    ps_fail(PS_FAILED, "here");
    assert_int_equal(pthread_create(&thread, NULL, fail_elsewhere, NULL), 0);
    pthread_join(thread, NULL);
    assert_string_equal(ps_message(), "here");
}

static ps_status try_it(ps_status inner, int *reached)
{
    PS_TRY(inner);
    *reached += 1;
    return PS_OK;
}

static ps_status guard_it(ps_status inner, int *reached, int *cleaned)
{
    ps_status status;
    PS_GUARD(status, done, inner);
    *reached += 1;
done:
    *cleaned += 1;
    return status;
}

static void failures_pass_on(void **state)
{
    int reached = 0, cleaned = 0;
    assert_int_equal(try_it(PS_USAGE, &reached), PS_USAGE);
    assert_int_equal(guard_it(PS_EXHAUSTED, &reached, &cleaned), PS_EXHAUSTED);
    assert_int_equal(reached, 0);
    assert_int_equal(try_it(PS_OK, &reached), PS_OK);
    assert_int_equal(guard_it(PS_OK, &reached, &cleaned), PS_OK);
    assert_int_equal(reached, 2);
    assert_int_equal(cleaned, 2);
}
