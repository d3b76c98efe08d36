// Accesses past the end of an allocation, inside its last page, which a GPU does not notice: the kernel goes on, and neighbours keep their contents. Far past it they are an error.
// nvcc: -arch=compute_75
// exit: 5
#include "check.h"

enum { ROWS = 500, COLUMNS = 600 }; // 1.2 MB

// A row too many, as i > rows in place of i >= rows makes it.
__global__ void fill(int *out, const int *in, int rows)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > rows)
        return;
    for (int j = 0; j < COLUMNS; j++)
        out[i * COLUMNS + j] = in[i * COLUMNS + j] * 2 + 1;
}
__global__ void far_away(int *out) { out[1ll << 42] = 1; }

static void run(bool managed)
{
    std::vector<int> values(ROWS * COLUMNS);
    for (int i = 0; i < ROWS * COLUMNS; i++)
        values[i] = i * 3;
    size_t bytes = values.size() * sizeof(int);
    int *before, *in, *out, *after;
    for (int **p : {&before, &in, &out, &after}) {
        CUDA(managed ? cudaMallocManaged(p, bytes) : cudaMalloc(p, bytes));
        CUDA(cudaMemset(*p, 0x11, bytes));
    }
    CUDA(cudaMemcpy(in, values.data(), bytes, cudaMemcpyHostToDevice));
    fill<<<4, 128>>>(out, in, ROWS);
    check_error(cudaDeviceSynchronize(), cudaSuccess, "a row past the end");
    std::vector<int> got = download(out, ROWS * COLUMNS), left = download(before, ROWS * COLUMNS), right = download(after, ROWS * COLUMNS), source = download(in, ROWS * COLUMNS);
    bool good = true, kept = true;
    for (int i = 0; i < ROWS * COLUMNS; i++) {
        good = good && got[i] == values[i] * 2 + 1;
        kept = kept && left[i] == 0x11111111 && right[i] == 0x11111111 && source[i] == values[i];
    }
    check(good, "the result is right");
    check(kept, "neighbours keep what they hold");
    for (int *p : {before, in, out, after})
        CUDA(cudaFree(p));
}

int main()
{
    run(false);
    run(true);
    int *out = zeros<int>(ROWS);
    far_away<<<1, 1>>>(out);
    check_error(cudaDeviceSynchronize(), cudaErrorIllegalAddress, "far past the end");
    return finish();
}
