/* Which half a kernel belongs to: to the fitting one where the first hexadecimal digit of the SHA-1 of its name is
 * even. `printf %s NAME | sha1sum` tells the same.
 *
 * SHA-1 as in FIPS 180-4, section 6.1, for short texts that are whole in memory: nothing here is a secret, and no
 * library that the command needs anyway has it. */
#include "correlate/correlate.h"

#include <string.h>

const char *const correlate_half_names[CORRELATE_HALVES] = {"fit", "test"};

enum { BLOCK_BYTES = 64, LENGTH_BYTES = 8, ROUNDS = 80 };

static uint32_t rotate(uint32_t x, int bits) { return x << bits | x >> (32 - bits); }

static void sha1_block(uint32_t h[5], const uint8_t *block)
{
    uint32_t w[ROUNDS], a = h[0], b = h[1], c = h[2], d = h[3], e = h[4];
    for (int t = 0; t < 16; t++)
        w[t] = (uint32_t)block[4 * t] << 24 | (uint32_t)block[4 * t + 1] << 16 | (uint32_t)block[4 * t + 2] << 8 |
               block[4 * t + 3];
    for (int t = 16; t < ROUNDS; t++)
        w[t] = rotate(w[t - 3] ^ w[t - 8] ^ w[t - 14] ^ w[t - 16], 1);
    for (int t = 0; t < ROUNDS; t++) {
        uint32_t f = t < 20   ? ((b & c) | (~b & d)) + 0x5a827999u
                     : t < 40 ? (b ^ c ^ d) + 0x6ed9eba1u
                     : t < 60 ? ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdcu
                              : (b ^ c ^ d) + 0xca62c1d6u;
        uint32_t next = rotate(a, 5) + f + e + w[t];
        e = d;
        d = c;
        c = rotate(b, 30);
        b = a;
        a = next;
    }
    h[0] += a;
    h[1] += b;
    h[2] += c;
    h[3] += d;
    h[4] += e;
}

/* The first 32 bits. */
static uint32_t sha1_start(const char *text)
{
    uint32_t h[5] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
    size_t length = strlen(text), done = 0;
    for (; length - done >= BLOCK_BYTES; done += BLOCK_BYTES)
        sha1_block(h, (const uint8_t *)text + done);
    uint8_t last[2 * BLOCK_BYTES] = {0};
    size_t rest = length - done, end = rest + 1 + LENGTH_BYTES <= BLOCK_BYTES ? BLOCK_BYTES : 2 * BLOCK_BYTES;
    memcpy(last, text + done, rest);
    last[rest] = 0x80;
    for (int i = 0; i < LENGTH_BYTES; i++)
        last[end - 1 - (size_t)i] = (uint8_t)((uint64_t)length * 8 >> 8 * i);
    for (size_t at = 0; at < end; at += BLOCK_BYTES)
        sha1_block(h, last + at);
    return h[0];
}

enum correlate_half correlate_half_of(const char *kernel)
{
    return sha1_start(kernel) >> 28 & 1 ? CORRELATE_TEST : CORRELATE_FIT;
}
