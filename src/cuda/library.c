/* Libraries and kernels (CUDA 12): a module that belongs to no context, and is placed in each one that uses it when it
 * is first used there. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "cuda/internal.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct library {
    struct object object;
    struct ptx_texts texts;
    struct ptx_module **parsed; /* the texts, for the first context that wants them */
    struct kernel **kernels;
    uint32_t kernel_count;
};

static void kernel_destroy(struct object *o) { free(((struct kernel *)o)->name); }

static bool unload_instance(struct object *o, void *user)
{
    struct module *m = (struct module *)o, **found = ((void **)user)[1];
    if (m->library != ((void **)user)[0])
        return true;
    *found = m;
    return false;
}

static void library_destroy(struct object *o)
{
    struct library *l = (struct library *)o;
    for (;;) {
        struct module *m = NULL;
        void *user[2] = {l, &m};
        objects_each(OBJECT_MODULE, unload_instance, user);
        if (!m)
            break;
        object_free(&m->object);
    }
    for (uint32_t i = 0; i < l->kernel_count; i++)
        object_free(&l->kernels[i]->object);
    free(l->kernels);
    ptx_modules_free(l->parsed, l->texts.count);
    ptx_texts_free(&l->texts);
}

static bool add_kernel(struct library *l, const char *name)
{
    struct kernel **kernels = realloc(l->kernels, (l->kernel_count + 1) * sizeof *kernels);
    if (!kernels)
        return false;
    l->kernels = kernels;
    struct kernel *k = object_new(sizeof *k, OBJECT_KERNEL, NULL, kernel_destroy);
    if (!k)
        return false;
    k->library = l;
    k->name = strdup(name);
    kernels[l->kernel_count++] = k;
    return k->name != NULL;
}

static bool list_kernels(struct library *l, struct error *e)
{
    l->parsed = ptx_texts_parse(&l->texts, e);
    for (uint32_t i = 0; l->parsed && i < l->texts.count; i++) {
        const struct ptx_module *m = l->parsed[i];
        for (uint32_t f = 0; f < m->function_count; f++)
            if (m->functions[f]->is_entry && !m->functions[f]->is_declaration && !add_kernel(l, m->functions[f]->name))
                return error_set(e, ERROR_NO_MEMORY, "no memory for the library's kernels");
    }
    return l->parsed != NULL;
}

static CUresult load(CUlibrary *out, const char *name, const void *data, size_t limit, const struct jit_log *log)
{
    struct error e = {0};
    struct library *l = object_new(sizeof *l, OBJECT_LIBRARY, NULL, library_destroy);
    if (!l)
        return CUDA_ERROR_OUT_OF_MEMORY;
    CUresult r = ptx_texts_read(&l->texts, name, data, limit, &e);
    if (r != CUDA_SUCCESS || !list_kernels(l, &e)) {
        r = load_failed(r, &e, log);
        object_free(&l->object);
        return r;
    }
    jit_log_write(log, NULL, "");
    *out = (CUlibrary)l;
    return CUDA_SUCCESS;
}

static CUresult options_check(struct jit_log *log, unsigned int jit_count, CUjit_option *jit, void **jit_values,
                              unsigned int count, const CUlibraryOption *options)
{
    for (unsigned int i = 0; i < count; i++)
        if (!options || (unsigned)options[i] >= CU_LIBRARY_NUM_OPTIONS)
            return CUDA_ERROR_INVALID_VALUE;
    return jit_log_read(log, jit_count, jit, jit_values);
}

/* For messages: the file that the image lies in, where it was loaded with one. */
static const char *name_of(const void *code, char *out, size_t size)
{
    Dl_info info;
    const char *path = dladdr(code, &info) && info.dli_fname ? info.dli_fname : NULL,
               *slash = path ? strrchr(path, '/') : NULL;
    if (path)
        snprintf(out, size, "<PTX of %s>", slash ? slash + 1 : path);
    else
        snprintf(out, size, "<library>");
    return out;
}

