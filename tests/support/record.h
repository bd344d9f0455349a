/* Records of benchmarks, as tests/bench/run gathers them: one JSON object a line on standard
 * output. */
#ifndef PS_TESTS_SUPPORT_RECORD_H
#define PS_TESTS_SUPPORT_RECORD_H

#include <omp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "runtime/device.h"
#include "runtime/isa.h"
#include "runtime/program.h"

/* A text as printf makes it, of at most 255 characters: static, until the eighth call after this
 * one. */
__attribute__((format(printf, 1, 2))) static inline const char *text(const char *format, ...)
{
    static char room[8][256];
    static int turn;
    char *out = room[turn++ % 8];
    va_list list;
    va_start(list, format);
    vsnprintf(out, sizeof room[0], format, list);
    va_end(list);
    return out;
}

/* What one core of this machine is called. */
static inline const char *bench_core(void)
{
    return text("cpu-%s-1-core", ps_isa_name(ps_isa_here()));
}

static inline const char *bench_device(ps_device *device)
{
    return text("%s", ps_device_describe(device).name);
}

/* Of all cores, with the bytes or entries that it took. */
static inline void bench_record_cores(const char *name, const char *quantity, double value,
                                      const char *unit, double floor, double fraction, double size)
{
    printf("{\"case\": \"%s\", \"quantity\": \"%s\", \"value\": %.6g, \"unit\": \"%s\", "
           "\"floor\": %.6g, \"fraction\": %.4g, \"size\": %.6g, \"device\": \"cpu-%s-%d\", "
           "\"revision\": \"%s\"}\n",
           name, quantity, value, unit, floor, fraction, size, ps_isa_name(ps_isa_here()),
           omp_get_max_threads(), ps_revision());
    fflush(stdout);
}

/* floor: what the machine allows, in `unit`; 0 where nobody knows. The fraction of it that was
 * reached is floor / value of times and bytes, value / floor of rates. */
static inline void bench_record(const char *device, const char *name, const char *quantity,
                                double value, const char *unit, double floor, const char *size)
{
    bool rate = strstr(unit, "/s") || strcmp(unit, "%") == 0 || strcmp(unit, "1") == 0;
    double fraction = !(floor > 0 && value > 0) ? 0 : rate ? value / floor : floor / value;
    printf("{\"case\": \"%s\", \"quantity\": \"%s\", \"value\": %.6g, \"unit\": \"%s\", "
           "\"floor\": %.6g, \"fraction\": %.3f, \"size\": \"%s\", \"device\": \"%s\", "
           "\"revision\": \"%s\"}\n",
           name, quantity, value, unit, floor, fraction, size, device, ps_revision());
    fflush(stdout);
}

/* Of one core. */
static inline void bench_record_core(const char *name, const char *quantity, double value,
                                     const char *unit, double floor, const char *size)
{
    bench_record(bench_core(), name, quantity, value, unit, floor, size);
}

#endif
