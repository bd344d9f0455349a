#include "kernels/tdbem/half_values.h"

#include <math.h>

#include "kernels/common/reals.h"

enum { LARGEST_EXPONENT = 14, BIAS = 127, SCALE_MAX = 254 };
static const double largest_half = 65504;

uint16_t ps_half_encode(double x)
{
    uint64_t bits, magnitude;
    memcpy(&bits, &x, sizeof bits);
    magnitude = bits & 0x7fffffffffffffff;
    if (fabs(x) < 0x1p-14) return 0;
    magnitude += ((uint64_t)1 << 41) - 1 + (magnitude >> 42 & 1); /* 42 bits are dropped */
    return (uint16_t)((bits >> 48 & 0x8000) | ((magnitude >> 42) - ((uint64_t)(1023 - 15) << 10)));
}

static uint8_t scale_for(double largest)
{
    if (!(largest > 0)) return 0;
    int s = ilogb(largest) - LARGEST_EXPONENT + BIAS;
    return (uint8_t)(s < 1 ? 1 : s > SCALE_MAX ? SCALE_MAX : s);
}

uint8_t ps_half_encode_row(const void *values, ps_precision precision, int64_t count, uint16_t *out,
                           int64_t step, ps_half_error *error)
{
    double largest = 0, most = 0;
    for (int64_t q = 0; q < count; ++q)
        largest = fmax(largest, fabs(ps_real_at(precision, values, q)));
    uint8_t s = scale_for(largest);
    double scale = ldexp(1, s - BIAS), inverse = ldexp(1, BIAS - s);
    for (int64_t q = 0; q < count; ++q) {
        double value = ps_real_at(precision, values, q);
        double scaled = fmin(fmax(value * inverse, -largest_half), largest_half);
        uint16_t half = ps_half_encode(scaled);
        double difference = (double)ps_half_decode(half) * scale - value;
        out[q * step] = half;
        most = fmax(most, fabs(difference));
        error->squares += difference * difference;
        error->values += value * value;
    }
    if (largest > 0) error->largest = fmax(error->largest, most / largest);
    return s;
}
