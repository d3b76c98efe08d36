/* The public interface for embedding (include/heddle/heddle.h): a thin layer over gpu.h that hides its structures. */
#include "heddle/heddle.h"

#include "gpu/gpu.h"

#include <stdlib.h>
#include <string.h>

struct heddle {
    struct gpu *gpu;
};
struct heddle_module {
    struct exec_image *image;
};

static void pass_on(const struct error *e, char *message)
{
    if (message)
        memcpy(message, e->text, strlen(e->text) + 1);
}

_Static_assert(sizeof(((struct error *)0)->text) <= HEDDLE_MESSAGE_BYTES, "a message fits the caller's buffer");

struct heddle *heddle_open(const char *machine, char *message)
{
    struct error e = {0};
    struct gpu_options options = {.functional = true};
    struct heddle *h = NULL;
    if (machine_load(&options.machine, machine, NULL, 0, &e)) {
        h = calloc(1, sizeof *h);
        if (h)
            h->gpu = gpu_create(&options, &e);
    }
    if (h && h->gpu)
        return h;
    free(h);
    pass_on(&e, message);
    return NULL;
}

void heddle_close(struct heddle *h)
{
    if (h)
        gpu_destroy(h->gpu);
    free(h);
}

struct heddle_module *heddle_load(struct heddle *h, const char *name, const char *ptx, size_t ptx_bytes, char *message)
{
    struct error e = {0};
    struct ptx_module *parsed = ptx_parse(name, ptx, ptx_bytes, &e);
    struct exec_image *image = parsed ? exec_image_create_lazy(h->gpu->memory, &parsed, 1, &e) : NULL;
    if (image)
        image->registers_for_sm = (int)h->gpu->options.machine.sm.registers_for_sm;
    struct heddle_module *m = image && exec_image_prepare_all(image, &e) ? calloc(1, sizeof *m) : NULL;
    if (!m) {
        exec_image_destroy(image);
        pass_on(&e, message);
        return NULL;
    }
    m->image = image;
    return m;
}

void heddle_unload(struct heddle *h, struct heddle_module *m)
{
    (void)h;
    if (m)
        exec_image_destroy(m->image);
    free(m);
}

const struct heddle_kernel *heddle_kernel(const struct heddle_module *m, const char *name)
{
    const struct exec_function *f = exec_image_function(m->image, name);
    return f && f->ptx->is_entry ? (const struct heddle_kernel *)f : NULL;
}

uint64_t heddle_global(const struct heddle_module *m, const char *name, uint64_t *size_bytes)
{
    const struct exec_symbol *s = exec_image_symbol(m->image, name);
    if (s && size_bytes)
        *size_bytes = s->size_bytes;
    return s ? s->address : 0;
}

uint64_t heddle_alloc(struct heddle *h, uint64_t size_bytes)
{
    return memory_alloc(h->gpu->memory, size_bytes, 256, MEMORY_DEVICE, NULL);
}

bool heddle_free(struct heddle *h, uint64_t address) { return memory_release(h->gpu->memory, address); }

bool heddle_launch(struct heddle *h, const struct heddle_kernel *k, const struct heddle_launch *launch, char *message)
{
    struct error e = {0};
    struct gpu_launch l = {.kernel = (const struct exec_function *)k,
                           .dynamic_shared_bytes = launch->dynamic_shared_bytes,
                           .params = launch->params,
                           .params_bytes = launch->params_bytes};
    memcpy(l.grid, launch->grid, sizeof l.grid);
    memcpy(l.block, launch->block, sizeof l.block);
    h->gpu->options.max_cycles = launch->max_cycles ? h->gpu->clock_cycles + launch->max_cycles : 0;
    bool ok = gpu_launch(h->gpu, &l, &e);
    if (!ok)
        pass_on(&e, message);
    return ok;
}

bool heddle_results(const struct heddle *h, uint32_t launch, struct heddle_counters *out)
{
    if (launch >= h->gpu->kernel_count)
        return false;
    const struct gpu_kernel *k = &h->gpu->kernels[launch];
    *out = (struct heddle_counters){.warp_instructions = k->warp_instructions,
                                    .thread_instructions = k->thread_instructions,
                                    .branches = k->counters.exec.branches,
                                    .divergent_branches = k->counters.exec.divergent_branches,
                                    .seconds = k->seconds};
    memcpy(out->lanes, k->counters.exec.lanes, sizeof out->lanes);
    return true;
}

const char *heddle_version(void) { return HEDDLE_VERSION; }
