/*
 * dwthaar: the Haar wavelet transform of a signal in one dimension.
 *
 * A block takes two samples per thread into shared memory and transforms them level by level until one approximation is
 * left: each level turns pairs into their scaled sums, which the next level takes, and their scaled differences, which
 * are results. The number of threads that work halves per level, and they are always the first ones of the block: their
 * masks have no gaps, so that no compaction can save a warp. One barrier per level. The host launches the kernel again
 * over the blocks' approximations until one is left.
 */
#include "device.h"

enum { BLOCK = 512, SAMPLES = 2 * BLOCK, BANKS = 32 };

#define INVERSE_ROOT_2 0x1.6a09e6p-1f

/* Sums stay where their pair began, so levels stride by powers of two; one word in 33 is left out for the banks. */
static inline __device__ unsigned word_of(unsigned sample) { return sample + sample / BANKS; }

/*
 * The number of samples of a block is a power of two, that of blocks too. Of a level with m sums in the whole grid the
 * differences go to transform[m] and what follows; the one sum that is left of a block goes to sums[block].
 */
extern "C" __global__ void dwthaar(const float *signal, float *transform, float *sums)
{
    __shared__ float samples[SAMPLES + SAMPLES / BANKS];
    unsigned tx = threadIdx.x;
    unsigned threads = blockDim.x;
    unsigned block = blockIdx.x;
    unsigned span = 1;

    samples[word_of(tx)] = signal[2 * block * threads + tx];
    samples[word_of(tx + threads)] = signal[2 * block * threads + threads + tx];
    __syncthreads();
#pragma unroll 1
    for (unsigned active = threads; active > 0; active /= 2) {
        if (tx < active) {
            unsigned at = word_of(2 * span * tx);
            float left = samples[at];
            float right = samples[word_of(2 * span * tx + span)];
            transform[active * (gridDim.x + block) + tx] = __fmul_rn(__fsub_rn(left, right), INVERSE_ROOT_2);
            samples[at] = __fmul_rn(__fadd_rn(left, right), INVERSE_ROOT_2);
        }
        span *= 2;
        __syncthreads();
    }
    if (tx == 0)
        sums[block] = samples[0];
}
