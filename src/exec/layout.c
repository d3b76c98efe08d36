/* Where variables live: global and constant ones in device memory, shared ones at offsets that depend on the kernel,
 * local ones in the frame. */
#include "exec/image_internal.h"

#include "base/checked.h"
#include "base/out_of_memory.h"

#include <stdlib.h>
#include <string.h>

/* What any GPU has: 512 KiB of local memory a thread (parameters of calls come on top), 227 KiB of shared memory a
 * block; 64 KiB of constants a module. */
enum { MOST_LOCAL_BYTES = 1 << 20, MOST_SHARED_BYTES = 1 << 20, MOST_CONST_BYTES = 1 << 16 };

/* The map of places */

static uint32_t slot_of(const struct layout *l, const struct ptx_variable *v, const struct exec_function *f)
{
    uint64_t h = ((uint64_t)(uintptr_t)v * 31 + (uint64_t)(uintptr_t)f) * 0x9e3779b97f4a7c15ull;
    uint32_t i = (uint32_t)(h >> 40) & (l->slots - 1);
    while (l->places[i].variable && (l->places[i].variable != v || l->places[i].function != f))
        i = (i + 1) & (l->slots - 1);
    return i;
}

void layout_put(struct layout *l, const struct ptx_variable *v, const struct exec_function *f, uint64_t address)
{
    if (l->count * 2 >= l->slots) {
        struct layout old = *l;
        l->slots = old.slots ? old.slots * 2 : 64;
        l->places = calloc(l->slots, sizeof *l->places);
        if (!l->places)
            out_of_memory();
        for (uint32_t i = 0; i < old.slots; i++)
            if (old.places[i].variable)
                l->places[slot_of(l, old.places[i].variable, old.places[i].function)] = old.places[i];
        free(old.places);
    }
    uint32_t i = slot_of(l, v, f);
    l->count += !l->places[i].variable;
    l->places[i] = (struct variable_place){v, f, address};
}

bool layout_get(const struct layout *l, const struct ptx_variable *v, const struct exec_function *f, uint64_t *address)
{
    if (!l->slots)
        return false;
    uint32_t i = slot_of(l, v, f);
    if (!l->places[i].variable)
        return false;
    *address = l->places[i].address;
    return true;
}

/* What has no size of its own is the last. */
const struct ptx_variable *layout_shared_at(const struct exec_image *image, const struct exec_function *kernel,
                                            uint64_t offset, uint64_t *into)
{
    const struct variable_place *found = NULL;
    for (uint32_t i = 0; i < image->layout->slots; i++) {
        const struct variable_place *p = &image->layout->places[i];
        const struct ptx_variable *v = p->variable;
        if (!v || v->space != PTX_SPACE_SHARED || (p->function && p->function != kernel) || offset < p->address)
            continue;
        if (v->unsized ? !found : offset - p->address < v->size_bytes)
            found = p;
    }
    *into = found ? offset - found->address : 0;
    return found ? found->variable : NULL;
}

/* Global memory */

static bool has_memory(const struct ptx_variable *v)
{
    return (v->space == PTX_SPACE_GLOBAL || v->space == PTX_SPACE_CONST || v->space == PTX_SPACE_TEX) &&
           v->linkage != PTX_LINK_EXTERN;
}

static bool is_strong(const struct ptx_variable *v)
{
    return v->linkage != PTX_LINK_WEAK && v->linkage != PTX_LINK_COMMON;
}

const struct ptx_variable *layout_definition(const struct exec_image *image, const struct ptx_variable *v)
{
    if (v->linkage == PTX_LINK_INTERNAL || v->function != UINT32_MAX)
        return v;
    const struct ptx_variable *found = NULL;
    for (uint32_t m = 0; m < image->module_count; m++) {
        const struct ptx_variable *other = ptx_find_variable(image->modules[m], v->name);
        if (!other || other->linkage == PTX_LINK_INTERNAL || !has_memory(other))
            continue;
        bool better = !found || (is_strong(other) && !is_strong(found)) ||
                      (other->linkage == PTX_LINK_COMMON && found->linkage == PTX_LINK_COMMON &&
                       other->size_bytes > found->size_bytes);
        if (better)
            found = other;
    }
    return found ? found : v;
}

