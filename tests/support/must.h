/* must: where no test is around that could fail, a failure is told and ends the program. */
#ifndef PS_TESTS_SUPPORT_MUST_H
#define PS_TESTS_SUPPORT_MUST_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "runtime/status.h"

static inline void must(ps_status status)
{
    if (status == PS_OK) return;
    fprintf(stderr, "%s: %s\n", program_invocation_short_name, ps_message());
    exit(status);
}

#endif
