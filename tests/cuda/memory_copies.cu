// Linear copies and fills: all directions between all kinds of memory, with the errors that CUDA gives; what may be allocated and freed.
// nvcc: -arch=compute_75
// nvcc: -arch=compute_75 -default-stream per-thread
#include "check.h"
#include <cstring>

enum { BYTES = 256 };
static char in_program[2 * BYTES];

// Expected errors, by direction: of copies from one kind of memory to another.
static cudaError_t expected(bool from_plain, bool to_plain, int kind)
{
    if (kind < 0 || kind > 4)
        return cudaErrorInvalidMemcpyDirection;
    bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
    bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
    return (from_device && from_plain) || (to_device && to_plain) ? cudaErrorInvalidValue : cudaSuccess;
}

static bool copied(void *to, const void *from, int pattern, int kind, bool async)
{
    char seen[BYTES];
    if (cudaMemset(to, 0, BYTES) != cudaSuccess)
        memset(to, 0, BYTES);
    if (cudaMemset(const_cast<void *>(from), pattern, BYTES) != cudaSuccess)
        memset(const_cast<void *>(from), pattern, BYTES);
    cudaGetLastError();
    cudaError_t error = async ? cudaMemcpyAsync(to, from, BYTES, (cudaMemcpyKind)kind, 0) : cudaMemcpy(to, from, BYTES, (cudaMemcpyKind)kind);
    if (error != cudaSuccess)
        return cudaGetLastError() == error;
    CUDA(cudaDeviceSynchronize());
    CUDA(cudaMemcpy(seen, to, BYTES, cudaMemcpyDefault));
    for (char c : seen)
        if (c != (char)pattern)
            return false;
    return true;
}

static void directions()
{
    static const char *names[] = {"program", "malloc", "pinned", "device", "managed"};
    char *places[5] = {in_program, (char *)malloc(2 * BYTES)};
    CUDA(cudaMallocHost(&places[2], 2 * BYTES));
    CUDA(cudaMalloc(&places[3], 2 * BYTES));
    CUDA(cudaMallocManaged(&places[4], 2 * BYTES));
    bool good = true;
    for (int from = 0; from < 5; from++)
        for (int to = 0; to < 5; to++)
            for (int kind = -1; kind <= 5; kind++)
                for (int async = 0; async < 2; async++) {
                    cudaError_t wanted = expected(from < 2, to < 2, kind);
                    cudaError_t got = async ? cudaMemcpyAsync(places[to], places[from] + BYTES, BYTES, (cudaMemcpyKind)kind, 0)
                                            : cudaMemcpy(places[to], places[from] + BYTES, BYTES, (cudaMemcpyKind)kind);
                    cudaGetLastError();
                    if (got != wanted || !copied(places[to], places[from] + BYTES, 1 + from * 5 + to, kind, async)) {
                        good = false;
                        printf("    %s to %s, kind %d%s: %s, expected %s\n", names[from], names[to], kind, async ? ", async" : "", cudaGetErrorName(got), cudaGetErrorName(wanted));
                    }
                }
    check(good, "every direction between every two kinds of memory");
    free(places[1]);
    CUDA(cudaFreeHost(places[2]));
    CUDA(cudaFree(places[3]));
    CUDA(cudaFree(places[4]));
}

static void edges()
{
    char *device, host[BYTES];
    CUDA(cudaMalloc(&device, BYTES));
    check_error(cudaMemcpy(nullptr, nullptr, 0, cudaMemcpyHostToDevice), cudaSuccess, "no bytes from nowhere to nowhere");
    check_error(cudaMemcpy(host, device, 0, (cudaMemcpyKind)9), cudaSuccess, "no bytes in no direction");
    check_error(cudaMemcpy(device, nullptr, 4, cudaMemcpyHostToDevice), cudaErrorInvalidValue, "from a null pointer");
    check_error(cudaMemcpy(device, in_program, 4 << 20, cudaMemcpyHostToDevice), cudaErrorInvalidValue, "more than was allocated");
    check_error(cudaGetLastError(), cudaErrorInvalidValue, "the last error is kept");
    check_error(cudaGetLastError(), cudaSuccess, "and given once");
    check_error(cudaMemcpyPeer(device, 0, device + 16, 0, 16), cudaSuccess, "a peer copy on the device itself");
    check_error(cudaMemcpyPeer(device, 0, device + 16, 99, 16), cudaErrorInvalidDevice, "a peer copy from a device that is not there");
    for (int i = 0; i < BYTES; i++)
        host[i] = (char)i;
    CUDA(cudaMemcpy(device, host, BYTES, cudaMemcpyHostToDevice));
    CUDA(cudaMemset(device + 3, 0x7f, 5));
    CUDA(cudaMemsetAsync(device + 100, 0x1ff, 1, 0));
    CUDA(cudaMemcpy(host, device, BYTES, cudaMemcpyDeviceToHost));
    check(host[2] == 2 && host[3] == 0x7f && host[7] == 0x7f && host[8] == 8 && host[100] == (char)0xff && host[101] == 101, "a fill ends where it should");
    check_error(cudaMemset(host, 0, 4), cudaErrorInvalidValue, "no fill of a variable of the host");
    check_error(cudaMemset(nullptr, 0, 0), cudaSuccess, "a fill of nothing");
    CUDA(cudaFree(device));
}

