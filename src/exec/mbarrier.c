/* mbarrier (PTX ISA 9.7.13.15): barriers as objects in shared memory, which count arrivals and bytes of asynchronous
 * copies; and st.async and red.async, which report to one.
 *
 * The 64-bit object is opaque to programs. Ours, from the low end: expected arrivals of a phase (20 bits), arrivals
 * still pending (20), bytes of transactions still pending (22, signed: they may complete before they are announced),
 * unused (1), parity of the phase (1). A phase is complete when both pending counts are zero; then the next one begins.
 * The state that an arrival returns is the object as it was before. */
#include "exec/mbarrier.h"

#include "exec/access.h"
#include "exec/atomics.h"

#include <inttypes.h>

enum { COUNT_BITS = 20, TX_BITS = 22, TX_SHIFT = 2 * COUNT_BITS };
#define COUNT_MAX ((1u << COUNT_BITS) - 1)
#define TX_MAX    ((1 << COUNT_BITS) - 1)

struct barrier {
    uint32_t expected, pending, parity;
    int32_t tx;
};

static struct barrier unpack(uint64_t word)
{
    return (struct barrier){
        .expected = (uint32_t)word & COUNT_MAX,
        .pending = (uint32_t)(word >> COUNT_BITS) & COUNT_MAX,
        .parity = (uint32_t)(word >> 63),
        .tx = (int32_t)((int64_t)(word << (64 - TX_SHIFT - TX_BITS)) >> (64 - TX_BITS)),
    };
}

static uint64_t pack(const struct barrier *b)
{
    uint64_t tx = (uint64_t)(int64_t)b->tx & ((1ull << TX_BITS) - 1);
    return b->expected | (uint64_t)b->pending << COUNT_BITS | tx << TX_SHIFT | (uint64_t)b->parity << 63;
}

static uint64_t read_word(const uint8_t *p)
{
    uint64_t word;
    memcpy(&word, p, sizeof word);
    return word;
}

static void write_word(struct exec_warp *w, uint8_t *p, const struct barrier *b)
{
    uint64_t word = pack(b);
    access_write(w, p, &word, sizeof word);
}

static void turn_if_complete(struct barrier *b)
{
    if (b->pending || b->tx)
        return;
    b->parity ^= 1;
    b->pending = b->expected;
}

static bool wrong_use(struct exec_warp *w, uint32_t lane, const char *what, uint32_t given, const struct barrier *b)
{
    exec_raise(w, ERROR_INSTRUCTION, lane, w->addr[lane], 8,
               "mbarrier at 0x%" PRIx64 ": %s (%u given; %u arrivals of %u and %d bytes pending)", w->addr[lane], what,
               given, b->pending, b->expected, b->tx);
    return false;
}

static bool arrive(struct exec_warp *w, uint32_t lane, struct barrier *b, uint32_t count)
{
    if (count == 0 || count > b->pending)
        return wrong_use(w, lane,
                         b->expected ? "more arrivals than are pending, or none"
                                     : "arrival at a barrier that was not initialised",
                         count, b);
    b->pending -= count;
    turn_if_complete(b);
    return true;
}

static bool add_tx(struct exec_warp *w, uint32_t lane, struct barrier *b, int64_t bytes)
{
    int64_t tx = b->tx + bytes;
    if (tx > TX_MAX || tx < -TX_MAX)
        return wrong_use(w, lane, "transaction count out of range", (uint32_t)(bytes < 0 ? -bytes : bytes), b);
    b->tx = (int32_t)tx;
    return true;
}

bool mbarrier_arrive(struct exec_warp *w, uint32_t lane, uint8_t *word, uint32_t count)
{
    struct barrier b = unpack(read_word(word));
    if (!arrive(w, lane, &b, count))
        return false;
    write_word(w, word, &b);
    return true;
}

bool mbarrier_complete_tx(struct exec_warp *w, uint32_t lane, uint8_t *word, uint32_t bytes)
{
    struct barrier b = unpack(read_word(word));
    if (!add_tx(w, lane, &b, -(int64_t)bytes))
        return false;
    turn_if_complete(&b);
    write_word(w, word, &b);
    return true;
}

/* Handlers. src[0]: count, bytes or state; extra: the address; sub[]: below. */