static bool place_global(struct exec_image *image, const struct ptx_variable *v, struct error *e)
{
    bool opaque = v->space == PTX_SPACE_TEX || v->type >= PTX_TEXREF;
    uint64_t size = opaque ? 8 * (v->count ? v->count : 1) : v->size_bytes;
    if (size == 0)
        return true;
    enum memory_kind kind = v->space == PTX_SPACE_CONST ? MEMORY_CONST : v->managed ? MEMORY_MANAGED : MEMORY_GLOBAL;
    uint64_t address = memory_alloc(image->memory, size, v->align_bytes > 256 ? v->align_bytes : 256, kind, v->name);
    if (!address)
        return error_set(e, ERROR_NO_MEMORY, "variable %s: %llu bytes do not fit the device's memory", v->name,
                         (unsigned long long)size);
    if (v->init && !opaque)
        memcpy(memory_pointer(address), v->init, size);
    layout_put(image->layout, v, NULL, address);
    image->symbols[image->symbol_count++] = (struct exec_symbol){v->name, address, size, v->space, v};
    if (v->space == PTX_SPACE_CONST)
        image->const_bytes += size;
    if (image->const_bytes > MOST_CONST_BYTES)
        return error_set(e, ERROR_SYNTAX, "variable %s: the constants of a module take more than %d bytes", v->name,
                         MOST_CONST_BYTES);
    return true;
}

static bool relocate(struct exec_image *image, const struct ptx_module *module, const struct ptx_variable *v,
                     struct error *e)
{
    uint64_t base;
    if (!layout_get(image->layout, v, NULL, &base))
        return true;
    for (uint32_t i = 0; i < v->relocation_count; i++) {
        const struct ptx_relocation *r = &v->relocations[i];
        uint64_t value;
        if (!is_inside_range(0, v->size_bytes, r->offset, r->size_bytes))
            return error_at(e, ERROR_SYNTAX, &module->source, v->line, v->column,
                            "%s has no room for the address of %s", v->name, r->symbol);
        const struct ptx_variable *target = ptx_find_variable(module, r->symbol);
        const struct exec_function *f = target ? NULL : image_definition(image, module, r->symbol);
        if (target) {
            if (!layout_get(image->layout, layout_definition(image, target), NULL, &value))
                return error_at(e, ERROR_NOT_FOUND, &module->source, v->line, v->column,
                                "%s, whose address initialises %s, is defined nowhere", r->symbol, v->name);
        } else if (f) {
            value = f->address;
        } else {
            return error_at(e, ERROR_NOT_FOUND, &module->source, v->line, v->column,
                            "%s, whose address initialises %s, is defined nowhere", r->symbol, v->name);
        }
        value = ((value + (uint64_t)r->addend) & r->mask) >> r->shift;
        memcpy((uint8_t *)memory_pointer(base) + r->offset, &value, r->size_bytes);
    }
    return true;
}

