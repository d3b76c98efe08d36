/* The order that an assembler would choose within each basic block: loads and what their addresses need come early, in
 * the order of the text, and so does the condition of the branch at its end, for which it waits long; the rest follows
 * in the order of the text as soon as what it reads has arrived, so that consumers of loads come late. No more than a
 * few results are under way at once, since each holds a register.
 *
 * What must stay in order: reads and writes of a register (a guard is read, the carry is a register too); votes and
 * shuffles, among themselves; a store and all accesses to a space that may be the same memory. Loads
 * pass loads; loads of constants, of a kernel's parameters and ld.nc pass stores. Nothing passes a barrier, a fence, a
 * call, a volatile or ordered access, a reading of the clock, or a branch: these cut a block into pieces. */
#include "ptx/cfg.h"
#include "ptx/lowering.h"

#include <string.h>

enum {
    MOST_IN_FLIGHT = 16, /* registers that loads have yet to fill */
    /* places between an instruction and what reads its result, where there are others to fill them */
    WAIT_FAR = 40,
    WAIT_NEAR = 10,
    WAIT_ARITHMETIC = 2,
};

enum space { GLOBAL, SHARED, LOCAL, SPACE_COUNT, ANY_SPACE = SPACE_COUNT };
#define NOBODY UINT32_MAX

struct edge {
    uint32_t to, next; /* next: one more than the index, 0 at the end */
    bool is_value;     /* the result is read: it must have arrived */
};

struct reader {
    uint32_t inst, next;
};

/* One instruction of the piece at hand, by its place in it. */
struct node {
    uint32_t first_edge;   /* one more than the index: what must come after it */
    uint32_t waits_for;    /* how many must still come before it */
    uint32_t ready_at;     /* when what it reads has arrived, counted in places */
    uint32_t first_source; /* one more than the index into the readers: loads whose results it reads */
    uint32_t results;      /* of a load: registers; 0 once somebody has read it */
    uint8_t wait;          /* places until its result arrives */
    bool is_load, leads_to_load;
    bool for_branch; /* part of the condition of the branch after the piece */
};

struct heap {
    uint64_t *keys;
    uint32_t count;
};

struct reorder {
    struct arena *arena;
    struct ptx_function *f;
    struct node *nodes;
    uint32_t first; /* of the piece, as instruction */
    struct edge *edges;
    uint32_t edge_count, edge_capacity;
    struct reader *readers;
    uint32_t reader_count, reader_capacity;
    /* per register, with the carry and the other lanes as two more; valid where stamp is that of the piece */
    uint32_t *stamp, *last_write, *first_reader, piece;
    uint32_t last_store[SPACE_COUNT], first_load[SPACE_COUNT]; /* loads since: a list of readers */
    uint32_t current;
    struct heap early, ready, later; /* those that come early; the rest; both until what they read has arrived */
    uint32_t *order;
    uint32_t in_flight;
};

/* ------------------------------------------------------------- what an instruction is */

static bool has(const struct ptx_inst *in, enum ptx_modifier m) { return ptx_has_modifier(in, m); }

static bool is_ordered(const struct ptx_inst *in)
{
    return has(in, PTX_MOD_VOLATILE) || has(in, PTX_MOD_ACQUIRE) || has(in, PTX_MOD_RELEASE) ||
           has(in, PTX_MOD_RELAXED) || has(in, PTX_MOD_ACQ_REL) || has(in, PTX_MOD_MMIO) || has(in, PTX_MOD_SC);
}

bool ptx_reads_time(const struct ptx_inst *in)
{
    for (uint32_t k = 0; k < in->operand_count; k++)
        if (in->operands[k].kind == PTX_OPERAND_SPECIAL && in->operands[k].special >= PTX_SREG_CLOCK &&
            in->operands[k].special <= PTX_SREG_GLOBALTIMER_HI)
            return true;
    return false;
}

static bool is_plain_memory(const struct ptx_inst *in)
{
    bool is_access = ptx_flags(in) & (PTX_F_LOAD | PTX_F_STORE | PTX_F_ATOMIC);
    return (is_access || (in->opcode == PTX_OP_cp && !has(in, PTX_MOD_BULK) && in->operand_count > 1)) &&
           !(is_ordered(in) && !(ptx_flags(in) & PTX_F_ATOMIC));
}