static void allocation()
{
    void *p = &p;
    size_t free_bytes = 0, total_bytes = 0, less = 0;
    check_error(cudaMalloc(&p, 0), cudaSuccess, "an allocation of nothing");
    check(p == nullptr, "is a null pointer");
    check_error(cudaFree(nullptr), cudaSuccess, "which may be freed");
    check_error(cudaMalloc(&p, (size_t)1 << 60), cudaErrorMemoryAllocation, "more than there is");
    check_error(cudaMalloc((void **)nullptr, 16), cudaErrorInvalidValue, "to nowhere");
    CUDA(cudaMemGetInfo(&free_bytes, &total_bytes));
    CUDA(cudaMalloc(&p, 32 << 20));
    CUDA(cudaMemGetInfo(&less, &total_bytes));
    check(free_bytes <= total_bytes && less + (32 << 20) <= free_bytes, "free memory shrinks by what was allocated");
    check((size_t)p % 256 == 0, "allocations are aligned");
    check_error(cudaFree((char *)p + 16), cudaErrorInvalidValue, "the middle of an allocation is not freed");
    check_error(cudaFree(p), cudaSuccess, "its start is");
    check_error(cudaFree(p), cudaErrorInvalidValue, "but not twice");
    check_error(cudaFree(in_program), cudaErrorInvalidValue, "nor a variable of the host");
    cudaGetLastError();
}

static void attributes()
{
    cudaPointerAttributes a;
    char *device, *pinned, *managed;
    CUDA(cudaMalloc(&device, 64));
    CUDA(cudaMallocHost(&pinned, 64));
    CUDA(cudaMallocManaged(&managed, 64));
    CUDA(cudaPointerGetAttributes(&a, in_program));
    check(a.type == cudaMemoryTypeUnregistered && a.device == -2 && !a.devicePointer && a.hostPointer == in_program, "a pointer to the host's own memory");
    CUDA(cudaPointerGetAttributes(&a, pinned + 8));
    check(a.type == cudaMemoryTypeHost && a.device == 0 && a.hostPointer == pinned + 8, "a pointer into pinned memory");
    CUDA(cudaPointerGetAttributes(&a, device + 8));
    check(a.type == cudaMemoryTypeDevice && a.device == 0 && a.devicePointer == device + 8 && !a.hostPointer, "a pointer into device memory");
    CUDA(cudaPointerGetAttributes(&a, managed));
    check(a.type == cudaMemoryTypeManaged && a.devicePointer == managed && a.hostPointer == managed, "a pointer to managed memory");
    CUDA(cudaFree(device));
    CUDA(cudaFree(managed));
    CUDA(cudaFreeHost(pinned));
}

static void batch()
{
    char *device, host[64], back[64] = {0};
    cudaStream_t stream;
    for (int i = 0; i < 64; i++)
        host[i] = (char)(i * 3);
    CUDA(cudaMalloc(&device, 64));
    CUDA(cudaStreamCreate(&stream));
    void *to[] = {device + 32, device};
    const void *from[] = {host, host + 32};
    size_t sizes[] = {32, 32}, first[] = {0};
    cudaMemcpyAttributes how = {};
    how.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    CUDA(cudaMemcpyBatchAsync(to, from, sizes, 2, &how, first, 1, stream));
    CUDA(cudaMemcpyAsync(back, device, 64, cudaMemcpyDeviceToHost, stream));
    CUDA(cudaStreamSynchronize(stream));
    check(!memcmp(back, host + 32, 32) && !memcmp(back + 32, host, 32), "a batch of copies");
    check_error(cudaMemcpyBatchAsync(to, from, sizes, 2, &how, first, 0, stream), cudaErrorInvalidValue, "a batch without attributes");
    cudaGetLastError();
    CUDA(cudaStreamDestroy(stream));
    CUDA(cudaFree(device));
}

int main()
{
    directions();
    edges();
    allocation();
    attributes();
    batch();
    return finish();
}
