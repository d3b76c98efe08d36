/* Random programs over several streams: whatever is given to which stream, what CUDA orders must happen in that order.
 * Each piece of work changes one of a few cells, or copies one to another; before a stream touches a cell that another
 * one had last, it waits for an event, unless the rules of the legacy stream put the two in order. The host does the
 * same sums in the order of the calls. */
#include "check.h"

enum { CELLS = 6, STREAMS = 6, STEPS = 60, PROGRAMS = 40 };

/* *to = *to * factor + *from, after some rounds of nothing. */
#define PTX_STEP                                                                                                   \
    ".visible .entry step(.param .u64 to, .param .u64 from, .param .u32 factor, .param .u32 rounds)\n"             \
    "{\n"                                                                                                          \
    " .reg .u32 %r<8>; .reg .u64 %d<4>; .reg .pred %p;\n"                                                          \
    " ld.param.u64 %d0, [to]; ld.param.u64 %d1, [from]; ld.param.u32 %r0, [factor]; ld.param.u32 %r1, [rounds];\n" \
    " ld.global.u32 %r2, [%d0]; ld.global.u32 %r3, [%d1];\n"                                                       \
    " mov.u32 %r4, 0;\n"                                                                                           \
    "AGAIN: add.u32 %r4, %r4, 1; setp.lt.u32 %p, %r4, %r1; @%p bra AGAIN;\n"                                       \
    " mad.lo.u32 %r5, %r2, %r0, %r3;\n"                                                                            \
    " st.global.u32 [%d0], %r5;\n"                                                                                 \
    " ret;\n"                                                                                                      \
    "}\n"

struct cell {
    CUdeviceptr device;
    unsigned int model;
    int last; /* stream, or -1 */
};

static CUfunction step;
static CUstream streams[STREAMS]; /* 0: legacy; 1, 2: blocking; the others are not */
static struct cell cells[CELLS];
static unsigned int *pinned; /* a word a cell, for copies and host functions */
static unsigned int state;

static unsigned int random_below(unsigned int n)
{
    state = state * 1664525u + 1013904223u;
    return (state >> 8) % n;
}

static int are_ordered(int a, int b) { return a == b || (a == 0 && b <= 2) || (b == 0 && a <= 2); }

/* The stream is about to use the cell. */
static void take(int s, struct cell *c)
{
    if (c->last >= 0 && !are_ordered(c->last, s)) {
        CUevent e;
        OK(cuEventCreate(&e, CU_EVENT_DISABLE_TIMING));
        OK(cuEventRecord(e, streams[c->last]));
        OK(cuStreamWaitEvent(streams[s], e, 0));
        OK(cuEventDestroy(e));
    }
    c->last = s;
}

static void CUDA_CB triple(void *user) { *(unsigned int *)user *= 3; }

static void one_step(void)
{
    int s = (int)random_below(STREAMS);
    struct cell *to = &cells[random_below(CELLS)], *from = &cells[random_below(CELLS)];
    unsigned int factor = random_below(1000) + 1, rounds = random_below(200), *word = &pinned[to - cells],
                 pageable = factor;
    take(s, to);
    switch (random_below(7)) {
    case 0:
        OK(cuMemsetD32Async(to->device, factor, 1, streams[s]));
        to->model = factor;
        break;
    case 1:
        OK(cuMemcpyHtoDAsync(to->device, &pageable, 4, streams[s]));
        to->model = factor;
        pageable = 0;
        break;
    case 2: /* out to the host, changed there, and back */
        OK(cuMemcpyDtoHAsync(word, to->device, 4, streams[s]));
        OK(cuLaunchHostFunc(streams[s], triple, word));
        OK(cuMemcpyHtoDAsync(to->device, word, 4, streams[s]));
        to->model *= 3;
        break;
    case 3:
        take(s, from);
        OK(cuMemcpyDtoDAsync(to->device, from->device, 4, streams[s]));
        to->model = from->model;
        break;
    default:
        take(s, from);
        OK(cuLaunchKernel(step, 1, 1, 1, 1, 1, 1, 0, streams[s],
                          (void *[]){&to->device, &from->device, &factor, &rounds}, NULL));
        to->model = to->model * factor + from->model;
    }
}

static void now_and_then(void)
{
    CUdeviceptr p;
    unsigned int word = 0;
    struct cell *c = &cells[random_below(CELLS)];
    switch (random_below(12)) {
    case 0: OK(cuStreamSynchronize(streams[random_below(STREAMS)])); break;
    case 1: TRUE(cuStreamQuery(streams[random_below(STREAMS)]) != CUDA_ERROR_INVALID_HANDLE); break;
    case 2:
        OK(cuMemAllocAsync(&p, 256, streams[1]));
        OK(cuMemFreeAsync(p, streams[1]));
        break;
    case 3:
        OK(cuMemAlloc(&p, 256));
        OK(cuMemFree(p));
        break;
    case 4: /* a copy that is waited for, in the legacy stream */
        take(0, c);
        OK(cuMemcpyDtoH(&word, c->device, 4));
        TRUE(word == c->model);
        break;
    case 5: { /* a stream that goes and one that comes in its place */
        int s = (int)random_below(STREAMS - 1) + 1;
        for (int i = 0; i < CELLS; i++)
            if (cells[i].last == s)
                take(s == 1 ? 2 : 1, &cells[i]);
        OK(cuStreamDestroy(streams[s]));
        OK(cuStreamCreate(&streams[s], s <= 2 ? CU_STREAM_DEFAULT : CU_STREAM_NON_BLOCKING));
        break;
    }
    default: break;
    }
}

static void one_program(unsigned int seed)
{
    state = seed * 977 + 1;
    for (int i = 0; i < CELLS; i++) {
        cells[i].model = (unsigned int)i + 1;
        cells[i].last = -1;
        OK(cuMemsetD32(cells[i].device, (unsigned int)i + 1, 1));
    }
    OK(cuCtxSynchronize());
    for (int i = 0; i < STEPS; i++) {
        one_step();
        now_and_then();
    }
    OK(cuCtxSynchronize());
    for (int i = 0; i < CELLS; i++) {
        unsigned int word = 0;
        OK(cuMemcpyDtoH(&word, cells[i].device, 4));
        if (word != cells[i].model)
            fprintf(stderr, "program %u, cell %d: %u, expected %u\n", seed, i, word, cells[i].model);
        TRUE(word == cells[i].model);
    }
}

int main(void)
{
    CUcontext ctx = new_context();
    CUmodule module;
    MUST(cuModuleLoadData(&module, PTX_HEAD PTX_STEP));
    MUST(cuModuleGetFunction(&step, module, "step"));
    MUST(cuMemHostAlloc((void **)&pinned, CELLS * sizeof *pinned, 0));
    for (int i = 0; i < CELLS; i++)
        MUST(cuMemAlloc(&cells[i].device, 4));
    for (int s = 1; s < STREAMS; s++)
        MUST(cuStreamCreate(&streams[s], s <= 2 ? CU_STREAM_DEFAULT : CU_STREAM_NON_BLOCKING));
    for (unsigned int seed = 0; seed < PROGRAMS && !failures; seed++)
        one_program(seed);
    OK(cuCtxDestroy(ctx));
    return done();
}
