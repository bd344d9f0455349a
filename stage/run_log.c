#include "stage/run_log.h"

#include <unistd.h>

#include "formats/checkpoint.h"
#include "runtime/log.h"

ps_status ps_run_log_open(const ps_run *run, const char *path, const char *name,
                          const char *identity, ps_append_log **out)
{
    *out = NULL;
    if (access(path, F_OK) != 0) return PS_OK;
    ps_status status = ps_append_log_open(path, out);
    if (status == PS_INVALID) { /* without its head nothing of it can be used */
        if (!run->fresh) ps_warning("%s; the run begins from the start", ps_message());
        return PS_OK;
    }
    PS_TRY(status);
    if (run->fresh) {
        ps_append_log_close(out);
        return PS_OK;
    }
    status = ps_identity_check(name, ps_append_log_identity(*out), identity);
    if (status != PS_OK) ps_append_log_close(out);
    return status;
}
