/*
 * Hand-written kernels for what is not arithmetic of one lane. A file holds one entry named `kernel` with two
 * parameters (input and output pointers) and starts with comment lines that say how to launch it and what to
 * substitute:
 *   // launch grid=1 block=32 in=1024 out=256 fill=bits shared=0
 *   // for T = u32 s32           every value in turn for @T@; several lines multiply
 *   // with T: R = b32 b32       @R@ follows the choice of T
 *   // skip T=u32 OP=inc,dec     leaves out combinations that do not exist
 *   // allowed 8                 so many 16-byte pieces of the output may differ (after
 * substitution) */
#include "vectors.h"
#include <stdlib.h>
#include <string.h>

enum { MAX_VARIABLES = 16, MAX_VALUES = 64, MAX_SKIPS = 16 };

struct variable {
    char *name;
    char *values[MAX_VALUES];
    int value_count;
    int follows; /* index of the variable that decides, or -1 */
    int chosen;
};

struct template
{
    const char *path, *stem;
    const char *text;
    struct kernel launch;
    struct variable variables[MAX_VARIABLES];
    int variable_count;
    char *skips[MAX_SKIPS];
    int skip_count;
    int failed;
};

static void complain(struct template *template, const char *what, const char *where)
{
    fprintf(stderr, "%s: %s: %s\n", template->path, what, where);
    template->failed = 1;
}

static int find_variable(const struct template *template, const char *name, size_t length)
{
    for (int i = 0; i < template->variable_count; i++)
        if (strlen(template->variables[i].name) == length && !memcmp(template->variables[i].name, name, length))
            return i;
    return -1;
}

