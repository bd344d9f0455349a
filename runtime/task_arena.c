#include <stdlib.h>

#include "runtime/memory.h"
#include "runtime/task_internal.h"

enum { ARENA_ALIGNMENT = 256 };

ps_status task_arena_open(task_arena *arena, int64_t bytes)
{
    PS_TRY(PS_ALLOC(&arena->first, 1, "the memory map of a device"));
    arena->first->bytes = arena->bytes = bytes / ARENA_ALIGNMENT * ARENA_ALIGNMENT;
    return PS_OK;
}

void task_arena_close(task_arena *arena)
{
    while (arena->first) {
        arena_block *block = arena->first;
        arena->first = block->upper;
        free(block);
    }
}

/* Cuts what is beyond `bytes` off a free block. */
static ps_status split(arena_block *block, int64_t bytes)
{
    arena_block *rest;
    PS_TRY(PS_ALLOC(&rest, 1, "the memory map of a device"));
    *rest = (arena_block){.offset = block->offset + bytes,
                          .bytes = block->bytes - bytes,
                          .lower = block,
                          .upper = block->upper};
    if (rest->upper) rest->upper->lower = rest;
    block->upper = rest;
    block->bytes = bytes;
    return PS_OK;
}

ps_status task_arena_take(task_arena *arena, int64_t bytes, arena_block **out)
{
    *out = NULL;
    bytes = (bytes + ARENA_ALIGNMENT - 1) / ARENA_ALIGNMENT * ARENA_ALIGNMENT;
    if (bytes == 0) bytes = ARENA_ALIGNMENT;
    for (arena_block *block = arena->first; block && !*out; block = block->upper)
        if (!block->used && block->bytes >= bytes) *out = block;
    if (!*out) return PS_OK;
    if ((*out)->bytes > bytes) PS_TRY(split(*out, bytes));
    (*out)->used = true;
    return PS_OK;
}

/* Takes the upper neighbour in. */
static void join(arena_block *block)
{
    arena_block *upper = block->upper;
    block->bytes += upper->bytes;
    block->upper = upper->upper;
    if (block->upper) block->upper->lower = block;
    free(upper);
}

void task_arena_give(arena_block *block)
{
    block->used = false;
    if (block->upper && !block->upper->used) join(block);
    if (block->lower && !block->lower->used) join(block->lower);
}
