/* heddle.h, the interface for programs that embed the simulator: machines, modules, memory, launches. A thin layer over
 * gpu.h, as the driver API is. Results are in read.c. */
#include "embed/embed.h"

#include "base/read_file.h"
#include "gpu/files.h"
#include "gpu/setup.h"
#include "gpu/timeline.h"
#include "policy/bundle.h"

#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT_BYTES = 512 }; /* of allocations, as cuMemAlloc's */

_Static_assert(sizeof(((struct error *)0)->text) <= HEDDLE_MESSAGE_BYTES, "a message fits the caller's buffer");

bool embed_report(const struct error *e, struct heddle_error *to)
{
    if (!to)
        return e->kind == ERROR_NONE;
    to->kind = error_kind_name(e->kind);
    to->line = e->line;
    to->column = e->column;
    memcpy(to->message, e->text, strlen(e->text) + 1);
    return e->kind == ERROR_NONE;
}

static uint32_t count_of(const char *const *list)
{
    uint32_t n = 0;
    while (list && list[n])
        n++;
    return n;
}

/* The machine and its policies; a bundle is the policies that it stands for. */
static bool choose(struct gpu_options *to, const struct heddle_options *o, struct error *e)
{
    const char *probes[GPU_PROBES + 1], *given[POLICY_KINDS] = {o->scheduler, o->l1, o->divergence, NULL};
    struct policy_specs specs;
    uint32_t probe_count = count_of(o->probes);
    if (probe_count > GPU_PROBES)
        return error_set(e, ERROR_INVALID, "%u probes are given; the most is %d", probe_count, GPU_PROBES);
    if (probe_count)
        memcpy(probes, o->probes, probe_count * sizeof *probes);
    if (o->policies && !policy_bundle_take(&specs, o->policies, given, e))
        return false;
    for (int kind = 0; o->policies && kind < POLICY_KINDS; kind++)
        if (*specs.of[kind])
            given[kind] = specs.of[kind];
    if (given[POLICY_PROBE] && !o->functional)
        probes[probe_count++] = given[POLICY_PROBE];
    return gpu_setup(to,
                     &(struct gpu_setup){.machine = o->machine ? o->machine : "gtx480",
                                         .sets = o->set,
                                         .set_count = count_of(o->set),
                                         .scheduler = given[POLICY_SCHEDULER],
                                         .l1 = given[POLICY_L1],
                                         .divergence = given[POLICY_DIVERGENCE],
                                         .probes = probes,
                                         .probe_count = probe_count,
                                         .functional = o->functional},
                     e);
}

static bool check(const struct heddle_options *o, struct error *e)
{
    if (o->races && !o->functional)
        return error_set(e, ERROR_INVALID, "races are looked for without time: they need functional");
    if (o->races && count_of(o->probes))
        return error_set(e, ERROR_INVALID, "races and probes do not go together");
    return true;
}

static bool open_files(struct gpu_options *to, const struct heddle_options *o, struct error *e)
{
    struct gpu_files files = {.timeline = o->timeline,
                              .trace = o->trace,
                              .warps = o->warps,
                              .timeline_first = o->timeline_first,
                              .timeline_end = o->timeline_end ? o->timeline_end : TIMELINE_CYCLES,
                              .program = o->program ? o->program : ""};
    return gpu_files_open(to, &files, e);
}

static struct gpu *make_gpu(const struct heddle_options *o, struct error *e)
{
    struct gpu_options to = {.functional = o->functional,
                             .exact_bounds = o->exact_bounds,
                             .races = o->races,
                             .max_cycles = o->max_cycles,
                             .threads = o->threads,
                             .pcs = o->pcs,
                             .records = o->merge_launches ? GPU_RECORDS_OF_KERNELS : GPU_RECORDS_OF_LAUNCHES,
                             .interval = o->functional ? 0 : o->interval,
                             .interrupt = o->interrupt};
    if (!check(o, e) || !choose(&to, o, e))
        return NULL;
    if (!open_files(&to, o, e)) {
        gpu_setup_release(&to);
        return NULL;
    }
    struct gpu *g = gpu_create(&to, e); /* takes the policies over */
    if (!g) {
        gpu_files_destroy(&to);
        return NULL;
    }
    g->printf_out = o->kernel_output;
    g->stack_limit_bytes = o->stack_bytes ? o->stack_bytes : g->stack_limit_bytes;
    g->heap_limit_bytes = o->heap_bytes ? o->heap_bytes : g->heap_limit_bytes;
    return g;
}