static bool place_globals(struct exec_image *image, struct error *e)
{
    uint32_t most = 0;
    for (uint32_t m = 0; m < image->module_count; m++) {
        most += image->modules[m]->variable_count;
        for (uint32_t f = 0; f < image->modules[m]->function_count; f++)
            most += image->modules[m]->functions[f]->variable_count;
    }
    image->symbols = arena_array(&image->arena, struct exec_symbol, most + 1);
    for (uint32_t m = 0; m < image->module_count; m++) {
        const struct ptx_module *module = image->modules[m];
        for (uint32_t i = 0; i < module->variable_count; i++) {
            const struct ptx_variable *v = module->variables[i];
            if (has_memory(v) && layout_definition(image, v) == v && !place_global(image, v, e))
                return false;
        }
        for (uint32_t f = 0; f < module->function_count; f++) /* static variables of functions */
            for (uint32_t i = 0; i < module->functions[f]->variable_count; i++)
                if (has_memory(module->functions[f]->variables[i]) &&
                    !place_global(image, module->functions[f]->variables[i], e))
                    return false;
    }
    for (uint32_t m = 0; m < image->module_count; m++) {
        const struct ptx_module *module = image->modules[m];
        for (uint32_t i = 0; i < module->variable_count; i++)
            if (!relocate(image, module, module->variables[i], e))
                return false;
        for (uint32_t f = 0; f < module->function_count; f++)
            for (uint32_t i = 0; i < module->functions[f]->variable_count; i++)
                if (!relocate(image, module, module->functions[f]->variables[i], e))
                    return false;
    }
    return true;
}

/* Shared memory: variables that device functions name have one offset for all kernels, at the start; a kernel's own
 * follow. */

struct shared_walk {
    struct exec_image *image;
    struct exec_function *function;
    uint64_t end;     /* of what is placed */
    bool fixed;       /* placing for all kernels */
    bool names_fixed; /* the function names a variable with a fixed offset */
    bool names_dynamic;
    uint32_t dynamic_align;
};

static bool is_dynamic(const struct ptx_variable *v) { return v->space == PTX_SPACE_SHARED && v->unsized; }

static void place_shared(void *context, const struct ptx_operand *o)
{
    struct shared_walk *w = context;
    if (o->kind != PTX_OPERAND_SYMBOL || o->variable->space != PTX_SPACE_SHARED)
        return;
    const struct ptx_variable *v = o->variable;
    uint64_t known;
    if (is_dynamic(v)) {
        w->names_dynamic = true;
        if (v->align_bytes > w->dynamic_align)
            w->dynamic_align = v->align_bytes;
        return;
    }
    if (layout_get(w->image->layout, v, NULL, &known)) {
        w->names_fixed = true;
        return;
    }
    if (layout_get(w->image->layout, v, w->function, &known))
        return;
    uint64_t at = align_up(w->end, v->align_bytes ? v->align_bytes : 1);
    layout_put(w->image->layout, v, w->fixed ? NULL : w->function, at);
    if (capped_add(at, v->size_bytes) <= MOST_SHARED_BYTES)
        w->end = at + v->size_bytes;
    else
        w->image->layout->too_large = v;
}

static void walk_function(struct shared_walk *w, struct exec_function *f)
{
    w->function = f;
    for (uint32_t i = 0; i < f->ptx->inst_count; i++)
        visit_operands(f->ptx->insts[i].operands, f->ptx->insts[i].operand_count, place_shared, w);
}

static void place_dynamic(struct exec_image *image, struct exec_function *kernel, uint64_t offset)
{
    kernel->dynamic_shared_offset = (uint32_t)offset;
    for (uint32_t m = 0; m < image->module_count; m++)
        for (uint32_t i = 0; i < image->modules[m]->variable_count; i++)
            if (is_dynamic(image->modules[m]->variables[i]))
                layout_put(image->layout, image->modules[m]->variables[i], kernel->ptx->is_entry ? kernel : NULL,
                           offset);
    for (uint32_t i = 0; i < kernel->ptx->variable_count; i++)
        if (is_dynamic(kernel->ptx->variables[i]))
            layout_put(image->layout, kernel->ptx->variables[i], kernel, offset);
}

