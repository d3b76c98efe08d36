/* The call graph of an image: what may run in a launch of a kernel, and what that needs of registers and stack. A graph
 * may be as deep as it has functions: the walks keep their own stacks. */
#include "exec/device_calls.h"
#include "exec/image_internal.h"

#include "base/checked.h"
#include "base/out_of_memory.h"

#include <stdlib.h>
#include <string.h>

/* Functions that a call through a pointer may come to. */
struct taken {
    const struct exec_function **list;
    uint32_t count;
};

static void *room(size_t count, size_t bytes)
{
    void *p = calloc(count + 1, bytes);
    if (!p)
        out_of_memory();
    return p;
}

static struct taken find_taken(const struct exec_image *image)
{
    struct taken t = {.list = room(image->function_count, sizeof *t.list)};
    for (uint32_t i = 0; i < image->function_count; i++)
        if (image->functions[i]->address_taken)
            t.list[t.count++] = image->functions[i];
    return t;
}

const struct ptx_operand *call_graph_callee(const struct ptx_inst *in)
{
    for (uint32_t i = 0; i < in->operand_count; i++)
        if (in->operands[i].kind != PTX_OPERAND_LIST)
            return &in->operands[i];
    return NULL;
}

/* What the instruction calls by name; NULL: nothing that is defined here. */
static const struct exec_function *called_by(const struct exec_image *image, const struct exec_function *f,
                                             uint32_t inst)
{
    const struct ptx_inst *in = &f->ptx->insts[inst];
    const struct ptx_operand *callee = ptx_flags(in) & PTX_F_CALL ? call_graph_callee(in) : NULL;
    bool named = callee && callee->kind == PTX_OPERAND_FUNCTION;
    return named ? image_definition(image, f->module, callee->function->name) : NULL;
}

/* ------------------------------------------------------------- what runs */

/* Functions that are known to run and were not looked at yet. */
struct worklist {
    const struct exec_function **list;
    uint32_t count;
    bool *runs;
};

static void add(struct worklist *w, const struct exec_function *f)
{
    if (w->runs[f->index])
        return;
    w->runs[f->index] = true;
    w->list[w->count++] = f;
}

/* Marks what the functions in the list may come to: what they call, and if anything of that calls through a pointer,
 * all functions whose address is taken. */
static void mark(const struct exec_image *image, struct worklist *w)
{
    bool any_taken = false;
    while (w->count) {
        const struct exec_function *f = w->list[--w->count];
        for (uint32_t i = 0; f->makes_calls && i < f->ptx->inst_count; i++) {
            const struct exec_function *target = called_by(image, f, i);
            if (target && !target->is_runtime)
                add(w, target);
        }
        for (uint32_t i = 0; f->calls_indirectly && !any_taken && i < image->function_count; i++)
            if (image->functions[i]->address_taken && !image->functions[i]->ptx->is_entry)
                add(w, image->functions[i]);
        any_taken |= f->calls_indirectly;
    }
}

static struct worklist make_worklist(const struct exec_image *image, bool *runs)
{
    return (struct worklist){.list = room(image->function_count, sizeof *(struct worklist){0}.list), .runs = runs};
}

bool exec_may_run(const struct exec_function *kernel, const struct exec_function *f)
{
    struct exec_function *own = (struct exec_function *)(uintptr_t)kernel; /* found when it is first asked for */
    struct exec_image *image = (struct exec_image *)(uintptr_t)kernel->image;
    if (f == kernel || !kernel->makes_calls)
        return f == kernel;
    if (!own->runs) {
        own->runs = arena_array(&image->arena, bool, image->function_count);
        struct worklist w = make_worklist(image, own->runs);
        add(&w, kernel);
        mark(image, &w);
        free(w.list);
    }
    return own->runs[f->index];
}

bool *call_graph_needed(const struct exec_image *image, const struct exec_function *kernel)
{
    bool *needed = room(image->function_count, sizeof *needed), any = false;
    struct worklist w = make_worklist(image, needed);
    if (kernel)
        add(&w, kernel);
    for (uint32_t i = 0; !kernel && i < image->function_count; i++)
        if (image->functions[i]->ptx->is_entry) {
            add(&w, image->functions[i]);
            any = true;
        }
    mark(image, &w);
    free(w.list);
    if (!kernel && (!any || image->module_count == 1))
        memset(needed, true, image->function_count);
    return needed;
}

/* ------------------------------------------------------------- what it needs */

enum visit_state { UNSEEN, OPEN, CLOSED };
struct need {
    enum visit_state state;
    uint32_t registers;
    uint64_t stack;
    bool recursive;
};

/* A function on the way from the first to the one that is looked at. */
struct step {
    const struct exec_function *function;
    uint32_t inst, taken; /* what comes next of its calls by name, and of those through a pointer */
    uint64_t deepest;     /* stack of what it calls */
};

/* NULL: there are no more. */
static const struct exec_function *next_callee(const struct exec_image *image, const struct taken *taken,
                                               struct step *s)
{
    const struct exec_function *f = s->function;
    while (f->makes_calls && s->inst < f->ptx->inst_count) {
        const struct exec_function *target = called_by(image, f, s->inst++);
        if (target)
            return target;
    }
    return f->calls_indirectly && s->taken < taken->count ? taken->list[s->taken++] : NULL;
}

static void take_in(struct need *own, struct step *s, const struct need *callee)
{
    own->recursive |= callee->recursive;
    if (callee->registers > own->registers)
        own->registers = callee->registers;
    if (callee->stack > s->deepest)
        s->deepest = callee->stack;
}

static uint32_t open_step(struct need *needs, struct step *steps, uint32_t depth, const struct exec_function *f)
{
    steps[depth] = (struct step){.function = f};
    needs[f->index].state = OPEN;
    needs[f->index].registers = f->register_count;
    return depth + 1;
}

/* Of a function and all that it calls, in the order of its text, each before its caller. */
static void add_needs(const struct exec_image *image, const struct taken *taken, struct need *needs, struct step *steps,
                      const struct exec_function *first)
{
    uint32_t depth = open_step(needs, steps, 0, first);
    while (depth) {
        struct step *s = &steps[depth - 1];
        struct need *own = &needs[s->function->index];
        const struct exec_function *callee = next_callee(image, taken, s);
        if (!callee) {
            own->stack = capped_add(s->function->local_bytes, s->deepest);
            own->state = CLOSED;
            if (--depth)
                take_in(&needs[s[-1].function->index], &s[-1], own);
        } else if (needs[callee->index].state == OPEN) { /* a cycle: one level of each function on it is counted */
            own->recursive = true;
        } else if (needs[callee->index].state == CLOSED) {
            take_in(own, s, &needs[callee->index]);
        } else {
            depth = open_step(needs, steps, depth, callee);
        }
    }
}

void call_graph_sum_up(struct exec_image *image)
{
    struct need *needs = room(image->function_count, sizeof *needs);
    struct step *steps = room(image->function_count, sizeof *steps);
    struct taken taken = find_taken(image);
    for (uint32_t i = 0; i < image->function_count; i++)
        if (needs[i].state == UNSEEN)
            add_needs(image, &taken, needs, steps, image->functions[i]);
    for (uint32_t i = 0; i < image->function_count; i++) {
        image->functions[i]->register_count = needs[i].registers;
        image->functions[i]->stack_bytes = needs[i].stack;
        image->functions[i]->recursive = needs[i].recursive;
    }
    free(taken.list);
    free(steps);
    free(needs);
}
