/*
 * What C++ compiles to: calls through pointers and virtual tables, recursion, local arrays, structures by value, templates, switches, state machines, the
 * device heap, printf, tables of constants, inline assembly.
 */
#include <cstdio>
#define EXPORT extern "C" __global__ void
#define START unsigned n = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + threadIdx.x, x = in[i]

typedef unsigned (*operation)(unsigned, unsigned);
static __device__ __noinline__ unsigned op_add(unsigned a, unsigned b) { return a + b; }
static __device__ __noinline__ unsigned op_rotate(unsigned a, unsigned b) { return a << (b & 31) | a >> (-b & 31); }
static __device__ __noinline__ unsigned op_mix(unsigned a, unsigned b) { return (a ^ b >> 3) * 2654435761u; }
static __device__ __noinline__ unsigned op_loop(unsigned a, unsigned b)
{
    for (unsigned k = b % 7; k; k--)
        a = a * 3 + k;
    return a;
}
__device__ operation operations[4] = {op_add, op_rotate, op_mix, op_loop};

EXPORT control_pointers(const unsigned *in, unsigned *out)
{
    START;
    unsigned value = x;
    for (unsigned k = 0; k < 12; k++)
        value = operations[(x >> 2 * k) & 3](value, k + i);
    out[i] = value;
    operation uniform = operations[blockIdx.x & 3];
    out[n + i] = uniform(value, x);
}

struct shape {
    __device__ virtual double area() const = 0;
    __device__ virtual int corners() const { return 0; }
    __device__ virtual ~shape() {}
};
struct square : shape {
    double side;
    __device__ square(double s) : side(s) {}
    __device__ double area() const override { return side * side; }
    __device__ int corners() const override { return 4; }
};
struct disc : shape {
    double radius;
    __device__ disc(double r) : radius(r) {}
    __device__ double area() const override { return radius * radius * 3.0; }
};
struct cut_square : square {
    __device__ cut_square(double s) : square(s) {}
    __device__ double area() const override { return square::area() - 1.0; }
    __device__ int corners() const override { return square::corners() * 2; }
};

EXPORT control_virtual(const unsigned *in, double *out)
{
    START;
    shape *s;
    switch (x % 3) {
    case 0: s = new square(x % 100); break;
    case 1: s = new disc(x % 50 + 0.5); break;
    default: s = new cut_square(x % 77); break;
    }
    if (!s)
        return;
    out[i] = s->area();
    out[n + i] = s->corners();
    delete s;
}

static __device__ __noinline__ unsigned ackermann(unsigned m, unsigned k)
{
    if (m == 0)
        return k + 1;
    if (k == 0)
        return ackermann(m - 1, 1);
    return ackermann(m - 1, ackermann(m, k - 1));
}
static __device__ __noinline__ unsigned long long fibonacci(unsigned k) { return k < 2 ? k : fibonacci(k - 1) + fibonacci(k - 2); }
static __device__ bool is_odd(unsigned k);
static __device__ __noinline__ bool is_even(unsigned k) { return k == 0 ? true : is_odd(k - 1); }
static __device__ __noinline__ bool is_odd(unsigned k) { return k == 0 ? false : is_even(k - 1); }

static __device__ void quicksort(unsigned *values, int low, int high)
{
    if (low >= high)
        return;
    unsigned pivot = values[(low + high) / 2];
    int l = low, h = high;
    while (l <= h) {
        while (values[l] < pivot)
            l++;
        while (values[h] > pivot)
            h--;
        if (l <= h) {
            unsigned swap = values[l];
            values[l++] = values[h];
            values[h--] = swap;
        }
    }
    quicksort(values, low, h);
    quicksort(values, l, high);
}

