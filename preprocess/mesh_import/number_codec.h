/*
 * number_codec: numbers of a binary mesh file, of any type and either byte order, as doubles.
 */
#ifndef PS_PREPROCESS_MESH_IMPORT_NUMBER_CODEC_H
#define PS_PREPROCESS_MESH_IMPORT_NUMBER_CODEC_H

#include <stdbool.h>

typedef enum number_type {
    NUMBER_I8,
    NUMBER_U8,
    NUMBER_I16,
    NUMBER_U16,
    NUMBER_I32,
    NUMBER_U32,
    NUMBER_I64,
    NUMBER_U64,
    NUMBER_F32,
    NUMBER_F64,
    NUMBER_TYPES
} number_type;

int number_bytes(number_type type);
/* One number at `bytes`; whole numbers above 2^53 are rounded. */
double number_decode(const unsigned char *bytes, number_type type, bool big_endian);

#endif
