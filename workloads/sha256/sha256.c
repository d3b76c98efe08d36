/* sha256: host program; see sha256.cu for what the kernels do. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "gpu.h"
#include "workload.h"

enum { BLOCK = 256, WORDS = 8, ROUNDS = 64, BITS = 55 * 8 };

static const int counts[SIZE_COUNT] = {1000, 10000, 140000};

/* The first 32 bits of the fractions of square or cube roots of the first primes: what the standard begins with. */
static void fill_constants(uint32_t first[WORDS], uint32_t rounds[ROUNDS])
{
    for (int prime = 2, i = 0; i < ROUNDS; prime++) {
        int divisor = 2;
        while (divisor * divisor <= prime && prime % divisor)
            divisor++;
        if (divisor * divisor <= prime)
            continue;
        double cube = cbrt(prime), square = sqrt(prime);
        rounds[i] = (cube - floor(cube)) * 0x1p32;
        if (i < WORDS)
            first[i] = (square - floor(square)) * 0x1p32;
        i++;
    }
}

static uint32_t turn(uint32_t x, int by) { return x >> by | x << (32 - by); }

static void reference(const uint32_t *message, const uint32_t first[WORDS], const uint32_t rounds[ROUNDS],
                      uint32_t out[WORDS])
{
    uint32_t w[ROUNDS], s[WORDS];

    memcpy(w, message, 16 * sizeof *w);
    memcpy(s, first, sizeof s);
    for (int i = 16; i < ROUNDS; i++)
        w[i] = w[i - 16] + (turn(w[i - 15], 7) ^ turn(w[i - 15], 18) ^ w[i - 15] >> 3) + w[i - 7] +
               (turn(w[i - 2], 17) ^ turn(w[i - 2], 19) ^ w[i - 2] >> 10);
    for (int i = 0; i < ROUNDS; i++) {
        uint32_t choice = (s[4] & s[5]) ^ (~s[4] & s[6]), majority = (s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]);
        uint32_t one = s[7] + (turn(s[4], 6) ^ turn(s[4], 11) ^ turn(s[4], 25)) + choice + rounds[i] + w[i];
        uint32_t two = (turn(s[0], 2) ^ turn(s[0], 13) ^ turn(s[0], 22)) + majority;
        memmove(s + 1, s, 7 * sizeof *s);
        s[4] += one;
        s[0] = one + two;
    }
    for (int i = 0; i < WORDS; i++)
        out[i] = first[i] + s[i];
}

int main(int argc, char **argv)
{
    static const struct workload workload = {
        .name = "sha256",
        .summary = "SHA-256 of short messages, and a search for hashes that begin with zeros.",
        .inputs = {"1,000 messages", "10,000 messages", "140,000 messages"},
    };
    int count = counts[workload_parse(&workload, argc, argv)];
    uint64_t state = workload_seed(256);
    uint32_t first[WORDS], rounds[ROUNDS], hash[WORDS], seed = workload_seed(7), expected_found = 0;
    uint32_t *messages = array_of_u32((size_t)count * 16, 0xffffffff, &state);
    uint32_t *hashes = workload_alloc((size_t)count * WORDS, sizeof(uint32_t));
    struct gpu gpu;

    fill_constants(first, rounds);
    for (int i = 0; i < count; i++) {
        uint32_t message[16], number[16] = {seed + i, 0x80000000u, [15] = 32};
        messages[13 * count + i] = (messages[13 * count + i] & 0xffffff00) | 0x80; /* a bit after 55 bytes */
        messages[14 * count + i] = 0;
        messages[15 * count + i] = BITS;
        for (int word = 0; word < 16; word++)
            message[word] = messages[word * count + i];
        reference(message, first, rounds, hash);
        for (int word = 0; word < WORDS; word++)
            hashes[word * count + i] = hash[word];
        reference(number, first, rounds, hash);
        expected_found += hash[0] >> 26 == 0;
    }
    gpu_open(&gpu);
    gpu_fill_constant(&gpu, "sha256_rounds", rounds, sizeof rounds);
    gpu_fill_constant(&gpu, "sha256_first", first, sizeof first);
    CUdeviceptr in = gpu_upload(messages, (size_t)count * 16 * sizeof(uint32_t));
    CUdeviceptr out = gpu_alloc_zeroed((size_t)count * WORDS * sizeof(uint32_t)),
                found = gpu_alloc_zeroed(sizeof(uint32_t));
    gpu_launch_named(&gpu, "sha256_messages", gpu_blocks(count, BLOCK), BLOCK, (void *[]){&in, &out, &count});
    gpu_launch_named(&gpu, "sha256_search", gpu_blocks(count, BLOCK), BLOCK, (void *[]){&found, &seed, &count});
    size_t mismatches = array_check_u32("hash", out, hashes, (size_t)count * WORDS);
    mismatches += array_check_u32("found", found, &expected_found, 1);
    gpu_free(in);
    gpu_free(out);
    gpu_free(found);
    gpu_close(&gpu);
    free(messages);
    free(hashes);
    return workload_verdict(&workload, mismatches, (size_t)count * WORDS + 1, "words of hashes");
}
