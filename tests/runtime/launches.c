/* Registration and launches: two fat binaries whose kernels and variables bear the same names, every form of a launch,
 * and what each refuses. */
#include "fat_binary.h"

IMAGE_OF(first_image, KIND_PTX, PTX_HEAD PTX_FILL(100, ""));
IMAGE_OF(second_image, KIND_PTX, PTX_HEAD PTX_FILL(200, ""));
WRAPPER_OF(first_wrapper, 1, &first_image, NULL);
WRAPPER_OF(second_wrapper, 1, &second_image, NULL);

/* The addresses stand for the kernels and variables. */
static char first_fill, second_fill, both_fill /* of a template, in both */, absent, unregistered;
static unsigned int first_base, second_base;

static unsigned int *where;

static unsigned int at(int index)
{
    unsigned int values[64] = {0};
    OK(cudaDeviceSynchronize());
    OK(cudaMemcpy(values, where, sizeof values, DEVICE_TO_HOST));
    return values[index];
}

static void check_forms(void)
{
    unsigned int value = 1;
    void *params[] = {&where, &value};
    CUkernel kernel = NULL;
    OK(cudaLaunchKernel(&first_fill, ONE, THREADS(32), params, 0, NULL));
    TRUE(at(3) == 104);
    OK(cudaLaunchKernel(&second_fill, ONE, THREADS(32), params, 0, NULL));
    TRUE(at(3) == 204);
    value = 2;
    OK(__cudaGetKernel(&kernel, &first_fill));
    OK(__cudaLaunchKernel(kernel, ONE, THREADS(32), params, 0, NULL));
    TRUE(at(31) == 133);
    value = 3;
    OK(__cudaLaunchKernel_ptsz(kernel, ONE, THREADS(32), params, 0, NULL));
    TRUE(at(0) == 103);
    OK(cudaLaunchKernel(kernel, ONE, THREADS(1), params, 0, NULL)); /* takes a handle, too */
    value = 4;
    OK(cudaLaunchCooperativeKernel(&second_fill, ONE, THREADS(32), params, 0, NULL));
    TRUE(at(0) == 204);
    value = 5;
    OK(cudaConfigureCall(ONE, THREADS(16), 0, NULL));
    OK(cudaSetupArgument(&where, sizeof where, 0));
    OK(cudaSetupArgument(&value, sizeof value, 8));
    OK(cudaLaunch(&first_fill));
    TRUE(at(15) == 120 && at(16) == 220);
}

static void check_configurations(void)
{
    struct dim3 grid, block;
    size_t shared;
    CUstream stream;
    OK(__cudaPushCallConfiguration(THREADS(2), THREADS(3), 4, NULL));
    OK(__cudaPushCallConfiguration(THREADS(5), THREADS(6), 7,
                                   CU_STREAM_PER_THREAD)); /* an argument that launches a kernel itself */
    OK(__cudaPopCallConfiguration(&grid, &block, &shared, &stream));
    TRUE(grid.x == 5 && block.x == 6 && shared == 7 && stream == CU_STREAM_PER_THREAD);
    OK(__cudaPopCallConfiguration(&grid, &block, &shared, &stream));
    TRUE(grid.x == 2 && block.x == 3 && shared == 4 && !stream);
    EXPECT(MISSING_CONFIGURATION, __cudaPopCallConfiguration(&grid, &block, &shared, &stream));
    EXPECT(MISSING_CONFIGURATION, cudaLaunch(&first_fill));
    EXPECT(MISSING_CONFIGURATION, cudaGetLastError());
}

