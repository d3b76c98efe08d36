/* Does cuGetProcAddress give the function that a name meant in a version of CUDA? */
#include "check.h"

typedef CUresult create_v2(CUcontext *ctx, unsigned int flags, CUdevice dev);

int main(void)
{
    void *a = NULL, *b = NULL, *newest = NULL;
    CUdriverProcAddressQueryResult status;
    int version = 0;
    MUST(cuInit(0));
    OK(cuDriverGetVersion(&version));
    TRUE(version >= 12000);
    OK(cuGetProcAddress("cuMemAlloc", &a, 12000, CU_GET_PROC_ADDRESS_DEFAULT, &status));
    TRUE(a == (void *)cuMemAlloc && status == CU_GET_PROC_ADDRESS_SUCCESS);
    OK(cuGetProcAddress("cuLaunchKernel", &a, 12000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, &status));
    TRUE(a && status == CU_GET_PROC_ADDRESS_SUCCESS);
    OK(cuGetProcAddress("cuNoSuchThing", &a, 12000, CU_GET_PROC_ADDRESS_DEFAULT, &status));
    TRUE(a == NULL && status == CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
    OK(cuGetProcAddress("cuLibraryLoadData", &a, 11000, CU_GET_PROC_ADDRESS_DEFAULT, &status));
    TRUE(a == NULL && status == CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
    OK(cuGetProcAddress("cuCtxCreate", &a, 11000, CU_GET_PROC_ADDRESS_DEFAULT, &status));
    OK(cuGetProcAddress("cuCtxCreate", &b, 11040, CU_GET_PROC_ADDRESS_DEFAULT, &status));
    OK(cuGetProcAddress("cuCtxCreate", &newest, version < CUDA_VERSION ? version : CUDA_VERSION,
                        CU_GET_PROC_ADDRESS_DEFAULT, &status));
    TRUE(a && b && newest && a != b);
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuGetProcAddress("cuInit", &a, 99000, CU_GET_PROC_ADDRESS_DEFAULT, &status));
    if (on_heddle()) /* other drivers may read through the NULL */
        EXPECT(CUDA_ERROR_INVALID_VALUE, cuGetProcAddress(NULL, &a, 12000, CU_GET_PROC_ADDRESS_DEFAULT, &status));
    /* The old form takes no parameters besides flags. */
    CUcontext ctx = NULL;
    OK(cuGetProcAddress("cuCtxCreate", &a, 11000, CU_GET_PROC_ADDRESS_DEFAULT, &status));
    OK(((create_v2 *)(uintptr_t)a)(&ctx, 0, 0));
    TRUE(ctx != NULL);
    OK(cuCtxDestroy(ctx));
    return done();
}
