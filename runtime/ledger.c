#include "runtime/ledger.h"

#include <stdio.h>
#include <string.h>

#include "runtime/log.h"
#include "runtime/memory.h"
#include "runtime/path.h"
#include "runtime/program.h"
#include "runtime/sizes.h"

/* Code and tables of libraries that a run comes to only later, and what the heap keeps of what was
 * freed; stacks and heaps of threads. Measured on small inputs of all programs. */
enum { LATER = 5 << 20, THREAD = 256 << 10 };
/* What a process takes more or less from one run of the same command to the next: pages of
 * libraries are mapped around those that are used, as far as other programs have them in memory. */
enum { JITTER = 2 << 20 };

static int64_t least_of(const ps_ledger *ledger)
{
    return (ledger->least ? ledger->least : ledger->most[PS_ROOM_HOST]) + JITTER;
}

void ps_ledger_open_empty(ps_ledger *ledger) { *ledger = (ps_ledger){.counts = true}; }

void ps_ledger_open(ps_ledger *ledger, const struct ps_run *run)
{
    ps_memory_trim();
    int64_t taken = ps_memory_resident() - run->libraries, peak = ps_memory_peak();
    ps_ledger_open_empty(ledger);
    ledger->output = run->output;
    ps_ledger_add(ledger, PS_ROOM_HOST, "libraries",
                  run->libraries + LATER + run->threads * THREAD);
    ps_ledger_add(ledger, PS_ROOM_HOST, "inputs", taken > 0 ? taken : 0);
    if (peak > ledger->most[PS_ROOM_HOST]) ledger->most[PS_ROOM_HOST] = peak;
}

static ps_ledger_line *find(ps_ledger *ledger, const char *name)
{
    for (int i = 0; i < ledger->count; ++i)
        if (strcmp(ledger->lines[i].name, name) == 0) return &ledger->lines[i];
    return NULL;
}

void ps_ledger_add(ps_ledger *ledger, ps_ledger_room room, const char *name, int64_t bytes)
{
    ps_ledger_line *line = find(ledger, name);
    if (!line) { /* beyond the last line the last one takes all: nothing is lost of the sums */
        line = &ledger->lines[ledger->count - (ledger->count == PS_LEDGER_LINES)];
        if (ledger->count < PS_LEDGER_LINES) {
            *line = (ps_ledger_line){.name = name, .room = room};
            ++ledger->count;
        }
    }
    line->now += bytes;
    line->most = ps_larger(line->most, line->now);
    ledger->now[room] += bytes;
    ledger->most[room] = ps_larger(ledger->most[room], ledger->now[room]);
}

void ps_ledger_drop(ps_ledger *ledger, const char *name)
{
    ps_ledger_line *line = find(ledger, name);
    if (!line) return;
    ledger->now[line->room] -= line->now;
    line->now = 0;
}

int64_t ps_ledger_now(const ps_ledger *ledger, const char *name)
{
    const ps_ledger_line *line = find((ps_ledger *)ledger, name);
    return line ? line->now : 0;
}

int64_t ps_ledger_most(const ps_ledger *ledger, const char *name)
{
    const ps_ledger_line *line = find((ps_ledger *)ledger, name);
    return line ? line->most : 0;
}

ps_status ps_ledger_take(ps_ledger *ledger, void **out, int64_t count, size_t size,
                         const char *line)
{
    *out = NULL;
    if (ledger && count > 0) ps_ledger_add(ledger, PS_ROOM_HOST, line, count * (int64_t)size);
    return ledger && ledger->counts ? PS_OK : ps_alloc(out, count, size, line);
}

int64_t ps_ledger_left(const ps_ledger *ledger, int64_t host_memory)
{
    return host_memory - ledger->now[PS_ROOM_HOST] - JITTER;
}

static int64_t disk_of(const ps_ledger *ledger)
{
    return ledger->most[PS_ROOM_DISK] + ledger->most[PS_ROOM_STATES];
}

static ps_status check_disk(const ps_ledger *ledger)
{
    int64_t most = disk_of(ledger), sure = ledger->most[PS_ROOM_DISK];
    int64_t room = ledger->output && most > 0 ? ps_path_room(ledger->output) : INT64_MAX;
    int64_t beside = room < most ? ps_path_beside(ledger->output) : 0;
    if (room >= most || room + beside >= most) return PS_OK;
    if (room + beside >= sure) {
        ps_warning(
            "%s: checkpoints may take up to %.1f MB, less as far as they are compressed, and "
            "%.1f MB are free there; a run that fills the disk ends with its last one, from "
            "which the same command goes on",
            ledger->output, 1e-6 * (double)(most - sure), 1e-6 * (double)room);
        return PS_OK;
    }
    return ps_fail(PS_EXHAUSTED,
                   "%s: the run writes up to %.1f MB, but only %.1f MB are free there; free some "
                   "space or write elsewhere",
                   ledger->output, 1e-6 * (double)most, 1e-6 * (double)room);
}

ps_status ps_ledger_check(const ps_ledger *ledger, int64_t host_memory, const char *advice)
{
    int64_t most = ledger->most[PS_ROOM_HOST], least = least_of(ledger);
    char lines[1024] = "";
    size_t at = 0;
    /* Left to itself the heap keeps what was freed, megabytes a thread. */
    if (most > host_memory / 4 * 3) ps_memory_tight();
    if (most <= host_memory) return check_disk(ledger);
    for (int i = 0; i < ledger->count && at < sizeof lines; ++i)
        if (ledger->lines[i].room == PS_ROOM_HOST && ledger->lines[i].most > 0)
            at += (size_t)snprintf(lines + at, sizeof lines - at, "%s%s %.1f", at ? ", " : "",
                                   ledger->lines[i].name, 1e-6 * (double)ledger->lines[i].most);
    return ps_fail(
        PS_EXHAUSTED,
        "--host-memory: %.1f MB cannot do, at least %.1f MB are needed (%lldM; MB: %s)%s%s",
        1e-6 * (double)host_memory, 1e-6 * (double)least,
        (long long)((least + (1 << 20) - 1) >> 20), lines, advice ? "; " : "",
        advice ? advice : "");
}

void ps_ledger_report(const ps_ledger *ledger, const struct ps_run *run, ps_report *report)
{
    ps_report_section(report, NULL);
    int64_t least =
        least_of(ledger); /* where that is all, memory has what processes vary by, too */
    ps_report_int(report, "memory", ps_larger(ledger->most[PS_ROOM_HOST], least));
    ps_report_int(report, "least_memory", least);
    if (ledger->most[PS_ROOM_DEVICE] > 0)
        ps_report_int(report, "device_memory", ledger->most[PS_ROOM_DEVICE]);
    ps_report_int(report, "disk", disk_of(ledger));
    if (run->output) ps_report_int(report, "disk_free", ps_path_room(run->output));
    ps_report_section(report, "ledger");
    for (int i = 0; i < ledger->count; ++i)
        if (ledger->lines[i].most > 0)
            ps_report_int(report, ledger->lines[i].name, ledger->lines[i].most);
    ps_report_section(report, NULL);
}
