/* See programs.h.
 *
 * stream: coalesced loads and stores, constants, loads past the L1, a shuffle and a vote; warps of 32 threads.
 * maze: every thread goes its own way through the input: gathers, local memory, atomics whose results are used, a
 * fence, a barrier. Two warps per block.
 * tiles: shared memory with collisions in its banks, atomics there, barriers in a loop, all kinds of arithmetic units;
 * blocks end in half a warp. */
#include "programs.h"

const struct program programs[PROGRAMS] = {
    {"stream", "coalesced", 24, 32},
    {"maze", "irregular, with atomics and local memory", 8, 64},
    {"tiles", "shared memory and arithmetic", 6, 80},
};

/* %rd0: the buffer, the output from byte 65536 on, the words that atomics add to from 90112, what depends on the order
 * of threads from 98304. %r0: the thread of all. %r1: the thread of the block. */
__asm__(".pushsection .rodata\n.globl programs_ptx\nprograms_ptx: .incbin \"tests/machines/programs.ptx\"\n.byte 0\n"
        ".popsection");
