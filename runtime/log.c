#include "runtime/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

static const char *name = "penstock";
static ps_log_level threshold = PS_LOG_INFO;
static bool rank_speaks = true;

void ps_log_setup(const char *program, ps_log_level level, bool speaks)
{
    name = program;
    threshold = level;
    rank_speaks = speaks;
}

bool ps_log_enabled(ps_log_level level)
{
    return level <= threshold && (rank_speaks || level <= PS_LOG_WARNING);
}

void ps_log(ps_log_level level, const char *format, ...)
{
    static const char *const prefix[] = {"error: ", "warning: ", "", "debug: "};
    if (!ps_log_enabled(level)) return;
    char text[4096];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    /* One write, so that the lines of ranks and threads do not mix. */
    fprintf(stderr, "%s%s: %s%s\n", isatty(STDERR_FILENO) ? "\r\033[K" : "", name, prefix[level],
            text);
}
