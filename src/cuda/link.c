/* The linker: collects PTX texts. What cuLinkComplete gives out in place of a cubin is a blob of these texts, which
 * cuModuleLoadData takes; they are linked when it is loaded. They are tried out before that, so that an error is
 * reported where the linker would report it.
 *
 * Blob: the magic, u32 count, u64 total bytes; then a text: u64 length of its name, u64 length, name, text. */
#include "cuda/internal.h"

#include "ptx/image.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char blob_magic[8] = {'H', 'e', 'd', 'd', 'l', 'e', 'L', '1'};
struct blob_head {
    char magic[8];
    uint64_t count, total_bytes;
};

struct link_state {
    struct object object;
    struct ptx_texts texts;
    struct jit_log log;
    uint8_t *blob;
};

static void link_destroy(struct object *o)
{
    struct link_state *s = (struct link_state *)o;
    ptx_texts_free(&s->texts);
    free(s->blob);
}

static uint8_t *blob_make(const struct ptx_texts *t, size_t *size)
{
    struct blob_head head = {.count = t->count, .total_bytes = sizeof head};
    memcpy(head.magic, blob_magic, sizeof head.magic);
    for (uint32_t i = 0; i < t->count; i++)
        head.total_bytes += 16 + strlen(t->names[i]) + t->sizes[i];
    uint8_t *blob = malloc(head.total_bytes), *p = blob;
    if (!blob)
        return NULL;
    memcpy(p, &head, sizeof head);
    p += sizeof head;
    for (uint32_t i = 0; i < t->count; i++) {
        uint64_t lengths[2] = {strlen(t->names[i]), t->sizes[i]};
        memcpy(p, lengths, sizeof lengths);
        memcpy(p + 16, t->names[i], lengths[0]);
        memcpy(p + 16 + lengths[0], t->texts[i], lengths[1]);
        p += 16 + lengths[0] + lengths[1];
    }
    *size = head.total_bytes;
    return blob;
}

static bool blob_text(struct ptx_texts *t, const uint8_t **p, size_t *left)
{
    uint64_t lengths[2];
    if (*left < sizeof lengths)
        return false;
    memcpy(lengths, *p, sizeof lengths);
    *p += sizeof lengths;
    *left -= sizeof lengths;
    if (lengths[0] > *left || lengths[1] > *left - lengths[0])
        return false;
    char *name = strndup((const char *)*p, lengths[0]);
    bool ok = name && ptx_texts_add(t, name, (const char *)*p + lengths[0], lengths[1]);
    free(name);
    *p += lengths[0] + lengths[1];
    *left -= lengths[0] + lengths[1];
    return ok;
}

bool link_blob_read(const void *data, size_t limit, struct ptx_texts *t)
{
    struct blob_head head;
    size_t magic_limit = limit < sizeof head.magic ? limit : sizeof head.magic;
    if (magic_limit < sizeof head.magic || strncmp(data, blob_magic, sizeof head.magic))
        return false;
    if (limit < sizeof head)
        return false;
    memcpy(&head, data, sizeof head);
    if (head.total_bytes > limit || head.total_bytes < sizeof head)
        return false;
    const uint8_t *p = (const uint8_t *)data + sizeof head;
    size_t left = head.total_bytes - sizeof head;
    for (uint64_t i = 0; i < head.count; i++)
        if (!blob_text(t, &p, &left)) {
            ptx_texts_free(t);
            break;
        }
    return true;
}

CUAPI CUresult cuLinkCreate_v2(unsigned int count, CUjit_option *options, void **values, CUlinkState *out)
{
    struct context *ctx = NULL;
    struct jit_log log;
    CUresult r = api_enter(&ctx, API_CONTEXT);
    if (r == CUDA_SUCCESS)
        r = out ? jit_log_read(&log, count, options, values) : CUDA_ERROR_INVALID_VALUE;
    struct link_state *s = r == CUDA_SUCCESS ? object_new(sizeof *s, OBJECT_LINK, ctx, link_destroy) : NULL;
    if (r == CUDA_SUCCESS && !s)
        r = CUDA_ERROR_OUT_OF_MEMORY;
    if (r == CUDA_SUCCESS) {
        s->log = log;
        *out = (CUlinkState)s;
    }
    return api_leave(r);
}
API_ALIAS(cuLinkCreate, cuLinkCreate_v2)

static CUresult enter(CUlinkState handle, struct link_state **s)
{
    CUresult r = api_enter(NULL, API_CONTEXT);
    *s = r == CUDA_SUCCESS ? object_find(handle, OBJECT_LINK) : NULL;
    if (r == CUDA_SUCCESS && (!*s || (*s)->blob))
        r = CUDA_ERROR_INVALID_HANDLE;
    return r;
}

