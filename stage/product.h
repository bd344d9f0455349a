/*
 * product: the file that a command makes: what it is of, and whether it is up to date
 * (specs/stage.md).
 *
 *     ps_product product;
 *     ps_product_init(run, PS_CLUSTER_FORMAT, PS_CLUSTER_VERSION, &product);
 *     PS_TRY(ps_store_open(run->operands[0], FORMAT, VERSION, &mesh));
 *     PS_TRY(ps_product_input(&product, "mesh", mesh));
 *     if (ps_product_is_up_to_date(&product)) return PS_OK;
 *     if (run->plan) return plan(&job);
 */
#ifndef PS_STAGE_PRODUCT_H
#define PS_STAGE_PRODUCT_H

#include "formats/store.h"
#include "formats/trace.h"
#include "runtime/program.h"

enum {
    PS_PRODUCT_INPUTS = PS_OPERANDS_MAX,
    PS_PRODUCT_BESIDE = 5,
    PS_ROLE_MAX = 24,
    PS_NOTES_MAX = 1500
};

/* What an output is of: its format and options, and the inputs it depends on, which are borrowed.
 */
typedef struct ps_product {
    const ps_run *run;
    const char *path; /* run->output; NULL: nothing is written, and nothing is up to date */
    ps_store_identity identity;
    char options[PS_RECORD_MAX + PS_NOTES_MAX]; /* those of the run, and what was added          */
    int input_count;
    const char *roles[PS_PRODUCT_INPUTS];
    ps_store *inputs[PS_PRODUCT_INPUTS];
    char names[PS_PRODUCT_INPUTS][PS_ROLE_MAX]; /* what roles[] point to */
    int beside_count;
    struct {
        char path[4200];
        const char *format;
        int version; /* the latest; which one a file has may be by what is in it */
    } beside[PS_PRODUCT_BESIDE];
    bool open_ended; /* more is made than this file, or of things that are not compared: it is never
                        up to date */
} ps_product;

/* The identity of what this command makes: its recorded options, this version of Penstock. */
ps_store_identity ps_run_identity(const ps_run *run, const char *format, int version);

/* A product without inputs. It points into itself: it stays where it is. */
void ps_product_init(const ps_run *run, const char *format, int version, ps_product *out);
/* Adds an input; the role is copied. */
ps_status ps_product_input(ps_product *product, const char *role, ps_store *input);
/* Adds a file that is made with the output: where it is not there, of something else or damaged,
 * both are made again; one of something else is set aside by a stop, as the output is. */
ps_status ps_product_beside(ps_product *product, const char *path, const char *format, int version);
/* Adds a line to the options: what is chosen without one. */
ps_status ps_product_note(ps_product *product, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Adds a file that is no store: "NAME=its name", "NAME_xxh3=hash of its bytes". It must be the same
 * until it was read: the commit of the output asks, or, where much is computed in between, the
 * program after its reading (ps_path_end_watch). */
ps_status ps_product_file(ps_product *product, const char *name, const char *path);
/* Records the inputs in the file that is made. */
ps_status ps_product_record(const ps_product *product, ps_store *store);
/* Creates the file, of about so many bytes (0: unknown), with its inputs recorded. */
ps_status ps_product_create(const ps_product *product, int64_t disk_estimate, ps_store **out);

/* The identity of an unfinished run: "name=value\n" lines of options, inputs' content hashes and
 * `more` ("ranks=2\n"); the caller's to free(). */
ps_status ps_product_identity(const ps_product *product, const char *more, char **out);

/* Writes the trace that the product is. */
ps_status ps_product_put_trace(const ps_product *product, const ps_trace *trace);

/* Whether the output is there, of these options and inputs, and, unless --trust, whole to the byte:
 * damage is told. One that is of something else is not to be taken for this command's: a stop sets
 * it aside. Collective unless run->alone. */
bool ps_product_matches(const ps_product *product);
/* Whether there is nothing to do, which it says: a matching output, and neither --force nor
 * --plan. Collective unless run->alone. */
bool ps_product_is_up_to_date(const ps_product *product);

#endif
