/* From instructions to accesses, and the pairs that were found (race.h).
 *
 * After an instruction that accesses memory, the warp says where (exec_warp.access, addr); of stores, the values are
 * read from the registers before, since lanes may write to one place. Left out: textures and surfaces, bulk and other
 * asynchronous copies (cp.async counts as done when it is issued), and what the device runtime does by itself. */
#include "exec/race_inside.h"

#include "base/out_of_memory.h"
#include "exec/access.h"
#include "exec/control.h"
#include "exec/image_internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void *zeroed(size_t count, size_t bytes)
{
    void *p = calloc(count ? count : 1, bytes);
    if (!p)
        out_of_memory();
    return p;
}

struct races *races_create(void)
{
    struct races *r = zeroed(1, sizeof *r);
    r->pages = race_page_table_create();
    r->pairs = zeroed(MOST_PAIRS, sizeof *r->pairs);
    return r;
}

void races_destroy(struct races *r)
{
    if (!r)
        return;
    for (struct code *c = r->codes, *next; c; c = next) {
        next = c->next;
        free(c->rules);
        free(c->kernel);
        free(c);
    }
    race_page_table_destroy(r->pages);
    free(r->pairs);
    free(r);
}

const struct race_pair *races_pairs(const struct races *r, uint32_t *count)
{
    *count = r->pair_count;
    return r->pairs;
}

uint64_t races_dropped(const struct races *r) { return r->dropped; }
uint64_t races_launches(const struct races *r) { return r->launches; }

/* Rules */

static bool has_any(const struct ptx_inst *in, const enum ptx_modifier *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (ptx_has_modifier(in, list[i]))
            return true;
    return false;
}

static enum race_strength strength_of(const struct ptx_inst *in)
{
    static const enum ptx_modifier strong[] = {PTX_MOD_VOLATILE, PTX_MOD_RELAXED, PTX_MOD_ACQUIRE, PTX_MOD_RELEASE,
                                               PTX_MOD_MMIO};
    bool is_atomic = ptx_flags(in) & PTX_F_ATOMIC;
    if (!is_atomic && !has_any(in, strong, sizeof strong / sizeof *strong))
        return RACE_WEAK;
    return ptx_has_modifier(in, PTX_MOD_CTA) ? RACE_STRONG_IN_BLOCK : RACE_STRONG;
}

static bool is_release(const struct ptx_inst *in)
{
    return ptx_has_modifier(in, PTX_MOD_RELEASE) || ptx_has_modifier(in, PTX_MOD_ACQ_REL);
}

static struct rule rule_of_barrier(const struct ptx_inst *in)
{
    if (!ptx_has_modifier(in, PTX_MOD_CLUSTER))
        return (struct rule){0}; /* reported by the barrier itself */
    return (struct rule){.act = ptx_has_modifier(in, PTX_MOD_ARRIVE) ? ACT_CLUSTER_ARRIVE : ACT_CLUSTER_WAIT};
}

static struct rule rule_of_mbarrier(const struct ptx_inst *in)
{
    bool waits = ptx_has_modifier(in, PTX_MOD_TEST_WAIT) || ptx_has_modifier(in, PTX_MOD_TRY_WAIT);
    bool arrives = ptx_has_modifier(in, PTX_MOD_ARRIVE) || ptx_has_modifier(in, PTX_MOD_ARRIVE_DROP);
    return (struct rule){.act = waits ? ACT_WAIT : arrives ? ACT_ARRIVE : ACT_NONE};
}

static struct rule rule_of_copy(const struct ptx_inst *in)
{
    if (ptx_has_modifier(in, PTX_MOD_MBARRIER))
        return (struct rule){.act = ACT_ARRIVE};
    return (struct rule){.act = ptx_has_modifier(in, PTX_MOD_BULK) ? ACT_NONE : ACT_ACCESSES};
}

