/* Matrix instructions from PTX text to memory. Products are compared with plain ones over small whole numbers, which
 * every type holds exactly, so that an element in the wrong lane shows; the places of mma's elements are written here
 * as the ISA gives them. Sums that cannot be exact have cases of their own. */
#include "gpu/gpu.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Running one warp */

enum { BUFFER_BYTES = 1 << 16, TEXT_BYTES = 1 << 16 };

struct bench {
    struct gpu *gpu;
    uint8_t *buffers[4]; /* the kernel's parameters pa, pb, pc, pd */
    struct error error;
};

static int start(void **state)
{
    struct bench *b = calloc(1, sizeof *b);
    struct gpu_options options = {
        .machine = {.name = "test",
                    .cores = 1,
                    .sm = {.warps = 48, .blocks = 8, .registers = 32768, .register_granule = 8, .shared_bytes = 49152},
                    .memory_bytes = 1 << 26},
        .functional = true,
    };
    b->gpu = gpu_create(&options, &b->error);
    for (int i = 0; b->gpu && i < 4; i++)
        b->buffers[i] = (uint8_t *)(uintptr_t)memory_alloc(b->gpu->memory, BUFFER_BYTES, 256, MEMORY_DEVICE, NULL);
    *state = b;
    return b->gpu ? 0 : -1;
}

static int stop(void **state)
{
    struct bench *b = *state;
    gpu_destroy(b->gpu);
    free(b);
    return 0;
}

/* Runs body, PTX statements, over one block of the given threads; false and b->error where it is refused or fails. */
static bool run_threads(struct bench *b, const char *body, uint32_t threads)
{
    static char text[TEXT_BYTES];
    int length = snprintf(text, sizeof text,
                          ".version 8.7\n.target sm_90a\n.address_size 64\n"
                          ".visible .entry k(.param .u64 pa, .param .u64 pb, .param .u64 pc, .param .u64 pd)\n{\n"
                          ".reg .b64 %%a, %%b, %%c, %%d, %%x, %%y; .reg .b32 %%lane, %%t; .reg .pred %%p;\n.shared "
                          ".align 16 .b8 sh[1024];\n"
                          "ld.param.u64 %%a, [pa]; ld.param.u64 %%b, [pb]; ld.param.u64 %%c, [pc]; ld.param.u64 %%d, "
                          "[pd]; mov.u32 %%lane, %%laneid;\n"
                          "%s\nret;\n}\n",
                          body);
    b->error = (struct error){0};
    struct ptx_module *m = ptx_parse("test.ptx", text, (size_t)length, &b->error);
    struct exec_image *image = m ? exec_image_create(b->gpu->memory, &m, 1, &b->error) : NULL;
    if (!image)
        return false;
    struct gpu_launch launch = {.kernel = exec_image_function(image, "k"),
                                .grid = {1, 1, 1},
                                .block = {threads, 1, 1},
                                .params = b->buffers,
                                .params_bytes = sizeof b->buffers};
    bool ran = gpu_launch(b->gpu, &launch, &b->error);
    exec_image_destroy(image);
    return ran;
}

static void run(struct bench *b, const char *body)
{
    if (!run_threads(b, body, 32))
        fail_msg("%s\n%s", b->error.text, body);
}

/* Text of a kernel, piece by piece. */
struct text {
    char body[TEXT_BYTES / 2];
    size_t used;
};

static void add(struct text *t, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    t->used += (size_t)vsnprintf(t->body + t->used, sizeof t->body - t->used, format, args);
    va_end(args);
    assert_true(t->used < sizeof t->body);
}

/* Numbers of all types */

struct type {
    const char *name;
    int bits;
    bool is_signed;
};
static const struct type types[] = {
    {"f16", 16, true}, {"bf16", 16, true}, {"tf32", 32, true}, {"f32", 32, true}, {"f64", 64, true},
    {"s8", 8, true},   {"u8", 8, false},   {"s4", 4, true},    {"u4", 4, false},  {"b1", 1, false},
    {"s32", 32, true}, {"e4m3", 8, true},  {"e5m2", 8, true},
};

static const struct type *type_of(const char *name)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(types[i].name, name) == 0)
            return &types[i];
    fail_msg("no type %s", name);
    return NULL;
}

/* A whole number of at most 2^24 in magnitude as the bits of a floating format. */
static uint64_t encode_float(int value, int exponent_bits, int fraction_bits)
{
    uint64_t magnitude = (uint64_t)abs(value), sign = value < 0;
    if (!value)
        return 0;
    int top = 63 - __builtin_clzll(magnitude);
    uint64_t fraction =
        (fraction_bits >= top ? magnitude << (fraction_bits - top) : magnitude >> (top - fraction_bits)) &
        ((1ull << fraction_bits) - 1);
    uint64_t exponent = (uint64_t)(top + (1 << (exponent_bits - 1)) - 1);
    return sign << (exponent_bits + fraction_bits) | exponent << fraction_bits | fraction;
}

