/*
 * Integers: 64 and 128 bits, division, and the bit and SIMD-in-a-word intrinsics of the CUDA headers. Operands are random bits with edge values among them.
 */
#define EXPORT extern "C" __global__ void
#define START                                                                                                          \
    const unsigned n = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + threadIdx.x;                              \
    unsigned plane = 0
#define PUT(VALUE) out[n * plane++ + i] = (VALUE)
typedef unsigned long long u64;
typedef long long s64;
typedef unsigned __int128 u128;
typedef __int128 s128;

EXPORT int_divide(const u64 *in, u64 *out)
{
    START;
    u64 a = in[i], b = in[n + i] | 1, c = in[2 * n + i] >> (i % 61) | 1;
    PUT(a / b);
    PUT(a % b);
    PUT(a / c);
    PUT(a % c);
    PUT((u64)((s64)a / (s64)c));
    PUT((u64)((s64)a % (s64)b));
    PUT((unsigned)a / (unsigned)c | (u64)((unsigned)a % (unsigned)b) << 32);
    PUT((u64)((int)a / ((int)b | 1)) ^ (u64)((int)a % ((int)c | 1)) << 20);
    PUT(a / 1000000007u + a % 10 + (s64)a / 7 + (s64)a % 60);
    PUT((unsigned short)a / (unsigned short)b + (unsigned char)(a >> 9) % (unsigned char)b);
}

EXPORT int_wide(const u64 *in, u64 *out)
{
    START;
    u64 a = in[i], b = in[n + i], c = in[2 * n + i];
    PUT(__umul64hi(a, b));
    PUT((u64)__mul64hi((s64)a, (s64)b));
    PUT(__umulhi((unsigned)a, (unsigned)b) | (u64)(unsigned)__mulhi((int)a, (int)c) << 32);
    PUT(a * b + c);
    PUT((a << (c & 63)) ^ (b >> (c >> 6 & 63)) ^ (u64)((s64)c >> (a & 63)));
    PUT((u64)(unsigned)__mul24((int)a, (int)b) | (u64)__umul24((unsigned)b, (unsigned)c) << 32);
    PUT((u64)__sad((int)a, (int)b, (unsigned)c) | (u64)__usad((unsigned)a, (unsigned)c, (unsigned)b) << 32);
    PUT((u64)(unsigned)__hadd((int)a, (int)b) | (u64)(unsigned)__rhadd((int)a, (int)b) << 32);
    PUT((u64)__uhadd((unsigned)a, (unsigned)b) | (u64)__urhadd((unsigned)a, (unsigned)b) << 32);
    PUT((u64)min((s64)a, (s64)b) ^ max(b, c));
    PUT((u64)llabs((s64)a) ^ (u64)(unsigned)abs((int)b));
}

EXPORT int_128(const u64 *in, u64 *out)
{
    START;
    u128 a = (u128)in[i] << 64 | in[n + i], b = (u128)in[2 * n + i] << (i % 64) | 3;
    u128 sum = a + b, product = a * b, difference = b - a, quotient = a / b, rest = a % b;
    s128 signed_quotient = (s128)a / (s128)(b >> 30 | 1);
    PUT((u64)(sum >> 64) ^ (u64)sum);
    PUT((u64)(product >> 64));
    PUT((u64)product);
    PUT((u64)(difference >> 64) ^ (u64)difference);
    PUT((u64)(quotient >> 64));
    PUT((u64)quotient);
    PUT((u64)(rest >> 64));
    PUT((u64)rest);
    PUT((u64)(signed_quotient >> 64) ^ (u64)signed_quotient);
    PUT((u64)(a << (i % 128) >> 64) ^ (u64)((s128)a >> (127 - i % 128)));
    PUT((u64)(a < b) | (u64)((s128)a < (s128)b) << 1 | (u64)(a == b) << 2);
}

EXPORT int_modular(const u64 *in, u64 *out)
{
    START;
    u64 modulus = in[n + i] | 1ull << 63 | 1, base = in[i] % modulus, exponent = in[2 * n + i] >> 40, result = 1;
    while (exponent) {
        if (exponent & 1)
            result = (u64)((u128)result * base % modulus);
        base = (u64)((u128)base * base % modulus);
        exponent >>= 1;
    }
    PUT(result);
    u64 x = in[i] | 1, y = modulus;
    while (y) {
        u64 t = x % y;
        x = y;
        y = t;
    }
    PUT(x);
}

