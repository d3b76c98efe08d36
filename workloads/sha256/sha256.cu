/*
 * sha256: the hash of messages of 55 bytes or less, one per thread: 64 rounds of rotations, logic and additions on
 * 32-bit integers, with the message schedule in 16 registers (FIPS 180-4). sha256_search looks for numbers whose hash
 * begins with zero bits, as proof of work does.
 */
#include "device_warp.h"

enum { BLOCK = 256, WORDS = 8, ROUNDS = 64 };

__constant__ unsigned sha256_rounds[ROUNDS];
__constant__ unsigned sha256_first[WORDS];

static inline __device__ unsigned turn(unsigned x, int by) { return x >> by | x << (32 - by); }

static inline __device__ __attribute__((always_inline)) void compress(unsigned (&state)[WORDS], unsigned (&w)[16])
{
    unsigned a = state[0], b = state[1], c = state[2], d = state[3], e = state[4], f = state[5], g = state[6];
    unsigned h = state[7];

#pragma unroll
    for (int i = 0; i < ROUNDS; i++) {
        if (i >= 16) {
            unsigned early = w[(i + 1) % 16], late = w[(i + 14) % 16];
            w[i % 16] += w[(i + 9) % 16] + (turn(early, 7) ^ turn(early, 18) ^ early >> 3) +
                         (turn(late, 17) ^ turn(late, 19) ^ late >> 10);
        }
        unsigned first =
            h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) + sha256_rounds[i] + w[i % 16];
        unsigned second = (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
        h = g, g = f, f = e, e = d + first, d = c, c = b, b = a, a = first + second;
    }
    state[0] += a, state[1] += b, state[2] += c, state[3] += d;
    state[4] += e, state[5] += f, state[6] += g, state[7] += h;
}

/* A message is one block of 16 words, padded by the host; word i of all messages lies together. */
extern "C" __global__ void sha256_messages(const unsigned *__restrict__ messages, unsigned *__restrict__ hashes,
                                           int count)
{
    int message = blockIdx.x * BLOCK + threadIdx.x;
    unsigned w[16], state[WORDS];

    if (message >= count)
        return;
#pragma unroll
    for (int i = 0; i < 16; i++)
        w[i] = messages[i * count + message];
#pragma unroll
    for (int i = 0; i < WORDS; i++)
        state[i] = sha256_first[i];
    compress(state, w);
#pragma unroll
    for (int i = 0; i < WORDS; i++)
        hashes[i * count + message] = state[i];
}

/* Messages of one word, the thread's number and a seed; counts those whose hash begins with six zero bits. */
extern "C" __global__ void sha256_search(unsigned *found, unsigned seed, int count)
{
    int number = blockIdx.x * BLOCK + threadIdx.x;
    unsigned w[16] = {}, state[WORDS];

    w[0] = seed + number;
    w[1] = 0x80000000u;
    w[15] = 32;
#pragma unroll
    for (int i = 0; i < WORDS; i++)
        state[i] = sha256_first[i];
    compress(state, w);
    unsigned lanes = __ballot_sync(ALL_LANES, number < count && state[0] >> 26 == 0);
    if (threadIdx.x % LANES == 0 && lanes)
        atomicAdd(found, (unsigned)__popc(lanes));
}