static struct rule rule_of(const struct ptx_inst *in)
{
    uint32_t flags = ptx_flags(in);
    switch (in->opcode) {
    case PTX_OP_bar:
    case PTX_OP_barrier: return rule_of_barrier(in);
    case PTX_OP_mbarrier: return rule_of_mbarrier(in);
    case PTX_OP_cp: return rule_of_copy(in);
    case PTX_OP_wmma: return (struct rule){.act = ACT_ACCESSES};
    default: break;
    }
    if (flags & PTX_F_FENCE)
        return (struct rule){.act = ACT_FENCE};
    if (!(flags & (PTX_F_LOAD | PTX_F_STORE | PTX_F_ATOMIC)) || (flags & PTX_F_TEXTURE) ||
        ptx_has_modifier(in, PTX_MOD_ASYNC) || ptx_has_modifier(in, PTX_MOD_PARAM) ||
        ptx_has_modifier(in, PTX_MOD_LOCAL) || ptx_has_modifier(in, PTX_MOD_CONST))
        return (struct rule){0};
    return (struct rule){.act = ACT_ACCESS,
                         .strength = (uint8_t)strength_of(in),
                         .releases = is_release(in),
                         .has_values = in->opcode == PTX_OP_st};
}

static const struct code *code_of(struct races *r, const struct exec_function *kernel, const void *program,
                                  const uint32_t *first, uint32_t count)
{
    for (const struct code *c = r->codes; c; c = c->next)
        if (c->program == program)
            return c;
    struct code *c = zeroed(1, sizeof *c);
    *c = (struct code){
        .next = r->codes, .program = program, .kernel = strdup(kernel->name), .rules = zeroed(count, sizeof *c->rules)};
    if (!c->kernel)
        out_of_memory();
    r->codes = c;
    for (uint32_t i = 0; i < kernel->image->function_count; i++) {
        const struct exec_function *f = kernel->image->functions[i];
        for (uint32_t k = 0; (f == kernel || exec_may_run(kernel, f)) && k < f->inst_count; k++)
            c->rules[first[i] + k] = rule_of(&f->ptx->insts[k]);
    }
    return c;
}

/* Launches and blocks */

struct race_launch *race_launch_begin(struct races *r, const struct exec_launch *l, const void *program,
                                      const uint32_t *first, uint32_t count)
{
    struct race_launch *to = zeroed(1, sizeof *to);
    *to = (struct race_launch){.races = r,
                               .orders = race_orders_create(!exec_lanes_are_independent(l)),
                               .exec = l,
                               .first = first,
                               .number = ++r->last_launch,
                               .code = code_of(r, l->kernel, program, first, count)};
    r->launches++;
    return to;
}

void race_launch_end(struct race_launch *l)
{
    race_orders_destroy(l->orders);
    free(l);
}

void race_block_start(struct exec_cta *cta, struct race_launch *l)
{
    if (!cta->race) {
        cta->race = race_clock_create(cta->warp_count);
        cta->race->shared_pages = (cta->shared_bytes + RACE_PAGE_BYTES - 1) / RACE_PAGE_BYTES;
        cta->race->shared = zeroed(cta->race->shared_pages, sizeof *cta->race->shared);
    }
    race_clock_start(cta->race);
    cta->race->launch = l;
    cta->race->index = (uint32_t)cta->index;
    cta->race->number = ++l->races->last_block;
}

void race_block_destroy(struct race_block *b)
{
    if (!b)
        return;
    for (uint32_t i = 0; i < b->shared_pages; i++)
        race_page_destroy(b->shared[i]);
    free(b->shared);
    race_clock_destroy(b);
}

/* What was found */

static void place_of(const uint32_t size[3], uint64_t index, uint32_t out[3])
{
    out[0] = (uint32_t)(index % size[0]);
    out[1] = (uint32_t)(index / size[0] % size[1]);
    out[2] = (uint32_t)(index / size[0] / size[1]);
}

static struct race_party party(const struct race_launch *l, const struct race_access *a)
{
    struct race_party p = {.instruction = a->instruction};
    place_of(l->exec->grid, a->block, p.block);
    place_of(l->exec->block, a->thread, p.thread);
    return p;
}

static uint32_t *slot_of(struct races *r, const struct race_pair *like)
{
    uint64_t h = ((uint64_t)(uintptr_t)like->program * 31 + like->earlier.instruction) * 31 + like->later.instruction;
    uint32_t i = (uint32_t)((h * 8 + (uint64_t)like->kind * 2 + like->shared) * 0x9e3779b97f4a7c15ull >> 40),
             slots = 4 * MOST_PAIRS;
    for (;; i++) {
        uint32_t *at = &r->slots[i % slots];
        const struct race_pair *p = *at ? &r->pairs[*at - 1] : NULL;
        if (!p ||
            (p->program == like->program && p->earlier.instruction == like->earlier.instruction &&
             p->later.instruction == like->later.instruction && p->kind == like->kind && p->shared == like->shared))
            return at;
    }
}

