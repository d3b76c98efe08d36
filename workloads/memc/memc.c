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
    KEY_LIMIT = 256,     /* bytes, at most */
    BUCKETS_AN_ITEM = 2, /* at least */
    MISSES_ONE_IN = 20,  /* requests for what is not there */
};

/* Both as the kernel reads them. */
struct request {
    int key;
    int length;
    int result;
};

struct item {
    int next;
    int length;
    int value;
};

struct store {
    int item_count;
    unsigned char *bytes;
    int byte_count;
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
 * The key of item `number`, made of it alone. The address of an article: a common beginning, and a title whose length
 * is drawn from a range that is itself drawn: most are short, a few
 * long. */
static int make_key(unsigned char *key, uint64_t number)
{
    static const char beginning[] = "en.wikipedia.org/wiki/";
    uint64_t state = number * 2 + 1;
    int length = sizeof beginning - 1;
    int title = 16 + random_below(&state, 24 << random_below(&state, 3));

    memcpy(key, beginning, length);
    for (int i = 0; i < title; i++)
        key[length++] = 'a' + random_below(&state, 26);
    return length;
}

static void store_fill(struct store *store, int item_count)
{
    unsigned char key[KEY_LIMIT];

    store->item_count = item_count;
    store->bucket_count = 1;
    while (store->bucket_count < (unsigned)item_count * BUCKETS_AN_ITEM)
        store->bucket_count *= 2;
    store->bytes = workload_alloc(item_count, sizeof(struct item) + KEY_LIMIT);
    store->byte_count = 0;
    store->buckets = workload_alloc(store->bucket_count, sizeof(int));
    for (unsigned i = 0; i < store->bucket_count; i++)
        store->buckets[i] = NOTHING;
    for (int i = 0; i < item_count; i++) {
        int length = make_key(key, i);
        int *bucket = &store->buckets[hash(key, length) & (store->bucket_count - 1)];
        struct item item = {*bucket, length, i};
        *bucket = store->byte_count;
        memcpy(store->bytes + store->byte_count, &item, sizeof item);
        memcpy(store->bytes + store->byte_count + sizeof item, key, length);
        store->byte_count += sizeof item + (length + 3) / 4 * 4;
    }
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

/* `expected` is what each request should get. */
static void batch_random(struct batch *batch, const struct store *store, int request_count, int *expected)
{
    uint64_t state = workload_seed(BLOCK);

    batch->request_count = request_count;
    batch->requests = workload_alloc(request_count, sizeof *batch->requests);
    batch->keys = workload_alloc(request_count, KEY_LIMIT);
    batch->key_bytes = 0;
    uint64_t *sums = popularity(store->item_count);
    for (int i = 0; i < request_count; i++) {
        uint64_t number = (uint64_t)random_u32(&state) << 32;
        number |= random_u32(&state);
        int wanted = item_drawn(sums, store->item_count, number % sums[store->item_count - 1]);
        expected[i] = wanted;
        if (random_below(&state, MISSES_ONE_IN) == 0) {
            wanted += store->item_count;
            expected[i] = NOTHING;
        }
        struct request request = {batch->key_bytes, make_key(batch->keys + batch->key_bytes, wanted), i};
        batch->key_bytes += request.length;
        batch->requests[i] = request;
    }
    free(sums);
}

static void get_on_device(const struct gpu *gpu, const struct store *store, struct batch *batch, int *results)
{
    size_t result_bytes = batch->request_count * sizeof(int);
    unsigned bucket_mask = store->bucket_count - 1;
    CUdeviceptr requests = gpu_upload(batch->requests, batch->request_count * sizeof *batch->requests);
    CUdeviceptr keys = gpu_upload(batch->keys, batch->key_bytes);
    CUdeviceptr buckets = gpu_upload(store->buckets, store->bucket_count * sizeof(int));
    CUdeviceptr bytes = gpu_upload(store->bytes, store->byte_count);
    CUdeviceptr result_memory = gpu_alloc_zeroed(result_bytes);
    CUdeviceptr all[] = {requests, keys, buckets, bytes, result_memory};
    void *arguments[] = {&requests, &keys, &buckets, &bucket_mask, &bytes, &result_memory, &batch->request_count};
    struct shape grid = {gpu_blocks(batch->request_count, BLOCK), 1};

    gpu_launch(gpu_kernel(gpu, "memc_get"), grid, (struct shape){BLOCK, 1}, arguments);
    gpu_download(results, result_memory, result_bytes);
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
    int *results = workload_alloc(request_count, sizeof(int));
    int *expected = workload_alloc(request_count, sizeof(int));
    struct store store;
    struct batch batch;
    struct gpu gpu;

    store_fill(&store, request_count);
    batch_random(&batch, &store, request_count, expected);
    gpu_open(&gpu);
    get_on_device(&gpu, &store, &batch, results);
    gpu_close(&gpu);
    size_t mismatches = compare_u32("value", (uint32_t *)results, (uint32_t *)expected, request_count);
    free(store.bytes);
    free(store.buckets);
    free(batch.requests);
    free(batch.keys);
    free(results);
    free(expected);
    return workload_verdict(&workload, mismatches, request_count, "values");
}
