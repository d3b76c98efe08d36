/* Are wrong arguments answered with an error code, and never with a crash? */
#include "check.h"

static void before_init(void)
{
    CUdevice dev;
    CUdeviceptr p;
    CUcontext ctx;
    EXPECT(CUDA_ERROR_NOT_INITIALIZED, cuDeviceGet(&dev, 0));
    EXPECT(CUDA_ERROR_NOT_INITIALIZED, cuMemAlloc(&p, 16));
    EXPECT(CUDA_ERROR_NOT_INITIALIZED, cuCtxGetCurrent(&ctx));
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuInit(1));
}

static void without_context(void)
{
    CUdeviceptr p;
    CUmodule m;
    CUstream s;
    CUcontext ctx = (CUcontext)1;
    EXPECT(CUDA_ERROR_INVALID_CONTEXT, cuMemAlloc(&p, 16));
    EXPECT(CUDA_ERROR_INVALID_CONTEXT, cuModuleLoadData(&m, PTX_HEAD));
    EXPECT(CUDA_ERROR_INVALID_CONTEXT, cuStreamCreate(&s, 0));
    EXPECT(CUDA_ERROR_INVALID_CONTEXT, cuCtxSynchronize());
    EXPECT(CUDA_ERROR_INVALID_CONTEXT, cuCtxPopCurrent(&ctx));
    OK(cuCtxGetCurrent(&ctx));
    TRUE(ctx == NULL);
}

static void devices(void)
{
    int count = 0, value = 0;
    CUdevice dev;
    char name[64];
    size_t bytes = 0;
    CUuuid uuid;
    OK(cuDeviceGetCount(&count));
    TRUE(count >= 1);
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuDeviceGetCount(NULL));
    EXPECT(CUDA_ERROR_INVALID_DEVICE, cuDeviceGet(&dev, count));
    EXPECT(CUDA_ERROR_INVALID_DEVICE, cuDeviceGet(&dev, -1));
    OK(cuDeviceGet(&dev, 0));
    OK(cuDeviceGetName(name, sizeof name, dev));
    TRUE(name[0]);
    OK(cuDeviceTotalMem(&bytes, dev));
    TRUE(bytes > 1 << 20);
    OK(cuDeviceGetUuid(&uuid, dev));
    OK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, dev));
    TRUE(value == 32);
    OK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, dev));
    TRUE(value == 1024);
    OK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, dev));
    TRUE(value == 1);
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuDeviceGetAttribute(&value, (CUdevice_attribute)-3, dev));
    EXPECT(CUDA_ERROR_INVALID_DEVICE, cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 77));
}

static void values(void)
{
    CUdeviceptr p = 0;
    CUmodule m = NULL;
    CUfunction f;
    CUevent e;
    float ms;
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemAlloc(NULL, 16));
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemAlloc(&p, 0));
    EXPECT(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc(&p, (size_t)1 << 50));
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemFree(12345));
    OK(cuMemFree(0));
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuModuleLoadData(NULL, PTX_HEAD));
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuModuleLoadData(&m, NULL));
    EXPECT(CUDA_ERROR_FILE_NOT_FOUND, cuModuleLoad(&m, "/no/such/file.ptx"));
    OK(cuModuleLoadData(&m, PTX_HEAD PTX_RAMP));
    EXPECT(CUDA_ERROR_NOT_FOUND, cuModuleGetFunction(&f, m, "nothing"));
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuModuleGetFunction(&f, m, NULL));
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuEventCreate(NULL, 0));
    OK(cuEventCreate(&e, 0));
    EXPECT(CUDA_ERROR_INVALID_HANDLE, cuEventElapsedTime(&ms, e, e)); /* not recorded */
    OK(cuEventDestroy(e));
    OK(cuModuleUnload(m));
}

/* A real driver reads a handle it is given, and may crash on an invented one. */
static void invented_handles(void)
{
    char bytes[256] = {0};
    CUdeviceptr p;
    size_t n;
    int value;
    OK(cuMemAlloc(&p, 64));
    CUstream s = (CUstream)bytes;
    EXPECT(CUDA_ERROR_INVALID_HANDLE, cuStreamSynchronize(s));
    EXPECT(CUDA_ERROR_INVALID_HANDLE, cuStreamDestroy(s));
    EXPECT(CUDA_ERROR_INVALID_HANDLE, cuStreamDestroy((CUstream)(uintptr_t)0x123456789));
    EXPECT(CUDA_ERROR_INVALID_HANDLE, cuEventSynchronize((CUevent)bytes));
    EXPECT(CUDA_ERROR_INVALID_HANDLE, cuModuleUnload((CUmodule)bytes));
    EXPECT(CUDA_ERROR_INVALID_HANDLE, cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, (CUfunction)bytes));
    EXPECT(CUDA_ERROR_INVALID_HANDLE, cuLaunchKernel((CUfunction)bytes, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    EXPECT(CUDA_ERROR_INVALID_HANDLE, cuArrayDestroy((CUarray)bytes));
    EXPECT(CUDA_ERROR_INVALID_HANDLE, cuLinkDestroy((CUlinkState)bytes));
    EXPECT(CUDA_ERROR_INVALID_HANDLE, cuLibraryUnload((CUlibrary)bytes));
    EXPECT(CUDA_ERROR_INVALID_CONTEXT, cuCtxSetCurrent((CUcontext)bytes));
    EXPECT(CUDA_ERROR_INVALID_CONTEXT, cuCtxDestroy((CUcontext)bytes));
    EXPECT(CUDA_ERROR_INVALID_HANDLE, cuModuleGetGlobal(&p, &n, (CUmodule)bytes, "x"));
    EXPECT(CUDA_ERROR_INVALID_HANDLE, cuMemcpyHtoDAsync(p, bytes, 4, s));
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuTexObjectDestroy(99));
    CUevent e;
    OK(cuEventCreate(&e, 0));
    EXPECT(CUDA_ERROR_INVALID_HANDLE, cuStreamSynchronize((CUstream)e)); /* of another kind */
    OK(cuEventDestroy(e));
    EXPECT(CUDA_ERROR_INVALID_HANDLE, cuEventDestroy(e)); /* twice */
    OK(cuMemFree(p));
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemFree(p));
}

static void names(void)
{
    const char *text = NULL;
    OK(cuGetErrorName(CUDA_ERROR_ILLEGAL_ADDRESS, &text));
    TRUE(text && !strcmp(text, "CUDA_ERROR_ILLEGAL_ADDRESS"));
    OK(cuGetErrorString(CUDA_ERROR_OUT_OF_MEMORY, &text));
    TRUE(text && !strcmp(text, "out of memory"));
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuGetErrorName((CUresult)123456, &text));
    TRUE(text == NULL);
}

int main(void)
{
    before_init();
    MUST(cuInit(0));
    OK(cuInit(0));
    without_context();
    devices();
    names();
    CUcontext ctx = new_context();
    values();
    if (on_heddle())
        invented_handles();
    OK(cuCtxDestroy(ctx));
    return done();
}