struct heddle *heddle_open(const struct heddle_options *options, struct heddle_error *error)
{
    static const struct heddle_options none;
    const struct heddle_options *o = options ? options : &none;
    struct error e = {0};
    struct heddle *h = calloc(1, sizeof *h);
    if (!h)
        error_set(&e, ERROR_NO_MEMORY, "out of host memory");
    else if ((h->gpu = make_gpu(o, &e))) {
        clock_gettime(CLOCK_MONOTONIC, &h->start);
        h->max_cycles = o->max_cycles;
        snprintf(h->program, sizeof h->program, "%s", o->program ? o->program : "");
    }
    embed_report(&e, error);
    if (h && h->gpu)
        return h;
    free(h);
    return NULL;
}

static void file_failed(void *handle, const struct error *e)
{
    struct heddle *h = handle;
    h->file_failed = true;
    if (h->unwritten.kind == ERROR_NONE)
        h->unwritten = *e;
}

bool heddle_finish(struct heddle *h, struct heddle_error *error)
{
    if (!h->finished) {
        h->finished = true;
        gpu_files_close(&h->gpu->options, file_failed, h);
        h->probe_failed = !gpu_write_probes(h->gpu, &h->unwritten);
    }
    return embed_report(&h->unwritten, error);
}

void heddle_close(struct heddle *h)
{
    if (!h)
        return;
    heddle_finish(h, NULL);
    while (h->modules)
        heddle_unload(h, h->modules);
    struct gpu_options files = h->gpu->options; /* those that are open outlive the GPU */
    gpu_destroy(h->gpu);
    gpu_files_destroy(&files);
    free(h);
}

struct heddle_module *heddle_load(struct heddle *h, const char *name, const char *ptx, size_t ptx_bytes,
                                  struct heddle_error *error)
{
    struct error e = {0};
    struct ptx_module *parsed = ptx_parse(name, ptx, ptx_bytes, &e);
    struct exec_image *image = parsed ? gpu_load(h->gpu, &parsed, 1, false, &e) : NULL;
    struct heddle_module *m = image ? calloc(1, sizeof *m) : NULL;
    if (image && !m)
        error_set(&e, ERROR_NO_MEMORY, "out of host memory");
    if (!embed_report(&e, error)) {
        exec_image_destroy(image);
        h->outcome = e;
        return NULL;
    }
    *m = (struct heddle_module){.next = h->modules, .image = image};
    h->modules = m;
    return m;
}

struct heddle_module *heddle_load_file(struct heddle *h, const char *path, struct heddle_error *error)
{
    struct error e = {0};
    char *text;
    size_t size;
    if (!read_file(path, &text, &size, &e)) {
        embed_report(&e, error);
        return NULL;
    }
    struct heddle_module *m = heddle_load(h, path, text, size, error);
    free(text);
    return m;
}

void heddle_unload(struct heddle *h, struct heddle_module *m)
{
    struct heddle_module **at = &h->modules;
    while (*at && *at != m)
        at = &(*at)->next;
    if (!*at)
        return;
    *at = m->next;
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
    if (!s || (s->space != PTX_SPACE_GLOBAL && s->space != PTX_SPACE_CONST))
        return 0;
    if (size_bytes)
        *size_bytes = s->size_bytes;
    return s->address;
}

uint64_t heddle_alloc(struct heddle *h, uint64_t size_bytes)
{
    return size_bytes ? memory_alloc(h->gpu->memory, size_bytes, ALIGNMENT_BYTES, MEMORY_DEVICE, NULL) : 0;
}

