/* The PTX in a program's file. */
#include "program/program.h"

#include <stdio.h>
#include <string.h>

struct image_walk {
    program_text_visitor *visit;
    void *user;
    unsigned count;
};

static bool visit_image(const char *text, size_t size, bool linked, void *user)
{
    struct image_walk *w = user;
    struct program_text t = {.text = text, .size = size, .linked = linked};
    snprintf(t.name, sizeof t.name, "<PTX of image %u>", ++w->count);
    w->visit(&t, w->user);
    return true;
}

/* As programs of the driver API have it: ".version" at the start of a line, a ".target" soon after, up to the next
 * NUL. */
static void visit_plain(const struct elf_program *elf, program_text_visitor *visit, void *user)
{
    static const char mark[] = ".version ";
    const uint8_t *data = elf->file.data, *end = data + elf->file.size;
    for (const uint8_t *at = data; (at = memmem(at, (size_t)(end - at), mark, sizeof mark - 1)); at++) {
        const uint8_t *stop = memchr(at, '\0', (size_t)(end - at));
        size_t size = (size_t)((stop ? stop : end) - at);
        bool line_start = at == data || at[-1] == '\0' || at[-1] == '\n';
        if (!line_start || !memmem(at, size < 300 ? size : 300, ".target", 7))
            continue;
        struct program_text t = {.text = (const char *)at, .size = size, .guessed = true};
        snprintf(t.name, sizeof t.name, "<PTX at byte %zu>", (size_t)(at - data));
        visit(&t, user);
        at += size - 1;
    }
}

unsigned program_visit_texts(const struct elf_program *elf, program_text_visitor *visit, void *user)
{
    struct image_walk w = {visit, user, 0};
    struct error unused = {0};
    unsigned images;
    if (program_visit_ptx(elf, visit_image, &w, &images, &unused) != FATBIN_MALFORMED && !images)
        visit_plain(elf, visit, user);
    return images;
}
