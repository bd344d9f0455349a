#include <sys/resource.h>

#include "runtime/threads.h"
#include "tests/check.h"

static void threads_that_can_be(void **state)
{
    check_ok(ps_threads_check(1));
    check_ok(ps_threads_check(9));
    check_ok(ps_threads_check_default());
    check_fails(ps_threads_check(PS_THREADS_MOST + 1), PS_USAGE, "at most 4096");
}

/* Stacks of 8 MB each stand in for a limit of the machine. */
static void threads_without_room(void **state)
{
#ifndef __SANITIZE_ADDRESS__ /* whose shadow takes more than any limit */
    struct rlimit old, tight;
    assert_int_equal(getrlimit(RLIMIT_AS, &old), 0);
    tight = old;
    tight.rlim_cur = (rlim_t)4 << 30;
    assert_int_equal(setrlimit(RLIMIT_AS, &tight), 0);
    check_fails(ps_threads_check(PS_THREADS_MOST), PS_EXHAUSTED, "this process can have");
    check_ok(ps_threads_check(2));
    assert_int_equal(setrlimit(RLIMIT_AS, &old), 0);
#endif
}
