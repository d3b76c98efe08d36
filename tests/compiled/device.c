/*
 * The driver API calls that `compiled` needs: modules from one or two PTX files, a launch, and what the kernel
 * printed. */
#include "compiled.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LIMIT_SECONDS = 120 };

static bool failed(CUresult result, const char *what)
{
    const char *name = NULL;
    if (result == CUDA_SUCCESS)
        return false;
    cuGetErrorName(result, &name);
    fprintf(stderr, "%s: %s\n", what, name ? name : "unknown error");
    return true;
}

int device_open(void)
{
    CUdevice device;
    CUcontext context;
    if (failed(cuInit(0), "cuInit") || failed(cuDeviceGet(&device, 0), "cuDeviceGet") ||
        failed(cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain") ||
        failed(cuCtxSetCurrent(context), "cuCtxSetCurrent"))
        return -1;
    return 0;
}

int device_renew(void)
{
    CUdevice device;
    if (failed(cuDeviceGet(&device, 0), "cuDeviceGet") ||
        failed(cuDevicePrimaryCtxReset(device), "cuDevicePrimaryCtxReset"))
        return -1;
    cuDevicePrimaryCtxRelease(device);
    return device_open();
}

char *read_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return NULL;
    fseek(file, 0, SEEK_END);
    long length = ftell(file);
    rewind(file);
    char *text = malloc((size_t)length + 1);
    *size = text ? fread(text, 1, (size_t)length, file) : 0;
    if (text)
        text[*size] = 0;
    fclose(file);
    return text;
}

/* DIR/NAME.BUILD.ptx: DIR/NAME_second.BUILD.ptx. */
static char *second_unit(const char *path, size_t *size)
{
    char other[4096];
    const char *slash = strrchr(path, '/'), *dot = strchr(slash ? slash : path, '.');
    if (!dot)
        return NULL;
    snprintf(other, sizeof other, "%.*s_second%s", (int)(dot - path), path, dot);
    return read_file(other, size);
}

