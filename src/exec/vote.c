/* What the lanes of a warp agree on (PTX ISA 9.7.13: vote, vote.sync, activemask, elect.sync, match.sync).
 *
 * The lanes that take part are those that execute the instruction together and are in the lane's member mask; lanes may
 * name different masks, and then form groups of their own. Left out: waiting for lanes of the mask that are
 * elsewhere. */
#include "exec/decode.h"
#include "exec/lanes.h"

bool decode_vote(struct decoder *d);
bool decode_match(struct decoder *d);

/* Votes. src[0] predicate (sub[0]: negated), src[1] member masks. */

enum vote_mode { VOTE_ALL, VOTE_ANY, VOTE_UNI, VOTE_BALLOT };

static inline bool vote_holds(enum vote_mode mode, uint32_t yes, uint32_t group)
{
    uint32_t votes = yes & group;
    switch (mode) {
    case VOTE_ALL: return votes == group;
    case VOTE_ANY: return votes != 0;
    default: return votes == group || votes == 0;
    }
}

static void vote_ballot(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    uint32_t *d = lane_data(w, in->dst), yes = read_pred(w, in->src[0], in->sub[0]) & mask;
    const uint32_t *members = lane_data(w, in->src[1]);
    FOR_LANES(mask, d[i] = yes & members[i]);
}

static void vote_pred(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    uint32_t yes = read_pred(w, in->src[0], in->sub[0]), result = 0;
    const uint32_t *members = lane_data(w, in->src[1]);
    FOR_EACH_LANE(mask, i)
        result |= (uint32_t)vote_holds((enum vote_mode)in->sub[1], yes, members[i] & mask) << i;
    write_pred(w, in->dst, mask, result);
}

static bool decode_members(struct decoder *d, bool sync, int index, exec_ref *ref)
{
    *ref = decode_const32(d, FULL_MASK);
    return !sync || decode_src(d, index, PTX_B32, ref);
}

static bool decode_plain_vote(struct decoder *d)
{
    static const enum ptx_modifier modes[] = {PTX_MOD_ALL, PTX_MOD_ANY, PTX_MOD_UNI, PTX_MOD_BALLOT};
    bool sync = decode_take(d, PTX_MOD_SYNC), negated = false;
    int mode = decode_take_one(d, modes, 4);
    if (mode < 0)
        return decode_wrong(d, NULL, "vote needs one of .all, .any, .uni and .ballot");
    enum ptx_type type = mode == VOTE_BALLOT ? PTX_B32 : PTX_PRED;
    if (d->in->type_count != 1 || decode_type(d, 0) != type)
        return decode_wrong(d, NULL, "this vote gives a .%s", ptx_type_name(type));
    if (!decode_count(d, sync ? 3 : 2, sync ? 3 : 2) || !decode_dst(d, 0, type, &d->out->dst) ||
        !decode_pred_src(d, decode_operand(d, 1), &d->out->src[0], &negated))
        return false;
    d->out->sub[0] = negated;
    d->out->sub[1] = (uint8_t)mode;
    d->out->fn = mode == VOTE_BALLOT ? vote_ballot : vote_pred;
    return decode_members(d, sync, 2, &d->out->src[1]);
}

/* Predicated-off lanes do not count as active. */
static void active_mask(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    uint32_t *d = lane_data(w, in->dst);
    FOR_LANES(mask, d[i] = mask);
}

/* The lowest lane of the group leads. */
static void elect(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    uint32_t *d = lane_data(w, in->dst), leaders = 0;
    const uint32_t *members = lane_data(w, in->src[0]);
    FOR_EACH_LANE(mask, i) {
        uint32_t group = members[i] & mask, leader = group ? (uint32_t)__builtin_ctz(group) : i;
        leaders |= (uint32_t)(leader == i) << i;
        d[i] = leader; /* a member mask in d itself is read before it is written, lane by lane */
    }
    write_pred(w, in->dst2, mask, leaders);
}

