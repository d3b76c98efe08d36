#include "plan.h"

#include "exec/race.h"
#include "gpu/setup.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    BUFFERS = 2,
    BUFFER_BYTES = 1 << 16,
    MOST_KERNELS = 4,
    MOST_PARAMS_BYTES = 4096,
    MOST_INSTRUCTIONS = 50000, /* of a launch without time */
    MOST_CYCLES = 100000,
};
static const char *const machines[] = {"gtx480", "c2050", "ccws", "slp", "gtx480-gs4"};
/* Two cores and two channels: what happens between cores happens, and a machine is made quickly. */
static const char *const small[] = {"machine.cores_per_cluster=1", "machine.cores=2", "machine.memory_bytes=256M",
                                    "dram.channels=2"};

size_t plan_line(const char *text, size_t size)
{
    for (size_t at = size; at-- > 0;)
        if (size - at > 3 && memcmp(text + at, "//!", 3) == 0 && (at == 0 || text[at - 1] == '\n'))
            return at;
    return size;
}

static void set_field(struct plan *p, const char *name, size_t length, uint32_t number)
{
#define PLAN(field, standard, count)                                   \
    if (length == strlen(#field) && memcmp(name, #field, length) == 0) \
        p->field = number % (count);
    PLAN_FIELDS
#undef PLAN
}

struct plan plan_read(const char *text, size_t size)
{
#define PLAN(field, standard, count) .field = standard,
    struct plan p = {PLAN_FIELDS};
#undef PLAN
    char line[512];
    size_t at = plan_line(text, size), length = size - at < sizeof line ? size - at : sizeof line - 1;
    memcpy(line, text + at, length);
    line[length] = '\0';
    for (char *word = strtok(line, " /!\n"); word; word = strtok(NULL, " \n")) {
        char *number = strtok(NULL, " \n");
        if (number)
            set_field(&p, word, strlen(word), (uint32_t)strtoul(number, NULL, 10));
    }
    return p;
}

int plan_write(const struct plan *p, char *out, size_t size)
{
    int length = snprintf(out, size, "//!");
#define PLAN(field, standard, count)          \
    if (length >= 0 && (size_t)length < size) \
        length += snprintf(out + length, size - (size_t)length, " " #field " %" PRIu32, p->field);
    PLAN_FIELDS
#undef PLAN
    return length;
}

/* Registered policies by number, the numbers going round. */
static const char *policy_of(enum policy_kind kind, uint32_t number)
{
    uint32_t count = 0;
    while (policy_builtin(kind, count))
        count++;
    return policy_builtin(kind, number % count)->name;
}

static struct gpu *make_gpu_with(const struct plan *p, bool functional, bool own_policies)
{
    struct error e = {0};
    char path[64];
    struct gpu_options options = {.functional = functional,
                                  .races = functional && p->races,
                                  .threads = p->threads,
                                  .max_cycles = functional ? MOST_INSTRUCTIONS : MOST_CYCLES};
    snprintf(path, sizeof path, "machines/%s.ini", machines[p->machine]);
    struct gpu_setup setup = {
        .machine = path, .sets = small, .set_count = sizeof small / sizeof small[0], .functional = functional};
    if (!functional && !own_policies) {
        setup.scheduler = policy_of(POLICY_SCHEDULER, p->scheduler);
        setup.l1 = policy_of(POLICY_L1, p->l1);
        setup.divergence = policy_of(POLICY_DIVERGENCE, p->divergence);
    }
    struct gpu *g = gpu_setup(&options, &setup, &e) ? gpu_create(&options, &e) : NULL;
    if (!g && (own_policies || !e.text[0])) {
        fprintf(stderr, "no machine: %s\n", e.text);
        abort();
    }
    return g;
}

/* Policies that cannot work together, or not without a file, are refused; then the machine's own are taken. */
struct gpu *plan_gpu(const struct plan *p, bool functional)
{
    struct gpu *g = make_gpu_with(p, functional, false);
    if (!g)
        g = make_gpu_with(p, functional, true);
    return g;
}

/* Parameters: a buffer's address wherever one fits, in turn; else a small number; what the plan says in some of
 * them. */
static void fill_params(const struct plan *p, const struct ptx_function *f, const uint64_t *buffers, uint8_t *params)
{
    static const uint64_t odd[] = {0, 1, 64, UINT64_MAX, 0x80000000u, 3, UINT64_MAX - 7};
    for (uint32_t i = 0; i < f->param_count; i++) {
        uint64_t bytes = f->params[i]->size_bytes, at = f->param_offsets[i];
        for (uint64_t done = 0; done < bytes; done += 8) {
            uint64_t value = bytes < 8 ? 16 : buffers[(i + done / 8) % BUFFERS];
            uint64_t size = bytes - done < 8 ? bytes - done : 8;
            if (p->values && (i + p->values) % 3 == 0)
                value = odd[p->values - 1];
            memcpy(params + at + done, &value, size);
        }
    }
}

static bool launch(struct gpu *g, const struct plan *p, const struct exec_function *f, const uint64_t *buffers,
                   struct error *e)
{
    static uint8_t params[MOST_PARAMS_BYTES + 8];
    if (f->ptx->param_bytes > MOST_PARAMS_BYTES)
        return true;
    memset(params, 0, sizeof params);
    fill_params(p, f->ptx, buffers, params);
    struct gpu_launch l = {.kernel = f,
                           .grid = {p->grid, 1, 1},
                           .block = {p->block, p->height, 1},
                           .dynamic_shared_bytes = p->shared,
                           .cluster = {p->cluster, p->cluster != 0, p->cluster != 0},
                           .params = params,
                           .params_bytes = f->ptx->param_bytes};
    return gpu_launch(g, &l, e);
}

static uint64_t hash_more(uint64_t hash, const void *data, size_t size)
{
    const uint8_t *bytes = data;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ bytes[i]) * 0x100000001b3u;
    return hash;
}

static uint64_t hash_memory(const struct exec_image *image, const uint64_t *buffers)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (int i = 0; i < BUFFERS; i++)
        hash = hash_more(hash, memory_pointer(buffers[i]), BUFFER_BYTES);
    for (uint32_t i = 0; i < image->symbol_count; i++)
        if (image->symbols[i].space == PTX_SPACE_GLOBAL)
            hash = hash_more(hash, memory_pointer(image->symbols[i].address), image->symbols[i].size_bytes);
    return hash;
}

static bool run_kernels(struct gpu *g, const struct plan *p, struct exec_image *image, const uint64_t *buffers,
                        struct error *e)
{
    uint32_t ran = 0;
    for (uint32_t i = 0; i < image->function_count && ran < MOST_KERNELS; i++) {
        struct exec_function *f = image->functions[i];
        if (!f->ptx->is_entry)
            continue;
        ran++;
        if (!exec_image_prepare(image, f, e) || !launch(g, p, f, buffers, e))
            return false;
    }
    return true;
}

/* An array of one of eight shapes and formats, all of it, as a texture and as a surface. */
static void make_textures(struct gpu *g, uint32_t number, uint64_t handles[2])
{
    static const enum texture_format formats[] = {TEXTURE_U8,  TEXTURE_U16, TEXTURE_U32, TEXTURE_S8,
                                                  TEXTURE_S16, TEXTURE_S32, TEXTURE_F16, TEXTURE_F32};
    enum { LINE, SQUARE, BOX, LINES, SQUARES, CUBE, BUFFER, PITCH } shape = number % 8;
    struct texture_array a = {
        .width = 8, .format = formats[number / 8 % 8], .channels = 1u << number % 3, .surface = true};
    a.height = shape == LINE || shape == LINES || shape == BUFFER ? 0 : shape == CUBE ? 8 : 5;
    a.depth = shape == BOX ? 3 : 0;
    a.layers = shape == CUBE ? 6 : shape == LINES || shape == SQUARES ? 4 : 0;
    a.layered = shape == LINES || shape == SQUARES;
    a.cube = shape == CUBE;
    a.pitch_bytes = 32 * ((texture_texel_bytes(&a) * a.width + 31) / 32);
    a.slice_bytes = a.pitch_bytes * (a.height ? a.height : 1);
    a.data = memory_alloc(g->memory,
                          a.slice_bytes * (a.layers  ? a.layers
                                           : a.depth ? a.depth
                                                     : 1),
                          512, shape == BUFFER || shape == PITCH ? MEMORY_DEVICE : MEMORY_ARRAY, NULL);
    struct texture t = {.kind = shape == BUFFER  ? TEXTURE_LINEAR
                                : shape == PITCH ? TEXTURE_PITCH2D
                                                 : TEXTURE_ARRAY,
                        .array = a,
                        .address = {number % 4, number / 4 % 4, number / 16 % 4},
                        .linear_filter = a.format == TEXTURE_F32,
                        .normalized = number % 5 == 0,
                        .read_as_integer = a.format != TEXTURE_F16 && a.format != TEXTURE_F32};
    handles[0] = texture_create(&g->textures, &t);
    t.is_surface = true;
    handles[1] = t.kind == TEXTURE_ARRAY ? texture_create(&g->textures, &t) : 0;
}

static void load_and_run(struct gpu *g, const struct plan *p, struct ptx_module *m, struct plan_result *r)
{
    struct exec_image *image =
        p->lazy ? exec_image_create_lazy(g->memory, &m, 1, &r->error) : exec_image_create(g->memory, &m, 1, &r->error);
    if (!image)
        return;
    r->loaded = true;
    uint64_t buffers[BUFFERS];
    for (int i = 0; i < BUFFERS; i++) {
        buffers[i] = memory_alloc(g->memory, BUFFER_BYTES, 256, MEMORY_DEVICE, NULL);
        if (!buffers[i])
            abort();
        uint32_t *words = memory_pointer(buffers[i]);
        for (uint32_t w = 0; w < BUFFER_BYTES / 4; w++)
            words[w] = w % 7 ? w & 63 : w * 0x9e3779b9u;
    }
    if (p->texture)
        make_textures(g, p->texture - 1, memory_pointer(buffers[0]));
    r->ended = run_kernels(g, p, image, buffers, &r->error);
    r->memory = hash_memory(image, buffers);
    if (g->races) {
        uint32_t pairs;
        races_pairs(g->races, &pairs);
        r->raced = pairs > 0;
    }
    gpu_spare_free(g);
    exec_image_destroy(image);
}

void plan_run(const struct plan *p, const char *text, size_t size, bool functional, struct plan_result *r)
{
    memset(r, 0, sizeof *r);
    struct ptx_module *m = ptx_parse("fuzz.ptx", text, size, &r->error);
    if (!m)
        return;
    struct gpu *g = plan_gpu(p, functional);
    g->printf_out = fopen("/dev/null", "w");
    load_and_run(g, p, m, r);
    if (!r->ended && (!r->error.kind || !r->error.text[0])) {
        fprintf(stderr, "it failed and nobody says why\n");
        abort();
    }
    if (g->printf_out)
        fclose(g->printf_out);
    gpu_destroy(g);
}
