/* What went wrong in a kernel, and where: kernel, PTX line, block and thread, address, what is allocated nearby. */
#include "exec/lanes.h"

#include <stdarg.h>
#include <stdio.h>

static void thread_of_lane(const struct exec_warp *w, uint32_t lane, uint32_t thread[3])
{
    uint32_t linear = w->index * WARP_LANES + lane;
    const uint32_t *block = w->launch->block;
    thread[0] = linear % block[0];
    thread[1] = linear / block[0] % block[1];
    thread[2] = linear / (block[0] * block[1]);
}

void exec_raise(struct exec_warp *w, enum error_kind kind, uint32_t lane, uint64_t address, uint32_t bytes,
                const char *format, ...)
{
    struct exec_launch *l = w->launch;
    w->state = WARP_FAULT;
    w->access = (struct exec_access){.space = PTX_SPACE_NONE}; /* what was checked may be no address of anything */
    if (l->faulted)
        return;
    l->faulted = true;
    struct exec_fault *f = &l->fault;
    *f = (struct exec_fault){
        .kind = kind, .function = w->at.function, .pc = w->pc, .lane = lane, .address = address, .bytes = bytes};
    for (int i = 0; i < 3; i++)
        f->cta[i] = w->cta->id[i];
    thread_of_lane(w, lane, f->thread);
    va_list args;
    va_start(args, format);
    vsnprintf(f->what, sizeof f->what, format, args);
    va_end(args);
}

static const char *file_name(const struct ptx_module *m, uint32_t number)
{
    for (uint32_t i = 0; i < m->file_count; i++)
        if (m->files[i].number == number)
            return m->files[i].name;
    return NULL;
}

void exec_fault_describe(const struct exec_launch *l, struct error *e)
{
    const struct exec_fault *f = &l->fault;
    const struct ptx_inst *in = f->pc < f->function->inst_count ? &f->function->ptx->insts[f->pc] : NULL;
    error_set(e, f->kind, "kernel %s: %s", l->kernel->name, f->what);
    if (in) {
        error_note(e, "  at %s:%d: %s", f->function->module->source.name ? f->function->module->source.name : "<ptx>",
                   in->line, in->spelling);
        const char *file = in->source_line ? file_name(f->function->module, in->source_file) : NULL;
        if (file)
            error_note(e, "  from %s:%u", file, in->source_line);
    }
    if (f->function != l->kernel)
        error_note(e, "  in function %s", f->function->name);
    error_note(e, "  block (%u,%u,%u), thread (%u,%u,%u)", f->cta[0], f->cta[1], f->cta[2], f->thread[0], f->thread[1],
               f->thread[2]);
}