static uint64_t encode(const struct type *t, int value)
{
    static const struct {
        const char *name;
        int exponent, fraction;
    } formats[] = {
        {"f16", 5, 10},  {"bf16", 8, 7}, {"tf32", 8, 23}, {"f32", 8, 23},
        {"f64", 11, 52}, {"e4m3", 4, 3}, {"e5m2", 5, 2},
    };
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (strcmp(formats[i].name, t->name) == 0)
            return encode_float(value, formats[i].exponent, formats[i].fraction);
    return (uint64_t)(int64_t)value & (t->bits == 64 ? ~0ull : (1ull << t->bits) - 1);
}

static void put(uint8_t *to, const struct type *t, size_t index, int value)
{
    uint64_t bits = encode(t, value);
    if (t->bits >= 8) {
        memcpy(to + index * (size_t)t->bits / 8, &bits, (size_t)t->bits / 8);
        return;
    }
    size_t bit = index * (size_t)t->bits;
    uint8_t mask = (uint8_t)(((1u << t->bits) - 1) << bit % 8);
    to[bit / 8] = (uint8_t)((to[bit / 8] & ~mask) | (bits << bit % 8 & mask));
}

static uint64_t get(const uint8_t *from, const struct type *t, size_t index)
{
    uint64_t bits = 0;
    memcpy(&bits, from + index * (size_t)t->bits / 8, (size_t)t->bits / 8);
    return bits;
}

/* Small numbers that differ from place to place. */
static int operand_value(const struct type *t, int row, int column, int salt)
{
    int x = (row * 7 + column * 13 + salt + row * column) % 97;
    if (t->bits == 1)
        return x & 1;
    return t->is_signed ? x % 5 - 2 : x % 5;
}

static int accumulator_value(int row, int column) { return (row * 31 + column * 17) % 201 - 100; }

struct product {
    int m, n, k;
    const struct type *a, *b, *c, *d;
    bool use_and;
};

static int product_element(const struct product *p, int i, int j)
{
    int sum = accumulator_value(i, j);
    for (int k = 0; k < p->k; k++) {
        int x = operand_value(p->a, i, k, 3), y = operand_value(p->b, k, j, 5);
        sum += p->a->bits > 1 ? x * y : p->use_and ? (x & y) : (x ^ y);
    }
    return sum;
}

/* wmma: load, multiply and store, all shapes, types, layouts and spaces; strides given and left out. */

struct wmma_case {
    const char *shape;
    int m, n, k;
    const char *operand, *c, *d;
    int a_registers, b_registers, accumulators;
};

static const struct wmma_case wmma_cases[] = {
    {"m16n16k16", 16, 16, 16, "f16", "f32", "f32", 8, 8, 8}, {"m16n16k16", 16, 16, 16, "f16", "f16", "f16", 8, 8, 8},
    {"m8n32k16", 8, 32, 16, "f16", "f32", "f32", 8, 8, 8},   {"m32n8k16", 32, 8, 16, "f16", "f16", "f32", 8, 8, 8},
    {"m8n32k16", 8, 32, 16, "f16", "f32", "f16", 8, 8, 8},   {"m16n16k16", 16, 16, 16, "bf16", "f32", "f32", 4, 4, 8},
    {"m8n32k16", 8, 32, 16, "bf16", "f32", "f32", 2, 8, 8},  {"m32n8k16", 32, 8, 16, "bf16", "f32", "f32", 8, 2, 8},
    {"m16n16k16", 16, 16, 16, "s8", "s32", "s32", 2, 2, 8},  {"m8n32k16", 8, 32, 16, "u8", "s32", "s32", 1, 4, 8},
    {"m32n8k16", 32, 8, 16, "s8", "s32", "s32", 4, 1, 8},    {"m16n16k8", 16, 16, 8, "tf32", "f32", "f32", 4, 4, 8},
    {"m8n8k4", 8, 8, 4, "f64", "f64", "f64", 1, 1, 2},       {"m8n8k32", 8, 8, 32, "s4", "s32", "s32", 1, 1, 2},
    {"m8n8k32", 8, 8, 32, "u4", "s32", "s32", 1, 1, 2},      {"m8n8k128", 8, 8, 128, "b1", "s32", "s32", 1, 1, 2},
};

static void add_registers(struct text *t, char name, int count)
{
    add(t, "{");
    for (int i = 0; i < count; i++)
        add(t, "%s%%%c%d", i ? ", " : "", name, i);
    add(t, "}");
}

static void declare_registers(struct text *t, char name, int count, const struct type *type)
{
    bool packed = type->bits < 32 || strcmp(type->name, "tf32") == 0;
    add(t, ".reg .%s ", packed ? "b32" : type->name);
    for (int i = 0; i < count; i++)
        add(t, "%s%%%c%d", i ? ", " : "", name, i);
    add(t, ";\n");
}

static int accumulator_registers(const struct wmma_case *c, const struct type *t)
{
    return t->bits == 16 ? c->accumulators / 2 : c->accumulators;
}

/* Which places of a matrix lie where: index of (row, column) by rows or by columns with a leading dimension. */
static size_t index_of(bool by_rows, int row, int column, int leading)
{
    return (size_t)(by_rows ? row * leading + column : column * leading + row);
}

struct wmma_layout {
    bool a_by_rows, b_by_rows, c_by_rows;
    int extra;
}; /* extra: elements between rows beyond the tight ones */

static int leading(bool by_rows, int rows, int columns, int extra) { return (by_rows ? columns : rows) + extra; }

