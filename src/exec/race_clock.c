/* Clocks of warps and what others have seen of them (race_clock.h). */
#include "exec/race_clock.h"

#include "base/out_of_memory.h"

#include <stdlib.h>
#include <string.h>

enum {
    MOST_PLACES = 4096, /* of a launch; beyond that, any strong read acquires everything */
    MOST_RELEASES = 64, /* of a block; beyond that, the oldest are taken as released anywhere */
};
#define ANY_PLACE 0ull

struct release {
    uint64_t place, turn;
    uint32_t *covers; /* of each warp of the block */
};
struct history {
    uint32_t block, warp_count, count, capacity;
    struct release *list;
    struct history *next;
};
struct place {
    uint64_t place;
    struct race_acquired acquired; /* by those who released there */
};

struct race_orders {
    uint64_t turn;
    bool in_step, places_full;
    struct place *places; /* open addressing; place 0: free */
    uint32_t place_slots, place_count;
    struct history **histories; /* chains by block */
    uint32_t history_slots, history_count;
};

static void *zeroed(size_t count, size_t bytes)
{
    void *p = calloc(count ? count : 1, bytes);
    if (!p)
        out_of_memory();
    return p;
}

static uint32_t hash64(uint64_t x) { return (uint32_t)(x * 0x9e3779b97f4a7c15ull >> 32); }

static void rise_to(uint32_t *to, const uint32_t *from, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        to[i] = from[i] > to[i] ? from[i] : to[i];
}

/* What is acquired */

static void acquire_all(struct race_acquired *a, uint64_t turn) { a->all = turn > a->all ? turn : a->all; }

static void acquire_place(struct race_acquired *a, uint64_t place, uint64_t turn)
{
    for (uint32_t i = 0; i < a->count; i++)
        if (a->list[i].place == place) {
            a->list[i].turn = turn > a->list[i].turn ? turn : a->list[i].turn;
            return;
        }
    if (a->count < RACE_PLACES_SEEN) {
        a->list[a->count].place = place;
        a->list[a->count++].turn = turn;
        return;
    }
    for (uint32_t i = 0; i < a->count; i++)
        acquire_all(a, a->list[i].turn);
    acquire_all(a, turn);
    a->count = 0;
}

static void acquire_others(struct race_acquired *to, const struct race_acquired *from)
{
    acquire_all(to, from->all);
    for (uint32_t i = 0; i < from->count; i++)
        acquire_place(to, from->list[i].place, from->list[i].turn);
}

static bool knows(const struct race_acquired *a, const struct release *r)
{
    if (r->turn <= a->all)
        return true;
    for (uint32_t i = 0; i < a->count; i++)
        if (r->turn <= a->list[i].turn && (r->place == a->list[i].place || r->place == ANY_PLACE))
            return true;
    return false;
}

/* Views */

static void view_create(struct race_view *v, uint32_t warps)
{
    v->seen = zeroed(warps, sizeof *v->seen);
    v->fenced = zeroed(warps, sizeof *v->fenced);
}

static void view_clear(struct race_view *v, uint32_t warps)
{
    memset(v->seen, 0, warps * sizeof *v->seen);
    memset(v->fenced, 0, warps * sizeof *v->fenced);
    v->has_fenced = false;
    v->acquired = (struct race_acquired){0};
}

static void view_destroy(struct race_view *v)
{
    free(v->seen);
    free(v->fenced);
}

static void view_join(struct race_view *to, const struct race_view *from, uint32_t warps)
{
    rise_to(to->seen, from->seen, warps);
    rise_to(to->fenced, from->fenced, warps);
    to->has_fenced |= from->has_fenced;
    acquire_others(&to->acquired, &from->acquired);
}

/* Blocks */

struct race_block *race_clock_create(uint32_t warp_count)
{
    struct race_block *b = zeroed(1, sizeof *b);
    b->warp_count = warp_count;
    b->clocks = zeroed(warp_count, sizeof *b->clocks);
    b->synced = zeroed(warp_count, sizeof *b->synced);
    b->lanes = zeroed(warp_count, sizeof *b->lanes);
    b->views = zeroed(warp_count, sizeof *b->views);
    for (uint32_t i = 0; i < warp_count; i++)
        view_create(&b->views[i], warp_count);
    for (uint32_t i = 0; i < CTA_BARRIERS; i++)
        view_create(&b->barriers[i], warp_count);
    view_create(&b->opened, warp_count);
    view_create(&b->ended, warp_count);
    return b;
}

static void forget_lanes(struct race_block *b, uint32_t warp)
{
    free(b->lanes[warp]);
    b->lanes[warp] = NULL;
}

