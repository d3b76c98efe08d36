/* Kernels as objects: attributes, in a structure that has grown over the years, names, parameters; names and texts of
 * errors. */
#include "fat_binary.h"

IMAGE_OF(image, KIND_PTX, PTX_HEAD PTX_FILL(100, ""));
WRAPPER_OF(wrapper, 1, &image, NULL);
static char fill, unregistered;

enum { BYTES_BEFORE_CLUSTERS = 3 * 8 + 7 * 4, GUARD = 0x5a };

int main(void)
{
    uint8_t attributes[256];
    const char *name = NULL;
    size_t offset = 9, bytes = 9;
    int version = 0, registers, threads;
    CUfunction f = NULL;
    void **handle = __cudaRegisterFatBinary(&wrapper);
    register_function(handle, &fill, "fill");
    OK(cudaRuntimeGetVersion(&version));
    memset(attributes, GUARD, sizeof attributes);
    OK(cudaFuncGetAttributes(attributes, &fill));
    memcpy(&threads, attributes + 24, sizeof threads);
    memcpy(&registers, attributes + 28, sizeof registers);
    TRUE(threads == 1024 && registers > 0 && registers < 64);
    TRUE(version / 1000 != 11 ||
         attributes[(BYTES_BEFORE_CLUSTERS + 7) / 8 * 8] == GUARD); /* a program of CUDA 11.0 has no more room */
    TRUE(version / 1000 == 11 || attributes[BYTES_BEFORE_CLUSTERS] != GUARD);
    EXPECT(NO_FUNCTION, cudaFuncGetAttributes(attributes, &unregistered));
    EXPECT(INVALID_VALUE, cudaFuncGetAttributes(NULL, &fill));
    EXPECT(INVALID_VALUE, cudaFuncSetAttribute(&fill, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 10 << 20));
    OK(cudaFuncSetAttribute(&fill, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 4 << 10));
    OK(cudaFuncGetName(&name, &fill));
    TRUE(name && !strcmp(name, "fill"));
    OK(cudaFuncGetParamInfo(&fill, 1, &offset, &bytes));
    TRUE(offset == 8 && bytes == 4);
    EXPECT(INVALID_VALUE, cudaFuncGetParamInfo(&fill, 2, &offset, &bytes));
    EXPECT(INVALID_DEVICE_FUNCTION, cudaGetFuncBySymbol(&f, &unregistered));
    OK(cudaGetFuncBySymbol(&f, &fill));
    OK(cuFuncGetName(&name, f));
    TRUE(name && !strcmp(name, "fill"));
    TRUE(!strcmp(cudaGetErrorName(0), "cudaSuccess") && !strcmp(cudaGetErrorString(0), "no error"));
    TRUE(!strcmp(cudaGetErrorName(700), "cudaErrorIllegalAddress") &&
         !strcmp(cudaGetErrorString(700), "an illegal memory access was encountered"));
    TRUE(!strcmp(cudaGetErrorString(9), "invalid configuration argument") &&
         !strcmp(cudaGetErrorName(4321), "unrecognized error code"));
    return done();
}
