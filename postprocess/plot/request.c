#include <stdio.h>
#include <string.h>

#include "postprocess/plot/plot.h"
#include "runtime/options.h"

void plot_label(const plot_request *r, int index, char *out, size_t size)
{
    const char *at = r->labels;
    for (int i = 0; at && i < index; ++i) {
        at = strchr(at, ',');
        if (at) ++at;
    }
    if (at && *at) {
        snprintf(out, size, "%.*s", (int)strcspn(at, ","), at);
        return;
    }
    const char *slash = strrchr(r->files[index], '/');
    snprintf(out, size, "%s", slash ? slash + 1 : r->files[index]);
    char *dot = strrchr(out, '.');
    if (dot && dot > out) *dot = 0;
    dot = strrchr(out, '.');
    if (dot && dot > out && strcmp(dot, ".workers") == 0) *dot = 0;
}

ps_status plot_x_range(const plot_request *r, double *low, double *high)
{
    double ends[2] = {0, 0};
    int count = 0;
    if (r->x_range) {
        PS_TRY_IN(ps_parse_reals(r->x_range, ',', ends, 2, &count), "--x-range");
        if (count != 2 || ends[0] >= ends[1])
            return ps_fail(PS_USAGE, "--x-range: \"%s\" is not FROM,TO with FROM < TO", r->x_range);
    }
    *low = ends[0];
    *high = ends[1];
    return PS_OK;
}

ps_status plot_need_files(const plot_request *r, int least, int most, const char *what)
{
    if (r->file_count >= least && r->file_count <= most) return PS_OK;
    if (least == most)
        return ps_fail(PS_USAGE, "this picture takes %s: %d file%s, not %d", what, least,
                       least == 1 ? "" : "s", r->file_count);
    return ps_fail(PS_USAGE, "this picture takes %d to %d files (%s), not %d", least, most, what,
                   r->file_count);
}
