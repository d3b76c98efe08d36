/* Does memory hold what was put there, by whatever copy or fill, and are ranges that do not exist refused? */
#include "check.h"

static void linear(void)
{
    CUdeviceptr a, b, base;
    size_t size = 0, pitch = 0;
    unsigned char in[256], out[256];
    for (int i = 0; i < 256; i++)
        in[i] = (unsigned char)i;
    OK(cuMemAlloc(&a, 256));
    OK(cuMemAlloc(&b, 256));
    OK(cuMemcpyHtoD(a, in, 256));
    OK(cuMemcpyDtoD(b + 16, a + 32, 200));
    OK(cuMemcpyDtoH(out, b + 16, 200));
    TRUE(!memcmp(out, in + 32, 200));
    OK(cuMemcpy((CUdeviceptr)(uintptr_t)out, a, 256)); /* unified addressing */
    TRUE(!memcmp(out, in, 256));
    OK(cuMemcpyHtoDAsync(a, in + 1, 255, NULL));
    OK(cuMemcpyDtoHAsync(out, a, 255, CU_STREAM_PER_THREAD));
    OK(cuStreamSynchronize(CU_STREAM_PER_THREAD));
    TRUE(!memcmp(out, in + 1, 255));
    OK(cuMemcpyHtoD(a, in, 0));
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD(8, in, 4));
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoH(out, 8, 4));
    OK(cuMemGetAddressRange(&base, &size, a + 100));
    TRUE(base == a && size >= 256);
    OK(cuMemFree(a));
    OK(cuMemFree(b));
    OK(cuMemAllocPitch(&a, &pitch, 100, 8, 4));
    TRUE(pitch >= 100 && pitch % 32 == 0);
    OK(cuMemFree(a));
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemAllocPitch(&a, &pitch, 100, 8, 3));
}

/* Real allocations are rounded up to pages; here their end is exact. */
static void past_the_end(void)
{
    CUdeviceptr a;
    char bytes[64] = {0};
    OK(cuMemAlloc(&a, 40));
    OK(cuMemcpyHtoD(a, bytes, 40));
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD(a, bytes, 41));
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoH(bytes, a + 8, 40));
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemsetD8(a, 0, 41));
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemsetD32(a, 0, (size_t)1 << 62));
    OK(cuMemFree(a));
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD(a, bytes, 4));
}

static void fills(void)
{
    CUdeviceptr a;
    unsigned char bytes[64];
    unsigned short halves[32];
    unsigned int words[16];
    OK(cuMemAlloc(&a, 64));
    OK(cuMemsetD8(a, 0xa5, 64));
    OK(cuMemcpyDtoH(bytes, a, 64));
    TRUE(bytes[0] == 0xa5 && bytes[63] == 0xa5);
    OK(cuMemsetD16(a + 2, 0x1234, 3));
    OK(cuMemcpyDtoH(halves, a, 64));
    TRUE(halves[0] == 0xa5a5 && halves[1] == 0x1234 && halves[3] == 0x1234 && halves[4] == 0xa5a5);
    OK(cuMemsetD32Async(a, 0xdeadbeef, 16, NULL));
    OK(cuMemcpyDtoH(words, a, 64));
    TRUE(words[0] == 0xdeadbeef && words[15] == 0xdeadbeef);
    OK(cuMemsetD2D8(a, 16, 0x11, 4, 3)); /* rows of 16, of which 4 bytes */
    OK(cuMemcpyDtoH(words, a, 64));
    TRUE(words[0] == 0x11111111 && words[1] == 0xdeadbeef && words[4] == 0x11111111 && words[8] == 0x11111111 &&
         words[12] == 0xdeadbeef);
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemsetD32(a + 2, 0, 1)); /* misaligned */
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemsetD8(16, 0, 1));
    OK(cuMemFree(a));
}

