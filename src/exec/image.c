/* Modules become an image: linked by name, placed in device memory, decoded. Kernels may be left undecoded until they are asked for: a program's fat binary often holds hundreds, of which
 * a run uses a few. */
#include "exec/image_internal.h"
#include "exec/device_calls.h"

#include "base/checked.h"
#include "base/out_of_memory.h"
#include "ptx/cfg.h"
#include "ptx/registers.h"

#include <stdlib.h>
#include <string.h>

#define FUNCTION_ADDRESS_TAG 0x7f00000000000000ull

void visit_operands(const struct ptx_operand *operands, uint32_t count, operand_visitor *visit, void *context)
{
    for (uint32_t i = 0; i < count; i++) {
        visit(context, &operands[i]);
        if (operands[i].element_count)
            visit_operands(operands[i].elements, operands[i].element_count, visit, context);
    }
}

/* Functions by name */

struct exec_function *image_definition(const struct exec_image *image, const struct ptx_module *module, const char *name)
{
    struct exec_function *found = NULL;
    for (struct exec_function *f = strmap_get(&image->by_name, name, strlen(name)); f; f = f->next_of_name) {
        if (f->module == module)
            return f;
        if (f->ptx->linkage == PTX_LINK_INTERNAL)
            continue;
        if (!found || found->ptx->linkage == PTX_LINK_WEAK)
            found = f;
    }
    return found;
}

struct exec_function *exec_image_function(const struct exec_image *image, const char *name)
{
    return image_definition(image, NULL, name) ? image_definition(image, NULL, name)
                                               : image->module_count ? image_definition(image, image->modules[0], name) : NULL;
}

const struct exec_symbol *exec_image_symbol(const struct exec_image *image, const char *name)
{
    const struct exec_symbol *found = NULL;
    for (uint32_t i = 0; i < image->symbol_count; i++)
        if (strcmp(image->symbols[i].name, name) == 0 && (!found || found->variable->linkage == PTX_LINK_INTERNAL))
            found = &image->symbols[i];
    return found;
}

const struct exec_function *exec_image_function_at(const struct exec_image *image, uint64_t address)
{
    uint64_t index = (address ^ FUNCTION_ADDRESS_TAG) / 16 - 1;
    return (address & 15) == 0 && index < image->function_count ? image->functions[index] : NULL;
}

static void add_name(struct exec_image *image, struct exec_function *f)
{
    struct exec_function *last = strmap_get(&image->by_name, f->name, strlen(f->name));
    if (!last) {
        strmap_put(&image->by_name, f->name, strlen(f->name), f);
        return;
    }
    while (last->next_of_name)
        last = last->next_of_name;
    last->next_of_name = f;
}

static bool collect_functions(struct exec_image *image, struct error *e)
{
    uint32_t most = 0;
    for (uint32_t m = 0; m < image->module_count; m++)
        most += image->modules[m]->function_count;
    image->functions = arena_array(&image->arena, struct exec_function *, most + 1);
    for (uint32_t m = 0; m < image->module_count; m++) {
        const struct ptx_module *module = image->modules[m];
        for (uint32_t i = 0; i < module->function_count; i++) {
            const struct ptx_function *ptx = module->functions[i];
            if (ptx->is_declaration)
                continue;
            const struct exec_function *other = image_definition(image, NULL, ptx->name);
            if (other && other->ptx->linkage != PTX_LINK_WEAK && ptx->linkage != PTX_LINK_WEAK && ptx->linkage != PTX_LINK_INTERNAL)
                return error_at(e, ERROR_INVALID, &module->source, ptx->line, ptx->column, "function %s is defined in more than one module", ptx->name);
            struct exec_function *f = arena_new(&image->arena, struct exec_function);
            *f = (struct exec_function){ .name = ptx->name, .ptx = ptx, .module = module, .image = image };
            f->index = image->function_count;
            f->inst_count = ptx->inst_count;
            image->functions[image->function_count] = f;
            add_name(image, f);
            f->address = FUNCTION_ADDRESS_TAG ^ (uint64_t)(image->function_count + 1) * 16;
            image->function_count++;
        }
    }
    return true;
}

/* The call graph: what a kernel needs includes what the functions need that it may call. */

struct call_walk {
    struct exec_image *image;
    struct exec_function *function;
};

static void note_address_taken(void *context, const struct ptx_operand *o)
{
    struct call_walk *w = context;
    if (o->kind != PTX_OPERAND_FUNCTION)
        return;
    struct exec_function *f = image_definition(w->image, w->function->module, o->function->name);
    if (f)
        f->address_taken = true;
}

static const struct ptx_operand *callee_of(const struct ptx_inst *in)
{
    for (uint32_t i = 0; i < in->operand_count; i++)
        if (in->operands[i].kind != PTX_OPERAND_LIST)
            return &in->operands[i];
    return NULL;
}

