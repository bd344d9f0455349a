/*
 * mutate_text SEED INPUT OUTPUT: one or two edits of a text or binary file of meshes, particles,
 * models or matrices: cut short, counts and numbers replaced by odd ones, words and lines swapped,
 * repeated or left away, bytes changed. The same seed gives the same mutant.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/random.h"

enum { ROOM = 1 << 22 };

typedef struct span {
    size_t at, length;
} span;

static unsigned char text[ROOM], copy[ROOM];
static size_t size;
static uint64_t random_state;

static size_t draw(size_t below)
{
    return (size_t)(congruence_next(&random_state) >> 33) % (below ? below : 1);
}

/* The part is replaced; what would not fit is left as it is. */
static void replace(span part, const void *by, size_t length)
{
    if (size - part.length + length > ROOM) return;
    memmove(text + part.at + length, text + part.at + part.length, size - part.at - part.length);
    memcpy(text + part.at, by, length);
    size = size - part.length + length;
}

static int is_blank(unsigned char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == ',';
}

/* A word, or a line with its end, around or behind a random byte. */
static span find_word(void)
{
    size_t from = draw(size), to;
    while (from < size && is_blank(text[from])) ++from;
    while (from > 0 && from < size && !is_blank(text[from - 1])) --from;
    for (to = from; to < size && !is_blank(text[to]);) ++to;
    return (span){from, to - from};
}

static span find_line(void)
{
    size_t from = draw(size), to = from;
    while (from > 0 && text[from - 1] != '\n') --from;
    while (to < size && text[to] != '\n') ++to;
    return (span){from, to + (to < size) - from};
}

static void swap_parts(span a, span b)
{
    if (b.at < a.at) {
        span c = a;
        a = b, b = c;
    }
    if (a.at + a.length > b.at) return;
    memcpy(copy, text + a.at, a.length);
    memcpy(copy + a.length, text + b.at, b.length);
    replace(b, copy, a.length);
    replace(a, copy + a.length, b.length);
}

static void edit_word(void)
{
    static const char *const odd[] = {"nan",
                                      "inf",
                                      "-inf",
                                      "-1",
                                      "0",
                                      "1e308",
                                      "1e-320",
                                      "1e999",
                                      "99999999",
                                      "2147483648",
                                      "-1e300",
                                      "4294967297",
                                      "-2147483649",
                                      "x",
                                      "9223372036854775807",
                                      "0x10",
                                      "18446744073709551616",
                                      "3.5",
                                      "1e9",
                                      "\"",
                                      "1d0",
                                      "100000000000",
                                      "+",
                                      "2",
                                      "$EndNodes"};
    const char *by = odd[draw(sizeof odd / sizeof *odd)];
    replace(find_word(), by, strlen(by));
}

static void edit_bytes(void)
{
    static const uint64_t odd[] = {0,          UINT64_MAX, 0x7fffffff,         0x80000000,
                                   0x7fc00000, 0x7f800000, 0x7ff8000000000000, 0x100000000};
    const size_t length = (size_t)1 << draw(4);
    if (size < length) return;
    memcpy(text + draw(size - length + 1), &odd[draw(8)], length);
}

static void repeat_line(void)
{
    const span line = find_line();
    const size_t times = draw(6) ? 1 : 300;
    memcpy(copy, text + line.at, line.length);
    for (size_t i = 0; i < times; ++i) replace((span){line.at, 0}, copy, line.length);
}

static void edit(void)
{
    static const char zeros[1] = "";
    switch (draw(12)) {
    case 0:
        size = draw(3) ? size - draw(size / 8 + 1) : draw(size);
        break;
    case 1:
        swap_parts(find_word(), find_word());
        break;
    case 2:
        swap_parts(find_line(), find_line());
        break;
    case 3:
        replace(find_line(), "", 0);
        break;
    case 4:
        repeat_line();
        break;
    case 5:
        replace(find_word(), "", 0);
        break;
    case 6:
        edit_bytes();
        break;
    case 7:
        replace((span){draw(size), 0}, draw(2) ? "\n" : zeros, 1);
        break;
    default:
        edit_word();
    }
}

int main(int argc, char **argv)
{
    FILE *file = argc == 4 ? fopen(argv[2], "rb") : NULL;
    if (!file) return 2;
    size = fread(text, 1, ROOM / 4, file);
    fclose(file);
    random_state = strtoull(argv[1], NULL, 10) * 2654435761u + 99;
    for (int i = 0; i < 4; ++i) draw(1);
    for (size_t edits = 1 + draw(5) / 3; edits > 0; --edits) edit();
    file = fopen(argv[3], "wb");
    if (!file || fwrite(text, 1, size, file) != size) return 2;
    return fclose(file) == 0 ? 0 : 2;
}
