/* libFuzzer target: any bytes as a trace of L1D accesses. What is refused has a message; what is read is replayed under
 * every policy, and counts the same accesses under each.
 *
 * The sums that zstd keeps would refuse nearly everything, so the fuzzer's bytes are the contents of chunks, which are
 * packed here: a byte for the kind, two for the length, then that many. A few bytes in front choose whether the file is
 * also cut off or damaged. */
#include "replay/replay.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FILE_MOST = 1 << 18 };
static uint8_t file[FILE_MOST];

static void put_word(uint8_t *to, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        to[i] = (uint8_t)(value >> 8 * i);
}

static size_t put_chunk(size_t at, uint32_t kind, const void *raw, size_t bytes)
{
    if (FILE_MOST - at < TRACE_CHUNK_HEADER + ZSTD_compressBound(bytes))
        return at;
    size_t packed = ZSTD_compress(file + at + TRACE_CHUNK_HEADER, FILE_MOST - at - TRACE_CHUNK_HEADER, raw, bytes, 1);
    put_word(file + at, TRACE_SKIPPABLE, 4);
    put_word(file + at + 4, TRACE_CHUNK_HEADER - 8, 4);
    put_word(file + at + 8, TRACE_MARK, 4);
    put_word(file + at + 12, kind, 4);
    put_word(file + at + 16, packed, 4);
    put_word(file + at + 20, bytes, 4);
    put_word(file + at + 24, bytes / 4, 8);
    return at + TRACE_CHUNK_HEADER + packed;
}

/* A header, a listing and a launch, so that accesses are looked at however the bytes begin. */
static size_t put_start(void)
{
    static const char header[] = "version 1\ncores 3\nsets 4\nways 2\nline_bytes 128\nindex mask\nglobal_stores "
                                 "evict\nlocal_stores keep\nmachine m\nprogram p\n";
    static const char listing[] = "listing 0\npcs 300\nkernel k\n0\t7\t\tf.cu:1\tld.global.u32 %r1, [%rd1]\n",
                      kernel[] = "kernel 0\nlisting 0\nflush 1\n";
    size_t at = put_chunk(0, TRACE_HEADER, header, sizeof header - 1);
    at = put_chunk(at, TRACE_LISTING, listing, sizeof listing - 1);
    return put_chunk(at, TRACE_KERNEL, kernel, sizeof kernel - 1);
}

static void replay(struct trace_reader *r)
{
    struct replay_result result;
    struct replay_distances d;
    struct replay_how how = {.threads = 1};
    uint64_t accesses = 0;
    for (int policy = 0; policy < REPLAY_POLICIES; policy++) {
        struct replay_geometry g = {policy % 2 ? 4 : 1, policy % 2 ? 2 : 40, r->header.line_bytes, INDEX_MODULO};
        struct error e = {0};
        if (!replay_run(r, &g, (enum replay_policy)policy, &how, &result, &e)) {
            if (!e.kind || !e.text[0])
                abort();
            return;
        }
        if (policy && result.total.reads + result.total.stores != accesses)
            abort();
        accesses = result.total.reads + result.total.stores;
        replay_result_free(&result);
    }
    struct error e = {0};
    if (!replay_distances_run(r, r->header.line_bytes, &how, &d, &e))
        abort(); /* it could be replayed */
    struct replay_counts n = replay_distances_misses(&d, 1);
    if (n.reads + n.stores != accesses)
        abort();
    replay_distances_free(&d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct trace_reader r;
    struct error e = {0};
    if (size < 4)
        return 0;
    uint8_t how = data[0], where = data[1];
    size_t at = how & 1 ? 0 : put_start();
    for (size_t i = 4; i + 3 <= size;) {
        size_t bytes = (size_t)data[i + 1] | (size_t)data[i + 2] << 8;
        bytes = bytes < size - i - 3 ? bytes : size - i - 3;
        at = put_chunk(at, data[i] % 7, data + i + 3, bytes);
        i += 3 + bytes;
    }
    if (how & 2 && at)
        at -= at * where / 512;
    if (how & 4 && at)
        file[((size_t)where << 8 | data[2]) % at] ^= data[3];
    uint8_t *whole = malloc(at + 1); /* its own block: reading past its end is noticed */
    memcpy(whole, file, at);
    if (!trace_reader_open_memory(&r, whole, at, &e)) {
        if (!e.kind || !e.text[0])
            abort();
    } else {
        if (r.header.cores <= 64)
            replay(&r);
        trace_reader_close(&r);
    }
    free(whole);
    return 0;
}