bool heddle_free(struct heddle *h, uint64_t address) { return memory_release(h->gpu->memory, address); }

/* Whether all of it lies in one allocation. */
static bool is_allocated(const struct heddle *h, uint64_t address, uint64_t bytes, struct heddle_error *error)
{
    const struct memory_range *r = memory_find(h->gpu->memory, address);
    struct error e = {0};
    char where[320];
    if (!r || bytes > r->size_bytes - (address - r->base)) {
        memory_describe(h->gpu->memory, address, where, sizeof where);
        error_set(&e, ERROR_ADDRESS, "a copy of %llu bytes at 0x%llx: %s", (unsigned long long)bytes,
                  (unsigned long long)address, where);
    }
    return embed_report(&e, error);
}

bool heddle_write(struct heddle *h, uint64_t to, const void *from, size_t bytes, struct heddle_error *error)
{
    if (bytes && !is_allocated(h, to, bytes, error))
        return false;
    memmove(heddle_pointer(to), from, bytes);
    gpu_note_copy(h->gpu, to, bytes);
    return true;
}

bool heddle_read(struct heddle *h, void *to, uint64_t from, size_t bytes, struct heddle_error *error)
{
    if (bytes && !is_allocated(h, from, bytes, error))
        return false;
    memmove(to, heddle_pointer(from), bytes);
    return true;
}

bool heddle_fill(struct heddle *h, uint64_t to, int byte, size_t bytes, struct heddle_error *error)
{
    if (bytes && !is_allocated(h, to, bytes, error))
        return false;
    memset(heddle_pointer(to), byte, bytes);
    return true;
}

/* From here on, until as many cycles have passed as the launch, or all of them, may take. 0: no limit. */
static uint64_t limit_of(const struct heddle *h, const struct heddle_launch *launch)
{
    uint64_t own = launch->max_cycles ? h->gpu->clock_cycles + launch->max_cycles : 0;
    return own && (!h->max_cycles || own < h->max_cycles) ? own : h->max_cycles;
}

static bool run(struct heddle *h, struct gpu_launch *l, void *const *arguments, struct error *e)
{
    uint8_t *packed = NULL;
    if (arguments) {
        packed = calloc(1, l->kernel->ptx->param_bytes + 1u);
        if (!packed)
            return error_set(e, ERROR_NO_MEMORY, "out of host memory");
        if (!gpu_pack_arguments(l->kernel, arguments, packed)) {
            free(packed);
            return error_set(e, ERROR_INVALID, "kernel %s: an argument is missing; it takes %u", l->kernel->name,
                             l->kernel->ptx->param_count);
        }
        l->params = packed;
        l->params_bytes = l->kernel->ptx->param_bytes;
    }
    bool ok = gpu_launch(h->gpu, l, e);
    free(packed);
    return ok;
}

bool heddle_launch(struct heddle *h, const struct heddle_kernel *k, const struct heddle_launch *launch,
                   struct heddle_error *error)
{
    struct error e = {0};
    struct gpu_launch l = {.kernel = (const struct exec_function *)k,
                           .dynamic_shared_bytes = launch->dynamic_shared_bytes,
                           .params = launch->params,
                           .params_bytes = launch->params_bytes,
                           .cooperative = launch->cooperative};
    memcpy(l.grid, launch->grid, sizeof l.grid);
    memcpy(l.block, launch->block, sizeof l.block);
    memcpy(l.cluster, launch->cluster, sizeof l.cluster);
    if (!k)
        error_set(&e, ERROR_NOT_FOUND, "there is no such kernel");
    else if (h->finished)
        error_set(&e, ERROR_INVALID, "kernel %s: no launches after heddle_finish", l.kernel->name);
    else {
        h->gpu->options.max_cycles = limit_of(h, launch);
        run(h, &l, launch->arguments, &e);
    }
    if (embed_report(&e, error))
        return true;
    h->launch_refused |= e.kind == ERROR_UNSUPPORTED;
    h->outcome = e;
    return false;
}
