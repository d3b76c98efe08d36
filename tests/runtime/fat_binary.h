/* A fat binary as nvcc makes it, by hand: PTX as plain text in an image, and the wrapper that is registered. For tests
 * of the runtime library that need no compiler but the host's. */
#ifndef RUNTIME_FAT_BINARY_H
#define RUNTIME_FAT_BINARY_H

#include <cuda.h>

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct image_head {
    uint32_t magic;
    uint16_t version, header_bytes;
    uint64_t bytes;
};
struct entry_head {
    uint16_t kind, unknown;
    uint32_t header_bytes;
    uint64_t padded_bytes;
    uint32_t packed_bytes, options;
    uint16_t minor, major;
    uint32_t architecture;
    uint8_t unused[8];
    uint64_t flags, unused2, text_bytes;
};
struct fat_wrapper {
    uint32_t magic, version;
    const void *image;
    const void *const *more;
};

enum { KIND_PTX = 1, KIND_ELF = 2 };
#define IMAGE_OF(name, the_kind, text)                                                                      \
    static const struct {                                                                                   \
        struct image_head head;                                                                             \
        struct entry_head entry;                                                                            \
        char data[(sizeof(text) + 7) / 8 * 8];                                                              \
    } name __attribute__((section(".nv_fatbin"), used, aligned(8))) = {                                     \
        {0xBA55ED50, 1, sizeof(struct image_head), sizeof(struct entry_head) + (sizeof(text) + 7) / 8 * 8}, \
        {.kind = the_kind,                                                                                  \
         .unknown = 0x101,                                                                                  \
         .header_bytes = sizeof(struct entry_head),                                                         \
         .padded_bytes = (sizeof(text) + 7) / 8 * 8,                                                        \
         .minor = 0,                                                                                        \
         .major = 6,                                                                                        \
         .architecture = 60},                                                                               \
        text}
#define WRAPPER_OF(name, version, image, more) \
    static const struct fat_wrapper name       \
        __attribute__((section(".nvFatBinSegment"), used)) = {0x466243B1, version, image, more}

/* What the tests use of the runtime. */
struct dim3 {
    unsigned int x, y, z;
};
#define ONE        ((struct dim3){1, 1, 1})
#define THREADS(n) ((struct dim3){n, 1, 1})

void **__cudaRegisterFatBinary(const void *wrapper);
void __cudaRegisterFatBinaryEnd(void **handle);
void __cudaUnregisterFatBinary(void **handle);
void __cudaRegisterFunction(void **handle, const void *host, const char *device, const char *name, int limit, void *tid,
                            void *bid, void *block, void *grid, int *warp);
void __cudaRegisterVar(void **handle, void *host, const char *device, const char *name, int is_extern, size_t bytes,
                       int is_constant, int is_global);
void __cudaRegisterManagedVar(void **handle, void **pointer, const char *device, const char *name, int is_extern,
                              size_t bytes, int is_constant, int is_global);
char __cudaInitModule(void **handle);
unsigned int __cudaPushCallConfiguration(struct dim3 grid, struct dim3 block, size_t shared_bytes, CUstream stream);
int __cudaPopCallConfiguration(struct dim3 *grid, struct dim3 *block, size_t *shared_bytes, void *stream);
int __cudaGetKernel(CUkernel *out, const void *host);
int __cudaLaunchKernel(CUkernel kernel, struct dim3 grid, struct dim3 block, void **params, size_t shared_bytes,
                       CUstream stream);
int __cudaLaunchKernel_ptsz(CUkernel kernel, struct dim3 grid, struct dim3 block, void **params, size_t shared_bytes,
                            CUstream stream);
int cudaLaunchKernel(const void *host, struct dim3 grid, struct dim3 block, void **params, size_t shared_bytes,
                     CUstream stream);
int cudaLaunchCooperativeKernel(const void *host, struct dim3 grid, struct dim3 block, void **params,
                                size_t shared_bytes, CUstream stream);
