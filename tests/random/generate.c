/*
 * The kernel around the statements: launch dimensions, module variables, parameters, first values, last values; its
 *
 * input. */
#include "random.h"
#include <stdlib.h>
#include <string.h>

static void pick_launch(struct generator *g)
{
    static const unsigned sizes[] = {32, 32, 32, 64, 64, 64, 96, 128, 128, 256, 40, 48, 72, 100};
    static const unsigned several_warps[] = {64, 64, 96, 128, 128, 160, 192, 256, 256, 512, 40, 72, 100, 200};
    struct kernel *kernel = g->kernel;
    unsigned drawn = rng_below(&g->rng, sizeof sizes / sizeof sizes[0]), blocks = 1 + rng_below(&g->rng, 4);
    unsigned threads = g->mixable ? several_warps[drawn] : sizes[drawn];
    if (rng_percent(&g->rng, 15))
        threads = 33 + rng_below(&g->rng, 120);
    if (threads > 128)
        blocks = 1 + blocks % 2;
    unsigned y = threads % 4 == 0 && rng_percent(&g->rng, 30) ? 2 : 1, z = y == 2 && rng_percent(&g->rng, 40) ? 2 : 1;
    kernel->block[0] = threads / (y * z);
    kernel->block[1] = y;
    kernel->block[2] = z;
    unsigned axis = rng_percent(&g->rng, 30) ? 1 + rng_below(&g->rng, 2) : 0;
    kernel->grid[0] = kernel->grid[1] = kernel->grid[2] = 1;
    kernel->grid[axis] = blocks;
    if (blocks == 4 && rng_percent(&g->rng, 50)) {
        kernel->grid[axis] = 2;
        kernel->grid[(axis + 1) % 3] = 2;
    }
    kernel->block_threads = threads;
    kernel->threads = threads * blocks;
    kernel->columns_at = SHARED_CELLS * CELL_BYTES + (size_t)kernel->threads * SCRATCH_BYTES;
    kernel->column_bytes = (kernel->threads + 1) / 2 * 8;
}

static uint64_t special_entry(struct rng *rng)
{
    static const uint32_t singles[] = {0,          0x80000000, 0x3f800000, 0xbf800000, 0x40000000,
                                       0x3f000000, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc12345,
                                       0x7f800001, 1,          0x80000001, 0x007fffff, 0x00800000,
                                       0x7f7fffff, 0x4f000000, 0xcf000000, 0x5f000000, 0x33800000};
    static const uint64_t reals[] = {0,
                                     1ull << 63,
                                     0x3ff0000000000000,
                                     0xc000000000000000,
                                     0x7ff0000000000000,
                                     0xfff0000000000000,
                                     0x7ff8000000000000,
                                     0x7ff0000000000001,
                                     0xfff8000000012345,
                                     1,
                                     0x000fffffffffffff,
                                     0x0010000000000000,
                                     0x7fefffffffffffff,
                                     0x41dfffffffc00000,
                                     0x41e0000000000000,
                                     0xc1e0000000000000,
                                     0x43e0000000000000,
                                     0x3fe0000000000000};
    static const uint16_t halves[] = {0, 0x8000, 0x3c00, 0xbc00, 0x7c00, 0xfc00, 0x7e00, 0x7c01,
                                      1, 0x03ff, 0x0400, 0x7bff, 0x3f80, 0x7f80, 0x7fc0, 0x4248};
    uint64_t value = 0;
    unsigned kind = rng_below(rng, 4);
    if (kind == 0)
        return reals[rng_below(rng, sizeof reals / sizeof reals[0])];
    if (kind == 1) {
        for (int i = 0; i < 4; i++)
            value = value << 16 | halves[rng_below(rng, sizeof halves / sizeof halves[0])];
        return value;
    }
    value = singles[rng_below(rng, sizeof singles / sizeof singles[0])];
    return value << 32 | singles[rng_below(rng, sizeof singles / sizeof singles[0])];
}