/* Nothing goes past it. */
static bool is_wall(const struct ptx_inst *in)
{
    if (ptx_opcodes[in->opcode].unit == PTX_UNIT_MEM && !is_plain_memory(in))
        return true;
    return ptx_opcodes[in->opcode].unit == PTX_UNIT_CONTROL || ptx_flags(in) & (PTX_F_FENCE | PTX_F_CALL) ||
           in->opcode == PTX_OP_alloca || in->opcode == PTX_OP_stacksave || in->opcode == PTX_OP_stackrestore ||
           in->opcode == PTX_OP_wgmma || ptx_reads_time(in);
}

static enum space space_of(const struct ptx_inst *in)
{
    for (uint32_t i = 0; i < in->modifier_count; i++)
        switch (in->modifiers[i]) {
        case PTX_MOD_GLOBAL: return in->opcode == PTX_OP_cp ? ANY_SPACE : GLOBAL;
        case PTX_MOD_SHARED:
        case PTX_MOD_SHARED_CTA: return in->opcode == PTX_OP_cp ? ANY_SPACE : SHARED;
        case PTX_MOD_LOCAL: return LOCAL;
        default: break;
        }
    return ANY_SPACE;
}

/* Reads what nobody writes while the kernel runs. */
static bool passes_stores(const struct ptx_function *f, const struct ptx_inst *in)
{
    bool parameter = has(in, PTX_MOD_PARAM_ENTRY) || (f->is_entry && has(in, PTX_MOD_PARAM));
    if (parameter) /* not one that is passed to a call, or comes back from it */
        for (uint32_t k = 0; k < in->operand_count; k++)
            if (in->operands[k].kind == PTX_OPERAND_ADDRESS && in->operands[k].elements[0].kind == PTX_OPERAND_SYMBOL)
                for (uint32_t v = 0; v < f->variable_count; v++)
                    parameter &= f->variables[v] != in->operands[k].elements[0].variable;
    return ptx_flags(in) & PTX_F_LOAD && (parameter || has(in, PTX_MOD_CONST) || has(in, PTX_MOD_NC));
}

static uint8_t wait_of(const struct ptx_inst *in)
{
    if (!(ptx_flags(in) & (PTX_F_LOAD | PTX_F_ATOMIC)))
        return ptx_opcodes[in->opcode].unit == PTX_UNIT_SP ? WAIT_ARITHMETIC : WAIT_NEAR;
    bool is_near = has(in, PTX_MOD_SHARED) || has(in, PTX_MOD_CONST) || has(in, PTX_MOD_PARAM);
    return is_near ? WAIT_NEAR : WAIT_FAR;
}

/* ------------------------------------------------------------- what must come before what */

static void must_follow(struct reorder *r, uint32_t before, uint32_t after, bool is_value)
{
    if (before == NOBODY || before == after)
        return;
    if (r->edge_count == r->edge_capacity) {
        struct edge *grown = arena_array(r->arena, struct edge, r->edge_capacity * 2);
        memcpy(grown, r->edges, sizeof *grown * r->edge_count);
        r->edges = grown;
        r->edge_capacity *= 2;
    }
    r->edges[r->edge_count] = (struct edge){.to = after, .next = r->nodes[before].first_edge, .is_value = is_value};
    r->nodes[before].first_edge = ++r->edge_count;
    r->nodes[after].waits_for++;
}

static void add_reader(struct reorder *r, uint32_t *list, uint32_t inst)
{
    if (r->reader_count == r->reader_capacity) {
        struct reader *grown = arena_array(r->arena, struct reader, r->reader_capacity * 2);
        memcpy(grown, r->readers, sizeof *grown * r->reader_count);
        r->readers = grown;
        r->reader_capacity *= 2;
    }
    r->readers[r->reader_count] = (struct reader){.inst = inst, .next = *list};
    *list = ++r->reader_count;
}

static void follow_readers(struct reorder *r, uint32_t list, uint32_t after)
{
    for (; list; list = r->readers[list - 1].next)
        must_follow(r, r->readers[list - 1].inst, after, false);
}

static void look_at_register(struct reorder *r, uint32_t reg, enum ptx_reg_role role)
{
    if (r->stamp[reg] != r->piece) {
        r->stamp[reg] = r->piece;
        r->last_write[reg] = NOBODY;
        r->first_reader[reg] = 0;
    }
    must_follow(r, r->last_write[reg], r->current, role == PTX_REG_USE);
    if (role == PTX_REG_USE) {
        if (r->last_write[reg] != NOBODY && r->nodes[r->last_write[reg]].is_load)
            add_reader(r, &r->nodes[r->current].first_source, r->last_write[reg]);
        add_reader(r, &r->first_reader[reg], r->current);
        return;
    }
    follow_readers(r, r->first_reader[reg], r->current);
    r->last_write[reg] = r->current;
    r->first_reader[reg] = 0;
    r->nodes[r->current].results += r->nodes[r->current].is_load;
}

