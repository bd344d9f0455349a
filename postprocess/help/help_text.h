/*
 * help_text: what a program prints for --help, taken apart into its sections. Manual pages and
 * completion are made from it, so that they always say what the program itself says.
 */
#ifndef PS_HELP_HELP_TEXT_H
#define PS_HELP_HELP_TEXT_H

#include <stdbool.h>

#include "postprocess/help/registry.h"
#include "runtime/status.h"

enum { HELP_OPTIONS_MAX = 128 };

typedef struct help_option {
    char *name;     /* without the dashes                                                     */
    char *argument; /* "SECONDS", "none|morton|hilbert"; "" for a flag                        */
    char *help;     /* made one line                                                          */
    bool common;    /* one that all programs have                                             */
} help_option;

typedef struct help_text {
    char *text;        /* the whole, cut into pieces by zeros; everything points into it      */
    char *synopsis;    /* "penstock-foo [options] INPUT OUTPUT"                               */
    char *description; /* paragraphs separated by blank lines                                 */
    char *examples;    /* "" if there are none                                                */
    help_option options[HELP_OPTIONS_MAX];
    int option_count;
} help_text;

/* Runs `program --help` and takes the text apart. PS_FAILED, naming the program: it is not
 * installed, failed, or printed something else. */
ps_status help_text_read(const program_entry *program, help_text *out);
void help_text_release(help_text *help);

#endif
