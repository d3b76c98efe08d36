/* Addresses: cvta, isspacep, mapa, getctarank. PTX ISA 9.7.9.
 *
 * Global and constant addresses are generic ones. Shared and local addresses are offsets into windows of the generic
 * space (exec/memory.h): the block's own shared memory is window 0, that of block r of the cluster window r + 1. A
 * kernel's parameters have offsets into the launch's parameter block; those of device functions live in local memory.
 * Only 64-bit addresses are supported. */
#include "exec/lanes.h"
#include "exec/pick.h"

#define SHARED_WINDOWS_BYTES ((uint64_t)MEMORY_WINDOW_BYTES * (MEMORY_CLUSTER_BLOCKS + 1))

HANDLER_1(cvta_same, uint64_t, uint64_t, a)

/* imm is added. */
static void cvta_offset(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    uint64_t *d = lane_data(w, in->dst), offset = (uint64_t)in->imm;
    const uint64_t *a = lane_data(w, in->src[0]);
    FOR_LANES(mask, d[i] = a[i] + offset);
}

/* Kernel parameters; sub[0]: from generic. */
static void cvta_param(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    uint64_t *d = lane_data(w, in->dst), offset = in->sub[0] ? 0 - w->launch->params : w->launch->params;
    const uint64_t *a = lane_data(w, in->src[0]);
    FOR_EACH_LANE(mask, i)
        d[i] = a[i] + offset;
}

bool decode_cvta(struct decoder *d)
{
    const struct memory *m = d->image->memory;
    bool from_generic = decode_take(d, PTX_MOD_TO);
    enum ptx_space space = decode_take_space(d);
    enum ptx_type t = decode_type(d, 0);
    uint64_t window = 0;
    if (!type_count_is(d, 1))
        return false;
    if (t == PTX_U32)
        return decode_fail(d, "32-bit generic addresses");
    if (t != PTX_U64)
        return wrong_type(d, t);
    const struct ptx_operand *source = decode_operand(d, 1);
    d->out->fn = cvta_same;
    switch (space) {
    case PTX_SPACE_GLOBAL:
    case PTX_SPACE_CONST: break;
    case PTX_SPACE_SHARED: window = m->shared_window; break;
    case PTX_SPACE_LOCAL: window = m->local_window; break;
    case PTX_SPACE_PARAM:
        if (decode_param_is_kernel(d, source)) {
            d->out->fn = cvta_param;
            d->out->sub[0] = from_generic;
        } else {
            window = m->local_window;
        }
        break;
    default: return decode_wrong(d, NULL, "'%s' lacks a state space", d->in->spelling);
    }
    if (window) {
        d->out->fn = cvta_offset;
        d->out->imm = (int64_t)(from_generic ? 0 - window : window);
    }
    if (from_generic && source && source->kind != PTX_OPERAND_REG)
        return decode_wrong(d, source, "'%s' takes a generic address in a register", d->in->spelling);
    return TAKE_OPERANDS(d, PTX_U64, PTX_U64);
}

/* sub[0]: 32-bit address register; sub[1]: what is asked for. */
enum asked_space { ASKED_GLOBAL, ASKED_CONST, ASKED_LOCAL, ASKED_PARAM, ASKED_SHARED_CTA, ASKED_SHARED_CLUSTER };

static uint64_t read_address(const struct exec_warp *w, exec_ref ref, bool narrow, uint32_t lane)
{
    return narrow ? LANES_OF(const uint32_t, w, ref)[lane] : LANES_OF(const uint64_t, w, ref)[lane];
}

/* The rank in its cluster of the block that shared window k belongs to. */
static uint64_t window_rank(const struct exec_warp *w, uint64_t window)
{
    return window == 0 ? w->cta->cluster_rank : window - 1;
}

static bool is_in_space(const struct exec_warp *w, enum asked_space asked, uint64_t address)
{
    const struct memory *m = w->launch->memory;
    uint64_t in_shared = address - m->shared_window;
    bool shared = in_shared < SHARED_WINDOWS_BYTES, local = address - m->local_window < MEMORY_WINDOW_BYTES;
    if (asked == ASKED_SHARED_CLUSTER)
        return shared;
    if (asked == ASKED_SHARED_CTA)
        return shared && window_rank(w, in_shared / MEMORY_WINDOW_BYTES) == w->cta->cluster_rank;
    if (asked == ASKED_LOCAL)
        return local;
    const struct memory_range *range = shared || local ? NULL : memory_find(m, address);
    if (asked == ASKED_GLOBAL) /* whatever no other space claims, as on the device */
        return !shared && !local && !(range && (range->kind == MEMORY_CONST || range->kind == MEMORY_PARAM));
    return range && range->kind == (asked == ASKED_CONST ? MEMORY_CONST : MEMORY_PARAM);
}

