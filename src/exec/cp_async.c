/* cp.async, cp.async.bulk and cp.reduce.async.bulk (PTX ISA 9.7.9.25), the forms without tensors.
 *
 * A copy is performed when it is issued, which the ISA allows: programs may not look at either side before they waited.
 * Groups and waits have therefore nothing to do; what a copy does to an mbarrier object happens together with it. */
#include "exec/access.h"
#include "exec/atomics.h"
#include "exec/mbarrier.h"
#include "exec/race.h"

#include <inttypes.h>

static void no_effect(struct exec_warp *w, const struct exec_inst *in, uint32_t mask) { (void)w, (void)in, (void)mask; }

/* cp.async: 4, 8 or 16 bytes per lane; the end beyond the source's size is filled with zeros. */

enum limit { LIMIT_NONE, LIMIT_SIZE, LIMIT_IGNORE };

struct copy {
    struct access_address to, from;
    exec_ref limit; /* source size, or the predicate that says to ignore the source */
    bool limit_negated;
    uint8_t bytes, limit_kind;
};

/* Bytes that a lane reads. */
static uint32_t source_bytes(const struct exec_warp *w, const struct copy *c, uint32_t lane)
{
    if (c->limit_kind == LIMIT_IGNORE)
        return read_pred(w, c->limit, c->limit_negated) >> lane & 1 ? 0 : c->bytes;
    uint32_t size = c->limit_kind == LIMIT_SIZE ? LANES_OF(uint32_t, w, c->limit)[lane] : c->bytes;
    return size < c->bytes ? size : c->bytes;
}

/* Sources of different sizes, some perhaps of no size and with an address of nothing. */
static bool locate_limited(struct exec_warp *w, const struct copy *c, uint32_t mask, uint8_t *from[WARP_LANES])
{
    uint32_t reading = 0;
    FOR_EACH_LANE(mask, i) {
        uint32_t bytes = source_bytes(w, c, i);
        if (bytes == 0)
            continue;
        reading |= 1u << i;
        if (w->addr[i] % c->bytes)
            return access_misaligned(w, i, w->addr[i], c->bytes, c->bytes, false);
        from[i] = access_find(w, PTX_SPACE_GLOBAL, i, w->addr[i], bytes, false);
        if (!from[i]) {
            access_fault(w, PTX_SPACE_GLOBAL, i, w->addr[i], bytes, false);
            return false;
        }
    }
    access_note(w, PTX_SPACE_GLOBAL, reading, c->bytes, false);
    return true;
}

/* The read, which is what the warp reports now, and the write, done by now. */
static void note_both(struct exec_warp *w, const struct copy *c, uint32_t mask)
{
    uint8_t *to[WARP_LANES];
    race_access(w);
    access_addresses(w, &c->to, mask);
    if (exec_resolve(w, PTX_SPACE_SHARED, mask, c->bytes, c->bytes, true, to))
        race_access(w);
}

static void copy(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    const struct copy *c = in->extra;
    uint8_t *to[WARP_LANES], *from[WARP_LANES];
    access_addresses(w, &c->to, mask);
    if (!exec_resolve(w, PTX_SPACE_SHARED, mask, c->bytes, c->bytes, true, to))
        return;
    access_addresses(w, &c->from, mask);
    if (c->limit_kind == LIMIT_NONE ? !exec_resolve(w, PTX_SPACE_GLOBAL, mask, c->bytes, c->bytes, false, from)
                                    : !locate_limited(w, c, mask, from))
        return;
    FOR_EACH_LANE(mask, i) {
        uint8_t buffer[16] = {0};
        uint32_t bytes = source_bytes(w, c, i);
        if (bytes)
            memcpy(buffer, from[i], bytes);
        access_write(w, to[i], buffer, c->bytes);
    }
    if (race_is_watching(w))
        note_both(w, c, mask);
}

