/* The tables of `heddle inspect`: blocks, loops, branches, registers, phases. */
#include "cli/inspect.h"
#include "cli/text_table.h"
#include "ptx/registers.h"
#include "sm/phases.h"

#include <string.h>

/* ------------------------------------------------------------- places */

static const char *file_name(const struct ptx_module *m, uint32_t number)
{
    for (uint32_t i = 0; i < m->file_count; i++)
        if (m->files[i].number == number) {
            const char *slash = strrchr(m->files[i].name, '/');
            return slash ? slash + 1 : m->files[i].name;
        }
    return "?";
}

/* The range counts lines of the first instruction's file only: inlined code comes from others. */
const char *inspect_source(const struct inspected *p, uint32_t first, uint32_t end)
{
    uint32_t file = 0, low = 0, high = 0;
    for (uint32_t i = first; i < end; i++) {
        const struct ptx_inst *in = &p->function->insts[i];
        if (!in->source_line || (file && in->source_file != file))
            continue;
        file = in->source_file;
        if (!low || in->source_line < low)
            low = in->source_line;
        if (in->source_line > high)
            high = in->source_line;
    }
    if (!low)
        return "";
    const char *name = file_name(p->module, file);
    return low == high ? arena_printf(p->arena, "%s:%u", name, low)
                       : arena_printf(p->arena, "%s:%u-%u", name, low, high);
}

static const char *pc(const struct inspected *p, uint32_t inst)
{
    return arena_printf(p->arena, "0x%04x", inst * PTX_INST_BYTES);
}

static const char *block_name(const struct inspected *p, uint32_t block)
{
    return block == PTX_NO_BLOCK ? "exit" : arena_printf(p->arena, "B%u", block);
}

static const char *loop_name(const struct inspected *p, int32_t loop)
{
    return loop == PTX_NO_LOOP ? "-" : arena_printf(p->arena, "L%d", loop);
}

static const char *instruction_text(const struct inspected *p, uint32_t inst)
{
    int length = ptx_print_inst(NULL, 0, p->function, &p->function->insts[inst]);
    char *text = arena_alloc(p->arena, (size_t)length + 1);
    ptx_print_inst(text, (size_t)length + 1, p->function, &p->function->insts[inst]);
    return text;
}

/* ------------------------------------------------------------- blocks */

static const char *successors(const struct inspected *p, const struct ptx_block *b)
{
    const char *text = "";
    for (uint32_t i = 0; i < b->succ_count; i++)
        text = arena_printf(p->arena, "%s%sB%u", text, *text ? " " : "", b->succs[i]);
    return b->exits ? arena_printf(p->arena, "%s%sexit", text, *text ? " " : "") : text;
}

void inspect_print_cfg(const struct inspected *p, FILE *to)
{
    static const char *const titles[] = {"block",     ">first",         ">last", "PC",
                                         "PTX lines", "source",         "loop",  "successors",
                                         "dominator", "post-dominator", NULL};
    struct text_table t = text_table_start(p->arena, titles);
    const struct ptx_inst *insts = p->function->insts;
    for (uint32_t b = 0; b < p->cfg->block_count; b++) {
        const struct ptx_block *block = &p->cfg->blocks[b];
        uint32_t last = block->end - 1;
        text_table_cell(&t, "B%u", b);
        text_table_cell(&t, "%u", block->first);
        text_table_cell(&t, "%u", last);
        text_table_cell(&t, "%s-%s", pc(p, block->first), pc(p, last));
        text_table_cell(&t, "%d-%d", insts[block->first].line, insts[last].line);
        text_table_cell(&t, "%s", inspect_source(p, block->first, block->end));
        text_table_cell(&t, "%s", loop_name(p, block->loop));
        text_table_cell(&t, "%s", successors(p, block));
        text_table_cell(&t, "%s", !block->reachable ? "unreachable" : b ? block_name(p, p->cfg->idom[b]) : "entry");
        text_table_cell(&t, "%s", block_name(p, p->cfg->ipdom[b]));
    }
    text_table_print(&t, "  ", to);
}

/* ------------------------------------------------------------- loops */

static bool is_load(const struct ptx_inst *in) { return (ptx_flags(in) & PTX_F_LOAD) != 0; }