EXPORT control_recursion(const unsigned *in, unsigned *out)
{
    START;
    out[i] = ackermann(x % 3, x / 3 % 5);
    out[n + i] = (unsigned)fibonacci(x % 11) + is_even(x % 9);
    unsigned values[16];
    for (unsigned k = 0; k < 16; k++)
        values[k] = in[(i + k * 5) % n];
    quicksort(values, 0, 15);
    for (unsigned k = 0; k < 16; k += 3)
        out[(2 + k / 3) * n + i] = values[k];
}

EXPORT control_local(const unsigned *in, unsigned *out)
{
    START;
    unsigned char bytes[48];
    unsigned short halves[12];
    double reals[8];
#pragma unroll 1
    for (unsigned k = 0; k < 48; k++)
        bytes[k] = (unsigned char)(x >> (k % 25) ^ k);
#pragma unroll 1
    for (unsigned k = 0; k < 12; k++)
        halves[k] = (unsigned short)(bytes[(x + k) % 48] * bytes[(x >> 5) % 48] + k);
#pragma unroll 1
    for (unsigned k = 0; k < 8; k++)
        reals[k] = halves[(x >> k) % 12] * 0.25;
#pragma unroll 1
    for (unsigned k = 0; k < 20; k++) {
        unsigned a = (x * (k + 1)) % 48, b = (x >> 3) * k % 48;
        unsigned char swap = bytes[a];
        bytes[a] = bytes[b];
        bytes[b] = swap;
        reals[k % 8] += reals[(k * x) % 8] / 2;
    }
    unsigned sum = 0;
#pragma unroll 1
    for (unsigned k = 0; k < 12; k++)
        sum = sum * 17 + *(unsigned *)(bytes + 4 * ((x + k) % 12));
    out[i] = sum;
    out[n + i] = (unsigned)(reals[x % 8] * 64.0);
}

struct small_struct {
    char tag;
    short level;
    unsigned weights[3];
    double scale;
    struct {
        unsigned char low : 3, middle : 7;
        unsigned high : 22;
    } fields;
};
static __device__ __noinline__ small_struct turn(small_struct s, int by)
{
    unsigned first = s.weights[0];
    s.weights[0] = s.weights[1] + by;
    s.weights[1] = s.weights[2];
    s.weights[2] = first;
    s.tag = (char)(s.tag * 3 + by);
    s.level = (short)(s.level - s.tag);
    s.scale = s.scale / 2 + s.level;
    s.fields.middle += s.fields.low;
    s.fields.high ^= s.fields.middle << 9;
    s.fields.low++;
    return s;
}

EXPORT control_structs(const unsigned *in, unsigned *out)
{
    START;
    small_struct s = {(char)x, (short)(x >> 8), {x, x * 2, x * 3}, (double)x, {(unsigned char)(x & 7), (unsigned char)(x & 127), x >> 10}};
    for (int k = 0; k < 5; k++)
        s = turn(s, (int)i + k);
    out[i] = s.weights[0] ^ s.weights[1] << 5 ^ s.weights[2] >> 2;
    out[n + i] = (unsigned)(unsigned char)s.tag | (unsigned)(unsigned short)s.level << 8;
    out[2 * n + i] = (unsigned)(long long)s.scale;
    out[3 * n + i] = s.fields.low | s.fields.middle << 3 | s.fields.high << 10;
}

struct by_value {
    unsigned add;
    float factor[3];
    unsigned char key[5];
    unsigned long long big;
    double real;
};
/* The host passes the structure: see struct by_value in compiled.c. */
EXPORT control_parameters(const unsigned *in, unsigned *out, by_value v, char small, short middle)
{
    START;
    float f = 0;
    for (unsigned k = 0; k < 3; k++)
        f += v.factor[(k + x) % 3] * (float)(k + 1);
    v.key[x % 5] ^= (unsigned char)i;
    unsigned key = 0;
    for (unsigned k = 0; k < 5; k++)
        key = key * 31 + v.key[k];
    out[i] = x + v.add + (unsigned)small * 3u + (unsigned)middle;
    out[n + i] = __float_as_uint(f);
    out[2 * n + i] = key;
    out[3 * n + i] = (unsigned)(v.big >> (x & 31)) + (unsigned)(long long)v.real;
}

