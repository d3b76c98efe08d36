/* Which values may differ between the threads of a warp: what comes from a thread's position, a load, an atomic or a
 * shuffle, and all that is computed from it. */
#include "ptx/lowering_internal.h"

static bool makes_divergent(const struct ptx_function *f, const struct ptx_inst *in)
{
    if (ptx_flags(in) & (PTX_F_ATOMIC | PTX_F_CALL | PTX_F_TEXTURE))
        return true;
    if (ptx_flags(in) & PTX_F_LOAD)
        return !lower_reads_parameter(f, in) && !ptx_has_modifier(in, PTX_MOD_CONST) &&
               !(f->is_entry && ptx_has_modifier(in, PTX_MOD_PARAM));
    if (in->opcode == PTX_OP_shfl || in->opcode == PTX_OP_match)
        return true;
    for (uint32_t k = 0; k < in->operand_count; k++) {
        const struct ptx_operand *o = &in->operands[k];
        if (o->kind == PTX_OPERAND_SPECIAL && !(o->special >= PTX_SREG_NTID_X && o->special <= PTX_SREG_NTID_W) &&
            !(o->special >= PTX_SREG_CTAID_X && o->special <= PTX_SREG_CTAID_W) &&
            !(o->special >= PTX_SREG_NCTAID_X && o->special <= PTX_SREG_NCTAID_W))
            return true;
    }
    return false;
}

/* Spread from what makes a value of a thread's own to all that reads it. */
void lower_find_divergent(struct lowering_work *w)
{
    uint32_t depth = 0, count = w->f->inst_count;
    uint32_t *stack = arena_array(&w->scratch, uint32_t, w->f->reg_count + 1);
    w->divergent = arena_array(&w->scratch, bool, w->f->reg_count + 1);
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = w->results_of[i]; k < w->refs_of[i + 1]; k++)
            if (!w->divergent[w->ref[k]] && (!w->f->is_entry || makes_divergent(w->f, lower_inst(w, i)))) {
                w->divergent[w->ref[k]] = true;
                stack[depth++] = w->ref[k];
            }
    while (depth) {
        uint32_t reg = stack[--depth];
        for (uint32_t u = w->users_of[reg]; u < w->users_of[reg + 1]; u++) {
            uint32_t i = w->users[u];
            if (lower_inst(w, i)->opcode == PTX_OP_vote)
                continue;
            for (uint32_t k = w->results_of[i]; k < w->refs_of[i + 1]; k++)
                if (!w->divergent[w->ref[k]]) {
                    w->divergent[w->ref[k]] = true;
                    stack[depth++] = w->ref[k];
                }
        }
    }
}
