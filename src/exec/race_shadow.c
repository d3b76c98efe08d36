/* Cells of memory, and when two accesses to one are a race (race_shadow.h). */
#include "exec/race_shadow.h"

#include "base/out_of_memory.h"

#include <stdlib.h>
#include <string.h>

enum { WORD_BYTES = 4, PAGE_WORDS = RACE_PAGE_BYTES / WORD_BYTES };

struct page_entry {
    uint64_t number;
    struct race_page *page;
};
struct race_page_table {
    struct page_entry *entries; /* open addressing; page NULL: free */
    uint32_t slots, count;
    struct page_entry last; /* found */
};

static void *zeroed(size_t count, size_t bytes)
{
    void *p = calloc(count, bytes);
    if (!p)
        out_of_memory();
    return p;
}

/* Pages */

struct race_page *race_page_create(void)
{
    struct race_page *p = zeroed(1, sizeof *p);
    p->cells = zeroed(PAGE_WORDS, sizeof *p->cells);
    return p;
}

void race_page_destroy(struct race_page *p)
{
    if (!p)
        return;
    free(p->cells);
    free(p);
}

/* Each byte has from now on what its word had. */
static void split(struct race_page *p)
{
    struct race_cell *words = p->cells;
    p->cells = zeroed(RACE_PAGE_BYTES, sizeof *p->cells);
    p->by_byte = true;
    for (uint32_t i = 0; i < RACE_PAGE_BYTES; i++) {
        p->cells[i] = words[i / WORD_BYTES];
        p->cells[i].value = words[i / WORD_BYTES].value >> i % WORD_BYTES * 8 & 0xff;
    }
    free(words);
}

void race_page_forget(struct race_page *p, uint32_t first, uint32_t bytes)
{
    uint32_t unit = p->by_byte ? 1 : WORD_BYTES;
    for (uint32_t at = first / unit; at < (first + bytes + unit - 1) / unit; at++)
        p->cells[at].owner = 0;
}

/* The table of pages */

struct race_page_table *race_page_table_create(void) { return zeroed(1, sizeof(struct race_page_table)); }

void race_page_table_destroy(struct race_page_table *t)
{
    for (uint32_t i = 0; i < t->slots; i++)
        race_page_destroy(t->entries[i].page);
    free(t->entries);
    free(t);
}

static struct page_entry *slot_of(const struct race_page_table *t, uint64_t number)
{
    uint32_t i = (uint32_t)(number * 0x9e3779b97f4a7c15ull >> 32) & (t->slots - 1);
    while (t->entries[i].page && t->entries[i].number != number)
        i = (i + 1) & (t->slots - 1);
    return &t->entries[i];
}

static void grow(struct race_page_table *t)
{
    struct page_entry *old = t->entries;
    uint32_t slots = t->slots;
    t->slots = slots ? slots * 2 : 1024;
    t->entries = zeroed(t->slots, sizeof *t->entries);
    for (uint32_t i = 0; i < slots; i++)
        if (old[i].page)
            *slot_of(t, old[i].number) = old[i];
    free(old);
}

struct race_page *race_page_of(struct race_page_table *t, uint64_t address, bool make)
{
    uint64_t number = address / RACE_PAGE_BYTES;
    if (t->last.page && t->last.number == number)
        return t->last.page;
    if (t->count * 2 >= t->slots)
        grow(t);
    struct page_entry *e = slot_of(t, number);
    if (!e->page && !make)
        return NULL;
    if (!e->page) {
        *e = (struct page_entry){number, race_page_create()};
        t->count++;
    }
    t->last = *e;
    return e->page;
}

/* Rules */

struct visit {
    const struct race_touch *touch;
    const struct race_orders *orders;
    const struct race_block *block;
    race_found *found;
    void *context;
};

static bool is_in_order(const struct visit *v, const struct race_access *past)
{
    const struct race_access *now = &v->touch->access;
    if (past->block == now->block && past->thread == now->thread)
        return true;
    return race_clock_is_before(v->orders, v->block, now->thread, past);
}

