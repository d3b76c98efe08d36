/* Modules: from PTX text, files, fat binaries and what the linker made; their functions and variables. */
#include "cuda/internal.h"

#include "ptx/image.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void ptx_texts_free(struct ptx_texts *t)
{
    for (uint32_t i = 0; i < t->count; i++) {
        free(t->texts[i]);
        free(t->names[i]);
    }
    free(t->texts);
    free(t->sizes);
    free(t->names);
    *t = (struct ptx_texts){0};
}

static bool grow_array(void *array, size_t item_bytes, uint32_t count)
{
    void **at = array;
    void *bigger = realloc(*at, item_bytes * count);
    if (bigger)
        *at = bigger;
    return bigger != NULL;
}

bool ptx_texts_add(struct ptx_texts *t, const char *name, const char *text, size_t size)
{
    char *copy = malloc(size + 1), *name_copy = strdup(name);
    if (!copy || !name_copy || !grow_array(&t->texts, sizeof *t->texts, t->count + 1) ||
        !grow_array(&t->sizes, sizeof *t->sizes, t->count + 1) ||
        !grow_array(&t->names, sizeof *t->names, t->count + 1)) {
        free(copy);
        free(name_copy);
        return false;
    }
    memcpy(copy, text, size);
    copy[size] = '\0';
    t->texts[t->count] = copy;
    t->names[t->count] = name_copy;
    t->sizes[t->count++] = size;
    return true;
}

struct reading {
    struct ptx_texts *texts;
    const char *name;
};

static bool add_found(const char *text, size_t size, void *user)
{
    struct reading *r = user;
    return ptx_texts_add(r->texts, r->name, text, size);
}

static CUresult no_memory(struct error *e)
{
    error_set(e, ERROR_NO_MEMORY, "no memory for a copy of the module");
    return CUDA_ERROR_OUT_OF_MEMORY;
}

static CUresult read_fatbin(struct ptx_texts *t, const char *name, const void *data, size_t limit, struct error *e)
{
    struct reading reading = {t, name};
    struct error why = {0};
    enum fatbin_result found = fatbin_find_ptx(data, limit, add_found, &reading, &why);
    if (found == FATBIN_STOPPED)
        return no_memory(e);
    if (found != FATBIN_FOUND)
        error_set(e, why.kind, "%s: %s", name, why.text);
    return found == FATBIN_FOUND ? CUDA_SUCCESS : CUDA_ERROR_INVALID_IMAGE;
}

/* As a driver answers: machine code is for another GPU, what is no GPU code at all is no image. */
CUresult image_result(const struct image *image)
{
    bool is_of_gpu = image->kind == IMAGE_CUBIN || image->kind == IMAGE_NO_PTX || image->kind == IMAGE_FATBIN;
    return is_of_gpu ? CUDA_ERROR_NO_BINARY_FOR_GPU : CUDA_ERROR_INVALID_IMAGE;
}

CUresult ptx_texts_read(struct ptx_texts *t, const char *name, const void *data, size_t limit, struct error *e)
{
    if (link_blob_read(data, limit, t))
        return t->count ? CUDA_SUCCESS : no_memory(e);
    struct image image;
    image_recognise(&image, data, limit);
    if (image.kind == IMAGE_FATBIN)
        return read_fatbin(t, name, data, limit, e);
    if (image.kind != IMAGE_TEXT) {
        image_refuse(&image, name, e);
        return image_result(&image);
    }
    size_t size = limit == SIZE_MAX ? strlen(data) : strnlen(data, limit);
    if (!memmem(data, size, ".version",
                8)) { /* a driver does not take it for PTX at all; the message is the parser's */
        struct ptx_module *m = ptx_parse(name, data, size, e);
        if (!m)
            return CUDA_ERROR_INVALID_IMAGE;
        ptx_module_free(m);
    }
    return ptx_texts_add(t, name, data, size) ? CUDA_SUCCESS : no_memory(e);
}

static void module_destroy(struct object *o)
{
    struct module *m = (struct module *)o;
    for (uint32_t i = 0; i < m->image->function_count; i++)
        if (m->functions[i])
            object_free(&m->functions[i]->object);
    free(m->functions);
    texture_refs_free_of(m);
    exec_image_destroy(m->image);
}

