// printf on the device: formats, and the order within a thread. Lines of one thread at a time, so that the order is the same everywhere.
// nvcc: -arch=compute_75
// nvcc: -arch=compute_75 -G
#include "check.h"

__global__ void formats()
{
    printf("no arguments\n");
    printf("%d %i %u %x %X %o %c %%\n", -5, 7, 4000000000u, 255, 255, 8, 'z');
    printf("%5d|%-5d|%05d|%+d\n", 42, 42, 42, 42);
    printf("%f %.3f %10.2f %e %g\n", 1.5, 3.14159265, 2.5, 12345.678, 0.0001);
    printf("%s and %s\n", "text", "more text");
    printf("%lld %llu %ld %hd\n", -5000000000ll, 18000000000000000000ull, 77l, (short)-3);
    printf("%.*f|%*d\n", 2, 2.71828, 6, 12);
    printf("%d %f %s %c %d %f %s %c %d %f\n", 1, 2.0, "three", '4', 5, 6.0, "seven", '8', 9, 10.0);
    int written = printf("returns %d\n", 1);
    printf("written %d\n", written);
}
__global__ void silent() {}
__global__ void in_order(int count)
{
    for (int t = 0; t < count; t++) {
        if (threadIdx.x == t)
            printf("thread %d of block %d\n", t, blockIdx.x);
        __syncthreads();
    }
}

int main()
{
    silent<<<1, 1>>>();
    CUDA(cudaDeviceSynchronize());
    CUDA(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 4 << 20));
    formats<<<1, 1>>>();
    CUDA(cudaDeviceSynchronize());
    in_order<<<1, 40>>>(4);
    CUDA(cudaDeviceSynchronize());
    printf("after the kernels\n");
    size_t size = 0;
    CUDA(cudaDeviceGetLimit(&size, cudaLimitPrintfFifoSize));
    check(size > 0, "the buffer has a size");
    check(size >= 4 << 20, "which was set");
    check_error(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 8 << 20), cudaErrorInvalidValue, "and stays once a kernel prints");
    return finish();
}