/* Objects and libraries are read where they turn out to be images that a module could be loaded from. */
static CUresult read_input(struct link_state *s, CUjitInputType type, const void *data, size_t size, const char *name,
                           struct error *e)
{
    bool is_read = type == CU_JIT_INPUT_PTX || type == CU_JIT_INPUT_FATBINARY || type == CU_JIT_INPUT_CUBIN;
    struct image image;
    image_recognise(&image, data, size);
    bool is_intermediate = image.kind == IMAGE_LTO_IR || image.kind == IMAGE_BITCODE;
    if (type == CU_JIT_INPUT_PTX && image.kind == IMAGE_FATBIN) {
        error_set(e, ERROR_SYNTAX, "%s: this is a fat binary, not PTX: its type is CU_JIT_INPUT_FATBINARY", name);
        return image_result(&image);
    }
    if (is_read || image.kind == IMAGE_FATBIN || image.kind == IMAGE_NO_PTX || image.kind == IMAGE_CUBIN)
        return ptx_texts_read(&s->texts, name, data, size, e);
    if (is_intermediate)
        image_refuse(&image, name, e);
    else
        error_set(e, ERROR_UNSUPPORTED,
                  "%s: only PTX, fat binaries with PTX and earlier links can be linked, not this kind of input", name);
    return CUDA_ERROR_NOT_SUPPORTED;
}

static CUresult add(struct link_state *s, CUjitInputType type, const void *data, size_t size, const char *name)
{
    struct error e = {0};
    if ((unsigned)type >= CU_JIT_NUM_INPUT_TYPES)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult r = read_input(s, type, data, size, name, &e);
    if (r == CUDA_SUCCESS && type == CU_JIT_INPUT_PTX) {
        struct ptx_module *m =
            ptx_parse(name, s->texts.texts[s->texts.count - 1], s->texts.sizes[s->texts.count - 1], &e);
        if (m)
            ptx_module_free(m);
        else
            r = result_of(&e);
    }
    return r == CUDA_SUCCESS ? r : load_failed(r, &e, &s->log);
}

CUAPI CUresult cuLinkAddData_v2(CUlinkState handle, CUjitInputType type, void *data, size_t size, const char *name,
                                unsigned int count, CUjit_option *options, void **values)
{
    struct link_state *s;
    struct jit_log ignored;
    CUresult r = enter(handle, &s);
    if (r == CUDA_SUCCESS)
        r = data && size ? jit_log_read(&ignored, count, options, values) : CUDA_ERROR_INVALID_VALUE;
    return api_leave(r == CUDA_SUCCESS ? add(s, type, data, size, name ? name : "<linked>") : r);
}
API_ALIAS(cuLinkAddData, cuLinkAddData_v2)

CUAPI CUresult cuLinkAddFile_v2(CUlinkState handle, CUjitInputType type, const char *path, unsigned int count,
                                CUjit_option *options, void **values)
{
    struct link_state *s;
    struct jit_log ignored;
    struct error e = {0};
    char *data = NULL;
    size_t size = 0;
    CUresult r = enter(handle, &s);
    if (r == CUDA_SUCCESS)
        r = path ? jit_log_read(&ignored, count, options, values) : CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS && !read_file(path, &data, &size, &e))
        r = load_failed(CUDA_SUCCESS, &e, &s->log);
    if (r == CUDA_SUCCESS)
        r = add(s, type, data, size, path);
    free(data);
    return api_leave(r);
}
API_ALIAS(cuLinkAddFile, cuLinkAddFile_v2)

CUAPI CUresult cuLinkComplete(CUlinkState handle, void **out, size_t *size_out)
{
    struct link_state *s;
    struct error e = {0};
    size_t size = 0;
    CUresult r = enter(handle, &s);
    if (r == CUDA_SUCCESS && (!out || !s->texts.count))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r != CUDA_SUCCESS)
        return api_leave(r);
    struct module *trial = module_new(s->object.owner, &s->texts, &e);
    if (!trial)
        return api_leave(load_failed(CUDA_SUCCESS, &e, &s->log));
    object_free(&trial->object);
    s->blob = blob_make(&s->texts, &size);
    if (!s->blob)
        return api_leave(CUDA_ERROR_OUT_OF_MEMORY);
    jit_log_write(&s->log, NULL, "");
    *out = s->blob;
    if (size_out)
        *size_out = size;
    return api_leave(CUDA_SUCCESS);
}

CUAPI CUresult cuLinkDestroy(CUlinkState handle)
{
    CUresult r = api_enter(NULL, API_CONTEXT);
    struct link_state *s = r == CUDA_SUCCESS ? object_find(handle, OBJECT_LINK) : NULL;
    if (r == CUDA_SUCCESS && !s)
        r = CUDA_ERROR_INVALID_HANDLE;
    if (r == CUDA_SUCCESS)
        object_free(&s->object);
    return api_leave(r);
}