static void two_dimensions(void)
{
    enum { W = 20, H = 5, PITCH = 64 };
    unsigned char in[H][W], out[H][W];
    CUdeviceptr a;
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++)
            in[y][x] = (unsigned char)(y * W + x);
    OK(cuMemAlloc(&a, PITCH * H));
    OK(cuMemsetD8(a, 0, PITCH * H));
    CUDA_MEMCPY2D up = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                        .srcHost = in,
                        .srcPitch = W,
                        .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                        .dstDevice = a,
                        .dstPitch = PITCH,
                        .WidthInBytes = W,
                        .Height = H};
    OK(cuMemcpy2D(&up));
    memset(out, 0, sizeof out);
    CUDA_MEMCPY2D down = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                          .srcDevice = a,
                          .srcPitch = PITCH,
                          .srcXInBytes = 3,
                          .srcY = 1,
                          .dstMemoryType = CU_MEMORYTYPE_HOST,
                          .dstHost = out,
                          .dstPitch = W,
                          .dstXInBytes = 1,
                          .dstY = 2,
                          .WidthInBytes = 10,
                          .Height = 3};
    OK(cuMemcpy2DAsync(&down, NULL));
    OK(cuCtxSynchronize());
    TRUE(!memcmp(&out[2][1], &in[1][3], 10) && !memcmp(&out[4][1], &in[3][3], 10) && out[2][0] == 0 && out[1][1] == 0 &&
         out[2][11] == 0);
    up.dstPitch = W - 1; /* rows would overlap */
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemcpy2D(&up));
    up.dstPitch = PITCH;
    up.dstMemoryType = (CUmemorytype)77;
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemcpy2D(&up));
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemcpy2D(NULL));
    OK(cuMemFree(a));
}

static void three_dimensions(void)
{
    enum { W = 8, H = 4, D = 3 };
    unsigned char in[D][H][W], out[D][H][W];
    CUdeviceptr a;
    for (int i = 0; i < D * H * W; i++)
        ((unsigned char *)in)[i] = (unsigned char)(i * 7);
    OK(cuMemAlloc(&a, 32 * H * D));
    CUDA_MEMCPY3D up = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                        .srcHost = in,
                        .srcPitch = W,
                        .srcHeight = H,
                        .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                        .dstDevice = a,
                        .dstPitch = 32,
                        .dstHeight = H,
                        .WidthInBytes = W,
                        .Height = H,
                        .Depth = D};
    OK(cuMemcpy3D(&up));
    memset(out, 0xff, sizeof out);
    CUDA_MEMCPY3D down = {.srcMemoryType = CU_MEMORYTYPE_UNIFIED,
                          .srcDevice = a,
                          .srcPitch = 32,
                          .srcHeight = H,
                          .srcXInBytes = 2,
                          .srcY = 1,
                          .srcZ = 1,
                          .dstMemoryType = CU_MEMORYTYPE_HOST,
                          .dstHost = out,
                          .dstPitch = W,
                          .dstHeight = H,
                          .dstZ = 1,
                          .WidthInBytes = 4,
                          .Height = 2,
                          .Depth = 2};
    OK(cuMemcpy3D(&down));
    TRUE(!memcmp(out[1][0], &in[1][1][2], 4) && !memcmp(out[2][1], &in[2][2][2], 4) && out[0][0][0] == 0xff &&
         out[1][2][0] == 0xff);
    OK(cuMemFree(a));
}

