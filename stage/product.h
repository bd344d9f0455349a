/*
 * product: is the file that a command makes up to date? (specs/stage.md)
 */
#ifndef PS_STAGE_PRODUCT_H
#define PS_STAGE_PRODUCT_H

#include "formats/store.h"
#include "runtime/program.h"

/* What an output is of: its format and options, and the inputs it depends on. Borrowed. */
typedef struct ps_product {
    const char *path;
    const ps_store_identity *identity;
    int input_count;
    const char *const *roles;
    ps_store *const *inputs;
    bool alone; /* this rank asks by itself; otherwise all ask, and rank 0 looks */
} ps_product;

/* Whether the output is there, of these options and inputs, and, unless --trust, whole to the byte:
 * damage is told. One that is of something else is not to be taken for this command's: a stop sets
 * it aside. Collective unless `alone`. */
bool ps_product_matches(const ps_run *run, const ps_product *output);

/* Whether there is nothing to do, which it says: a matching output, and neither --force nor
 * --plan. Collective unless `alone`. */
bool ps_product_is_up_to_date(const ps_run *run, const ps_product *output);

#endif
