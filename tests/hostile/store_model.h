/*
 * store_model: a whole store in memory, to be edited and written again, hashes and all.
 */
#ifndef PS_TESTS_HOSTILE_STORE_MODEL_H
#define PS_TESTS_HOSTILE_STORE_MODEL_H

#include "formats/store.h"

typedef struct model_chunk {
    unsigned char *data;
    int64_t count;
    double extras[PS_STORE_EXTRAS_MAX];
} model_chunk;

typedef struct model_dataset {
    ps_dataset_info info;
    bool ragged, gone;
    model_chunk *chunks;
    int64_t chunk_count;
} model_dataset;

typedef struct model_attribute {
    char object[PS_NAME_MAX];
    ps_attribute what;
    union {
        int64_t ints[64];
        double reals[64];
        char text[4096];
    } value;
    bool gone;
} model_attribute;

typedef struct store_model {
    char format[64];
    int version, dataset_count, attribute_count;
    model_dataset *datasets;
    model_attribute *attributes;
} store_model;

ps_status store_model_read(const char *path, store_model *out);
/* Edits of the copy do not touch the original. */
void store_model_copy(const store_model *of, store_model *out);
/* False if the store refuses to write it: then it is no mutant. */
bool store_model_write(const char *path, const store_model *model);
void store_model_release(store_model *model);

/* One to three edits of shapes, numbers or attributes; `what` says them. */
void store_model_mutate(store_model *model, uint64_t *random, char what[256]);

#endif
