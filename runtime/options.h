/*
 * options: one table per program documents, parses and records its command line.
 */
#ifndef PS_RUNTIME_OPTIONS_H
#define PS_RUNTIME_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/status.h"

typedef enum ps_option_kind {
    PS_OPTION_FLAG,    /* bool: --name sets it, --no-name clears it                      */
    PS_OPTION_INT,     /* int64_t, within [minimum, maximum]; 1000000 or 1e6             */
    PS_OPTION_REAL,    /* double, within [minimum, maximum]; finite. Where the argument is SECONDS,
                          HZ or METRES also with a unit: 200ms, 2.4GHz, 50mm */
    PS_OPTION_TEXT,    /* const char *, borrowed from argv                               */
    PS_OPTION_BYTES,   /* int64_t: 4096, 64K, 2.5M, 1G, 1T (powers of 1024)              */
    PS_OPTION_SECONDS, /* double: 90, 200ms, 90s, 15m or 15min, 2h, 1d                   */
    PS_OPTION_EVERY,   /* ps_interval: a time as above, or 1000steps                     */
    PS_OPTION_CHOICE,  /* int: index into `argument`, alternatives separated by '|', each with other
                          words for it that are taken, too, and not shown: "fp32=single|fp64=double"
                        */
    PS_OPTION_LIST     /* ps_text_list: one more text each time the option is given      */
} ps_option_kind;

enum { PS_TEXT_LIST_MAX = 256 };
typedef struct ps_text_list {
    int count;
    const char *items[PS_TEXT_LIST_MAX]; /* borrowed from argv */
} ps_text_list;

/* How often: after so many seconds or so many steps; 0: not by these. */
typedef struct ps_interval {
    double seconds;
    int64_t steps;
} ps_interval;

typedef struct ps_option {
    const char *name; /* without the dashes; NULL ends the table                         */
    ps_option_kind kind;
    void *value;             /* where the value goes; holds the default beforehand              */
    const char *argument;    /* shown in the help: "SECONDS"; alternatives of a CHOICE          */
    const char *help;        /* NULL: a former name, which is taken, with a note, and not shown */
    double minimum, maximum; /* checked where minimum < maximum                              */
    int identity; /* PS_IDENTITY: changes results, so it is recorded and compared; PS_WRITES: names
                     a file that is written, where the argument is FILE; 0: how to run */
} ps_option;

enum { PS_IDENTITY = 1, PS_WRITES = 2 };

/* Rows of a table, by the kind of the option. The pointer has the type of the kind, or it does not
 * compile; `identity` is PS_IDENTITY, PS_WRITES or 0. */
#define PS_OPTION_ROW(kind_, type, name_, pointer, argument_, help_, identity_)                    \
    .name = (name_), .kind = (kind_), .value = 0 ? (type *)NULL : (pointer),                       \
    .argument = (argument_), .help = (help_), .identity = (identity_)
#define PS_FLAG(name, pointer, identity, help)                                                     \
    {                                                                                              \
        PS_OPTION_ROW(PS_OPTION_FLAG, bool, name, pointer, NULL, help, identity)                   \
    }
#define PS_INT(name, pointer, argument, least, most, identity, help)                               \
    {                                                                                              \
        PS_OPTION_ROW(PS_OPTION_INT, int64_t, name, pointer, argument, help, identity),            \
            .minimum = (least), .maximum = (most)                                                  \
    }
#define PS_REAL(name, pointer, argument, least, most, identity, help)                              \
    {                                                                                              \
        PS_OPTION_ROW(PS_OPTION_REAL, double, name, pointer, argument, help, identity),            \
            .minimum = (least), .maximum = (most)                                                  \
    }
#define PS_TEXT(name, pointer, argument, identity, help)                                           \
    {                                                                                              \
        PS_OPTION_ROW(PS_OPTION_TEXT, const char *, name, pointer, argument, help, identity)       \
    }
#define PS_BYTES(name, pointer, argument, identity, help)                                          \
    {                                                                                              \
        PS_OPTION_ROW(PS_OPTION_BYTES, int64_t, name, pointer, argument, help, identity)           \
    }
#define PS_SECONDS(name, pointer, argument, identity, help)                                        \
    {                                                                                              \
        PS_OPTION_ROW(PS_OPTION_SECONDS, double, name, pointer, argument, help, identity)          \
    }
#define PS_INTERVAL(name, pointer, argument, identity, help)                                       \
    {                                                                                              \
        PS_OPTION_ROW(PS_OPTION_EVERY, ps_interval, name, pointer, argument, help, identity)       \
    }
#define PS_CHOICE(name, pointer, alternatives, identity, help)                                     \
    {                                                                                              \
        PS_OPTION_ROW(PS_OPTION_CHOICE, int, name, pointer, alternatives, help, identity)          \
    }
#define PS_LIST(name, pointer, argument, identity, help)                                           \
    {                                                                                              \
        PS_OPTION_ROW(PS_OPTION_LIST, ps_text_list, name, pointer, argument, help, identity)       \
    }
#define PS_OPTION_END                                                                              \
    {                                                                                              \
        .name = NULL                                                                               \
    }

/* What --precision and --checkpoint-every take, in all programs. */
#define PS_FP32 "fp32=single=f32"
#define PS_FP64 "fp64=double=f64"
#define PS_EVERY "TIME|Nsteps"

/* Parses argv[1..] against the tables (NULL-terminated list of tables). Both "--name value"
 * and "--name=value" are read; "--" ends the options; what is no option goes to
 * operands[0 .. *operand_count), at most `capacity`. PS_USAGE with a message that names the
 * option, what was wrong and what it takes; near misses are suggested. */
ps_status ps_options_parse(const ps_option *const *tables, int argc, char **argv,
                           const char **operands, int capacity, int *operand_count);

/* Prints one line per option, with its default, to `stream` (a FILE *). */
void ps_options_help(const ps_option *table, void *stream);

/* Prints a text to `stream` (a FILE *) in lines of at most 100 characters where its words let it,
 * from column `indent` on, where the first line already is; a line of the text is a paragraph,
 * one of the form "  NAME  words" an item of a list. */
void ps_text_wrap(const char *text, int indent, void *stream);

/* Writes "name=value\n" lines of all options marked PS_IDENTITY into buffer (always
 * terminated); returns the length that a large enough buffer would hold. Equal text means
 * equal results for equal inputs. */
size_t ps_options_record(const ps_option *const *tables, char *buffer, size_t size);

/* Parsers that the tables use, also for values inside lists. PS_USAGE with a message. */
ps_status ps_parse_real(const char *text, double *out);
ps_status ps_parse_int(const char *text, int64_t *out);
ps_status ps_parse_bytes(const char *text, int64_t *out);
ps_status ps_parse_reals(const char *text, char separator, double *out, int capacity, int *count);

/* The least number of letters to insert, delete or change that turns one word into the other
 * (Levenshtein), for suggestions; words above 40 letters count as far (40). */
int ps_word_distance(const char *a, const char *b);

#endif
