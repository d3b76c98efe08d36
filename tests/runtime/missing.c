/* Calls a function that exists only to refuse, twice, and fails over it, as a program would. */
#include "fat_binary.h"

int cudaGraphicsUnmapResources(int count, void **resources, CUstream stream);

int main(void)
{
    for (int i = 0; i < 2; i++)
        EXPECT(NOT_SUPPORTED, cudaGraphicsUnmapResources(0, NULL, NULL));
    EXPECT(NOT_SUPPORTED, cudaGetLastError());
    if (failures)
        return done();
    void *memory = NULL;
    OK(cudaMalloc(&memory, 16));
    return 1;
}