static bool decode_elect(struct decoder *d)
{
    const struct ptx_operand *o = decode_operand(d, 0);
    if (!decode_take(d, PTX_MOD_SYNC))
        return decode_wrong(d, NULL, "elect needs .sync");
    if (!decode_count(d, 2, 2))
        return false;
    if (o->kind != PTX_OPERAND_PAIR)
        return decode_wrong(d, o, "elect.sync has two results: d|p");
    d->out->fn = elect;
    return decode_dst_of(d, &o->elements[0], PTX_B32, &d->out->dst) &&
           decode_pred_dst(d, &o->elements[1], &d->out->dst2) && decode_src(d, 1, PTX_B32, &d->out->src[0]);
}

bool decode_vote(struct decoder *d)
{
    if (d->in->opcode == PTX_OP_elect)
        return decode_elect(d);
    if (d->in->opcode == PTX_OP_vote)
        return decode_plain_vote(d);
    d->out->fn = active_mask;
    if (d->in->type_count != 1 || decode_type(d, 0) != PTX_B32)
        return decode_wrong(d, NULL, "activemask gives a .b32");
    return decode_count(d, 1, 1) && decode_dst(d, 0, PTX_B32, &d->out->dst);
}

/* match. src[0] values (sub[1]: 64 bits wide), src[1] member masks; sub[0]: p is wanted. Values are compared over the
 * whole warp once per lane. */

static inline uint64_t match_value(const struct exec_warp *w, const struct exec_inst *in, uint32_t lane)
{
    return in->sub[1] ? LANES_OF(uint64_t, w, in->src[0])[lane] : LANES_OF(uint32_t, w, in->src[0])[lane];
}

static uint32_t equal_lanes(const struct exec_warp *w, const struct exec_inst *in, uint32_t group, uint64_t value)
{
    uint32_t equal = 0;
    FOR_EACH_LANE(group, i)
        equal |= (uint32_t)(match_value(w, in, i) == value) << i;
    return equal;
}

static void match_lanes(struct exec_warp *w, const struct exec_inst *in, uint32_t mask, bool all)
{
    uint32_t results[WARP_LANES], holds = 0;
    const uint32_t *members = lane_data(w, in->src[1]);
    FOR_EACH_LANE(mask, i) {
        uint32_t group = members[i] & mask, equal = equal_lanes(w, in, group, match_value(w, in, i));
        results[i] = !all || equal == group ? equal : 0;
        holds |= (uint32_t)(equal == group) << i;
    }
    uint32_t *d = lane_data(w, in->dst);
    FOR_EACH_LANE(mask, i)
        d[i] = results[i];
    if (in->sub[0])
        write_pred(w, in->dst2, mask, holds);
}

static void match_any(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    match_lanes(w, in, mask, false);
}
static void match_all(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    match_lanes(w, in, mask, true);
}

bool decode_match(struct decoder *d)
{
    bool any = decode_take(d, PTX_MOD_ANY), all = decode_take(d, PTX_MOD_ALL);
    enum ptx_type type = decode_type(d, 0);
    if (any == all || !decode_take(d, PTX_MOD_SYNC))
        return decode_wrong(d, NULL, "match is written match.any.sync or match.all.sync");
    if (d->in->type_count != 1 || (type != PTX_B32 && type != PTX_B64))
        return decode_wrong(d, NULL, "match compares .b32 or .b64");
    if (!decode_count(d, 3, 3))
        return false;
    const struct ptx_operand *o = decode_operand(d, 0);
    if (o->kind == PTX_OPERAND_PAIR) {
        if (any)
            return decode_wrong(d, o, "match.any has no predicate result");
        d->out->sub[0] = 1;
        if (!decode_pred_dst(d, &o->elements[1], &d->out->dst2))
            return false;
        o = &o->elements[0];
    }
    d->out->sub[1] = type == PTX_B64;
    d->out->fn = any ? match_any : match_all;
    return decode_dst_of(d, o, PTX_B32, &d->out->dst) && decode_src(d, 1, type, &d->out->src[0]) &&
           decode_src(d, 2, PTX_B32, &d->out->src[1]);
}
