/* See slabs.h. Pieces grow up to a limit, so that a small table costs little. */
#include "replay/slabs.h"

#include "base/out_of_memory.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
    ALIGNMENT = 64,
    FIRST_PIECE_BYTES = 128 << 10,
    LARGEST_PIECE_BYTES = 8 << 20,
    LARGEST_CUT_BYTES = 1 << 20,
    LARGE_PAGE_BYTES = 2 << 20,
    RETURN_BYTES = 256 << 10,
    PAGE_MOST = 64 << 10
};

struct slab_piece {
    struct slab_piece *next;
    char filling[ALIGNMENT - sizeof(void *)];
};
struct slab_block {
    struct slab_block *next;
};

void *slab_alloc(size_t bytes)
{
    size_t alignment = bytes < LARGE_PAGE_BYTES / 2 ? ALIGNMENT : LARGE_PAGE_BYTES,
           whole = (bytes + alignment - 1) & ~(alignment - 1);
    void *p = whole >= bytes ? aligned_alloc(alignment, whole) : NULL;
    if (p && alignment == LARGE_PAGE_BYTES)
        (void)madvise(p, whole, MADV_HUGEPAGE); /* a wish */
    return p;
}

static bool add_piece(struct slabs *s, size_t least)
{
    size_t bytes = s->piece_bytes ? 4 * s->piece_bytes : FIRST_PIECE_BYTES;
    bytes = bytes < LARGEST_PIECE_BYTES ? bytes : LARGEST_PIECE_BYTES;
    s->piece_bytes = bytes;
    bytes = bytes < least + sizeof(struct slab_piece) ? least + sizeof(struct slab_piece) : bytes;
    struct slab_piece *p = slab_alloc(bytes);
    if (!p)
        return false;
    p->next = s->pieces;
    s->pieces = p;
    s->at = (char *)(p + 1);
    s->end = (char *)p + bytes;
    return true;
}

void slabs_init(struct slabs *s)
{
    *s = (struct slabs){.pieces = NULL};
    pthread_mutex_init(&s->lock, NULL);
}

static void *take(struct slabs *s, size_t bytes)
{
    struct slab_block **given = &s->given[__builtin_ctzll(bytes)], *block = *given;
    if (block) {
        *given = block->next;
        return block;
    }
    if ((size_t)(s->end - s->at) < bytes && !add_piece(s, bytes))
        out_of_memory();
    s->at += bytes;
    return s->at - bytes;
}

void *slabs_take(struct slabs *s, size_t bytes)
{
    pthread_mutex_lock(&s->lock);
    void *block = take(s, bytes);
    pthread_mutex_unlock(&s->lock);
    return block;
}

void slabs_give(struct slabs *s, void *block, size_t bytes)
{
    struct slab_block *b = block, **given = &s->given[__builtin_ctzll(bytes)];
    if (bytes >= RETURN_BYTES)
        (void)madvise((void *)(((uintptr_t)block + PAGE_MOST - 1) & ~(uintptr_t)(PAGE_MOST - 1)), bytes - PAGE_MOST,
                      MADV_DONTNEED); /* the address stays ours */
    pthread_mutex_lock(&s->lock);
    b->next = *given;
    *given = b;
    pthread_mutex_unlock(&s->lock);
}

/* Of its own, all zero, beside the newest piece. */
static void *add_large(struct slabs *s, size_t bytes)
{
    struct slab_piece *p = bytes + sizeof *p + ALIGNMENT > bytes ? calloc(1, bytes + sizeof *p + ALIGNMENT) : NULL;
    if (!p)
        return NULL;
    p->next = s->pieces;
    s->pieces = p;
    return (void *)(((uintptr_t)(p + 1) + ALIGNMENT - 1) & ~(uintptr_t)(ALIGNMENT - 1));
}

static void *cut(struct slabs *s, size_t bytes)
{
    bytes = (bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    if ((size_t)(s->end - s->at) < bytes && !add_piece(s, bytes))
        return NULL;
    s->at += bytes;
    return s->at - bytes;
}

void *slabs_bytes(struct slabs *s, size_t bytes)
{
    pthread_mutex_lock(&s->lock);
    void *block = bytes > LARGEST_CUT_BYTES ? add_large(s, bytes) : cut(s, bytes);
    pthread_mutex_unlock(&s->lock);
    return block;
}

void *slabs_zeros(struct slabs *s, size_t bytes)
{
    void *block = slabs_bytes(s, bytes);
    if (block && bytes <= LARGEST_CUT_BYTES)
        memset(block, 0, bytes);
    return block;
}

void slabs_free(struct slabs *s)
{
    for (struct slab_piece *p = s->pieces; p;) {
        struct slab_piece *next = p->next;
        free(p);
        p = next;
    }
    pthread_mutex_destroy(&s->lock);
    *s = (struct slabs){.pieces = NULL};
}
