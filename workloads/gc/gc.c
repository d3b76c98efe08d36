/* gc: host program; see gc.cu for what the kernel does. */
#include <stdlib.h>

#include "gpu.h"
#include "random.h"
#include "workload.h"

enum {
    BLOCK = 256,
    DATA = 0,
    REFERENCE = 1,
    NOTHING = -1,
    FIELDS_LEAST = 6,
    FIELDS_SPREAD = 4,
    GARBAGE_ONE_IN = 4,
    CROSSING_ONE_IN = 16, /* objects with a second reference, across the lists */
};

struct problem {
    long width; /* roots, and so objects on a list */
    long depth; /* lists, at least */
    long closed;
};

static const struct problem problems[SIZE_COUNT] = {{1024, 3, 0}, {30720, 3, 0}, {30720, 16, 0}};

struct heap {
    int object_count;
    int *addresses;
    int *lengths;
    int *words;
    int word_count;
};

/* Numbers from 0 to count - 1 in random order. */
static int *random_order(int count, uint64_t *state)
{
    int *order = workload_alloc(count, sizeof(int));

    for (int i = 0; i < count; i++) {
        int other = random_below(state, i + 1);
        order[i] = order[other];
        order[other] = i;
    }
    return order;
}

/* Fields are data or empty references; the caller fills in the others. */
static void heap_alloc(struct heap *heap, int object_count, uint64_t *state)
{
    int *order = random_order(object_count, state);

    heap->object_count = object_count;
    heap->addresses = workload_alloc(object_count, sizeof(int));
    heap->lengths = workload_alloc(object_count, sizeof(int));
    heap->words = workload_alloc((size_t)object_count * (1 + 2 * (FIELDS_LEAST + FIELDS_SPREAD)), sizeof(int));
    heap->word_count = 0;
    for (int i = 0; i < object_count; i++) {
        int fields = FIELDS_LEAST + random_below(state, FIELDS_SPREAD);
        int *record = heap->words + heap->word_count;
        heap->addresses[order[i]] = heap->word_count;
        heap->lengths[order[i]] = record[0] = fields;
        for (int field = 0; field < fields; field++) {
            record[1 + field] = random_below(state, 2) ? REFERENCE : DATA;
            record[1 + fields + field] = record[1 + field] == REFERENCE ? NOTHING : (int)random_below(state, 1 << 30);
        }
        heap->word_count += 1 + 2 * fields;
    }
    free(order);
}

static void set_reference(struct heap *heap, int object, int field, int target)
{
    int *record = heap->words + heap->addresses[object];

    record[1 + field] = REFERENCE;
    record[1 + record[0] + field] = target;
}

/*
 * `width` chains of `depth` objects each: the first field of an object is the next of its chain; of the last one it is
 * nothing, or any object where chains are `closed`. Some have another reference, from any field to anywhere. And
 * garbage, to which nothing refers.
 */
static void heap_random(struct heap *heap, const struct problem *problem, int *roots)
{
    int width = problem->width;
    int live = width * problem->depth;
    uint64_t state = workload_seed(BLOCK);

    heap_alloc(heap, live + live / GARBAGE_ONE_IN, &state);
    int *order = random_order(heap->object_count, &state);
    for (int i = 0; i < heap->object_count; i++) {
        int object = order[i];
        if (i + width < live)
            set_reference(heap, object, 0, order[i + width]);
        else if (i >= live || problem->closed)
            set_reference(heap, object, 0, order[random_below(&state, live)]);
        if (random_below(&state, CROSSING_ONE_IN) == 0) {
            int field = random_below(&state, heap->lengths[object]);
            set_reference(heap, object, field, order[random_below(&state, live)]);
        }
    }
    for (int i = 0; i < width; i++)
        roots[i] = order[i];
    free(order);
}