void race_clock_start(struct race_block *b)
{
    memset(b->clocks, 0, b->warp_count * sizeof *b->clocks);
    memset(b->synced, 0, b->warp_count * sizeof *b->synced);
    for (uint32_t i = 0; i < b->warp_count; i++) {
        view_clear(&b->views[i], b->warp_count);
        forget_lanes(b, i);
    }
    for (uint32_t i = 0; i < CTA_BARRIERS; i++)
        view_clear(&b->barriers[i], b->warp_count);
    view_clear(&b->ended, b->warp_count);
}

void race_clock_destroy(struct race_block *b)
{
    for (uint32_t i = 0; i < b->warp_count; i++) {
        view_destroy(&b->views[i]);
        forget_lanes(b, i);
    }
    for (uint32_t i = 0; i < CTA_BARRIERS; i++)
        view_destroy(&b->barriers[i]);
    view_destroy(&b->opened);
    view_destroy(&b->ended);
    free(b->views);
    free(b->lanes);
    free(b->clocks);
    free(b->synced);
    free(b);
}

void race_clock_arrive(struct race_block *b, uint32_t warp, struct race_view *gate)
{
    struct race_view *v = &b->views[warp];
    v->seen[warp] = b->clocks[warp];
    view_join(gate, v, b->warp_count);
}

void race_clock_open(struct race_block *b, struct race_view *gate)
{
    view_clear(&b->opened, b->warp_count);
    view_join(&b->opened, gate, b->warp_count);
    view_join(&b->opened, &b->ended, b->warp_count);
    view_clear(gate, b->warp_count);
}

void race_clock_pass(struct race_block *b, uint32_t warp)
{
    view_join(&b->views[warp], &b->opened, b->warp_count);
    b->synced[warp] = b->clocks[warp];
    forget_lanes(b, warp);
}

/* Lanes that meet take over what each of them has seen of the others. */
void race_clock_sync_lanes(struct race_block *b, uint32_t warp, uint32_t lanes, uint32_t live)
{
    uint32_t together[WARP_LANES] = {0};
    if (!(live & ~lanes)) {
        b->synced[warp] = b->clocks[warp];
        forget_lanes(b, warp);
        return;
    }
    if (!b->lanes[warp])
        b->lanes[warp] = zeroed(WARP_LANES * WARP_LANES, sizeof *b->lanes[warp]);
    for (uint32_t i = 0; i < WARP_LANES; i++)
        if (lanes >> i & 1)
            rise_to(together, b->lanes[warp] + i * WARP_LANES, WARP_LANES);
    for (uint32_t i = 0; i < WARP_LANES; i++)
        if (lanes >> i & 1)
            together[i] = b->clocks[warp];
    for (uint32_t i = 0; i < WARP_LANES; i++)
        if (lanes >> i & 1)
            memcpy(b->lanes[warp] + i * WARP_LANES, together, sizeof together);
}

/* Releases */

struct race_orders *race_orders_create(bool in_step)
{
    struct race_orders *o = zeroed(1, sizeof *o);
    o->in_step = in_step;
    return o;
}

void race_orders_destroy(struct race_orders *o)
{
    for (uint32_t i = 0; i < o->history_slots; i++)
        for (struct history *h = o->histories[i], *next; h; h = next) {
            next = h->next;
            for (uint32_t k = 0; k < h->count; k++)
                free(h->list[k].covers);
            free(h->list);
            free(h);
        }
    free(o->histories);
    free(o->places);
    free(o);
}

bool race_orders_none(const struct race_orders *o) { return o->turn == 0; }

static uint32_t place_slot(const struct race_orders *o, uint64_t place)
{
    uint32_t i = hash64(place) & (o->place_slots - 1);
    while (o->places[i].place && o->places[i].place != place)
        i = (i + 1) & (o->place_slots - 1);
    return i;
}

static struct place *find_place(const struct race_orders *o, uint64_t place)
{
    struct place *p = o->place_slots ? &o->places[place_slot(o, place)] : NULL;
    return p && p->place ? p : NULL;
}

static struct place *make_place(struct race_orders *o, uint64_t place)
{
    struct place *p = find_place(o, place);
    if (p || o->place_count == MOST_PLACES) {
        o->places_full |= !p;
        return p;
    }
    if (o->place_count * 2 >= o->place_slots) {
        struct place *old = o->places;
        uint32_t slots = o->place_slots;
        o->place_slots = slots ? slots * 2 : 16;
        o->places = zeroed(o->place_slots, sizeof *o->places);
        for (uint32_t i = 0; i < slots; i++)
            if (old[i].place)
                o->places[place_slot(o, old[i].place)] = old[i];
        free(old);
    }
    o->place_count++;
    p = &o->places[place_slot(o, place)];
    p->place = place;
    return p;
}

static struct history *find_history(const struct race_orders *o, uint32_t block)
{
    struct history *h = o->history_slots ? o->histories[hash64(block) & (o->history_slots - 1)] : NULL;
    while (h && h->block != block)
        h = h->next;
    return h;
}