struct ptx_module **ptx_texts_parse(const struct ptx_texts *texts, struct error *e)
{
    struct ptx_module **modules = calloc(texts->count + 1u, sizeof *modules);
    if (!modules) {
        no_memory(e);
        return NULL;
    }
    for (uint32_t i = 0; i < texts->count; i++) {
        modules[i] = ptx_parse(texts->names[i], texts->texts[i], texts->sizes[i], e);
        if (modules[i])
            continue;
        ptx_modules_free(modules, i);
        return NULL;
    }
    return modules;
}

void ptx_modules_free(struct ptx_module **modules, uint32_t count)
{
    for (uint32_t i = 0; modules && i < count; i++)
        ptx_module_free(modules[i]);
    free(modules);
}

struct module *module_of(struct context *ctx, struct ptx_module **modules, uint32_t count, bool lazy, struct error *e)
{
    struct exec_image *image = gpu_load(driver_get()->gpu, modules, count, lazy, e);
    free(modules);
    if (!image)
        return NULL;
    struct function **functions = calloc(image->function_count + 1, sizeof *functions);
    struct module *m = functions ? object_new(sizeof *m, OBJECT_MODULE, ctx, module_destroy) : NULL;
    if (!m) {
        free(functions);
        exec_image_destroy(image);
        no_memory(e);
        return NULL;
    }
    m->image = image;
    m->functions = functions;
    return m;
}

struct module *module_new(struct context *ctx, const struct ptx_texts *texts, struct error *e)
{
    struct ptx_module **modules = ptx_texts_parse(texts, e);
    return modules ? module_of(ctx, modules, texts->count, false, e) : NULL;
}

CUresult load_failed(CUresult r, const struct error *e, const struct jit_log *log)
{
    driver_report(e);
    if (log)
        jit_log_write(log, e, NULL);
    if (r != CUDA_SUCCESS)
        return r;
    return e->kind == ERROR_NOT_FOUND || e->kind == ERROR_INVALID ? CUDA_ERROR_INVALID_PTX : result_of(e);
}

/* Name for messages of a module that came without one. */
static const char *default_name(char *out, size_t size)
{
    snprintf(out, size, "<module %llu>", (unsigned long long)++driver_get()->module_count);
    return out;
}

static CUresult load(struct context *ctx, CUmodule *out, const char *name, const void *data, size_t limit,
                     const struct jit_log *log)
{
    struct ptx_texts texts = {0};
    struct error e = {0};
    char made_up[40];
    CUresult r = ptx_texts_read(&texts, name ? name : default_name(made_up, sizeof made_up), data, limit, &e);
    struct module *m = r == CUDA_SUCCESS ? module_new(ctx, &texts, &e) : NULL;
    ptx_texts_free(&texts);
    if (!m)
        return load_failed(r, &e, log);
    if (log)
        jit_log_write(log, NULL, "");
    *out = (CUmodule)m;
    return CUDA_SUCCESS;
}

CUAPI CUresult cuModuleLoadDataEx(CUmodule *out, const void *image, unsigned int count, CUjit_option *options,
                                  void **values)
{
    struct context *ctx = NULL;
    struct jit_log log;
    CUresult r = api_enter(&ctx, API_CONTEXT | API_PASSING);
    if (r == CUDA_SUCCESS && (!out || !image))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        r = jit_log_read(&log, count, options, values);
    return api_leave(r == CUDA_SUCCESS ? load(ctx, out, NULL, image, SIZE_MAX, &log) : r);
}

CUAPI CUresult cuModuleLoadData(CUmodule *out, const void *image)
{
    return cuModuleLoadDataEx(out, image, 0, NULL, NULL);
}
CUAPI CUresult cuModuleLoadFatBinary(CUmodule *out, const void *image)
{
    return cuModuleLoadDataEx(out, image, 0, NULL, NULL);
}

CUAPI CUresult cuModuleLoad(CUmodule *out, const char *path)
{
    struct context *ctx = NULL;
    struct error e = {0};
    char *data = NULL;
    size_t size = 0;
    CUresult r = api_enter(&ctx, API_CONTEXT | API_PASSING);
    if (r == CUDA_SUCCESS && (!out || !path))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r != CUDA_SUCCESS)
        return api_leave(r);
    if (!read_file(path, &data, &size, &e))
        return api_leave(load_failed(CUDA_SUCCESS, &e, NULL));
    r = load(ctx, out, path, data, size, NULL);
    free(data);
    return api_leave(r);
}

