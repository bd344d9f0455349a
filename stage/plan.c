#include "runtime/scope.h"
#include "stage/plan.h"

#include <sys/stat.h>

#include "formats/store_memory.h"
#include "runtime/ledger.h"

/* To open files and write what is small. */
static const double least_seconds = 0.02;

ps_status ps_plan_take(const ps_run *run, const ps_need *need, ps_report *report)
{
    ps_ledger ledger;
    ps_ledger_open(&ledger, run);
    ps_ledger_add(&ledger, PS_ROOM_HOST, "arrays", need->arrays);
    if (need->writer > 0)
        ps_ledger_add(&ledger, PS_ROOM_HOST, "writing",
                      (need->writers > 1 ? need->writers : 1) *
                          ps_store_writer_bytes(need->writer));
    ps_ledger_add(&ledger, PS_ROOM_DISK, "files", need->disk);
    if (need->guessed) ledger.output = NULL;
    ledger.least = ledger.most[PS_ROOM_HOST];
    int64_t room = run->host_memory - ledger.now[PS_ROOM_HOST];
    if (room > 0)
        ps_ledger_add(&ledger, PS_ROOM_HOST, "more", need->more < room ? need->more : room);
    if (run->plan) {
        ps_ledger_report(&ledger, run, report);
        if (need->needs)
            ps_report_text(report, "time_needs", need->needs);
        else
            ps_report_real(report, "time", least_seconds + need->seconds);
    }
    return ps_ledger_check(&ledger, run->host_memory, NULL);
}

ps_status ps_plan_tell(const ps_run *run, const ps_need *need)
{
    PS_SCOPED(ps_report_print) ps_report *report = run->plan ? ps_report_new(run) : NULL;
    return ps_plan_take(run, need, report);
}

ps_status ps_plan_reading(const ps_run *run, const char *const *paths, int count)
{
    ps_need need = {.arrays = 0};
    for (int i = 0; i < count; ++i) {
        ps_store *store;
        struct stat file;
        PS_TRY(ps_store_open_unchecked(paths[i], NULL, 0, &store));
        need.arrays += 2 * ps_store_reader_bytes(store);
        need.seconds += stat(paths[i], &file) == 0 ? 1e-9 * (double)file.st_size : 0;
        ps_store_close(&store);
    }
    return ps_plan_tell(run, &need);
}