/* {.shared, .shared::cta} must be written before .global. */
static bool take_shared_global(struct decoder *d)
{
    bool shared = decode_take(d, PTX_MOD_SHARED) || decode_take(d, PTX_MOD_SHARED_CTA);
    return (decode_take(d, PTX_MOD_GLOBAL) && shared) ||
           decode_wrong(d, NULL, "%s: the copy goes from .global to .shared", d->in->spelling);
}

static bool decode_limit(struct decoder *d, const struct ptx_operand *o, struct copy *c)
{
    bool is_pred = o->kind == PTX_OPERAND_REG && o->reg->type == PTX_PRED;
    decode_take(d, PTX_MOD_IGNORE_SRC);
    c->limit_kind = is_pred ? LIMIT_IGNORE : LIMIT_SIZE;
    return is_pred ? decode_pred_src(d, o, &c->limit, &c->limit_negated) : decode_src_of(d, o, PTX_U32, &c->limit);
}

/* cp.async.{ca,cg}.shared.global [to], [from], size{, source size or predicate}{, policy} */
static bool decode_copy(struct decoder *d)
{
    struct copy *c = decode_alloc(d, sizeof *c);
    bool cg = decode_has(d, PTX_MOD_CG), hint = decode_has(d, PTX_MOD_L2_CACHE_HINT);
    int64_t bytes;
    exec_ref policy;
    if (!cg && !decode_has(d, PTX_MOD_CA))
        return decode_fail(d, "no such form of cp.async");
    decode_take_memory_hints(d);
    if (!take_shared_global(d) || !decode_count(d, 3 + hint, 4 + hint) || !decode_immediate(d, 2, &bytes) ||
        !access_decode_address(d, decode_operand(d, 0), PTX_SPACE_SHARED, &c->to) ||
        !access_decode_address(d, decode_operand(d, 1), PTX_SPACE_GLOBAL, &c->from))
        return false;
    if (bytes != 16 && (cg || (bytes != 4 && bytes != 8)))
        return decode_wrong(d, decode_operand(d, 2), "%s: the size must be %s", d->in->spelling,
                            cg ? "16" : "4, 8 or 16");
    c->bytes = (uint8_t)bytes;
    if (d->in->operand_count == 4 + hint && !decode_limit(d, decode_operand(d, 3), c))
        return false;
    if (hint && !decode_src(d, d->in->operand_count - 1, PTX_B64, &policy))
        return false;
    d->out->extra = c;
    d->out->fn = copy;
    return true;
}

/* cp.async.mbarrier.arrive: the copies before it are done, so the arrival happens now. Without .noinc one arrival is
 * added to the pending ones first, which leaves the object as it was. */
static void arrive(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    const struct access_address *a = in->extra;
    uint8_t *at[WARP_LANES];
    access_addresses(w, a, mask);
    if (!exec_resolve(w, (enum ptx_space)a->space, mask, 8, 8, true, at) || !in->sub[0])
        return;
    FOR_EACH_LANE(mask, i) {
        if (!mbarrier_arrive(w, i, at[i], 1))
            return;
    }
}

static bool decode_arrive(struct decoder *d)
{
    struct access_address *a = decode_alloc(d, sizeof *a);
    enum ptx_space space = decode_take_space(d);
    if (!decode_take(d, PTX_MOD_ARRIVE) || decode_type(d, 0) != PTX_B64 ||
        (space != PTX_SPACE_NONE && space != PTX_SPACE_SHARED))
        return decode_wrong(d, NULL, "%s: no such form", d->in->spelling);
    d->out->sub[0] = decode_take(d, PTX_MOD_NOINC);
    d->out->extra = a;
    d->out->fn = arrive;
    return decode_count(d, 1, 1) && access_decode_address(d, decode_operand(d, 0), space, a);
}

/* Bulk copies: one per lane, of any multiple of 16 bytes. */

struct bulk {
    struct access_address to, from, barrier;
    exec_ref size, mask; /* mask: blocks of the cluster, or bytes of each 16 */
    bool has_barrier, multicast, byte_mask, reduces, global;
    uint8_t op, type, element_bytes;
};

