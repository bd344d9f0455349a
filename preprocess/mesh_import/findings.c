/* What is wrong with a mesh, gathered so that one run tells all of it. */
#include <stdarg.h>
#include <string.h>

#include "preprocess/mesh_import/import.h"
#include "runtime/log.h"

import_finding *import_finding_new(import_findings *findings, const char *what, const char *hint)
{
    import_finding *finding = &findings->list[findings->count];
    if (findings->count < IMPORT_FINDINGS_MAX - 1) ++findings->count;
    memset(finding, 0, sizeof *finding);
    finding->what = what;
    finding->hint = hint;
    return finding;
}

void import_finding_add(import_finding *finding, const char *format, ...)
{
    if (++finding->count > IMPORT_PLACES_MAX) return;
    size_t used = strlen(finding->places), room = sizeof finding->places - used;
    if (finding->count > 1) used += (size_t)snprintf(finding->places + used, room, "; ");
    if (used >= sizeof finding->places) return;
    va_list args;
    va_start(args, format);
    vsnprintf(finding->places + used, sizeof finding->places - used, format, args);
    va_end(args);
}

static void finding_text(const import_finding *finding, char *out, size_t size)
{
    snprintf(out, size, "%lld %s: %s%s. %s", (long long)finding->count, finding->what,
             finding->places, finding->count > IMPORT_PLACES_MAX ? "; ..." : "",
             finding->hint ? finding->hint : "Mend the mesh where it was made");
}

ps_status import_findings_verdict(const import_findings *findings, const char *input)
{
    int faults = 0;
    char text[1800];
    for (int i = 0; i < findings->count; ++i) faults += findings->list[i].count > 0;
    if (faults == 0) return PS_OK;
    for (int i = 0; i < findings->count; ++i) {
        if (findings->list[i].count == 0) continue;
        finding_text(&findings->list[i], text, sizeof text);
        if (faults == 1) return ps_fail(PS_INVALID, "%s: %s", input, text);
        ps_error("%s: %s", input, text);
    }
    return ps_fail(PS_INVALID, "%s: %d kinds of fault, listed above; nothing was written", input,
                   faults);
}
