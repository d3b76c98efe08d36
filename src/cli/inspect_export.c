/* `heddle inspect --dot` and `--json`: the same facts for other programs. */
#include "cli/inspect.h"
#include "ptx/registers.h"

#include <string.h>

/* ------------------------------------------------------------- Graphviz */

static void dot_text(const char *s, FILE *to)
{
    for (; *s; s++) {
        if (strchr("\"\\", *s))
            fputc('\\', to);
        fputc(*s, to);
    }
}

static void dot_block(const struct inspected *p, uint32_t b, FILE *to)
{
    const struct ptx_block *block = &p->cfg->blocks[b];
    char text[400];
    fprintf(to, "  B%u [label=\"B%u  0x%04x-0x%04x", b, b, block->first * PTX_INST_BYTES,
            (block->end - 1) * PTX_INST_BYTES);
    const char *source = inspect_source(p, block->first, block->end);
    if (*source) {
        fputs("  ", to);
        dot_text(source, to);
    }
    fputs("\\l", to);
    for (uint32_t i = block->first; i < block->end; i++) {
        ptx_print_inst(text, sizeof text, p->function, &p->function->insts[i]);
        dot_text(text, to);
        fputs("\\l", to);
    }
    fprintf(to, "\"%s];\n", block->reachable ? "" : ", style=dotted");
    for (uint32_t i = 0; i < block->succ_count; i++) {
        int32_t l = block->loop;
        while (l != PTX_NO_LOOP && p->cfg->loops[l].header_block != block->succs[i])
            l = p->cfg->loops[l].parent;
        fprintf(to, "  B%u -> B%u%s;\n", b, block->succs[i], l != PTX_NO_LOOP ? " [style=bold, constraint=false]" : "");
    }
    if (block->exits)
        fprintf(to, "  B%u -> exit;\n", b);
}

void inspect_print_dot(const struct inspected *p, FILE *to)
{
    fputs("digraph \"", to);
    dot_text(p->function->name, to);
    fputs("\" {\n  node [shape=box, fontname=monospace, fontsize=10];\n  exit [shape=circle];\n", to);
    for (uint32_t b = 0; b < p->cfg->block_count; b++)
        dot_block(p, b, to);
    fputs("}\n", to);
}

/* ------------------------------------------------------------- JSON */

static void json_text(const char *s, FILE *to)
{
    fputc('"', to);
    for (; *s; s++) {
        unsigned char c = (unsigned char)*s;
        if (c == '"' || c == '\\')
            fprintf(to, "\\%c", c);
        else if (c < 32)
            fprintf(to, "\\u%04x", c);
        else
            fputc(c, to);
    }
    fputc('"', to);
}

/* A program counter, or null where there is none. */
static void json_pc(const char *key, uint32_t inst, FILE *to)
{
    if (inst == UINT32_MAX)
        fprintf(to, "\"%s\": null", key);
    else
        fprintf(to, "\"%s\": %u", key, inst * PTX_INST_BYTES);
}

static void json_index(const char *key, int64_t index, FILE *to)
{
    if (index < 0 || index == UINT32_MAX)
        fprintf(to, "\"%s\": null", key);
    else
        fprintf(to, "\"%s\": %lld", key, (long long)index);
}

static void json_list(const char *key, const uint32_t *list, uint32_t count, FILE *to)
{
    fprintf(to, "\"%s\": [", key);
    for (uint32_t i = 0; i < count; i++)
        fprintf(to, "%s%u", i ? ", " : "", list[i]);
    fputc(']', to);
}

static void json_place(const struct inspected *p, uint32_t first, uint32_t end, FILE *to)
{
    fprintf(to, ", \"ptx_line\": %d, \"source\": ", p->function->insts[first].line);
    json_text(inspect_source(p, first, end), to);
}

static void json_block(const struct inspected *p, uint32_t b, FILE *to)
{
    const struct ptx_block *block = &p->cfg->blocks[b];
    fputs("{", to);
    json_pc("begin_pc", block->first, to);
    fputs(", ", to);
    json_pc("end_pc", block->end - 1, to);
    json_place(p, block->first, block->end, to);
    fprintf(to, ", \"reachable\": %s, \"exits\": %s, ", block->reachable ? "true" : "false",
            block->exits ? "true" : "false");
    json_list("successors", block->succs, block->succ_count, to);
    fputs(", ", to);
    json_index("dominator", p->cfg->idom[b], to);
    fputs(", ", to);
    json_index("post_dominator", p->cfg->ipdom[b], to);
    fputs(", ", to);
    json_index("loop", block->loop, to);
    fputs("}", to);
}