static void wmma_fill(struct bench *b, const struct product *p, const struct wmma_layout *l)
{
    for (int i = 0; i < p->m; i++)
        for (int k = 0; k < p->k; k++)
            put(b->buffers[0], p->a, index_of(l->a_by_rows, i, k, leading(l->a_by_rows, p->m, p->k, l->extra)),
                operand_value(p->a, i, k, 3));
    for (int k = 0; k < p->k; k++)
        for (int j = 0; j < p->n; j++)
            put(b->buffers[1], p->b, index_of(l->b_by_rows, k, j, leading(l->b_by_rows, p->k, p->n, l->extra)),
                operand_value(p->b, k, j, 5));
    for (int i = 0; i < p->m; i++)
        for (int j = 0; j < p->n; j++)
            put(b->buffers[2], p->c, index_of(l->c_by_rows, i, j, leading(l->c_by_rows, p->m, p->n, l->extra)),
                accumulator_value(i, j));
    memset(b->buffers[3], 0xee, BUFFER_BYTES);
}

static void wmma_text(struct text *t, const struct wmma_case *c, const struct product *p, const struct wmma_layout *l)
{
    char stride[4][32] = {"", "", "", ""};
    const int strides[4] = {leading(l->a_by_rows, p->m, p->k, l->extra), leading(l->b_by_rows, p->k, p->n, l->extra),
                            leading(l->c_by_rows, p->m, p->n, l->extra), leading(!l->c_by_rows, p->m, p->n, l->extra)};
    for (int i = 0; l->extra && i < 4; i++)
        snprintf(stride[i], sizeof stride[i], ", %d", strides[i]);
    int nc = accumulator_registers(c, p->c), nd = accumulator_registers(c, p->d);
    declare_registers(t, 'f', c->a_registers, p->a);
    declare_registers(t, 'g', c->b_registers, p->b);
    declare_registers(t, 'h', nc, p->c);
    declare_registers(t, 'i', nd, p->d);
    add(t, "wmma.load.a.sync.aligned.%s.%s.global.%s ", l->a_by_rows ? "row" : "col", c->shape, c->operand);
    add_registers(t, 'f', c->a_registers);
    add(t, ", [%%a]%s;\nwmma.load.b.sync.aligned.%s.%s.%s ", stride[0], l->b_by_rows ? "row" : "col", c->shape,
        c->operand);
    add_registers(t, 'g', c->b_registers);
    add(t, ", [%%b]%s;\nwmma.load.c.sync.aligned.%s.%s.global.%s ", stride[1], l->c_by_rows ? "row" : "col", c->shape,
        c->c);
    add_registers(t, 'h', nc);
    add(t, ", [%%c]%s;\nwmma.mma%s.sync.aligned.%s.%s.%s", stride[2],
        p->a->bits == 1 ? (p->use_and ? ".and.popc" : ".xor.popc") : "", l->a_by_rows ? "row" : "col",
        l->b_by_rows ? "row" : "col", c->shape);
    if (strcmp(c->operand, "f16") == 0)
        add(t, ".%s.%s ", c->d, c->c);
    else
        add(t, ".%s.%s.%s.%s ", c->d, c->operand, c->operand, c->c);
    add_registers(t, 'i', nd);
    add(t, ", ");
    add_registers(t, 'f', c->a_registers);
    add(t, ", ");
    add_registers(t, 'g', c->b_registers);
    add(t, ", ");
    add_registers(t, 'h', nc);
    add(t, ";\nwmma.store.d.sync.aligned.%s.%s.global.%s [%%d], ", l->c_by_rows ? "col" : "row", c->shape, c->d);
    add_registers(t, 'i', nd);
    add(t, "%s;\n", stride[3]);
}

static void wmma_check(struct bench *b, const struct wmma_case *c, const struct wmma_layout *l, bool use_and)
{
    static struct text t;
    struct product p = {c->m,          c->n,          c->k,   type_of(c->operand), type_of(c->operand),
                        type_of(c->c), type_of(c->d), use_and};
    t.used = 0;
    wmma_text(&t, c, &p, l);
    wmma_fill(b, &p, l);
    run(b, t.body);
    for (int i = 0; i < p.m; i++)
        for (int j = 0; j < p.n; j++) {
            uint64_t got =
                get(b->buffers[3], p.d, index_of(!l->c_by_rows, i, j, leading(!l->c_by_rows, p.m, p.n, l->extra)));
            uint64_t want = encode(p.d, product_element(&p, i, j));
            if (got != want)
                fail_msg("row %d column %d: 0x%llx, expected 0x%llx\n%s", i, j, (unsigned long long)got,
                         (unsigned long long)want, t.body);
        }
}

static void test_wmma(void **state)
{
    for (size_t i = 0; i < sizeof wmma_cases / sizeof *wmma_cases; i++) {
        const struct wmma_case *c = &wmma_cases[i];
        bool small = type_of(c->operand)->bits < 8;
        for (int layout = 0; layout < 16; layout++) {
            struct wmma_layout l = {layout & 1, layout & 2, layout & 4, layout & 8 ? (small ? 128 : 16) : 0};
            if (!small || (l.a_by_rows && !l.b_by_rows))
                wmma_check(*state, c, &l, layout & 8);
        }
    }
}

