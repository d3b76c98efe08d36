/* Who accessed what last (race.h). For every 4 bytes of memory that was touched a cell with the last writer, another
 * one that wrote before it without order where both may (atomics, equal values), and two of the readers since; for
 * every byte, in pages in which narrower accesses were made. Pages are made when first touched.
 *
 * A cell belongs to one launch (global memory) or one block (shared memory): whoever comes with another number finds it
 * empty. So a kernel's end orders everything, and nothing is cleared.
 *
 * Left out: of many unordered readers, and of many writers that may write without order, two are kept, of different
 * blocks or at least warps where there are such. */
#ifndef HEDDLE_EXEC_RACE_SHADOW_H
#define HEDDLE_EXEC_RACE_SHADOW_H

#include "exec/race_clock.h"

enum { RACE_PAGE_BYTES = 4096 };

/* How strong an access is (PTX ISA 8.4): two strong ones are no race, where each is in the other's scope. */
enum race_strength { RACE_WEAK, RACE_STRONG_IN_BLOCK /* .cta */, RACE_STRONG };

struct race_cell {
    uint32_t owner;
    uint32_t value; /* that the writer wrote */
    struct race_access writer, other_writer, readers[2];
};

struct race_page {
    bool by_byte;
    struct race_cell *cells;
};

struct race_page *race_page_create(void);
void race_page_destroy(struct race_page *p);

struct race_page_table;
struct race_page_table *race_page_table_create(void);
void race_page_table_destroy(struct race_page_table *t);
struct race_page *race_page_of(struct race_page_table *t, uint64_t address,
                               bool make); /* NULL: none, and none was made */
void race_page_forget(struct race_page *p, uint32_t first, uint32_t bytes);

/* An access to up to 4 bytes, all in one page. */
struct race_touch {
    uint32_t owner;
    uint32_t offset, bytes; /* in the page; 1, 2, or 4 and a multiple of 4 */
    uint32_t value;         /* writes: what was written */
    bool is_write, is_atomic;
    struct race_access access;
};
/* What is reported of a race: the access before, and this one. */
typedef void race_found(void *context, enum race_kind kind, const struct race_access *past, uint32_t offset);

void race_touch_page(struct race_page *p, const struct race_touch *t, const struct race_orders *o,
                     const struct race_block *b, race_found *found, void *context);

#endif
