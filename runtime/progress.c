#include "runtime/progress.h"

#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "runtime/log.h"
#include "runtime/memory.h"

enum { LEVELS = 4, LINE = 256, STACK = 256 << 10 };
static const double first_line = 3, terminal_lines = 1; /* s */
static double other_lines = 20;

typedef struct stage {
    const char *what, *unit;
    int64_t first, done, total;
    double start, part; /* part < 0: by what is done */
    char text[LINE / 2];
} stage;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards what follows */
static stage stages[LEVELS];
static int depth; /* stages under way */
static const char *name = "penstock";
static double opened, shown;
static bool at_terminal, ticking;
static pthread_t ticker;

/* ---- lines; the lock is held ---- */

static int print_seconds(char *out, size_t size, double seconds)
{
    if (seconds < 100) return snprintf(out, size, "%.0f s", seconds);
    if (seconds < 6000) return snprintf(out, size, "%.0f min", seconds / 60);
    return snprintf(out, size, "%.1f h", seconds / 3600);
}

static double part_of(const stage *s)
{
    if (s->part >= 0) return s->part;
    return s->total > 0 ? (double)s->done / (double)s->total : 0;
}

/* What the time so far is for, of the whole: an earlier run's share took none of it. */
static double time_left(const stage *s, double now)
{
    double before = s->part < 0 && s->total > 0 ? (double)s->first / (double)s->total : 0;
    double part = part_of(s), made = part - before;
    return made > 0 ? (now - s->start) * (1 - part) / made : -1;
}

static void describe_stage(const stage *s, double now, char line[LINE])
{
    int at = snprintf(line, LINE, "%s", s->what);
    if (s->part >= 0)
        at += snprintf(line + at, (size_t)(LINE - at), ": %s", s->text);
    else if (s->total > 0)
        at += snprintf(line + at, (size_t)(LINE - at), ": %lld of %lld %s", (long long)s->done,
                       (long long)s->total, s->unit);
    double left = time_left(s, now);
    if (s->part >= 0 || s->total > 0)
        at += snprintf(line + at, (size_t)(LINE - at), " (%.0f %%)", 100 * part_of(s));
    at += snprintf(line + at, (size_t)(LINE - at), ", ");
    at += print_seconds(line + at, (size_t)(LINE - at), now - s->start);
    if (left < 0) return;
    at += snprintf(line + at, (size_t)(LINE - at), ", ");
    at += print_seconds(line + at, (size_t)(LINE - at), left);
    snprintf(line + at, (size_t)(LINE - at), " left");
}

static void show(double now)
{
    char line[LINE] = "working for ";
    shown = now;
    if (depth > 0)
        describe_stage(&stages[depth - 1], now, line);
    else
        print_seconds(line + strlen(line), LINE - strlen(line), now - opened);
    if (at_terminal)
        fprintf(stderr, "\r\033[K%s: %.100s", name, line);
    else
        ps_info("%s", line);
}

static void clear(void)
{
    if (at_terminal && shown > 0) fprintf(stderr, "\r\033[K");
    if (at_terminal) shown = ps_clock();
}

void ps_progress_clear(void)
{
    pthread_mutex_lock(&lock);
    clear();
    pthread_mutex_unlock(&lock);
}

/* ---- the thread ---- */

static void *tick(void *unused)
{
    const struct timespec moment = {0, 200000000};
    pthread_mutex_lock(&lock);
    while (ticking) {
        double now = ps_clock();
        if (now - opened >= (at_terminal ? first_line : 0) &&
            now - shown >= (at_terminal ? terminal_lines : other_lines))
            show(now);
        pthread_mutex_unlock(&lock);
        nanosleep(&moment, NULL);
        pthread_mutex_lock(&lock);
    }
    pthread_mutex_unlock(&lock);
    return NULL;
}

/* Signals are for the other threads: a handler ends the program where it computes. */
static bool start_ticker(void)
{
    pthread_attr_t attributes;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK);
    bool started = pthread_create(&ticker, &attributes, tick, NULL) == 0;
    pthread_attr_destroy(&attributes);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

void ps_progress_open(const char *program)
{
    name = program;
    opened = ps_clock();
    const char *every = getenv("PENSTOCK_PROGRESS");
    double seconds = every ? strtod(every, NULL) : 0;
    if (seconds > 0) other_lines = seconds;
    if (!ps_log_enabled(PS_LOG_INFO)) return;
    at_terminal = isatty(STDERR_FILENO);
    ticking = at_terminal || seconds > 0;
    if (!ticking) return;
    shown = at_terminal ? 0 : opened;
    if (!start_ticker()) ticking = false;
}

void ps_progress_close(void)
{
    bool running = ticking;
    pthread_mutex_lock(&lock);
    ticking = false;
    depth = 0;
    pthread_mutex_unlock(&lock);
    if (running) pthread_join(ticker, NULL);
    clear();
    at_terminal = false;
}

/* ---- stages ---- */

void ps_progress_start(ps_progress *progress, const char *what, const char *unit, int64_t done,
                       int64_t total)
{
    pthread_mutex_lock(&lock);
    if (depth == LEVELS) --depth;
    progress->level = depth++;
    double now = ps_clock();
    stages[progress->level] = (stage){.what = what,
                                      .unit = unit,
                                      .first = done,
                                      .done = done,
                                      .total = total,
                                      .start = now,
                                      .part = -1};
    if (!at_terminal && !ticking) shown = now;
    pthread_mutex_unlock(&lock);
}

/* Where no thread tells. The lock is held. */
static void show_if_due(void)
{
    double now = ps_clock();
    if (!ticking && ps_log_enabled(PS_LOG_INFO) && now - shown >= other_lines) show(now);
}

void ps_progress_update(ps_progress *progress, int64_t done)
{
    pthread_mutex_lock(&lock);
    stages[progress->level].done = done;
    show_if_due();
    pthread_mutex_unlock(&lock);
}

void ps_progress_part(ps_progress *progress, double part, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    pthread_mutex_lock(&lock);
    stage *s = &stages[progress->level];
    s->part = part > 0 ? fmin(part, 1) : 0;
    vsnprintf(s->text, sizeof s->text, format, args);
    show_if_due();
    pthread_mutex_unlock(&lock);
    va_end(args);
}

double ps_progress_of_residual(double residual, double tolerance)
{
    if (!(residual > 0 && residual < 1 && tolerance > 0 && tolerance < 1)) return 0;
    return fmin(log(residual) / log(tolerance), 1);
}

void ps_progress_end(ps_progress *progress)
{
    pthread_mutex_lock(&lock);
    depth = progress->level;
    clear();
    pthread_mutex_unlock(&lock);
}