/* mma: the places of elements as the ISA's figures give them. Element e of a lane's fragment; g = lane / 4, t = lane
 * % 4. */

struct place {
    int row, column;
};
struct mma_case {
    const char *name;
    int m, n, k;
    const char *a, *b, *c, *d;
};

static const struct mma_case mma_cases[] = {
    {"m16n8k8", 16, 8, 8, "f16", "f16", "f32", "f32"},     {"m16n8k8", 16, 8, 8, "f16", "f16", "f16", "f16"},
    {"m16n8k16", 16, 8, 16, "f16", "f16", "f32", "f32"},   {"m16n8k16", 16, 8, 16, "f16", "f16", "f16", "f16"},
    {"m16n8k8", 16, 8, 8, "bf16", "bf16", "f32", "f32"},   {"m16n8k16", 16, 8, 16, "bf16", "bf16", "f32", "f32"},
    {"m16n8k4", 16, 8, 4, "tf32", "tf32", "f32", "f32"},   {"m16n8k8", 16, 8, 8, "tf32", "tf32", "f32", "f32"},
    {"m8n8k4", 8, 8, 4, "f64", "f64", "f64", "f64"},       {"m16n8k4", 16, 8, 4, "f64", "f64", "f64", "f64"},
    {"m16n8k8", 16, 8, 8, "f64", "f64", "f64", "f64"},     {"m16n8k16", 16, 8, 16, "f64", "f64", "f64", "f64"},
    {"m8n8k16", 8, 8, 16, "s8", "u8", "s32", "s32"},       {"m16n8k16", 16, 8, 16, "u8", "s8", "s32", "s32"},
    {"m16n8k32", 16, 8, 32, "s8", "s8", "s32", "s32"},     {"m8n8k32", 8, 8, 32, "s4", "u4", "s32", "s32"},
    {"m16n8k32", 16, 8, 32, "u4", "s4", "s32", "s32"},     {"m16n8k64", 16, 8, 64, "s4", "s4", "s32", "s32"},
    {"m8n8k128", 8, 8, 128, "b1", "b1", "s32", "s32"},     {"m16n8k128", 16, 8, 128, "b1", "b1", "s32", "s32"},
    {"m16n8k256", 16, 8, 256, "b1", "b1", "s32", "s32"},   {"m16n8k32", 16, 8, 32, "e4m3", "e5m2", "f32", "f32"},
    {"m16n8k16", 16, 8, 16, "e5m2", "e4m3", "f16", "f16"},
};

/* Elements that a register holds. */
static int packed(const struct type *t) { return t->bits >= 32 ? 1 : 32 / t->bits; }

static struct place place_in_a(const struct mma_case *c, const struct type *t, int lane, int e)
{
    int run = packed(t), g = lane / 4, in_group = lane % 4, chunk = e / run;
    int row = c->m == 16 && chunk % 2 ? g + 8 : g;
    int step = c->m == 16 ? chunk / 2 : chunk;
    return (struct place){row, in_group * run + e % run + step * 4 * run};
}

static struct place place_in_b(const struct type *t, int lane, int e)
{
    int run = packed(t);
    return (struct place){lane % 4 * run + e % run + e / run * 4 * run, lane / 4};
}

static struct place place_in_c(int lane, int e)
{
    return (struct place){lane / 4 + (e >= 2 ? 8 : 0), lane % 4 * 2 + (e & 1)};
}

/* A fragment lies in memory register by register: [register][lane]. */
static size_t fragment_index(const struct type *t, int lane, int e)
{
    int run = packed(t);
    return (size_t)((e / run * 32 + lane) * run + e % run);
}

static void add_transfer(struct text *t, bool load, char name, char pointer, int count, const struct type *type)
{
    int bytes = type->bits == 64 ? 8 : 4;
    add(t, "mad.wide.u32 %%x, %%lane, %d, %%%c;\n", bytes, pointer);
    for (int i = 0; i < count; i++) {
        if (load)
            add(t, "ld.global.b%d %%%c%d, [%%x+%d];\n", bytes * 8, name, i, i * 32 * bytes);
        else
            add(t, "st.global.b%d [%%x+%d], %%%c%d;\n", bytes * 8, i * 32 * bytes, name, i);
    }
}

static void mma_text(struct text *t, const struct mma_case *c, const struct product *p, const char *options)
{
    int na = p->m * p->k / 32 / packed(p->a), nb = p->k * p->n / 32 / packed(p->b),
        nc = p->m * p->n / 32 / packed(p->c);
    declare_registers(t, 'f', na, p->a);
    declare_registers(t, 'g', nb, p->b);
    declare_registers(t, 'h', nc, p->c);
    declare_registers(t, 'i', nc, p->d);
    add_transfer(t, true, 'f', 'a', na, p->a);
    add_transfer(t, true, 'g', 'b', nb, p->b);
    add_transfer(t, true, 'h', 'c', nc, p->c);
    add(t, "mma.sync.aligned.%s.row.col.%s.%s.%s.%s%s ", c->name, c->d, c->a, c->b, c->c, options);
    add_registers(t, 'i', nc);
    add(t, ", ");
    add_registers(t, 'f', na);
    add(t, ", ");
    add_registers(t, 'g', nb);
    add(t, ", ");
    add_registers(t, 'h', nc);
    add(t, ";\n");
    add_transfer(t, false, 'i', 'd', nc, p->d);
}