static void isspacep(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    uint32_t bits = 0;
    FOR_EACH_LANE(mask, i)
        bits |= (uint32_t)is_in_space(w, in->sub[1], read_address(w, in->src[0], in->sub[0], i)) << i;
    write_pred(w, in->dst, mask, bits);
}

static bool register_is_narrow(const struct ptx_operand *o)
{
    return o && o->kind == PTX_OPERAND_REG && ptx_type_bits(o->reg->type) == 32;
}

bool decode_isspacep(struct decoder *d)
{
    static const enum ptx_modifier spaces[] = {PTX_MOD_GLOBAL,     PTX_MOD_CONST,         PTX_MOD_LOCAL,
                                               PTX_MOD_PARAM,      PTX_MOD_PARAM_ENTRY,   PTX_MOD_SHARED,
                                               PTX_MOD_SHARED_CTA, PTX_MOD_SHARED_CLUSTER};
    static const uint8_t asked[] = {ASKED_GLOBAL, ASKED_CONST,      ASKED_LOCAL,      ASKED_PARAM,
                                    ASKED_PARAM,  ASKED_SHARED_CTA, ASKED_SHARED_CTA, ASKED_SHARED_CLUSTER};
    int space = decode_take_one(d, spaces, (int)COUNT_OF(spaces));
    if (space < 0)
        return decode_wrong(d, NULL, "'%s' lacks a state space", d->in->spelling);
    const struct ptx_operand *source = decode_operand(d, 1);
    if (source && source->kind == PTX_OPERAND_SYMBOL)
        return decode_wrong(d, source, "'%s' takes a generic address, not a variable", d->in->spelling);
    d->out->fn = isspacep;
    d->out->sub[0] = register_is_narrow(source);
    d->out->sub[1] = asked[space];
    return type_count_is(d, 0) && decode_count(d, 2, 2) && decode_pred_dst(d, decode_operand(d, 0), &d->out->dst) &&
           decode_src(d, 1, d->out->sub[0] ? PTX_U32 : PTX_U64, &d->out->src[0]);
}

/* imm: start of the shared windows among the addresses of the source; extra NULL. sub[0]: 32-bit addresses; sub[1]: the
 * result is generic. */
static void mapa(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    const uint32_t *ranks = lane_data(w, in->src[1]);
    uint32_t blocks = w->cta->cluster ? w->cta->cluster->block_count : 1;
    uint64_t base = in->sub[1] ? w->launch->memory->shared_window : 0;
    FOR_EACH_LANE(mask, i) {
        uint64_t address = read_address(w, in->src[0], in->sub[0], i) - (uint64_t)in->imm;
        if (ranks[i] >= blocks) {
            exec_raise(w, ERROR_INSTRUCTION, i, 0, 0, "mapa names block %u of a cluster of %u", ranks[i], blocks);
            return;
        }
        uint64_t mapped = base + (ranks[i] + 1) * (uint64_t)MEMORY_WINDOW_BYTES + address % MEMORY_WINDOW_BYTES;
        if (in->sub[0])
            LANES_OF(uint32_t, w, in->dst)[i] = (uint32_t)mapped;
        else
            LANES_OF(uint64_t, w, in->dst)[i] = mapped;
    }
}

static void getctarank(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    uint32_t *d = lane_data(w, in->dst);
    FOR_EACH_LANE(mask, i) {
        uint64_t address = read_address(w, in->src[0], in->sub[0], i) - (uint64_t)in->imm;
        d[i] = (uint32_t)window_rank(w, address / MEMORY_WINDOW_BYTES);
    }
}

bool decode_mapa(struct decoder *d)
{
    bool is_mapa = d->in->opcode == PTX_OP_mapa, generic = !decode_take(d, PTX_MOD_SHARED_CLUSTER);
    enum ptx_type t = decode_type(d, 0);
    if (!type_count_is(d, 1))
        return false;
    if (t != PTX_U32 && t != PTX_U64)
        return wrong_type(d, t);
    if (generic && t == PTX_U32)
        return decode_fail(d, "32-bit generic addresses");
    const struct ptx_operand *source = decode_operand(d, 1);
    bool named = source && source->kind == PTX_OPERAND_SYMBOL; /* a variable's own address is an offset, not generic */
    d->out->fn = is_mapa ? mapa : getctarank;
    d->out->sub[0] = t == PTX_U32;
    d->out->sub[1] = generic;
    d->out->imm = generic && !named ? (int64_t)d->image->memory->shared_window : 0;
    return is_mapa ? TAKE_OPERANDS(d, t, t, PTX_U32) : TAKE_OPERANDS(d, PTX_U32, t);
}
