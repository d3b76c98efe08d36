// CUDA arrays: what they are made of, 2D copies in and out in all directions, the older copies by rows, mipmapped arrays.
// nvcc: -arch=compute_75 -Wno-deprecated-declarations
// nvcc: -arch=compute_75 -Wno-deprecated-declarations -default-stream per-thread
#include "check.h"
#include <cstring>

enum { W = 16, H = 8 };
static float in[H][W], out[H][W];

static void descriptions()
{
    cudaArray_t a;
    cudaChannelFormatDesc got;
    cudaExtent extent;
    unsigned int flags = 99;
    cudaChannelFormatDesc u = cudaCreateChannelDesc<ushort2>(), bad = cudaCreateChannelDesc(8, 16, 0, 0, cudaChannelFormatKindSigned);
    CUDA(cudaMalloc3DArray(&a, &u, make_cudaExtent(8, 8, 12), cudaArrayLayered | cudaArrayCubemap));
    CUDA(cudaArrayGetInfo(&got, &extent, &flags, a));
    check(got.x == 16 && got.y == 16 && got.z == 0 && got.f == cudaChannelFormatKindUnsigned, "the channels of an array");
    check(extent.width == 8 && extent.height == 8 && extent.depth == 12 && flags == (cudaArrayLayered | cudaArrayCubemap), "its extent and flags");
    cudaArrayMemoryRequirements need = {};
    check_error(cudaArrayGetMemoryRequirements(&need, a, 0), cudaErrorInvalidValue, "memory that is the driver's, not the program's to map");
    cudaArray_t plane;
    check_error(cudaArrayGetPlane(&plane, a, 0), cudaErrorInvalidValue, "it has no planes");
    CUDA(cudaFreeArray(a));
    CUDA(cudaFreeArray(nullptr));
    check_error(cudaMallocArray(&a, &bad, 4, 4), cudaErrorInvalidChannelDescriptor, "channels of different sizes");
    bad = cudaCreateChannelDesc(32, 32, 32, 0, cudaChannelFormatKindFloat);
    check_error(cudaMallocArray(&a, &bad, 4, 4), cudaErrorInvalidChannelDescriptor, "three channels");
    check_error(cudaMallocArray(&a, &u, 0, 4), cudaErrorInvalidValue, "no width");
    check_error(cudaMalloc3DArray(&a, &u, make_cudaExtent(4, 5, 6), cudaArrayCubemap), cudaErrorInvalidValue, "a cube that is not square");
    check_error(cudaMalloc3DArray(&a, &u, make_cudaExtent(4, 0, 4), 0), cudaErrorInvalidValue, "depth without height");
    cudaGetLastError();
}

static bool same(int x, int y, int w, int h)
{
    for (int j = y; j < y + h; j++)
        if (memcmp(&in[j][x], &out[j][x], w * sizeof(float)))
            return false;
    return true;
}

