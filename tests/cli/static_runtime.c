/* Looks like a program that nvcc linked with its static runtime: a section of fat binaries to register, and no CUDA
 * library needed. */
#include <stdio.h>

__attribute__((section(".nvFatBinSegment"), used)) static const unsigned wrapper[6] = {0x466243B1, 1};

int main(void)
{
    printf("%u\n", wrapper[1]);
    return 0;
}
