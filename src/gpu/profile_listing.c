/* The instructions of a kernel as they stand in its PTX file: line, source line, text. Left out: which module of
 * several linked ones a line is of. */
#include "gpu/profile.h"

#include "base/out_of_memory.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Where each line of a module's text begins. */
struct lines {
    const struct ptx_module *module;
    const char **start;
    uint32_t count;
};

static void find_lines(struct lines *l, const struct ptx_module *m)
{
    const char *text = m->source.text, *end = text + m->source.size_bytes;
    uint32_t count = 1;
    for (const char *p = text; p < end; p++)
        count += *p == '\n';
    free(l->start);
    *l = (struct lines){.module = m, .start = calloc(count, sizeof *l->start), .count = count};
    if (!l->start)
        out_of_memory();
    l->start[0] = text;
    for (const char *p = text, **to = l->start + 1; p < end; p++)
        if (*p == '\n')
            *to++ = p + 1;
}

/* Skips blanks and comments between p and end. */
static const char *skip_blanks(const char *p, const char *end)
{
    while (p < end) {
        if (isspace((unsigned char)*p)) {
            p++;
        } else if (end - p >= 2 && p[0] == '/' && p[1] == '/') {
            while (p < end && *p != '\n')
                p++;
        } else if (end - p >= 2 && p[0] == '/' && p[1] == '*') {
            for (p += 2; p < end && !(end - p >= 2 && p[0] == '*' && p[1] == '/'); p++)
                ;
            p = end - p >= 2 ? p + 2 : end;
        } else {
            break;
        }
    }
    return p;
}

/* The text up to the semicolon, with blanks and comments each as one blank. NULL: the parser made the instruction, and
 * it does not stand in the file. */
static char *as_written(struct arena *a, const struct lines *l, const struct ptx_inst *in)
{
    const char *end = l->module->source.text + l->module->source.size_bytes;
    if (in->line < 1 || (uint32_t)in->line > l->count || in->column < 1)
        return NULL;
    const char *p = l->start[in->line - 1] + (in->column - 1);
    if (p >= end || (*p != '@' && !isalpha((unsigned char)*p)))
        return NULL;
    const char *semicolon = p;
    while (semicolon < end && *semicolon != ';')
        semicolon = skip_blanks(semicolon + 1, end);
    char *text = arena_alloc(a, (size_t)(semicolon - p) + 1), *to = text;
    for (const char *next; p < semicolon; p = next) {
        *to++ = *p;
        next = skip_blanks(p + 1, semicolon);
        if (next > p + 1 && next < semicolon)
            *to++ = ' ';
    }
    return text;
}

static const char *printed(struct arena *a, const struct ptx_function *f, const struct ptx_inst *in)
{
    int length = ptx_print_inst(NULL, 0, f, in);
    char *text = arena_alloc(a, (size_t)length + 1);
    ptx_print_inst(text, (size_t)length + 1, f, in);
    if (length > 0 && text[length - 1] == ';')
        text[length - 1] = '\0';
    return text;
}

static const char *source_of(struct arena *a, const struct ptx_module *m, const struct ptx_inst *in)
{
    for (uint32_t i = 0; in->source_line && i < m->file_count; i++)
        if (m->files[i].number == in->source_file)
            return arena_printf(a, "%s:%u", m->files[i].name, in->source_line);
    return NULL;
}

static void add_function(struct profile_listing *g, const struct exec_function *f, struct lines *l)
{
    if (l->module != f->module)
        find_lines(l, f->module);
    const char *name = f == g->kernel ? NULL : arena_strndup(&g->arena, f->name, strlen(f->name));
    g->base_of_function[f->index] = g->count;
    for (uint32_t i = 0; i < f->inst_count; i++) {
        const struct ptx_inst *in = &f->ptx->insts[i];
        const char *text = as_written(&g->arena, l, in);
        g->lines[g->count++] = (struct profile_line){.function = name,
                                                     .source = source_of(&g->arena, f->module, in),
                                                     .text = text ? text : printed(&g->arena, f->ptx, in),
                                                     .line = (uint32_t)in->line,
                                                     .branch = ptx_flags(in) & PTX_F_BRANCH};
    }
}

/* The order is that of a core's program (sm/program.c): the kernel, then all functions that its launch may run. */
static bool is_called(const struct exec_function *f, const struct exec_function *kernel)
{
    return f != kernel && exec_may_run(kernel, f);
}

static struct profile_listing *make(const struct exec_function *kernel)
{
    const struct exec_image *image = kernel->image;
    struct profile_listing *g = calloc(1, sizeof *g);
    struct lines lines = {0};
    uint32_t count = kernel->inst_count;
    if (!g)
        out_of_memory();
    g->image = image->id;
    g->kernel = kernel;
    for (uint32_t i = 0; i < image->function_count; i++)
        count += is_called(image->functions[i], kernel) ? image->functions[i]->inst_count : 0;
    g->base_of_function = arena_array(&g->arena, uint32_t, image->function_count);
    g->lines = arena_array(&g->arena, struct profile_line, count);
    add_function(g, kernel, &lines);
    for (uint32_t i = 0; i < image->function_count; i++)
        if (is_called(image->functions[i], kernel))
            add_function(g, image->functions[i], &lines);
    free(lines.start);
    return g;
}

const struct profile_listing *profile_listing(struct profile_listing **kept, const struct exec_function *kernel)
{
    for (const struct profile_listing *g = *kept; g; g = g->next)
        if (g->image == kernel->image->id && g->kernel == kernel)
            return g;
    struct profile_listing *g = make(kernel);
    g->next = *kept;
    *kept = g;
    return g;
}

void profile_listings_free(struct profile_listing *kept)
{
    while (kept) {
        struct profile_listing *next = kept->next;
        arena_free(&kept->arena);
        free(kept);
        kept = next;
    }
}