enum operation {
    OP_INIT,
    OP_INVAL,
    OP_ARRIVE,
    OP_ARRIVE_DROP,
    OP_EXPECT_TX,
    OP_COMPLETE_TX,
    OP_TEST_WAIT,
    OP_TRY_WAIT,
    OP_PENDING_COUNT,
    OPERATIONS
};
enum { SUB_OPERATION, SUB_EXPECT_TX, SUB_NO_COMPLETE, SUB_PARITY };

static bool locate(struct exec_warp *w, const struct access_address *a, uint32_t mask, bool is_store,
                   uint8_t *at[WARP_LANES])
{
    access_addresses(w, a, mask);
    return exec_resolve(w, (enum ptx_space)a->space, mask, 8, 8, is_store, at);
}

static bool change_one(struct exec_warp *w, const struct exec_inst *in, uint32_t lane, struct barrier *b,
                       uint32_t value)
{
    switch ((enum operation)in->sub[SUB_OPERATION]) {
    case OP_INIT:
        if (value == 0 || value > COUNT_MAX)
            return wrong_use(w, lane, "initialised with a count out of range", value, b);
        *b = (struct barrier){.expected = value, .pending = value};
        return true;
    case OP_INVAL: *b = (struct barrier){0}; return true;
    case OP_EXPECT_TX: return add_tx(w, lane, b, value);
    case OP_COMPLETE_TX:
        if (!add_tx(w, lane, b, -(int64_t)value))
            return false;
        turn_if_complete(b);
        return true;
    default: break;
    }
    bool drop = in->sub[SUB_OPERATION] == OP_ARRIVE_DROP;
    uint32_t count = in->sub[SUB_EXPECT_TX] ? 1 : value;
    if (in->sub[SUB_EXPECT_TX] && !add_tx(w, lane, b, value))
        return false;
    if (in->sub[SUB_NO_COMPLETE] && count >= b->pending && b->tx == 0)
        return wrong_use(w, lane, "a .noComplete arrival completes the phase", count, b);
    if (drop && count > b->expected)
        return wrong_use(w, lane, "drops more arrivals than are expected", count, b);
    b->expected -= drop ? count : 0;
    return arrive(w, lane, b, count);
}

static void change(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    uint8_t *at[WARP_LANES];
    const uint32_t *value = lane_data(w, in->src[0]);
    uint64_t *d = lane_data(w, in->dst);
    if (!locate(w, in->extra, mask, true, at))
        return;
    FOR_EACH_LANE(mask, i) {
        uint64_t before = read_word(at[i]);
        struct barrier b = unpack(before);
        if (!change_one(w, in, i, &b, value[i]))
            return;
        write_word(w, at[i], &b);
        d[i] = before;
    }
}

/* True once the phase that the state or the parity names is over: another one is then current. */
static void wait(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    uint8_t *at[WARP_LANES];
    const uint32_t *parity = lane_data(w, in->src[0]);
    const uint64_t *state = lane_data(w, in->src[0]);
    uint32_t done = 0;
    if (!locate(w, in->extra, mask, false, at))
        return;
    FOR_EACH_LANE(mask, i) {
        uint32_t asked = in->sub[SUB_PARITY] ? parity[i] & 1 : (uint32_t)(state[i] >> 63);
        done |= (uint32_t)(unpack(read_word(at[i])).parity != asked) << i;
    }
    write_pred(w, in->dst, mask, done);
    if (in->sub[SUB_OPERATION] == OP_TRY_WAIT && done != mask)
        w->state = WARP_ASLEEP;
}

static void pending_count(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    uint32_t *d = lane_data(w, in->dst);
    const uint64_t *state = lane_data(w, in->src[0]);
    FOR_LANES(mask, d[i] = (uint32_t)(state[i] >> COUNT_BITS) & COUNT_MAX);
}

/* Decoding */

static bool decode_barrier_address(struct decoder *d, const struct ptx_operand *o, enum ptx_space space,
                                   const void **out)
{
    struct access_address *a = decode_alloc(d, sizeof *a);
    *out = a;
    if (space != PTX_SPACE_NONE && space != PTX_SPACE_SHARED)
        return decode_wrong(d, o, "%s: an mbarrier is in shared memory", d->in->spelling);
    return access_decode_address(d, o, space, a);
}

