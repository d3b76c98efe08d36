/* Texture and surface references, as code compiled by CUDA 11 and before uses them: registered with the fat binary,
 * described by a variable of the host, bound to memory or arrays. */
#include "fat_binary.h"

#define STORE_F " mul.wide.u32 %d1, %r0, 4; add.u64 %d2, %d0, %d1; st.global.f32 [%d2], %f0; ret;\n}\n"
#define FETCH(name, reference)                                                                             \
    ".visible .entry " name "(.param .u64 out)\n{\n .reg .u32 %r<4>; .reg .u64 %d<4>; .reg .f32 %f<8>;\n " \
    "ld.param.u64 %d0, [out]; mov.u32 %r0, %tid.x;\n"                                                      \
    " tex.1d.v4.f32.s32 {%f0, %f1, %f2, %f3}, [" reference ", {%r0}];\n" STORE_F

IMAGE_OF(image, KIND_PTX,
         PTX_HEAD
         ".global .texref numbers;\n.global .texref fractions;\n.global .texref bytes;\n.global .texref flat;\n.global "
         ".surfref board;\n" FETCH("read_numbers", "numbers") FETCH(
             "read_fractions",
             "fractions") ".visible .entry read_bytes(.param .u64 out)\n{\n .reg .u32 %r<8>; .reg .u64 %d<4>;\n "
                          "ld.param.u64 %d0, [out]; mov.u32 %r0, %tid.x;\n"
                          " tex.1d.v4.u32.s32 {%r1, %r2, %r3, %r4}, [bytes, {%r0}];\n mul.wide.u32 %d1, %r0, 4; "
                          "add.u64 %d2, %d0, %d1; st.global.u32 [%d2], %r2; ret;\n}\n"
                          ".visible .entry read_flat(.param .u64 out, .param .f32 x, .param .f32 y, .param .f32 "
                          "step)\n{\n .reg .u32 %r<4>; .reg .u64 %d<4>; .reg .f32 %f<12>;\n"
                          " ld.param.u64 %d0, [out]; ld.param.f32 %f4, [x]; ld.param.f32 %f5, [y]; ld.param.f32 %f6, "
                          "[step]; mov.u32 %r0, %tid.x;\n"
                          " cvt.rn.f32.u32 %f7, %r0; fma.rn.f32 %f4, %f7, %f6, %f4;\n tex.2d.v4.f32.f32 {%f0, %f1, "
                          "%f2, %f3}, [flat, {%f4, %f5}];\n" STORE_F
                          ".visible .entry write_board(.param .u32 value)\n{\n .reg .u32 %r<6>;\n ld.param.u32 %r0, "
                          "[value]; mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 2; mov.u32 %r3, 1; add.u32 %r0, %r0, %r1;\n"
                          " sust.b.2d.b32.trap [board, {%r2, %r3}], {%r0}; ret;\n}\n");
WRAPPER_OF(wrapper, 1, &image, NULL);

/* The layout that compiled code has. */
struct channels {
    int x, y, z, w, kind;
};
struct texture_reference {
    int normalized, filter, address[3];
    struct channels channels;
    int srgb;
    unsigned int anisotropy;
    int mip_filter;
    float bias, least, most;
    int trilinear, reserved[14];
};
struct surface_reference {
    struct channels channels;
};
enum { SIGNED, UNSIGNED, FLOAT };
enum { WRAP, CLAMP, MIRROR, BORDER };
enum { INVALID_TEXTURE = 18, INVALID_BINDING = 19, INVALID_CHANNELS = 20, INVALID_FILTER = 26, INVALID_SURFACE = 37 };

void __cudaRegisterTexture(void **handle, const void *host, const void **device, const char *name, int dimensions,
                           int normalized, int is_extern);
void __cudaRegisterSurface(void **handle, const void *host, const void **device, const char *name, int dimensions,
                           int is_extern);
int cudaBindTexture(size_t *offset, const void *reference, const void *p, const struct channels *channels,
                    size_t bytes);
int cudaBindTexture2D(size_t *offset, const void *reference, const void *p, const struct channels *channels,
                      size_t width, size_t height, size_t pitch);
