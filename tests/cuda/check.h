// Shared by the CUDA programs of this folder: each checks its results against the host, prints the same lines on every
// machine, and returns finish() from main.
#ifndef HEDDLE_TESTS_CUDA_CHECK_H
#define HEDDLE_TESTS_CUDA_CHECK_H

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

static int failures;

#define CUDA(call) cuda_check((call), #call, __LINE__)
static inline void cuda_check(cudaError_t error, const char *call, int line)
{
    if (error == cudaSuccess)
        return;
    printf("FAILED line %d: %s: %s\n", line, call, cudaGetErrorName(error));
    fflush(stdout);
    exit(1);
}

static inline void check(bool good, const char *what)
{
    printf("%s %s\n", good ? "ok" : "FAILED", what);
    if (!good)
        failures++;
}
static inline void check_error(cudaError_t got, cudaError_t wanted, const char *what)
{
    check(got == wanted, what);
    if (got != wanted)
        printf("    %s, expected %s\n", cudaGetErrorName(got), cudaGetErrorName(wanted));
}

// What the generations of CUDA answer differently: an address that stands for no kernel, and a launch whose grid or
// block is empty or too large.
static const cudaError_t no_kernel =
    CUDART_VERSION >= 13000 ? cudaErrorInvalidResourceHandle : cudaErrorInvalidDeviceFunction;
static const cudaError_t bad_shape = CUDART_VERSION >= 13000 ? cudaErrorInvalidValue : cudaErrorInvalidConfiguration;

static inline int finish() { return failures ? 1 : 0; }

// Device memory with the contents of a host vector, and back.
template <typename T> static T *upload(const std::vector<T> &host)
{
    T *device = nullptr;
    CUDA(cudaMalloc(&device, host.size() * sizeof(T)));
    CUDA(cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
    return device;
}
template <typename T> static T *zeros(size_t count)
{
    T *device = nullptr;
    CUDA(cudaMalloc(&device, count * sizeof(T)));
    CUDA(cudaMemset(device, 0, count * sizeof(T)));
    return device;
}
template <typename T> static std::vector<T> download(const T *device, size_t count)
{
    std::vector<T> host(count);
    CUDA(cudaMemcpy(host.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost));
    return host;
}
static inline bool close_to(double a, double b, double tolerance)
{
    return fabs(a - b) <= tolerance * fmax(1.0, fabs(b));
}

// A small generator, the same on all hosts.
struct random_numbers {
    unsigned state;
    explicit random_numbers(unsigned seed) : state(seed) {}
    unsigned next()
    {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        return state;
    }
    double uniform() { return next() / 4294967296.0; }
};

#endif
