/*
 * memc: look-ups in a key-value store, a batch of requests, one thread each (after Memcached on a GPU, ISPASS 2012).
 *
 * A thread reads its request, hashes the key, takes the bucket and walks its chain: where lengths agree it compares the keys, byte
 * by byte. Keys lie one behind the other and differ in length. The hash takes twelve bytes a trip, by words, halves or
 * bytes as the key's address allows: three loops, and lanes seldom agree on which. Chains and comparisons end at different
 * times for different lanes. Five loops, two of them nested, and hardly an instruction for a full warp.
 */
#include "device.h"

enum { NOTHING = -1, CHUNK = 12 };

struct request {
    int key;    /* offset of its first byte in the batch's keys */
    int length; /* of the key, in bytes */
    int result; /* where the answer goes */
};

/* In the store; its key follows, filled up to a multiple of four bytes. */
struct item {
    int next; /* offset of the next in the bucket's chain, or NOTHING */
    int length;
    int value;
};

struct hash_state {
    unsigned a;
    unsigned b;
    unsigned c;
};

static inline __device__ unsigned rotated(unsigned word, int bits) { return word << bits | word >> (32 - bits); }

static inline __device__ void mix(hash_state &state, unsigned first, unsigned second, unsigned third)
{
    state.a = rotated(state.a ^ first, 11) + state.c;
    state.b = rotated(state.b ^ second, 19) + state.a;
    state.c = rotated(state.c ^ third, 7) + state.b;
    state.a = rotated(state.a, 23) ^ state.b;
    state.b = rotated(state.b, 5) + state.c;
    state.c = rotated(state.c, 13) ^ state.a;
}

/* A little-endian word, read as `Unit`s. */
template <typename Unit> static inline __device__ unsigned word_at(const unsigned char *bytes)
{
    const Unit *units = (const Unit *)bytes;
    unsigned word = 0;

#pragma unroll
    for (unsigned i = 0; i < 4 / sizeof(Unit); i++)
        word |= (unsigned)units[i] << (8 * sizeof(Unit) * i);
    return word;
}

/* All whole chunks of a key that is aligned to `Unit`; returns where the rest begins. */
template <typename Unit> static inline __device__ int mix_chunks(hash_state &state, const unsigned char *key, int length)
{
    int at = 0;

#pragma unroll 1
    for (; at + CHUNK <= length; at += CHUNK)
        mix(state, word_at<Unit>(key + at), word_at<Unit>(key + at + 4), word_at<Unit>(key + at + 8));
    return at;
}

static inline __device__ unsigned hash(const unsigned char *key, int length)
{
    hash_state state = { 0x9e3779b9u + length, 0x7f4a7c15u, 0xf39cc060u };
    unsigned rest[3] = { 0, 0, 0 };
    int at;

    if ((unsigned long long)key % 4 == 0)
        at = mix_chunks<unsigned>(state, key, length);
    else if ((unsigned long long)key % 2 == 0)
        at = mix_chunks<unsigned short>(state, key, length);
    else
        at = mix_chunks<unsigned char>(state, key, length);
#pragma unroll
    for (int i = 0; i < CHUNK - 1; i++) {
        if (at + i < length)
            rest[i / 4] |= (unsigned)key[at + i] << 8 * (i % 4);
    }
    mix(state, rest[0], rest[1], rest[2]);
    mix(state, length, 0, 0);
    return state.c;
}

/*
 * Are `length` bytes at `key` among the keys those at `candidate` in the store? Places are unsigned: as they may wrap, both
 * addresses are computed anew for every byte, which makes a loop of about as many instructions as the papers' accesses in a
 * thousand instructions tell.
 */
static inline __device__ bool same_bytes(const unsigned char *keys, unsigned key, const unsigned char *store, unsigned candidate,
                                         unsigned length)
{
    int difference = 0;

#pragma unroll 1
    for (unsigned i = 0; i < length && difference == 0; i++)
        difference = keys[key + i] - store[candidate + i];
    return difference == 0;
}

extern "C" __global__ void memc_get(const request *requests, const unsigned char *keys, const int *buckets,
                                    unsigned bucket_mask, const unsigned char *store, int *results, int request_count)
{
    int tid = blockIdx.x * blockDim.x + threadIdx.x;

    if (tid < request_count) {
        int key = requests[tid].key;
        int length = requests[tid].length;
        int value = NOTHING;
        int at = buckets[hash(keys + key, length) & bucket_mask];

#pragma unroll 1
        while (at != NOTHING) {
            const item *candidate = (const item *)(store + at);
            if (candidate->length == length && same_bytes(keys, key, store, at + sizeof(item), length)) {
                value = candidate->value;
                break;
            }
            at = candidate->next;
        }
        results[requests[tid].result] = value;
    }
}
