/* The helpers that decoders are written with (decode.h): modifiers, operands, immediates. */
#include "exec/decode_state.h"

#include "base/checked.h"
#include "base/out_of_memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Messages */

static void in_function(struct decoder *d)
{
    error_note(d->error, "in %s %s, instruction %s", d->function->ptx->is_entry ? "kernel" : "function",
               d->function->name, d->in->spelling);
}

bool decode_fail(struct decoder *d, const char *format, ...)
{
    char text[600];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    error_at(d->error, ERROR_UNSUPPORTED, &d->function->module->source, d->in->line, d->in->column,
             "not supported: %s: %s", d->in->spelling, text);
    in_function(d);
    return false;
}

bool decode_wrong(struct decoder *d, const struct ptx_operand *at, const char *format, ...)
{
    char text[600];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    error_at(d->error, ERROR_SYNTAX, &d->function->module->source, at && at->line ? at->line : d->in->line,
             at && at->line ? at->column : d->in->column, "%s", text);
    in_function(d);
    return false;
}

/* Modifiers and types */

bool decode_has(const struct decoder *d, enum ptx_modifier m) { return ptx_has_modifier(d->in, m); }

/* PTX for sm_1x says .ftz or not: its f32 arithmetic flushes denormals. cvt to 64 bits did not, up to PTX 1.4. */
static bool flushes_unsaid(const struct decoder *d)
{
    const struct ptx_module *m = d->function->module;
    if (m->target_sm == 0 || m->target_sm >= 20)
        return false;
    if (d->in->opcode != PTX_OP_cvt)
        return decode_last_type(d) == PTX_F32;
    bool legacy = m->version_major == 1 && m->version_minor <= 4;
    return !(legacy && ptx_type_bits(decode_type(d, 0)) == 64);
}

bool decode_take(struct decoder *d, enum ptx_modifier m)
{
    bool found = m == PTX_MOD_FTZ && flushes_unsaid(d);
    for (int i = 0; i < d->in->modifier_count; i++)
        if (d->in->modifiers[i] == m) {
            d->taken |= 1u << i;
            found = true;
        }
    return found;
}

int decode_take_one(struct decoder *d, const enum ptx_modifier *list, int count)
{
    for (int i = 0; i < count; i++)
        if (decode_take(d, list[i]))
            return i;
    return -1;
}

enum exec_rounding decode_rounding(struct decoder *d)
{
    static const enum ptx_modifier modes[] = {PTX_MOD_RN, PTX_MOD_RZ, PTX_MOD_RM, PTX_MOD_RP, PTX_MOD_RNA};
    int found = decode_take_one(d, modes, 5);
    return found < 0 ? ROUND_NEAREST : (enum exec_rounding)found;
}

void decode_take_memory_hints(struct decoder *d)
{
    static const enum ptx_modifier hints[] = {
        PTX_MOD_CA,
        PTX_MOD_CG,
        PTX_MOD_CS,
        PTX_MOD_LU,
        PTX_MOD_CV,
        PTX_MOD_WB,
        PTX_MOD_WT,
        PTX_MOD_NC,
        PTX_MOD_VOLATILE,
        PTX_MOD_WEAK,
        PTX_MOD_RELAXED,
        PTX_MOD_ACQUIRE,
        PTX_MOD_RELEASE,
        PTX_MOD_ACQ_REL,
        PTX_MOD_SC,
        PTX_MOD_MMIO,
        PTX_MOD_CTA,
        PTX_MOD_CLUSTER,
        PTX_MOD_GPU,
        PTX_MOD_SYS,
        PTX_MOD_UNIFIED,
        PTX_MOD_L1_EVICT_NORMAL,
        PTX_MOD_L1_EVICT_UNCHANGED,
        PTX_MOD_L1_EVICT_FIRST,
        PTX_MOD_L1_EVICT_LAST,
        PTX_MOD_L1_NO_ALLOCATE,
        PTX_MOD_L2_EVICT_NORMAL,
        PTX_MOD_L2_EVICT_FIRST,
        PTX_MOD_L2_EVICT_LAST,
        PTX_MOD_L2_EVICT_UNCHANGED,
        PTX_MOD_L2_CACHE_HINT,
        PTX_MOD_L2_64B,
        PTX_MOD_L2_128B,
        PTX_MOD_L2_256B,
    };
    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++)
        decode_take(d, hints[i]);
}

