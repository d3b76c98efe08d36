/* memc: host program; see memc.cu for what the kernel does. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gpu.h"
#include "random.h"
#include "workload.h"

enum {
    BLOCK = 256,
    NOTHING = -1,
    CHUNK = 12,
    LINKED = 1,
    KEY_LIMIT = 256,     /* bytes, at most */
    BUCKETS_AN_ITEM = 2, /* at least */
    MISSES_ONE_IN = 20,  /* requests for what is not there */
    EXPIRED_ONE_IN = 64, /* items whose time is over */
    NOW = 86400,         /* seconds */
};

/* All three as the kernel has them. */
struct request {
    int key;
    int length;
    int result;
};

struct item {
    int newer;
    int older;
    int next;
    unsigned last_used;
    unsigned expires;
    int value_bytes;
    int references;
    unsigned char flags;
    unsigned char slab_class;
    unsigned char length;
    unsigned char suffix_bytes;
};

struct result {
    int item;
    int value_bytes;
};

struct store {
    int item_count;
    unsigned char *bytes;
    int byte_count;
    int *offsets; /* of the items, by number */
    int *buckets;
    unsigned bucket_count; /* a power of two */
};

struct batch {
    int request_count;
    struct request *requests;
    unsigned char *keys;
    int key_bytes;
};

static const long request_counts[SIZE_COUNT] = {1000, 30720, 38400};

static uint32_t rotated(uint32_t word, int bits) { return word << bits | word >> (32 - bits); }

static void mix(uint32_t *state, const uint32_t *words)
{
    state[0] = rotated(state[0] ^ words[0], 11) + state[2];
    state[1] = rotated(state[1] ^ words[1], 19) + state[0];
    state[2] = rotated(state[2] ^ words[2], 7) + state[1];
    state[0] = rotated(state[0], 23) ^ state[1];
    state[1] = rotated(state[1], 5) + state[2];
    state[2] = rotated(state[2], 13) ^ state[0];
}

static uint32_t hash(const unsigned char *key, int length)
{
    uint32_t state[3] = {0x9e3779b9u + length, 0x7f4a7c15u, 0xf39cc060u};
    uint32_t end[3] = {length, 0, 0};

    /* The last chunk may be empty, and is mixed all the same. */
    for (int at = 0; at <= length / CHUNK * CHUNK; at += CHUNK) {
        uint32_t words[3] = {0, 0, 0};
        for (int i = 0; i < CHUNK && at + i < length; i++)
            words[i / 4] |= (uint32_t)key[at + i] << 8 * (i % 4);
        mix(state, words);
    }
    mix(state, end);
    return state[2];
}

/*
 * The key of item `number`, made of it alone: a common beginning and the title of an article. A title's length is drawn
 * from a range that is itself drawn, so most titles are short and a few are long.
 */
static int make_key(unsigned char *key, uint64_t number)
{
    static const char beginning[] = "enwiki:page:";
    uint64_t state = number * 2 + 1;
    int length = sizeof beginning - 1;
    int title = 8 + random_below(&state, 16 << random_below(&state, 3));

    memcpy(key, beginning, length);
    for (int i = 0; i < title; i++)
        key[length++] = 'a' + random_below(&state, 26);
    return length;
}

static struct item *item_at(const struct store *store, int offset) { return (struct item *)(store->bytes + offset); }

/* Appends item `number` with its key, and puts it in front of its bucket's chain. */
static void store_add(struct store *store, int number)
{
    unsigned char key[KEY_LIMIT];
    int length = make_key(key, number);
    int *bucket = &store->buckets[hash(key, length) & (store->bucket_count - 1)];
    struct item *item = item_at(store, store->byte_count);

    item->newer = number ? store->offsets[number - 1] : NOTHING;
    item->older = NOTHING;
    if (number)
        item_at(store, item->newer)->older = store->byte_count;
    item->next = *bucket;
    item->last_used = NOW - number % 1000;
    item->expires = number % EXPIRED_ONE_IN == EXPIRED_ONE_IN - 1 ? NOW - 1 : NOW + number;
    item->value_bytes = 100 + number % 900;
    item->flags = LINKED;
    item->length = length;
    memcpy(item + 1, key, length);
    *bucket = store->offsets[number] = store->byte_count;
    store->byte_count += sizeof *item + (length + 3) / 4 * 4;
}

static void store_fill(struct store *store, int item_count)
{
    store->item_count = item_count;
    store->bucket_count = 1;
    while (store->bucket_count < (unsigned)item_count * BUCKETS_AN_ITEM)
        store->bucket_count *= 2;
    store->bytes = workload_alloc(item_count, sizeof(struct item) + KEY_LIMIT);
    store->byte_count = 0;
    store->offsets = workload_alloc(item_count, sizeof(int));
    store->buckets = workload_alloc(store->bucket_count, sizeof(int));
    for (unsigned i = 0; i < store->bucket_count; i++)
        store->buckets[i] = NOTHING;
    for (int i = 0; i < item_count; i++)
        store_add(store, i);
}

/*
 * Sums of the items' shares in the requests. They fall as those of pages of the web do, the n-th by n to the power of
 * 3/4 (Zipf's law). Square roots are exact to the last bit, so that inputs are the same
 * everywhere. */