static int link_two(CUmodule *module, char *first, size_t first_size, char *second, size_t second_size, int level)
{
    char log[4096] = "";
    CUjit_option options[] = {CU_JIT_OPTIMIZATION_LEVEL, CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {(void *)(uintptr_t)level, log, (void *)(uintptr_t)sizeof log};
    CUlinkState state;
    void *image;
    size_t image_size;
    if (failed(cuLinkCreate(3, options, values, &state), "cuLinkCreate"))
        return -1;
    bool bad = failed(cuLinkAddData(state, CU_JIT_INPUT_PTX, first, first_size + 1, "first", 0, NULL, NULL),
                      "cuLinkAddData") ||
               failed(cuLinkAddData(state, CU_JIT_INPUT_PTX, second, second_size + 1, "second", 0, NULL, NULL),
                      "cuLinkAddData") ||
               failed(cuLinkComplete(state, &image, &image_size), "cuLinkComplete") ||
               failed(cuModuleLoadData(module, image), "cuModuleLoadData");
    if (bad)
        fprintf(stderr, "%s\n", log);
    cuLinkDestroy(state);
    return bad ? -1 : 0;
}

static int load_one(CUmodule *module, const char *text, int level)
{
    char log[4096] = "";
    CUjit_option options[] = {CU_JIT_OPTIMIZATION_LEVEL, CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {(void *)(uintptr_t)level, log, (void *)(uintptr_t)sizeof log};
    if (failed(cuModuleLoadDataEx(module, text, 3, options, values), "cuModuleLoadDataEx")) {
        fprintf(stderr, "%s\n", log);
        return -1;
    }
    return 0;
}

int device_load(CUmodule *module, const char *path, int level)
{
    size_t size, second_size;
    char *text = read_file(path, &size), *second = second_unit(path, &second_size);
    int status = -1;
    if (text && strstr(text, ", debug\n"))
        level = 0;
    if (!text)
        fprintf(stderr, "%s cannot be read\n", path);
    else if (second)
        status = link_two(module, text, size, second, second_size, level);
    else
        status = load_one(module, text, level);
    free(text);
    free(second);
    return status;
}

/* Waits for the launch, but not for ever. */
static CUresult wait_for_end(void)
{
    struct timespec pause = {0, 20000};
    time_t end = time(NULL) + LIMIT_SECONDS;
    CUresult result;
    while ((result = cuStreamQuery(NULL)) == CUDA_ERROR_NOT_READY) {
        if (time(NULL) > end)
            return CUDA_ERROR_LAUNCH_TIMEOUT;
        nanosleep(&pause, NULL);
    }
    return result == CUDA_SUCCESS ? cuCtxSynchronize() : result;
}

/* As in control.cu. */
struct by_value {
    unsigned add;
    float factor[3];
    unsigned char key[5];
    unsigned long long big;
    double real;
};

static CUresult launch(CUfunction function, const struct kernel *kernel, CUdeviceptr in, CUdeviceptr out)
{
    struct by_value v = {0xC0FFEE, {0.5f, -3.25f, 1e-3f}, {1, 200, 3, 77, 255}, 0x123456789ABCDEFull, -98765.5};
    signed char small = -5;
    short middle = -1234;
    void *parameters[] = {&in, &out, &v, &small, &middle};
    if (kernel->flags & RUN_COOPERATIVE)
        return cuLaunchCooperativeKernel(function, kernel->grid[0], kernel->grid[1], 1, kernel->block[0],
                                         kernel->block[1], 1, kernel->shared_bytes, NULL, parameters);
    return cuLaunchKernel(function, kernel->grid[0], kernel->grid[1], 1, kernel->block[0], kernel->block[1], 1,
                          kernel->shared_bytes, NULL, parameters, NULL);
}

static bool launch_and_wait(CUfunction function, const struct kernel *kernel, CUdeviceptr in, CUdeviceptr out)
{
    return failed(launch(function, kernel, in, out), "launch") || failed(wait_for_end(), "running");
}

/* A kernel prints to the process's standard output: it goes to a file for the time of the launch. */
static bool launch_captured(CUfunction function, const struct kernel *kernel, CUdeviceptr in, CUdeviceptr out,
                            char **text)
{
    char path[] = "/tmp/heddle-compiled-XXXXXX";
    int file = mkstemp(path), saved = dup(STDOUT_FILENO);
    size_t size;
    if (file < 0 || saved < 0)
        return true;
    fflush(stdout);
    dup2(file, STDOUT_FILENO);
    bool bad = launch_and_wait(function, kernel, in, out);
    fflush(stdout);
    dup2(saved, STDOUT_FILENO);
    close(saved);
    close(file);
    *text = read_file(path, &size);
    unlink(path);
    return bad || !*text;
}

int device_run(CUmodule module, const struct kernel *kernel, struct result *result)
{
    CUfunction function;
    CUdeviceptr in = 0, out = 0;
    void *input = malloc(kernel->in_bytes);
    result->out = malloc(kernel->out_bytes);
    result->text = NULL;
    fill_input(input, kernel);
    bool bad = failed(cuModuleGetFunction(&function, module, kernel->name), "cuModuleGetFunction") ||
               failed(cuMemAlloc(&in, kernel->in_bytes), "cuMemAlloc") ||
               failed(cuMemAlloc(&out, kernel->out_bytes), "cuMemAlloc") ||
               failed(cuMemcpyHtoD(in, input, kernel->in_bytes), "cuMemcpyHtoD") ||
               failed(cuMemsetD8(out, 0, kernel->out_bytes), "cuMemsetD8") ||
               (kernel->flags & RUN_PRINTS ? launch_captured(function, kernel, in, out, &result->text)
                                           : launch_and_wait(function, kernel, in, out)) ||
               failed(cuMemcpyDtoH(result->out, out, kernel->out_bytes), "cuMemcpyDtoH");
    if (in)
        cuMemFree(in);
    if (out)
        cuMemFree(out);
    free(input);
    return bad ? -1 : 0;
}

void result_free(struct result *result)
{
    free(result->out);
    free(result->text);
}