static void describe_shared(const struct race_launch *l, uint64_t at, char *out, size_t out_bytes)
{
    uint64_t into;
    const struct ptx_variable *v = layout_shared_at(l->exec->image, l->exec->kernel, at, &into);
    if (v)
        snprintf(out, out_bytes, "%" PRIu64 " bytes into shared variable '%s'", into, v->name);
    else
        snprintf(out, out_bytes, "byte %" PRIu64 " of the block's shared memory", at);
}

/* One access of a lane to a page, while it is looked at. */
struct look {
    struct race_launch *launch;
    const struct race_touch *touch;
    uint64_t page; /* address of its first byte, in its space */
    bool shared;
    uint32_t told; /* kinds, one bit each: bytes of one access count once */
};

static void found(void *context, enum race_kind kind, const struct race_access *past, uint32_t offset)
{
    struct look *k = context;
    struct race_launch *l = k->launch;
    struct races *r = l->races;
    if (k->told >> kind & 1)
        return;
    k->told |= 1u << kind;
    struct race_pair like = {.program = l->code->program,
                             .kernel = l->code->kernel,
                             .kind = kind,
                             .shared = k->shared,
                             .address = k->page + offset,
                             .count = 1,
                             .earlier.instruction = past->instruction,
                             .later.instruction = k->touch->access.instruction};
    uint32_t *slot = slot_of(r, &like);
    if (*slot) {
        r->pairs[*slot - 1].count++;
        return;
    }
    if (r->pair_count == MOST_PAIRS) {
        r->dropped++;
        return;
    }
    like.earlier = party(l, past);
    like.later = party(l, &k->touch->access);
    if (k->shared)
        describe_shared(l, like.address, like.where, sizeof like.where);
    else
        memory_describe(l->exec->memory, like.address, like.where, sizeof like.where);
    r->pairs[r->pair_count] = like;
    *slot = ++r->pair_count;
}

/* Accesses */

/* The block whose shared memory an offset in the shared windows is of, and the offset there. */
static struct exec_cta *owner_of_shared(const struct exec_warp *w, uint64_t *offset)
{
    uint64_t window = *offset / MEMORY_WINDOW_BYTES;
    *offset %= MEMORY_WINDOW_BYTES;
    return window && w->cta->cluster ? w->cta->cluster->blocks[window - 1] : w->cta;
}

/* Where a lane's access goes. False: nowhere that others could come to. */
struct target {
    struct exec_cta *cta; /* shared memory, else NULL */
    uint64_t address;
    const uint8_t *host;
};

static bool find_target(const struct exec_warp *w, uint32_t lane, struct target *t)
{
    const struct memory *m = w->launch->memory;
    uint64_t address = w->addr[lane], in_shared = address - m->shared_window;
    bool shared = w->access.space == PTX_SPACE_SHARED;
    if (!shared && in_shared < (uint64_t)MEMORY_WINDOW_BYTES *
                                   (MEMORY_CLUSTER_BLOCKS + 1)) { /* generic addresses of several spaces */
        shared = true;
        address = in_shared;
    }
    if (!shared && address - m->local_window < MEMORY_WINDOW_BYTES)
        return false;
    *t = (struct target){.address = address, .host = memory_pointer(address)};
    if (shared) {
        t->cta = owner_of_shared(w, &t->address);
        t->host = t->cta->shared + t->address;
    }
    return !shared || t->cta->race;
}

static struct race_page *page_of(const struct race_launch *l, const struct target *t, uint64_t address)
{
    if (!t->cta)
        return race_page_of(l->races->pages, address, true);
    struct race_page **at = &t->cta->race->shared[address / RACE_PAGE_BYTES];
    if (!*at)
        *at = race_page_create();
    return *at;
}

/* An acquisition comes first, so that what the access itself finds is in order; a release takes along what it has
 * acquired. */
static void synchronise(struct race_block *b, uint32_t warp, uint64_t place, bool reads, bool writes)
{
    struct race_orders *o = b->launch->orders;
    if (reads && !race_orders_none(o))
        race_clock_acquire(o, b, warp, place);
    if (writes)
        race_clock_release(o, b, warp, place);
}

