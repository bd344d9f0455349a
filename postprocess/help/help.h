/*
 * help: what the files of penstock-help share.
 */
#ifndef PS_HELP_HELP_H
#define PS_HELP_HELP_H

#include "runtime/program.h"

/* ---- the programs of Penstock, as programs.list at the root of the source names them ---- */

typedef struct program_entry {
    const char *name;  /* without "penstock-"                                              */
    const char *stage; /* "preprocess", "compute", "postprocess"                           */
    const char *reads, *writes;
    const char *summary; /* a line                                                           */
} program_entry;

extern const program_entry programs[];
extern const int program_count;

const program_entry *program_find(const char *name);    /* NULL if there is none             */
const program_entry *program_nearest(const char *name); /* the likeliest meant, or NULL      */

/* Where the program is (beside this one or on PATH); false if it is not installed. */
bool program_path(const program_entry *entry, char *out, size_t size);

/* The stages in the order of the list: calls `visit` once a stage with its programs. */
typedef void (*stage_visit)(void *context, const char *stage, const program_entry *first,
                            int count);
void for_each_stage(stage_visit visit, void *context);

/* ---- what a program prints for --help, taken apart into its sections ---- */

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

/* ---- what is made of these, so that it always says what the programs themselves say ---- */

/* The stages and programs, in order, for people or, if the run says so, as JSON; the run may be
 * NULL. */
void listing_print(const struct ps_run *run);
/* Manual pages in roff: writes FOLDER/penstock-NAME.1 for every installed program and
 * FOLDER/penstock.1. Programs that are not installed are left out; *count is the number of pages
 * written. */
ps_status man_pages_write(const char *folder, int *count);
/* A bash completion for the front command and all programs, to stdout. Option names and the
 * alternatives of choices are those that the installed programs print for --help. */
ps_status completion_print(void);

/* ---- the front command, `penstock PROGRAM ...` ---- */

/* Replaces this process by penstock-NAME with these arguments (argv[0] is set here). Returns
 * only on failure: PS_USAGE with a suggestion if there is no such program, PS_FAILED if it
 * is not installed. */
ps_status dispatch_program(const char *name, char **argv);

/* The front command: argv as main() got it. Returns the exit code. */
int dispatch_front(int argc, char **argv);

#endif
