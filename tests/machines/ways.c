/* The programs on a machine, cycle by cycle, with cores that run ahead, and on two threads: what comes out must be the
 * same to the last counter, and the memory to the last byte. */
#include "machines.h"
#include "programs.h"

#include "embed/embed.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CYCLES_MOST = 50000000, BUFFER_BYTES = BUFFER_WORDS * 4 };

static const struct {
    const char *name, *options;
    bool lockstep;
    uint32_t threads;
} ways[] = {{"--lockstep", "--lockstep", true, 1}, {"the default", "", false, 1}, {"-j 2", "-j 2", false, 2}};
enum { WAYS = sizeof ways / sizeof *ways };

/* What a way came to. */
struct results {
    bool ran[PROGRAMS];     /* to its end */
    bool refused[PROGRAMS]; /* it does not fit the machine, or a policy does not take it */
    char message[PROGRAMS][HEDDLE_MESSAGE_BYTES];
    uint32_t memory[PROGRAMS][BUFFER_WORDS];
    json_t *counts;
};

static uint32_t expected[PROGRAMS][OUTPUT_WORDS];

static void fill(uint32_t *words)
{
    memset(words, 0, BUFFER_BYTES);
    for (uint32_t i = 0; i < INPUT_WORDS; i++)
        words[i] = programs_input(i);
}

/* A refusal says that the machine and the program do not go together; all else is a failure. */
static bool is_refusal(const struct heddle_error *e)
{
    return !strcmp(e->kind, "resources") || !strcmp(e->kind, "unsupported") || !strcmp(e->kind, "invalid");
}

static bool run_program(struct heddle *h, const struct heddle_module *module, uint32_t number, uint32_t *memory,
                        struct heddle_error *e)
{
    const struct program *p = &programs[number];
    uint64_t buffer = heddle_alloc(h, BUFFER_BYTES);
    if (!buffer) {
        *e = (struct heddle_error){.kind = "resources", .message = "the buffer does not fit the machine's memory"};
        return false;
    }
    struct heddle_launch launch = {.grid = {p->blocks, 1, 1},
                                   .block = {p->threads, 1, 1},
                                   .arguments = (void *[]){&buffer},
                                   .max_cycles = CYCLES_MOST};
    fill(memory);
    bool ok = heddle_write(h, buffer, memory, BUFFER_BYTES, e) &&
              heddle_launch(h, heddle_kernel(module, p->name), &launch, e) &&
              heddle_read(h, memory, buffer, BUFFER_BYTES, e);
    heddle_free(h, buffer);
    return ok;
}

static struct heddle *open_machine(const struct drawn_machine *m, uint32_t way, struct heddle_error *e)
{
    const char *sets[SETS_MOST + 1] = {NULL};
    for (uint32_t i = 0; i < m->set_count; i++)
        sets[i] = m->sets[i];
    struct heddle *h = heddle_open(
        &(struct heddle_options){.machine = m->base, .set = sets, .pcs = m->pcs, .threads = ways[way].threads}, e);
    if (h)
        h->gpu->options.lockstep = ways[way].lockstep;
    return h;
}

static json_t *counts_of(const struct heddle *h)
{
    char *text = heddle_json(h);
    json_t *all = text ? json_loads(text, 0, NULL) : NULL;
    json_object_del(all, "host");
    free(text);
    return all;
}

