/* heddle inspect --machine-code: how many machine instructions each of PTX becomes, and what goes into which. */
#include "cli/inspect.h"
#include "cli/text_table.h"
#include "ptx/lowering.h"

static const char *fate(const struct inspected *p, const struct ptx_lowered *l)
{
    const char *name = ptx_fate_name((enum ptx_fate)l->fate);
    if (l->if_taken || l->if_not_taken)
        return arena_printf(p->arena, "predicates: %u where all take it, %u where none does", l->if_taken,
                            l->if_not_taken);
    if (l->laid_out)
        return "no jump: the target comes next";
    if (l->into == PTX_INTO_NOTHING)
        return name;
    return arena_printf(p->arena, "%s into line %d", name, p->function->insts[l->into].line);
}

static const char *text_of(const struct inspected *p, uint32_t i)
{
    int length = ptx_print_inst(NULL, 0, p->function, &p->function->insts[i]);
    char *text = arena_array(p->arena, char, length + 1);
    ptx_print_inst(text, (size_t)length + 1, p->function, &p->function->insts[i]);
    return text;
}

void inspect_print_machine_code(const struct inspected *p, FILE *to)
{
    static const char *const titles[] = {"PC", ">PTX line", ">machine", "instruction", "what becomes of it", NULL};
    const struct ptx_function *f = p->function;
    const struct ptx_lowering *lowering = ptx_lower(p->arena, f);
    struct text_table t = text_table_start(p->arena, titles);
    uint32_t total = 0, vanished = 0;
    for (uint32_t i = 0; i < f->inst_count; i++) {
        const struct ptx_lowered *l = &lowering->insts[i];
        text_table_cell(&t, "0x%04x", i * PTX_INST_BYTES);
        text_table_cell(&t, "%d", f->insts[i].line);
        uint32_t slots = l->laid_out ? 0 : l->slots;
        text_table_cell(&t, "%u", slots);
        text_table_cell(&t, "%s", text_of(p, i));
        text_table_cell(&t, "%s", fate(p, l));
        total += slots;
        vanished += !slots;
    }
    text_table_print(&t, "  ", to);
    fprintf(to, "  %u of PTX are %u of the machine; %u vanish\n", f->inst_count, total, vanished);
}