EXPORT int_bits(const unsigned *in, unsigned *out)
{
    START;
    unsigned a = in[i], b = in[n + i], c = in[2 * n + i];
    u64 w = (u64)a << 32 | b;
    PUT(__byte_perm(a, b, c));
    PUT(__funnelshift_l(a, b, c));
    PUT(__funnelshift_r(a, b, c));
    PUT(__funnelshift_lc(a, b, c % 67));
    PUT(__funnelshift_rc(a, b, c % 67));
    PUT(__brev(a));
    PUT((unsigned)(__brevll(w) >> 13));
    PUT(__ffs(a & b & c) | __ffsll(w & w << 7) << 8);
    PUT(__clz(a >> (c & 31)) | __clzll(w >> (c & 63)) << 8);
    PUT(__popc(a) | __popcll(w) << 8);
    PUT(__fns(a, c & 31, (int)(b % 9) - 4));
    PUT((a & b) | (~a & c));
    PUT((a ^ b ^ c) + ((a & b) | (b & c) | (a & c)));
    unsigned field;
    asm("bfe.u32 %0, %1, %2, %3;" : "=r"(field) : "r"(a), "r"(b & 31), "r"(c & 31));
    PUT(field);
    asm("bfi.b32 %0, %1, %2, %3, %4;" : "=r"(field) : "r"(a), "r"(b), "r"(c & 31), "r"(c >> 5 & 31));
    PUT(field);
    PUT((unsigned)__dp4a((int)a, (int)b, (int)c));
    PUT(__dp4a(a, b, c));
    PUT((unsigned)__dp2a_lo((int)a, (int)b, (int)c));
    PUT(__dp2a_hi(a, b, c));
}

EXPORT int_simd(const unsigned *in, unsigned *out)
{
    START;
    unsigned a = in[i], b = in[n + i], c = in[2 * n + i];
    PUT(__vadd4(a, b));
    PUT(__vaddss4(a, b));
    PUT(__vaddus2(a, b));
    PUT(__vsub2(a, b));
    PUT(__vsubss2(a, b));
    PUT(__vsubus4(a, b));
    PUT(__vabsdiffs4(a, b));
    PUT(__vabsdiffu2(a, b));
    PUT(__vabs4(a));
    PUT(__vabsss2(a));
    PUT(__vneg4(a));
    PUT(__vnegss2(a));
    PUT(__vavgs4(a, b));
    PUT(__vavgu2(a, b));
    PUT(__vhaddu4(a, b));
    PUT(__vmaxs4(a, b));
    PUT(__vminu2(a, b));
    PUT(__vcmpges4(a, b));
    PUT(__vcmpltu2(a, b));
    PUT(__vseteq4(a, b ^ (a & c)));
    PUT(__vsetgts2(a, b));
    PUT(__vsads4(a, b));
    PUT(__vsadu2(a, b));
    PUT(__viaddmax_s32((int)a, (int)b, (int)c));
    PUT(__vimax3_u16x2(a, b, c));
    PUT(__vimin3_s32_relu((int)a, (int)b, (int)c));
    PUT(__viaddmin_s16x2_relu(a, b, c));
}

/* Hashes and generators that people run: xorshift, a multiply-with-carry, CRC by bits, Feistel rounds. */
EXPORT int_hash(const unsigned *in, unsigned *out)
{
    START;
    unsigned x = in[i] | 1, crc = ~0u, left = in[n + i], right = in[2 * n + i];
    u64 carry = 0x9E3779B97F4A7C15ull ^ x;
    for (int k = 0; k < 40; k++) {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
        carry = (carry & 0xffffffffu) * 4294957665u + (carry >> 32);
        crc ^= x & 0xff;
        for (int bit = 0; bit < 8; bit++)
            crc = crc & 1 ? crc >> 1 ^ 0xEDB88320u : crc >> 1;
        unsigned t = right * 0xCC9E2D51u;
        t = (t << 15 | t >> 17) * 0x1B873593u;
        t = left ^ t;
        left = right;
        right = t;
    }
    PUT(x);
    PUT((unsigned)carry ^ (unsigned)(carry >> 32));
    PUT(crc);
    PUT(left);
    PUT(right);
}
