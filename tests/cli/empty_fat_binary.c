/* A program with the fat binary of no kernel, as nvcc links it to host code. */
#include "heddle/cuda.h"

#include <stdint.h>

struct image {
    uint32_t magic;
    uint16_t version, header_bytes;
    uint64_t size;
};

__attribute__((section(".nv_fatbin"), used)) static const struct image image = {0xBA55ED50, 1, sizeof image, 0};

int main(void) { return cuInit(0) != CUDA_SUCCESS; }
