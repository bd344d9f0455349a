/* Wave numbers of a sweep: lists, ranges, frequencies. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compute/hbem_solve/solve.h"
#include "runtime/compare.h"
#include "runtime/option_values.h"

/* FROM:TO:N, both ends included. */
static ps_status parse_range(const char *option, const char *text, const char *measure,
                             double *out, int room, int *count)
{
    char from[64], to[64], rest;
    double ends[2];
    int number;
    if (sscanf(text, "%63[^:]:%63[^:]:%d%c", from, to, &number, &rest) != 3 || number < 2)
        return ps_fail(PS_USAGE, "--%s: \"%s\" is no list with commas, nor FROM:TO:N with N of 2 "
                                 "and more", option, text);
    if (number > room) return ps_fail(PS_USAGE, "--%s: more than %d are asked for", option, SWEEP_MAX);
    PS_TRY(ps_parse_measure(from, measure, &ends[0]));
    PS_TRY(ps_parse_measure(to, measure, &ends[1]));
    for (int i = 0; i < number; ++i)
        out[i] = i == number - 1 ? ends[1] : ends[0] + (ends[1] - ends[0]) * i / (number - 1);
    *count = number;
    return PS_OK;
}

/* Adds those of an option, times `factor`. */
static ps_status add(const char *option, const char *text, const char *measure, double factor,
                     solve_options *o)
{
    double *to = o->wavenumbers + o->wavenumber_count;
    int count = 0, room = SWEEP_MAX - o->wavenumber_count;
    PS_TRY_IN(strchr(text, ':') ? parse_range(option, text, measure, to, room, &count)
                                : ps_parse_measures(text, measure, to, room, &count),
              "--%s", option);
    for (int i = 0; i < count; ++i) {
        if (!(to[i] > 0 && to[i] * factor < 1e9))
            return ps_fail(PS_USAGE, "--%s: \"%s\" is not above 0", option, text);
        to[i] *= factor;
    }
    o->wavenumber_count += count;
    return PS_OK;
}

ps_status sweep_parse(const sweep_words *words, solve_options *o)
{
    if (words->absorption) PS_TRY(ps_hbem_parse_absorption(words->absorption, &o->absorption));
    for (int i = 0; i < words->wavenumber->count; ++i)
        PS_TRY(add("wavenumber", words->wavenumber->items[i], "K", 1, o));
    if (words->wavenumbers) PS_TRY(add("wavenumbers", words->wavenumbers, "K", 1, o));
    if (words->frequencies && !(o->speed > 0))
        return ps_fail(PS_USAGE, "--frequencies: --speed of the medium is needed, to know their wave "
                                 "numbers");
    if (words->frequencies)
        PS_TRY(add("frequencies", words->frequencies, "HZ", 2 * M_PI / o->speed, o));
    qsort(o->wavenumbers, (size_t)o->wavenumber_count, sizeof *o->wavenumbers, ps_compare_reals);
    for (int i = 0; i < o->wavenumber_count; ++i)
        if (o->absorption > o->wavenumbers[i])
            return ps_fail(PS_USAGE, "--absorption: %g Np/m are more than the wave number %g rad/m: that "
                                     "is no wave", o->absorption, o->wavenumbers[i]);
    for (int i = 1; i < o->wavenumber_count; ++i)
        if (o->wavenumbers[i] <= o->wavenumbers[i - 1] * (1 + 1e-12))
            return ps_fail(PS_USAGE, "the wave number %.9g is asked for twice", o->wavenumbers[i]);
    return PS_OK;
}
