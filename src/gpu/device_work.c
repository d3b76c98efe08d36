/* Launches, copies and fills that kernels ask for: see device_work.h. */
#include "gpu/device_work.h"

#include "base/checked.h"
#include "exec/access.h"

#include <string.h>

enum { DEEPEST_LAUNCH = 256 }; /* of kernels that launch kernels */

/* Checks memory that a kernel asked to have copied or filled: all of it must be in one allocation, and writable where
 * it is written. */
static bool check_copy_end(const struct gpu *g, const char *what, uint64_t at, uint64_t bytes, bool is_store,
                           struct error *e)
{
    char where[320];
    const struct memory_range *range = memory_find(g->memory, at);
    bool fits = range && range->kind != MEMORY_ARRAY && (!is_store || access_kind_writable(range->kind));
    if (fits && is_inside_range(range->base, range->size_bytes, at, bytes))
        return true;
    memory_describe(g->memory, at, where, sizeof where);
    error_set(e, ERROR_ADDRESS, "a kernel asked for a %s of %llu bytes %s 0x%llx: %s", what, (unsigned long long)bytes,
              is_store ? "to" : "from", (unsigned long long)at, where);
    if (fits)
        error_note(e, "  only %llu bytes are left there", (unsigned long long)(range->base + range->size_bytes - at));
    else if (range)
        error_note(e, "  kernels may not %s it", is_store ? "write" : "read");
    return false;
}

static bool do_copy(struct gpu *g, const struct device_work *work, struct error *e)
{
    if (!work->bytes)
        return true;
    if (!check_copy_end(g, work->fills ? "fill" : "copy", work->to, work->bytes, true, e) ||
        (!work->fills && !check_copy_end(g, "copy", work->from, work->bytes, false, e)))
        return false;
    if (work->fills)
        memset(memory_pointer(work->to), work->value, work->bytes);
    else
        memmove(memory_pointer(work->to), memory_pointer(work->from), work->bytes);
    return true;
}

bool device_work_run(struct gpu *g, const struct exec_launch *parent, bool functional, struct device_queue *q,
                     struct error *e)
{
    bool ok = true;
    if (q->count && ++g->launch_depth > DEEPEST_LAUNCH)
        ok = error_set(e, ERROR_RESOURCES, "kernel %s: kernels launch one another %d deep", parent->kernel->name,
                       DEEPEST_LAUNCH);
    device_queue_sort(q);
    for (uint32_t i = 0; ok && i < q->count; i++) {
        const struct device_work *work = &q->list[i];
        struct exec_function *kernel = (struct exec_function *)work->kernel;
        if (!work->turn)
            continue;
        if (!kernel) {
            ok = do_copy(g, work, e);
            continue;
        }
        struct gpu_launch l = {.kernel = kernel,
                               .dynamic_shared_bytes = work->shared_bytes,
                               .params = memory_pointer(work->arguments),
                               .params_bytes = kernel->ptx->param_bytes,
                               .timed = functional ? GPU_UNTIMED : GPU_TIMED};
        memcpy(l.grid, work->grid, sizeof l.grid);
        memcpy(l.block, work->block, sizeof l.block);
        ok = exec_image_prepare((struct exec_image *)parent->image, kernel, e) && gpu_launch(g, &l, e);
    }
    if (!ok)
        error_note(e, "  asked for by kernel %s", parent->kernel->name);
    g->launch_depth -= q->count ? 1 : 0;
    device_queue_free(q, g->memory);
    return ok;
}