enum ptx_space decode_take_space(struct decoder *d)
{
    static const struct {
        enum ptx_modifier modifier;
        enum ptx_space space;
    } spaces[] = {
        {PTX_MOD_GLOBAL, PTX_SPACE_GLOBAL},         {PTX_MOD_SHARED, PTX_SPACE_SHARED},
        {PTX_MOD_LOCAL, PTX_SPACE_LOCAL},           {PTX_MOD_CONST, PTX_SPACE_CONST},
        {PTX_MOD_PARAM, PTX_SPACE_PARAM},           {PTX_MOD_SHARED_CTA, PTX_SPACE_SHARED},
        {PTX_MOD_SHARED_CLUSTER, PTX_SPACE_SHARED}, {PTX_MOD_PARAM_ENTRY, PTX_SPACE_PARAM},
        {PTX_MOD_PARAM_FUNC, PTX_SPACE_PARAM},      {PTX_MOD_CONST0, PTX_SPACE_CONST},
    };
    for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++)
        if (decode_take(d, spaces[i].modifier))
            return spaces[i].space;
    return PTX_SPACE_NONE;
}

enum ptx_type decode_type(const struct decoder *d, int index)
{
    return index >= 0 && index < d->in->type_count ? (enum ptx_type)d->in->types[index] : PTX_NO_TYPE;
}

enum ptx_type decode_last_type(const struct decoder *d) { return decode_type(d, d->in->type_count - 1); }

bool decode_count(struct decoder *d, int least, int most)
{
    int have = d->in->operand_count;
    if (have >= least && have <= most)
        return true;
    if (least == most)
        return decode_wrong(d, NULL, "%s takes %d operands, %d given", d->in->spelling, least, have);
    return decode_wrong(d, NULL, "%s takes %d to %d operands, %d given", d->in->spelling, least, most, have);
}

const struct ptx_operand *decode_operand(const struct decoder *d, int index)
{
    return index < d->in->operand_count ? &d->in->operands[index] : NULL;
}

/* Constants: one copy of each value a function */

static exec_ref constant(struct decoder *d, uint64_t value, uint32_t lane_bytes)
{
    struct decode_state *s = d->state;
    uint64_t hash = (value + lane_bytes) * 0x9e3779b97f4a7c15ull;
    uint32_t slot = (uint32_t)(hash >> 32) & (s->constant_slots - 1);
    for (; s->constants[slot].lane_bytes; slot = (slot + 1) & (s->constant_slots - 1))
        if (s->constants[slot].value == value && s->constants[slot].lane_bytes == lane_bytes)
            return s->constants[slot].ref;
    exec_ref ref = s->constant_bytes | BANK_CONSTANTS;
    s->constants[slot] = (struct decode_constant){value, lane_bytes, ref};
    s->constant_bytes += lane_bytes * WARP_LANES;
    if (++s->constant_count * 2 > s->constant_slots)
        decode_grow_constants(s);
    return ref;
}

void decode_grow_constants(struct decode_state *s)
{
    struct decode_constant *old = s->constants;
    uint32_t old_slots = s->constant_slots;
    s->constant_slots = old_slots ? old_slots * 2 : 128;
    s->constants = calloc(s->constant_slots, sizeof *s->constants);
    if (!s->constants)
        out_of_memory();
    for (uint32_t i = 0; i < old_slots; i++)
        if (old[i].lane_bytes) {
            uint64_t hash = (old[i].value + old[i].lane_bytes) * 0x9e3779b97f4a7c15ull;
            uint32_t slot = (uint32_t)(hash >> 32) & (s->constant_slots - 1);
            while (s->constants[slot].lane_bytes)
                slot = (slot + 1) & (s->constant_slots - 1);
            s->constants[slot] = old[i];
        }
    free(old);
}

exec_ref decode_const32(struct decoder *d, uint32_t value) { return constant(d, value, 4); }

exec_ref decode_const64(struct decoder *d, uint64_t value) { return constant(d, value, 8); }

exec_ref decode_const_pred(struct decoder *d, bool value)
{
    return constant(d, value ? FULL_MASK : 0, 4); /* the first lane's word serves as the mask */
}

exec_ref decode_scratch(struct decoder *d, int bits) { return bits == 0 ? d->state->scratch_pred : d->state->scratch; }

void *decode_alloc(struct decoder *d, size_t size_bytes) { return arena_alloc(&d->image->arena, size_bytes); }

/* Operands */

/* Type agreement as the assembler has it: the same size; and an integer register where a floating type is asked for, or
 * the reverse, is refused. Untyped bits agree with all. */