static void mma_check(struct bench *b, const struct mma_case *c, bool use_and)
{
    static struct text t;
    struct product p = {c->m, c->n, c->k, type_of(c->a), type_of(c->b), type_of(c->c), type_of(c->d), use_and};
    for (int lane = 0; lane < 32; lane++) {
        for (int e = 0; e < p.m * p.k / 32; e++) {
            struct place at = place_in_a(c, p.a, lane, e);
            put(b->buffers[0], p.a, fragment_index(p.a, lane, e), operand_value(p.a, at.row, at.column, 3));
        }
        for (int e = 0; e < p.k * p.n / 32; e++) {
            struct place at = place_in_b(p.b, lane, e);
            put(b->buffers[1], p.b, fragment_index(p.b, lane, e), operand_value(p.b, at.row, at.column, 5));
        }
        for (int e = 0; e < p.m * p.n / 32; e++) {
            struct place at = place_in_c(lane, e);
            put(b->buffers[2], p.c, fragment_index(p.c, lane, e), accumulator_value(at.row, at.column));
        }
    }
    t.used = 0;
    mma_text(&t, c, &p, p.a->bits > 1 ? "" : use_and ? ".and.popc" : ".xor.popc");
    run(b, t.body);
    for (int lane = 0; lane < 32; lane++)
        for (int e = 0; e < p.m * p.n / 32; e++) {
            struct place at = place_in_c(lane, e);
            uint64_t got = get(b->buffers[3], p.d, fragment_index(p.d, lane, e)),
                     want = encode(p.d, product_element(&p, at.row, at.column));
            if (got != want)
                fail_msg("lane %d element %d: 0x%llx, expected 0x%llx\n%s", lane, e, (unsigned long long)got,
                         (unsigned long long)want, t.body);
        }
}

static void test_mma(void **state)
{
    for (size_t i = 0; i < sizeof mma_cases / sizeof *mma_cases; i++) {
        mma_check(*state, &mma_cases[i], false);
        mma_check(*state, &mma_cases[i], true);
    }
}

/* Sparse A: rows of 2:4 blocks, the kept elements at places that change with row and block. */

static int kept_place(int row, int k) /* of element k of the stored row, in the block's four */
{
    static const int pairs[6][2] = {{0, 1}, {0, 2}, {1, 2}, {0, 3}, {1, 3}, {2, 3}};
    return pairs[(row + k / 2) % 6][k % 2];
}

static void sparse_fill(struct bench *b, const struct type *f16, const struct type *f32)
{
    static const struct mma_case stored = {"", 16, 8, 8, "f16", "f16", "f32", "f32"};
    uint32_t *metadata = (uint32_t *)(void *)(b->buffers[0] + 4096);
    for (int lane = 0; lane < 32; lane++) {
        for (int e = 0; e < 4; e++) {
            struct place at = place_in_a(&stored, f16, lane, e);
            put(b->buffers[0], f16, fragment_index(f16, lane, e), operand_value(f16, at.row, at.column, 3));
        }
        for (int e = 0; e < 4; e++) {
            struct place at = place_in_b(f16, lane, e);
            put(b->buffers[1], f16, fragment_index(f16, lane, e), operand_value(f16, at.row, at.column, 5));
        }
        for (int e = 0; e < 4; e++)
            put(b->buffers[2], f32, fragment_index(f32, lane, e),
                accumulator_value(place_in_c(lane, e).row, place_in_c(lane, e).column));
        metadata[lane] = 0xeeeeeeee; /* only one lane of four is asked */
        for (int k = 0; lane % 4 == 2 && k < 8; k++) {
            metadata[lane] &= ~(3u << 2 * k) & ~(3u << (16 + 2 * k));
            metadata[lane] |= (uint32_t)kept_place(lane / 4, k) << 2 * k | (uint32_t)kept_place(lane / 4 + 8, k)
                                                                               << (16 + 2 * k);
        }
    }
}

static void test_sparse(void **state)
{
    struct bench *b = *state;
    static struct text t;
    const struct type *f16 = type_of("f16"), *f32 = type_of("f32");
    sparse_fill(b, f16, f32);
    t.used = 0;
    declare_registers(&t, 'f', 2, f16);
    declare_registers(&t, 'g', 2, f16);
    declare_registers(&t, 'h', 4, f32);
    add_transfer(&t, true, 'f', 'a', 2, f16);
    add_transfer(&t, true, 'g', 'b', 2, f16);
    add_transfer(&t, true, 'h', 'c', 4, f32);
    add(&t, "mad.wide.u32 %%x, %%lane, 4, %%a; ld.global.b32 %%t, [%%x+4096];\n"
            "mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%%h0,%%h1,%%h2,%%h3}, {%%f0,%%f1}, {%%g0,%%g1}, "
            "{%%h0,%%h1,%%h2,%%h3}, %%t, 2;\n");
    add_transfer(&t, false, 'h', 'd', 4, f32);
    run(b, t.body);
    for (int lane = 0; lane < 32; lane++)
        for (int e = 0; e < 4; e++) {
            struct place at = place_in_c(lane, e);
            int sum = accumulator_value(at.row, at.column);
            for (int k = 0; k < 8; k++)
                sum += operand_value(f16, at.row, k, 3) *
                       operand_value(f16, k / 2 * 4 + kept_place(at.row, k), at.column, 5);
            assert_int_equal(get(b->buffers[3], f32, fragment_index(f32, lane, e)), encode(f32, sum));
        }
}