static bool are_both_strong(const struct race_access *a, const struct race_access *b)
{
    uint8_t weaker = a->strength < b->strength ? a->strength : b->strength;
    return weaker == RACE_STRONG || (weaker == RACE_STRONG_IN_BLOCK && a->block == b->block);
}

static bool is_race(const struct visit *v, const struct race_access *past)
{
    return past->is_there && !are_both_strong(past, &v->touch->access) && !is_in_order(v, past);
}

/* Whoever came before in order needs not be remembered beside the new one. Else the two that are kept should differ as
 * much as may be. */
static void note_reader(const struct visit *v, struct race_cell *c)
{
    const struct race_access *now = &v->touch->access;
    struct race_access *a = &c->readers[0], *b = &c->readers[1];
    if (!a->is_there || is_in_order(v, a)) {
        *a = *now;
    } else if (!b->is_there || is_in_order(v, b)) {
        *b = *now;
    } else if (a->block == b->block) {
        bool same_warp = a->thread / WARP_LANES == b->thread / WARP_LANES;
        if (now->block != a->block || (same_warp && now->thread / WARP_LANES != a->thread / WARP_LANES))
            *b = *now;
    }
}

static bool same_warp(const struct race_access *a, const struct race_access *b)
{
    return a->block == b->block && a->thread / WARP_LANES == b->thread / WARP_LANES;
}

static void note_writer(const struct visit *v, struct race_cell *c, uint32_t value)
{
    const struct race_access *now = &v->touch->access;
    struct race_access *last = &c->writer, *other = &c->other_writer;
    other->is_there = other->is_there && !is_in_order(v, other);
    if (last->is_there && !is_in_order(v, last) && !(other->is_there && same_warp(last, now)))
        *other = *last;
    *last = *now;
    c->value = value;
}

static void visit(const struct visit *v, struct race_cell *c, uint32_t value, uint32_t offset)
{
    const struct race_touch *t = v->touch;
    if (c->owner != t->owner)
        *c = (struct race_cell){.owner = t->owner};
    if (!t->is_write) {
        if (is_race(v, &c->writer))
            v->found(v->context, RACE_READ_AFTER_WRITE, &c->writer, offset);
        else if (c->other_writer.strength != RACE_WEAK && is_race(v, &c->other_writer)) /* else it wrote the same */
            v->found(v->context, RACE_READ_AFTER_WRITE, &c->other_writer, offset);
        note_reader(v, c);
        return;
    }
    bool plain = !t->is_atomic && c->writer.strength == RACE_WEAK; /* two that leave the same are harmless */
    bool changes = !(plain && c->value == value);
    if (changes && is_race(v, &c->writer))
        v->found(v->context, RACE_WRITE_WRITE, &c->writer, offset);
    else if (changes && is_race(v, &c->other_writer))
        v->found(v->context, RACE_WRITE_WRITE, &c->other_writer, offset);
    for (int i = 0; i < 2; i++)
        if (is_race(v, &c->readers[i])) {
            v->found(v->context, RACE_WRITE_AFTER_READ, &c->readers[i], offset);
            break;
        }
    c->readers[0].is_there = c->readers[1].is_there = false;
    note_writer(v, c, value);
}

void race_touch_page(struct race_page *p, const struct race_touch *t, const struct race_orders *o,
                     const struct race_block *b, race_found *found, void *context)
{
    const struct visit v = {t, o, b, found, context};
    if (t->bytes < WORD_BYTES && !p->by_byte)
        split(p);
    if (!p->by_byte) {
        visit(&v, &p->cells[t->offset / WORD_BYTES], t->value, t->offset);
        return;
    }
    for (uint32_t i = 0; i < t->bytes; i++)
        visit(&v, &p->cells[t->offset + i], t->value >> i * 8 & 0xff, t->offset + i);
}
