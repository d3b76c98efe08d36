// Do events measure the work between them? With time modelled it is simulated time, else the host's; either way parts add up and more work takes longer.
// nvcc: -arch=compute_75
// nvcc: -arch=compute_75 -default-stream per-thread
#include "check.h"

__global__ void spin(float *x, int rounds)
{
    float v = x[threadIdx.x];
    for (int i = 0; i < rounds; i++)
        v = v * 0.999f + 1.0f;
    x[threadIdx.x] = v;
}

static float between(cudaEvent_t a, cudaEvent_t b)
{
    float milliseconds = -1;
    CUDA(cudaEventElapsedTime(&milliseconds, a, b));
    return milliseconds;
}

int main()
{
    cudaEvent_t events[4];
    cudaStream_t stream;
    float *x = zeros<float>(64);
    CUDA(cudaStreamCreate(&stream));
    for (int i = 0; i < 4; i++)
        CUDA(cudaEventCreateWithFlags(&events[i], i == 3 ? cudaEventBlockingSync : cudaEventDefault));
    spin<<<1, 64, 0, stream>>>(x, 1);
    CUDA(cudaEventRecord(events[0], stream));
    spin<<<1, 64, 0, stream>>>(x, 10);
    CUDA(cudaEventRecord(events[1], stream));
    spin<<<1, 64, 0, stream>>>(x, 20000);
    CUDA(cudaEventRecordWithFlags(events[2], stream, 0));
    CUDA(cudaEventRecord(events[3], stream));
    CUDA(cudaEventSynchronize(events[3]));
    float little = between(events[0], events[1]), much = between(events[1], events[2]), all = between(events[0], events[2]);
    check(little > 0, "a short kernel takes some time");
    check(much > little, "a kernel of 2000 times the work takes longer");
    check(fabs(little + much - all) <= 1e-4 * all, "the parts add up to the whole");
    check(fabs(between(events[2], events[0]) + all) <= 1e-6 * all, "time runs backwards for events the other way round");
    check(between(events[0], events[0]) == 0, "no time passes at an event");
    CUDA(cudaEventRecord(events[0], stream));
    CUDA(cudaEventSynchronize(events[0]));
    check(between(events[2], events[0]) >= 0, "an event recorded again has the later time");
    check_error(cudaEventQuery(events[0]), cudaSuccess, "the event has happened");
    for (int i = 0; i < 4; i++)
        CUDA(cudaEventDestroy(events[i]));
    CUDA(cudaStreamDestroy(stream));
    return finish();
}