static void copies()
{
    const size_t row = sizeof in[0];
    cudaChannelFormatDesc f = cudaCreateChannelDesc<float>();
    cudaArray_t a, b;
    char *device;
    CUDA(cudaMallocArray(&a, &f, W, H));
    CUDA(cudaMallocArray(&b, &f, W, H));
    CUDA(cudaMalloc(&device, sizeof in));
    CUDA(cudaMemcpy2DToArray(a, 0, 0, in, row, row, H, cudaMemcpyHostToDevice));
    CUDA(cudaMemcpy2DArrayToArray(b, 0, 0, a, 0, 0, row, H, cudaMemcpyDeviceToDevice));
    CUDA(cudaMemcpy2DFromArray(device, row, b, 0, 0, row, H, cudaMemcpyDeviceToDevice));
    CUDA(cudaMemcpy(out, device, sizeof out, cudaMemcpyDeviceToHost));
    check(same(0, 0, W, H), "host, array, array, device memory, host");
    memset(out, 0, sizeof out);
    CUDA(cudaMemcpy2DFromArrayAsync(&out[2][3], row, a, 3 * sizeof(float), 2, 5 * sizeof(float), 4, cudaMemcpyDeviceToHost, 0));
    CUDA(cudaStreamSynchronize(0));
    check(same(3, 2, 5, 4) && out[2][2] == 0 && out[2][8] == 0 && out[6][3] == 0, "a part");
    CUDA(cudaMemset(device, 0, sizeof in));
    CUDA(cudaMemcpy2DToArrayAsync(a, 4 * sizeof(float), 1, device, row, 2 * sizeof(float), 3, cudaMemcpyDeviceToDevice, 0));
    CUDA(cudaMemcpy2DFromArray(out, row, a, 0, 0, row, H, cudaMemcpyDefault));
    check(out[1][4] == 0 && out[3][5] == 0 && out[0][4] == in[0][4] && out[1][6] == in[1][6] && out[4][4] == in[4][4], "into a part");

    CUDA(cudaMemcpyToArray(b, 8 * sizeof(float), 1, in, 2 * row, cudaMemcpyHostToDevice));
    CUDA(cudaMemcpyFromArray(out, b, 8 * sizeof(float), 1, 2 * row, cudaMemcpyDeviceToHost));
    check(!memcmp(in, out, 2 * row), "so many bytes, from the middle of a row on");
    CUDA(cudaMemcpy2DFromArray(out, row, b, 0, 0, row, H, cudaMemcpyDeviceToHost));
    check(out[1][7] == in[1][7] && out[1][8] == in[0][0] && out[2][0] == in[0][8] && out[3][7] == in[1][15] && out[3][8] == in[3][8], "fill row by row");
    CUDA(cudaMemcpyArrayToArray(a, 0, 0, b, 8 * sizeof(float), 1, 2 * row, cudaMemcpyDeviceToDevice));
    CUDA(cudaMemcpyFromArray(out, a, 0, 0, 2 * row, cudaMemcpyDeviceToHost));
    check(!memcmp(in, out, 2 * row), "from one array to another as well");

    check_error(cudaMemcpy2DToArray(a, 0, 0, in, row, row, H, cudaMemcpyDeviceToHost), cudaErrorInvalidMemcpyDirection, "an array is no target of a copy to the host");
    check_error(cudaMemcpy2DFromArray(out, row, a, 0, 0, row, H, cudaMemcpyHostToHost), cudaErrorInvalidMemcpyDirection, "nor on the host");
    check_error(cudaMemcpy2DToArray(a, 0, 0, in, row / 2, row, H, cudaMemcpyHostToDevice), cudaErrorInvalidPitchValue, "a pitch that is less than a row");
    check_error(cudaMemcpy2DToArray(a, 0, 1, in, row, row, H, cudaMemcpyHostToDevice), cudaErrorInvalidValue, "rows past the end");
    check_error(cudaMemcpyToArray(a, 0, 1, in, sizeof in, cudaMemcpyHostToDevice), cudaErrorInvalidValue, "bytes past the end");
    cudaGetLastError();
    CUDA(cudaFree(device));
    CUDA(cudaFreeArray(a));
    CUDA(cudaFreeArray(b));
}

static void levels()
{
    cudaChannelFormatDesc f = cudaCreateChannelDesc<float>();
    cudaMipmappedArray_t m;
    cudaArray_t level;
    cudaExtent extent;
    CUDA(cudaMallocMipmappedArray(&m, &f, make_cudaExtent(W, H, 0), 20));
    CUDA(cudaGetMipmappedArrayLevel(&level, m, 2));
    CUDA(cudaArrayGetInfo(nullptr, &extent, nullptr, level));
    check(extent.width == W / 4 && extent.height == H / 4, "levels are half as large as the one before");
    CUDA(cudaGetMipmappedArrayLevel(&level, m, 4));
    check_error(cudaGetMipmappedArrayLevel(&level, m, 5), cudaErrorInvalidValue, "and end with one texel");
    cudaGetLastError();
    CUDA(cudaFreeMipmappedArray(m));
    CUDA(cudaFreeMipmappedArray(nullptr));
}

int main()
{
    for (int i = 0; i < W * H; i++)
        in[i / W][i % W] = i + 0.25f;
    descriptions();
    copies();
    levels();
    return finish();
}