/* Modules of libraries live as long as their library. */
CUAPI CUresult cuModuleUnload(CUmodule handle)
{
    CUresult r = api_enter(NULL, API_CONTEXT | API_WAITING);
    struct module *m = r == CUDA_SUCCESS ? object_find(handle, OBJECT_MODULE) : NULL;
    if (r == CUDA_SUCCESS && (!m || m->library))
        r = m ? CUDA_ERROR_NOT_PERMITTED : CUDA_ERROR_INVALID_HANDLE;
    if (r == CUDA_SUCCESS)
        object_free(&m->object);
    return api_leave(r);
}

CUAPI CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode *mode)
{
    if (!mode)
        return CUDA_ERROR_INVALID_VALUE;
    *mode = CU_MODULE_EAGER_LOADING;
    return CUDA_SUCCESS;
}

/* The image of a library's module decodes a kernel when it is first asked for. */
static struct function *function_at(struct module *m, uint32_t index, CUresult *r)
{
    struct error e = {0};
    if (m->functions[index])
        return m->functions[index];
    if (!exec_image_prepare(m->image, m->image->functions[index], &e)) {
        *r = load_failed(CUDA_SUCCESS, &e, NULL);
        return NULL;
    }
    m->functions[index] = function_new(m, m->image->functions[index]);
    if (!m->functions[index])
        *r = CUDA_ERROR_OUT_OF_MEMORY;
    return m->functions[index];
}

struct function *module_function(struct module *m, const char *name, CUresult *r)
{
    for (uint32_t i = 0; i < m->image->function_count; i++)
        if (m->image->functions[i]->ptx->is_entry && !strcmp(m->image->functions[i]->name, name))
            return function_at(m, i, r);
    *r = CUDA_ERROR_NOT_FOUND;
    return NULL;
}

static CUresult enter(CUmodule handle, const void *out, struct module **m)
{
    CUresult r = api_enter(NULL, API_CONTEXT | API_PASSING);
    if (r == CUDA_SUCCESS && !out)
        r = CUDA_ERROR_INVALID_VALUE;
    *m = r == CUDA_SUCCESS ? object_find(handle, OBJECT_MODULE) : NULL;
    return r == CUDA_SUCCESS && !*m ? CUDA_ERROR_INVALID_HANDLE : r;
}

CUAPI CUresult cuModuleGetFunction(CUfunction *out, CUmodule handle, const char *name)
{
    struct module *m;
    CUresult r = enter(handle, name ? (const void *)out : NULL, &m);
    struct function *f = r == CUDA_SUCCESS ? module_function(m, name, &r) : NULL;
    if (r == CUDA_SUCCESS)
        *out = (CUfunction)f;
    return api_leave(r);
}

CUAPI CUresult cuModuleGetFunctionCount(unsigned int *count, CUmodule handle)
{
    struct module *m;
    CUresult r = enter(handle, count, &m);
    if (r == CUDA_SUCCESS) {
        *count = 0;
        for (uint32_t i = 0; i < m->image->function_count; i++)
            *count += m->image->functions[i]->ptx->is_entry;
    }
    return api_leave(r);
}

CUAPI CUresult cuModuleEnumerateFunctions(CUfunction *functions, unsigned int count, CUmodule handle)
{
    struct module *m;
    CUresult r = enter(handle, functions, &m);
    for (uint32_t i = 0, n = 0; r == CUDA_SUCCESS && n < count && i < m->image->function_count; i++)
        if (m->image->functions[i]->ptx->is_entry)
            functions[n++] = (CUfunction)function_at(m, i, &r);
    return api_leave(r);
}

CUresult module_global(const struct module *m, const char *name, CUdeviceptr *address, size_t *size)
{
    const struct exec_symbol *s = exec_image_symbol(m->image, name);
    if (!s || (s->space != PTX_SPACE_GLOBAL && s->space != PTX_SPACE_CONST))
        return CUDA_ERROR_NOT_FOUND;
    if (address)
        *address = s->address;
    if (size)
        *size = s->size_bytes;
    return CUDA_SUCCESS;
}

CUAPI CUresult cuModuleGetGlobal_v2(CUdeviceptr *address, size_t *size, CUmodule handle, const char *name)
{
    struct module *m;
    CUresult r = enter(handle, name, &m);
    return api_leave(r == CUDA_SUCCESS ? module_global(m, name, address, size) : r);
}
API_ALIAS(cuModuleGetGlobal, cuModuleGetGlobal_v2)