CUAPI CUresult cuLibraryLoadData(CUlibrary *out, const void *code, CUjit_option *jit, void **jit_values,
                                 unsigned int jit_count, CUlibraryOption *options, void **option_values,
                                 unsigned int count)
{
    struct jit_log log;
    char name[300];
    CUresult r = api_enter(NULL, API_INIT | API_PASSING);
    if (r == CUDA_SUCCESS)
        r = out && code && (option_values || !count) ? options_check(&log, jit_count, jit, jit_values, count, options)
                                                     : CUDA_ERROR_INVALID_VALUE;
    return api_leave(r == CUDA_SUCCESS ? load(out, name_of(code, name, sizeof name), code, SIZE_MAX, &log) : r);
}

CUAPI CUresult cuLibraryLoadFromFile(CUlibrary *out, const char *path, CUjit_option *jit, void **jit_values,
                                     unsigned int jit_count, CUlibraryOption *options, void **option_values,
                                     unsigned int count)
{
    struct jit_log log;
    struct error e = {0};
    char *data = NULL;
    size_t size = 0;
    CUresult r = api_enter(NULL, API_INIT | API_PASSING);
    if (r == CUDA_SUCCESS)
        r = out && path && (option_values || !count) ? options_check(&log, jit_count, jit, jit_values, count, options)
                                                     : CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS && !read_file(path, &data, &size, &e))
        r = load_failed(CUDA_SUCCESS, &e, &log);
    if (r == CUDA_SUCCESS)
        r = load(out, path, data, size, &log);
    free(data);
    return api_leave(r);
}

static CUresult enter(CUlibrary handle, const void *out, struct library **l)
{
    CUresult r = api_enter(NULL, API_INIT | API_PASSING);
    if (r == CUDA_SUCCESS && !out)
        r = CUDA_ERROR_INVALID_VALUE;
    *l = r == CUDA_SUCCESS ? object_find(handle, OBJECT_LIBRARY) : NULL;
    return r == CUDA_SUCCESS && !*l ? CUDA_ERROR_INVALID_HANDLE : r;
}

CUAPI CUresult cuLibraryUnload(CUlibrary handle)
{
    CUresult r = api_enter(NULL, API_INIT | API_WAITING);
    struct library *l = r == CUDA_SUCCESS ? object_find(handle, OBJECT_LIBRARY) : NULL;
    if (r == CUDA_SUCCESS && !l)
        r = CUDA_ERROR_INVALID_HANDLE;
    if (r == CUDA_SUCCESS)
        object_free(&l->object);
    return api_leave(r);
}

CUAPI CUresult cuLibraryGetKernel(CUkernel *out, CUlibrary handle, const char *name)
{
    struct library *l;
    CUresult r = enter(handle, name ? (const void *)out : NULL, &l);
    if (r != CUDA_SUCCESS)
        return api_leave(r);
    for (uint32_t i = 0; i < l->kernel_count; i++)
        if (!strcmp(l->kernels[i]->name, name)) {
            *out = (CUkernel)l->kernels[i];
            return api_leave(CUDA_SUCCESS);
        }
    return api_leave(CUDA_ERROR_NOT_FOUND);
}

CUAPI CUresult cuLibraryGetKernelCount(unsigned int *count, CUlibrary handle)
{
    struct library *l;
    CUresult r = enter(handle, count, &l);
    if (r == CUDA_SUCCESS)
        *count = l->kernel_count;
    return api_leave(r);
}

CUAPI CUresult cuLibraryEnumerateKernels(CUkernel *kernels, unsigned int count, CUlibrary handle)
{
    struct library *l;
    CUresult r = enter(handle, kernels, &l);
    for (uint32_t i = 0; r == CUDA_SUCCESS && i < count && i < l->kernel_count; i++)
        kernels[i] = (CUkernel)l->kernels[i];
    return api_leave(r);
}