static void host_memory(void)
{
    char *p = NULL, *mine = malloc(3 << 12);
    CUdeviceptr d = 0;
    unsigned int flags = 0, type = 0, managed = 7;
    void *host = NULL;
    OK(cuMemHostAlloc((void **)&p, 100, CU_MEMHOSTALLOC_DEVICEMAP));
    strcpy(p, "hello");
    OK(cuMemHostGetDevicePointer(&d, p, 0));
    OK(cuMemHostGetFlags(&flags, p));
    TRUE(flags & CU_MEMHOSTALLOC_DEVICEMAP);
    OK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, d));
    TRUE(type == CU_MEMORYTYPE_HOST);
    OK(cuMemFreeHost(p));
    OK(cuMemAllocHost((void **)&p, 100));
    OK(cuMemFreeHost(p));
    char *page = (char *)(((uintptr_t)mine + 4095) & ~(uintptr_t)4095);
    OK(cuMemHostRegister(page, 4096, CU_MEMHOSTREGISTER_DEVICEMAP));
    EXPECT(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, cuMemHostRegister(page, 4096, CU_MEMHOSTREGISTER_DEVICEMAP));
    for (int bits = 40; bits <= 60; bits++) /* nobody has that much: there are gaps, or the addresses end */
        TRUE(cuMemHostRegister(page + 4096, 1ull << bits, 0) != CUDA_SUCCESS);
    OK(cuMemHostGetDevicePointer(&d, page, 0));
    OK(cuMemsetD8(d, 0x5a, 10));
    OK(cuCtxSynchronize());
    TRUE(page[9] == 0x5a);
    OK(cuMemHostGetFlags(&flags, page));
    TRUE(flags == CU_MEMHOSTREGISTER_DEVICEMAP);
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemHostUnregister(page + 8));
    OK(cuMemHostUnregister(page));
    EXPECT(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, cuMemHostUnregister(page));
    free(mine);
    OK(cuMemHostAlloc((void **)&p, 100, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_WRITECOMBINED));
    OK(cuMemHostGetFlags(&flags, p));
    TRUE(flags == (CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_WRITECOMBINED));
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemHostRegister(p, 100, 0));
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemHostUnregister(p));
    OK(cuMemFreeHost(p));
    OK(cuMemAllocManaged(&d, 64, CU_MEM_ATTACH_GLOBAL));
    OK(cuMemsetD8(d, 3, 64));
    OK(cuCtxSynchronize());
    TRUE(((unsigned char *)(uintptr_t)d)[63] == 3);
    CUpointer_attribute wanted[] = {CU_POINTER_ATTRIBUTE_IS_MANAGED, CU_POINTER_ATTRIBUTE_HOST_POINTER};
    void *got[] = {&managed, &host};
    OK(cuPointerGetAttributes(2, wanted, got, d));
    TRUE(managed == 1 && host == (void *)(uintptr_t)d);
    OK(cuMemFree(d));
    int local = 0;
    EXPECT(CUDA_ERROR_INVALID_VALUE,
           cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)(uintptr_t)&local));
    OK(cuPointerGetAttributes(1, wanted, got, (CUdeviceptr)(uintptr_t)&local));
    TRUE(managed == 0);
}

static int range_attribute(CUmem_range_attribute attribute, CUdeviceptr address, size_t bytes)
{
    int value = 99;
    OK(cuMemRangeGetAttribute(&value, sizeof value, attribute, address, bytes));
    return value;
}