static void access_lane(struct exec_warp *w, uint32_t lane, const struct target *t, const uint8_t *values)
{
    const struct exec_access *x = &w->access;
    struct race_block *b = w->cta->race;
    struct race_touch touch = {.owner = t->cta ? t->cta->race->number : b->launch->number,
                               .is_write = x->is_store,
                               .is_atomic = x->is_atomic,
                               .access = {.block = b->index,
                                          .clock = b->clocks[w->index],
                                          .instruction = b->instruction,
                                          .thread = (uint16_t)(w->index * WARP_LANES + lane),
                                          .strength = b->strength,
                                          .is_there = true}};
    for (uint32_t at = 0; at < x->bytes; at += touch.bytes) {
        uint64_t address = t->address + at;
        touch.bytes = x->bytes < 4 ? x->bytes : 4;
        touch.offset = (uint32_t)(address % RACE_PAGE_BYTES);
        touch.value = 0;
        if (x->is_store)
            memcpy(&touch.value, values ? values + at : t->host + at, touch.bytes);
        struct look k = {.launch = b->launch, .touch = &touch, .page = address - touch.offset, .shared = t->cta};
        race_touch_page(page_of(b->launch, t, address), &touch, b->launch->orders, b, found, &k);
    }
}

void race_access_values(struct exec_warp *w, const uint8_t values[WARP_LANES][STORE_VALUE_BYTES])
{
    const struct exec_access *x = &w->access;
    struct race_block *b = w->cta->race;
    struct target t;
    if ((x->space != PTX_SPACE_GLOBAL && x->space != PTX_SPACE_SHARED) || x->is_texture)
        return;
    for (uint32_t left = b->strength ? x->mask : 0; left; left &= left - 1)
        if (find_target(w, (uint32_t)__builtin_ctz(left), &t))
            synchronise(b, w->index, (uintptr_t)t.host, !x->is_store || x->is_atomic, x->is_store);
    for (uint32_t left = x->mask; left; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left);
        if (find_target(w, lane, &t))
            access_lane(w, lane, &t, values ? values[lane] : NULL);
    }
}

void race_access(struct exec_warp *w) { race_access_values(w, NULL); }

void race_meet_at_objects(struct exec_warp *w, bool arrives)
{
    struct race_block *b = w->cta->race;
    struct target t;
    if (w->access.space != PTX_SPACE_SHARED)
        return;
    if (arrives)
        race_clock_fence(b, w->index);
    for (uint32_t left = w->access.mask; left; left &= left - 1)
        if (find_target(w, (uint32_t)__builtin_ctz(left), &t))
            synchronise(b, w->index, (uintptr_t)t.host, true, arrives);
}

void race_meet_cluster(struct exec_warp *w, bool arrives)
{
    struct race_block *b = w->cta->race;
    if (!w->cta->cluster)
        return;
    if (arrives)
        race_clock_fence(b, w->index);
    synchronise(b, w->index, (uintptr_t)w->cta->cluster, !arrives, arrives);
}

/* What others report */

void race_barrier_arrive(struct exec_warp *w, uint32_t id)
{
    race_clock_arrive(w->cta->race, w->index, &w->cta->race->barriers[id]);
}

void race_barrier_open(struct exec_cta *cta, uint32_t id) { race_clock_open(cta->race, &cta->race->barriers[id]); }

void race_barrier_pass(struct exec_warp *w) { race_clock_pass(w->cta->race, w->index); }

void race_warp_done(struct exec_warp *w) { race_clock_arrive(w->cta->race, w->index, &w->cta->race->ended); }

void race_warp_sync(struct exec_warp *w, uint32_t lanes)
{
    race_clock_sync_lanes(w->cta->race, w->index, lanes, w->lanes & ~w->exited);
}

void race_allocated(struct exec_warp *w, uint64_t address, uint64_t bytes)
{
    struct races *r = w->cta->race->launch->races;
    for (uint64_t at = address, end = address + bytes; at < end;) {
        uint32_t offset = (uint32_t)(at % RACE_PAGE_BYTES);
        uint64_t left = RACE_PAGE_BYTES - offset < end - at ? RACE_PAGE_BYTES - offset : end - at;
        struct race_page *p = race_page_of(r->pages, at, false);
        if (p)
            race_page_forget(p, offset, (uint32_t)left);
        at += left;
    }
}
