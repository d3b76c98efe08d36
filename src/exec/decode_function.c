/* Decodes one function: every ptx_inst becomes an exec_inst at the same index, and after the last stands a return. */
#include "exec/control.h"

#include "base/out_of_memory.h"
#include "exec/image_internal.h"

#include "ptx/cfg.h"

#include <stdlib.h>
#include <string.h>

#define OP(name, integer, floating, unit, latency, flags) decode_fn decode_##integer, decode_##floating;
#include "ptx/instructions.def"
#undef OP

static decode_fn *const integer_decoders[PTX_OPCODE_COUNT] = {
#define OP(name, integer, floating, unit, latency, flags) [PTX_OP_##name] = decode_##integer,
#include "ptx/instructions.def"
#undef OP
};

static decode_fn *const floating_decoders[PTX_OPCODE_COUNT] = {
#define OP(name, integer, floating, unit, latency, flags) [PTX_OP_##name] = decode_##floating,
#include "ptx/instructions.def"
#undef OP
};

static bool check_modifiers(struct decoder *d)
{
    for (int i = 0; i < d->in->modifier_count; i++)
        if (!(d->taken >> i & 1))
            return decode_fail(d, "modifier .%s does not go with this form", ptx_modifier_name(d->in->modifiers[i]));
    return true;
}

/* The .sync forms name the lanes that take part in their last operand; those of the matrix instructions are all. */
static bool decode_members(struct decoder *d)
{
    if (!decode_has(d, PTX_MOD_SYNC))
        return true;
    switch (d->in->opcode) {
    case PTX_OP_shfl:
    case PTX_OP_vote:
    case PTX_OP_match:
    case PTX_OP_redux:
    case PTX_OP_elect:
        d->out->kind = EXEC_SYNC;
        return decode_src(d, d->in->operand_count - 1, PTX_B32, &d->out->members);
    case PTX_OP_mma:
    case PTX_OP_wmma:
    case PTX_OP_ldmatrix:
    case PTX_OP_stmatrix:
    case PTX_OP_movmatrix:
        d->out->kind = EXEC_SYNC;
        d->out->members = decode_const32(d, FULL_MASK);
        return true;
    default: return true;
    }
}

static bool decode_instruction(struct decoder *d, uint32_t index)
{
    d->in = &d->function->ptx->insts[index];
    d->out = &d->function->code[index];
    d->taken = 0;
    if (d->in->guard) {
        d->out->guard = d->function->registers[d->in->guard->index];
        d->out->guard_mode = d->in->guard_negated ? 2 : 1;
    }
    enum ptx_type type = decode_last_type(d);
    decode_fn *decode = type != PTX_NO_TYPE && ptx_type_is_float(type) ? floating_decoders[d->in->opcode]
                                                                       : integer_decoders[d->in->opcode];
    return decode(d) && check_modifiers(d) && decode_members(d);
}

/* Only now is it known how many constants there are. */
static void write_constants(struct decode_state *s, struct exec_function *f)
{
    f->constants = aligned_alloc(256, (s->constant_bytes + 511) & ~255u);
    if (!f->constants)
        out_of_memory();
    for (uint32_t i = 0; i < s->constant_slots; i++) {
        const struct decode_constant *c = &s->constants[i];
        for (uint32_t lane = 0; c->lane_bytes && lane < WARP_LANES; lane++)
            memcpy(f->constants + (c->ref & ~3u) + lane * c->lane_bytes, &c->value, c->lane_bytes);
    }
}

bool decode_function(struct exec_image *image, struct exec_function *f, struct error *e)
{
    struct decode_state state = {.scratch = 0, .scratch_pred = f->scratch_pred};
    struct decoder d = {.image = image, .function = f, .error = e, .state = &state};
    if (f->frame_bytes > EXEC_MOST_REGISTERS_BYTES)
        return error_at(e, ERROR_UNSUPPORTED, &f->module->source, f->ptx->line, f->ptx->column,
                        "not supported: %s has more than %d bytes of registers a thread that are alive at once",
                        f->name, EXEC_MOST_REGISTERS_BYTES / WARP_LANES);
    f->code = arena_array(&image->arena, struct exec_inst, f->inst_count + 1);
    decode_grow_constants(&state);
    bool ok = true;
    for (uint32_t i = 0; ok && i < f->inst_count; i++)
        ok = decode_instruction(&d, i);
    control_make_return(&f->code[f->inst_count]);
    write_constants(&state, f);
    free(state.constants);
    f->frame_bytes = (f->frame_bytes + 255) & ~255u;
    return ok;
}
