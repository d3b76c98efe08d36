/* heddle inspect FILE: what the front end knows of PTX before anything runs. This file: the options, the facts of a
 * function, and the summary; the views are in inspect_views.c, Graphviz and JSON in inspect_export.c, where the PTX
 * comes from in inspect_read.c. */
#include "cli/inspect.h"
#include "base/demangle.h"
#include "cli/text_table.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_UNSUPPORTED = 3 };

int cli_inspect(int argc, char **argv);

static const char help[] =
    "Usage: heddle inspect FILE.ptx|PROGRAM [OPTION...]\n"
    "Shows what is in a PTX file, or in the PTX of a program: a workload's name or the path of an executable.\n"
    "Without an option: a summary, one line per function. '-' is standard input.\n"
    "\n"
    "      --cfg          basic blocks: ranges, source lines, successors, dominators, post-dominators\n"
    "      --loops        natural loops, nested, with begin and end PC, back edges and the loads inside\n"
    "      --branches     conditional branches: targets, where the paths meet again, loops they end; and whether the\n"
    "                     condition depends on thread positions and parameters alone (P), on data (D) or on neither\n"
    "                     (uniform), with the instructions that make it so\n"
    "      --registers    registers by type, and the most that are alive at once\n"
    "      --phases       phases (PAWS): runs of instructions up to the first use of a load; what is left of the phase "
    "at each\n"
    "      --phase-order sources|report   a load's sources are looked at before its destination is entered, or after, "
    "as in the report's code\n"
    "      --machine-code how many machine instructions each becomes, as a real assembler would for sm_90 "
    "(estimated),\n"
    "                     and which vanish into others\n"
    "  -m, --machine NAME whose latencies --phases adds up (default gtx480), and for whose target\n"
    "                     --registers counts (default the program's own)\n"
    "      --kernel NAME  only this function; a C++ name without its parameters will do\n"
    "      --dot          the control-flow graph for Graphviz\n"
    "      --json         everything, as JSON\n"
    "  -h, --help         this text\n"
    "\n"
    "A PC counts 8 bytes per instruction from the function's start. Registers are those alive at once, in 32-bit "
    "units;\n"
    "the real assembler may need more or fewer.\n";

struct options {
    bool cfg, loops, branches, registers, phases, machine_code, dot, json;
    const char *kernel, *file, *machine_name;
    enum ptx_phase_order order;
    struct machine machine; /* where phases are asked for */
};

/* ------------------------------------------------------------- facts of a function */

const char *inspect_kind(const struct inspected *p) { return p->function->is_entry ? "kernel" : "function"; }

typedef void operand_visitor(void *context, const struct ptx_operand *o);

static void visit_operand(const struct ptx_operand *o, operand_visitor *visit, void *context)
{
    visit(context, o);
    for (uint32_t i = 0; i < o->element_count; i++)
        visit_operand(&o->elements[i], visit, context);
}

/* Which functions and shared variables a function uses, through all it calls by name. */
struct usage_walk {
    struct inspected *p;
    struct arena scratch;
    bool *seen; /* per function of the module */
    const struct ptx_function **pending;
    uint32_t pending_count;
    const struct ptx_variable **shared;
    uint32_t shared_count, shared_capacity;
};

static void use_shared(struct usage_walk *w, const struct ptx_variable *v)
{
    for (uint32_t i = 0; i < w->shared_count; i++)
        if (w->shared[i] == v)
            return;
    if (w->shared_count == w->shared_capacity) {
        w->shared_capacity = w->shared_capacity ? w->shared_capacity * 2 : 16;
        const struct ptx_variable **grown = arena_array(&w->scratch, const struct ptx_variable *, w->shared_capacity);
        if (w->shared_count)
            memcpy(grown, w->shared, sizeof *grown * w->shared_count);
        w->shared = grown;
    }
    w->shared[w->shared_count++] = v;
}

static void use_function(struct usage_walk *w, const struct ptx_function *f)
{
    if (w->seen[f->index])
        return;
    w->seen[f->index] = true;
    w->pending[w->pending_count++] = f;
}

