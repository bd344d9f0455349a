/*
 * report: one page of what is in files. Everything that it says and shows comes from the programs
 * that know it, run one after the other: figures from inspect, soundness from verify, pictures and
 * views from plot.
 */
#ifndef PS_POSTPROCESS_REPORT_REPORT_H
#define PS_POSTPROCESS_REPORT_REPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "runtime/status.h"

enum { REPORT_FILES_MAX = 1000, REPORT_PATH_MAX = 4096, REPORT_PICTURES_MAX = 4 };

/* A file, or a series of snapshots by its list. */
typedef struct report_file {
    char *path;
    char **members; /* of a series: its snapshots; else NULL                                   */
    int64_t member_count;
    int64_t bytes; /* of all members                                                           */
    char format[64], content[17], mesh[17]; /* of a history: content of its mesh                */
    bool in_frequency, far_field, plane;    /* of a trace                                         */
    int64_t samples, channels;
    char *facts;      /* what inspect says, JSON; NULL: nothing                                 */
    char *problem;    /* why it cannot be believed; NULL: nothing was found                     */
    ps_status status; /* of that                                                               */
} report_file;

typedef struct report_files {
    report_file *files;
    int64_t count, capacity;
    char **others; /* of folders: what is not Penstock's                                       */
    int64_t other_count, other_capacity;
} report_files;

/* Files as they are; of folders, and folders in them, what ends like a file of ours or begins like
 * HDF5; snapshots that a .series lists are one. PS_USAGE for what is not there, or too much. */
ps_status report_gather(const char *const *operands, int count, report_files *out);
void report_files_release(report_files *files);

/* Runs inspect and, if `deep`, verify over a file; what they find wrong goes into it. PS_FAILED
 * where the programs are not there. */
ps_status report_examine(report_file *file, bool deep);

/* What a file is drawn as: the arguments of plot but for the output. */
typedef struct report_drawing {
    const char *arguments[48]; /* KIND FILE... --options; NULL at the end */
    bool view;                 /* a page inside of the page              */
    char numbers[64];          /* room for an argument                   */
} report_drawing;

/* An earlier sound file of the same kind and content; NULL: there is none. */
const report_file *report_find_same(const report_files *all, int64_t index);
/* The drawings of a file, at most REPORT_PICTURES_MAX; `all` are where a mesh is looked for. */
int report_drawings(const report_file *file, const report_files *all, report_drawing *out);

/* Runs a program of ours; the text, which the caller frees, is all that it says. */
ps_status report_run(const char *program, const char *const *arguments, char **text, int *code);
/* The message of a program that failed. */
const char *report_reason(const char *text);

typedef struct report_counts {
    int64_t files, bad, pictures, views, undrawn;
    ps_status worst;
} report_counts;

/* Writes the page, drawing as it goes along. */
ps_status report_write(FILE *page, const char *title, bool deep, report_files *files,
                       report_counts *counts);

#endif