struct instance_query {
    const struct library *library;
    const struct context *ctx;
    struct module *found;
};

static bool match_instance(struct object *o, void *user)
{
    struct instance_query *q = user;
    struct module *m = (struct module *)o;
    if (m->library == q->library && o->owner == q->ctx)
        q->found = m;
    return !q->found;
}

static struct module *instance_of(struct library *l, struct context *ctx, CUresult *r)
{
    struct instance_query q = {l, ctx, NULL};
    struct error e = {0};
    objects_each(OBJECT_MODULE, match_instance, &q);
    if (q.found)
        return q.found;
    struct ptx_module **modules = l->parsed ? l->parsed : ptx_texts_parse(&l->texts, &e);
    l->parsed = NULL;
    struct module *m = modules ? module_of(ctx, modules, l->texts.count, true, &e) : NULL;
    if (m)
        m->library = l;
    else
        *r = load_failed(CUDA_SUCCESS, &e, NULL);
    return m;
}

static CUresult enter_instance(CUlibrary handle, const void *out, struct module **m)
{
    struct context *ctx = NULL;
    CUresult r = api_enter(&ctx, API_CONTEXT | API_PASSING);
    struct library *l = r == CUDA_SUCCESS ? object_find(handle, OBJECT_LIBRARY) : NULL;
    if (r == CUDA_SUCCESS && !out)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS && !l)
        r = CUDA_ERROR_INVALID_HANDLE;
    if (r == CUDA_SUCCESS)
        *m = instance_of(l, ctx, &r);
    return r;
}

CUAPI CUresult cuLibraryGetModule(CUmodule *out, CUlibrary handle)
{
    struct module *m = NULL;
    CUresult r = enter_instance(handle, out, &m);
    if (r == CUDA_SUCCESS)
        *out = (CUmodule)m;
    return api_leave(r);
}

CUAPI CUresult cuLibraryGetGlobal(CUdeviceptr *address, size_t *size, CUlibrary handle, const char *name)
{
    struct module *m = NULL;
    CUresult r = enter_instance(handle, name, &m);
    return api_leave(r == CUDA_SUCCESS ? module_global(m, name, address, size) : r);
}

CUAPI CUresult cuLibraryGetManaged(CUdeviceptr *address, size_t *size, CUlibrary handle, const char *name)
{
    struct module *m = NULL;
    CUresult r = enter_instance(handle, name, &m);
    const struct exec_symbol *s = r == CUDA_SUCCESS ? exec_image_symbol(m->image, name) : NULL;
    if (r == CUDA_SUCCESS && (!s || !s->variable || !s->variable->managed))
        r = CUDA_ERROR_NOT_FOUND;
    return api_leave(r == CUDA_SUCCESS ? module_global(m, name, address, size) : r);
}

/* Only kernels of architectures with unified function pointers have these; there are none. */
CUAPI CUresult cuLibraryGetUnifiedFunction(void **out, CUlibrary handle, const char *symbol)
{
    struct library *l;
    CUresult r = enter(handle, symbol ? (const void *)out : NULL, &l);
    return api_leave(r == CUDA_SUCCESS ? CUDA_ERROR_NOT_FOUND : r);
}

/* Attributes that were set on the kernel go along into each context. */
struct function *kernel_function(struct kernel *k, struct context *ctx, CUresult *r)
{
    struct module *m = instance_of(k->library, ctx, r);
    struct function *f = m ? module_function(m, k->name, r) : NULL;
    for (int a = 0; f && a < CU_FUNC_ATTRIBUTE_MAX; a++)
        if (k->set_mask >> a & 1)
            function_set_attribute(f, (CUfunction_attribute)a, k->set_attributes[a]);
    return f;
}

static CUresult enter_kernel(CUkernel handle, const void *out, enum api_need need, struct context **ctx,
                             struct kernel **k)
{
    CUresult r = api_enter(ctx, need | API_PASSING);
    *k = r == CUDA_SUCCESS ? object_find(handle, OBJECT_KERNEL) : NULL;
    if (r == CUDA_SUCCESS && !out)
        r = CUDA_ERROR_INVALID_VALUE;
    return r == CUDA_SUCCESS && !*k ? CUDA_ERROR_INVALID_HANDLE : r;
}

