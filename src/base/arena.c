/* Bump allocation out of blocks that double in size up to a limit; large requests get a block of their own. */
#include "base/arena.h"

#include "base/out_of_memory.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_BLOCK_BYTES = 16 << 10, LARGEST_BLOCK_BYTES = 1 << 20 };

struct arena_block {
    struct arena_block *next;
    size_t size_bytes;
    _Alignas(16) unsigned char bytes[];
};

static struct arena_block *new_block(size_t size_bytes)
{
    struct arena_block *b = calloc(1, sizeof *b + size_bytes);
    if (!b)
        out_of_memory();
    b->size_bytes = size_bytes;
    return b;
}

void *arena_alloc(struct arena *a, size_t size_bytes)
{
    size_bytes = (size_bytes + 15) & ~(size_t)15;
    if (!a->head || a->head->size_bytes - a->used_bytes < size_bytes) {
        size_t want = a->head ? a->head->size_bytes * 2 : FIRST_BLOCK_BYTES;
        if (want > LARGEST_BLOCK_BYTES)
            want = LARGEST_BLOCK_BYTES;
        if (size_bytes > want / 4 && a->head) { /* goes after the head, which stays open for small requests */
            struct arena_block *b = new_block(size_bytes);
            b->next = a->head->next;
            a->head->next = b;
            return b->bytes;
        }
        if (size_bytes > want)
            want = size_bytes;
        struct arena_block *b = new_block(want);
        b->next = a->head;
        a->head = b;
        a->used_bytes = 0;
    }
    void *p = a->head->bytes + a->used_bytes;
    a->used_bytes += size_bytes;
    return p;
}

void *arena_alloc_lines(struct arena *a, size_t size_bytes)
{
    enum { LINE_BYTES = 64 };
    uintptr_t p = (uintptr_t)arena_alloc(a, size_bytes + LINE_BYTES - 16);
    return (void *)((p + LINE_BYTES - 1) & ~(uintptr_t)(LINE_BYTES - 1));
}

char *arena_strndup(struct arena *a, const char *s, size_t length)
{
    char *copy = arena_alloc(a, length + 1);
    memcpy(copy, s, length);
    return copy;
}

char *arena_printf(struct arena *a, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char probe[1];
    int length = vsnprintf(probe, sizeof probe, format, args);
    va_end(args);
    char *text = arena_alloc(a, (size_t)(length < 0 ? 0 : length) + 1);
    va_start(args, format);
    vsnprintf(text, (size_t)length + 1, format, args);
    va_end(args);
    return text;
}

void arena_free(struct arena *a)
{
    for (struct arena_block *b = a->head; b;) {
        struct arena_block *next = b->next;
        free(b);
        b = next;
    }
    a->head = NULL;
    a->used_bytes = 0;
}
