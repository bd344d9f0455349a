/* store_statistics: what the chunk table tells of a chunk's values. */
#include <string.h>

#include "formats/store_private.h"

enum { LANES = 8, BLOCK = 2048 };

#define PASTE2(a, b) a##_##b
#define PASTE(a, b) PASTE2(a, b)

#define NAME(x) PASTE(x, u8)
#define VALUE uint8_t
#define WIDE uint32_t
#define IS_FLOAT 0
#include "formats/store_statistics_body.h"

#define NAME(x) PASTE(x, u16)
#define VALUE uint16_t
#define WIDE uint32_t
#define IS_FLOAT 0
#include "formats/store_statistics_body.h"

#define NAME(x) PASTE(x, u32)
#define VALUE uint32_t
#define WIDE uint32_t
#define IS_FLOAT 0
#include "formats/store_statistics_body.h"

#define NAME(x) PASTE(x, i32)
#define VALUE int32_t
#define WIDE uint32_t
#define IS_FLOAT 0
#include "formats/store_statistics_body.h"

#define NAME(x) PASTE(x, i64)
#define VALUE int64_t
#define WIDE uint64_t
#define IS_FLOAT 0
#include "formats/store_statistics_body.h"

#define NAME(x) PASTE(x, f32)
#define VALUE float
#define WIDE uint32_t
#define IS_FLOAT 1
#include "formats/store_statistics_body.h"

#define NAME(x) PASTE(x, f64)
#define VALUE double
#define WIDE uint64_t
#define IS_FLOAT 1
#include "formats/store_statistics_body.h"

void ps_codec_statistics(ps_type type, const void *data, int64_t count, ps_chunk_info *info)
{
    static void (*const by_type[])(const void *, int64_t, ps_chunk_info *) = {
        [PS_U8] = statistics_u8,   [PS_U16] = statistics_u16, [PS_U32] = statistics_u32,
        [PS_I32] = statistics_i32, [PS_I64] = statistics_i64, [PS_F32] = statistics_f32,
        [PS_F64] = statistics_f64};
    by_type[type](data, count, info);
}