static void grow_histories(struct race_orders *o)
{
    struct history **old = o->histories;
    uint32_t slots = o->history_slots;
    o->history_slots = slots ? slots * 2 : 64;
    o->histories = zeroed(o->history_slots, sizeof *o->histories);
    for (uint32_t i = 0; i < slots; i++)
        for (struct history *h = old[i], *next; h; h = next) {
            struct history **at = &o->histories[hash64(h->block) & (o->history_slots - 1)];
            next = h->next;
            h->next = *at;
            *at = h;
        }
    free(old);
}

static struct history *make_history(struct race_orders *o, const struct race_block *b)
{
    struct history *h = find_history(o, b->index);
    if (h)
        return h;
    if (o->history_count >= o->history_slots)
        grow_histories(o);
    struct history **at = &o->histories[hash64(b->index) & (o->history_slots - 1)];
    h = zeroed(1, sizeof *h);
    h->block = b->index;
    h->warp_count = b->warp_count;
    h->next = *at;
    o->history_count++;
    return *at = h;
}

/* The two oldest become one that counts wherever it is asked for, from the earlier turn on. */
static void merge_oldest(struct history *h)
{
    rise_to(h->list[1].covers, h->list[0].covers, h->warp_count);
    free(h->list[0].covers);
    h->list[1].turn = h->list[0].turn;
    h->list[1].place = ANY_PLACE;
    memmove(&h->list[0], &h->list[1], (h->count - 1) * sizeof *h->list);
    h->count--;
}

static struct release *add_release(struct history *h)
{
    if (h->count == MOST_RELEASES)
        merge_oldest(h);
    if (h->count == h->capacity) {
        h->capacity = h->capacity ? h->capacity * 2 : 1;
        h->list = realloc(h->list, h->capacity * sizeof *h->list);
        if (!h->list)
            out_of_memory();
    }
    return &h->list[h->count++];
}

static bool covers_all(const struct release *r, const uint32_t *fenced, uint32_t warps)
{
    for (uint32_t i = 0; i < warps; i++)
        if (r->covers[i] < fenced[i])
            return false;
    return true;
}

void race_clock_fence(struct race_block *b, uint32_t warp)
{
    struct race_view *v = &b->views[warp];
    v->seen[warp] = b->clocks[warp];
    rise_to(v->fenced, v->seen, b->warp_count);
    v->has_fenced = true;
}

void race_clock_release(struct race_orders *o, struct race_block *b, uint32_t warp, uint64_t place)
{
    struct race_view *v = &b->views[warp];
    struct place *p = v->has_fenced ? make_place(o, place) : NULL;
    if (!v->has_fenced)
        return;
    o->turn++;
    if (p)
        acquire_others(&p->acquired, &v->acquired);
    struct history *h = make_history(o, b);
    for (uint32_t i = 0; i < h->count; i++)
        if (h->list[i].place == place && covers_all(&h->list[i], v->fenced, b->warp_count))
            return;
    struct release *r = add_release(h);
    *r = (struct release){.place = place, .turn = o->turn, .covers = zeroed(b->warp_count, sizeof *r->covers)};
    memcpy(r->covers, v->fenced, b->warp_count * sizeof *r->covers);
}

void race_clock_acquire(struct race_orders *o, struct race_block *b, uint32_t warp, uint64_t place)
{
    struct race_acquired *a = &b->views[warp].acquired;
    const struct place *p = find_place(o, place);
    if (p) {
        acquire_others(a, &p->acquired);
        acquire_place(a, place, o->turn);
    } else if (o->places_full) {
        acquire_all(a, o->turn);
    }
}

static bool was_released(const struct race_orders *o, const struct race_view *v, const struct race_access *past)
{
    const struct history *h = race_orders_none(o) ? NULL : find_history(o, past->block);
    uint32_t warp = past->thread / WARP_LANES;
    for (uint32_t i = h ? h->count : 0; i-- > 0;)
        if (h->list[i].covers[warp] >= past->clock && knows(&v->acquired, &h->list[i]))
            return true;
    return false;
}

bool race_clock_is_before(const struct race_orders *o, const struct race_block *b, uint32_t thread,
                          const struct race_access *past)
{
    uint32_t warp = thread / WARP_LANES, lane = thread % WARP_LANES;
    uint32_t past_warp = past->thread / WARP_LANES, past_lane = past->thread % WARP_LANES;
    const struct race_view *v = &b->views[warp];
    if (past->block != b->index)
        return was_released(o, v, past);
    if (past_warp != warp)
        return v->seen[past_warp] >= past->clock || was_released(o, v, past);
    if (past_lane == lane)
        return true;
    if (past->clock == b->clocks[warp]) /* the same instruction */
        return false;
    return o->in_step || b->synced[warp] >= past->clock ||
           (b->lanes[warp] && b->lanes[warp][lane * WARP_LANES + past_lane] >= past->clock) || was_released(o, v, past);
}
