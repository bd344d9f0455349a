#include "runtime/base64.h"

void ps_base64_write(FILE *file, const void *data, int64_t count)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *at = data;
    for (int64_t i = 0; i < count; i += 3) {
        int64_t left = count - i;
        unsigned three = (unsigned)at[i] << 16 | (left > 1 ? (unsigned)at[i + 1] << 8 : 0) |
                         (left > 2 ? at[i + 2] : 0U);
        char four[4];
        for (int k = 0; k < 4; ++k) four[k] = k <= left ? letters[three >> (18 - 6 * k) & 63] : '=';
        fwrite(four, 1, sizeof four, file);
    }
}
