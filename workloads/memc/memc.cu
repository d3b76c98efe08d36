/*
 * memc: look-ups in a key-value store, a batch of requests, one thread each (after T. Hetherington and others, ISPASS
 * 2012).
 *
 * A thread reads its request, hashes the key, takes the bucket and walks its chain: where lengths agree it compares the
 * keys, byte by byte. An item that is found must be in the table still and must not have expired; the thread then takes
 * a reference to it, and answers with its place and the size of its value. Each of these loads needs the one before:
 * request, key, bucket, header, key of the item, header again.
 *
 * Keys lie one after the other and differ in length. The hash takes twelve bytes per trip, by words, halves or bytes as
 * the key's address allows: three loops, and lanes seldom agree on which. Chains and comparisons end at different times
 * for different lanes. There are five loops, two of them nested, and hardly an instruction for a full warp.
 *
 * memcached also moves a found item in the order of last use, under a lock. That is left out, as the host can do it
 * after the batch.
 */
#include "device.h"

enum { NOTHING = -1, CHUNK = 12, LINKED = 1 /* a flag of an item: it is in the table */ };

struct request {
    int key;    /* offset of its first byte in the batch's keys */
    int length; /* of the key, in bytes */
    int result; /* where the answer goes */
};

/* The header of an item in the store; the key follows, filled up to a multiple of four bytes. */
struct item {
    int newer; /* the neighbours in the order of last use, which a look-up does not touch */
    int older;
    int next;              /* offset of the next item in the bucket's chain, or NOTHING */
    unsigned last_used;    /* all times are in seconds */
    unsigned expires;      /* 0 means never */
    int value_bytes;
    int references;
    unsigned char flags;
    unsigned char slab_class;
    unsigned char length; /* of the key */
    unsigned char suffix_bytes;
};

struct result {
    int item; /* its offset, or NOTHING */
    int value_bytes;
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
template <typename Unit>
static inline __device__ int mix_chunks(hash_state &state, const unsigned char *key, int length)
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
 * Are `length` bytes at `key` among the keys those at `candidate` in the store? Places are unsigned: as they may wrap,
 * both addresses are computed anew for every byte, which makes a loop of about as many instructions as the accesses per
 * thousand instructions in the papers imply.
 */
static inline __device__ bool same_bytes(const unsigned char *keys, unsigned key, const unsigned char *store,
                                         unsigned candidate, unsigned length)
{
    int difference = 0;

#pragma unroll 1
    for (unsigned i = 0; i < length && difference == 0; i++)
        difference = keys[key + i] - store[candidate + i];
    return difference == 0;
}

/* The item with this key, searched for along a chain that begins at `at`; or NOTHING. */
static inline __device__ int find(const unsigned char *store, int at, const unsigned char *keys, int key, int length)
{
#pragma unroll 1
    while (at != NOTHING) {
        const item *candidate = (const item *)(store + at);
        if (candidate->length == length && same_bytes(keys, key, store, at + sizeof(item), length))
            break;
        at = candidate->next;
    }
    return at;
}

/* What memcached does with an item before it hands it out. An item whose time is over is as good as none. */
static inline __device__ bool take(item *found, unsigned now)
{
    if ((found->flags & LINKED) == 0 || (found->expires != 0 && found->expires <= now))
        return false;
    atomicAdd(&found->references, 1);
    return true;
}

extern "C" __global__ void memc_get(const request *requests, const unsigned char *keys, const int *buckets,
                                    unsigned bucket_mask, unsigned char *store, result *results, int request_count,
                                    unsigned now)
{
    int tid = blockIdx.x * blockDim.x + threadIdx.x;

    if (tid < request_count) {
        int key = requests[tid].key;
        int length = requests[tid].length;
        int at = find(store, buckets[hash(keys + key, length) & bucket_mask], keys, key, length);
        result *answer = &results[requests[tid].result];
        if (at != NOTHING && take((item *)(store + at), now)) {
            answer->item = at;
            answer->value_bytes = ((const item *)(store + at))->value_bytes;
        } else {
            answer->item = NOTHING;
            answer->value_bytes = 0;
        }
    }
}
