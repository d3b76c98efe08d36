// Pitched memory: 2D copies and fills in all directions, and kernels that use the pitch.
// nvcc: -arch=compute_75
// nvcc: -arch=compute_75 -default-stream per-thread
#include "check.h"

enum { W = 37, H = 11 };

__global__ void scale(char *rows, size_t pitch, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x < width && y < height)
        ((float *)(rows + y * pitch))[x] *= 2;
}

static float at(int x, int y) { return x + 100.0f * y; }

int main()
{
    char *device, *other;
    size_t pitch = 0, other_pitch = 0;
    float host[H][W + 3], back[H][W];
    const size_t row = W * sizeof(float), host_row = sizeof host[0];
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W + 3; x++)
            host[y][x] = x < W ? at(x, y) : -1;
    CUDA(cudaMallocPitch(&device, &pitch, row, H));
    CUDA(cudaMallocPitch(&other, &other_pitch, row, H));
    check(pitch >= row && pitch % 32 == 0, "the pitch holds a row, and is aligned");

    CUDA(cudaMemset2D(device, pitch, 0xff, pitch, H));
    CUDA(cudaMemcpy2D(device, pitch, host, host_row, row, H, cudaMemcpyHostToDevice));
    scale<<<dim3(2, H), 32>>>(device, pitch, W, H);
    CUDA(cudaMemcpy2DAsync(other, other_pitch, device, pitch, row, H, cudaMemcpyDeviceToDevice, 0));
    CUDA(cudaMemcpy2D(back, row, other, other_pitch, row, H, cudaMemcpyDeviceToHost));
    bool good = true;
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++)
            good &= back[y][x] == 2 * at(x, y);
    check(good, "to the device, across it, and back");

    unsigned char beyond[4];
    CUDA(cudaMemcpy(beyond, device + row, 4, cudaMemcpyDeviceToHost));
    check(pitch == row || beyond[0] == 0xff, "what lies between rows is not touched");

    CUDA(cudaMemset2D(other + 8, other_pitch, 0, 12, 3));
    CUDA(cudaMemcpy2D(back, row, other, other_pitch, row, H, cudaMemcpyDefault));
    check(back[2][1] == 2 * at(1, 2) && back[0][2] == 0 && back[2][4] == 0 && back[2][5] == 2 * at(5, 2) && back[3][3] == 2 * at(3, 3), "a fill of part of some rows");

    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++)
            back[y][x] = 0;
    CUDA(cudaMemcpy2D(back, row, &host[1][2], host_row, 8 * sizeof(float), 4, cudaMemcpyHostToHost));
    check(back[0][0] == at(2, 1) && back[3][7] == at(9, 4) && back[4][0] == 0, "from host to host");

    check_error(cudaMemcpy2D(device, row - 4, host, host_row, row, H, cudaMemcpyHostToDevice), cudaErrorInvalidPitchValue, "a pitch that is less than a row");
    check_error(cudaMemcpy2D(device, pitch, host, host_row, row, H, (cudaMemcpyKind)7), cudaErrorInvalidMemcpyDirection, "no such direction");
    check_error(cudaMemcpy2D(device, pitch, host, host_row, row, H, cudaMemcpyDeviceToHost), cudaErrorInvalidValue, "the wrong direction");
    check_error(cudaMemcpy2D(device, pitch, host, host_row, 0, H, cudaMemcpyHostToDevice), cudaSuccess, "rows of nothing");
    check_error(cudaMemcpy2D(device, 0, host, 0, row, 1, cudaMemcpyHostToDevice), cudaSuccess, "one row needs no pitch");
    check_error(cudaMemset2D(device, 4, 0, 8, 2), cudaErrorInvalidValue, "a fill with too small a pitch");
    char *none = device;
    check_error(cudaMallocPitch(&none, &other_pitch, 0, 5), cudaSuccess, "pitched memory of nothing");
    check(none == nullptr, "is a null pointer");
    cudaGetLastError();
    CUDA(cudaFree(device));
    CUDA(cudaFree(other));
    return finish();
}