static void note_calls(struct exec_image *image, struct exec_function *f)
{
    struct call_walk w = { image, f };
    for (uint32_t i = 0; i < f->ptx->inst_count; i++) {
        const struct ptx_inst *in = &f->ptx->insts[i];
        f->uses_alloca |= in->opcode == PTX_OP_alloca;
        if (!(ptx_flags(in) & PTX_F_CALL)) {
            visit_operands(in->operands, in->operand_count, note_address_taken, &w);
            continue;
        }
        f->makes_calls = true;
        const struct ptx_operand *callee = callee_of(in);
        f->calls_indirectly |= callee && callee->kind != PTX_OPERAND_FUNCTION;
    }
}

static void note_addresses_in_data(struct exec_image *image)
{
    for (uint32_t m = 0; m < image->module_count; m++)
        for (uint32_t i = 0; i < image->modules[m]->variable_count; i++)
            for (uint32_t r = 0; r < image->modules[m]->variables[i]->relocation_count; r++) {
                struct exec_function *f = image_definition(image, image->modules[m], image->modules[m]->variables[i]->relocations[r].symbol);
                if (f)
                    f->address_taken = true;
            }
}

enum visit_state { UNSEEN, OPEN, CLOSED };
struct need {
    enum visit_state state;
    uint32_t registers;
    uint64_t stack;
    bool recursive;
};

static uint32_t index_of(const struct exec_function *f)
{
    return (uint32_t)((f->address ^ FUNCTION_ADDRESS_TAG) / 16 - 1);
}

static void add_needs(struct need *needs, const struct exec_image *image, uint32_t at);

static void add_callee(struct need *needs, const struct exec_image *image, struct need *own,
                       const struct exec_function *callee, uint64_t *deepest)
{
    struct need *n = &needs[index_of(callee)];
    if (n->state == OPEN) { /* a cycle: one level of each function on it is counted */
        own->recursive = true;
        return;
    }
    add_needs(needs, image, index_of(callee));
    own->recursive |= n->recursive;
    if (n->registers > own->registers)
        own->registers = n->registers;
    if (n->stack > *deepest)
        *deepest = n->stack;
}

static void add_needs(struct need *needs, const struct exec_image *image, uint32_t at)
{
    struct need *own = &needs[at];
    if (own->state != UNSEEN)
        return;
    const struct exec_function *f = image->functions[at];
    own->state = OPEN;
    own->registers = f->register_count;
    uint64_t deepest = 0;
    for (uint32_t i = 0; f->makes_calls && i < f->ptx->inst_count; i++) {
        const struct ptx_operand *callee = ptx_flags(&f->ptx->insts[i]) & PTX_F_CALL ? callee_of(&f->ptx->insts[i]) : NULL;
        if (!callee || callee->kind != PTX_OPERAND_FUNCTION)
            continue;
        const struct exec_function *target = image_definition(image, f->module, callee->function->name);
        if (target)
            add_callee(needs, image, own, target, &deepest);
    }
    for (uint32_t i = 0; f->calls_indirectly && i < image->function_count; i++)
        if (image->functions[i]->address_taken)
            add_callee(needs, image, own, image->functions[i], &deepest);
    own->stack = capped_add(f->local_bytes, deepest);
    own->state = CLOSED;
}

static void sum_up_needs(struct exec_image *image)
{
    struct need *needs = calloc(image->function_count + 1, sizeof *needs);
    if (!needs)
        out_of_memory();
    for (uint32_t i = 0; i < image->function_count; i++) {
        add_needs(needs, image, i);
    }
    for (uint32_t i = 0; i < image->function_count; i++) {
        image->functions[i]->register_count = needs[i].registers;
        image->functions[i]->stack_bytes = needs[i].stack;
        image->functions[i]->recursive = needs[i].recursive;
    }
    free(needs);
}

/* Special registers that are read get a place in each warp's bank of them. */
static void note_special(void *context, const struct ptx_operand *o)
{
    struct exec_image *image = context;
    if (o->kind == PTX_OPERAND_SPECIAL && o->special < PTX_SREG_CLOCK && !image->special_slot[o->special])
        image->special_slot[o->special] = (uint8_t)++image->special_count;
}

static bool build(struct exec_image *image, struct error *e)
{
    if (!collect_functions(image, e))
        return false;
    for (uint32_t i = 0; i < image->function_count; i++)
        note_calls(image, image->functions[i]);
    note_addresses_in_data(image);
    for (uint32_t f = 0; f < image->function_count; f++)
        for (uint32_t i = 0; i < image->functions[f]->ptx->inst_count; i++)
            visit_operands(image->functions[f]->ptx->insts[i].operands, image->functions[f]->ptx->insts[i].operand_count, note_special, image);
    return layout_image(image, e);
}

/* Registers in their places; what is left to do is to decode it. */
static void measure(struct exec_image *image, struct exec_function *f)
{
    struct arena scratch = { 0 };
    f->cfg = ptx_cfg_build(&image->arena, f->ptx);
    struct ptx_liveness *live = ptx_liveness_build(&scratch, f->ptx, f->cfg);
    int target_sm = image->registers_for_sm ? image->registers_for_sm : f->module->target_sm;
    f->register_count = ptx_estimate_registers(f->ptx, f->cfg, target_sm).registers;
    registers_place(image, f, live);
    arena_free(&scratch);
}