static void visit_register(void *context, const struct ptx_reg *reg, enum ptx_reg_role role)
{
    look_at_register(context, reg->index, role);
}

static void look_at_memory(struct reorder *r, const struct ptx_inst *in)
{
    if (!is_plain_memory(in) || passes_stores(r->f, in))
        return;
    enum space space = space_of(in);
    bool loads = ptx_flags(in) & PTX_F_LOAD;
    for (uint32_t s = 0; s < SPACE_COUNT; s++) {
        if (space != ANY_SPACE && space != (enum space)s)
            continue;
        must_follow(r, r->last_store[s], r->current, false);
        if (loads) {
            add_reader(r, &r->first_load[s], r->current);
            continue;
        }
        follow_readers(r, r->first_load[s], r->current);
        r->first_load[s] = 0;
        r->last_store[s] = r->current;
    }
}

static void look_at(struct reorder *r, uint32_t place)
{
    const struct ptx_inst *in = &r->f->insts[r->first + place];
    uint32_t carry = r->f->reg_count, lanes = carry + 1;
    struct node *n = &r->nodes[place];
    r->current = place;
    *n = (struct node){.wait = wait_of(in), .is_load = (ptx_flags(in) & PTX_F_LOAD) != 0};
    if (in->opcode == PTX_OP_addc || in->opcode == PTX_OP_subc || in->opcode == PTX_OP_madc)
        look_at_register(r, carry, PTX_REG_USE);
    ptx_visit_regs(r->f, in, visit_register, r);
    if (has(in, PTX_MOD_CC))
        look_at_register(r, carry, PTX_REG_DEFINE);
    if (ptx_flags(in) & PTX_F_WARP && ptx_opcodes[in->opcode].unit == PTX_UNIT_SP)
        look_at_register(r, lanes, PTX_REG_DEFINE);
    look_at_memory(r, in);
}

/* The instruction that computes the guard of the branch after the piece, or NOBODY. */
static uint32_t condition_of(const struct reorder *r, uint32_t count)
{
    uint32_t at = r->first + count;
    const struct ptx_reg *guard = at < r->f->inst_count ? r->f->insts[at].guard : NULL;
    bool is_branch = guard && r->f->insts[at].opcode == PTX_OP_bra && r->stamp[guard->index] == r->piece;
    return is_branch ? r->last_write[guard->index] : NOBODY;
}

/* Of what comes early: loads and all that comes before one; of the condition, what its value is made of. */
static void find_early(struct reorder *r, uint32_t count)
{
    uint32_t condition = condition_of(r, count);
    for (uint32_t k = count; k-- > 0;) {
        struct node *n = &r->nodes[k];
        n->for_branch = k == condition;
        n->leads_to_load = n->is_load;
        for (uint32_t e = n->first_edge; e; e = r->edges[e - 1].next) {
            const struct node *after = &r->nodes[r->edges[e - 1].to];
            n->for_branch |= after->for_branch && r->edges[e - 1].is_value;
            n->leads_to_load |= after->leads_to_load;
        }
    }
}

/* ------------------------------------------------------------- heaps of places, the least key first */

static void heap_push(struct heap *h, uint64_t key)
{
    uint32_t at = h->count++;
    for (; at && h->keys[(at - 1) / 2] > key; at = (at - 1) / 2)
        h->keys[at] = h->keys[(at - 1) / 2];
    h->keys[at] = key;
}

static uint64_t heap_pop(struct heap *h)
{
    uint64_t least = h->keys[0], moved = h->keys[--h->count];
    uint32_t at = 0;
    for (uint32_t child; (child = at * 2 + 1) < h->count; at = child) {
        child += child + 1 < h->count && h->keys[child + 1] < h->keys[child];
        if (h->keys[child] >= moved)
            break;
        h->keys[at] = h->keys[child];
    }
    h->keys[at] = moved;
    return least;
}

/* ------------------------------------------------------------- choosing */

static void offer(struct reorder *r, uint32_t place)
{
    heap_push(&r->later, (uint64_t)r->nodes[place].ready_at << 32 | place);
}