static uint32_t count_in_loop(const struct inspected *p, const struct ptx_loop *l,
                              bool (*counts)(const struct ptx_inst *))
{
    uint32_t count = 0;
    for (uint32_t k = 0; k < l->block_count; k++) {
        const struct ptx_block *b = &p->cfg->blocks[l->blocks[k]];
        for (uint32_t i = b->first; i < b->end; i++)
            count += !counts || counts(&p->function->insts[i]);
    }
    return count;
}

static const char *back_edges(const struct inspected *p, const struct ptx_loop *l)
{
    const char *text = "";
    for (uint32_t i = 0; i < l->latch_count; i++)
        text = arena_printf(p->arena, "%s%s%s", text, i ? " " : "", pc(p, p->cfg->blocks[l->latches[i]].end - 1));
    return text;
}

static void print_loads(const struct inspected *p, FILE *to)
{
    static const char *const titles[] = {"loop", "load at", ">PTX line", "source", "instruction", NULL};
    struct text_table t = text_table_start(p->arena, titles);
    for (uint32_t i = 0; i < p->function->inst_count; i++) {
        int32_t loop = p->cfg->blocks[p->cfg->block_of_inst[i]].loop;
        if (loop == PTX_NO_LOOP || !is_load(&p->function->insts[i]))
            continue;
        text_table_cell(&t, "L%d", loop);
        text_table_cell(&t, "%s", pc(p, i));
        text_table_cell(&t, "%d", p->function->insts[i].line);
        text_table_cell(&t, "%s", inspect_source(p, i, i + 1));
        text_table_cell(&t, "%s", instruction_text(p, i));
    }
    if (t.cell_count)
        text_table_print(&t, "  ", to);
}

void inspect_print_loops(const struct inspected *p, FILE *to)
{
    static const char *const titles[] = {"loop",    ">depth", "header",        "begin PC", "end PC", ">instructions",
                                         ">blocks", ">loads", "back edges at", "source",   NULL};
    struct text_table t = text_table_start(p->arena, titles);
    if (!p->cfg->loop_count) {
        fputs("  no loops\n", to);
        return;
    }
    for (uint32_t i = 0; i < p->cfg->loop_count; i++) {
        const struct ptx_loop *l = &p->cfg->loops[i];
        text_table_cell(&t, "%*sL%u", (int)(l->depth - 1) * 2, "", i);
        text_table_cell(&t, "%u", l->depth);
        text_table_cell(&t, "B%u", l->header_block);
        text_table_cell(&t, "%s", pc(p, l->begin));
        text_table_cell(&t, "%s", pc(p, l->end - 1));
        text_table_cell(&t, "%u", count_in_loop(p, l, NULL));
        text_table_cell(&t, "%u", l->block_count);
        text_table_cell(&t, "%u", count_in_loop(p, l, is_load));
        text_table_cell(&t, "%s", back_edges(p, l));
        text_table_cell(&t, "%s", inspect_source(p, l->begin, l->end));
    }
    text_table_print(&t, "  ", to);
    print_loads(p, to);
}

/* ------------------------------------------------------------- branches */

int32_t inspect_loop_ended(const struct inspected *p, uint32_t branch)
{
    uint32_t from = p->cfg->block_of_inst[branch];
    const struct ptx_block *b = &p->cfg->blocks[from];
    for (uint32_t i = 0; i < b->succ_count; i++)
        for (int32_t l = b->loop; l != PTX_NO_LOOP; l = p->cfg->loops[l].parent)
            if (p->cfg->loops[l].header_block == b->succs[i])
                return l;
    return PTX_NO_LOOP;
}

int32_t inspect_loop_left(const struct inspected *p, uint32_t branch)
{
    const struct ptx_block *b = &p->cfg->blocks[p->cfg->block_of_inst[branch]];
    int32_t left = PTX_NO_LOOP;
    for (int32_t l = b->loop; l != PTX_NO_LOOP; l = p->cfg->loops[l].parent) {
        bool leaves = b->exits;
        for (uint32_t i = 0; i < b->succ_count; i++)
            leaves |= !ptx_loop_contains(p->cfg, (uint32_t)l, b->succs[i]);
        if (leaves)
            left = l;
    }
    return left;
}

