/* stacksave, stackrestore, alloca (PTX ISA 9.7.17): memory of the current call that is sized at run time. It is taken
 * from the thread's local memory above what is in use, and goes back when the function returns or the stack is
 * restored. Addresses are those of the local space. */
#include "base/checked.h"
#include "exec/decode.h"
#include "exec/lanes.h"

enum { DEFAULT_ALIGN = 8 };

/* sub[0]: the lanes are 64 bits wide */
static uint64_t operand(const struct exec_warp *w, const struct exec_inst *in, uint32_t lane)
{
    return in->sub[0] ? LANES_OF(uint64_t, w, in->src[0])[lane] : LANES_OF(uint32_t, w, in->src[0])[lane];
}

static void set_result(struct exec_warp *w, const struct exec_inst *in, uint32_t lane, uint32_t value)
{
    if (in->sub[0])
        LANES_OF(uint64_t, w, in->dst)[lane] = value;
    else
        LANES_OF(uint32_t, w, in->dst)[lane] = value;
}

static void save(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    FOR_EACH_LANE(mask, i)
        set_result(w, in, i, w->stack_top[i]);
}

static void restore(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    FOR_EACH_LANE(mask, i) {
        uint64_t top = operand(w, in, i);
        if (top > w->launch->local_bytes) {
            exec_raise(w, ERROR_INSTRUCTION, i, top, 0,
                       "stackrestore to %llu, beyond the thread's %u bytes of local memory", (unsigned long long)top,
                       w->launch->local_bytes);
            return;
        }
        w->stack_top[i] = (uint32_t)top;
    }
}

static void take(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    uint64_t align = (uint64_t)in->imm;
    FOR_EACH_LANE(mask, i) {
        uint64_t size = operand(w, in, i), base = UINT64_MAX, limit = w->launch->local_bytes;
        if (!checked_round_up(w->stack_top[i], align, &base) || capped_add(base, size) > limit) {
            exec_raise(w, ERROR_ADDRESS, i, base, 0,
                       "alloca of %llu bytes: the thread has %u bytes of local memory, of which %u are in use",
                       (unsigned long long)size, w->launch->local_bytes, w->stack_top[i]);
            return;
        }
        set_result(w, in, i, (uint32_t)base);
        w->stack_top[i] = (uint32_t)(base + size);
    }
}

static bool decode_alloca(struct decoder *d, enum ptx_type type)
{
    d->out->imm = DEFAULT_ALIGN;
    d->out->fn = take;
    if (!decode_count(d, 2, 3) || !decode_dst(d, 0, type, &d->out->dst) || !decode_src(d, 1, type, &d->out->src[0]))
        return false;
    if (d->in->operand_count == 3 && !decode_immediate(d, 2, &d->out->imm))
        return false;
    int64_t align = d->out->imm;
    if (align < 1 || align > (1 << 16) || (align & (align - 1)))
        return decode_wrong(d, decode_operand(d, 2), "alloca: the alignment must be a power of two");
    return true;
}

bool decode_stack(struct decoder *d)
{
    enum ptx_type type = decode_type(d, 0);
    if (d->in->type_count != 1 || (type != PTX_U32 && type != PTX_U64))
        return decode_wrong(d, NULL, "%s: the type must be .u32 or .u64", d->in->spelling);
    d->out->sub[0] = type == PTX_U64;
    if (d->in->opcode == PTX_OP_alloca)
        return decode_alloca(d, type);
    bool saves = d->in->opcode == PTX_OP_stacksave;
    d->out->fn = saves ? save : restore;
    return decode_count(d, 1, 1) &&
           (saves ? decode_dst(d, 0, type, &d->out->dst) : decode_src(d, 0, type, &d->out->src[0]));
}
