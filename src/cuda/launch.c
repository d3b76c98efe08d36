/* Launches. What is wrong with the call itself is answered at once; what the kernel did wrong belongs to
 * the context, and is answered by whatever call comes next, as on a GPU. */
#include "cuda/policy_hang.h"
#include "cuda/work.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LAST_ATTRIBUTE = CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING,
    MOST_PARAM_BYTES = 32764,
    MOST_THREADS = 1024,
    USUAL_SHARED_BYTES = 48 << 10,
    MOST_CLUSTER = 8,
    MOST_CLUSTER_NONPORTABLE = 16
};

static const uint32_t most_block[3] = {1024, 1024, 64}, most_grid[3] = {0x7fffffff, 65535, 65535};

static CUresult shape_check(const struct function *f, const struct launch_shape *s)
{
    const struct ptx_function *p = f->exec->ptx;
    uint32_t threads = 1;
    int most = 0;
    for (int i = 0; i < 3; i++) {
        if (!s->grid[i] || !s->block[i] || s->grid[i] > most_grid[i] || s->block[i] > most_block[i])
            return CUDA_ERROR_INVALID_VALUE;
        threads *= s->block[i];
        if (p->reqntid[0] && s->block[i] != (p->reqntid[i] ? p->reqntid[i] : 1))
            return CUDA_ERROR_INVALID_VALUE;
    }
    if (threads > MOST_THREADS || s->shared_bytes > f->max_dynamic_shared)
        return CUDA_ERROR_INVALID_VALUE;
    function_attribute(f, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, &most);
    return threads > (uint32_t)most ? CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES : CUDA_SUCCESS;
}

/* The shape of a cluster is the kernel's own, or the launch's. */
static CUresult cluster_check(const struct function *f, struct launch_shape *s)
{
    const uint32_t *own = f->exec->ptx->reqnctapercluster;
    uint64_t blocks = 1;
    if (own[0]) {
        bool asked = s->cluster[0] != 0;
        for (int i = 0; i < 3; i++) {
            uint32_t wanted = own[i] ? own[i] : 1;
            if (asked && s->cluster[i] != wanted)
                return CUDA_ERROR_INVALID_CLUSTER_SIZE;
            s->cluster[i] = wanted;
        }
    } else if (!s->cluster[0] && f->cluster[0] > 0) {
        for (int i = 0; i < 3; i++)
            s->cluster[i] = f->cluster[i] > 0 ? (uint32_t)f->cluster[i] : 1;
    }
    if (!s->cluster[0])
        return CUDA_SUCCESS;
    for (int i = 0; i < 3; i++) {
        if (!s->cluster[i] || s->cluster[i] > MOST_CLUSTER_NONPORTABLE || s->grid[i] % s->cluster[i])
            return CUDA_ERROR_INVALID_CLUSTER_SIZE;
        blocks *= s->cluster[i];
    }
    return blocks <= (f->nonportable_cluster ? MOST_CLUSTER_NONPORTABLE : MOST_CLUSTER)
               ? CUDA_SUCCESS
               : CUDA_ERROR_INVALID_CLUSTER_SIZE;
}

static CUresult cooperative_check(const struct function *f, const struct launch_shape *s)
{
    const struct gpu *g = driver_get()->gpu;
    if (!s->cooperative)
        return CUDA_SUCCESS;
    uint64_t blocks = (uint64_t)s->grid[0] * s->grid[1] * s->grid[2];
    uint32_t fit = gpu_occupancy(g, f->exec, s->block[0] * s->block[1] * s->block[2], s->shared_bytes);
    return blocks <= (uint64_t)fit * g->options.machine.cores ? CUDA_SUCCESS : CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
}

/* The list behind CU_LAUNCH_PARAM_BUFFER_POINTER and _SIZE. */
static CUresult params_packed(void **extra, const struct ptx_function *p, uint8_t *to)
{
    const void *data = NULL;
    size_t size = 0;
    bool sized = false;
    for (void **at = extra; *at != CU_LAUNCH_PARAM_END; at += 2) {
        if (*at == CU_LAUNCH_PARAM_BUFFER_POINTER) {
            data = at[1];
        } else if (*at == CU_LAUNCH_PARAM_BUFFER_SIZE && at[1]) {
            memcpy(&size, at[1], sizeof size);
            sized = true;
        } else {
            return CUDA_ERROR_INVALID_VALUE;
        }
    }
    if (!p->param_bytes)
        return CUDA_SUCCESS;
    if (!data || !sized || size < p->param_bytes || size > MOST_PARAM_BYTES)
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(to, data, p->param_bytes);
    return CUDA_SUCCESS;
}

