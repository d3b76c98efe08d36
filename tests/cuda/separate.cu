// Relocatable device code: functions, variables, constants and function pointers across three files, which the device linker joins.
// nvcc: -rdc=true
// nvcc: -rdc=true -arch=compute_75
// parts: parts/separate_second.cu parts/separate_third.cu
#include "check.h"
#include "parts/separate.h"

__device__ int shared_counter = 5;
__device__ int square(int x) { return x * x; }

__global__ void across(int *out)
{
    int i = threadIdx.x;
    out[i] = twice(i) + cube(i) + table[i % 4];
    if (i == 0)
        bump(10);
}
__global__ void through_pointer(int *out, int which)
{
    unary function = choose(which);
    out[threadIdx.x] = function(threadIdx.x);
}
__global__ void through_object(int *out)
{
    shape *s = make_shape(threadIdx.x % 2, threadIdx.x);
    out[threadIdx.x] = s->area();
    delete s;
}

int main()
{
    int *out = zeros<int>(32);
    across<<<1, 32>>>(out);
    std::vector<int> got = download(out, 32);
    bool good = true;
    for (int i = 0; i < 32; i++)
        good = good && got[i] == 2 * i + i * i * i + (i % 4 + 1) * 100;
    check(good, "functions and constants of other files");
    int counter = 0;
    CUDA(cudaMemcpyFromSymbol(&counter, shared_counter, sizeof counter));
    check(counter == 15, "a variable that another file changes");
    check(other_kernel(out) == 15 * 3, "a kernel of another file reads it");
    for (int which = 0; which < 3; which++) {
        through_pointer<<<1, 32>>>(out, which);
        got = download(out, 32);
        good = true;
        for (int i = 0; i < 32; i++)
            good = good && got[i] == (which == 0 ? 2 * i : which == 1 ? i * i * i : i * i);
        check(good, which == 0 ? "pointer to twice" : which == 1 ? "pointer to cube" : "pointer to square");
    }
    through_object<<<1, 32>>>(out);
    got = download(out, 32);
    good = true;
    for (int i = 0; i < 32; i++)
        good = good && got[i] == (i % 2 ? 3 * i : i * i);
    check(good, "virtual functions of another file");
    return finish();
}