static void move_bulk(struct exec_warp *w, const struct bulk *b, uint8_t *to, const uint8_t *from, uint32_t bytes,
                      uint32_t byte_mask)
{
    if (b->reduces) {
        for (uint32_t at = 0; at < bytes; at += b->element_bytes) {
            uint64_t old = 0, given = 0;
            memcpy(&old, to + at, b->element_bytes);
            memcpy(&given, from + at, b->element_bytes);
            old = atomic_combine((enum atomic_op)b->op, (enum ptx_type)b->type, old, given, 0, b->global);
            access_write(w, to + at, &old, b->element_bytes);
        }
    } else if (b->byte_mask) {
        for (uint32_t at = 0; at < bytes; at++)
            if (byte_mask >> (at % 16) & 1)
                access_write(w, to + at, from + at, 1);
    } else {
        access_write(w, to, from, bytes);
    }
}

/* To one place, and its bytes to one barrier. */
static bool deliver(struct exec_warp *w, const struct bulk *b, uint32_t lane, uint64_t to, uint64_t barrier,
                    const uint8_t *from, uint32_t bytes)
{
    uint8_t *p = access_find(w, (enum ptx_space)b->to.space, lane, to, bytes, true);
    if (!p) {
        access_fault(w, (enum ptx_space)b->to.space, lane, to, bytes, true);
        return false;
    }
    move_bulk(w, b, p, from, bytes, b->byte_mask ? LANES_OF(uint32_t, w, b->mask)[lane] : 0);
    if (!b->has_barrier)
        return true;
    uint8_t *word = access_find(w, (enum ptx_space)b->barrier.space, lane, barrier, 8, true);
    if (!word || barrier % 8) {
        access_fault(w, (enum ptx_space)b->barrier.space, lane, barrier, 8, true);
        return false;
    }
    return mbarrier_complete_tx(w, lane, word, bytes);
}

/* The same offsets in every block of the mask. Window n + 1 of the shared space is block n of the cluster. */
static bool deliver_to_blocks(struct exec_warp *w, const struct bulk *b, uint32_t lane, uint64_t to, uint64_t barrier,
                              const uint8_t *from, uint32_t bytes)
{
    uint32_t blocks = LANES_OF(uint32_t, w, b->mask)[lane] & 0xffff;
    for (uint64_t n = 0; n < MEMORY_CLUSTER_BLOCKS; n++) {
        uint64_t window = (n + 1) * MEMORY_WINDOW_BYTES;
        if (blocks >> n & 1 && !deliver(w, b, lane, window + to % MEMORY_WINDOW_BYTES,
                                        window + barrier % MEMORY_WINDOW_BYTES, from, bytes))
            return false;
    }
    return true;
}

static bool bulk_lane(struct exec_warp *w, const struct bulk *b, uint32_t lane, uint64_t to, uint64_t barrier,
                      uint64_t from, uint32_t bytes)
{
    if (bytes % 16) {
        exec_raise(w, ERROR_INSTRUCTION, lane, to, bytes, "bulk copy of %u bytes, which is not a multiple of 16",
                   bytes);
        return false;
    }
    if (to % 16 || from % 16)
        return access_misaligned(w, lane, to % 16 ? to : from, bytes, 16, to % 16 != 0);
    if (bytes == 0)
        return true;
    const uint8_t *p = access_find(w, (enum ptx_space)b->from.space, lane, from, bytes, false);
    if (!p) {
        access_fault(w, (enum ptx_space)b->from.space, lane, from, bytes, false);
        return false;
    }
    return b->multicast ? deliver_to_blocks(w, b, lane, to, barrier, p, bytes)
                        : deliver(w, b, lane, to, barrier, p, bytes);
}

