/* The programs of random machines as a program that uses CUDA, so that what a random machine found can be repeated:
 *   heddle run -m MACHINE --set ... machine_programs NAME... */
#include "programs.h"

#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failed(CUresult result, const char *what)
{
    const char *text = NULL;
    if (result == CUDA_SUCCESS)
        return 0;
    cuGetErrorString(result, &text);
    fprintf(stderr, "machine_programs: %s: %s\n", what, text ? text : "an unknown error");
    return 1;
}

static int run(CUmodule module, const struct program *p)
{
    static uint32_t words[BUFFER_WORDS];
    CUfunction kernel;
    CUdeviceptr buffer;
    uint32_t sum = 0;
    memset(words, 0, sizeof words);
    for (uint32_t i = 0; i < INPUT_WORDS; i++)
        words[i] = programs_input(i);
    if (failed(cuModuleGetFunction(&kernel, module, p->name), p->name) ||
        failed(cuMemAlloc(&buffer, sizeof words), "memory") ||
        failed(cuMemcpyHtoD(buffer, words, sizeof words), "copy to the device") ||
        failed(cuLaunchKernel(kernel, p->blocks, 1, 1, p->threads, 1, 1, 0, NULL, (void *[]){&buffer}, NULL),
               p->name) ||
        failed(cuCtxSynchronize(), p->name) || failed(cuMemcpyDtoH(words, buffer, sizeof words), "copy to the host") ||
        failed(cuMemFree(buffer), "memory"))
        return 1;
    for (uint32_t i = INPUT_WORDS; i < INPUT_WORDS + OUTPUT_WORDS; i++)
        sum = sum * 31 + words[i];
    printf("%s: %08x\n", p->name, sum);
    return 0;
}

int main(int argc, char **argv)
{
    CUdevice device;
    CUcontext context;
    CUmodule module;
    if (failed(cuInit(0), "start") || failed(cuDeviceGet(&device, 0), "device") ||
        failed(cuCtxCreate(&context, 0, device), "context") ||
        failed(cuModuleLoadData(&module, programs_ptx), "module"))
        return 1;
    for (int i = 1; i < argc; i++) {
        uint32_t number = 0;
        while (number < PROGRAMS && strcmp(programs[number].name, argv[i]))
            number++;
        if (number == PROGRAMS) {
            fprintf(stderr, "machine_programs: there is no program '%s'\n", argv[i]);
            return 2;
        }
        if (run(module, &programs[number]))
            return 1;
    }
    return failed(cuCtxDestroy(context), "context");
}
