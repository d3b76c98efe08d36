/* A program whose fat binary holds machine code and no PTX: where nvcc puts it, for `heddle run` to see beforehand
 * (machine_code_section.c), or in plain data, for cuModuleLoadData to refuse. */
#include "heddle/cuda.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct entry {
    uint16_t kind, unknown;
    uint32_t header_bytes;
    uint64_t payload_bytes;
    uint8_t rest[0x30];
    uint8_t payload[16];
};

struct image {
    uint32_t magic;
    uint16_t version, header_bytes;
    uint64_t size;
    struct entry entry;
};

#ifdef IN_SECTION
__attribute__((section(".nv_fatbin"), used))
#endif
static const struct image image = {
    0xBA55ED50, 1, 16, sizeof(struct entry), {2, 0x101, 0x40, 16, {0}, {0x7f, 'E', 'L', 'F'}},
};

int main(void)
{
    CUdevice device;
    CUcontext context;
    CUmodule module;
    if (cuInit(0) || cuDeviceGet(&device, 0) || cuDevicePrimaryCtxRetain(&context, device) || cuCtxSetCurrent(context))
        return 1;
    CUresult r = cuModuleLoadData(&module, &image);
    printf("cuModuleLoadData: %d\n", r);
    return r != CUDA_SUCCESS;
}
