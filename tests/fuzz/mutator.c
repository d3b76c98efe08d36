/* What libFuzzer asks of those who know better than it how to change an input. */
#include "mutate.h"

#include <stdlib.h>
#include <string.h>

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *first, size_t first_size, const uint8_t *second, size_t second_size,
                                 uint8_t *out, size_t max_size, unsigned seed);

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
    enum { BYTES_ONE_IN = 20 };
    if (seed % BYTES_ONE_IN == 0 || size < 16)
        return LLVMFuzzerMutate(data, size, max_size);
    char *copy = malloc(size);
    if (!copy)
        return size;
    memcpy(copy, data, size);
    size_t now = mutate_text(copy, size, (char *)data, max_size, seed);
    free(copy);
    return now ? now : size;
}

size_t LLVMFuzzerCustomCrossOver(const uint8_t *first, size_t first_size, const uint8_t *second, size_t second_size,
                                 uint8_t *out, size_t max_size, unsigned seed)
{
    return mutate_cross((const char *)first, first_size, (const char *)second, second_size, (char *)out, max_size,
                        seed);
}