/* mma.m8n8k4 on f16: four products, one a quad pair, A by rows and B by columns. */
static void test_quads(void **state)
{
    struct bench *b = *state;
    const struct type *f16 = type_of("f16"), *f32 = type_of("f32");
    static struct text t;
    for (int lane = 0; lane < 32; lane++) {
        int quad = lane / 4 % 4, row = lane % 4 + (lane >= 16 ? 4 : 0);
        for (int e = 0; e < 4; e++) {
            put(b->buffers[0], f16, fragment_index(f16, lane, e), operand_value(f16, row, e, quad));
            put(b->buffers[1], f16, fragment_index(f16, lane, e), operand_value(f16, e, row, quad + 9));
        }
        for (int e = 0; e < 8; e++)
            put(b->buffers[2], f32, fragment_index(f32, lane, e), quad * 100);
    }
    t.used = 0;
    declare_registers(&t, 'f', 2, f16);
    declare_registers(&t, 'g', 2, f16);
    declare_registers(&t, 'h', 8, f32);
    add_transfer(&t, true, 'f', 'a', 2, f16);
    add_transfer(&t, true, 'g', 'b', 2, f16);
    add_transfer(&t, true, 'h', 'c', 8, f32);
    add(&t, "mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 {%%h0,%%h1,%%h2,%%h3,%%h4,%%h5,%%h6,%%h7}, {%%f0,%%f1}, "
            "{%%g0,%%g1}, "
            "{%%h0,%%h1,%%h2,%%h3,%%h4,%%h5,%%h6,%%h7};\n");
    add_transfer(&t, false, 'h', 'd', 8, f32);
    run(b, t.body);
    for (int lane = 0; lane < 32; lane++)
        for (int e = 0; e < 8; e++) {
            int quad = lane / 4 % 4, row = (lane & 1) + (e & 2) + (lane >= 16 ? 4 : 0),
                column = (e & 4) + (lane & 2) + (e & 1), sum = quad * 100;
            for (int k = 0; k < 4; k++)
                sum += operand_value(f16, row, k, quad) * operand_value(f16, k, column, quad + 9);
            assert_int_equal(get(b->buffers[3], f32, fragment_index(f32, lane, e)), encode(f32, sum));
        }
}

/* How the f16 unit adds: row 0 of A times column 0 of B, all terms and the accumulator given; by the rule of
 * mma_math.c, which an H200 follows. */

struct sum_case {
    uint16_t a[16], b[16];
    uint32_t c, expected;
};

static const struct sum_case sums[] = {
    /* terms 2^-24 beside 1: two of them make one unit in the last place, none is lost */
    {{0x1400, 0x1400}, {0x0400, 0x0400}, 0x3f800000, 0x3f800001},
    /* eight terms 2^-26: each is cut away alone, though their sum is a unit */
    {{0x0400, 0x0400, 0x0400, 0x0400, 0x0400, 0x0400, 0x0400, 0x0400},
     {0x0c00, 0x0c00, 0x0c00, 0x0c00, 0x0c00, 0x0c00, 0x0c00, 0x0c00},
     0x3f800000,
     0x3f800000},
    /* cut, not rounded: 1 - 2^-25 */
    {{0x8400}, {0x1000}, 0x3f800000, 0x3f7fffff},
    /* all sixteen terms in one pass: the ninth is cut away beside the first two, which cancel */
    {{0x7400, 0xf400, 0, 0, 0, 0, 0, 0, 0x0001}, {0x7400, 0x7400, 0, 0, 0, 0, 0, 0, 0x3c00}, 0, 0},
    {{0x7c00}, {0x0000}, 0x3f800000, 0x7fffffff},
    {{0x7c00, 0x3c00}, {0x3c00, 0x3c00}, 0xff800000, 0x7fffffff},
    {{0xfc00}, {0x3c00}, 0x3f800000, 0xff800000},
    {{0x8000}, {0x3c00}, 0x80000000, 0x00000000},
};

static void test_sums(void **state)
{
    struct bench *b = *state;
    static struct text t;
    const struct type *f16 = type_of("f16"), *f32 = type_of("f32");
    static const struct mma_case c = {"m16n8k16", 16, 8, 16, "f16", "f16", "f32", "f32"};
    struct product p = {16, 8, 16, f16, f16, f32, f32, false};
    t.used = 0;
    mma_text(&t, &c, &p, "");
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++) {
        for (int buffer = 0; buffer < 4; buffer++)
            memset(b->buffers[buffer], 0, 4096);
        for (int lane = 0; lane < 4; lane++)
            for (int e = 0; e < 8; e++) {
                struct place in_a = place_in_a(&c, f16, lane, e), in_b = place_in_b(f16, lane, e % 4);
                if (in_a.row == 0)
                    memcpy(b->buffers[0] + 2 * fragment_index(f16, lane, e), &sums[i].a[in_a.column], 2);
                memcpy(b->buffers[1] + 2 * fragment_index(f16, lane, e % 4), &sums[i].b[in_b.row], 2);
            }
        memcpy(b->buffers[2], &sums[i].c, 4);
        run(b, t.body);
        uint32_t got;
        memcpy(&got, b->buffers[3], 4);
        if (got != sums[i].expected)
            fail_msg("sum %zu: 0x%08x, expected 0x%08x", i, got, sums[i].expected);
    }
}