static void mark_reference(const struct heap *heap, const int *roots, int root_count, int *marks)
{
    int *stack = workload_alloc(heap->object_count, sizeof(int));
    int depth = 0;

    for (int i = 0; i < root_count; i++) {
        marks[roots[i]] = 1;
        stack[depth++] = roots[i];
    }
    while (depth > 0) {
        int object = stack[--depth];
        const int *kinds = heap->words + heap->addresses[object] + 1;
        const int *values = kinds + heap->lengths[object];
        for (int i = 0; i < heap->lengths[object]; i++) {
            if (kinds[i] != REFERENCE || values[i] == NOTHING || marks[values[i]])
                continue;
            marks[values[i]] = 1;
            stack[depth++] = values[i];
        }
    }
    free(stack);
}

/* One list after the other, until one has found no new object. */
static void mark_on_device(const struct gpu *gpu, const struct heap *heap, const int *roots, int root_count, int *marks)
{
    CUfunction kernel = gpu_kernel(gpu, "gc_mark");
    size_t table_bytes = heap->object_count * sizeof(int);
    /* Laid out as the kernel's parameter. */
    struct {
        CUdeviceptr addresses;
        CUdeviceptr lengths;
        CUdeviceptr words;
        CUdeviceptr marks;
    } memory = {gpu_upload(heap->addresses, table_bytes), gpu_upload(heap->lengths, table_bytes),
                gpu_upload(heap->words, heap->word_count * sizeof(int)), gpu_upload(marks, table_bytes)};
    CUdeviceptr list = gpu_alloc_zeroed(table_bytes);
    CUdeviceptr next_list = gpu_alloc_zeroed(table_bytes);
    CUdeviceptr next_count = gpu_alloc_zeroed(sizeof(int));
    int count = root_count;

    CHECK(cuMemcpyHtoD(list, roots, root_count * sizeof(int)));
    while (count > 0) {
        void *arguments[] = {&list, &count, &memory, &next_list, &next_count};
        CHECK(cuMemsetD32(next_count, 0, 1));
        gpu_launch(kernel, (struct shape){gpu_blocks(count, BLOCK), 1}, (struct shape){BLOCK, 1}, arguments);
        gpu_download(&count, next_count, sizeof count);
        CUdeviceptr newest = next_list;
        next_list = list;
        list = newest;
    }
    gpu_download(marks, memory.marks, table_bytes);
    CUdeviceptr all[] = {memory.addresses, memory.lengths, memory.words, memory.marks, list, next_list, next_count};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        gpu_free(all[i]);
}

int main(int argc, char **argv)
{
    struct problem given = {0, 0, 0};
    const struct workload_option options[] = {
        {"width", "roots of a heap of your own size, and so objects on a list", &given.width, 1000000},
        {"depth", "objects behind each root", &given.depth, 100},
        {"closed", "1: the last object behind a root refers to any other, too", &given.closed, 1},
        {NULL, NULL, NULL, 0},
    };
    const struct workload workload = {
        .name = "gc",
        .summary = "Mark phase of a tracing garbage collector, one thread an object.",
        .inputs = {"1,024 roots, depth 3", "30,720 roots, depth 3", "30,720 roots, depth 16"},
        .options = options,
    };
    struct problem problem = problems[workload_parse(&workload, argc, argv)];
    struct heap heap;
    struct gpu gpu;

    if (given.width)
        problem.width = given.width;
    if (given.depth)
        problem.depth = given.depth;
    problem.closed = given.closed;
    int *roots = workload_alloc(problem.width, sizeof(int));
    heap_random(&heap, &problem, roots);
    int *marks = workload_alloc(heap.object_count, sizeof(int));
    int *expected = workload_alloc(heap.object_count, sizeof(int));
    for (long i = 0; i < problem.width; i++)
        marks[roots[i]] = 1;
    gpu_open(&gpu);
    mark_on_device(&gpu, &heap, roots, problem.width, marks);
    gpu_close(&gpu);
    mark_reference(&heap, roots, problem.width, expected);
    size_t mismatches = compare_u32("mark", (uint32_t *)marks, (uint32_t *)expected, heap.object_count);
    int status = workload_verdict(&workload, mismatches, heap.object_count, "marks");
    free(heap.addresses);
    free(heap.lengths);
    free(heap.words);
    free(roots);
    free(marks);
    free(expected);
    return status;
}
