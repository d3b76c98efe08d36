/* What `heddle inspect` looks at: a file of PTX or a fat binary, standard input, or the PTX inside a program. */
#include "base/out_of_memory.h"
#include "cli/inspect.h"
#include "program/program.h"
#include "ptx/image.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static char *read_stream(FILE *in, size_t *size)
{
    char *text = NULL, buffer[1 << 16];
    FILE *copy = open_memstream(&text, size);
    for (size_t n; copy && (n = fread(buffer, 1, sizeof buffer, in)) > 0;)
        fwrite(buffer, 1, n, copy);
    if (copy && fclose(copy) == 0 && !ferror(in))
        return text;
    free(text);
    return NULL;
}

static void keep(struct inspect_modules *out, struct ptx_module *m)
{
    out->list = realloc(out->list, (out->count + 1) * sizeof *out->list);
    if (!out->list)
        out_of_memory();
    out->list[out->count++] = m;
}

struct bytes {
    struct inspect_modules *out;
    const char *name;
    struct error *error;
};

static bool keep_text(const char *text, size_t size, void *user)
{
    struct bytes *b = user;
    struct ptx_module *m = ptx_parse(b->name, text, size, b->error);
    if (m)
        keep(b->out, m);
    return m != NULL;
}

static bool read_bytes(struct bytes *b, const char *data, size_t size)
{
    struct image image;
    image_recognise(&image, data, size);
    if (image.kind == IMAGE_FATBIN)
        return fatbin_find_ptx(data, size, keep_text, b, b->error) == FATBIN_FOUND;
    if (image.kind == IMAGE_TEXT || image.kind == IMAGE_EMPTY)
        return keep_text(data, size, b);
    return image_refuse(&image, b->name, b->error);
}

static bool read_text(struct inspect_modules *out, const char *path, struct error *e)
{
    size_t size = 0;
    FILE *in = strcmp(path, "-") ? fopen(path, "rb") : stdin;
    char *text = in ? read_stream(in, &size) : NULL;
    int why = errno;
    if (in && in != stdin)
        fclose(in);
    if (!text)
        return error_set(e, ERROR_IO, "heddle inspect: cannot read '%s': %s", path, strerror(why));
    struct bytes bytes = {out, strcmp(path, "-") ? path : "<stdin>", e};
    bool read = read_bytes(&bytes, text, size);
    free(text);
    return read;
}

struct reading {
    struct inspect_modules *out;
    struct error *error; /* of the first text that is PTX beyond doubt and cannot be read */
};

static void read_inside(const struct program_text *t, void *user)
{
    struct reading *r = user;
    struct error own = {0};
    struct ptx_module *m = ptx_parse(t->name, t->text, t->size, &own);
    if (m)
        keep(r->out, m);
    else if (!t->guessed && !r->error->kind)
        *r->error = own;
}

static bool read_program(struct inspect_modules *out, const char *path, struct error *e)
{
    struct elf_program elf;
    if (!elf_program_open(&elf, path, e))
        return false;
    struct reading r = {out, e};
    unsigned images = program_visit_texts(&elf, read_inside, &r);
    elf_program_close(&elf);
    if (!out->count && !e->kind)
        error_set(e, images ? ERROR_UNSUPPORTED : ERROR_IO, "heddle inspect: %s holds %s", path,
                  images ? "GPU machine code only and no PTX" : "no PTX");
    return !e->kind;
}

/* An ELF file of a host, not a cubin. */
static bool is_program(const char *path)
{
    char head[64];
    struct image image = {.kind = IMAGE_EMPTY};
    FILE *in = fopen(path, "rb");
    size_t size = in ? fread(head, 1, sizeof head, in) : 0;
    if (in)
        fclose(in);
    image_recognise(&image, head, size);
    return image.kind == IMAGE_HOST_ELF || (image.kind == IMAGE_DAMAGED && !memcmp(head, "\177ELF", 4));
}

static bool is_file(const char *path)
{
    struct stat s;
    return stat(path, &s) == 0 && !S_ISDIR(s.st_mode);
}

bool inspect_read(struct inspect_modules *out, const char *word, struct error *e)
{
    struct places places;
    struct program p;
    struct error unused = {0};
    *out = (struct inspect_modules){0};
    if (!strcmp(word, "-") || (is_file(word) && !is_program(word)))
        return read_text(out, word, e);
    if (is_file(word))
        return read_program(out, word, e);
    if (!strchr(word, '/') && places_find(&places, &unused) && program_find(&p, word, &places, &unused))
        return read_program(out, p.path, e);
    return read_text(out, word, e); /* which says why it cannot be read */
}

void inspect_forget(struct inspect_modules *m)
{
    for (uint32_t i = 0; i < m->count; i++)
        ptx_module_free(m->list[i]);
    free(m->list);
    *m = (struct inspect_modules){0};
}