/* arrive, arrive_drop: d, [a]{, count}; with .expect_tx: d, [a], bytes */
static bool decode_arrive(struct decoder *d, enum ptx_space space)
{
    struct exec_inst *out = d->out;
    out->sub[SUB_EXPECT_TX] = decode_take(d, PTX_MOD_EXPECT_TX);
    out->sub[SUB_NO_COMPLETE] = decode_take(d, PTX_MOD_NOCOMPLETE);
    bool needs_value = out->sub[SUB_EXPECT_TX] || out->sub[SUB_NO_COMPLETE];
    out->src[0] = decode_const32(d, 1);
    out->fn = change;
    return decode_count(d, needs_value ? 3 : 2, 3) && decode_dst(d, 0, PTX_B64, &out->dst) &&
           decode_barrier_address(d, decode_operand(d, 1), space, &out->extra) &&
           (d->in->operand_count < 3 || decode_src(d, 2, PTX_U32, &out->src[0]));
}

/* init [a], count; inval [a]; expect_tx [a], bytes; complete_tx [a], bytes */
static bool decode_change(struct decoder *d, enum ptx_space space, bool has_value)
{
    d->out->dst = decode_scratch(d, 64);
    d->out->src[0] = decode_const32(d, 0);
    d->out->fn = change;
    return decode_count(d, 1 + has_value, 1 + has_value) &&
           decode_barrier_address(d, decode_operand(d, 0), space, &d->out->extra) &&
           (!has_value || decode_src(d, 1, PTX_U32, &d->out->src[0]));
}

/* test_wait p, [a], state; test_wait.parity p, [a], parity; try_wait: one more, the longest time to wait */
static bool decode_wait(struct decoder *d, enum ptx_space space, bool is_try)
{
    exec_ref time;
    struct exec_inst *out = d->out;
    out->sub[SUB_PARITY] = decode_take(d, PTX_MOD_PARITY);
    out->kind = is_try ? EXEC_WAIT : EXEC_PLAIN;
    out->fn = wait;
    return decode_count(d, 3, is_try ? 4 : 3) && decode_pred_dst(d, decode_operand(d, 0), &out->dst) &&
           decode_barrier_address(d, decode_operand(d, 1), space, &out->extra) &&
           decode_src(d, 2, out->sub[SUB_PARITY] ? PTX_B32 : PTX_B64, &out->src[0]) &&
           (d->in->operand_count < 4 || decode_src(d, 3, PTX_U32, &time));
}

static bool decode_pending_count(struct decoder *d)
{
    d->out->fn = pending_count;
    return decode_count(d, 2, 2) && decode_dst(d, 0, PTX_U32, &d->out->dst) &&
           decode_src(d, 1, PTX_B64, &d->out->src[0]);
}

bool decode_mbarrier(struct decoder *d)
{
    static const enum ptx_modifier names[OPERATIONS] = {
        /* arrive.expect_tx: the arrival is found first */
        PTX_MOD_INIT,        PTX_MOD_INVAL,     PTX_MOD_ARRIVE,   PTX_MOD_ARRIVE_DROP,   PTX_MOD_EXPECT_TX,
        PTX_MOD_COMPLETE_TX, PTX_MOD_TEST_WAIT, PTX_MOD_TRY_WAIT, PTX_MOD_PENDING_COUNT,
    };
    int operation = decode_take_one(d, names, OPERATIONS);
    enum ptx_space space = decode_take_space(d);
    decode_take_memory_hints(d);
    if (operation < 0 || decode_type(d, 0) != PTX_B64 || d->in->type_count != 1)
        return decode_wrong(d, NULL, "%s: an operation and .b64 are needed", d->in->spelling);
    d->out->sub[SUB_OPERATION] = (uint8_t)operation;
    switch ((enum operation)operation) {
    case OP_ARRIVE:
    case OP_ARRIVE_DROP: return decode_arrive(d, space);
    case OP_TEST_WAIT:
    case OP_TRY_WAIT: return decode_wait(d, space, operation == OP_TRY_WAIT);
    case OP_PENDING_COUNT: return decode_pending_count(d);
    default: return decode_change(d, space, operation != OP_INVAL);
    }
}

/* st.async and red.async: a store or reduction in shared memory of the cluster, whose bytes complete at a barrier. */

enum { REMOTE_MAX = 4 };

struct remote {
    struct access_address to, barrier;
    exec_ref src[REMOTE_MAX];
    uint8_t count, element_bytes, op, type; /* op: ATOMIC_EXCH is a store */
};

static uint64_t element_value(const struct exec_warp *w, const struct remote *r, int n, uint32_t lane)
{
    return r->element_bytes == 8 ? LANES_OF(uint64_t, w, r->src[n])[lane] : LANES_OF(uint32_t, w, r->src[n])[lane];
}