static uint64_t *popularity(int item_count)
{
    uint64_t *sums = workload_alloc(item_count, sizeof *sums);
    uint64_t sum = 0;

    for (int i = 0; i < item_count; i++)
        sums[i] = sum += 0x1p40 / (sqrt(i + 1) * sqrt(sqrt(i + 1)));
    return sums;
}

/* The item whose share a number below the sum of all lies in. */
static int item_drawn(const uint64_t *sums, int item_count, uint64_t number)
{
    int first = 0;

    for (int count = item_count; count > 1; count -= count / 2) {
        if (sums[first + count / 2 - 1] <= number)
            first += count / 2;
    }
    return first;
}

/* `wanted` is the number of the item that each request asks for, or NOTHING where its key is not in the store. */
static void batch_random(struct batch *batch, const struct store *store, int request_count, int *wanted)
{
    uint64_t state = workload_seed(BLOCK);

    batch->request_count = request_count;
    batch->requests = workload_alloc(request_count, sizeof *batch->requests);
    batch->keys = workload_alloc(request_count, KEY_LIMIT);
    batch->key_bytes = 0;
    uint64_t *sums = popularity(store->item_count);
    for (int i = 0; i < request_count; i++) {
        uint64_t drawn = (uint64_t)random_u32(&state) << 32;
        drawn |= random_u32(&state);
        int number = item_drawn(sums, store->item_count, drawn % sums[store->item_count - 1]);
        wanted[i] = number;
        if (random_below(&state, MISSES_ONE_IN) == 0) {
            number += store->item_count;
            wanted[i] = NOTHING;
        }
        struct request request = {batch->key_bytes, make_key(batch->keys + batch->key_bytes, number), i};
        batch->key_bytes += request.length;
        batch->requests[i] = request;
    }
    free(sums);
}

/* What each request should get. Also counts the references to the items of `store`, as the device does to its copy. */
static void get_reference(struct store *store, const int *wanted, struct result *expected, int request_count)
{
    for (int i = 0; i < request_count; i++) {
        expected[i] = (struct result){NOTHING, 0};
        if (wanted[i] == NOTHING)
            continue;
        struct item *item = item_at(store, store->offsets[wanted[i]]);
        if (item->expires <= NOW)
            continue;
        item->references++;
        expected[i] = (struct result){store->offsets[wanted[i]], item->value_bytes};
    }
}

/* The results, and in `bytes` what the store is like afterwards. */
static void get_on_device(const struct gpu *gpu, const struct store *store, struct batch *batch, struct result *results,
                          unsigned char *bytes)
{
    size_t result_bytes = batch->request_count * sizeof *results;
    unsigned bucket_mask = store->bucket_count - 1;
    unsigned now = NOW;
    CUdeviceptr requests = gpu_upload(batch->requests, batch->request_count * sizeof *batch->requests);
    CUdeviceptr keys = gpu_upload(batch->keys, batch->key_bytes);
    CUdeviceptr buckets = gpu_upload(store->buckets, store->bucket_count * sizeof(int));
    CUdeviceptr items = gpu_upload(store->bytes, store->byte_count);
    CUdeviceptr result_memory = gpu_alloc_zeroed(result_bytes);
    CUdeviceptr all[] = {requests, keys, buckets, items, result_memory};
    void *arguments[] = {&requests, &keys, &buckets, &bucket_mask, &items, &result_memory, &batch->request_count, &now};
    struct shape grid = {gpu_blocks(batch->request_count, BLOCK), 1};

    gpu_launch(gpu_kernel(gpu, "memc_get"), grid, (struct shape){BLOCK, 1}, arguments);
    gpu_download(results, result_memory, result_bytes);
    gpu_download(bytes, items, store->byte_count);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        gpu_free(all[i]);
}

int main(int argc, char **argv)
{
    long requests = 0;
    const struct workload_option options[] = {
        {"requests", "requests of a batch of your own size", &requests, 4000000},
        {NULL, NULL, NULL, 0},
    };
    const struct workload workload = {
        .name = "memc",
        .summary = "Look-ups in a key-value store, a batch of requests, one thread each.",
        .inputs = {"1,000 requests", "30,720 requests", "38,400 requests"},
        .options = options,
    };
    enum workload_size size = workload_parse(&workload, argc, argv);
    int request_count = requests ? requests : request_counts[size];
    struct result *results = workload_alloc(request_count, sizeof *results);
    struct result *expected = workload_alloc(request_count, sizeof *expected);
    int *wanted = workload_alloc(request_count, sizeof *wanted);
    struct store store;
    struct batch batch;
    struct gpu gpu;

    store_fill(&store, request_count);
    batch_random(&batch, &store, request_count, wanted);
    unsigned char *bytes = workload_alloc(store.byte_count, 1);
    gpu_open(&gpu);
    get_on_device(&gpu, &store, &batch, results, bytes);
    gpu_close(&gpu);
    get_reference(&store, wanted, expected, request_count);
    size_t values = 2 * (size_t)request_count;
    size_t mismatches = compare_u32("value", (uint32_t *)results, (uint32_t *)expected, values);
    mismatches += compare_u8("store", bytes, store.bytes, store.byte_count);
    void *all[] = {store.bytes, store.offsets, store.buckets, batch.requests, batch.keys,
                   results,     expected,      wanted,        bytes};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
    return workload_verdict(&workload, mismatches, values + store.byte_count, "values and bytes of the store");
}