template <unsigned N> struct unrolled {
    static __device__ unsigned run(unsigned x) { return unrolled<N - 1>::run(x * N ^ x >> N); }
};
template <> struct unrolled<0> {
    static __device__ unsigned run(unsigned x) { return x; }
};

EXPORT control_switch(const unsigned *in, unsigned *out)
{
    START;
    unsigned acc = unrolled<12>::run(x);
    for (unsigned k = 0; k < 16; k++) {
        switch ((acc >> k) % 13) {
        case 0: acc += 17; break;
        case 1: acc ^= acc << 3; break;
        case 2: acc = acc * 5 + 1; /* falls through */
        case 3: acc -= k; break;
        case 4: acc = __brev(acc); break;
        case 5: if (acc & 64) continue; acc |= 1; break;
        case 6: acc = ~acc; break;
        case 7: acc >>= 1; break;
        case 8: acc += in[(acc + k) % n]; break;
        case 9: acc = acc % 1000003; break;
        case 10: acc = __popc(acc) * 0x01010101u ^ acc; break;
        default: acc = acc << 7 | acc >> 25; break;
        }
    }
    out[i] = acc;
}

/* A little machine that runs a program made of the thread's own bits: jumps into and out of loops. */
EXPORT control_goto(const unsigned *in, unsigned *out)
{
    START;
    unsigned a = x, b = i, steps = 0;
start:
    if (++steps > 60)
        goto done;
    if (a & 1)
        goto odd;
    a >>= 1;
    if (b % 3 == 0)
        goto twist;
    goto start;
odd:
    b = b * 3 + a;
    while (a & 6) {
        a = a * 5 + 1;
        if (++steps > 60)
            goto done;
        if (a % 11 == 0)
            goto twist;
        if (a % 13 == 0)
            goto odd;
    }
    a ^= b;
    if (a == 1)
        goto done;
    goto start;
twist:
    a = a << 9 | a >> 23;
    b += steps;
    if (b & 8)
        goto odd;
    b += 5;
    goto start;
done:
    out[i] = a;
    out[n + i] = b;
    out[2 * n + i] = steps;
}

EXPORT control_long(const unsigned *in, unsigned long long *out)
{
    START;
    long long total = 0;
    for (long long k = (long long)x << 20, end = k + ((long long)(x % 50) << 32); k < end; k += (1ll << 32) - 12345) {
        total += k >> 11;
        if (total < 0)
            total ^= k;
    }
    unsigned long long steps = 0, c = (unsigned long long)x * 3 + 1;
    while (c != 1 && steps < 400) {
        c = c & 1 ? 3 * c + 1 : c / 2;
        steps++;
    }
    out[i] = (unsigned long long)total;
    out[n + i] = steps << 32 ^ c;
}

EXPORT control_heap(const unsigned *in, unsigned *out)
{
    START;
    struct node {
        unsigned value;
        node *next;
    } *list = nullptr;
    for (unsigned k = 0; k < 3 + x % 5; k++) {
        node *fresh = (node *)malloc(sizeof(node));
        if (!fresh)
            return;
        fresh->value = x + k;
        node **at = &list;
        while (*at && ((*at)->value ^ k) % 3)
            at = &(*at)->next;
        fresh->next = *at;
        *at = fresh;
    }
    unsigned *array = new unsigned[8 + x % 9], sum = 0;
    for (unsigned k = 0; k < 8 + x % 9; k++)
        array[k] = x * k;
    while (list) {
        node *next = list->next;
        sum = sum * 7 + list->value + array[list->value % 8];
        free(list);
        list = next;
    }
    delete[] array;
    out[i] = sum;
}

__constant__ unsigned primes[16] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53};
__constant__ struct {
    double weight;
    char name[7];
    const unsigned *table;
} records[2] = {{0.5, "left", primes + 3}, {-1.25, "right", &primes[9]}};
__device__ unsigned counter_start = 41;
__device__ const char *const words[3] = {"warp", "lane", "block"};