/* wmma on tf32 takes two passes of four: the fifth term is not cut beside the first two. */
static void test_narrow_sums(void **state)
{
    struct bench *b = *state;
    float *a = (float *)(void *)b->buffers[0], *ones = (float *)(void *)b->buffers[1];
    memset(a, 0, 512);
    memset(b->buffers[2], 0, 1024);
    a[0] = 0x1p20f;
    a[1] = -0x1p20f;
    a[4] = 0x1p-20f;
    for (int i = 0; i < 128; i++)
        ones[i] = 1.0f;
    run(b, ".reg .b32 %f<4>, %g<4>; .reg .f32 %h<8>;\n"
           "wmma.load.a.sync.aligned.row.m16n16k8.tf32 {%f0,%f1,%f2,%f3}, [%a]; "
           "wmma.load.b.sync.aligned.row.m16n16k8.tf32 {%g0,%g1,%g2,%g3}, [%b];\n"
           "wmma.load.c.sync.aligned.row.m16n16k8.f32 {%h0,%h1,%h2,%h3,%h4,%h5,%h6,%h7}, [%c];\n"
           "wmma.mma.sync.aligned.row.row.m16n16k8.f32.tf32.tf32.f32 {%h0,%h1,%h2,%h3,%h4,%h5,%h6,%h7}, "
           "{%f0,%f1,%f2,%f3}, {%g0,%g1,%g2,%g3}, "
           "{%h0,%h1,%h2,%h3,%h4,%h5,%h6,%h7};\n"
           "wmma.store.d.sync.aligned.row.m16n16k8.f32 [%d], {%h0,%h1,%h2,%h3,%h4,%h5,%h6,%h7};");
    assert_true(((const float *)(const void *)b->buffers[3])[0] == 0x1p-20f);
}

static void test_saturation(void **state)
{
    struct bench *b = *state;
    static const char *const options[2] = {"", ".satfinite"};
    static const uint32_t expected[2] = {0x80000000u, 0x7fffffffu};
    for (int i = 0; i < 2; i++) {
        char body[600];
        snprintf(body, sizeof body,
                 ".reg .b32 %%o, %%q, %%r, %%s; mov.b32 %%o, 0x01; mov.b32 %%r, 0x7fffffff; setp.ne.u32 %%p, %%lane, "
                 "0; @%%p mov.b32 %%o, 0;\n"
                 "mma.sync.aligned.m8n8k16.row.col%s.s32.s8.s8.s32 {%%q, %%s}, {%%o}, {%%o}, {%%r, %%r};\n"
                 "@!%%p st.global.b32 [%%d], %%q;",
                 options[i]);
        run(b, body);
        uint32_t got;
        memcpy(&got, b->buffers[3], 4);
        assert_int_equal(got, expected[i]);
    }
}

/* ldmatrix and stmatrix: 8x8 matrices of 16-bit elements in shared memory, each filled with its own numbers. */

static void matrices_through(struct bench *b, int count, const char *load_option, const char *store_option)
{
    static struct text t;
    t.used = 0;
    /* Matrix i's element number e is 64 i + e; 512 bytes are copied in and out by 16 per lane. */
    add(&t,
        ".reg .b32 %%s, %%r0, %%r1, %%r2, %%r3, %%v<4>; mov.u32 %%s, sh; mad.lo.u32 %%s, %%lane, 16, %%s; mad.wide.u32 "
        "%%x, %%lane, 16, %%a;\n"
        "ld.global.v4.b32 {%%v0,%%v1,%%v2,%%v3}, [%%x]; st.shared.v4.b32 [%%s], {%%v0,%%v1,%%v2,%%v3}; bar.sync 0;\n"
        "mov.b32 %%r0, 0; mov.b32 %%r1, 0; mov.b32 %%r2, 0; mov.b32 %%r3, "
        "0;\nldmatrix.sync.aligned.m8n8.x%d%s.shared.b16 ",
        count, load_option);
    add_registers(&t, 'r', count);
    add(&t,
        ", [%%s];\nmad.wide.u32 %%x, %%lane, 16, %%c; st.global.v4.b32 [%%x], {%%r0,%%r1,%%r2,%%r3};\n"
        "stmatrix.sync.aligned.m8n8.x%d%s.shared.b16 [%%s+512], ",
        count, store_option);
    add_registers(&t, 'r', count);
    add(&t, ";\nbar.sync 0; ld.shared.v4.b32 {%%v0,%%v1,%%v2,%%v3}, [%%s+512]; mad.wide.u32 %%x, %%lane, 16, %%d; "
            "st.global.v4.b32 [%%x], {%%v0,%%v1,%%v2,%%v3};\n");
    for (int i = 0; i < 256; i++)
        ((uint16_t *)(void *)b->buffers[0])[i] = (uint16_t)(i + 1);
    run(b, t.body);
    const uint16_t *registers = (const uint16_t *)(const void *)b->buffers[2],
                   *stored = (const uint16_t *)(const void *)b->buffers[3];
    bool turned = *load_option, turned_back = *store_option;
    for (int m = 0; m < count; m++)
        for (int e = 0; e < 64; e++) {
            int row = e / 8, column = e % 8, lane = row * 4 + column / 2;
            int loaded = turned ? column * 8 + row : e, kept = turned != turned_back ? column * 8 + row : e;
            assert_int_equal(registers[lane * 8 + m * 2 + column % 2], m * 64 + loaded + 1);
            assert_int_equal(stored[m * 64 + e], m * 64 + kept + 1);
        }
}