static void check_refused(void)
{
    unsigned int value = 1;
    int blocks = 0;
    void *params[] = {&where, &value};
    EXPECT(NO_FUNCTION, cudaLaunchKernel(&unregistered, ONE, ONE, params, 0, NULL));
    EXPECT(INVALID_DEVICE_FUNCTION, cudaLaunchKernel(NULL, ONE, ONE, params, 0, NULL));
    EXPECT(INVALID_DEVICE_FUNCTION,
           cudaLaunchKernel(&absent, ONE, ONE, params, 0, NULL)); /* registered, but the image has none of that name */
    EXPECT(BAD_SHAPE, cudaLaunchKernel(&first_fill, ONE, THREADS(1025), params, 0, NULL));
    EXPECT(BAD_SHAPE, cudaLaunchKernel(&first_fill, THREADS(0), ONE, params, 0, NULL));
    EXPECT(BAD_SHAPE, cudaLaunchKernel(&first_fill, ((struct dim3){1, 70000, 1}), ONE, params, 0, NULL));
    EXPECT(INVALID_VALUE, cudaLaunchKernel(&first_fill, ONE, ONE, params, 10 << 20, NULL));
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &first_fill, 256, 0));
    TRUE(blocks > 0);
    EXPECT(TOO_LARGE, cudaLaunchCooperativeKernel(&first_fill, THREADS(1000000), THREADS(256), params, 0, NULL));
    EXPECT(TOO_LARGE, cudaPeekAtLastError());
    EXPECT(TOO_LARGE, cudaGetLastError());
    OK(cudaGetLastError()); /* forgotten once it was asked for */
}

static void check_variables(void)
{
    unsigned int value = 7, got = 0;
    void *params[] = {&where, &value}, *address = NULL, *other = NULL;
    OK(cudaMemcpyFromSymbol(&got, &second_base, sizeof got, 0, DEVICE_TO_HOST));
    TRUE(got == 200);
    OK(cudaMemcpyToSymbol(&first_base, &value, sizeof value, 0, HOST_TO_DEVICE));
    OK(cudaLaunchKernel(&first_fill, ONE, THREADS(1), params, 0, NULL));
    TRUE(at(0) == 14);
    OK(cudaGetSymbolAddress(&address, &first_base));
    OK(cudaGetSymbolAddress(&other, &second_base));
    TRUE(address && other && address != other);
    EXPECT(INVALID_SYMBOL, cudaGetSymbolAddress(&address, &unregistered));
    EXPECT(INVALID_SYMBOL, cudaGetLastError());
}

static void check_unregistering(void **second)
{
    unsigned int value = 1;
    void *params[] = {&where, &value};
    OK(cudaLaunchKernel(&both_fill, ONE, THREADS(1), params, 0, NULL));
    TRUE(at(0) == 201); /* the last one registered */
    __cudaUnregisterFatBinary(second);
    OK(cudaLaunchKernel(&both_fill, ONE, THREADS(1), params, 0, NULL));
    TRUE(at(0) == 8);
    EXPECT(NO_FUNCTION, cudaLaunchKernel(&second_fill, ONE, ONE, params, 0, NULL));
    EXPECT(NO_FUNCTION, cudaGetLastError());
    OK(cudaLaunchKernel(&first_fill, ONE, THREADS(1), params, 0, NULL));
}

int main(void)
{
    void **first = __cudaRegisterFatBinary(&first_wrapper), **second = __cudaRegisterFatBinary(&second_wrapper);
    register_function(first, &first_fill, "fill");
    register_function(first, &both_fill, "fill");
    register_function(first, &absent, "no_such_kernel");
    __cudaRegisterVar(first, &first_base, "base", "base", 0, sizeof first_base, 0, 0);
    __cudaRegisterFatBinaryEnd(first);
    register_function(second, &second_fill, "fill");
    register_function(second, &both_fill, "fill");
    __cudaRegisterVar(second, &second_base, "base", "base", 0, sizeof second_base, 0, 0);
    __cudaRegisterFatBinaryEnd(second);
    OK(cudaMalloc((void **)&where, 64 * sizeof *where));
    check_forms();
    check_configurations();
    check_refused();
    check_variables();
    check_unregistering(second);
    OK(cudaFree(where));
    __cudaUnregisterFatBinary(first);
    return done();
}