/* What may run in a launch of a kernel: what it calls, and if anything of that calls through a pointer, all functions whose address is taken. */
static void reach(const struct exec_image *image, const struct exec_function *f, bool *runs)
{
    if (runs[f->index])
        return;
    runs[f->index] = true;
    for (uint32_t i = 0; f->makes_calls && i < f->ptx->inst_count; i++) {
        const struct ptx_operand *callee = ptx_flags(&f->ptx->insts[i]) & PTX_F_CALL ? callee_of(&f->ptx->insts[i]) : NULL;
        const struct exec_function *target = callee && callee->kind == PTX_OPERAND_FUNCTION ? image_definition(image, f->module, callee->function->name) : NULL;
        if (target && !device_launch_call_find(target->name))
            reach(image, target, runs);
    }
    for (uint32_t i = 0; f->calls_indirectly && i < image->function_count; i++)
        if (image->functions[i]->address_taken && !image->functions[i]->ptx->is_entry)
            reach(image, image->functions[i], runs);
}

static void find_reach(struct exec_image *image, struct exec_function *kernel)
{
    if (kernel->runs || !kernel->makes_calls)
        return;
    kernel->runs = arena_array(&image->arena, bool, image->function_count);
    reach(image, kernel, kernel->runs);
}

bool exec_may_run(const struct exec_function *kernel, const struct exec_function *f)
{
    return f == kernel || (kernel->runs && kernel->runs[f->index]);
}

/* NULL: every kernel. Functions that no kernel comes to, as linked libraries are full of, need not be right; without any kernel, all must. */
static bool is_needed(const struct exec_image *image, const struct exec_function *f, const struct exec_function *kernel)
{
    if (kernel)
        return exec_may_run(kernel, f);
    bool any = false;
    for (uint32_t i = 0; i < image->function_count; i++)
        if (image->functions[i]->ptx->is_entry) {
            any = true;
            if (exec_may_run(image->functions[i], f))
                return true;
        }
    return !any || image->module_count == 1;
}

static bool prepare(struct exec_image *image, const struct exec_function *kernel, struct error *e)
{
    for (uint32_t i = 0; i < image->function_count; i++)
        if (image->functions[i]->ptx->is_entry && (!kernel || kernel == image->functions[i]))
            find_reach(image, image->functions[i]);
    for (uint32_t i = 0; i < image->function_count; i++)
        if (is_needed(image, image->functions[i], kernel) && !image->functions[i]->cfg)
            measure(image, image->functions[i]);
    for (uint32_t i = 0; i < image->function_count; i++) {
        struct exec_function *f = image->functions[i];
        if (is_needed(image, f, kernel) && !f->code && !decode_function(image, f, e)) {
            free(f->constants); /* the next that needs it is told the same */
            f->constants = NULL;
            f->code = NULL;
            return false;
        }
    }
    sum_up_needs(image);
    return true;
}

bool exec_image_prepare(struct exec_image *image, struct exec_function *kernel, struct error *e)
{
    if (!kernel->prepared)
        kernel->prepared = prepare(image, kernel, e);
    return kernel->prepared;
}

bool exec_image_prepare_all(struct exec_image *image, struct error *e)
{
    if (!prepare(image, NULL, e))
        return false;
    for (uint32_t i = 0; i < image->function_count; i++)
        image->functions[i]->prepared = true;
    return true;
}

struct exec_image *exec_image_create_lazy(struct memory *memory, struct ptx_module **modules, uint32_t count, struct error *e)
{
    struct exec_image *image = calloc(1, sizeof *image);
    if (!image)
        out_of_memory();
    image->memory = memory;
    image->id = memory->next_serial++;
    image->modules = arena_array(&image->arena, struct ptx_module *, count + 1);
    memcpy(image->modules, modules, count * sizeof *modules);
    image->module_count = count;
    if (build(image, e))
        return image;
    exec_image_destroy(image);
    return NULL;
}

struct exec_image *exec_image_create(struct memory *memory, struct ptx_module **modules, uint32_t count, struct error *e)
{
    struct exec_image *image = exec_image_create_lazy(memory, modules, count, e);
    if (image && exec_image_prepare_all(image, e))
        return image;
    exec_image_destroy(image);
    return NULL;
}

void exec_image_destroy(struct exec_image *image)
{
    if (!image)
        return;
    for (uint32_t i = 0; i < image->symbol_count; i++)
        memory_release(image->memory, image->symbols[i].address);
    for (uint32_t i = 0; i < image->function_count; i++)
        free(image->functions[i]->constants);
    if (image->layout)
        free(image->layout->places);
    strmap_free(&image->by_name);
    for (uint32_t i = 0; i < image->module_count; i++)
        ptx_module_free(image->modules[i]);
    arena_free(&image->arena);
    free(image);
}