int cudaBindTextureToArray(const void *reference, CUarray array, const struct channels *channels);
int cudaUnbindTexture(const void *reference);
int cudaGetTextureAlignmentOffset(size_t *offset, const void *reference);
int cudaGetTextureReference(const void **out, const void *symbol);
int cudaBindSurfaceToArray(const void *reference, CUarray array, const struct channels *channels);
int cudaGetSurfaceReference(const void **out, const void *symbol);
int cudaMallocArray(CUarray *out, const struct channels *channels, size_t width, size_t height, unsigned int flags);
int cudaFreeArray(CUarray array);
int cudaMemcpyToArray(CUarray to, size_t x, size_t y, const void *from, size_t bytes, int kind);
int cudaMemcpyFromArray(void *to, CUarray from, size_t x, size_t y, size_t bytes, int kind);
int cudaMallocPitch(void **out, size_t *pitch, size_t width, size_t height);
int cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height, int kind);

static struct texture_reference numbers, fractions, bytes, flat, stranger;
static struct surface_reference board;
static char read_numbers, read_fractions, read_bytes, read_flat, write_board;
static const struct channels one_float = {32, 0, 0, 0, FLOAT}, one_byte = {8, 0, 0, 0, UNSIGNED},
                             four_bytes = {8, 8, 8, 8, UNSIGNED}, odd = {8, 16, 0, 0, UNSIGNED};
enum { DEFAULT_SIZE = 0x7fffffff }; /* programs that do not give a size ask for far more than there is */

static void **register_all(void)
{
    void **handle = __cudaRegisterFatBinary(&wrapper);
    register_function(handle, &read_numbers, "read_numbers");
    register_function(handle, &read_fractions, "read_fractions");
    register_function(handle, &read_bytes, "read_bytes");
    register_function(handle, &read_flat, "read_flat");
    register_function(handle, &write_board, "write_board");
    __cudaRegisterTexture(handle, &numbers, NULL, "numbers", 1, 0, 0);
    __cudaRegisterTexture(handle, &fractions, NULL, "fractions", 1, 1, 0);
    __cudaRegisterTexture(handle, &bytes, NULL, "bytes", 1, 0, 0);
    __cudaRegisterTexture(handle, &flat, NULL, "flat", 2, 0, 0);
    __cudaRegisterSurface(handle, &board, NULL, "board", 2, 0);
    return handle;
}

/* Runs a kernel of 4 threads that writes 4 words. */
static void run(const void *kernel, void *out, float x, float y, float step)
{
    void *device = NULL, *params[] = {&device, &x, &y, &step};
    OK(cudaMalloc(&device, 16));
    OK(cudaLaunchKernel(kernel, ONE, THREADS(4), params, 0, NULL));
    OK(cudaMemcpy(out, device, 16, DEVICE_TO_HOST));
    OK(cudaFree(device));
}

static void linear_memory(void)
{
    float in[256], got[4], *device = NULL;
    size_t offset = 99;
    const void *same = NULL;
    for (int i = 0; i < 256; i++)
        in[i] = (float)i * 1.5f;
    OK(cudaMalloc((void **)&device, sizeof in));
    OK(cudaMemcpy(device, in, sizeof in, HOST_TO_DEVICE));
    OK(cudaBindTexture(NULL, &numbers, device, &one_float, DEFAULT_SIZE));
    run(&read_numbers, got, 0, 0, 0);
    TRUE(!memcmp(got, in, sizeof got));
    EXPECT(INVALID_VALUE,
           cudaBindTexture(NULL, &numbers, device + 3, &one_float, DEFAULT_SIZE)); /* it must say where texel 0 is */
    OK(cudaBindTexture(&offset, &numbers, device + 3, &one_float, 400));
    TRUE(offset == 12);
    OK(cudaGetTextureAlignmentOffset(&offset, &numbers));
    TRUE(offset == 12);
    run(&read_numbers, got, 0, 0, 0);
    TRUE(got[3] == in[3]);
    OK(cudaBindTexture(&offset, &numbers, device + 128, &one_float, 512));
    TRUE(offset == 0);
    run(&read_numbers, got, 0, 0, 0);
    TRUE(got[0] == in[128] && got[3] == in[131]);
    OK(cudaGetTextureReference(&same, &numbers));
    TRUE(same == &numbers);
    OK(cudaUnbindTexture(&numbers));
    EXPECT(INVALID_BINDING, cudaGetTextureAlignmentOffset(&offset, &numbers));
    OK(cudaFree(device));
}