struct target_list {
    const struct inspected *p;
    const char *text;
    uint32_t last;
};

static void add_target(void *context, uint32_t target)
{
    struct target_list *t = context;
    if (*t->text && target == t->last)
        return; /* runs of the same case of a switch */
    t->last = target;
    const char *place = target < t->p->function->inst_count ? pc(t->p, target) : "exit";
    t->text = arena_printf(t->p->arena, "%s%s%s", t->text, *t->text ? " " : "", place);
}

static const char *loop_effect(const struct inspected *p, uint32_t branch)
{
    int32_t ended = inspect_loop_ended(p, branch), left = inspect_loop_left(p, branch);
    int32_t around = p->cfg->blocks[p->cfg->block_of_inst[branch]].loop;
    if (ended != PTX_NO_LOOP)
        return arena_printf(p->arena, "ends L%d", ended);
    if (left != PTX_NO_LOOP)
        return arena_printf(p->arena, "leaves L%d", left);
    return around != PTX_NO_LOOP ? arena_printf(p->arena, "in L%d", around) : "-";
}

const char *inspect_branch_class(const struct inspected *p, uint32_t branch)
{
    static const char *const names[] = {[PTX_TAINT_CLEAN] = "uniform", [PTX_TAINT_P] = "P", [PTX_TAINT_D] = "D"};
    return names[p->taints->of[branch]];
}

/* Why a branch is P or D: from what writes its condition back to what is no register. */
static void add_reasons(const struct inspected *p, struct text_table *t, uint32_t branch)
{
    const struct ptx_function *f = p->function;
    struct ptx_taint_chain chain = ptx_taint_explain(p->arena, f, p->cfg, p->taints, branch);
    for (uint32_t k = 0; k < chain.count; k++) {
        bool ends = k + 1 == chain.count;
        text_table_cell(t, "%s", k ? "" : pc(p, branch));
        text_table_cell(t, "%s", k ? "" : inspect_branch_class(p, branch));
        text_table_cell(t, "%d", f->insts[chain.insts[k]].line);
        text_table_cell(t, "%s", instruction_text(p, chain.insts[k]));
        text_table_cell(t, "%s", ends ? ptx_taint_source(f, &f->insts[chain.insts[k]]) : "");
    }
}

static void print_reasons(const struct inspected *p, FILE *to)
{
    static const char *const titles[] = {"branch at", "class", ">PTX line", "because of", "source", NULL};
    struct text_table t = text_table_start(p->arena, titles);
    for (uint32_t i = 0; i < p->function->inst_count; i++)
        if (ptx_is_conditional_branch(&p->function->insts[i]))
            add_reasons(p, &t, i);
    if (t.cell_count)
        text_table_print(&t, "  ", to);
}

static void add_branch(const struct inspected *p, struct text_table *t, uint32_t i)
{
    const struct ptx_inst *in = &p->function->insts[i];
    uint32_t meet = p->cfg->reconvergence[i];
    struct target_list targets = {.p = p, .text = ""};
    ptx_visit_targets(in, add_target, &targets);
    text_table_cell(t, "%s", pc(p, i));
    text_table_cell(t, "%d", in->line);
    text_table_cell(t, "%s", inspect_source(p, i, i + 1));
    text_table_cell(t, "%s%s%s", in->guard && in->guard_negated ? "!" : "", in->guard ? in->guard->name : "-",
                    in->opcode == PTX_OP_brx ? " (brx)" : "");
    text_table_cell(t, "%s", inspect_branch_class(p, i));
    text_table_cell(t, "%s", targets.text);
    text_table_cell(t, "%s", !in->guard ? "-" : i + 1 < p->function->inst_count ? pc(p, i + 1) : "exit");
    text_table_cell(t, "%s", meet == PTX_NO_RECONVERGENCE ? "exit" : pc(p, meet));
    text_table_cell(t, "%s", loop_effect(p, i));
}

void inspect_print_branches(const struct inspected *p, FILE *to)
{
    static const char *const titles[] = {"branch at", ">PTX line", "source",        "guard", "class",
                                         "taken",     "not taken", "paths meet at", "loop",  NULL};
    struct text_table t = text_table_start(p->arena, titles);
    if (!p->branch_count) {
        fputs("  no conditional branches\n", to);
        return;
    }
    for (uint32_t i = 0; i < p->function->inst_count; i++)
        if (ptx_is_conditional_branch(&p->function->insts[i]))
            add_branch(p, &t, i);
    text_table_print(&t, "  ", to);
    print_reasons(p, to);
}

