/*
 * json: the numbers of a JSON text, each with the path of names that leads to it. Enough for the
 * reports of our own programs.
 */
#ifndef PS_PLOT_JSON_H
#define PS_PLOT_JSON_H

#include "runtime/status.h"

typedef struct json_number {
    char path[160]; /* names joined by '/': "seconds/summation"; items of arrays by index     */
    double value;
} json_number;

/* All numbers of `text` in order, in *out (the caller frees it). PS_INVALID, with the position, if
 * it is no JSON. true, false and null are left out. */
ps_status json_numbers(const char *text, json_number **out, int *count);

/* The numbers of a file, as json_numbers; failures name it. */
ps_status json_numbers_of(const char *path, json_number **out, int *count);
double json_value(const json_number *numbers, int count, const char *path); /* 0: not there */
int json_small(const json_number *numbers, int count, const char *path);    /* within 0 .. 9999 */

#endif
