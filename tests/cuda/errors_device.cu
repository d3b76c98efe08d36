// Are wrong devices, limits, streams and events refused with CUDA's own errors, and do they leave the device in order?
// nvcc: -arch=compute_75
#include "check.h"

__global__ void add_one(int *x) { x[threadIdx.x]++; }

int main()
{
    int value = 0;
    cudaDeviceProp properties;
    check_error(cudaSetDevice(1), cudaErrorInvalidDevice, "second device");
    check_error(cudaSetDevice(-1), cudaErrorInvalidDevice, "negative device");
    check_error(cudaGetLastError(), cudaErrorInvalidDevice, "the error is kept");
    check_error(cudaGetLastError(), cudaSuccess, "and forgotten when asked for");
    CUDA(cudaGetDevice(&value));
    check(value == 0, "the device stays device 0");
    check_error(cudaGetDeviceProperties(&properties, 1), cudaErrorInvalidDevice, "properties of a second device");
    check_error(cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 3), cudaErrorInvalidDevice, "attribute of a fourth device");
    check_error(cudaDeviceGetAttribute(&value, (cudaDeviceAttr)9999, 0), cudaErrorInvalidValue, "unknown attribute");
    check_error(cudaGetDeviceCount(nullptr), cudaErrorInvalidValue, "count to nowhere");
    check_error(cudaDeviceSetLimit((cudaLimit)77, 1), cudaErrorInvalidValue, "unknown limit");
    size_t depth = 0; // of kernels that wait for those they launched, which no GPU since sm_90 knows
    check_error(cudaDeviceSetLimit(cudaLimitDevRuntimeSyncDepth, 2), cudaErrorUnsupportedLimit, "a limit of other architectures");
    check_error(cudaDeviceGetLimit(&depth, cudaLimitDevRuntimeSyncDepth), cudaErrorUnsupportedLimit, "nor has it a value");
    check_error(cudaSetDeviceFlags(0x10000), cudaErrorInvalidValue, "unknown device flags");
    check_error(cudaDeviceGetByPCIBusId(&value, "0000:7f:00.0"), cudaErrorInvalidDevice, "unknown PCI id");

    check_error(cudaDeviceCanAccessPeer(&value, 0, 1), cudaErrorInvalidDevice, "access to a second device");
    check_error(cudaDeviceEnablePeerAccess(1, 0), cudaErrorInvalidDevice, "peer access to a second device");
    check_error(cudaDeviceDisablePeerAccess(0), cudaErrorPeerAccessNotEnabled, "peer access that was not there");
    check_error(cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrPerformanceRank, 0, 1), cudaErrorInvalidDevice, "attribute of a pair");
    value = 7;
    CUDA(cudaDeviceCanAccessPeer(&value, 0, 0));
    check(value == 0, "a device is not its own peer");
    cudaGetLastError();

    cudaStream_t stream;
    cudaEvent_t event, untimed;
    float milliseconds;
    check_error(cudaStreamCreateWithFlags(&stream, 0x40), cudaErrorInvalidValue, "unknown stream flags");
    check_error(cudaStreamCreate(nullptr), cudaErrorInvalidValue, "stream to nowhere");
    CUDA(cudaStreamCreate(&stream));
    CUDA(cudaStreamDestroy(stream));
    check_error(cudaStreamDestroy(nullptr), cudaErrorInvalidResourceHandle, "the default stream cannot be destroyed");
    check_error(cudaEventCreateWithFlags(&event, 0x80), cudaErrorInvalidValue, "unknown event flags");
    CUDA(cudaEventCreate(&event));
    CUDA(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));
    check_error(cudaEventElapsedTime(&milliseconds, event, event), cudaErrorInvalidResourceHandle, "time of an event that was not recorded");
    CUDA(cudaEventRecord(event));
    CUDA(cudaEventRecord(untimed));
    check_error(cudaEventElapsedTime(&milliseconds, event, untimed), cudaErrorInvalidResourceHandle, "time of an event without time");
    check_error(cudaEventQuery(event), cudaSuccess, "a recorded event is done");
    CUDA(cudaEventDestroy(event));
    CUDA(cudaEventDestroy(untimed));
    cudaGetLastError();

    int *x = zeros<int>(32);
    add_one<<<1, 32>>>(x);
    CUDA(cudaGetLastError());
    check(download(x, 32)[31] == 1, "the device still works");
    return finish();
}