CUAPI CUresult cuKernelGetFunction(CUfunction *out, CUkernel handle)
{
    struct context *ctx = NULL;
    struct kernel *k;
    CUresult r = enter_kernel(handle, out, API_CONTEXT, &ctx, &k);
    struct function *f = r == CUDA_SUCCESS ? kernel_function(k, ctx, &r) : NULL;
    if (r == CUDA_SUCCESS)
        *out = (CUfunction)f;
    return api_leave(r);
}

CUAPI CUresult cuKernelGetLibrary(CUlibrary *out, CUkernel handle)
{
    struct kernel *k;
    CUresult r = enter_kernel(handle, out, API_INIT, NULL, &k);
    if (r == CUDA_SUCCESS)
        *out = (CUlibrary)k->library;
    return api_leave(r);
}

CUAPI CUresult cuKernelGetName(const char **out, CUkernel handle)
{
    struct kernel *k;
    CUresult r = enter_kernel(handle, out, API_INIT, NULL, &k);
    if (r == CUDA_SUCCESS)
        *out = k->name;
    return api_leave(r);
}

/* The function to ask about a kernel: that of the current context, or of the primary one where there is none. */
static struct function *any_function(struct kernel *k, CUresult *r)
{
    struct context *ctx = context_current();
    if (!ctx || !ctx->live)
        ctx = context_primary();
    return ctx ? kernel_function(k, ctx, r) : NULL;
}

CUAPI CUresult cuKernelGetAttribute(int *out, CUfunction_attribute attribute, CUkernel handle, CUdevice dev)
{
    struct kernel *k;
    CUresult r = enter_kernel(handle, out, API_INIT, NULL, &k);
    if (r == CUDA_SUCCESS && dev != 0)
        r = CUDA_ERROR_INVALID_DEVICE;
    struct function *f = r == CUDA_SUCCESS ? any_function(k, &r) : NULL;
    return api_leave(f ? function_attribute(f, attribute, out) : r);
}

CUAPI CUresult cuKernelSetAttribute(CUfunction_attribute attribute, int value, CUkernel handle, CUdevice dev)
{
    struct kernel *k;
    CUresult r = enter_kernel(handle, handle ? (void *)handle : &r, API_INIT, NULL, &k);
    if (r == CUDA_SUCCESS && dev != 0)
        r = CUDA_ERROR_INVALID_DEVICE;
    struct function *f = r == CUDA_SUCCESS ? any_function(k, &r) : NULL;
    if (f)
        r = function_set_attribute(f, attribute, value);
    if (f && r == CUDA_SUCCESS) {
        k->set_attributes[attribute] = value;
        k->set_mask |= 1u << attribute;
    }
    return api_leave(r);
}

CUAPI CUresult cuKernelSetCacheConfig(CUkernel handle, CUfunc_cache config, CUdevice dev)
{
    struct kernel *k;
    CUresult r = enter_kernel(handle, handle ? (void *)handle : &r, API_INIT, NULL, &k);
    if (r == CUDA_SUCCESS && (dev != 0 || (unsigned)config > CU_FUNC_CACHE_PREFER_EQUAL))
        r = dev ? CUDA_ERROR_INVALID_DEVICE : CUDA_ERROR_INVALID_VALUE;
    return api_leave(r);
}

CUAPI CUresult cuKernelGetParamInfo(CUkernel handle, size_t index, size_t *offset, size_t *size)
{
    struct kernel *k;
    CUresult r = enter_kernel(handle, offset, API_INIT, NULL, &k);
    struct function *f = r == CUDA_SUCCESS ? any_function(k, &r) : NULL;
    return api_leave(f ? function_param(f, index, offset, size) : r);
}
