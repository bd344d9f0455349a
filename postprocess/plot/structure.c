#include "postprocess/plot/plot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/memory.h"

ps_status structure_init(structure *s, int64_t unknowns, int64_t first, int64_t count,
                         int64_t columns, int64_t bins_max)
{
    memset(s, 0, sizeof *s);
    if (count == 0) count = unknowns - first;
    if (first < 0 || count < 1 || first + count > unknowns)
        return ps_fail(PS_USAGE, "--first-row, --rows: rows %lld to %lld are not within 0 to %lld",
                       (long long)first, (long long)(first + count - 1), (long long)unknowns - 1);
    s->first = first;
    s->count = count;
    s->columns = columns;
    s->bins = count < bins_max ? count : bins_max;
    return PS_ALLOC(&s->pixels, s->bins * s->columns, "picture of a slice");
}

void structure_release(structure *s)
{
    free(s->pixels);
    memset(s, 0, sizeof *s);
}

void structure_add(structure *s, int64_t row, int64_t k, double v)
{
    if (row < s->first || row >= s->first + s->count || k < 1 || k > s->columns || v == 0) return;
    int64_t bin = (row - s->first) * s->bins / s->count;
    float size = (float)fabs(v), *pixel = &s->pixels[bin * s->columns + k - 1];
    if (size > *pixel) *pixel = size;
    if (size > s->largest) s->largest = size;
    if (s->smallest == 0 || size < s->smallest) s->smallest = size;
}

ps_status structure_slice(int64_t unknowns, int64_t wanted, int64_t *out)
{
    *out = wanted < 0 ? unknowns / 2 : wanted;
    if (*out < unknowns) return PS_OK;
    return ps_fail(PS_USAGE, "--slice: there is no slice %lld; they go from 0 to %lld",
                   (long long)wanted, (long long)unknowns - 1);
}

void structure_put(const structure *s, canvas *c)
{
    double low = s->largest > 0 ? fmax(-4, floor(log10(s->smallest / s->largest))) : -1;
    canvas_put(c, "$S << END\n");
    for (int64_t b = 0; b < s->bins; ++b) {
        for (int64_t k = 0; k < s->columns; ++k) {
            float v = s->pixels[b * s->columns + k];
            if (v > 0)
                canvas_put(c, "%.3g ", fmax(low, log10((double)v / s->largest)));
            else
                canvas_put(c, "NaN ");
        }
        canvas_put(c, "\n");
    }
    canvas_put(c, "END\n");
    canvas_palette_sequential(c);
    canvas_put(c,
               "set xlabel 'k'\nset ylabel 'row i'\nset cblabel 'log_{10} |M^k(i,j)| / largest'\n"
               "set cbrange [%g:0]\nset xrange [0.5:%lld.5]\nset yrange [%.1f:%.1f]\nunset "
               "grid\nunset key\n"
               "set colorbox user origin 0.875,0.16 size 0.016,0.70 border\n"
               "set lmargin at screen 0.11\nset rmargin at screen 0.855\n",
               low, (long long)s->columns, (double)(s->first + s->count) - 0.5,
               (double)s->first - 0.5);
}

void structure_put_plot(const structure *s, canvas *c)
{
    double step = (double)s->count / (double)s->bins;
    canvas_put(c, "$S matrix using ($1 + 1):(%.6f + %.9g * $2):3 with image notitle",
               (double)s->first + step / 2 - 0.5, step);
}
