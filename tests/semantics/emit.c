/*
 * PTX text of the generated kernels: thread t of 8 blocks of 128 loads tuple t, runs the statements of one variant
 * once, and stores the outputs. Operand k lies at in + k * TUPLES * 8 and output k at out + k * TUPLES * 8, a 64-bit
 * word each; only as many bytes as the register is wide are loaded and stored, so that nothing but the instruction
 * under test
 * computes. */
#include "vectors.h"
#include <dirent.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void *grow(void *array, size_t *capacity, size_t wanted, size_t element_size)
{
    if (wanted <= *capacity)
        return array;
    size_t next = *capacity * 2 > wanted ? *capacity * 2 : wanted + 16;
    void *bigger = realloc(array, next * element_size);
    if (!bigger) {
        fprintf(stderr, "out of memory\n");
        exit(2);
    }
    *capacity = next;
    return bigger;
}

char *copy_text(const char *text)
{
    size_t capacity = 0, size = strlen(text) + 1;
    return memcpy(grow(NULL, &capacity, size, 1), text, size);
}

char *read_text_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file) {
        perror(path);
        return NULL;
    }
    char *text = NULL;
    size_t size = 0, capacity = 0, got;
    do {
        text = grow(text, &capacity, size + 65536 + 1, 1);
        got = fread(text + size, 1, 65536, file);
        size += got;
    } while (got);
    fclose(file);
    text[size] = 0;
    return text;
}

static int compare_names(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

char **list_directory(const char *directory, const char *ending, size_t *count)
{
    DIR *dir = opendir(directory);
    char **names = NULL;
    size_t capacity = 0;
    *count = 0;
    if (!dir) {
        perror(directory);
        return NULL;
    }
    for (struct dirent *entry; (entry = readdir(dir));) {
        size_t length = strlen(entry->d_name);
        if (length <= strlen(ending) || strcmp(entry->d_name + length - strlen(ending), ending))
            continue;
        names = grow(names, &capacity, *count + 1, sizeof *names);
        names[(*count)++] = copy_text(entry->d_name);
    }
    closedir(dir);
    names = grow(names, &capacity, *count + 1, sizeof *names);
    if (*count)
        qsort(names, *count, sizeof *names, compare_names);
    return names;
}

void free_list(char **names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(names[i]);
    free(names);
}

void text_add(struct text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    text->data = grow(text->data, &text->capacity, text->size + length + 1, 1);
    va_start(arguments, format);
    vsnprintf(text->data + text->size, length + 1, format, arguments);
    va_end(arguments);
    text->size += length;
}

void text_free(struct text *text)
{
    free(text->data);
    *text = (struct text){0};
}

void emit_header(struct text *text) { text_add(text, ".version 8.6\n.target sm_90\n.address_size 64\n"); }

static const struct operand *operand_named(const struct variant *variant, const char *name, size_t length)
{
    for (int i = 0; i < variant->operand_count; i++)
        if (strlen(variant->operands[i].name) == length && !memcmp(variant->operands[i].name, name, length))
            return &variant->operands[i];
    return NULL;
}

static void emit_body(struct text *text, const struct variant *variant)
{
    text_add(text, "    ");
    for (const char *c = variant->body; *c;) {
        if (*c != '$') {
            text_add(text, "%c", *c++);
            continue;
        }
        size_t length = strspn(++c, "abcdefghijklmnopqrstuvwxyz0123456789");
        while (length && !operand_named(variant, c, length))
            length--;
        text_add(text, "%%v_%.*s", (int)length, c);
        c += length;
    }
    text_add(text, "\n");
}

static void emit_load(struct text *text, const struct operand *operand, int index)
{
    int bits = operand_class_bits(operand->class);
    if (bits == 1)
        text_add(text, "    ld.global.b32 %%w, [%%in+%d];\n    setp.ne.u32 %%v_%s, %%w, 0;\n", index * TUPLES * 8,
                 operand->name);
    else
        text_add(text, "    ld.global.b%d %%v_%s, [%%in+%d];\n", bits, operand->name, index * TUPLES * 8);
}

static void emit_store(struct text *text, const struct operand *operand, int index)
{
    int bits = operand_class_bits(operand->class);
    if (bits == 1)
        text_add(text, "    selp.b32 %%w, 1, 0, %%v_%s;\n    st.global.b32 [%%out+%d], %%w;\n", operand->name,
                 index * TUPLES * 8);
    else
        text_add(text, "    st.global.b%d [%%out+%d], %%v_%s;\n", bits, index * TUPLES * 8, operand->name);
}

void emit_kernel(struct text *text, const struct variant *variant, const char *name)
{
    int index = 0;
    text_add(text, "\n// %s\n.visible .entry %s(.param .u64 in_pointer, .param .u64 out_pointer)\n{\n",
             variant->spelling, name);
    text_add(text, "    .reg .b64 %%in, %%out, %%offset;\n    .reg .b32 %%w, %%t, %%b;\n");
    for (int i = 0; i < variant->operand_count; i++) {
        int bits = operand_class_bits(variant->operands[i].class);
        if (bits == 1)
            text_add(text, "    .reg .pred %%v_%s;\n", variant->operands[i].name);
        else
            text_add(text, "    .reg .b%d %%v_%s;\n", bits, variant->operands[i].name);
    }
    text_add(
        text,
        "    ld.param.u64 %%in, [in_pointer];\n    ld.param.u64 %%out, [out_pointer];\n"
        "    cvta.to.global.u64 %%in, %%in;\n    cvta.to.global.u64 %%out, %%out;\n"
        "    mov.u32 %%t, %%tid.x;\n    mov.u32 %%b, %%ctaid.x;\n    mad.lo.u32 %%t, %%b, 128, %%t;\n"
        "    mul.wide.u32 %%offset, %%t, 8;\n    add.u64 %%in, %%in, %%offset;\n    add.u64 %%out, %%out, %%offset;\n");
    for (int i = 0; i < variant->operand_count; i++)
        if (!variant->operands[i].is_output)
            emit_load(text, &variant->operands[i], index++);
    emit_body(text, variant);
    index = 0;
    for (int i = 0; i < variant->operand_count; i++)
        if (variant->operands[i].is_output)
            emit_store(text, &variant->operands[i], index++);
    text_add(text, "    ret;\n}\n");
}
