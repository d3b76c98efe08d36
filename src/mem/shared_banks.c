/* How many cycles the banks of shared memory take for a warp: as many as the bank that is asked for most words. Left
 * out: the order in which hardware serves them (only their number counts).
 *
 * Most instructions ask for one word per lane, or for aligned vectors of words, in one of a few patterns: one place for
 * all lanes, a row, half a warp like the other half, a bank of its own for each lane, words that rise with the lanes.
 * A few steps over all lanes at once recognise them; without these steps, runs of sobel, spmv-scalar and matmul-tiled
 * take 1% to 2% more host instructions. All other instructions are counted word by word. */
#include "mem/shared_banks.h"

#include "mem/coalesce.h"

#include <assert.h>
#include <string.h>

enum { LANES = 32, WORD_BYTES = 4 };

/* Four lanes at a time. */
typedef uint32_t quad __attribute__((vector_size(16)));

static inline quad quad_at(const uint32_t *word)
{
    quad q;
    memcpy(&q, word, sizeof q);
    return q;
}

static inline uint32_t any_of(quad q) { return q[0] | q[1] | q[2] | q[3]; }

static inline uint32_t bank_of(uint64_t word, uint32_t banks)
{
    return (uint32_t)((banks & (banks - 1)) == 0 ? word & (banks - 1) : word % banks);
}

static inline uint32_t most_of(const uint8_t *counts, uint32_t banks)
{
    uint32_t most = 0;
    for (uint32_t bank = 0; bank < banks; bank++)
        most = counts[bank] > most ? counts[bank] : most;
    return most;
}

/* The distinct words that are asked for, and how often each bank is asked. The words of a bank are linked. */
enum { WORDS_MOST = LANES * 5, NO_WORD = UINT8_MAX };
struct asked_word {
    uint64_t word;
    uint8_t lanes, bank;
    uint8_t next; /* of the same bank, or NO_WORD */
};
struct asked {
    uint32_t count;
    uint8_t distinct[SHARED_BANKS_MOST], accesses[SHARED_BANKS_MOST], first[SHARED_BANKS_MOST];
    struct asked_word list[WORDS_MOST];
};

static inline void asked_add(struct asked *s, uint64_t word, uint32_t bank)
{
    s->accesses[bank]++;
    for (uint32_t i = s->first[bank]; i != NO_WORD; i = s->list[i].next)
        if (s->list[i].word == word) {
            s->list[i].lanes++;
            return;
        }
    s->list[s->count] = (struct asked_word){.word = word, .lanes = 1, .bank = (uint8_t)bank, .next = s->first[bank]};
    s->first[bank] = (uint8_t)s->count++;
    s->distinct[bank]++;
}

static void asked_fill(struct asked *s, const uint64_t address[LANES], uint32_t mask, uint32_t bytes, uint32_t banks)
{
    s->count = 0;
    memset(s->distinct, 0, sizeof s->distinct);
    memset(s->accesses, 0, sizeof s->accesses);
    memset(s->first, NO_WORD, sizeof s->first);
    for (; mask; mask &= mask - 1) {
        uint64_t first = address[__builtin_ctz(mask)], last = (first + bytes - 1) / WORD_BYTES;
        for (uint64_t word = first / WORD_BYTES; word <= last; word++)
            asked_add(s, word, bank_of(word, banks));
    }
}

/* The word that most lanes ask for is the one that is broadcast, of equals that of the lowest bank; every other access
 * takes its bank a cycle. (GPGPU-Sim broadcasts the first word that is asked for twice, in order of banks, which may be
 * a worse choice.) */
static uint32_t cycles_of_one_broadcast(struct asked *s, uint32_t banks)
{
    uint32_t lanes = 0, bank = 0; /* of the word that is broadcast */
    for (const struct asked_word *w = s->list; w < s->list + s->count; w++)
        if (w->lanes > lanes || (w->lanes == lanes && w->bank < bank)) {
            lanes = w->lanes;
            bank = w->bank;
        }
    s->accesses[bank] = (uint8_t)(s->accesses[bank] - (lanes - 1));
    return most_of(s->accesses, banks);
}

/* Each lane's first word. A lane that asks for nothing has that of the one before it, or that of the first lane that
 * asks: it adds none. */
struct words {
    uint32_t list[1 + LANES]; /* that of lane 0 twice: each lane has one before it */
    bool aligned;             /* elements begin at a multiple of their size */
};

static void find_words(struct words *w, const uint64_t address[LANES], uint32_t mask, uint32_t bytes)
{
    uint64_t any = 0;
    uint32_t *word = &w->list[1];
    for (uint32_t i = 0; i < LANES; i++)
        word[i] = (uint32_t)(address[i] / WORD_BYTES);
    if (mask == UINT32_MAX) {
        for (uint32_t i = 0; i < LANES; i++)
            any |= address[i];
    } else {
        uint32_t last = word[__builtin_ctz(mask)];
        for (uint32_t i = 0; i < LANES; i++) {
            bool asks = mask >> i & 1;
            any |= asks ? address[i] : 0;
            last = word[i] = asks ? word[i] : last;
        }
    }
    w->list[0] = word[0];
    w->aligned = (bytes & (bytes - 1)) == 0 && (any & (bytes - 1)) == 0;
}

