#include "preprocess/mesh_import/import.h"

#include <stdint.h>

int number_bytes(number_type type)
{
    static const int bytes[NUMBER_TYPES] = {1, 1, 2, 2, 4, 4, 8, 8, 4, 8};
    return bytes[type];
}

double number_decode(const unsigned char *bytes, number_type type, bool big_endian)
{
    union {
        unsigned char bytes[8];
        int8_t i8;
        uint8_t u8;
        int16_t i16;
        uint16_t u16;
        int32_t i32;
        uint32_t u32;
        int64_t i64;
        uint64_t u64;
        float f32;
        double f64;
    } v;
    int size = number_bytes(type);
    for (int i = 0; i < size; ++i) v.bytes[i] = bytes[big_endian ? size - 1 - i : i];
    switch (type) {
    case NUMBER_I8:
        return v.i8;
    case NUMBER_U8:
        return v.u8;
    case NUMBER_I16:
        return v.i16;
    case NUMBER_U16:
        return v.u16;
    case NUMBER_I32:
        return v.i32;
    case NUMBER_U32:
        return v.u32;
    case NUMBER_I64:
        return (double)v.i64;
    case NUMBER_U64:
        return (double)v.u64;
    case NUMBER_F32:
        return v.f32;
    default:
        return v.f64;
    }
}