static bool is_bits(enum ptx_type t)
{
    return t == PTX_B8 || t == PTX_B16 || t == PTX_B32 || t == PTX_B64 || t == PTX_B128;
}

static bool is_plain_integer(enum ptx_type t)
{
    return (t >= PTX_U8 && t <= PTX_S64) || t == PTX_U16X2 || t == PTX_S16X2;
}

static bool kinds_agree(enum ptx_type reg, enum ptx_type type)
{
    if (is_bits(reg) || is_bits(type) || type == PTX_NO_TYPE)
        return true;
    return !(is_plain_integer(reg) && ptx_type_is_float(type)) && !(ptx_type_is_float(reg) && is_plain_integer(type));
}

static bool wrong_register(struct decoder *d, const struct ptx_operand *o, enum ptx_type type)
{
    return decode_wrong(d, o, "register %s is .%s, but %s needs .%s here", o->reg->name, ptx_type_name(o->reg->type),
                        d->in->spelling, ptx_type_name(type));
}

static bool check_register(struct decoder *d, const struct ptx_operand *o, enum ptx_type type, bool wide)
{
    int have = ptx_type_bits(o->reg->type), need = ptx_type_bits(type);
    if (o->reg->type == PTX_PRED || type == PTX_PRED)
        return o->reg->type == type ? true : wrong_register(d, o, type);
    if (wide ? have < need : (have != need && !(need < 16 && have == 16)))
        return wrong_register(d, o, type);
    return kinds_agree(o->reg->type, type) || (wide && need < 32) ? true : wrong_register(d, o, type);
}

static exec_ref register_ref(struct decoder *d, const struct ptx_reg *r) { return d->function->registers[r->index]; }

static uint32_t float_as_bits32(const struct ptx_operand *o)
{
    uint32_t bits;
    float value = (float)o->float64;
    memcpy(&bits, &value, 4);
    return o->is_float32 ? o->float32_bits : bits;
}

/* A 0f constant where 64 bits are wanted is taken for its bits, as the real assembler does, not converted. */
static uint64_t float_as_bits64(const struct ptx_operand *o)
{
    uint64_t bits;
    memcpy(&bits, &o->float64, 8);
    return o->is_float32 ? o->float32_bits : bits;
}

/* An immediate in the lanes of the type. */
static bool immediate(struct decoder *d, const struct ptx_operand *o, enum ptx_type type, exec_ref *ref)
{
    int bits = ptx_type_bits(type);
    if (o->kind == PTX_OPERAND_FLOAT) {
        if (type == PTX_F32 || type == PTX_TF32 || (bits == 32 && o->is_float32 && is_bits(type)))
            *ref = decode_const32(d, float_as_bits32(o));
        else if (type == PTX_F64 || (bits == 64 && is_bits(type)))
            *ref = decode_const64(d, float_as_bits64(o));
        else
            return decode_wrong(d, o, "a floating-point constant cannot be a .%s", ptx_type_name(type));
        return true;
    }
    if (type == PTX_F32 || type == PTX_F64)
        return decode_wrong(d, o, "an integer constant cannot be a .%s: write it with a decimal point, or as 0%c...",
                            ptx_type_name(type), type == PTX_F32 ? 'f' : 'd');
    if (bits == 64)
        *ref = decode_const64(d, (uint64_t)o->integer);
    else if (bits <= 32)
        *ref = decode_const32(d, bits == 32 ? (uint32_t)o->integer : (uint32_t)o->integer & ((1u << bits) - 1));
    else
        return decode_wrong(d, o, "a constant cannot be a .%s", ptx_type_name(type));
    return true;
}

static bool special(struct decoder *d, const struct ptx_operand *o, exec_ref *ref)
{
    if (o->special >= PTX_SREG_CLOCK)
        return decode_fail(d, "%s is read by mov only", ptx_special_name(o->special));
    *ref = ((d->image->special_slot[o->special] - 1u) * 4 * WARP_LANES) | BANK_SPECIALS;
    return true;
}

/* The address of a variable of local memory, in a register that is filled when the function is entered. */
static exec_ref frame_address(struct decoder *d, uint32_t offset, bool wide)
{
    struct exec_function *f = d->function;
    for (uint32_t i = 0; i < f->frame_address_count; i++)
        if (f->frame_addresses[i].offset == offset && f->frame_addresses[i].wide == wide)
            return f->frame_addresses[i].ref;
    struct frame_address *grown = arena_array(&d->image->arena, struct frame_address, f->frame_address_count + 1);
    if (f->frame_address_count)
        memcpy(grown, f->frame_addresses, f->frame_address_count * sizeof *grown);
    f->frame_addresses = grown;
    exec_ref ref = f->frame_bytes | BANK_FRAME;
    f->frame_bytes += 8 * WARP_LANES;
    grown[f->frame_address_count++] = (struct frame_address){ref, offset, wide};
    return ref;
}

