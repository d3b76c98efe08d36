/* An arena: memory that is freed all at once, with the unit of work it belongs to. */
#ifndef HEDDLE_BASE_ARENA_H
#define HEDDLE_BASE_ARENA_H

#include <stddef.h>

struct arena_block;

struct arena {
    struct arena_block *head;
    size_t used_bytes; /* in the head block */
};

/* Never returns NULL: on exhaustion the process ends with a message (base/out_of_memory.h). Memory is zeroed, aligned
 * to 16. */
void *arena_alloc(struct arena *a, size_t size_bytes);
/* The same, aligned to 64: data that is used together should not lie across two cache lines of the host. */
void *arena_alloc_lines(struct arena *a, size_t size_bytes);
char *arena_strndup(struct arena *a, const char *s, size_t length);
char *arena_printf(struct arena *a, const char *format, ...) __attribute__((format(printf, 2, 3)));
void arena_free(struct arena *a);

#define arena_new(a, type)          ((type *)arena_alloc((a), sizeof(type)))
#define arena_array(a, type, count) ((type *)arena_alloc((a), sizeof(type) * (size_t)(count)))
#define arena_lines(a, type, count) ((type *)arena_alloc_lines((a), sizeof(type) * (size_t)(count)))

#endif