static void wake(struct reorder *r, uint32_t now)
{
    while (r->later.count && r->later.keys[0] >> 32 <= now) {
        uint32_t place = (uint32_t)heap_pop(&r->later);
        bool early = r->nodes[place].leads_to_load || r->nodes[place].for_branch;
        heap_push(early ? &r->early : &r->ready, place);
    }
}

static uint32_t choose(struct reorder *r)
{
    bool full = r->early.count && r->nodes[r->early.keys[0]].is_load && r->in_flight >= MOST_IN_FLIGHT;
    if (r->early.count && !full)
        return (uint32_t)heap_pop(&r->early);
    if (r->ready.count)
        return (uint32_t)heap_pop(&r->ready);
    if (r->later.count) /* nothing has arrived: the next that will */
        return (uint32_t)heap_pop(&r->later);
    return (uint32_t)heap_pop(&r->early);
}

static void place_next(struct reorder *r, uint32_t place, uint32_t now)
{
    struct node *n = &r->nodes[place];
    for (uint32_t k = n->first_source; k; k = r->readers[k - 1].next) {
        struct node *load = &r->nodes[r->readers[k - 1].inst];
        r->in_flight -= load->results;
        load->results = 0;
    }
    r->in_flight += n->results;
    for (uint32_t e = n->first_edge; e; e = r->edges[e - 1].next) {
        struct node *after = &r->nodes[r->edges[e - 1].to];
        uint32_t arrives = now + (r->edges[e - 1].is_value ? n->wait : 1);
        after->ready_at = arrives > after->ready_at ? arrives : after->ready_at;
        if (!--after->waits_for)
            offer(r, r->edges[e - 1].to);
    }
}

static void reorder_piece(struct reorder *r, uint32_t first, uint32_t end, struct ptx_inst *copy)
{
    uint32_t count = end - first;
    if (count < 2)
        return;
    r->first = first;
    r->piece++;
    r->edge_count = r->reader_count = r->in_flight = 0;
    for (uint32_t s = 0; s < SPACE_COUNT; s++) {
        r->last_store[s] = NOBODY;
        r->first_load[s] = 0;
    }
    for (uint32_t k = 0; k < count; k++)
        look_at(r, k);
    find_early(r, count);
    for (uint32_t k = 0; k < count; k++)
        if (!r->nodes[k].waits_for)
            offer(r, k);
    for (uint32_t now = 0; now < count; now++) {
        wake(r, now);
        uint32_t place = choose(r);
        place_next(r, place, now);
        r->order[now] = place;
    }
    memcpy(copy, r->f->insts + first, sizeof *copy * count);
    for (uint32_t k = 0; k < count; k++)
        r->f->insts[first + k] = copy[r->order[k]];
}

void ptx_reorder(struct arena *a, struct ptx_function *f)
{
    struct reorder r = {.arena = a, .f = f};
    const struct ptx_cfg *cfg = ptx_cfg_build(a, f);
    uint32_t most = 0;
    for (uint32_t b = 0; b < cfg->block_count; b++)
        most = cfg->blocks[b].end - cfg->blocks[b].first > most ? cfg->blocks[b].end - cfg->blocks[b].first : most;
    r.nodes = arena_array(a, struct node, most + 1);
    r.order = arena_array(a, uint32_t, most + 1);
    r.early.keys = arena_array(a, uint64_t, most + 1);
    r.ready.keys = arena_array(a, uint64_t, most + 1);
    r.later.keys = arena_array(a, uint64_t, most + 1);
    r.edge_capacity = r.reader_capacity = most * 4 + 16;
    r.edges = arena_array(a, struct edge, r.edge_capacity);
    r.readers = arena_array(a, struct reader, r.reader_capacity);
    r.stamp = arena_array(a, uint32_t, f->reg_count + 2);
    r.last_write = arena_array(a, uint32_t, f->reg_count + 2);
    r.first_reader = arena_array(a, uint32_t, f->reg_count + 2);
    struct ptx_inst *copy = arena_array(a, struct ptx_inst, most + 1);
    for (uint32_t b = 0; b < cfg->block_count; b++)
        for (uint32_t i = cfg->blocks[b].first, first = i; i < cfg->blocks[b].end; i++) {
            bool wall = is_wall(&f->insts[i]);
            if (wall || i + 1 == cfg->blocks[b].end)
                reorder_piece(&r, first, wall ? i : i + 1, copy);
            first = wall ? i + 1 : first;
        }
}