static void use_operand(void *context, const struct ptx_operand *o)
{
    struct usage_walk *w = context;
    if (o->kind == PTX_OPERAND_FUNCTION)
        use_function(w, o->function);
    else if (o->kind == PTX_OPERAND_SYMBOL && o->variable->space == PTX_SPACE_SHARED)
        use_shared(w, o->variable);
    else if (o->kind == PTX_OPERAND_TABLE && o->table->kind == PTX_TABLE_CALL)
        for (uint32_t i = 0; i < o->table->count; i++)
            use_function(w, o->table->functions[i]);
}

static void find_usage(struct inspected *p)
{
    struct usage_walk w = {.p = p};
    w.seen = arena_array(&w.scratch, bool, p->module->function_count);
    w.pending = arena_array(&w.scratch, const struct ptx_function *, p->module->function_count);
    use_function(&w, p->function);
    while (w.pending_count) {
        const struct ptx_function *f = w.pending[--w.pending_count];
        for (uint32_t i = 0; i < f->variable_count; i++)
            if (f->variables[i]->space == PTX_SPACE_SHARED)
                use_shared(&w, f->variables[i]);
        for (uint32_t i = 0; i < f->inst_count; i++)
            for (uint32_t k = 0; k < f->insts[i].operand_count; k++)
                visit_operand(&f->insts[i].operands[k], use_operand, &w);
    }
    for (uint32_t i = 0; i < w.shared_count; i++) {
        p->shared_bytes += w.shared[i]->size_bytes;
        p->dynamic_shared |= w.shared[i]->unsized;
    }
    arena_free(&w.scratch);
}

struct inspected *inspect_function(struct arena *a, const struct ptx_module *m, const struct ptx_function *f)
{
    struct inspected *p = arena_new(a, struct inspected);
    *p = (struct inspected){.arena = a, .module = m, .function = f};
    p->cfg = ptx_cfg_build(a, f);
    p->liveness = ptx_liveness_build(a, f, p->cfg);
    p->taints = ptx_taint_build(a, f, p->cfg);
    for (uint32_t i = 0; i < f->variable_count; i++)
        if (f->variables[i]->space == PTX_SPACE_LOCAL)
            p->local_bytes += f->variables[i]->size_bytes;
    for (uint32_t i = 0; i < f->inst_count; i++) {
        p->branch_count += ptx_is_conditional_branch(&f->insts[i]);
        p->call_count += (ptx_flags(&f->insts[i]) & PTX_F_CALL) != 0;
    }
    find_usage(p);
    return p;
}

/* ------------------------------------------------------------- the summary */

static void print_summary(struct inspected *const *list, uint32_t count, struct arena *a)
{
    static const char *const titles[] = {
        "function",    "kind",    ">instructions", ">blocks",     ">loops", ">branches", ">registers",
        ">predicates", ">shared", ">local",        ">parameters", ">calls", NULL};
    struct text_table t = text_table_start(a, titles);
    for (uint32_t i = 0; i < count; i++) {
        const struct inspected *p = list[i];
        const struct ptx_function *f = p->function;
        text_table_cell(&t, "%s", f->name);
        text_table_cell(&t, "%s", inspect_kind(p));
        text_table_cell(&t, "%u", f->inst_count);
        text_table_cell(&t, "%u", p->cfg->block_count);
        text_table_cell(&t, "%u", p->cfg->loop_count);
        text_table_cell(&t, "%u", p->branch_count);
        text_table_cell(&t, "%u", p->liveness->max_live_32bit);
        text_table_cell(&t, "%u", p->liveness->max_live_pred);
        text_table_cell(&t, "%llu%s", (unsigned long long)p->shared_bytes, p->dynamic_shared ? "+dynamic" : "");
        text_table_cell(&t, "%llu", (unsigned long long)p->local_bytes);
        text_table_cell(&t, "%u", f->param_count);
        text_table_cell(&t, "%u", p->call_count);
    }
    text_table_print(&t, "", stdout);
}

static void print_declarations(const struct ptx_module *m)
{
    const char *lead = "declared only: ";
    for (uint32_t i = 0; i < m->function_count; i++)
        if (m->functions[i]->is_declaration) {
            printf("%s%s", lead, m->functions[i]->name);
            lead = ", ";
        }
    if (*lead == ',')
        putchar('\n');
}

