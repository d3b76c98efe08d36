// Cooperative launches: barriers of the whole grid.
// nvcc: -arch=compute_75
#include "check.h"
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

// A prefix sum by doubling: each step needs all of the step before.
__global__ void scan(int *a, int *b, int count)
{
    cg::grid_group grid = cg::this_grid();
    int *from = a, *to = b;
    for (int distance = 1; distance < count; distance *= 2) {
        for (unsigned long long i = grid.thread_rank(); i < (unsigned long long)count; i += grid.size())
            to[i] = from[i] + ((int)i >= distance ? from[i - distance] : 0);
        grid.sync();
        int *swap = from;
        from = to;
        to = swap;
    }
    if (from != a)
        for (unsigned long long i = grid.thread_rank(); i < (unsigned long long)count; i += grid.size())
            a[i] = from[i];
}

__global__ void shape(int *out)
{
    cg::grid_group grid = cg::this_grid();
    if (grid.thread_rank() == 0) {
        out[0] = grid.is_valid();
        out[1] = (int)grid.size();
        out[2] = (int)grid.num_blocks();
    }
    if (grid.thread_rank() == grid.size() - 1)
        out[3] = (int)grid.block_rank();
}

int main()
{
    const int count = 5000;
    std::vector<int> host(count);
    random_numbers random(7);
    for (int &x : host)
        x = random.next() % 100;
    int *a = upload(host), *b = zeros<int>(count), n = count;
    int per_core = 0;
    cudaDeviceProp device;
    CUDA(cudaGetDeviceProperties(&device, 0));
    check(device.cooperativeLaunch == 1, "the device can");
    CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_core, scan, 128, 0));
    int resident = per_core * device.multiProcessorCount;
    check(resident > 0, "blocks fit");
    void *arguments[] = {&a, &b, &n};
    int blocks = resident < 24 ? resident : 24;
    CUDA(cudaLaunchCooperativeKernel((const void *)scan, dim3(blocks), dim3(128), arguments, 0, nullptr));
    CUDA(cudaDeviceSynchronize());
    std::vector<int> got = download(a, count);
    bool good = true;
    int sum = 0;
    for (int i = 0; i < count; i++) {
        sum += host[i];
        good = good && got[i] == sum;
    }
    check(good, "prefix sum with barriers of the grid");
    check_error(cudaLaunchCooperativeKernel((const void *)scan, dim3(resident + 1), dim3(128), arguments, 0, nullptr), cudaErrorCooperativeLaunchTooLarge, "more blocks than fit");
    cudaGetLastError();
    int *out = zeros<int>(4);
    void *shape_arguments[] = {&out};
    CUDA(cudaLaunchCooperativeKernel(shape, dim3(3, 2), dim3(64), shape_arguments, (size_t)0, (cudaStream_t)0));
    std::vector<int> s = download(out, 4);
    check(s[0] == 1 && s[1] == 384 && s[2] == 6 && s[3] == 5, "shape of the grid");
    cudaLaunchConfig_t config = {};
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeCooperative;
    attribute.val.cooperative = 1;
    config.gridDim = dim3(2);
    config.blockDim = dim3(32);
    config.attrs = &attribute;
    config.numAttrs = 1;
    CUDA(cudaLaunchKernelEx(&config, shape, out));
    s = download(out, 4);
    check(s[0] == 1 && s[1] == 64 && s[2] == 2, "by an attribute of the launch");
    return finish();
}