/* ------------------------------------------------------------- registers */

static void mark_used(void *context, const struct ptx_reg *reg, enum ptx_reg_role role)
{
    (void)role;
    ((bool *)context)[reg->index] = true;
}

/* A module declares ranges of names (.reg .b32 %r<99>); what counts is which of them instructions name. */
void inspect_print_registers(const struct inspected *p, int target_sm, FILE *to)
{
    static const char *const titles[] = {"type", ">registers", ">32-bit units", NULL};
    const struct ptx_function *f = p->function;
    const struct ptx_liveness *l = p->liveness;
    struct text_table t = text_table_start(p->arena, titles);
    uint32_t used[PTX_TYPE_COUNT] = {0}, units[PTX_TYPE_COUNT] = {0};
    bool *is_used = arena_array(p->arena, bool, f->reg_count);
    for (uint32_t i = 0; i < f->inst_count; i++)
        ptx_visit_regs(f, &f->insts[i], mark_used, is_used);
    for (uint32_t r = 0; r < f->reg_count; r++) {
        used[f->regs[r]->type] += is_used[r];
        units[f->regs[r]->type] += is_used[r] ? ptx_reg_units(f->regs[r]) : 0;
    }
    for (int k = 0; k < PTX_TYPE_COUNT; k++) {
        if (!used[k])
            continue;
        text_table_cell(&t, ".%s", ptx_type_name((enum ptx_type)k));
        text_table_cell(&t, "%u", used[k]);
        text_table_cell(&t, "%u", units[k]);
    }
    if (t.cell_count)
        text_table_print(&t, "  ", to);
    fprintf(to, "  most alive at once: %u 32-bit register%s, %u predicate%s\n", l->max_live_32bit,
            l->max_live_32bit == 1 ? "" : "s", l->max_live_pred, l->max_live_pred == 1 ? "" : "s");
    if (l->max_live_32bit) {
        const char *source = inspect_source(p, l->max_at, l->max_at + 1);
        fprintf(to, "  first reached at %s, PTX line %d%s%s: %s\n", pc(p, l->max_at), f->insts[l->max_at].line,
                *source ? ", " : "", source, instruction_text(p, l->max_at));
    }
    target_sm = target_sm ? target_sm : p->module->target_sm;
    struct ptx_register_estimate r = ptx_estimate_registers(f, p->cfg, target_sm);
    fprintf(to,
            "  estimated registers a thread: %u (.target sm_%d; %u alive in order of the text, constants left out, %u "
            "with loads overlapped; %u kept)\n",
            r.registers, target_sm, r.in_order, r.overlapped, r.kept);
}

/* ------------------------------------------------------------- phases */

void inspect_print_phases(const struct inspected *p, const struct machine *m, enum ptx_phase_order order, FILE *to)
{
    static const char *const titles[] = {"PC", "instruction", ">latency", ">phase", "end of phase", ">distance", NULL};
    const struct ptx_function *f = p->function;
    struct text_table t = text_table_start(p->arena, titles);
    struct ptx_phase *phases = arena_array(p->arena, struct ptx_phase, f->inst_count + 1);
    uint32_t *latencies = arena_array(p->arena, uint32_t, f->inst_count + 1);
    uint32_t count = sm_find_phases(f, &m->sm, order, phases, latencies);
    for (uint32_t i = 0; i < f->inst_count; i++) {
        text_table_cell(&t, "%s", pc(p, i));
        text_table_cell(&t, "%s", instruction_text(p, i));
        text_table_cell(&t, "%u", latencies[i]);
        text_table_cell(&t, "%u", phases[i].number);
        text_table_cell(&t, "%s", phases[i].ends ? "yes" : "");
        text_table_cell(&t, "%u", phases[i].distance);
    }
    text_table_print(&t, "  ", to);
    fprintf(to, "  %u phase%s with the latencies of %s\n", count, count == 1 ? "" : "s", m->name);
}