static void print_views(const struct options *o, const struct inspected *p)
{
    const struct ptx_function *f = p->function;
    uint32_t blocks = p->cfg->block_count, loops = p->cfg->loop_count;
    printf("%s %s: %u instruction%s, %u block%s, %u loop%s%s\n", inspect_kind(p), f->name, f->inst_count,
           f->inst_count == 1 ? "" : "s", blocks, blocks == 1 ? "" : "s", loops, loops == 1 ? "" : "s",
           p->cfg->reducible ? "" : ", irreducible (a cycle with several entries is not among the loops)");
    if (o->cfg)
        inspect_print_cfg(p, stdout);
    if (o->loops)
        inspect_print_loops(p, stdout);
    if (o->branches)
        inspect_print_branches(p, stdout);
    if (o->registers)
        inspect_print_registers(p, o->machine_name ? (int)o->machine.sm.registers_for_sm : 0, stdout);
    if (o->phases)
        inspect_print_phases(p, &o->machine, o->order, stdout);
    if (o->machine_code)
        inspect_print_machine_code(p, stdout);
}

/* ------------------------------------------------------------- the command */

static int usage(const char *format, const char *word)
{
    fputs("heddle inspect: ", stderr);
    fprintf(stderr, format, word);
    fputs("\nTry 'heddle inspect --help'.\n", stderr);
    return EXIT_USAGE;
}

static int fail(const struct error *e)
{
    fprintf(stderr, "%s\n", e->text);
    if (e->kind == ERROR_UNSUPPORTED || e->kind == ERROR_VERSION)
        return EXIT_UNSUPPORTED;
    return e->kind == ERROR_IO || e->kind == ERROR_NOT_FOUND ? EXIT_USAGE : EXIT_FAILED;
}

static bool unknown_kernel(const struct inspect_modules *modules, const struct options *o, struct arena *a,
                           struct error *e)
{
    uint32_t most = 0, count = 0;
    for (uint32_t k = 0; k < modules->count; k++)
        most += modules->list[k]->function_count;
    const char **names = arena_array(a, const char *, most + 1);
    for (uint32_t k = 0; k < modules->count; k++)
        for (uint32_t i = 0; i < modules->list[k]->function_count; i++)
            if (!modules->list[k]->functions[i]->is_declaration)
                names[count++] = modules->list[k]->functions[i]->name;
    error_set(e, ERROR_NOT_FOUND, "heddle inspect: no function '%s' with a body in %s", o->kernel, o->file);
    const char *near = nearest_name(o->kernel, names, count);
    if (near)
        error_note(e, "did you mean '%s'?", near);
    return false;
}

/* The functions to show, analysed. */
struct chosen {
    struct inspected **list;
    uint32_t count;
};

static void choose(struct chosen *c, struct arena *a, const struct ptx_module *m, const char *kernel)
{
    struct inspected **grown = arena_array(a, struct inspected *, c->count + m->function_count + 1);
    if (c->count)
        memcpy(grown, c->list, c->count * sizeof *grown);
    c->list = grown;
    for (uint32_t i = 0; i < m->function_count; i++) {
        const struct ptx_function *f = m->functions[i];
        if (!f->is_declaration && (!kernel || demangled_is(f->name, kernel)))
            c->list[c->count++] = inspect_function(a, m, f);
    }
}

static void show_module(const struct options *o, const struct ptx_module *m, struct inspected **list, uint32_t count,
                        struct arena *a)
{
    bool inside = *m->source.name == '<' && strcmp(o->file, "-");
    printf("%s%s%s: PTX %d.%d for %s, %d-bit addresses\n", o->file, inside ? " " : "", inside ? m->source.name : "",
           m->version_major, m->version_minor, m->target, m->address_size);
    if (count)
        print_summary(list, count, a);
    print_declarations(m);
}

static void show(const struct options *o, const struct inspect_modules *modules, const struct chosen *c,
                 struct arena *a)
{
    if (o->json) {
        inspect_print_json(c->list, c->count, o->file, stdout);
        return;
    }
    for (uint32_t i = 0; i < c->count && o->dot; i++)
        inspect_print_dot(c->list[i], stdout);
    if (o->dot)
        return;
    if (o->cfg || o->loops || o->branches || o->registers || o->phases || o->machine_code) {
        for (uint32_t i = 0; i < c->count; i++) {
            if (i)
                putchar('\n');
            print_views(o, c->list[i]);
        }
        return;
    }
    for (uint32_t k = 0, first = 0; k < modules->count; k++) {
        uint32_t end = first;
        while (end < c->count && c->list[end]->module == modules->list[k])
            end++;
        show_module(o, modules->list[k], c->list + first, end - first, a);
        first = end;
    }
}

