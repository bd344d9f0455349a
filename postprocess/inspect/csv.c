/* Traces as comma-separated text (RFC 4180), for spreadsheets and scripts. */
#include <stdio.h>
#include <string.h>

#include "formats/trace.h"
#include "postprocess/inspect/inspect.h"
#include "runtime/scope.h"

static void print_names(const ps_trace *trace)
{
    printf("%s", trace->in_frequency ? "frequency [Hz]" : "time [s]");
    for (int64_t c = 0; c < trace->channels; ++c) {
        if (trace->complex_values)
            printf(",real %lld [%s],imaginary %lld [%s]", (long long)c, trace->units, (long long)c,
                   trace->units);
        else
            printf(",channel %lld [%s]", (long long)c, trace->units);
    }
    printf("\n");
}

ps_status inspect_print_csv(const char *path, const ps_store *store)
{
    PS_SCOPED(ps_trace_release) ps_trace trace = {0};
    if (strcmp(ps_store_format(store), PS_TRACE_FORMAT) != 0)
        return ps_fail(PS_USAGE, "--csv is for traces; %s is a %s", path, ps_store_format(store));
    PS_TRY(ps_trace_load(path, &trace));
    print_names(&trace);
    for (int64_t s = 0; s < trace.samples; ++s) {
        printf("%.17g", trace.axis[s]);
        for (int64_t v = s * trace.channels; v < (s + 1) * trace.channels; ++v) {
            printf(",%.17g", trace.real[v]);
            if (trace.complex_values) printf(",%.17g", trace.imaginary[v]);
        }
        printf("\n");
    }
    if (fflush(stdout) != 0 || ferror(stdout))
        return ps_fail(PS_EXHAUSTED, "standard output cannot be written");
    return PS_OK;
}