static bool symbol_value(struct decoder *d, const struct ptx_operand *o, int bits, exec_ref *ref)
{
    uint64_t address;
    enum decode_place place;
    if (!decode_variable_address(d, o->variable, &address, &place))
        return decode_wrong(d, o, "%s has no address here", o->variable->name);
    address += (uint64_t)o->offset;
    if (place == PLACE_FRAME)
        *ref = frame_address(d, (uint32_t)address, bits == 64);
    else
        *ref = bits == 64 ? decode_const64(d, address) : decode_const32(d, (uint32_t)address);
    return true;
}

/* `-a`, `!a` and `a.b0` are read by the parser on any operand, but mean something in few instructions, whose decoders
 * look at them themselves. */
static bool is_plain(struct decoder *d, const struct ptx_operand *o)
{
    bool is_video = d->in->opcode >= PTX_OP_vadd && d->in->opcode <= PTX_OP_vset4;
    if (is_video || !o || (!o->negated && o->selector < 0))
        return true;
    return decode_wrong(d, o, "%s takes no operand with %s", d->in->spelling,
                        o->negated ? "a sign or '!'" : "a byte or half selector");
}

bool decode_src_of(struct decoder *d, const struct ptx_operand *o, enum ptx_type type, exec_ref *ref)
{
    if (!is_plain(d, o))
        return false;
    int bits = ptx_type_bits(type);
    switch (o ? o->kind : PTX_OPERAND_NONE) {
    case PTX_OPERAND_REG: *ref = register_ref(d, o->reg); return check_register(d, o, type, false);
    case PTX_OPERAND_INT:
    case PTX_OPERAND_FLOAT: return immediate(d, o, type, ref);
    case PTX_OPERAND_SPECIAL:
        if (bits > 32)
            return decode_wrong(d, o, "%s is 32 bits wide", ptx_special_name(o->special));
        return special(d, o, ref);
    case PTX_OPERAND_SYMBOL: return symbol_value(d, o, bits, ref);
    case PTX_OPERAND_FUNCTION: {
        const struct exec_function *f = decode_find_function(d, o->function);
        if (!f)
            return decode_fail(d, "the address of %s, which has no body in this module", o->function->name);
        *ref = decode_const64(d, f->address);
        return bits == 64 ? true : decode_fail(d, "function addresses are 64 bits wide");
    }
    default:
        return decode_wrong(d, o, "%s: expected a register or a constant of type .%s", d->in->spelling,
                            ptx_type_name(type));
    }
}

bool decode_dst_of(struct decoder *d, const struct ptx_operand *o, enum ptx_type type, exec_ref *ref)
{
    if (o && o->kind == PTX_OPERAND_SINK) {
        *ref = decode_scratch(d, ptx_type_bits(type));
        return true;
    }
    if (!o || o->kind != PTX_OPERAND_REG)
        return decode_wrong(d, o, "%s: the destination must be a register of type .%s", d->in->spelling,
                            ptx_type_name(type));
    *ref = register_ref(d, o->reg);
    return check_register(d, o, type, false);
}

bool decode_src(struct decoder *d, int index, enum ptx_type type, exec_ref *ref)
{
    return decode_src_of(d, decode_operand(d, index), type, ref);
}

bool decode_dst(struct decoder *d, int index, enum ptx_type type, exec_ref *ref)
{
    return decode_dst_of(d, decode_operand(d, index), type, ref);
}

bool decode_dst_wide(struct decoder *d, const struct ptx_operand *o, enum ptx_type type, exec_ref *ref, int *reg_bits)
{
    *reg_bits = ptx_type_bits(type);
    if (o && o->kind == PTX_OPERAND_SINK) {
        *ref = decode_scratch(d, *reg_bits);
        return true;
    }
    if (!o || o->kind != PTX_OPERAND_REG)
        return decode_wrong(d, o, "%s: the destination must be a register of type .%s", d->in->spelling,
                            ptx_type_name(type));
    *ref = register_ref(d, o->reg);
    *reg_bits = ptx_type_bits(o->reg->type);
    return check_register(d, o, type, true);
}