/* What was said of managed memory can be asked for, of a range of which all was said the same. */
static void advice(void)
{
    const size_t page = 1 << 16;
    CUmemLocation device = {CU_MEM_LOCATION_TYPE_DEVICE, 0}, host = {CU_MEM_LOCATION_TYPE_HOST, 0},
                  other = {CU_MEM_LOCATION_TYPE_DEVICE, 99};
    CUdeviceptr d = 0;
    int by[2] = {9, 9};
    MUST(cuMemAllocManaged(&d, 4 * page, CU_MEM_ATTACH_GLOBAL));
    TRUE(range_attribute(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, d, 4 * page) == 0);
    TRUE(range_attribute(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, d, 4 * page) == CU_DEVICE_INVALID);
    OK(cuMemAdvise(d, 4 * page, CU_MEM_ADVISE_SET_READ_MOSTLY, device));
    OK(cuMemAdvise(d, 4 * page, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, host));
    OK(cuMemAdvise(d, 4 * page, CU_MEM_ADVISE_SET_ACCESSED_BY, device));
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemAdvise(d, 4 * page, CU_MEM_ADVISE_SET_ACCESSED_BY, other));
    OK(cuMemPrefetchAsync(d + page, page, device, 0, NULL));
    EXPECT(CUDA_ERROR_INVALID_DEVICE, cuMemPrefetchAsync(d, page, other, 0, NULL));
    TRUE(range_attribute(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, d, 4 * page) == 1);
    TRUE(range_attribute(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, d + page, page) == CU_DEVICE_CPU);
    TRUE(range_attribute(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE, d, page) == CU_MEM_LOCATION_TYPE_HOST);
    TRUE(range_attribute(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, d + page, page) == 0);
    TRUE(range_attribute(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, d, 2 * page) == CU_DEVICE_INVALID);
    OK(cuMemRangeGetAttribute(by, sizeof by, CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, d, page));
    TRUE(by[0] == 0 && by[1] == CU_DEVICE_INVALID);
    OK(cuMemAdvise(d, 4 * page, CU_MEM_ADVISE_UNSET_READ_MOSTLY, device));
    TRUE(range_attribute(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, d, 4 * page) == 0);
    OK(cuMemFree(d));
    MUST(cuMemAllocManaged(&d, 4 * page, CU_MEM_ATTACH_GLOBAL));
    TRUE(range_attribute(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, d, 4 * page) == CU_DEVICE_INVALID);
    OK(cuMemFree(d));
}

static void pools(void)
{
    CUmemoryPool pool = NULL;
    CUdeviceptr a;
    cuuint64_t used = 0;
    OK(cuDeviceGetDefaultMemPool(&pool, 0));
    OK(cuMemAllocAsync(&a, 1000, NULL));
    OK(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used));
    TRUE(used >= 1000);
    OK(cuMemsetD8Async(a, 1, 1000, NULL));
    OK(cuMemFreeAsync(a, NULL));
    OK(cuStreamSynchronize(NULL));
    OK(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used));
    TRUE(used == 0);
}

static void virtual_memory(void)
{
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED, .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
    CUmemAccessDesc access = {.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0},
                              .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUmemGenericAllocationHandle first = 0, second = 0;
    CUdeviceptr va = 0;
    size_t grain = 0;
    unsigned int word = 0;
    OK(cuMemGetAllocationGranularity(&grain, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    TRUE(grain >= 4096);
    OK(cuMemAddressReserve(&va, 4 * grain, 0, 0, 0));
    OK(cuMemCreate(&first, grain, &prop, 0));
    OK(cuMemCreate(&second, grain, &prop, 0));
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemCreate(&first, grain + 1, &prop, 0));
    OK(cuMemMap(va, grain, 0, first, 0));
    OK(cuMemMap(va + grain, grain, 0, second, 0));
    OK(cuMemMap(va + 2 * grain, grain, 0, first, 0)); /* the same memory again */
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemMap(va, grain, 0, second, 0));
    OK(cuMemSetAccess(va, 3 * grain, &access, 1));
    OK(cuMemsetD32(va, 0x01020304, grain / 2)); /* across two mappings */
    OK(cuMemcpyDtoH(&word, va + 2 * grain - 4, 4));
    TRUE(word == 0x01020304);
    OK(cuMemsetD32(va + 2 * grain, 77, 1));
    OK(cuMemcpyDtoH(&word, va, 4));
    TRUE(word == 77);
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoH(&word, va + 3 * grain, 4));
    OK(cuMemUnmap(va, 3 * grain));
    OK(cuMemRelease(first));
    OK(cuMemRelease(second));
    OK(cuMemAddressFree(va, 4 * grain));
}

int main(void)
{
    CUcontext ctx = new_context();
    linear();
    fills();
    two_dimensions();
    three_dimensions();
    host_memory();
    advice();
    pools();
    virtual_memory();
    if (on_heddle())
        past_the_end();
    OK(cuCtxDestroy(ctx));
    return done();
}