static void bulk(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    const struct bulk *b = in->extra;
    uint64_t to[WARP_LANES], from[WARP_LANES], barrier[WARP_LANES] = {0};
    const uint32_t *size = lane_data(w, b->size);
    access_addresses(w, &b->to, mask);
    memcpy(to, w->addr, sizeof to);
    access_addresses(w, &b->from, mask);
    memcpy(from, w->addr, sizeof from);
    if (b->has_barrier) {
        access_addresses(w, &b->barrier, mask);
        memcpy(barrier, w->addr, sizeof barrier);
    }
    bool to_global = b->to.space == PTX_SPACE_GLOBAL;
    memcpy(w->addr, to_global ? to : from, sizeof w->addr);
    access_note(w, PTX_SPACE_GLOBAL, mask, 16, to_global);
    FOR_EACH_LANE(mask, i) {
        if (!bulk_lane(w, b, i, to[i], barrier[i], from[i], size[i]))
            return;
    }
}

static bool is_reduction(enum atomic_op op, enum ptx_type type, bool to_global)
{
    bool is_32 = type == PTX_U32 || type == PTX_S32, is_half = type == PTX_F16 || type == PTX_BF16;
    switch (op) {
    case ATOMIC_AND:
    case ATOMIC_OR:
    case ATOMIC_XOR: return type == PTX_B32 || (to_global && type == PTX_B64);
    case ATOMIC_INC:
    case ATOMIC_DEC: return type == PTX_U32;
    case ATOMIC_MIN:
    case ATOMIC_MAX: return is_32 || (to_global && (type == PTX_U64 || type == PTX_S64 || is_half));
    case ATOMIC_ADD: return is_32 || type == PTX_U64 || (to_global && (is_half || type == PTX_F32 || type == PTX_F64));
    default: return false;
    }
}

static bool decode_reduction(struct decoder *d, struct bulk *b)
{
    enum atomic_op op = atomic_take_op(d);
    enum ptx_type type = decode_type(d, 0);
    if (d->in->type_count != 1 || !is_reduction(op, type, b->to.space == PTX_SPACE_GLOBAL))
        return decode_wrong(d, NULL, "%s: no such reduction", d->in->spelling);
    if (op == ATOMIC_ADD && ptx_type_bits(type) == 16 && !decode_take(d, PTX_MOD_NOFTZ))
        return decode_wrong(d, NULL, "%s: .noftz is required with .%s", d->in->spelling, ptx_type_name(type));
    b->reduces = true;
    b->global = b->to.space == PTX_SPACE_GLOBAL;
    b->op = (uint8_t)op;
    b->type = (uint8_t)type;
    b->element_bytes = (uint8_t)(ptx_type_bits(type) / 8);
    return true;
}

/* The two spaces, in the order they are written in: where to, where from. */
static bool take_spaces(struct decoder *d, enum ptx_space *to, enum ptx_space *from)
{
    enum ptx_space found[2];
    int count = 0;
    for (int i = 0; i < d->in->modifier_count; i++) {
        enum ptx_modifier m = (enum ptx_modifier)d->in->modifiers[i];
        bool shared = m == PTX_MOD_SHARED || m == PTX_MOD_SHARED_CTA || m == PTX_MOD_SHARED_CLUSTER;
        if (!shared && m != PTX_MOD_GLOBAL)
            continue;
        decode_take(d, m);
        if (count < 2)
            found[count] = shared ? PTX_SPACE_SHARED : PTX_SPACE_GLOBAL;
        count++;
    }
    if (count != 2 || (found[0] == PTX_SPACE_GLOBAL && found[1] == PTX_SPACE_GLOBAL))
        return decode_wrong(d, NULL, "%s: two spaces are needed, one of them shared", d->in->spelling);
    *to = found[0];
    *from = found[1];
    return true;
}

