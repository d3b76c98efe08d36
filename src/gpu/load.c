/* From a program's modules to what can be launched. */
#include "gpu/gpu.h"

#include "ptx/lowering.h"
#include "ptx/meeting.h"
#include "ptx/unroll.h"

#include <string.h>

/* Counts registers as the assembler of the machine's target would. */
static void assemble(struct ptx_module *m, bool timed)
{
    for (uint32_t i = 0; i < m->function_count; i++) {
        struct ptx_function *f = m->functions[i];
        if (f->is_declaration)
            continue;
        if (timed)
            ptx_unroll(&m->arena, f);
        ptx_reorder(&m->arena, f);
        if (f->written)
            ptx_reorder(&m->arena, f->written);
        if (timed)
            ptx_find_meetings(f);
    }
}

struct exec_image *gpu_load(struct gpu *g, struct ptx_module **modules, uint32_t count, bool lazy, struct error *e)
{
    for (uint32_t i = 0; i < count && g->options.machine.sm.lowers; i++)
        assemble(modules[i], !g->options.functional);
    struct exec_image *image = exec_image_create_lazy(g->memory, modules, count, e);
    if (!image)
        return NULL;
    image->registers_for_sm = (int)g->options.machine.sm.registers_for_sm;
    if (lazy || exec_image_prepare_all(image, e))
        return image;
    exec_image_destroy(image);
    return NULL;
}

bool gpu_pack_arguments(const struct exec_function *kernel, void *const *arguments, uint8_t *to)
{
    const struct ptx_function *p = kernel->ptx;
    for (uint32_t i = 0; i < p->param_count; i++) {
        if (!arguments[i])
            return false;
        memcpy(to + p->param_offsets[i], arguments[i], p->params[i]->size_bytes);
    }
    return true;
}
