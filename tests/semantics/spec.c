/*
 * Spec files: one line an instruction family, expanded to variants. The syntax is described in README.md.
 *   {a,b}      alternatives        {T=a,b}  alternatives with a name        {T}  the chosen one again
 *   {T?x,y}    the alternative that stands where T's chosen one stands
 * Then: SPELLING name:class... [:= statements], where $name stands for an operand and < > for PTX
 * braces. */
#include "vectors.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_NAMES = 8, MAX_CHOICES = 64, LINE_BYTES = 4096 };

struct choice {
    char name[16];
    int index;
    char value[128];
};

struct expansion {
    struct spec *spec;
    const char *family, *file;
    int line;
    struct choice choices[MAX_NAMES];
    int choice_count;
    int failed;
};

static void complain(struct expansion *at, const char *what, const char *where)
{
    fprintf(stderr, "%s:%d: %s: %s\n", at->file, at->line, what, where);
    at->failed = 1;
}

static struct choice *find_choice(struct expansion *at, const char *name, size_t length)
{
    for (int i = 0; i < at->choice_count; i++)
        if (strlen(at->choices[i].name) == length && !memcmp(at->choices[i].name, name, length))
            return &at->choices[i];
    return NULL;
}

/* The index-th comma-separated alternative; NULL past the last. */
static const char *alternative(const char *list, const char *end, int index, size_t *length)
{
    for (; index; index--) {
        while (list < end && *list != ',')
            list++;
        if (list == end)
            return NULL;
        list++;
    }
    const char *stop = list;
    while (stop < end && *stop != ',')
        stop++;
    *length = stop - list;
    return list;
}

static int parse_operand(struct expansion *at, struct variant *variant, char *word)
{
    char *colon = strchr(word, ':');
    if (!colon || colon == word || colon - word > 7) {
        complain(at, "expected name:class", word);
        return -1;
    }
    if (variant->operand_count == MAX_OPERANDS) {
        complain(at, "too many operands", word);
        return -1;
    }
    struct operand *operand = &variant->operands[variant->operand_count++];
    memcpy(operand->name, word, colon - word);
    operand->is_output = word[0] == 'd';
    operand->class = operand_class_find(colon + 1);
    if (!operand->class) {
        complain(at, "unknown operand class", colon + 1);
        return -1;
    }
    return 0;
}

/* Without statements of its own, a line means: SPELLING operand, operand...; */
static void default_body(struct variant *variant, char *body, size_t size)
{
    size_t length = strcspn(variant->spelling, "@");
    int used = snprintf(body, size, "%.*s", (int)length, variant->spelling);
    for (int i = 0; i < variant->operand_count; i++)
        used += snprintf(body + used, size - used, "%s $%s", i ? "," : "", variant->operands[i].name);
    snprintf(body + used, size - used, ";");
}

/* Braces are taken by the expansion; the operators << >> <= >= stay what they are. */
static void angles_to_braces(char *body)
{
    for (char *c = body; *c; c++) {
        if (*c != '<' && *c != '>')
            continue;
        if (c[1] == *c || c[1] == '=')
            c++;
        else
            *c = *c == '<' ? '{' : '}';
    }
}

static void add_variant(struct expansion *at, char *line)
{
    struct variant variant = {0};
    char body[LINE_BYTES], *statements = strstr(line, ":=");
    if (statements) {
        *statements = 0;
        snprintf(body, sizeof body, "%s", statements + 2);
        angles_to_braces(body);
    }
    char *save = NULL, *word = strtok_r(line, " \t", &save);
    if (!word)
        return;
    variant.spelling = copy_text(word);
    variant.family = copy_text(at->family);
    int bad = 0;
    while (!bad && (word = strtok_r(NULL, " \t", &save)))
        bad = parse_operand(at, &variant, word);
    if (!statements)
        default_body(&variant, body, sizeof body);
    variant.body = copy_text(body);
    struct spec *spec = at->spec;
    spec->variants = grow(spec->variants, &spec->capacity, spec->count + 1, sizeof *spec->variants);
    spec->variants[spec->count++] = variant;
}

static void expand(struct expansion *at, const char *line);

static void expand_with(struct expansion *at, const char *line, const char *open, const char *close, const char *value,
                        size_t length)
{
    char next[LINE_BYTES];
    int used = snprintf(next, sizeof next, "%.*s%.*s%s", (int)(open - line), line, (int)length, value, close + 1);
    if (used >= (int)sizeof next)
        complain(at, "line too long", line);
    else
        expand(at, next);
}

