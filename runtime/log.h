/*
 * log: talk goes to stderr, results to stdout. Programs log; library functions of formats/
 * and kernels/ do not.
 */
#ifndef PS_RUNTIME_LOG_H
#define PS_RUNTIME_LOG_H

#include <stdbool.h>

typedef enum ps_log_level { PS_LOG_ERROR, PS_LOG_WARNING, PS_LOG_INFO, PS_LOG_DEBUG } ps_log_level;

/* Sets who speaks: program's name, the level (default PS_LOG_INFO), and whether this rank
 * prints information (rank 0); warnings and errors are printed by all ranks. */
void ps_log_setup(const char *program, ps_log_level level, bool speaks);

void ps_log(ps_log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

#define ps_error(...) ps_log(PS_LOG_ERROR, __VA_ARGS__)
#define ps_warning(...) ps_log(PS_LOG_WARNING, __VA_ARGS__)
#define ps_info(...) ps_log(PS_LOG_INFO, __VA_ARGS__)
#define ps_debug(...) ps_log(PS_LOG_DEBUG, __VA_ARGS__)

bool ps_log_enabled(ps_log_level level);

#endif
