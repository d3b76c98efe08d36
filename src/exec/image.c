/* Modules become an image: linked by name, placed in device memory, decoded. Kernels may be left undecoded until they
 * are asked for: a program's fat binary often holds hundreds, of which a run uses a few. */
#include "exec/image_internal.h"

#include "base/checked.h"
#include "base/out_of_memory.h"
#include "exec/device_calls.h"
#include "ptx/cfg.h"
#include "ptx/registers.h"

#include <stdlib.h>
#include <string.h>

/* Functions by name */

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
            if (other && other->ptx->linkage != PTX_LINK_WEAK && ptx->linkage != PTX_LINK_WEAK &&
                ptx->linkage != PTX_LINK_INTERNAL)
                return error_at(e, ERROR_INVALID, &module->source, ptx->line, ptx->column,
                                "function %s is defined in more than one module", ptx->name);
            struct exec_function *f = arena_new(&image->arena, struct exec_function);
            *f = (struct exec_function){.name = ptx->name, .ptx = ptx, .module = module, .image = image};
            f->index = image->function_count;
            f->inst_count = ptx->inst_count;
            image->functions[image->function_count] = f;
            add_name(image, f);
            f->address = image_function_address(image->function_count);
            f->is_runtime = device_launch_call_find(f->name) != NULL;
            image->function_count++;
        }
    }
    return true;
}

/* Calls, for the call graph (call_graph.c) */

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

static void note_calls(struct exec_image *image, struct exec_function *f)
{
    struct call_walk w = {image, f};
    for (uint32_t i = 0; i < f->ptx->inst_count; i++) {
        const struct ptx_inst *in = &f->ptx->insts[i];
        f->uses_alloca |= in->opcode == PTX_OP_alloca;
        if (!(ptx_flags(in) & PTX_F_CALL)) {
            visit_operands(in->operands, in->operand_count, note_address_taken, &w);
            continue;
        }
        f->makes_calls = true;
        const struct ptx_operand *callee = call_graph_callee(in);
        f->calls_indirectly |= callee && callee->kind != PTX_OPERAND_FUNCTION;
    }
}

static void note_addresses_in_data(struct exec_image *image)
{
    for (uint32_t m = 0; m < image->module_count; m++)
        for (uint32_t i = 0; i < image->modules[m]->variable_count; i++)
            for (uint32_t r = 0; r < image->modules[m]->variables[i]->relocation_count; r++) {
                struct exec_function *f =
                    image_definition(image, image->modules[m], image->modules[m]->variables[i]->relocations[r].symbol);
                if (f)
                    f->address_taken = true;
            }
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
            visit_operands(image->functions[f]->ptx->insts[i].operands,
                           image->functions[f]->ptx->insts[i].operand_count, note_special, image);
    return layout_image(image, e);
}

/* Registers in their places; what is left to do is to decode it. */
static void measure(struct exec_image *image, struct exec_function *f)
{
    struct arena scratch = {0};
    f->cfg = ptx_cfg_build(&image->arena, f->ptx);
    struct ptx_liveness *live = ptx_liveness_build(&scratch, f->ptx, f->cfg);
    int target_sm = image->registers_for_sm ? image->registers_for_sm : f->module->target_sm;
    const struct ptx_function *written = f->ptx->written ? f->ptx->written : f->ptx; /* what the estimate knows of */
    const struct ptx_cfg *cfg = f->ptx->written ? ptx_cfg_build(&scratch, written) : f->cfg;
    f->register_count = ptx_estimate_registers(written, cfg, target_sm).registers;
    registers_place(image, f, live);
    arena_free(&scratch);
}

/* kernel NULL: every one. Functions that no kernel comes to, as linked libraries are full of, need not be right;
 * without any kernel, all must. */
static bool prepare(struct exec_image *image, const struct exec_function *kernel, struct error *e)
{
    bool *needed = call_graph_needed(image, kernel), good = true;
    for (uint32_t i = 0; i < image->function_count; i++)
        if (needed[i] && !image->functions[i]->cfg)
            measure(image, image->functions[i]);
    for (uint32_t i = 0; good && i < image->function_count; i++) {
        struct exec_function *f = image->functions[i];
        if (needed[i] && !f->code && !decode_function(image, f, e)) {
            free(f->constants); /* the next that needs it gets the same error */
            f->constants = NULL;
            f->code = NULL;
            good = false;
        }
    }
    free(needed);
    if (good)
        call_graph_sum_up(image);
    return good;
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

struct exec_image *exec_image_create_lazy(struct memory *memory, struct ptx_module **modules, uint32_t count,
                                          struct error *e)
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

struct exec_image *exec_image_create(struct memory *memory, struct ptx_module **modules, uint32_t count,
                                     struct error *e)
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