static void integers(void)
{
    unsigned char in[64];
    unsigned int whole[4];
    float got[4], *other = NULL;
    void *device = NULL;
    for (int i = 0; i < 64; i++)
        in[i] = (unsigned char)(255 - i);
    OK(cudaMalloc(&device, sizeof in));
    OK(cudaMemcpy(device, in, sizeof in, HOST_TO_DEVICE));
    OK(cudaBindTexture(NULL, &fractions, device, &one_byte, sizeof in));
    run(&read_fractions, got, 0, 0, 0);
    TRUE(got[0] == 1 && got[3] > 251.9f / 255 && got[3] < 252.1f / 255);
    OK(cudaBindTexture(NULL, &bytes, device, &four_bytes, sizeof in));
    run(&read_bytes, whole, 0, 0, 0); /* the second channel */
    TRUE(whole[0] == 254 && whole[1] == 250 && whole[3] == 242);
    EXPECT(INVALID_CHANNELS, cudaBindTexture(NULL, &bytes, device, &odd, sizeof in));
    bytes.filter = 1;
    EXPECT(INVALID_FILTER, cudaBindTexture(NULL, &bytes, device, &one_byte, sizeof in));
    EXPECT(INVALID_TEXTURE, cudaBindTexture(NULL, &stranger, device, &one_byte, sizeof in));
    EXPECT(INVALID_TEXTURE, cudaUnbindTexture(&stranger));
    EXPECT(INVALID_VALUE, cudaBindTexture(NULL, &fractions, other, &one_byte, sizeof in));
    OK(cudaFree(device));
}

static void two_dimensions(void)
{
    float in[4][8], got[4];
    char *device = NULL;
    size_t pitch = 0, offset = 1;
    CUarray array;
    for (int i = 0; i < 32; i++)
        in[i / 8][i % 8] = (float)i;
    OK(cudaMallocPitch((void **)&device, &pitch, sizeof in[0], 4));
    OK(cudaMemcpy2D(device, pitch, in, sizeof in[0], sizeof in[0], 4, HOST_TO_DEVICE));
    flat.filter = 1;
    flat.address[0] = flat.address[1] = CLAMP;
    OK(cudaBindTexture2D(&offset, &flat, device, &one_float, 8, 4, pitch));
    TRUE(offset == 0);
    run(&read_flat, got, 2.0f, 1.5f, 0.5f);
    TRUE(got[0] == 9.5f && got[1] == 10 && got[2] == 10.5f && got[3] == 11);
    run(&read_flat, got, -5, 99, 20);
    TRUE(got[0] == 24 && got[3] == 31);

    OK(cudaMallocArray(&array, &one_float, 8, 4, 0));
    OK(cudaMemcpyToArray(array, 0, 0, in, sizeof in, HOST_TO_DEVICE));
    flat.filter = 0;
    flat.normalized = 1;
    flat.address[0] = WRAP;
    OK(cudaBindTextureToArray(&flat, array, &one_float));
    run(&read_flat, got, 0.0625f, 0.125f, 0.5f);
    TRUE(got[0] == 0 && got[1] == 4 && got[2] == 0 && got[3] == 4);
    EXPECT(INVALID_VALUE, cudaBindTextureToArray(&flat, array, &one_byte));
    EXPECT(INVALID_TEXTURE, cudaBindTextureToArray(&stranger, array, &one_float));
    OK(cudaUnbindTexture(&flat));
    OK(cudaFreeArray(array));
    OK(cudaFree(device));
}

static void surface(void)
{
    unsigned int value = 70, got[2][4] = {{0}};
    void *params[] = {&value};
    const void *same = NULL;
    const struct channels one_int = {32, 0, 0, 0, UNSIGNED};
    CUarray array;
    OK(cudaMallocArray(&array, &one_int, 4, 2, 2));
    OK(cudaMemcpyToArray(array, 0, 0, got, sizeof got, HOST_TO_DEVICE));
    OK(cudaBindSurfaceToArray(&board, array, &one_int));
    OK(cudaLaunchKernel(&write_board, ONE, THREADS(4), params, 0, NULL));
    OK(cudaMemcpyFromArray(got, array, 0, 0, sizeof got, DEVICE_TO_HOST));
    TRUE(got[0][0] == 0 && got[1][0] == 70 && got[1][3] == 73);
    OK(cudaGetSurfaceReference(&same, &board));
    TRUE(same == &board);
    EXPECT(INVALID_SURFACE, cudaBindSurfaceToArray(&stranger, array, &one_int));
    OK(cudaFreeArray(array));
}

int main(void)
{
    void **handle = register_all();
    linear_memory();
    integers();
    two_dimensions();
    surface();
    OK(cudaDeviceReset()); /* and all again, loaded anew */
    flat = (struct texture_reference){0};
    two_dimensions();
    linear_memory();
    cudaGetLastError();
    __cudaUnregisterFatBinary(handle);
    return done();
}