static CUresult params_gather(const struct function *f, void **params, void **extra, uint8_t *to)
{
    const struct ptx_function *p = f->exec->ptx;
    if (params && extra)
        return CUDA_ERROR_INVALID_VALUE;
    if (extra)
        return params_packed(extra, p, to);
    if (!params)
        return p->param_count ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
    return gpu_pack_arguments(f->exec, params, to) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult launch_pack(const struct function *f, void **params, void **extra, uint8_t **out)
{
    const struct ptx_function *p = f->exec->ptx;
    if (p->param_bytes > MOST_PARAM_BYTES)
        return CUDA_ERROR_INVALID_VALUE;
    uint8_t *packed = calloc(1, p->param_bytes + 1u);
    CUresult r = packed ? params_gather(f, params, extra, packed) : CUDA_ERROR_OUT_OF_MEMORY;
    if (r == CUDA_SUCCESS)
        *out = packed;
    else
        free(packed);
    return r;
}

static void on_interrupt(int number)
{
    (void)number;
    driver_get()->interrupt = 1;
}

/* Ctrl-C stops the kernels, not the program; a second one has its usual effect. */
void launch_guard(void)
{
    struct driver *d = driver_get();
    struct sigaction ours = {.sa_handler = on_interrupt, .sa_flags = (int)SA_RESETHAND | SA_RESTART};
    if (d->guards++)
        return;
    sigemptyset(&ours.sa_mask);
    d->interrupt = d->ending;
    d->guarded = sigaction(SIGINT, NULL, &d->their_action) == 0 && d->their_action.sa_handler != SIG_IGN &&
                 sigaction(SIGINT, &ours, NULL) == 0;
}

void launch_unguard(void)
{
    struct driver *d = driver_get();
    if (--d->guards == 0 && d->guarded)
        sigaction(SIGINT, &d->their_action, NULL);
}

/* It was not run, or it went wrong. One that ran past its own limit is over, and no more: its context goes on, which
 * that of a GPU's watchdog would not. *failed: as far as that the context is lost. said: whether that kernel's refusal
 * was reported before; a program may try again and again. */
static CUresult refused(struct context *ctx, const struct error *e, bool *failed, bool *said)
{
    *failed = !(e->kind == ERROR_RESOURCES || e->kind == ERROR_INVALID || e->kind == ERROR_NO_MEMORY ||
                e->kind == ERROR_UNSUPPORTED || e->kind == ERROR_LAUNCH_LIMIT);
    if (*failed) {
        context_fail(ctx, e);
        return CUDA_SUCCESS;
    }
    driver_get()->launch_refused |= e->kind == ERROR_UNSUPPORTED;
    if (*said)
        driver_keep(e);
    else
        driver_report(e);
    *said = true;
    return result_of(e);
}

CUresult launch_finish(struct residency *grid, struct context *ctx, bool *failed)
{
    struct error e = {0};
    bool said = false;
    *failed = false;
    policy_hang_begin(driver_get()->gpu);
    bool ok = gpu_finish(grid, &e);
    policy_hang_end();
    if (ok)
        return CUDA_SUCCESS;
    if (e.kind != ERROR_NONE)
        return refused(ctx, &e, failed, &said);
    if (ctx->failure == CUDA_SUCCESS) /* another one has taken it along */
        ctx->failure = CUDA_ERROR_LAUNCH_FAILED;
    return CUDA_SUCCESS;
}

/* A launch that any GPU would take, and this machine has no room for: what the program goes on with is then no
 * result. */
static bool is_for_want_of_room(const struct function *f, const struct launch_shape *s)
{
    const struct ptx_function *p = f->exec->ptx;
    uint64_t threads = (uint64_t)s->block[0] * s->block[1] * s->block[2];
    uint64_t shared =
        s->shared_bytes ? (uint64_t)f->exec->dynamic_shared_offset + s->shared_bytes : f->exec->shared_bytes;
    bool is_bounded = p->maxntid[0] || p->reqntid[0];
    return threads && threads <= MOST_THREADS && !is_bounded && shared <= USUAL_SHARED_BYTES &&
           !gpu_occupancy(driver_get()->gpu, f->exec, (uint32_t)threads, s->shared_bytes);
}

static struct residency *launch_params(struct function *f, struct launch_shape *s, const uint8_t *params, int priority,
                                       CUresult *r)
{
    bool failed;
    struct gpu *g = driver_get()->gpu;
    struct context *ctx = f->object.owner;
    struct error e = {0};
    struct gpu_launch l = {.kernel = f->exec,
                           .dynamic_shared_bytes = s->shared_bytes,
                           .params = params,
                           .params_bytes = f->exec->ptx->param_bytes,
                           .cooperative = s->cooperative,
                           .carveout = (uint32_t)(f->carveout + 1),
                           .priority = priority};
    memcpy(l.grid, s->grid, sizeof l.grid);
    memcpy(l.block, s->block, sizeof l.block);
    memcpy(l.cluster, s->cluster, sizeof l.cluster);
    g->stack_limit_bytes = ctx->stack_bytes;
    g->heap_limit_bytes = ctx->heap_bytes;
    g->printf_fifo_bytes = ctx->printf_bytes;
    if (!f->launched)
        limits_note_launch(ctx, f);
    f->launched = true;
    texture_bind_all(f->module);
    policy_hang_begin(g);
    struct residency *grid = gpu_start(g, &l, &e);
    policy_hang_end();
    if (!grid)
        driver_get()->launch_refused |= is_for_want_of_room(f, s);
    *r = grid ? CUDA_SUCCESS : refused(ctx, &e, &failed, &f->refusal_said);
    return grid;
}

static void say_spills(struct function *f, const struct launch_shape *s)
{
    uint32_t left = gpu_spilled_to(driver_get()->gpu, f->exec, s->block[0] * s->block[1] * s->block[2]);
    if (!left || f->spill_said || driver_get()->options.quiet)
        return;
    f->spill_said = true;
    driver_say("kernel %s: %u registers a thread are left on machine %s of about %u that it wants: it runs as if the "
               "others were "
               "spilled, but the traffic of spills is not modelled",
               f->exec->name, left, driver_get()->gpu->options.machine.name, f->exec->register_count);
}

/* CUDA's error says little; the GPU knows what does not fit. Once per kernel. */
static void say_why_refused(struct function *f, const struct launch_shape *s)
{
    struct error e = {0};
    driver_get()->launch_refused |= is_for_want_of_room(f, s);
    if (f->refusal_said)
        return;
    struct gpu_launch l = {
        .kernel = f->exec, .dynamic_shared_bytes = s->shared_bytes, .params_bytes = f->exec->ptx->param_bytes};
    memcpy(l.grid, s->grid, sizeof l.grid);
    memcpy(l.block, s->block, sizeof l.block);
    f->refusal_said = !gpu_check_launch(driver_get()->gpu, &l, &e);
    if (f->refusal_said)
        driver_say("%s", e.text);
}

/* A function belongs to the context it was loaded in, and runs only there. */
CUresult launch_check(struct function *f, struct launch_shape *s)
{
    if (f->object.owner != context_current())
        return CUDA_ERROR_INVALID_CONTEXT;
    CUresult r = shape_check(f, s);
    if (r != CUDA_SUCCESS)
        say_why_refused(f, s);
    if (r == CUDA_SUCCESS)
        r = cluster_check(f, s);
    return r == CUDA_SUCCESS ? cooperative_check(f, s) : r;
}

struct residency *launch_start(struct function *f, const struct launch_shape *shape, const uint8_t *params,
                               int priority, CUresult *r)
{
    struct launch_shape s = *shape;
    *r = launch_check(f, &s);
    if (*r == CUDA_SUCCESS)
        say_spills(f, &s);
    return *r == CUDA_SUCCESS ? launch_params(f, &s, params, priority, r) : NULL;
}

static CUresult launch_call(CUfunction handle, const struct launch_shape *s, CUstream stream, void **params,
                            void **extra)
{
    struct work w;
    CUresult r = api_enter(NULL, API_CONTEXT | API_PASSING);
    if (r == CUDA_SUCCESS)
        r = work_launch(&w, handle, s, params, extra);
    return api_leave(r == CUDA_SUCCESS ? stream_submit(stream, &w) : r);
}

CUAPI CUresult cuLaunchKernel(CUfunction f, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z,
                              unsigned int block_x, unsigned int block_y, unsigned int block_z,
                              unsigned int shared_bytes, CUstream stream, void **params, void **extra)
{
    struct launch_shape s = {
        .grid = {grid_x, grid_y, grid_z}, .block = {block_x, block_y, block_z}, .shared_bytes = shared_bytes};
    return launch_call(f, &s, stream, params, extra);
}
API_ALIAS(cuLaunchKernel_ptsz, cuLaunchKernel)

CUAPI CUresult cuLaunchCooperativeKernel(CUfunction f, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z,
                                         unsigned int block_x, unsigned int block_y, unsigned int block_z,
                                         unsigned int shared_bytes, CUstream stream, void **params)
{
    struct launch_shape s = {.grid = {grid_x, grid_y, grid_z},
                             .block = {block_x, block_y, block_z},
                             .shared_bytes = shared_bytes,
                             .cooperative = true};
    return launch_call(f, &s, stream, params, NULL);
}
API_ALIAS(cuLaunchCooperativeKernel_ptsz, cuLaunchCooperativeKernel)

CUAPI CUresult cuLaunchCooperativeKernelMultiDevice(CUDA_LAUNCH_PARAMS *list, unsigned int count, unsigned int flags)
{
    if (!list || count != 1 || (flags & ~3u))
        return CUDA_ERROR_INVALID_VALUE;
    return cuLaunchCooperativeKernel(list->function, list->gridDimX, list->gridDimY, list->gridDimZ, list->blockDimX,
                                     list->blockDimY, list->blockDimZ, list->sharedMemBytes, list->hStream,
                                     list->kernelParams);
}

bool launch_attribute_known(CUlaunchAttributeID id) { return (unsigned)id <= LAST_ATTRIBUTE; }

/* Attributes that only tune, or let a kernel start before the one before it in its stream has ended, have nothing to
 * act on. */
CUresult launch_attributes(const CUlaunchConfig *c, struct launch_shape *s)
{
    if (c->numAttrs && !c->attrs)
        return CUDA_ERROR_INVALID_VALUE;
    for (unsigned int i = 0; i < c->numAttrs; i++) {
        const CUlaunchAttribute *a = &c->attrs[i];
        switch (a->id) {
        case CU_LAUNCH_ATTRIBUTE_COOPERATIVE: s->cooperative = a->value.cooperative != 0; break;
        case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
            if (!a->value.clusterDim.x || !a->value.clusterDim.y || !a->value.clusterDim.z)
                return CUDA_ERROR_INVALID_VALUE;
            memcpy(s->cluster, (uint32_t[3]){a->value.clusterDim.x, a->value.clusterDim.y, a->value.clusterDim.z},
                   sizeof s->cluster);
            break;
        case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT:
        case CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT:
        case CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE: return CUDA_ERROR_NOT_SUPPORTED;
        default:
            if (!launch_attribute_known(a->id))
                return CUDA_ERROR_INVALID_VALUE;
        }
    }
    return CUDA_SUCCESS;
}

CUAPI CUresult cuLaunchKernelEx(const CUlaunchConfig *c, CUfunction f, void **params, void **extra)
{
    if (!c)
        return CUDA_ERROR_INVALID_VALUE;
    struct launch_shape s = {.grid = {c->gridDimX, c->gridDimY, c->gridDimZ},
                             .block = {c->blockDimX, c->blockDimY, c->blockDimZ},
                             .shared_bytes = c->sharedMemBytes};
    CUresult r = launch_attributes(c, &s);
    return r == CUDA_SUCCESS ? launch_call(f, &s, c->hStream, params, extra) : r;
}
API_ALIAS(cuLaunchKernelEx_ptsz, cuLaunchKernelEx)

/* Before CUDA 4: everything but the grid was set on the function. */
CUAPI CUresult cuLaunchGridAsync(CUfunction handle, int width, int height, CUstream stream)
{
    struct function *f;
    CUresult r = api_enter(NULL, API_CONTEXT | API_PASSING);
    if (r == CUDA_SUCCESS)
        r = function_resolve(handle, &f);
    if (r == CUDA_SUCCESS && (width <= 0 || height <= 0))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r != CUDA_SUCCESS)
        return api_leave(r);
    struct work w;
    struct launch_shape s = {.grid = {(uint32_t)width, (uint32_t)height, 1},
                             .block = {f->block[0], f->block[1], f->block[2]},
                             .shared_bytes = f->shared_bytes};
    size_t bytes = f->params_bytes;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, f->params, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                     CU_LAUNCH_PARAM_END};
    r = work_launch(&w, handle, &s, NULL, extra);
    return api_leave(r == CUDA_SUCCESS ? stream_submit(stream, &w) : r);
}

CUAPI CUresult cuLaunchGrid(CUfunction handle, int width, int height)
{
    return cuLaunchGridAsync(handle, width, height, NULL);
}
CUAPI CUresult cuLaunch(CUfunction handle) { return cuLaunchGridAsync(handle, 1, 1, NULL); }