EXPORT control_constants(const unsigned *in, unsigned *out)
{
    START;
    unsigned sum = counter_start;
    for (unsigned k = 0; k < 8; k++)
        sum = sum * primes[(x >> k) % 16] + primes[k];
    const auto &r = records[x & 1];
    sum ^= r.name[x / 2 % 5] << 8 | (unsigned)(int)(r.weight * 64) << 16;
    sum += r.table[x % 7] + words[x % 3][x / 3 % 4];
    out[i] = sum;
}

EXPORT control_print(const unsigned *in, unsigned *out)
{
    START;
    for (unsigned who = 0; who < blockDim.x; who++) {
        if (threadIdx.x == who && blockIdx.x == 0 && who < 4) {
            printf("thread %u of %u: %d 0x%08x %c\n", threadIdx.x, blockDim.x, (int)x, x, 'a' + (int)who);
            printf("  %f %.3e %g %10.4f|%-8d|%+d|%5s|%-6s|%%\n", x / 7.0, x * 1e-5, 1.0 / (x | 1), (float)x / 3, (int)who, (int)who - 2, words[who % 3], "ab");
            printf("  %lld %llu %llx %hd %5.2f %o %#x %p\n", (long long)x * -12345678901ll, ~0ull, (unsigned long long)x << 21, (short)(x & 0x7fff), 2.5, x & 0777, 255, (void *)0x1234);
        }
        __syncthreads();
    }
    if (i == 0)
        printf("no arguments\n");
    int count = i == 0 ? printf("%s", "text without a line end") : 0;
    if (i == 0)
        printf("\n%d\n", count);
    out[i] = n + (unsigned)count;
}

EXPORT control_asm(const unsigned *in, unsigned *out)
{
    START;
    unsigned y = in[(i + 1) % n], a, b, c, d;
    asm("add.cc.u32 %0, %2, %3;\n\taddc.u32 %1, %2, 0;" : "=r"(a), "=r"(b) : "r"(x), "r"(y));
    asm("{\n\t.reg .pred p, q;\n\tsetp.lt.u32 p|q, %2, %3;\n\t@p mov.u32 %0, 5;\n\t@!p mov.u32 %0, 6;\n\tselp.u32 %1, 1, 2, q;\n}"
        : "=r"(c), "=r"(d) : "r"(x), "r"(y));
    out[i] = a ^ b ^ c << 8 ^ d << 16;
    asm("lop3.b32 %0, %1, %2, %3, 0xD8;" : "=r"(a) : "r"(x), "r"(y), "r"(i));
    asm("prmt.b32.f4e %0, %1, %2, %3;" : "=r"(b) : "r"(x), "r"(y), "r"(x & 3));
    asm("vadd.u32.s32.u32.sat %0, %1.b1, %2.h1;" : "=r"(c) : "r"(x), "r"(y));
    asm("{.reg .b16 l, h; mov.b32 {l, h}, %1; mov.b32 %0, {h, l};}" : "=r"(d) : "r"(x));
    out[n + i] = a + b + c + d;
    asm("{.reg .u64 t; mad.wide.u32 t, %1, %2, 99; shr.u64 t, t, 17; cvt.u32.u64 %0, t;}" : "=r"(a) : "r"(x), "r"(y));
    asm("{.reg .b32 v<4>; .reg .pred p; setp.eq.u32 p, %1, 0; @p bra L%=; clz.b32 v1, %1; bra.uni M%=; L%=: mov.b32 v1, 77; M%=: mov.b32 %0, v1;}" : "=r"(b) : "r"(x & 0xfff0));
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(c));
    asm("sad.s32 %0, %1, %2, 3;" : "=r"(d) : "r"(x), "r"(y));
    out[2 * n + i] = a ^ b ^ c ^ d;
}