bool decode_src_wide(struct decoder *d, const struct ptx_operand *o, enum ptx_type type, exec_ref *ref, int *reg_bits)
{
    *reg_bits = ptx_type_bits(type);
    if (!o || o->kind != PTX_OPERAND_REG) {
        if (o && o->kind == PTX_OPERAND_SPECIAL) {
            *reg_bits = 32;
            return special(d, o, ref);
        }
        return decode_src_of(d, o, type, ref);
    }
    *ref = register_ref(d, o->reg);
    *reg_bits = ptx_type_bits(o->reg->type);
    return is_plain(d, o) && check_register(d, o, type, true);
}

bool decode_pred_dst(struct decoder *d, const struct ptx_operand *o, exec_ref *ref)
{
    return decode_dst_of(d, o, PTX_PRED, ref);
}

bool decode_pred_src(struct decoder *d, const struct ptx_operand *o, exec_ref *ref, bool *negated)
{
    if (o && o->kind == PTX_OPERAND_INT) {
        *negated = o->negated;
        *ref = decode_const_pred(d, o->integer != 0);
        return true;
    }
    if (o && o->kind == PTX_OPERAND_SPECIAL && ptx_special_type(o->special) == PTX_PRED) {
        *negated = o->negated;
        return special(d, o, ref);
    }
    if (!o || o->kind != PTX_OPERAND_REG)
        return decode_wrong(d, o, "%s: expected a predicate", d->in->spelling);
    *negated = o->negated;
    *ref = register_ref(d, o->reg);
    return check_register(d, o, PTX_PRED, false);
}

bool decode_immediate(struct decoder *d, int index, int64_t *value)
{
    const struct ptx_operand *o = decode_operand(d, index);
    if (!o || o->kind != PTX_OPERAND_INT)
        return decode_wrong(d, o, "%s: expected an integer constant", d->in->spelling);
    *value = o->integer;
    return true;
}

/* Addresses */

bool decode_param_is_kernel(struct decoder *d, const struct ptx_operand *o)
{
    const struct ptx_operand *base = o && o->kind == PTX_OPERAND_ADDRESS && o->element_count ? &o->elements[0] : o;
    if (!base || base->kind != PTX_OPERAND_SYMBOL)
        return d->function->ptx->is_entry;
    for (uint32_t i = 0; i < d->function->ptx->param_count; i++)
        if (d->function->ptx->params[i] == base->variable)
            return d->function->ptx->is_entry;
    return false;
}

bool decode_address(struct decoder *d, const struct ptx_operand *o, enum ptx_space space, exec_ref *base,
                    int *base_bits, int64_t *offset)
{
    if (!o || o->kind != PTX_OPERAND_ADDRESS || !o->element_count)
        return decode_wrong(d, o, "%s: expected an address in brackets", d->in->spelling);
    const struct ptx_operand *b = &o->elements[0];
    *offset = o->offset;
    *base_bits = 64;
    if (b->kind == PTX_OPERAND_REG) {
        *base = register_ref(d, b->reg);
        *base_bits = ptx_type_bits(b->reg->type) == 64 ? 64 : 32;
        if (ptx_type_bits(b->reg->type) < 16 || ptx_type_bits(b->reg->type) > 64)
            return decode_wrong(d, b, "a register of type .%s cannot hold an address", ptx_type_name(b->reg->type));
        return true;
    }
    if (b->kind == PTX_OPERAND_INT) {
        *base = decode_const64(d, (uint64_t)b->integer);
        return true;
    }
    if (b->kind != PTX_OPERAND_SYMBOL)
        return decode_wrong(d, b, "%s: expected a register or a variable in the address", d->in->spelling);
    *offset = wrapping_add(*offset, b->offset);
    uint64_t address;
    enum decode_place place;
    if (!decode_variable_address(d, b->variable, &address, &place))
        return decode_wrong(d, b, "%s has no address here", b->variable->name);
    if (place == PLACE_FRAME) {
        *base = decode_const64(d, 0);
        *base_bits = 0;
        *offset = wrapping_add(*offset, (int64_t)address);
        if (space == PTX_SPACE_NONE)
            return decode_wrong(d, b, "%s is in local memory: its generic address must be taken with cvta first",
                                b->variable->name);
        return true;
    }
    if (space == PTX_SPACE_NONE && b->variable->space == PTX_SPACE_SHARED)
        address += d->image->memory->shared_window; /* a generic access that names the variable directly */
    *base = decode_const64(d, address);
    return true;
}
