/* What a handler does is async-signal-safe: stat, rename, unlink, write, alarm, nanosleep, _exit.
 */
#include "runtime/stop.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "runtime/memory.h"
#include "runtime/status.h"

enum { OUTDATED = 8, TEMPORARIES = 64, PATH_BYTES = 4096, GRACE_LEAST = 2, GRACE_MOST = 20 };

typedef struct outdated_output {
    atomic_bool renewed;
    dev_t device; /* with the inode: the file that is outdated; another rank may renew the name */
    ino_t inode;
    char path[PATH_BYTES], previous[PATH_BYTES + 16];
} outdated_output;

typedef struct temporary_file {
    atomic_int state; /* FREE, TAKEN while the name is written, THERE */
    char path[PATH_BYTES];
} temporary_file;
enum { FREE, TAKEN, THERE };

enum { SIGNALS = 5 };
static const int signals[SIGNALS] = {SIGTERM, SIGINT, SIGALRM, SIGXCPU, SIGHUP};
static const char *name = "penstock";
static bool speaks;
static double stop_time; /* 0: never */
static volatile sig_atomic_t asked, noticed, deferred;
static _Atomic double saved;
static _Atomic(const char *) kept;
static outdated_output outdated[OUTDATED];
static atomic_int outdated_count, ending;
static temporary_file temporaries[TEMPORARIES];

static void say(const char *text)
{
    ssize_t written = write(STDERR_FILENO, text, strlen(text));
    (void)written;
}

void ps_stop_set_aside(void)
{
    struct stat now;
    for (int i = 0; i < outdated_count; ++i) {
        const outdated_output *o = &outdated[i];
        if (!o->renewed && stat(o->path, &now) == 0 && now.st_dev == o->device &&
            now.st_ino == o->inode)
            rename(o->path, o->previous);
    }
}

bool ps_stop_remove_temporaries(void)
{
    bool any = false;
    for (int i = 0; i < TEMPORARIES; ++i) {
        any |= temporaries[i].state != FREE;
        if (temporaries[i].state == THERE) unlink(temporaries[i].path);
    }
    return any;
}

static void end_at_once(void)
{
    const struct timespec moment = {0, 20000000};
    if (atomic_exchange(&ending, 1)) return; /* by one thread */
    const char *what = kept;
    /* Another thread may be about to make a file whose name it has told already. */
    if (ps_stop_remove_temporaries()) {
        nanosleep(&moment, NULL);
        ps_stop_remove_temporaries();
    }
    ps_stop_set_aside();
    if (speaks) {
        say(name);
        say(": warning: stopped; ");
        say(what ? what : "the same command begins again");
        say("\n");
    }
    _exit(PS_STOPPED);
}

/* Seconds that a program has to heed a signal. */
static unsigned grace(void)
{
    double lost = ps_clock() - saved, seconds = lost / 30;
    return seconds < GRACE_LEAST  ? GRACE_LEAST
           : seconds > GRACE_MOST ? GRACE_MOST
                                  : (unsigned)seconds;
}

static void on_stop(int signal_number)
{
    if (!deferred) end_at_once();
    if (signal_number == SIGALRM && asked && !noticed) end_at_once();
    if (asked) return;
    asked = 1;
    alarm(grace());
}

static void arm(double seconds)
{
    struct itimerval timer = {.it_value = {(time_t)seconds, 0}};
    timer.it_value.tv_usec = (suseconds_t)(1e6 * (seconds - (double)timer.it_value.tv_sec));
    if (timer.it_value.tv_sec == 0 && timer.it_value.tv_usec == 0) timer.it_value.tv_usec = 1;
    setitimer(ITIMER_REAL, &timer, NULL);
}

/* Blocks the signals, or no longer. */
static void mask(int how)
{
    sigset_t ours;
    sigemptyset(&ours);
    for (int i = 0; i < SIGNALS; ++i) sigaddset(&ours, signals[i]);
    sigprocmask(how, &ours, NULL);
}

void ps_stop_hold(void) { mask(SIG_BLOCK); }

void ps_stop_catch(const char *program, bool is_first, bool saves, double after)
{
    struct sigaction once = {.sa_handler = on_stop, .sa_flags = SA_RESETHAND | SA_RESTART};
    struct sigaction again = {.sa_handler = on_stop, .sa_flags = SA_RESTART}, before;
    name = program;
    speaks = is_first;
    saved = ps_clock();
    sigaction(SIGTERM, &once, NULL);
    sigaction(SIGINT, &once, NULL);
    sigaction(SIGALRM, &again, NULL);
    /* A terminal that closes says so twice, a limit of processor time every second. */
    sigaction(SIGXCPU, &again, NULL);
    if (sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler != SIG_IGN) /* nohup */
        sigaction(SIGHUP, &again, NULL);
    mask(SIG_UNBLOCK); /* whoever started this may have blocked them */
    signal(SIGXFSZ, SIG_IGN); /* a file-size limit then shows as a failed write, by name */
    if (after > 0 && saves) stop_time = ps_clock() + after;
    if (after > 0 && !saves) arm(after);
}

void ps_stop_release(void)
{
    for (int i = 0; i < SIGNALS; ++i) signal(signals[i], SIG_DFL);
}

bool ps_stop_requested(void)
{
    if (!asked && (stop_time == 0 || ps_clock() < stop_time)) return false;
    if (asked && !noticed) {
        noticed = 1;
        alarm(0);
    }
    return true;
}

void ps_stop_defer(void)
{
    saved = ps_clock();
    deferred = 1;
}

void ps_stop_keeps(const char *what) { kept = what; }

void ps_stop_outdates(const char *path)
{
    int at = outdated_count;
    struct stat now;
    if (at == OUTDATED || strlen(path) >= PATH_BYTES || stat(path, &now) != 0) return;
    for (int i = 0; i < at; ++i)
        if (strcmp(outdated[i].path, path) == 0) {
            outdated[i].device = now.st_dev;
            outdated[i].inode = now.st_ino;
            outdated[i].renewed = false;
            return;
        }
    outdated[at].device = now.st_dev;
    outdated[at].inode = now.st_ino;
    snprintf(outdated[at].path, PATH_BYTES, "%s", path);
    snprintf(outdated[at].previous, sizeof outdated[at].previous, "%s.previous", path);
    outdated_count = at + 1; /* a handler sees whole names only */
}

void ps_stop_renews(const char *path)
{
    for (int i = 0; i < outdated_count; ++i)
        if (strcmp(outdated[i].path, path) == 0) outdated[i].renewed = true;
}

void ps_stop_temporary(const char *path)
{
    if (strlen(path) >= PATH_BYTES) return;
    for (int i = 0; i < TEMPORARIES; ++i) {
        int free_slot = FREE;
        if (!atomic_compare_exchange_strong(&temporaries[i].state, &free_slot, TAKEN)) continue;
        snprintf(temporaries[i].path, PATH_BYTES, "%s", path);
        temporaries[i].state = THERE;
        while (ending) pause(); /* nothing is made any more */
        return;
    }
}

void ps_stop_forget(const char *path)
{
    for (int i = 0; i < TEMPORARIES; ++i)
        if (temporaries[i].state == THERE && strcmp(temporaries[i].path, path) == 0)
            temporaries[i].state = FREE;
}
