/* Branches, returns, exits and traps (PTX ISA 9.7.12, 9.7.19). */
#include "exec/call.h"
#include "exec/decode.h"
#include "exec/lanes.h"

#include "ptx/cfg.h"

static void bra_handler(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    simt_branch(w, mask, (uint32_t)in->imm, in->src[0]);
}

static void meeting_handler(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    simt_branch_to_meeting(w, mask, (uint32_t)in->imm, in->src[0], in->sub[0]);
}

static void jump_handler(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    (void)mask;
    w->pc = (uint32_t)in->imm;
    if (w->pc == w->rpc)
        simt_pop(w);
}

struct jump_table {
    uint32_t count;
    uint32_t targets[];
};

/* brx.idx: lanes are grouped by target; the group of the lowest lane runs first. */
static void brx_handler(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    const struct jump_table *table = in->extra;
    const uint32_t *index = LANES_OF(uint32_t, w, in->src[1]);
    struct simt_path paths[WARP_LANES + 1];
    uint32_t count = 0;
    FOR_EACH_LANE(mask, lane) {
        if (index[lane] >= table->count) {
            exec_raise(w, ERROR_INSTRUCTION, lane, index[lane], 4, "brx.idx with index %u into a table of %u targets",
                       index[lane], table->count);
            return;
        }
        uint32_t target = table->targets[index[lane]], p = 0;
        while (p < count && paths[p].pc != target)
            p++;
        if (p == count)
            paths[count++] = (struct simt_path){target, 0};
        paths[p].mask |= 1u << lane;
    }
    if (w->active & ~mask)
        paths[count++] = (struct simt_path){w->pc + 1, w->active & ~mask};
    if (count == 1) {
        simt_branch(w, w->active, paths[0].pc, in->src[0]);
        return;
    }
    w->launch->counters.branches++;
    w->launch->counters.divergent_branches++;
    simt_split(w, paths, count, in->src[0]);
}

static void ret_handler(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    (void)in;
    if (mask)
        simt_retire(w, mask, w->at.frame_depth == 0);
    else
        simt_next(w);
}

static void exit_handler(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    (void)in;
    if (mask)
        simt_retire(w, mask, true);
    else
        simt_next(w);
}

static void trap_handler(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    if (mask)
        exec_raise(w, ERROR_TRAP, (uint32_t)__builtin_ctz(mask), 0, 0, "%s",
                   in->sub[0] ? "a breakpoint (brkpt), and no debugger is attached" : "trap");
    else
        simt_next(w);
}

static void sleep_handler(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    (void)in;
    (void)mask;
    simt_next(w);
    if (w->state == WARP_READY)
        w->state = WARP_ASLEEP;
}

static uint32_t reconvergence(const struct decoder *d)
{
    return d->function->cfg->reconvergence[d->in - d->function->ptx->insts];
}

static bool decode_bra(struct decoder *d)
{
    decode_take(d, PTX_MOD_UNI);
    if (!decode_count(d, 1, 1))
        return false;
    if (d->in->operands[0].kind != PTX_OPERAND_LABEL)
        return decode_wrong(d, &d->in->operands[0], "expected a label");
    d->out->imm = d->in->operands[0].target;
    d->out->src[0] = reconvergence(d);
    d->out->fn = d->in->guard ? bra_handler : jump_handler;
    if (d->in->guard && d->in->meets) {
        d->out->fn = meeting_handler;
        d->out->sub[0] = d->in->meets == PTX_MEETS_IF_TAKEN;
    }
    return true;
}

static bool decode_brx(struct decoder *d)
{
    decode_take(d, PTX_MOD_UNI);
    if (!decode_take(d, PTX_MOD_IDX) || !decode_count(d, 2, 2))
        return decode_wrong(d, NULL, "expected brx.idx index, table");
    const struct ptx_operand *o = &d->in->operands[1];
    if (o->kind != PTX_OPERAND_TABLE || o->table->kind != PTX_TABLE_BRANCH)
        return decode_wrong(d, o, "expected the name of a .branchtargets list");
    struct jump_table *table = decode_alloc(d, sizeof *table + o->table->count * sizeof *table->targets);
    table->count = o->table->count;
    for (uint32_t i = 0; i < table->count; i++)
        table->targets[i] = o->table->targets[i];
    d->out->extra = table;
    d->out->src[0] = reconvergence(d);
    d->out->fn = brx_handler;
    return decode_src(d, 0, PTX_U32, &d->out->src[1]);
}

bool decode_control(struct decoder *d)
{
    d->out->kind = EXEC_CONTROL;
    switch (d->in->opcode) {
    case PTX_OP_bra: return decode_bra(d);
    case PTX_OP_brx: return decode_brx(d);
    case PTX_OP_call: return decode_call(d);
    case PTX_OP_ret:
        decode_take(d, PTX_MOD_UNI);
        d->out->fn = ret_handler;
        return decode_count(d, 0, 0);
    case PTX_OP_exit: d->out->fn = exit_handler; return decode_count(d, 0, 0);
    case PTX_OP_trap:
    case PTX_OP_brkpt:
        d->out->sub[0] = d->in->opcode == PTX_OP_brkpt;
        d->out->fn = trap_handler;
        return decode_count(d, 0, 0);
    case PTX_OP_nanosleep:
        d->out->fn = sleep_handler;
        return decode_count(d, 1, 1) && decode_src(d, 0, PTX_U32, &d->out->src[0]);
    default: return decode_fail(d, "unknown control instruction");
    }
}

void control_make_return(struct exec_inst *out) { *out = (struct exec_inst){.fn = ret_handler, .kind = EXEC_CONTROL}; }
