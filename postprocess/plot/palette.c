/*
 * The colours of pictures: a sequential palette after viridis (Smith and van der Walt 2015, CC0),
 * a diverging one from blue to red, and the line colours of Okabe and Ito (2008).
 */
#include "postprocess/plot/canvas.h"

#include <math.h>

enum { SEQUENTIAL = 11, DIVERGING = 11, LINES = 8 };

static const unsigned sequential[SEQUENTIAL] = {0x440154, 0x482475, 0x414487, 0x355f8d,
                                                0x2a788e, 0x21918c, 0x22a884, 0x44bf70,
                                                0x7ad151, 0xbddf26, 0xfde725};
static const unsigned diverging[DIVERGING] = {0x053061, 0x2166ac, 0x4393c3, 0x92c5de,
                                              0xd1e5f0, 0xf7f7f7, 0xfddbc7, 0xf4a582,
                                              0xd6604d, 0xb2182b, 0x67001f};
static const char *const lines[LINES] = {"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                         "#E69F00", "#56B4E9", "#000000", "#8C6D31"};

const char *canvas_colour(int index) { return lines[index % LINES]; }

static void put_palette(canvas *c, const unsigned *colours, int count)
{
    canvas_put(c, "set palette defined (");
    for (int i = 0; i < count; ++i)
        canvas_put(c, "%s%.2f '#%06x'", i ? ", " : "", (double)i / (count - 1), colours[i]);
    canvas_put(c, ") maxcolors 256\n");
}

void canvas_palette_sequential(canvas *c) { put_palette(c, sequential, SEQUENTIAL); }
void canvas_palette_diverging(canvas *c) { put_palette(c, diverging, DIVERGING); }

static void blend(const unsigned *colours, int count, double t, double *rgb)
{
    double at = (t > 0 ? t < 1 ? t : 1 : 0) * (count - 1);
    int i = (int)at < count - 2 ? (int)at : count - 2;
    double part = at - i;
    for (int channel = 0; channel < 3; ++channel) {
        int shift = 16 - 8 * channel;
        double a = (colours[i] >> shift) & 255, b = (colours[i + 1] >> shift) & 255;
        rgb[channel] = (a + part * (b - a)) / 255;
    }
}

void canvas_sequential(double t, double *rgb) { blend(sequential, SEQUENTIAL, t, rgb); }
void canvas_diverging(double t, double *rgb) { blend(diverging, DIVERGING, t, rgb); }

double canvas_prefix(double largest, const char **prefix)
{
    static const char *const prefixes[] = {"n", "u", "m", "", "k", "M", "G"};
    *prefix = "";
    if (!(largest > 0) || !isfinite(largest)) return 1;
    int power = (int)floor(log10(largest) / 3 + 1e-9);
    power = power < -3 ? -3 : power > 3 ? 3 : power;
    *prefix = power == -2 ? "\xc2\xb5" : prefixes[power + 3];
    return pow(10, -3 * power);
}

double canvas_round_step(double x)
{
    double power = pow(10, floor(log10(x)));
    return power * (x >= 5 * power ? 5 : x >= 2 * power ? 2 : 1);
}