static void parse_launch(struct template *template, char *words)
{
    struct kernel *launch = &template->launch;
    char *save = NULL;
    strcpy(launch->fill, "bits");
    for (char *word = strtok_r(words, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
        char *equals = strchr(word, '=');
        unsigned long value = equals ? strtoul(equals + 1, NULL, 0) : 0;
        if (!strncmp(word, "grid=", 5))
            launch->grid = value;
        else if (!strncmp(word, "block=", 6))
            launch->block = value;
        else if (!strncmp(word, "in=", 3))
            launch->in_bytes = value;
        else if (!strncmp(word, "out=", 4))
            launch->out_bytes = value;
        else if (!strncmp(word, "shared=", 7))
            launch->shared_bytes = value;
        else if (!strncmp(word, "fill=", 5))
            snprintf(launch->fill, sizeof launch->fill, "%s", equals + 1);
        else
            complain(template, "unknown word in the launch line", word);
    }
}

/* `NAME = values` or `DECIDER: NAME = values` */
static void parse_variable(struct template *template, char *words, int follows)
{
    struct variable *variable = &template->variables[template->variable_count];
    char *save = NULL, *word = strtok_r(words, " ", &save);
    variable->follows = -1;
    if (follows && word) {
        variable->follows = find_variable(template, word, strcspn(word, ":"));
        if (variable->follows < 0)
            complain(template, "unknown name", word);
        word = strtok_r(NULL, " ", &save);
    }
    if (!word || template->variable_count == MAX_VARIABLES - 1) {
        complain(template, "expected NAME = values", words);
        return;
    }
    variable->name = word;
    strtok_r(NULL, " ", &save);
    while ((word = strtok_r(NULL, " ", &save)) && variable->value_count < MAX_VALUES)
        variable->values[variable->value_count++] = strcmp(word, "-") ? word : "";
    template->variable_count++;
}

static const char *value_of(const struct template *template, int index)
{
    const struct variable *variable = &template->variables[index];
    int chosen = variable->follows < 0 ? variable->chosen : template->variables[variable->follows].chosen;
    return chosen < variable->value_count ? variable->values[chosen] : "?";
}

/* Is `value` one of the comma-separated ones? */
static int listed(const char *list, size_t size, const char *value)
{
    size_t length = strlen(value);
    for (const char *end = list + size; list < end;) {
        size_t word = strcspn(list, ", ");
        if (word == length && !memcmp(list, value, length))
            return 1;
        list += word + 1;
    }
    return 0;
}

static int skipped(struct template *template)
{
    for (int i = 0; i < template->skip_count; i++) {
        int all = 1;
        for (const char *word = template->skips[i]; *word;) {
            size_t length = strcspn(word, " "), name = strcspn(word, "=");
            int index = find_variable(template, word, name);
            if (index < 0)
                complain(template, "unknown name in skip", word);
            else
                all &= listed(word + name + 1, length - name - 1, value_of(template, index));
            word += length;
            word += strspn(word, " ");
        }
        if (all)
            return 1;
    }
    return 0;
}

static void substitute(struct template *template, struct text *out)
{
    for (const char *c = template->text; *c;) {
        size_t length = *c == '@' ? strcspn(c + 1, "@ \n") : 0;
        int index = length && c[1 + length] == '@' ? find_variable(template, c + 1, length) : -1;
        if (index >= 0) {
            text_add(out, "%s", value_of(template, index));
            c += length + 2;
        } else {
            size_t plain = 1 + strcspn(c + 1, "@");
            text_add(out, "%.*s", (int)plain, c);
            c += plain;
        }
    }
}

static void add_kernel(struct template *template, struct kernel_set *set)
{
    struct text name = {0}, ptx = {0};
    if (skipped(template))
        return;
    text_add(&name, "%s", template->stem);
    for (int i = 0; i < template->variable_count; i++)
        if (template->variables[i].follows < 0)
            text_add(&name, "/%s", value_of(template, i));
    substitute(template, &ptx);
    set->kernels = grow(set->kernels, &set->capacity, set->count + 1, sizeof *set->kernels);
    struct kernel *kernel = &set->kernels[set->count++];
    *kernel = template->launch;
    kernel->name = name.data;
    kernel->ptx = ptx.data;
    const char *allowed = strstr(ptx.data, "// allowed ");
    if (allowed)
        kernel->allowed = (unsigned)strtoul(allowed + 11, NULL, 0);
}

static void expand(struct template *template, int index, struct kernel_set *set)
{
    if (index == template->variable_count) {
        add_kernel(template, set);
        return;
    }
    struct variable *variable = &template->variables[index];
    int count = variable->follows < 0 ? variable->value_count : 1;
    for (variable->chosen = 0; variable->chosen < count; variable->chosen++)
        expand(template, index + 1, set);
}

static int read_kernel_file(struct kernel_set *set, const char *path, const char *stem, const char *family)
{
    char *text = read_text_file(path);
    if (!text)
        return -1;
    char *header = copy_text(text), *next = NULL;
    struct template template = {.path = path, .stem = stem, .text = text, .launch.family = family};
    for (char *line = header; line && !strncmp(line, "//", 2); line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = 0;
        if (!strncmp(line, "// launch ", 10))
            parse_launch(&template, line + 10);
        else if (!strncmp(line, "// for ", 7))
            parse_variable(&template, line + 7, 0);
        else if (!strncmp(line, "// with ", 8))
            parse_variable(&template, line + 8, 1);
        else if (!strncmp(line, "// skip ", 8) && template.skip_count < MAX_SKIPS)
            template.skips[template.skip_count++] = line + 8;
    }
    if (!template.launch.grid || !template.launch.block || !template.launch.out_bytes)
        complain(&template, "no launch line with grid, block and out", "");
    else
        expand(&template, 0, set);
    free(header);
    free(text);
    return template.failed ? -1 : 0;
}

int kernels_read_directory(struct kernel_set *set, const char *directory, const char *family)
{
    size_t count;
    char **names = list_directory(directory, ".ptx", &count);
    int bad = names ? 0 : -1;
    for (size_t i = 0; i < count; i++) {
        char path[2048], stem[256];
        snprintf(path, sizeof path, "%s/%s", directory, names[i]);
        snprintf(stem, sizeof stem, "%.*s", (int)(strlen(names[i]) - 4), names[i]);
        bad |= read_kernel_file(set, path, stem, family);
    }
    free_list(names, count);
    return bad;
}

void kernels_free(struct kernel_set *set)
{
    for (size_t i = 0; i < set->count; i++) {
        free(set->kernels[i].name);
        free(set->kernels[i].ptx);
    }
    free(set->kernels);
}

/* Integers of -8..8 in a float format with the IEEE layout: their sums and products are exact in any order. */
static uint64_t small_float(int value, int exponent_bits, int mantissa_bits)
{
    uint64_t sign = value < 0, magnitude = sign ? -value : value;
    int exponent = (1 << (exponent_bits - 1)) - 1, top = 0;
    if (!value)
        return 0;
    while (magnitude >> (top + 1))
        top++;
    uint64_t fraction = (magnitude << mantissa_bits >> top) & ((1ull << mantissa_bits) - 1);
    return sign << (exponent_bits + mantissa_bits) | (uint64_t)(exponent + top) << mantissa_bits | fraction;
}

int kernel_fill(const struct kernel *kernel, void *in)
{
    static const struct {
        const char *name;
        int bytes, exponent_bits, mantissa_bits;
    } kinds[] = {
        {"bits", 8, 0, 0}, {"zero", 8, 0, 0},  {"index", 4, 0, 0}, {"f16", 2, 5, 10}, {"bf16", 2, 8, 7},
        {"f32", 4, 8, 23}, {"f64", 8, 11, 52}, {"e4m3", 1, 4, 3},  {"e5m2", 1, 5, 2},
    };
    uint64_t state = hash_bytes(HASH_START, kernel->name, strlen(kernel->name));
    unsigned char *bytes = in;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        if (strcmp(kernel->fill, kinds[k].name))
            continue;
        for (size_t at = 0, index = 0; at + kinds[k].bytes <= kernel->in_bytes; at += kinds[k].bytes, index++) {
            uint64_t raw = splitmix64(&state), value = raw;
            if (kinds[k].mantissa_bits)
                value = small_float((int)(raw % 17) - 8, kinds[k].exponent_bits, kinds[k].mantissa_bits);
            else if (k == 1)
                value = 0;
            else if (k == 2)
                value = index;
            memcpy(bytes + at, &value, kinds[k].bytes);
        }
        return 0;
    }
    fprintf(stderr, "%s: unknown fill '%s'\n", kernel->name, kernel->fill);
    return -1;
}
