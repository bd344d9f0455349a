#include "runtime/first_failure.h"

#include <stdio.h>

void ps_note_failure(ps_failure *failure, ps_status status)
{
    if (status == PS_OK) return;
#pragma omp critical(ps_first_failure)
    if (failure->status == PS_OK) {
        snprintf(failure->message, sizeof failure->message, "%s", ps_message());
#pragma omp atomic write
        failure->status = status;
    }
}

bool ps_has_failed(const ps_failure *failure)
{
    ps_status status;
#pragma omp atomic read
    status = failure->status;
    return status != PS_OK;
}

ps_status ps_first_failure(const ps_failure *failure)
{
    return failure->status == PS_OK ? PS_OK : ps_fail(failure->status, "%s", failure->message);
}
