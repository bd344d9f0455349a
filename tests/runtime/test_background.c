#include "runtime/background.h"
#include "tests/check.h"

static ps_status add_one(void *argument)
{
    ++*(int *)argument;
    return PS_OK;
}

static ps_status refuse(void *argument)
{
    return ps_fail(PS_INVALID, "%d is wrong", *(int *)argument);
}

static void calls_in_turn(void **state)
{
    ps_background background = {0};
    int number = 0;
    check_ok(ps_background_wait(&background)); /* nothing is busy */
    for (int call = 1; call <= 3; ++call) {
        check_ok(ps_background_start(&background, add_one, &number, "a thread"));
        check_ok(ps_background_wait(&background));
        assert_int_equal(number, call);
        assert_true(background.seconds >= 0);
    }
}

static void hands_failures_over(void **state)
{
    ps_background background = {0};
    int number = 41;
    check_ok(ps_background_start(&background, refuse, &number, "a thread"));
    check_fails(ps_background_wait(&background), PS_INVALID, "41 is wrong");
    check_ok(ps_background_wait(&background)); /* told once */
}