static void remote(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    const struct remote *r = in->extra;
    uint8_t *to[WARP_LANES], *barrier[WARP_LANES];
    uint32_t bytes = (uint32_t)r->count * r->element_bytes;
    access_addresses(w, &r->to, mask);
    if (!exec_resolve(w, (enum ptx_space)r->to.space, mask, bytes, bytes, true, to) ||
        !locate(w, &r->barrier, mask, true, barrier))
        return;
    FOR_EACH_LANE(mask, i) {
        for (int n = 0; n < r->count; n++) {
            uint8_t *p = to[i] + n * r->element_bytes;
            uint64_t now = 0;
            memcpy(&now, p, r->element_bytes);
            now =
                atomic_combine((enum atomic_op)r->op, (enum ptx_type)r->type, now, element_value(w, r, n, i), 0, false);
            access_write(w, p, &now, r->element_bytes);
        }
        if (!mbarrier_complete_tx(w, i, barrier[i], bytes))
            return;
    }
}

static bool decode_remote(struct decoder *d, struct remote *r)
{
    const struct ptx_operand *o = decode_operand(d, 1);
    enum ptx_space space = decode_take_space(d);
    bool vector = o && o->kind == PTX_OPERAND_VECTOR;
    decode_take(d, PTX_MOD_ASYNC);
    decode_take_memory_hints(d);
    if (space != PTX_SPACE_SHARED || !decode_take(d, PTX_MOD_MBARRIER_COMPLETE))
        return decode_fail(d, "only the form .shared::cluster.mbarrier::complete_tx::bytes is supported");
    if (!decode_count(d, 3, 3) || !access_decode_address(d, decode_operand(d, 0), space, &r->to) ||
        !access_decode_address(d, decode_operand(d, 2), space, &r->barrier))
        return false;
    if ((vector ? o->element_count : 1) != r->count)
        return decode_wrong(d, o, "%s: %d registers are needed here", d->in->spelling, r->count);
    for (int n = 0; n < r->count; n++)
        if (!decode_src_of(d, vector ? &o->elements[n] : o, (enum ptx_type)r->type, &r->src[n]))
            return false;
    d->out->extra = r;
    d->out->fn = remote;
    return true;
}

bool decode_st_async(struct decoder *d);
bool decode_st_async(struct decoder *d)
{
    struct remote *r = decode_alloc(d, sizeof *r);
    enum ptx_type type = decode_type(d, 0);
    int bits = ptx_type_bits(type);
    if (d->in->type_count != 1 || (bits != 32 && bits != 64) ||
        (ptx_type_is_float(type) && type != PTX_F32 && type != PTX_F64))
        return decode_wrong(d, NULL, "%s: a type of 32 or 64 bits is needed", d->in->spelling);
    r->count = decode_take(d, PTX_MOD_V2) ? 2 : decode_take(d, PTX_MOD_V4) ? 4 : 1;
    r->element_bytes = (uint8_t)(bits / 8);
    r->type = (uint8_t)type;
    r->op = ATOMIC_EXCH;
    if (r->count * r->element_bytes > 16)
        return decode_wrong(d, NULL, "%s: the vector is longer than 16 bytes", d->in->spelling);
    return decode_remote(d, r);
}

bool decode_red_async(struct decoder *d);
bool decode_red_async(struct decoder *d)
{
    struct remote *r = decode_alloc(d, sizeof *r);
    enum ptx_type type = decode_type(d, 0);
    enum atomic_op op = atomic_take_op(d);
    bool is_bits = type == PTX_B32, is_32 = type == PTX_U32 || type == PTX_S32;
    bool good = op == ATOMIC_INC || op == ATOMIC_DEC   ? type == PTX_U32
                : op == ATOMIC_MIN || op == ATOMIC_MAX ? is_32
                : op == ATOMIC_ADD                     ? is_32 || type == PTX_U64
                : op < ATOMIC_EXCH                     ? is_bits
                                                       : false;
    if (d->in->type_count != 1 || !good)
        return decode_wrong(d, NULL, "%s: no such operation", d->in->spelling);
    r->count = 1;
    r->element_bytes = (uint8_t)(ptx_type_bits(type) / 8);
    r->type = (uint8_t)type;
    r->op = (uint8_t)op;
    return decode_remote(d, r);
}
