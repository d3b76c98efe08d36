/* Kernels that launch kernels (dynamic parallelism, the form of CUDA 12 and later): CUDA's device runtime asks for a
 * buffer, the kernel writes the arguments into it, and the launch is queued. What was queued runs when the kernel has
 * ended (gpu/launch.c), in the order of asking, which is an order that streams and events allow; copies and fills take
 * their place in it. Launches into the tail stream come last. Left out: cudaDeviceSynchronize in a kernel, which CUDA
 * 12 took away. */
#include "exec/device_calls.h"
#include "exec/lanes.h"

#include <stdlib.h>
#include <string.h>

enum { SUCCESS = 0, INVALID_VALUE = 1, NO_MEMORY = 2, TAIL_STREAM = 3, MOST_PENDING = 1 << 18 };
#define LAST (1ull << 63)

/* NULL after a fault: what waits is kept by the host until the kernel has ended. */
static struct device_work *add(struct exec_warp *w, uint32_t lane)
{
    struct device_queue *q = w->launch->queue;
    if (q->count == MOST_PENDING) {
        exec_raise(w, ERROR_ADDRESS, lane, 0, 0,
                   "more than %d launches, copies and fills by one kernel wait for its end", MOST_PENDING);
        return NULL;
    }
    if (q->count == q->capacity) {
        uint32_t wanted = q->capacity ? q->capacity * 2 : 16;
        struct device_work *grown = realloc(q->list, wanted * sizeof *q->list);
        if (!grown) {
            exec_raise(w, ERROR_NO_MEMORY, lane, 0, 0,
                       "out of host memory: %u launches, copies and fills wait for the kernel's end", wanted);
            return NULL;
        }
        q->list = grown;
        q->capacity = wanted;
    }
    q->list[q->count] = (struct device_work){0};
    return &q->list[q->count++];
}

static void give_turn(struct device_queue *q, struct device_work *work, uint64_t stream)
{
    work->turn = ++q->turns | (stream == TAIL_STREAM ? LAST : 0);
}

static void get_parameter_buffer(struct exec_warp *w, uint32_t mask, const uint32_t *arguments, uint32_t result)
{
    const struct exec_launch *l = w->launch;
    FOR_EACH_LANE(mask, lane) {
        const struct exec_function *kernel = exec_image_function_at(l->image, device_argument64(w, lane, arguments[0]));
        uint32_t bytes = kernel && kernel->ptx->param_bytes > 16 ? kernel->ptx->param_bytes : 16;
        uint64_t address =
            kernel && kernel->ptx->is_entry
                ? memory_alloc(l->memory, bytes, 256, MEMORY_RUNTIME, "arguments of a kernel that a kernel launches")
                : 0;
        if (address) {
            struct device_work *work = add(w, lane);
            if (!work) {
                memory_release(l->memory, address);
                return;
            }
            work->kernel = kernel;
            work->arguments = address;
            memcpy(work->grid, device_argument(w, lane, arguments[1]), sizeof work->grid);
            memcpy(work->block, device_argument(w, lane, arguments[2]), sizeof work->block);
            memcpy(&work->shared_bytes, device_argument(w, lane, arguments[3]), sizeof work->shared_bytes);
        }
        device_result(w, lane, result, &address, sizeof address);
    }
}

static struct device_work *find(struct device_queue *q, uint64_t arguments)
{
    for (uint32_t i = q->count; i-- > 0;) /* mostly the one that was added last */
        if (q->list[i].kernel && q->list[i].arguments == arguments && !q->list[i].turn)
            return &q->list[i];
    return NULL;
}

static void launch_device(struct exec_warp *w, uint32_t mask, const uint32_t *arguments, uint32_t result)
{
    FOR_EACH_LANE(mask, lane) {
        struct device_work *work = find(w->launch->queue, device_argument64(w, lane, arguments[0]));
        uint32_t error = work ? SUCCESS : INVALID_VALUE;
        if (work)
            give_turn(w->launch->queue, work, device_argument64(w, lane, arguments[1]));
        device_result(w, lane, result, &error, sizeof error);
    }
}

static void succeed(struct exec_warp *w, uint32_t mask, const uint32_t *arguments, uint32_t result)
{
    const uint32_t error = SUCCESS;
    (void)arguments;
    FOR_EACH_LANE(mask, lane)
        device_result(w, lane, result, &error, sizeof error);
}

/* Into the variable that the first argument points to; false after a fault. */
static bool store(struct exec_warp *w, uint32_t lane, const uint32_t *arguments, const void *value, uint32_t bytes)
{
    uint8_t *pointers[WARP_LANES];
    w->addr[lane] = device_argument64(w, lane, arguments[0]);
    if (!exec_resolve(w, PTX_SPACE_NONE, 1u << lane, bytes, bytes, true, pointers))
        return false;
    memcpy(pointers[lane], value, bytes);
    return true;
}

/* A stream or an event: a number that is no stream of the host's. */
static void create_handle(struct exec_warp *w, uint32_t mask, const uint32_t *arguments, uint32_t result)
{
    FOR_EACH_LANE(mask, lane) {
        uint64_t handle = 0x100 + ++w->launch->queue->handles;
        if (!store(w, lane, arguments, &handle, sizeof handle))
            return;
    }
    succeed(w, mask, arguments, result);
}

