/*
 * Does every instruction of the simulator's table have a recorded vector? Opcodes in use are read off the PTX of all
 * recorded variants and kernels; a row of the table is a line with OP(name, ...). What cannot be recorded stands in
 * untestable.txt with its
 * reason. */
#include "vectors.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct word_list {
    char **words;
    size_t count, capacity;
};

static void add_word(struct word_list *list, const char *word, size_t length)
{
    list->words = grow(list->words, &list->capacity, list->count + 1, sizeof *list->words);
    char *copy = calloc(1, length + 1);
    if (copy)
        memcpy(copy, word, length);
    list->words[list->count++] = copy;
}

/* An opcode is the first word of a statement that is no directive and no label; a guard may stand before it. */
static void collect_opcodes(struct word_list *list, const char *text)
{
    int at_start = 1;
    for (const char *c = text; *c;) {
        if (!strncmp(c, "//", 2)) {
            c += strcspn(c, "\n");
        } else if (*c == ';' || *c == '{' || *c == '}' || *c == ':') {
            at_start = 1;
            c++;
        } else if (isspace((unsigned char)*c)) {
            c++;
        } else if (at_start && *c == '@') {
            c += strcspn(c, " \t\n");
        } else if (at_start && islower((unsigned char)*c)) {
            size_t length = strspn(c, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.:");
            add_word(list, c, length);
            at_start = 0;
            c += length;
        } else {
            at_start = 0;
            c++;
        }
    }
}

/* Table names may use '_' where PTX has '.', and end in '_' where C has a keyword. */
static int matches(const char *name, const char *opcode)
{
    size_t length = strlen(name);
    while (length > 1 && name[length - 1] == '_')
        length--;
    for (size_t i = 0; i < length; i++)
        if (opcode[i] != name[i] && !(name[i] == '_' && opcode[i] == '.'))
            return 0;
    return opcode[length] == 0 || opcode[length] == '.';
}

static int is_excused(const char *name, const char *untestable)
{
    size_t length = strlen(name);
    for (const char *line = untestable; line && *line; line = strchr(line, '\n'), line += line != NULL)
        if (!strncmp(line, name, length) && isspace((unsigned char)line[length]) &&
            strspn(line + length, " \t") < strcspn(line + length, "\n"))
            return 1;
    return 0;
}

static void collect_recorded(struct word_list *list, const struct spec *spec, const struct kernel_set *kernels,
                             const char *vec_directory)
{
    struct record_file records = {0};
    const char *family = "";
    for (size_t i = 0; i < spec->count; i++) {
        if (strcmp(family, spec->variants[i].family)) {
            record_file_free(&records);
            family = spec->variants[i].family;
            record_file_read(&records, vec_directory, family);
        }
        if (record_find(&records, spec->variants[i].spelling))
            collect_opcodes(list, spec->variants[i].body);
    }
    record_file_free(&records);
    memset(&records, 0, sizeof records);
    family = "";
    for (size_t i = 0; i < kernels->count; i++) {
        if (strcmp(family, kernels->kernels[i].family)) {
            record_file_free(&records);
            family = kernels->kernels[i].family;
            record_file_read(&records, vec_directory, family);
        }
        if (record_find(&records, kernels->kernels[i].name))
            collect_opcodes(list, kernels->kernels[i].ptx);
    }
    record_file_free(&records);
}

int table_check(const struct spec *spec, const struct kernel_set *kernels, const char *definitions,
                const char *untestable, const char *vec_directory)
{
    struct word_list opcodes = {0};
    char *table = read_text_file(definitions), *excuses = read_text_file(untestable);
    size_t rows = 0, missing = 0;
    if (!table || !excuses)
        return 2;
    collect_recorded(&opcodes, spec, kernels, vec_directory);
    for (char *line = table; line && *line; line = strchr(line, '\n'), line += line != NULL) {
        char *at = line + strspn(line, " \t"), name[64] = "";
        if (strncmp(at, "OP(", 3) || sscanf(at + 3, " %63[a-zA-Z0-9_.]", name) != 1)
            continue;
        int found = is_excused(name, excuses);
        for (size_t i = 0; i < opcodes.count && !found; i++)
            found = matches(name, opcodes.words[i]);
        rows++;
        if (!found) {
            printf("no vector: %s\n", name);
            missing++;
        }
    }
    free_list(opcodes.words, opcodes.count);
    free(table);
    free(excuses);
    printf("%zu instructions, %zu without a vector\n", rows, missing);
    return rows == 0 || missing ? 1 : 0;
}
