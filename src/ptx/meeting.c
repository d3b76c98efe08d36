/* Where threads meet before all of their paths do: `if (a || b || c) then`. Several branches lead to the block `then`,
 * one of them past it, so that it post-dominates none of them; ptxas has threads wait in front of it all the same
 * (BSSY), and those that go past leave the others (BREAK). */
#include "ptx/meeting.h"

#include "ptx/cfg.h"

static bool is_branch_to(const struct ptx_cfg *cfg, const struct ptx_function *f, uint32_t from, uint32_t to)
{
    const struct ptx_block *b = &cfg->blocks[from];
    const struct ptx_inst *last = &f->insts[b->end - 1];
    return b->reachable && b->succ_count == 2 && last->opcode == PTX_OP_bra && last->guard &&
           !ptx_cfg_dominates(cfg, to, from) && b->loop == cfg->blocks[to].loop;
}

/* All branches that lead there part their threads up to the same place, and one of them leads to that place itself. */
static bool is_meeting(const struct ptx_cfg *cfg, const struct ptx_function *f, uint32_t block)
{
    const struct ptx_block *b = &cfg->blocks[block];
    uint32_t meets = PTX_NO_RECONVERGENCE, past = 0;
    if (b->pred_count < 2)
        return false;
    for (uint32_t k = 0; k < b->pred_count; k++) {
        const struct ptx_block *from = &cfg->blocks[b->preds[k]];
        if (!is_branch_to(cfg, f, b->preds[k], block))
            return false;
        uint32_t place = cfg->reconvergence[from->end - 1];
        if (place == PTX_NO_RECONVERGENCE || place == b->first || (k && place != meets))
            return false;
        meets = place;
        past += cfg->blocks[from->succs[from->succs[0] == block]].first == place;
    }
    return past > 0;
}

void ptx_find_meetings(struct ptx_function *f)
{
    struct arena scratch = {0};
    const struct ptx_cfg *cfg = ptx_cfg_build(&scratch, f);
    for (uint32_t m = 0; m < cfg->block_count; m++) {
        const struct ptx_block *b = &cfg->blocks[m];
        if (!b->reachable || !is_meeting(cfg, f, m))
            continue;
        for (uint32_t k = 0; k < b->pred_count; k++) {
            struct ptx_inst *branch = &f->insts[cfg->blocks[b->preds[k]].end - 1];
            branch->meets |= branch->operands[0].target == b->first ? PTX_MEETS_IF_TAKEN : PTX_MEETS_IF_NOT;
        }
    }
    arena_free(&scratch);
}