static void fail(struct outcome *o, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void fail(struct outcome *o, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(o->report, sizeof o->report, format, args);
    va_end(args);
    o->failed = true;
}

static void run_way(struct outcome *o, uint32_t way, struct results *r)
{
    struct heddle_error e = {.kind = "none"};
    snprintf(o->way, sizeof o->way, "%s", ways[way].name);
    o->program = 0;
    struct heddle *h = open_machine(&o->machine, way, &e);
    struct heddle_module *module = h ? heddle_load(h, "programs.ptx", programs_ptx, strlen(programs_ptx), &e) : NULL;
    if (!module) {
        for (uint32_t i = 0; i < PROGRAMS; i++)
            snprintf(r->message[i], sizeof r->message[i], "%s", e.message);
        for (uint32_t i = 0; i < PROGRAMS; i++)
            r->refused[i] = is_refusal(&e);
        if (!is_refusal(&e) || !*e.message)
            fail(o, "the machine is accepted and cannot be made (%s): %s", e.kind, e.message);
    }
    for (uint32_t i = 0; module && i < PROGRAMS && !o->failed; i++) {
        o->program = i;
        r->ran[i] = run_program(h, module, i, r->memory[i], &e);
        if (r->ran[i])
            continue;
        snprintf(r->message[i], sizeof r->message[i], "%s", e.message);
        r->refused[i] = is_refusal(&e);
        if (!r->refused[i])
            fail(o, "it ends with an error (%s): %s", e.kind, e.message);
    }
    if (module && !o->failed)
        r->counts = counts_of(h);
    heddle_close(h);
}

/* Where two results differ first, as "kernels.0.l1d.hits: 1 and 2". */
static bool find_difference(const json_t *a, const json_t *b, char *path, size_t size)
{
    size_t length = strlen(path), index;
    const char *key;
    json_t *value;
    if (json_equal(a, b))
        return false;
    if (json_is_object(a) && json_is_object(b)) {
        json_object_foreach((json_t *)a, key, value)
        {
            snprintf(path + length, size - length, "%s%s", length ? "." : "", key);
            if (find_difference(value, json_object_get(b, key), path, size))
                return true;
            path[length] = '\0';
        }
    }
    if (json_is_array(a) && json_is_array(b)) {
        json_array_foreach(a, index, value)
        {
            snprintf(path + length, size - length, ".%zu", index);
            if (find_difference(value, json_array_get(b, index), path, size))
                return true;
            path[length] = '\0';
        }
    }
    char *one = json_dumps(a, JSON_ENCODE_ANY | JSON_COMPACT), *other = json_dumps(b, JSON_ENCODE_ANY | JSON_COMPACT);
    snprintf(path + length, size - length, ": %.200s with %s, here %.200s", one ? one : "nothing", ways[0].name,
             other ? other : "nothing");
    free(one);
    free(other);
    return true;
}

static uint32_t first_difference(const uint32_t *a, const uint32_t *b, uint32_t count)
{
    uint32_t i = 0;
    while (i < count && a[i] == b[i])
        i++;
    return i;
}

/* The number of the kernel in a path "kernels.N. ...", counted among those that ran. */
static void find_program(struct outcome *o, const struct results *r, const char *path)
{
    unsigned kernel;
    if (sscanf(path, "kernels.%u.", &kernel) != 1)
        return;
    for (uint32_t i = 0; i < PROGRAMS; i++)
        if (r->ran[i] && kernel-- == 0)
            o->program = i;
}

static void compare(struct outcome *o, const struct results *wanted, const struct results *r)
{
    char path[1000] = "";
    for (uint32_t i = 0; i < PROGRAMS && !o->failed; i++) {
        uint32_t word = first_difference(wanted->memory[i], r->memory[i], BUFFER_WORDS);
        o->program = i;
        if (strcmp(wanted->message[i], r->message[i]))
            fail(o, "it says '%.1000s', and with %s '%.1000s'", r->message[i], ways[0].name, wanted->message[i]);
        else if (wanted->ran[i] && word < BUFFER_WORDS)
            fail(o, "word %u of the memory is 0x%x, and 0x%x with %s", word, r->memory[i][word],
                 wanted->memory[i][word], ways[0].name);
    }
    bool none = !wanted->counts && !r->counts; /* the machine is refused */
    if (o->failed || none || !find_difference(wanted->counts, r->counts, path, sizeof path))
        return;
    find_program(o, r, path);
    fail(o, "%s", path);
}

/* Whatever the machine, a kernel computes the same. */
static void check_results(struct outcome *o, const struct results *r)
{
    for (uint32_t i = 0; i < PROGRAMS && !o->failed; i++) {
        const uint32_t *output = r->memory[i] + INPUT_WORDS;
        uint32_t word = first_difference(expected[i], output, OUTPUT_WORDS);
        if (!r->ran[i] || word == OUTPUT_WORDS)
            continue;
        o->program = i;
        fail(o, "word %u of the output is 0x%x, and 0x%x without time", word, output[word], expected[i][word]);
    }
}

void run_in_all_ways(struct outcome *o)
{
    struct results *all = calloc(WAYS, sizeof *all);
    for (uint32_t way = 0; way < WAYS && !o->failed; way++) {
        run_way(o, way, &all[way]);
        if (way == 0 && !o->failed)
            check_results(o, &all[0]);
        else if (!o->failed)
            compare(o, &all[0], &all[way]);
    }
    for (uint32_t i = 0; i < PROGRAMS; i++)
        o->unfit += all[0].refused[i];
    for (uint32_t way = 0; way < WAYS; way++)
        json_decref(all[way].counts);
    free(all);
}

bool expect_results(char *why, size_t size)
{
    struct heddle_error e = {.kind = "none"};
    struct heddle *h = heddle_open(&(struct heddle_options){.machine = "machines/gtx480.ini", .functional = true}, &e);
    struct heddle_module *module = h ? heddle_load(h, "programs.ptx", programs_ptx, strlen(programs_ptx), &e) : NULL;
    uint32_t *memory = malloc(BUFFER_BYTES);
    bool ok = module && memory;
    for (uint32_t i = 0; i < PROGRAMS && ok; i++) {
        ok = run_program(h, module, i, memory, &e);
        memcpy(expected[i], memory + INPUT_WORDS, sizeof expected[i]);
    }
    snprintf(why, size, "%s", e.message);
    free(memory);
    heddle_close(h);
    return ok;
}

/* The programs up to the one that was at work: what it finds in the machine was left by those before. */
void write_command(const struct outcome *o, const char *folder, char *out, size_t size)
{
    size_t length = 0;
    const char *options = "";
    for (uint32_t way = 0; way < WAYS; way++)
        if (!strcmp(ways[way].name, o->way))
            options = ways[way].options;
#define ADD(...) (length += length < size ? (size_t)snprintf(out + length, size - length, __VA_ARGS__) : 0)
    ADD("%s%s/bin/heddle run -m %s", strstr(options, "-j") ? "HEDDLE_ALWAYS_THREADS=1 " : "", folder, o->machine.base);
    for (uint32_t i = 0; i < o->machine.set_count; i++)
        ADD(" --set %s", o->machine.sets[i]);
    ADD("%s%s%s --max-cycles %d %s/tests/machine_programs", o->machine.pcs ? " --pcs" : "", *options ? " " : "",
        options, CYCLES_MOST, folder);
    for (uint32_t i = 0; i <= o->program && i < PROGRAMS; i++)
        ADD(" %s", programs[i].name);
#undef ADD
}
