/* Bump allocation out of blocks that double in size up to a limit; large requests get a block of their own.
 *
 * Large blocks are huge pages of the host, where it has them: the state of a machine with many cores is used here and
 * there, and would have more small pages than a processor can look up quickly. A request with a block of its own is
 * mostly a table of which little is ever used: it gets small pages, which cost nothing until they are used (calloc
 * would clear memory that was freed to it before). */
#include "base/arena.h"

#include "base/out_of_memory.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { FIRST_BLOCK_BYTES = 16 << 10, LARGEST_BLOCK_BYTES = 16 << 20, OWN_BLOCK_BYTES = 256 << 10 };
enum { HUGE_PAGE_BYTES = 2 << 20 };

/* With sanitizers blocks come from malloc, whose leaks they find. */
#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
enum { MAPS_LARGE_BLOCKS = 0 };
#else
enum { MAPS_LARGE_BLOCKS = 1 };
#endif

struct arena_block {
    struct arena_block *next;
    size_t size_bytes;
    bool is_mapped;
    _Alignas(16) unsigned char bytes[];
};

/* Maps memory at a multiple of a huge page; the parts before and after it are unmapped again. */
static void *map_huge(size_t bytes)
{
    uint8_t *at = mmap(NULL, bytes + HUGE_PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        return NULL;
    size_t before = -(uintptr_t)at % HUGE_PAGE_BYTES;
    if (before)
        munmap(at, before);
    munmap(at + before + bytes, HUGE_PAGE_BYTES - before);
#ifdef MADV_HUGEPAGE
    madvise(at + before, bytes, MADV_HUGEPAGE);
#endif
    return at + before;
}

static void *map_small(size_t bytes)
{
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return at == MAP_FAILED ? NULL : at;
}

static struct arena_block *new_block(size_t size_bytes, bool huge)
{
    size_t bytes = sizeof(struct arena_block) + size_bytes;
    bool mapped = MAPS_LARGE_BLOCKS && bytes >= (huge ? HUGE_PAGE_BYTES : OWN_BLOCK_BYTES);
    if (mapped && huge)
        bytes = (bytes + HUGE_PAGE_BYTES - 1) & ~(size_t)(HUGE_PAGE_BYTES - 1);
    struct arena_block *b;
    if (!mapped)
        b = calloc(1, bytes);
    else
        b = huge ? map_huge(bytes) : map_small(bytes);
    if (!b)
        out_of_memory();
    b->size_bytes = bytes - sizeof *b;
    b->is_mapped = mapped;
    return b;
}

static void free_block(struct arena_block *b)
{
    if (b->is_mapped)
        munmap(b, sizeof *b + b->size_bytes);
    else
        free(b);
}

/* The block goes after the head of the list, which stays open for small requests. */
static void *own_block(struct arena *a, size_t size_bytes)
{
    struct arena_block *b = new_block(size_bytes, false);
    b->next = a->head->next;
    a->head->next = b;
    return b->bytes;
}

void *arena_alloc(struct arena *a, size_t size_bytes)
{
    size_bytes = (size_bytes + 15) & ~(size_t)15;
    if (a->head && size_bytes >= OWN_BLOCK_BYTES)
        return own_block(a, size_bytes);
    if (!a->head || a->head->size_bytes - a->used_bytes < size_bytes) {
        size_t want = a->head ? a->head->size_bytes * 2 : FIRST_BLOCK_BYTES;
        if (want > LARGEST_BLOCK_BYTES)
            want = LARGEST_BLOCK_BYTES;
        if (size_bytes > want / 4 && a->head)
            return own_block(a, size_bytes);
        if (size_bytes > want)
            want = size_bytes;
        struct arena_block *b = new_block(want, true);
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
        free_block(b);
        b = next;
    }
    a->head = NULL;
    a->used_bytes = 0;
}