static void expand_alternatives(struct expansion *at, const char *line, const char *open, const char *close)
{
    const char *list = open + 1, *equals = memchr(list, '=', close - list);
    const char *value;
    size_t length;
    struct choice *choice = NULL;
    if (equals) {
        if (at->choice_count == MAX_NAMES || equals - list > 15) {
            complain(at, "too many or too long names", line);
            return;
        }
        choice = &at->choices[at->choice_count++];
        memset(choice, 0, sizeof *choice);
        memcpy(choice->name, list, equals - list);
        list = equals + 1;
    }
    for (int i = 0; i < MAX_CHOICES && (value = alternative(list, close, i, &length)); i++) {
        if (choice) {
            choice->index = i;
            snprintf(choice->value, sizeof choice->value, "%.*s", (int)length, value);
        }
        expand_with(at, line, open, close, value, length);
    }
    if (choice)
        at->choice_count--;
}

static void expand(struct expansion *at, const char *line)
{
    const char *open = strchr(line, '{'), *close = open ? strchr(open, '}') : NULL;
    if (!open) {
        char copy[LINE_BYTES];
        snprintf(copy, sizeof copy, "%s", line);
        add_variant(at, copy);
        return;
    }
    if (!close) {
        complain(at, "'{' without '}'", line);
        return;
    }
    size_t name_length = 0, length;
    while (isalnum((unsigned char)open[1 + name_length]))
        name_length++;
    struct choice *choice = find_choice(at, open + 1, name_length);
    const char *after = open + 1 + name_length, *value;
    if (choice && after == close)
        expand_with(at, line, open, close, choice->value, strlen(choice->value));
    else if (choice && *after == '?' && (value = alternative(after + 1, close, choice->index, &length)))
        expand_with(at, line, open, close, value, length);
    else if (*after == '?')
        complain(at, "no such name, or too few alternatives", open);
    else
        expand_alternatives(at, line, open, close);
}

static int read_file(struct spec *spec, const char *path, const char *family)
{
    char *text = read_text_file(path), *save = NULL;
    if (!text)
        return -1;
    struct expansion at = {.spec = spec, .family = family, .file = path};
    for (char *line = text; line; line = save) {
        save = strchr(line, '\n');
        if (save)
            *save++ = 0;
        at.line++;
        line[strcspn(line, "#")] = 0;
        line += strspn(line, " \t");
        if (*line)
            expand(&at, line);
    }
    free(text);
    return at.failed ? -1 : 0;
}

static int compare_spelling(const void *a, const void *b)
{
    return strcmp((*(const struct variant *const *)a)->spelling, (*(const struct variant *const *)b)->spelling);
}

/* A spelling names its recorded vector, so it must be there once. */
static int refuse_duplicates(const struct spec *spec)
{
    const struct variant **sorted = calloc(spec->count + 1, sizeof *sorted);
    int bad = 0;
    for (size_t i = 0; i < spec->count; i++)
        sorted[i] = &spec->variants[i];
    qsort(sorted, spec->count, sizeof *sorted, compare_spelling);
    for (size_t i = 1; i < spec->count; i++)
        if (!strcmp(sorted[i - 1]->spelling, sorted[i]->spelling)) {
            fprintf(stderr, "%s: more than once in the spec files\n", sorted[i]->spelling);
            bad = -1;
        }
    free(sorted);
    return bad;
}

int spec_read_directory(struct spec *spec, const char *directory)
{
    size_t count;
    char **names = list_directory(directory, ".txt", &count);
    int bad = 0;
    if (!names || !count) {
        fprintf(stderr, "%s: no spec files\n", directory);
        bad = -1;
    }
    for (size_t i = 0; i < count; i++) {
        char path[2048], family[256];
        snprintf(path, sizeof path, "%s/%s", directory, names[i]);
        snprintf(family, sizeof family, "%.*s", (int)(strlen(names[i]) - 4), names[i]);
        bad |= read_file(spec, path, family);
    }
    free_list(names, count);
    return bad | refuse_duplicates(spec);
}

void spec_free(struct spec *spec)
{
    for (size_t i = 0; i < spec->count; i++) {
        free(spec->variants[i].family);
        free(spec->variants[i].spelling);
        free(spec->variants[i].body);
    }
    free(spec->variants);
}