static uint32_t bits_of_float(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static uint64_t bits_of_double(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* Eight bytes that make sense as some type: small integers, floats of everyday size, special values, or any bits. */
static uint64_t random_entry(struct rng *rng)
{
    uint64_t value = 0;
    switch (rng_below(rng, 8)) {
    case 0: return special_entry(rng);
    case 1:
        value = (uint64_t)(uint32_t)(int)(rng_below(rng, 40) - 20) << 32;
        return value | (uint32_t)(int)(rng_below(rng, 2000) - 1000);
    case 2:
        value = (uint64_t)bits_of_float((float)(int)(rng_below(rng, 20000) - 10000) / 64.0f) << 32;
        return value | bits_of_float((float)(int)(rng_below(rng, 2000000) - 1000000) / 1024.0f);
    case 3: return bits_of_double((double)(int64_t)rng_bits(rng) / 1099511627776.0);
    case 4:
        for (int i = 0; i < 4; i++) {
            uint64_t half = 0x2c00 + rng_below(rng, 0x3000);
            value = value << 16 | half | (rng_below(rng, 2) << 15);
        }
        return value;
    case 5: return (uint64_t)(int64_t)(int)(rng_below(rng, 200) - 100);
    default: return rng_bits(rng);
    }
}

void kernel_fill_input(const struct kernel *kernel, unsigned char *in)
{
    struct rng rng = {kernel->seed ^ 0x5851f42d4c957f2dull};
    for (size_t i = 0; i < INPUT_BYTES; i += 8) {
        uint64_t entry = random_entry(&rng);
        memcpy(in + i, &entry, 8);
    }
}

void kernel_fill_output(const struct kernel *kernel, unsigned char *out)
{
    struct rng rng = {kernel->seed ^ 0x14057b7ef767814full};
    memset(out, 0, kernel->out_bytes);
    for (size_t i = 0; i < kernel->columns_at; i += 8) {
        uint64_t entry = random_entry(&rng);
        memcpy(out + i, &entry, 8);
    }
}

static void pick_parameters(struct generator *g)
{
    struct parameters *p = &g->kernel->parameters;
    p->word = (uint32_t)rng_bits(&g->rng);
    p->half = (uint16_t)rng_bits(&g->rng);
    p->byte = (uint8_t)rng_bits(&g->rng);
    p->wide = rng_bits(&g->rng);
    p->single = (float)(int)(rng_below(&g->rng, 20000) - 10000) / 128.0f;
    p->real = (double)(int)(rng_below(&g->rng, 20000) - 10000) / 96.0;
    for (int i = 0; i < STRUCT_BYTES; i += 8) {
        uint64_t entry = random_entry(&g->rng);
        memcpy(p->structure + i, &entry, 8);
    }
}

static void add_table(struct generator *g, const char *space, const char *name, const char *type, int bytes)
{
    text_add(&g->head, ".%s .align 16 .%s %s[%d] = {", space, type, name, TABLE_BYTES / bytes);
    for (int i = 0; i < TABLE_BYTES; i += bytes) {
        uint64_t value = random_entry(&g->rng);
        text_add(&g->head, "%s", i ? ", " : "");
        if (type[0] == 'f' && bytes == 4)
            text_add(&g->head, "0f%08X", (uint32_t)value);
        else if (type[0] == 'f')
            text_add(&g->head, "0d%016llX", (unsigned long long)value);
        else
            text_add(&g->head, "%llu", (unsigned long long)(bytes == 8 ? value : value & ((1ull << (bytes * 8)) - 1)));
    }
    text_add(&g->head, "};\n");
}

static void add_module_variables(struct generator *g)
{
    static const char *const types[] = {"b8", "u16", "u32", "f32", "u64", "f64"};
    static const int bytes[] = {1, 2, 4, 4, 8, 8};
    struct kernel *kernel = g->kernel;
    unsigned shared_bytes = kernel->block_threads * EXCHANGE_BYTES;
    unsigned constant = rng_below(&g->rng, 6), table = rng_below(&g->rng, 6);
    add_table(g, "const", "constants", types[constant], bytes[constant]);
    add_table(g, "global", "table", types[table], bytes[table]);
    text_add(&g->head, ".global .align 8 .u64 pointers[4] = {table, generic(table), generic(table), table};\n");
    text_add(&g->head, ".shared .align 8 .b8 reduced[%d];\n", 16 * CELL_BYTES);
    g->dynamic_shared = rng_percent(&g->rng, 40);
    if (g->dynamic_shared) {
        text_add(&g->head, ".extern .shared .align 16 .b8 dynamic[];\n");
        kernel->dynamic_shared_bytes = 2 * shared_bytes;
    } else {
        text_add(&g->head, ".shared .align 16 .b8 exchanged[%u];\n.shared .align 16 .b8 owned[%u];\n", shared_bytes,
                 shared_bytes);
    }
}

static void add_identity(struct generator *g)
{
    struct text *body = &g->body;
    text_add(body, "    mov.u32 %%i0, %%tid.z;\n    mov.u32 %%i1, %%ntid.y;\n    mov.u32 %%i2, %%tid.y;\n    "
                   "mad.lo.u32 %%i0, %%i0, %%i1, %%i2;\n");
    text_add(body,
             "    mov.u32 %%i1, %%ntid.x;\n    mov.u32 %%i2, %%tid.x;\n    mad.lo.u32 %%thread, %%i0, %%i1, %%i2;\n");
    text_add(body, "    mov.u32 %%i0, %%ctaid.z;\n    mov.u32 %%i1, %%nctaid.y;\n    mov.u32 %%i2, %%ctaid.y;\n    "
                   "mad.lo.u32 %%i0, %%i0, %%i1, %%i2;\n");
    text_add(body,
             "    mov.u32 %%i1, %%nctaid.x;\n    mov.u32 %%i2, %%ctaid.x;\n    mad.lo.u32 %%i0, %%i0, %%i1, %%i2;\n");
    text_add(body, "    mad.lo.u32 %%global, %%i0, %u, %%thread;\n", g->kernel->block_threads);
    text_add(body,
             "    and.b32 %%i0, %%thread, -32;\n    sub.u32 %%i0, %u, %%i0;\n    min.u32 %%i0, %%i0, 32;\n    sub.u32 "
             "%%i0, 32, %%i0;\n",
             g->kernel->block_threads);
    text_add(body, "    mov.u32 %%live, -1;\n    shr.u32 %%live, %%live, %%i0;\n");
}

static void add_addresses(struct generator *g)
{
    struct text *body = &g->body;
    text_add(body, "    ld.param.u64 %%in, [in_pointer];\n    ld.param.u64 %%cells, [out_pointer];\n    "
                   "cvta.to.global.u64 %%in, %%in;\n    cvta.to.global.u64 %%cells, %%cells;\n");
    text_add(body, "    mad.wide.u32 %%o4, %%global, 4, %%cells;\n    mad.wide.u32 %%o8, %%global, 8, %%cells;\n");
    text_add(body, "    mad.wide.u32 %%mine, %%global, %d, %%cells;\n    add.u64 %%mine, %%mine, %d;\n", SCRATCH_BYTES,
             SHARED_CELLS * CELL_BYTES);
    text_add(
        body,
        "    mul.lo.u32 %%i0, %%global, %u;\n    and.b32 %%i0, %%i0, %d;\n    mad.wide.u32 %%entry, %%i0, 8, %%in;\n",
        2 * rng_below(&g->rng, 40) + 1, INPUT_ENTRIES - 1);
    text_add(body, "    mov.u32 %%exchange, %s;\n    mov.u32 %%own, %s;\n", g->dynamic_shared ? "dynamic" : "exchanged",
             g->dynamic_shared ? "dynamic" : "owned");
    if (g->dynamic_shared)
        text_add(body, "    add.u32 %%own, %%own, %u;\n", g->kernel->block_threads * EXCHANGE_BYTES);
    text_add(body, "    mad.lo.u32 %%exch, %%thread, %d, %%exchange;\n    mad.lo.u32 %%own, %%thread, %d, %%own;\n",
             EXCHANGE_BYTES, EXCHANGE_BYTES);
}

/* Every memory has known contents before the first statement. */
static void add_first_values(struct generator *g)
{
    struct text *body = &g->body;
    text_add(body, "    mov.u32 %%shadow, %u;\n", rng_below(&g->rng, 100000));
    registers_load(g);
    for (int i = 0; i < LOCAL_BYTES; i += 8)
        text_add(body, "    ld.global.b64 %%first, [%%entry+%d];\n    st.local.b64 [stack+%d], %%first;\n", i + 320, i);
    text_add(body, "    ld.global.b64 %%first, [%%entry+16];\n    st.shared.b64 [%%exch], %%first;\n    st.shared.b64 "
                   "[%%own+8], %%first;\n");
    text_add(body, "    ld.global.b64 %%first, [%%entry+40];\n    st.shared.b64 [%%exch+8], %%first;\n    "
                   "st.shared.b64 [%%own], %%first;\n");
    text_add(body, "    setp.lt.u32 %%early, %%thread, 16;\n    mov.u32 %%i0, reduced;\n    mad.lo.u32 %%i0, %%thread, "
                   "8, %%i0;\n");
    text_add(body, "    mad.wide.u32 %%first, %%thread, 8, %%in;\n    @%%early ld.global.b64 %%first, [%%first];\n    "
                   "@%%early st.shared.b64 [%%i0], %%first;\n    bar.sync 0;\n");
}

static void add_last_values(struct generator *g)
{
    struct text *body = &g->body;
    trace_everything(g, rng_percent(&g->rng, 20) ? 100 : 20);
    text_add(body, "    ld.local.b64 %%first, [stack+%u];\n", 8 * rng_below(&g->rng, LOCAL_BYTES / 8));
    trace_always(g, 'l', "%first");
    text_add(body, "    ld.shared.b64 %%first, [%%own+%u];\n", 8 * rng_below(&g->rng, 2));
    trace_always(g, 'l', "%first");
    if (!g->collectives_end) {
        text_add(body, "    bar.sync 0;\n    and.b32 %%i0, %%thread, 15;\n    mov.u32 %%i1, reduced;\n    mad.lo.u32 "
                       "%%i0, %%i0, 8, %%i1;\n    ld.shared.b64 %%first, [%%i0];\n");
        trace_always(g, 'l', "%first");
    }
    text_add(body, "    ret;\n");
}

static void assemble(struct generator *g)
{
    struct text *ptx = &g->kernel->ptx;
    int count = g->temporaries + 1;
    text_add(ptx, ".version 8.6\n.target sm_90\n.address_size 64\n\n");
    text_append(ptx, g->head.data, g->head.size);
    text_add(ptx,
             "\n.visible .entry kernel(\n    .param .u64 in_pointer,\n    .param .u64 out_pointer,\n    .param .u32 "
             "word,\n    .param .u16 half,\n"
             "    .param .u8 byte,\n    .param .u64 wide,\n    .param .f32 single,\n    .param .f64 real,\n    .param "
             ".align 16 .b8 structure[%d])\n{\n",
             STRUCT_BYTES);
    text_add(ptx, "    .local .align 16 .b8 stack[%d];\n", LOCAL_BYTES);
    text_add(ptx, "    .reg .b64 %%in, %%cells, %%o4, %%o8, %%mine, %%entry, %%first;\n    .reg .pred %%early;\n");
    text_add(
        ptx,
        "    .reg .b32 %%i<3>, %%thread, %%global, %%live, %%exchange, %%exch, %%own, %%traced, %%shadow, %%c<%d>;\n",
        g->counters + 1);
    text_add(ptx, "    .reg .b32 %%t<%d>;\n    .reg .b64 %%a<%d>;\n    .reg .b16 %%k<%d>;\n    .reg .pred %%q<%d>;\n",
             count, count, count, count);
    registers_declare(ptx);
    text_append(ptx, g->body.data, g->body.size);
    text_add(ptx, "}\n");
}

void kernel_generate(struct kernel *kernel, uint64_t seed)
{
    struct generator g;
    memset(kernel, 0, sizeof *kernel);
    memset(&g, 0, sizeof g);
    kernel->seed = seed;
    g.kernel = kernel;
    g.mixable = seed >= MIXABLE_SEEDS;
    g.rng.state = seed * 0xd1342543de82ef95ull + 1;
    pick_launch(&g);
    pick_parameters(&g);
    add_module_variables(&g);
    if (!g.mixable)
        functions_define(&g);
    g.break_label = -1;
    g.trace_percent = rng_percent(&g.rng, 75) ? 60 : 10;
    g.budget = 15 + (int)rng_below(&g.rng, 45);
    add_identity(&g);
    add_addresses(&g);
    add_first_values(&g);
    block_statements(&g, 1000);
    add_last_values(&g);
    assemble(&g);
    kernel->out_bytes = kernel->columns_at + kernel->columns * kernel->column_bytes;
    text_free(&g.body);
    text_free(&g.head);
}

void kernel_free(struct kernel *kernel) { text_free(&kernel->ptx); }

/* Launch and text together: a recording only holds for the kernel it was made with. */
uint64_t kernel_text_hash(const struct kernel *kernel)
{
    uint64_t hash = hash_bytes(kernel->ptx.data, kernel->ptx.size);
    for (int i = 0; i < 3; i++)
        hash = hash * 31 + kernel->grid[i] * 1000 + kernel->block[i];
    return hash;
}

const char *kernel_needs_warps(const struct kernel *kernel)
{
    static const char *const words[] = {"shfl.",     "vote.",   "match.",          "redux.", "elect.", "mma.",
                                        "bar.warp.", "bar.red", "barrier.cta.red", "call",   "brx."};
    /* What functions have that it does not call is of no matter, and a call is itself refused. */
    for (const char *line = strstr(kernel->ptx.data, ".entry"); line;
         line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
        const char *word = line + strspn(line, " ");
        if (*word == '@')
            word += strcspn(word, " ") + 1;
        for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
            if (strncmp(word, words[i], strlen(words[i])) == 0)
                return line;
        /* Barriers: only number 0, and only of the whole block, is the same for mixed warps. */
        size_t length = strcspn(word, ";\n");
        if (strncmp(word, "bar", 3) == 0 && length > 0 &&
            (word[length - 1] != '0' || word[length - 2] != ' ' || memchr(word, ',', length)))
            return line;
    }
    return NULL;
}

/* The store that wrote a column: its place in the text, or NULL. A 64-bit value takes two columns. */
static const char *find_store(const struct kernel *kernel, size_t *column)
{
    char wanted[48];
    for (int back = 0; back < 2; back++) {
        snprintf(wanted, sizeof wanted, "+%zu], ", kernel->columns_at + *column * kernel->column_bytes);
        const char *found = strstr(kernel->ptx.data, wanted);
        if (found || *column == 0)
            return found;
        --*column;
    }
    return NULL;
}

void kernel_describe(const struct kernel *kernel, size_t offset, char *message, size_t size)
{
    if (offset < SHARED_CELLS * CELL_BYTES) {
        snprintf(message, size, "cell %zu, into which all threads reduce", offset / CELL_BYTES);
        return;
    }
    if (offset < kernel->columns_at) {
        snprintf(message, size, "scratch memory of thread %zu, byte %zu",
                 (offset - SHARED_CELLS * CELL_BYTES) / SCRATCH_BYTES, offset % SCRATCH_BYTES);
        return;
    }
    size_t column = (offset - kernel->columns_at) / kernel->column_bytes;
    const char *store = find_store(kernel, &column);
    if (!store) {
        snprintf(message, size, "column %zu", column);
        return;
    }
    size_t bytes = strncmp(store - 3, "%o8", 3) == 0 ? 8 : 4,
           start = kernel->columns_at + column * kernel->column_bytes;
    const char *line = store;
    for (int lines = 0; line > kernel->ptx.data && lines < 3; line--)
        lines += line[-1] == '\n';
    snprintf(message, size, "column %zu, thread %zu, after\n%.*s", column, (offset - start) / bytes,
             (int)(strchr(store, '\n') - line), line);
}
