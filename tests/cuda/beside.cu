// Reads and writes next to an allocation, before it and behind it, which a GPU serves: what a program makes of them must not matter, and does not.
// nvcc: -arch=compute_75
#include "check.h"

enum { ROWS = 64, COLUMNS = 64 }; // 16 KB: a multiple of 512 bytes

// A stencil that reads the rows above the first and below the last, and the columns beside them, and then does not use them.
__global__ void stencil(float *out, const float *in)
{
    int column = threadIdx.x, row = blockIdx.x;
    float above = in[(row - 1) * COLUMNS + column], below = in[(row + 1) * COLUMNS + column];
    float left = in[row * COLUMNS + column - 1], right = in[row * COLUMNS + column + 1];
    if (row == 0)
        above = 1;
    if (row == ROWS - 1)
        below = 1;
    if (column == 0)
        left = 1;
    if (column == COLUMNS - 1)
        right = 1;
    out[row * COLUMNS + column] = above + below + left + right;
}

// Writes one element too many, and one too early.
__global__ void careless(int *out, int n)
{
    int i = threadIdx.x + blockIdx.x * blockDim.x - 1;
    if (i <= n)
        out[i] = i;
}

int main()
{
    std::vector<float> ones(ROWS * COLUMNS, 1.0f);
    float *in = upload(ones), *out = zeros<float>(ROWS * COLUMNS);
    stencil<<<ROWS, COLUMNS>>>(out, in);
    check_error(cudaDeviceSynchronize(), cudaSuccess, "rows above the first and below the last");
    bool good = true;
    for (float v : download(out, ROWS * COLUMNS))
        good = good && v == 4;
    check(good, "the result is right");

    int *first = zeros<int>(1024), *middle = zeros<int>(1024), *last = zeros<int>(1024);
    careless<<<5, 256>>>(middle, 1024);
    check_error(cudaDeviceSynchronize(), cudaSuccess, "one element too early and one too many");
    std::vector<int> got = download(middle, 1024);
    good = true;
    for (int i = 0; i < 1024; i++)
        good = good && got[i] == i;
    check(good, "what lies inside is right");
    for (int *p : {first, middle, last})
        CUDA(cudaFree(p));
    return finish();
}
