/* widestream: host program; see widestream.cu for what the kernel does. */
#include <stdlib.h>

#include "array.h"
#include "gpu.h"
#include "workload.h"

enum { BLOCK = 256, STREAMS = 6 };

static const long thread_counts[SIZE_COUNT] = {500, 12288, 30720};
static const long lengths[SIZE_COUNT] = {33, 48, 128};

static uint32_t reference(const uint32_t *words, int thread, int length)
{
    uint32_t sum = thread;

    for (int i = 0; i < STREAMS * length; i++) {
        int stream = i % STREAMS;
        sum = (sum << 5 | sum >> 27) ^ words[((size_t)thread * STREAMS + stream) * length + i / STREAMS];
    }
    return sum;
}

int main(int argc, char **argv)
{
    const struct workload workload = {
        .name = "widestream",
        .summary = "Six streams of each thread's own, folded into one word.",
        .inputs = {"500 threads, 33 words per stream", "12,288 threads, 48 words", "30,720 threads, 128 words"},
    };
    enum workload_size size = workload_parse(&workload, argc, argv);
    int threads = thread_counts[size], length = lengths[size];
    size_t word_count = (size_t)threads * STREAMS * length;
    uint64_t state = workload_seed(192);
    uint32_t *words = array_of_u32(word_count, UINT32_MAX, &state);
    uint32_t *expected = workload_alloc(threads, sizeof(uint32_t));
    struct gpu gpu;

    gpu_open(&gpu);
    CUdeviceptr word_memory = gpu_upload(words, word_count * sizeof(uint32_t));
    CUdeviceptr sums = gpu_alloc_zeroed(threads * sizeof(uint32_t));
    gpu_launch_named(&gpu, "widestream", gpu_blocks(threads, BLOCK), BLOCK,
                     (void *[]){&word_memory, &sums, &threads, &length});
    for (int i = 0; i < threads; i++)
        expected[i] = reference(words, i, length);
    size_t mismatches = array_check_u32("sum", sums, expected, threads);
    gpu_free(word_memory);
    gpu_free(sums);
    gpu_close(&gpu);
    free(words);
    free(expected);
    return workload_verdict(&workload, mismatches, threads, "sums");
}