/* Lanes that ask for something else than the one before them, a bit each. *rises: for something above it, all of
 * them. */
static inline uint32_t find_starts(const struct words *w, uint32_t mask, bool *rises)
{
    quad bits = {1, 2, 4, 8}, starts = {0}, falls = {0};
    for (uint32_t i = 0; i < LANES; i += 4, bits <<= 4) {
        quad here = quad_at(&w->list[1 + i]), before = quad_at(&w->list[i]);
        starts |= (quad)(here != before) & bits;
        falls |= (quad)(here < before);
    }
    *rises = !any_of(falls);
    return any_of(starts) | (mask & -mask);
}

static inline bool halves_are_alike(const struct words *w)
{
    quad different = {0};
    for (uint32_t i = 0; i < LANES / 2; i += 4)
        different |= quad_at(&w->list[1 + i]) ^ quad_at(&w->list[1 + i + LANES / 2]);
    return !any_of(different);
}

/* Of up to 32 banks, a power of two. */
static inline uint32_t banks_of_first_words(const struct words *w, uint32_t banks)
{
    quad one = {1, 1, 1, 1}, used = {0};
    for (uint32_t i = 0; i < LANES; i += 4)
        used |= one << (quad_at(&w->list[1 + i]) & (banks - 1));
    return any_of(used);
}

/* Of lanes that all ask for something else. */
static uint32_t count_by_bank(const struct words *w, uint32_t starts, uint32_t words_each, uint32_t banks)
{
    uint8_t counts[SHARED_BANKS_MOST] = {0};
    uint32_t most = 0;
    for (; starts; starts &= starts - 1) {
        uint32_t word = w->list[1 + __builtin_ctz(starts)];
        for (uint32_t k = 0; k < words_each; k++) {
            uint8_t n = ++counts[bank_of(word + k, banks)];
            most = n > most ? n : most;
        }
    }
    return most;
}

/* Any word that is asked for several times counts once. */
static uint32_t distinct_cycles(const uint64_t address[LANES], uint32_t mask, uint32_t bytes, uint32_t banks)
{
    struct words w;
    struct asked s;
    bool rises;
    uint32_t words_each = bytes <= WORD_BYTES ? 1 : bytes / WORD_BYTES, starts = mask;
    find_words(&w, address, mask, bytes);
    if (w.aligned) {
        starts = find_starts(&w, mask, &rises);
        if ((starts & (starts - 1)) == 0)
            return (words_each + banks - 1) / banks;
        if (halves_are_alike(&w))
            starts &= UINT16_MAX;
        if (words_each == 1 && banks <= 32 && (banks & (banks - 1)) == 0 &&
            __builtin_popcount(banks_of_first_words(&w, banks)) == __builtin_popcount(starts))
            return 1;
        if (rises)
            return count_by_bank(&w, starts, words_each, banks);
    }
    asked_fill(&s, address, starts, bytes, banks);
    return most_of(s.distinct, banks);
}

/* In one cycle only one word may serve several lanes. */
static uint32_t limited_cycles(const uint64_t address[LANES], uint32_t mask, uint32_t bytes, uint32_t banks)
{
    uint64_t used = 0;
    for (uint32_t left = mask; left; left &= left - 1)
        used |= 1ull << bank_of(address[__builtin_ctz(left)] / WORD_BYTES, banks);
    if (bytes == WORD_BYTES && __builtin_popcountll(used) == __builtin_popcount(mask)) /* a bank for each lane */
        return 1;
    struct asked s;
    asked_fill(&s, address, mask, bytes, banks);
    return cycles_of_one_broadcast(&s, banks);
}

uint32_t shared_banks_cycles(const uint64_t address[LANES], uint32_t mask, uint32_t bytes, uint32_t banks,
                             uint32_t parts, bool limited_broadcast)
{
    assert(banks > 0 && banks <= SHARED_BANKS_MOST);
    uint32_t cycles = 0, lanes = LANES / parts, all = UINT32_MAX >> (LANES - lanes);
    for (uint32_t first = 0; first < LANES; first += lanes) {
        uint32_t part = mask & all << first;
        if (part == all << first && bytes % WORD_BYTES == 0 && address[first] % WORD_BYTES == 0 &&
            coalesce_consecutive(&address[first], lanes, bytes))
            cycles += (lanes * (bytes / WORD_BYTES) + banks - 1) / banks; /* words in a row, each once */
        else if (part)
            cycles += limited_broadcast ? limited_cycles(address, part, bytes, banks)
                                        : distinct_cycles(address, part, bytes, banks);
    }
    return cycles;
}

uint32_t shared_banks_serial(const uint64_t address[LANES], uint32_t mask, uint32_t banks)
{
    uint8_t lanes[SHARED_BANKS_MOST] = {0};
    uint32_t most = 0;
    for (uint32_t left = mask; left; left &= left - 1) {
        uint8_t n = ++lanes[address[__builtin_ctz(left)] / WORD_BYTES % banks];
        most = n > most ? n : most;
    }
    return most;
}