static void test_ldmatrix(void **state)
{
    for (int count = 1; count <= 4; count *= 2) {
        matrices_through(*state, count, "", "");
        matrices_through(*state, count, ".trans", "");
        matrices_through(*state, count, "", ".trans");
        matrices_through(*state, count, ".trans", ".trans");
    }
}

static void test_movmatrix(void **state)
{
    struct bench *b = *state;
    uint16_t *in = (uint16_t *)(void *)b->buffers[0], *out = (uint16_t *)(void *)b->buffers[3];
    for (int i = 0; i < 64; i++)
        in[i] = (uint16_t)(i + 1);
    run(b, "mad.wide.u32 %x, %lane, 4, %a; ld.global.b32 %t, [%x]; movmatrix.sync.aligned.m8n8.trans.b16 %t, %t; "
           "mad.wide.u32 %x, %lane, 4, %d; st.global.b32 [%x], %t;");
    for (int i = 0; i < 64; i++)
        assert_int_equal(out[i], i % 8 * 8 + i / 8 + 1);
}

/* What is refused, and how. */

static void test_refusals(void **state)
{
    static const struct {
        enum error_kind kind;
        const char *body;
    } cases[] = {
        {ERROR_SYNTAX, ".reg .b32 %r<9>; mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%r0,%r1,%r2,%r3}, "
                       "{%r0,%r1,%r2}, {%r0,%r1}, {%r0,%r1,%r2,%r3};"},
        {ERROR_SYNTAX, ".reg .b32 %r<9>; mma.sync.aligned.m16n8k16.col.col.f32.f16.f16.f32 {%r0,%r1,%r2,%r3}, "
                       "{%r0,%r1,%r2,%r3}, {%r0,%r1}, {%r0,%r1,%r2,%r3};"},
        {ERROR_SYNTAX, ".reg .b32 %r<9>; mma.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {%r0,%r1,%r2,%r3}, "
                       "{%r0,%r1,%r2,%r3}, {%r0,%r1}, {%r0,%r1,%r2,%r3};"},
        {ERROR_SYNTAX,
         ".reg .b32 %r<9>; mma.sync.aligned.m8n8k16.row.col.s32.s8.s4.s32 {%r0,%r1}, {%r0}, {%r0}, {%r0,%r1};"},
        {ERROR_SYNTAX, ".reg .b32 %r<9>; wmma.load.a.sync.aligned.col.m8n8k32.global.s4 {%r0}, [%a];"},
        {ERROR_SYNTAX, ".reg .b32 %r<9>; ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r0}, [sh];"},
        {ERROR_UNSUPPORTED, ".reg .b32 %r<9>; ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {%r0,%r1}, [sh];"},
    };
    struct bench *b = *state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_false(run_threads(b, cases[i].body, 32));
        if (b->error.kind != cases[i].kind)
            fail_msg("case %zu: %s", i, b->error.text);
    }
}

static void test_faults(void **state)
{
    struct bench *b = *state;
    const char *multiply =
        ".reg .b32 %r<4>; mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%r0,%r1}, {%r2}, {%r2}, {%r0,%r1};";
    assert_true(run_threads(b, multiply, 32));
    assert_false(run_threads(b, multiply, 16)); /* half a warp */
    assert_int_equal(b->error.kind, ERROR_INSTRUCTION);
    assert_false(
        run_threads(b, ".reg .b32 %r<4>; wmma.load.a.sync.aligned.row.m16n16k16.global.s8 {%r0,%r1}, [%a+2];", 32));
    assert_int_equal(b->error.kind, ERROR_MISALIGNED);
    b->gpu->memory->exact_bounds = true;
    assert_false(
        run_threads(b, ".reg .b32 %r<4>; wmma.load.a.sync.aligned.row.m16n16k16.global.s8 {%r0,%r1}, [%a+65520];", 32));
    assert_int_equal(b->error.kind, ERROR_ADDRESS);
    b->gpu->memory->exact_bounds = false;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wmma),       cmocka_unit_test(test_mma),      cmocka_unit_test(test_sparse),
        cmocka_unit_test(test_quads),      cmocka_unit_test(test_sums),     cmocka_unit_test(test_narrow_sums),
        cmocka_unit_test(test_saturation), cmocka_unit_test(test_ldmatrix), cmocka_unit_test(test_movmatrix),
        cmocka_unit_test(test_refusals),   cmocka_unit_test(test_faults),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