static void layout_shared(struct exec_image *image)
{
    struct shared_walk functions = {.image = image, .fixed = true, .dynamic_align = 16};
    for (uint32_t i = 0; i < image->function_count; i++)
        if (!image->functions[i]->ptx->is_entry)
            walk_function(&functions, image->functions[i]);
    uint64_t common_end = 0;
    uint32_t align = functions.dynamic_align;
    for (uint32_t i = 0; i < image->function_count; i++) {
        struct exec_function *f = image->functions[i];
        if (!f->ptx->is_entry)
            continue;
        struct shared_walk own = {.image = image, .end = functions.end, .dynamic_align = 16};
        walk_function(&own, f);
        f->shared_bytes = (uint32_t)(own.end > functions.end || own.names_fixed || f->makes_calls ? own.end : 0);
        if (own.dynamic_align > align)
            align = own.dynamic_align;
        if (f->shared_bytes > common_end)
            common_end = f->shared_bytes;
        place_dynamic(image, f, align_up(f->shared_bytes, own.dynamic_align));
    }
    if (!functions.names_dynamic)
        return;
    common_end = align_up(
        common_end, align); /* device functions name dynamic shared memory: it begins at one offset in all kernels */
    for (uint32_t i = 0; i < image->function_count; i++)
        place_dynamic(image, image->functions[i], common_end);
}

/* Local memory of one call */

static uint32_t place_in_frame(struct exec_image *image, struct exec_function *f, const struct ptx_variable *v)
{
    uint64_t at = align_up(f->local_bytes, v->align_bytes ? v->align_bytes : 1);
    layout_put(image->layout, v, f, at);
    if (capped_add(at, v->size_bytes) <= MOST_LOCAL_BYTES)
        f->local_bytes = (uint32_t)(at + v->size_bytes);
    else
        image->layout->too_large = v;
    return (uint32_t)at;
}

static uint32_t *place_formals(struct exec_image *image, struct exec_function *f, struct ptx_variable **formals,
                               uint32_t count)
{
    uint32_t *offsets = arena_array(&image->arena, uint32_t, count + 1);
    for (uint32_t i = 0; i < count; i++)
        offsets[i] = formals[i]->reg ? 0 : place_in_frame(image, f, formals[i]);
    return offsets;
}

struct local_walk {
    struct exec_image *image;
    struct exec_function *function;
};

static void place_module_local(void *context, const struct ptx_operand *o)
{
    struct local_walk *w = context;
    uint64_t known;
    if (o->kind == PTX_OPERAND_SYMBOL && o->variable->space == PTX_SPACE_LOCAL &&
        !layout_get(w->image->layout, o->variable, w->function, &known))
        place_in_frame(w->image, w->function, o->variable);
}

static void layout_local(struct exec_image *image, struct exec_function *f)
{
    if (!f->ptx->is_entry) {
        f->param_local_offsets = place_formals(image, f, f->ptx->params, f->ptx->param_count);
        f->return_local_offsets = place_formals(image, f, f->ptx->returns, f->ptx->return_count);
    }
    for (uint32_t i = 0; i < f->ptx->variable_count; i++)
        if (f->ptx->variables[i]->space == PTX_SPACE_LOCAL || f->ptx->variables[i]->space == PTX_SPACE_PARAM)
            place_in_frame(image, f, f->ptx->variables[i]);
    struct local_walk w = {image, f};
    for (uint32_t i = 0; i < f->ptx->inst_count; i++)
        visit_operands(f->ptx->insts[i].operands, f->ptx->insts[i].operand_count, place_module_local, &w);
    f->local_bytes = (uint32_t)align_up(f->local_bytes, 16);
}

bool layout_image(struct exec_image *image, struct error *e)
{
    image->layout = arena_new(&image->arena, struct layout);
    if (!place_globals(image, e))
        return false;
    layout_shared(image);
    for (uint32_t i = 0; i < image->function_count; i++)
        layout_local(image, image->functions[i]);
    const struct ptx_variable *v = image->layout->too_large;
    if (v)
        return error_set(e, ERROR_SYNTAX, "%s (line %d), %llu bytes: more than any GPU has of %s memory", v->name,
                         v->line, (unsigned long long)v->size_bytes, v->space == PTX_SPACE_SHARED ? "shared" : "local");
    return true;
}