static void get_device(struct exec_warp *w, uint32_t mask, const uint32_t *arguments, uint32_t result)
{
    const uint32_t device = 0;
    FOR_EACH_LANE(mask, lane)
        if (!store(w, lane, arguments, &device, sizeof device))
            return;
    succeed(w, mask, arguments, result);
}

static void allocate(struct exec_warp *w, uint32_t mask, const uint32_t *arguments, uint32_t result)
{
    FOR_EACH_LANE(mask, lane) {
        uint64_t address = device_malloc(w->launch, device_argument64(w, lane, arguments[1]));
        uint32_t error = address ? SUCCESS : NO_MEMORY;
        if (!store(w, lane, arguments, &address, sizeof address))
            return;
        device_result(w, lane, result, &error, sizeof error);
    }
}

static void release(struct exec_warp *w, uint32_t mask, const uint32_t *arguments, uint32_t result)
{
    device_free(w, mask, arguments, UINT32_MAX);
    if (w->state == WARP_READY)
        succeed(w, mask, arguments, result);
}

static void copy(struct exec_warp *w, uint32_t mask, const uint32_t *arguments, uint32_t result)
{
    FOR_EACH_LANE(mask, lane) {
        struct device_work *work = add(w, lane);
        if (!work)
            return;
        work->to = device_argument64(w, lane, arguments[0]);
        work->from = device_argument64(w, lane, arguments[1]);
        work->bytes = device_argument64(w, lane, arguments[2]);
        give_turn(w->launch->queue, work, device_argument64(w, lane, arguments[4]));
    }
    succeed(w, mask, arguments, result);
}

static void fill(struct exec_warp *w, uint32_t mask, const uint32_t *arguments, uint32_t result)
{
    FOR_EACH_LANE(mask, lane) {
        struct device_work *work = add(w, lane);
        if (!work)
            return;
        work->to = device_argument64(w, lane, arguments[0]);
        work->value = *device_argument(w, lane, arguments[1]);
        work->fills = true;
        work->bytes = device_argument64(w, lane, arguments[2]);
        give_turn(w->launch->queue, work, device_argument64(w, lane, arguments[3]));
    }
    succeed(w, mask, arguments, result);
}

/* One text for all: errors are reported by the host. It stays in memory until the queue goes. */
static void error_string(struct exec_warp *w, uint32_t mask, const uint32_t *arguments, uint32_t result)
{
    static const char text[] = "no error";
    struct device_queue *q = w->launch->queue;
    (void)arguments;
    if (!q->text && (q->text = memory_alloc(w->launch->memory, sizeof text, 256, MEMORY_RUNTIME, "text of an error")))
        memcpy(memory_pointer(q->text), text, sizeof text);
    FOR_EACH_LANE(mask, lane)
        device_result(w, lane, result, &q->text, sizeof q->text);
}

const struct device_call *device_launch_call_find(const char *name)
{
    static const struct device_call calls[] = {
        {"GetParameterBufferV2", get_parameter_buffer, 4, 8, {8, 12, 12, 4}},
        {"LaunchDeviceV2", launch_device, 2, 4, {8, 8}},
        {"StreamCreateWithFlags", create_handle, 2, 4, {8, 4}},
        {"StreamDestroy", succeed, 1, 4, {8}},
        {"StreamWaitEvent", succeed, 3, 4, {8, 8, 4}},
        {"EventCreateWithFlags", create_handle, 2, 4, {8, 4}},
        {"EventRecord", succeed, 2, 4, {8, 8}},
        {"EventDestroy", succeed, 1, 4, {8}},
        {"GetLastError", succeed, 0, 4, {0}},
        {"PeekAtLastError", succeed, 0, 4, {0}},
        {"GetErrorString", error_string, 1, 8, {4}},
        {"GetErrorName", error_string, 1, 8, {4}},
        {"GetDevice", get_device, 1, 4, {8}},
        {"Malloc", allocate, 2, 4, {8, 8}},
        {"Free", release, 1, 4, {8}},
        {"MemcpyAsync", copy, 5, 4, {8, 8, 8, 4, 8}},
        {"MemsetAsync", fill, 4, 4, {8, 4, 8, 8}},
    };
    static const char prefix[] = "__cudaCDP2";
    if (strncmp(name, prefix, sizeof prefix - 1) != 0)
        return NULL;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (strcmp(calls[i].name, name + sizeof prefix - 1) == 0)
            return &calls[i];
    return NULL;
}

static int by_turn(const void *a, const void *b)
{
    uint64_t x = ((const struct device_work *)a)->turn, y = ((const struct device_work *)b)->turn;
    return x < y ? -1 : x > y;
}

void device_queue_sort(struct device_queue *q)
{
    if (q->count)
        qsort(q->list, q->count, sizeof *q->list, by_turn);
}

void device_queue_free(struct device_queue *q, struct memory *memory)
{
    for (uint32_t i = q->count; i-- > 0;) /* the table of ranges is the quickest to shorten at its end */
        if (q->list[i].arguments)
            memory_release(memory, q->list[i].arguments);
    if (q->text)
        memory_release(memory, q->text);
    free(q->list);
    *q = (struct device_queue){0};
}