/* [to], [from], size{, [barrier]}{, mask}{, policy} */
static bool decode_bulk_operands(struct decoder *d, struct bulk *b, enum ptx_space to, enum ptx_space from)
{
    bool hint = decode_take(d, PTX_MOD_L2_CACHE_HINT), masked = b->multicast || b->byte_mask;
    int count = 3 + b->has_barrier + masked + hint, next = 3;
    exec_ref policy;
    if (!decode_count(d, count, count) || !access_decode_address(d, decode_operand(d, 0), to, &b->to) ||
        !access_decode_address(d, decode_operand(d, 1), from, &b->from) || !decode_src(d, 2, PTX_U32, &b->size))
        return false;
    if (b->has_barrier && !access_decode_address(d, decode_operand(d, next++), PTX_SPACE_SHARED, &b->barrier))
        return false;
    if (masked && !decode_src(d, next++, PTX_B16, &b->mask))
        return false;
    return !hint || decode_src(d, next, PTX_B64, &policy);
}

static bool decode_bulk_copy(struct decoder *d)
{
    struct bulk *b = decode_alloc(d, sizeof *b);
    enum ptx_space to = PTX_SPACE_NONE, from = PTX_SPACE_NONE;
    bool reduces = decode_take(d, PTX_MOD_REDUCE);
    if (!take_spaces(d, &to, &from))
        return false;
    b->has_barrier = decode_take(d, PTX_MOD_MBARRIER_COMPLETE);
    b->multicast = decode_take(d, PTX_MOD_MULTICAST_CLUSTER);
    b->byte_mask = decode_take(d, PTX_MOD_CP_MASK);
    bool grouped = decode_take(d, PTX_MOD_BULK_GROUP);
    if (b->has_barrier == grouped || grouped != (to == PTX_SPACE_GLOBAL) ||
        (b->multicast && from != PTX_SPACE_GLOBAL) || (b->byte_mask && (!grouped || reduces)))
        return decode_wrong(
            d, NULL, "%s: copies to shared memory complete at an mbarrier, those to global memory in a .bulk_group",
            d->in->spelling);
    if (!decode_bulk_operands(d, b, to, from) || (reduces && !decode_reduction(d, b)))
        return false;
    d->out->extra = b;
    d->out->fn = bulk;
    return true;
}

/* cp.async.bulk.prefetch.L2.global [from], size{, policy} */
static bool decode_bulk_prefetch(struct decoder *d)
{
    bool hint = decode_take(d, PTX_MOD_L2_CACHE_HINT);
    struct access_address a;
    exec_ref unused;
    d->out->fn = no_effect;
    if (!decode_take(d, PTX_MOD_L2) || !decode_take(d, PTX_MOD_GLOBAL))
        return decode_wrong(d, NULL, "%s: .L2.global is needed", d->in->spelling);
    return decode_count(d, 2 + hint, 2 + hint) &&
           access_decode_address(d, decode_operand(d, 0), PTX_SPACE_GLOBAL, &a) && decode_src(d, 1, PTX_U32, &unused) &&
           (!hint || decode_src(d, 2, PTX_B64, &unused));
}

static bool decode_wait(struct decoder *d, bool has_number)
{
    int64_t number;
    d->out->fn = no_effect;
    return decode_count(d, has_number, has_number) && (!has_number || decode_immediate(d, 0, &number));
}

bool decode_cp_async(struct decoder *d)
{
    if (!decode_take(d, PTX_MOD_ASYNC))
        return decode_wrong(d, NULL, "%s: no such instruction", d->in->spelling);
    bool is_bulk = decode_take(d, PTX_MOD_BULK);
    if (decode_has(d, PTX_MOD_TENSOR))
        return decode_fail(d, "copies of tensors are not implemented");
    if (decode_take(d, PTX_MOD_COMMIT_GROUP))
        return decode_wait(d, false);
    if (decode_take(d, PTX_MOD_WAIT_GROUP)) {
        if (is_bulk)
            decode_take(d, PTX_MOD_READ); /* only the reads need be done: so they are */
        return decode_wait(d, true);
    }
    if (!is_bulk && decode_take(d, PTX_MOD_WAIT_ALL))
        return decode_wait(d, false);
    if (is_bulk)
        return decode_take(d, PTX_MOD_PREFETCH) ? decode_bulk_prefetch(d) : decode_bulk_copy(d);
    return decode_take(d, PTX_MOD_MBARRIER) ? decode_arrive(d) : decode_copy(d);
}