static int inspect(struct options *o)
{
    struct error e = {0};
    struct inspect_modules modules;
    if ((o->phases || o->machine_name) &&
        !machine_load(&o->machine, o->machine_name ? o->machine_name : "gtx480", NULL, 0, &e))
        return fail(&e);
    bool ok = inspect_read(&modules, o->file, &e);
    struct arena a = {0};
    struct chosen c = {0};
    for (uint32_t i = 0; ok && i < modules.count; i++)
        choose(&c, &a, modules.list[i], o->kernel);
    if (ok && o->kernel && !c.count)
        ok = unknown_kernel(&modules, o, &a, &e);
    if (ok)
        show(o, &modules, &c, &a);
    int status = ok ? EXIT_DONE : fail(&e);
    arena_free(&a);
    inspect_forget(&modules);
    if (fflush(stdout) || ferror(stdout)) {
        fprintf(stderr, "heddle inspect: cannot write: %s\n", strerror(errno));
        status = EXIT_FAILED;
    }
    return status;
}

enum {
    OPT_CFG = 256,
    OPT_LOOPS,
    OPT_BRANCHES,
    OPT_REGISTERS,
    OPT_PHASES,
    OPT_ORDER,
    OPT_MACHINE_CODE,
    OPT_KERNEL,
    OPT_DOT,
    OPT_JSON
};
static const struct option option_table[] = {
    {"cfg", no_argument, NULL, OPT_CFG},
    {"loops", no_argument, NULL, OPT_LOOPS},
    {"branches", no_argument, NULL, OPT_BRANCHES},
    {"registers", no_argument, NULL, OPT_REGISTERS},
    {"phases", no_argument, NULL, OPT_PHASES},
    {"phase-order", required_argument, NULL, OPT_ORDER},
    {"machine-code", no_argument, NULL, OPT_MACHINE_CODE},
    {"machine", required_argument, NULL, 'm'},
    {"kernel", required_argument, NULL, OPT_KERNEL},
    {"dot", no_argument, NULL, OPT_DOT},
    {"json", no_argument, NULL, OPT_JSON},
    {"help", no_argument, NULL, 'h'},
    {0},
};

/* Returns -1 to go on, else the exit code. */
static int parse_options(int argc, char **argv, struct options *o)
{
    int c;
    optind = 0; /* start over: the command line in front of this one was read by getopt too */
    opterr = 0;
    while ((c = getopt_long(argc, argv, ":m:h", option_table, NULL)) != -1) {
        switch (c) {
        case OPT_CFG: o->cfg = true; break;
        case OPT_LOOPS: o->loops = true; break;
        case OPT_BRANCHES: o->branches = true; break;
        case OPT_REGISTERS: o->registers = true; break;
        case OPT_KERNEL: o->kernel = optarg; break;
        case OPT_DOT: o->dot = true; break;
        case OPT_JSON: o->json = true; break;
        case OPT_PHASES: o->phases = true; break;
        case OPT_MACHINE_CODE: o->machine_code = true; break;
        case OPT_ORDER:
            if (strcmp(optarg, "sources") && strcmp(optarg, "report"))
                return usage("--phase-order is sources or report, not '%s'", optarg);
            o->order = strcmp(optarg, "report") ? PHASE_SOURCES_FIRST : PHASE_DESTINATION_FIRST;
            break;
        case 'm': o->machine_name = optarg; break;
        case 'h': fputs(help, stdout); return EXIT_DONE;
        case ':': return usage("option '%s' needs a value", argv[optind - 1]);
        default: return usage("unknown option '%s'", argv[optind - 1]);
        }
    }
    if (optind == argc)
        return usage("%s", "which file?");
    if (optind + 1 < argc)
        return usage("one file at a time; what is '%s'?", argv[optind + 1]);
    if (o->dot && o->json)
        return usage("%s", "--dot and --json exclude each other");
    if (o->machine_name && !o->phases && !o->registers)
        return usage("%s", "--machine is for --phases and --registers");
    o->file = argv[optind];
    return -1;
}

int cli_inspect(int argc, char **argv)
{
    struct options o = {0};
    int status = parse_options(argc, argv, &o);
    return status >= 0 ? status : inspect(&o);
}