int cudaConfigureCall(struct dim3 grid, struct dim3 block, size_t shared_bytes, CUstream stream);
int cudaSetupArgument(const void *argument, size_t bytes, size_t offset);
int cudaLaunch(const void *host);
int cudaGetLastError(void);
int cudaPeekAtLastError(void);
const char *cudaGetErrorName(int error);
const char *cudaGetErrorString(int error);
int cudaMalloc(void **out, size_t bytes);
int cudaFree(void *pointer);
int cudaMemcpy(void *to, const void *from, size_t bytes, int kind);
int cudaMemcpyFromSymbol(void *to, const void *symbol, size_t bytes, size_t offset, int kind);
int cudaMemcpyToSymbol(const void *symbol, const void *from, size_t bytes, size_t offset, int kind);
int cudaGetSymbolAddress(void **out, const void *symbol);
int cudaDeviceSynchronize(void);
int cudaDeviceReset(void);
int cudaFuncGetAttributes(void *out, const void *host);
int cudaFuncSetAttribute(const void *host, int attribute, int value);
int cudaFuncGetName(const char **name, const void *host);
int cudaFuncGetParamInfo(const void *host, size_t index, size_t *offset, size_t *bytes);
int cudaGetFuncBySymbol(CUfunction *out, const void *host);
int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *host, int threads, size_t shared_bytes);
int cudaRuntimeGetVersion(int *version);

enum { HOST_TO_DEVICE = 1, DEVICE_TO_HOST = 2 };
enum {
    INVALID_VALUE = 1,
    INVALID_CONFIGURATION = 9,
    INVALID_SYMBOL = 13,
    MISSING_CONFIGURATION = 52,
    INVALID_DEVICE_FUNCTION = 98,
    NO_KERNEL_IMAGE = 209,
    INVALID_HANDLE = 400,
    ILLEGAL_ADDRESS = 700,
    LAUNCH_TIMEOUT = 702,
    TOO_LARGE = 720,
    NOT_SUPPORTED = 801
};

static inline bool since_cuda_13(void)
{
    int version = 0;
    cudaRuntimeGetVersion(&version);
    return version >= 13000;
}
/* An address that stands for no kernel, and a grid or block that is empty or too large. */
#define NO_FUNCTION (since_cuda_13() ? INVALID_HANDLE : INVALID_DEVICE_FUNCTION)
#define BAD_SHAPE   (since_cuda_13() ? INVALID_VALUE : INVALID_CONFIGURATION)

/* ------------------------------------------------------------- checks */

static int failures;

static inline void check_result(int got, int wanted, const char *call, int line)
{
    if (got == wanted)
        return;
    fprintf(stderr, "line %d: %s: %s (%d), expected %s (%d)\n", line, call, cudaGetErrorName(got), got,
            cudaGetErrorName(wanted), wanted);
    failures++;
}

static inline void check_true(bool holds, const char *text, int line)
{
    if (holds)
        return;
    fprintf(stderr, "line %d: does not hold: %s\n", line, text);
    failures++;
}

#define EXPECT(wanted, call) check_result((int)(call), wanted, #call, __LINE__)
#define OK(call)             EXPECT(0, call)
#define TRUE(condition)      check_true(!!(condition), #condition, __LINE__)

static inline int done(void)
{
    fprintf(stderr, failures ? "%d checks failed\n" : "all checks passed\n", failures);
    return failures != 0;
}

static inline void register_function(void **handle, const void *host, const char *name)
{
    __cudaRegisterFunction(handle, host, name, name, -1, NULL, NULL, NULL, NULL, NULL);
}

#define PTX_HEAD ".version 6.0\n.target sm_60\n.address_size 64\n"
/* where[tid] = value + base + tid, base a variable of the module */
#define PTX_FILL(base, linkage)                                                                        \
    ".visible .global .align 4 .u32 base = " #base ";\n" linkage ".global .align 4 .u32 unseen = 5;\n" \
    ".visible .entry fill(.param .u64 where, .param .u32 value)\n"                                     \
    "{\n"                                                                                              \
    " .reg .u32 %r<6>; .reg .u64 %d<4>;\n"                                                             \
    " ld.param.u64 %d0, [where]; ld.param.u32 %r0, [value];\n"                                         \
    " ld.global.u32 %r1, [base]; mov.u32 %r2, %tid.x;\n"                                               \
    " add.u32 %r3, %r0, %r1; add.u32 %r3, %r3, %r2;\n"                                                 \
    " mul.wide.u32 %d1, %r2, 4; add.u64 %d2, %d0, %d1;\n"                                              \
    " st.global.u32 [%d2], %r3;\n"                                                                     \
    " ret;\n"                                                                                          \
    "}\n"

#endif
