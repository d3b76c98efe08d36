/*
 * Random numbers (splitmix64, so that a seed means the same everywhere), growing text, and the hash of
 * outputs. */
#include "random.h"
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

uint64_t rng_bits(struct rng *rng)
{
    uint64_t z = rng->state += 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

unsigned rng_below(struct rng *rng, unsigned limit) { return (unsigned)(((rng_bits(rng) >> 32) * limit) >> 32); }

int rng_percent(struct rng *rng, unsigned percent) { return rng_below(rng, 100) < percent; }

static void reserve(struct text *text, size_t more)
{
    if (text->size + more + 1 <= text->capacity)
        return;
    text->capacity = (text->size + more + 1) * 2;
    text->data = realloc(text->data, text->capacity);
    if (!text->data) {
        fprintf(stderr, "out of memory\n");
        exit(2);
    }
}

void text_append(struct text *text, const char *data, size_t size)
{
    reserve(text, size);
    if (size)
        memcpy(text->data + text->size, data, size);
    text->size += size;
    text->data[text->size] = 0;
}

void text_add(struct text *text, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int wanted = vsnprintf(NULL, 0, format, list);
    va_end(list);
    reserve(text, (size_t)wanted);
    va_start(list, format);
    vsnprintf(text->data + text->size, (size_t)wanted + 1, format, list);
    va_end(list);
    text->size += (size_t)wanted;
}

void text_clear(struct text *text)
{
    text->size = 0;
    if (text->data)
        text->data[0] = 0;
}

void text_free(struct text *text)
{
    free(text->data);
    memset(text, 0, sizeof *text);
}

uint64_t hash_bytes(const void *data, size_t size)
{
    const unsigned char *bytes = data;
    uint64_t hash = 0xcbf29ce484222325ull;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ bytes[i]) * 0x100000001b3ull;
    return hash;
}