static void json_loop(const struct inspected *p, uint32_t i, FILE *to)
{
    const struct ptx_loop *l = &p->cfg->loops[i];
    fputs("{", to);
    json_pc("begin_pc", l->begin, to);
    fputs(", ", to);
    json_pc("end_pc", l->end - 1, to);
    json_place(p, l->begin, l->end, to);
    fprintf(to, ", \"depth\": %u, ", l->depth);
    json_index("parent", l->parent, to);
    fprintf(to, ", \"header\": %u, ", l->header_block);
    json_list("latches", l->latches, l->latch_count, to);
    fputs(", ", to);
    json_list("blocks", l->blocks, l->block_count, to);
    fputs("}", to);
}

struct json_targets {
    const struct inspected *p;
    FILE *to;
    uint32_t count;
};

static void json_target(void *context, uint32_t target)
{
    struct json_targets *t = context;
    if (target < t->p->function->inst_count)
        fprintf(t->to, "%s%u", t->count++ ? ", " : "", target * PTX_INST_BYTES);
    else
        fprintf(t->to, "%snull", t->count++ ? ", " : "");
}

static void json_branch(const struct inspected *p, uint32_t i, FILE *to)
{
    struct json_targets t = {.p = p, .to = to};
    fputs("{", to);
    json_pc("pc", i, to);
    json_place(p, i, i + 1, to);
    fputs(", \"targets\": [", to);
    ptx_visit_targets(&p->function->insts[i], json_target, &t);
    fputs("], ", to);
    json_pc("reconvergence_pc", p->cfg->reconvergence[i], to);
    fputs(", ", to);
    json_index("ends_loop", inspect_loop_ended(p, i), to);
    fputs(", ", to);
    json_index("leaves_loop", inspect_loop_left(p, i), to);
    fprintf(to, ", \"class\": \"%s\", \"because\": [", inspect_branch_class(p, i));
    struct ptx_taint_chain chain = ptx_taint_explain(p->arena, p->function, p->cfg, p->taints, i);
    for (uint32_t k = 0; k < chain.count; k++) {
        fputs(k ? ", {" : "{", to);
        json_pc("pc", chain.insts[k], to);
        json_place(p, chain.insts[k], chain.insts[k] + 1, to);
        fputs("}", to);
    }
    fputs("]}", to);
}

static void json_function(const struct inspected *p, FILE *to)
{
    const struct ptx_function *f = p->function;
    fputs("    {\"name\": ", to);
    json_text(f->name, to);
    fprintf(to,
            ", \"kind\": \"%s\", \"instructions\": %u, \"parameters\": %u, \"parameter_bytes\": %u, \"calls\": %u,\n",
            inspect_kind(p), f->inst_count, f->param_count, f->param_bytes, p->call_count);
    fprintf(to, "     \"shared_bytes\": %llu, \"dynamic_shared\": %s, \"local_bytes\": %llu, \"reducible\": %s,\n",
            (unsigned long long)p->shared_bytes, p->dynamic_shared ? "true" : "false",
            (unsigned long long)p->local_bytes, p->cfg->reducible ? "true" : "false");
    fprintf(to, "     \"registers\": {\"max_live_32bit\": %u, \"max_live_predicates\": %u, \"estimated\": %u, ",
            p->liveness->max_live_32bit, p->liveness->max_live_pred,
            ptx_estimate_registers(f, p->cfg, p->module->target_sm).registers);
    json_pc("at_pc", p->liveness->max_at, to);
    fputs("},\n     \"blocks\": [", to);
    for (uint32_t i = 0; i < p->cfg->block_count; i++) {
        fputs(i ? ",\n       " : "\n       ", to);
        json_block(p, i, to);
    }
    fputs("],\n     \"loops\": [", to);
    for (uint32_t i = 0; i < p->cfg->loop_count; i++) {
        fputs(i ? ",\n       " : "\n       ", to);
        json_loop(p, i, to);
    }
    fputs("],\n     \"branches\": [", to);
    for (uint32_t i = 0, count = 0; i < f->inst_count; i++) {
        if (!ptx_is_conditional_branch(&f->insts[i]))
            continue;
        fputs(count++ ? ",\n       " : "\n       ", to);
        json_branch(p, i, to);
    }
    fputs("]}", to);
}

void inspect_print_json(struct inspected *const *list, uint32_t count, const char *file, FILE *to)
{
    fputs("{\"file\": ", to);
    json_text(file, to);
    if (count) {
        const struct ptx_module *m = list[0]->module;
        fprintf(to, ", \"ptx_version\": \"%d.%d\", \"target\": \"%s\", \"address_size\": %d", m->version_major,
                m->version_minor, m->target, m->address_size);
    }
    fputs(",\n \"functions\": [", to);
    for (uint32_t i = 0; i < count; i++) {
        fputs(i ? ",\n" : "\n", to);
        json_function(list[i], to);
    }
    fputs("]}\n", to);
}
